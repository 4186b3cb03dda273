//! Command lines of dd, and the copies that they belong to.
//!
//! A command belongs to a copy only if no other could: of a block of commands and the copies below it there
//! must be as many of both, or all commands must be alike.

use crate::text::{Words, numbers};

/// Words that may stand before a command.
const WRAPPERS: [&str; 24] = [
    "sudo", "doas", "time", "env", "nice", "ionice", "taskset", "chrt", "do", "then", "exec",
    "command", "busybox", "toybox", "sh", "bash", "su", "adb", "shell", "nohup", "strace", "else",
    "eval", "stdbuf",
];
/// Commands whose line with `drop_caches` drops the cache.
const DROPPERS: [&str; 4] = ["echo", "printf", "tee", "sysctl"];

/// Words of the commands that are looked at.
static WORDS: Words = Words::new(&["dd ", "drop_caches"]);

/// Source or target of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Standard input or output, or not in the text.
    #[default]
    Open,
    /// Made by the kernel: `/dev/zero`. As a target it is nowhere.
    Made,
    /// Nowhere: `/dev/null`.
    Nowhere,
    Device,
    File,
}

impl Place {
    fn of(path: &str) -> Self {
        match path {
            "/dev/zero" | "/dev/urandom" | "/dev/random" => Self::Made,
            "/dev/null" => Self::Nowhere,
            "" | "-" | "/dev/stdin" | "/dev/stdout" => Self::Open,
            _ if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => Self::Device,
            _ => Self::File,
        }
    }
}

/// Direction of a copy, seen from the card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

/// Source and target of a copy, and whether its time includes the card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    source: Place,
    target: Place,
    /// True for the block size and the sync of the common script.
    pub(super) is_script: bool,
    is_synced: bool,
    is_read_direct: bool,
    /// True if the cache was dropped directly before it.
    is_cache_dropped: bool,
    /// Block size times count.
    bytes: Option<u64>,
}

impl Command {
    fn parse(text: &str) -> Self {
        let mut command = Self::default();
        let has = |list: &str, wanted: &[&str]| list.split(',').any(|it| wanted.contains(&it));
        let mut is_8k = false;
        let (mut block, mut count) = (Some(512), None);
        for word in text.split(|c: char| c.is_whitespace() || "\"'`;&|".contains(c)) {
            let word = word.trim_end_matches([',', ':', ')']);
            match word.split_once('=') {
                Some(("if", source)) => command.source = Place::of(source),
                Some(("of", target)) => command.target = Place::of(target),
                Some(("bs", size)) => {
                    is_8k = size == "8k";
                    block = amount(size);
                }
                Some(("count", text)) => count = amount(text),
                Some(("conv", list)) => {
                    command.is_script |= has(list, &["fsync"]);
                    command.is_synced |= has(list, &["fsync", "fdatasync"]);
                }
                Some(("oflag", list)) => {
                    command.is_synced |= has(list, &["direct", "sync", "dsync"]);
                }
                Some(("iflag", list)) => command.is_read_direct |= has(list, &["direct"]),
                None if word.trim_start_matches(['>', '1']) == "/dev/null" => {
                    command.target = Place::Nowhere;
                }
                _ => {}
            }
        }
        command.is_script &= is_8k && text.contains("if=/dev/zero");
        command.bytes = block
            .zip(count)
            .and_then(|(block, count)| block.checked_mul(count));
        command
    }

    /// Returns whether nothing of a card is copied.
    pub(super) fn is_without_card(&self) -> bool {
        self.source == Place::Made && self.is_dropped()
    }

    pub(super) fn is_dropped(&self) -> bool {
        matches!(self.target, Place::Nowhere | Place::Made)
    }

    pub(super) fn direction(&self) -> Option<Direction> {
        match (self.source, self.target) {
            (Place::Made, Place::Nowhere | Place::Made) => None,
            (_, Place::Nowhere | Place::Made) | (Place::Device, Place::File) => {
                Some(Direction::Read)
            }
            (Place::Made, _) | (Place::File | Place::Open, Place::Device) => Some(Direction::Write),
            _ => None,
        }
    }

    pub(super) fn is_from_cache(&self) -> bool {
        self.is_dropped() && !self.is_read_direct && !self.is_cache_dropped
    }

    pub(super) fn is_to_cache(&self) -> bool {
        self.direction() == Some(Direction::Write) && !self.is_synced
    }
}

/// Parses `50k`, `1M`, `2x4k`; none for units that are not known.
fn amount(text: &str) -> Option<u64> {
    let part = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = text[..digits].parse().ok()?;
        let unit = match &text[digits..] {
            "" | "c" => 1,
            "w" => 2,
            "b" => 512,
            "k" | "K" | "KiB" => 1 << 10,
            "m" | "M" | "MiB" => 1 << 20,
            "g" | "G" | "GiB" => 1 << 30,
            "kB" | "KB" => 1_000,
            "MB" => 1_000_000,
            "GB" => 1_000_000_000,
            _ => return None,
        };
        number.checked_mul(unit)
    };
    text.split('x')
        .try_fold(1u64, |all, text| all.checked_mul(part(text)?))
}

/// One of the things in a text that bear on its copies.
pub(super) enum Event {
    Command(Command),
    /// Mentioned in prose.
    Mention,
    /// Another command at a prompt.
    Other,
    /// A message of dd.
    Message,
    /// A result: bytes of the copy, none if it is damaged.
    Copy(Option<u64>),
}

/// Reads the lines of a text in order.
#[derive(Default)]
pub(super) struct Commands {
    /// A command that may go on in the next line.
    open: Option<Open>,
    is_cache_dropped: bool,
    is_loop: bool,
}

/// Lines that a command has at most.
const MOST_LINES: usize = 16;

struct Open {
    text: String,
    is_cache_dropped: bool,
    lines_count: usize,
}

/// Events of a line, and whether it is a command and no more.
#[derive(Default)]
pub(super) struct OfLine {
    pub(super) events: Vec<Event>,
    pub(super) is_command: bool,
    /// True if the events replace the last one: the command goes on.
    pub(super) goes_on: bool,
    /// True if the command runs several times.
    pub(super) is_loop: bool,
}

impl Commands {
    pub(super) fn read(&mut self, line: &str) -> OfLine {
        if let Some(open) = self.open.take()
            && open.lines_count < MOST_LINES
            && (open.text.trim_end().ends_with('\\') || is_operands(line))
        {
            let above = open.text.trim_end().trim_end_matches('\\');
            let text = format!("{above} {line}");
            let mut command = Command::parse(after_dd(&text));
            command.is_cache_dropped = open.is_cache_dropped;
            self.open = Some(Open {
                text,
                lines_count: open.lines_count + 1,
                ..open
            });
            return OfLine {
                events: vec![Event::Command(command)],
                is_command: true,
                goes_on: true,
                is_loop: self.is_loop,
            };
        }
        self.of_line(line)
    }

    fn of_line(&mut self, line: &str) -> OfLine {
        let mut of_line = OfLine::default();
        let (has_prompt, text) = without_prompt(line);
        let has_word = WORDS.any(text);
        self.is_loop = text.starts_with("for ") || text.starts_with("while ");
        of_line.is_loop = self.is_loop;
        if text.starts_with("dd: ") {
            of_line.events.push(Event::Message);
            return of_line;
        }
        let has_rate = || numbers(line).iter().any(|number| number.contains("/s"));
        let mut has_dd = false;
        for segment in text.split([';', '&', '|', '(', '{']).filter(|_| has_word) {
            if segment.contains("drop_caches") {
                let is_run = has_prompt || DROPPERS.iter().any(|name| begins(segment, name));
                self.is_cache_dropped |= is_run;
            }
            if !(segment.contains("dd ") && (segment.contains("of=") || segment.contains("if="))) {
                continue;
            }
            has_dd = true;
            if has_rate() {
                continue;
            }
            if has_prompt || begins(segment, "dd") && is_whole(after_dd(segment)) {
                let mut command = Command::parse(after_dd(segment));
                // It excuses the copy directly after it only.
                command.is_cache_dropped = std::mem::take(&mut self.is_cache_dropped);
                self.open = Some(Open {
                    text: segment.to_owned(),
                    is_cache_dropped: command.is_cache_dropped,
                    lines_count: 1,
                });
                of_line.events.push(Event::Command(command));
            } else {
                of_line.events.push(Event::Mention);
            }
        }
        let is_command = |event: &Event| matches!(event, Event::Command(_));
        of_line.is_command = of_line.events.iter().any(is_command);
        if has_prompt && !has_dd && !text.trim().is_empty() {
            of_line.events.push(Event::Other);
        }
        of_line
    }
}

/// Returns whether a prompt stands before the text, and the text behind it.
pub(crate) fn without_prompt(line: &str) -> (bool, &str) {
    const MOST_WORDS: usize = 3;
    let line = line.trim_start_matches(['>', '|', ' ', '\t', '*', '`', '•']);
    if let Some(rest) = line.strip_prefix("+ ") {
        return (true, rest);
    }
    let at = line.find(['$', '#', '%']);
    let Some((before, rest)) = at.map(|at| (&line[..at], &line[at + 1..])) else {
        return (false, line);
    };
    let is_place = before.contains(['@', '~', ']', '/']) || before.contains("sh-");
    let is_place = is_place && !before.contains('=') && rest.starts_with(' ');
    let is_prompt = before.is_empty() && !rest.starts_with(['#', '!', '(', '{'])
        || is_place && before.split_whitespace().count() <= MOST_WORDS;
    match is_prompt {
        true => (true, rest.trim_start()),
        false => (false, line),
    }
}

/// Returns whether a part of a line begins with a command, perhaps behind words such as `sudo`, a number of a
/// list or a short label.
pub(crate) fn begins(segment: &str, name: &str) -> bool {
    const MOST_LABEL: usize = 2;
    let is_between = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let words = segment.split(is_between).filter(|word| !word.is_empty());
    let mut before = Vec::new();
    for word in words {
        let base = word.rsplit('/').next().unwrap_or(word);
        if base == name {
            let label = before.iter().rposition(|it: &&str| it.ends_with(':'));
            let label = label.map_or(0, |last| last + 1);
            return label <= MOST_LABEL && before[label..].iter().all(|it| is_wrapper(it));
        }
        before.push(word);
    }
    false
}

fn is_wrapper(word: &str) -> bool {
    let is_number = || {
        word.trim_end_matches(['.', ')'])
            .bytes()
            .all(|byte| byte.is_ascii_digit())
    };
    let is_assignment = || {
        word.split_once('=')
            .is_some_and(|(name, _)| !name.contains('/'))
    };
    let base = word.rsplit('/').next().unwrap_or(word);
    WRAPPERS.contains(&base)
        || word.starts_with(['-', '*', '•', '$'])
        || is_number()
        || is_assignment()
}

/// The operands of a command.
fn after_dd(segment: &str) -> &str {
    let mut at = 0;
    while let Some(found) = segment[at..].find("dd ") {
        let start = at + found;
        let is_word = segment[..start]
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric());
        if is_word {
            return &segment[start + 3..];
        }
        at = start + 3;
    }
    segment
}

fn is_operand(word: &str) -> bool {
    let names = [
        "if", "of", "bs", "ibs", "obs", "cbs", "count", "conv", "iflag", "oflag", "status", "seek",
        "skip",
    ];
    word.split_once('=')
        .is_some_and(|(name, _)| names.contains(&name))
}

/// Returns whether only operands stand here.
fn is_operands(line: &str) -> bool {
    let mut words = line
        .split_whitespace()
        .filter(|word| *word != "\\")
        .peekable();
    words.peek().is_some() && words.all(is_operand)
}

/// Returns whether no words of prose follow the operands.
fn is_whole(operands: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || "\"'`".contains(c);
    let mut is_redirected = false;
    for word in operands.split(is_between).filter(|word| !word.is_empty()) {
        if word.starts_with('#') {
            return true;
        }
        let is_sign = word.starts_with(['>', '<']) || word.ends_with(['>', '<']);
        let is_plain =
            word.contains('=') || word == "\\" || word.starts_with('-') || word == "done";
        let is_plain = is_plain || word.chars().all(|c| ")}*:".contains(c));
        if !(is_sign || is_plain || is_redirected) {
            return false;
        }
        is_redirected = word.ends_with(['>', '<']);
    }
    true
}

/// The command of a copy.
#[derive(Clone, Debug)]
pub(super) enum Context {
    /// The only one that it could be.
    Of(Command),
    /// One of several, or of none. The page cache may have a part if it has one in any of them.
    Open {
        is_from_cache: bool,
        is_to_cache: bool,
    },
    /// The text has none.
    Absent,
}

/// A block of commands and the copies below it.
#[derive(Default)]
struct Block {
    commands: Vec<Command>,
    is_loop: bool,
    has_mention: bool,
    copies: Vec<Option<u64>>,
}

impl Block {
    /// The context of each copy.
    fn contexts(self) -> Vec<Context> {
        let count = self.copies.len();
        let of = |command: &Command| Context::Of(command.clone());
        let open = Context::Open {
            is_from_cache: self.commands.iter().any(Command::is_from_cache),
            is_to_cache: self.commands.iter().any(Command::is_to_cache),
        };
        let is_larger = |(command, copy): (&Command, &Option<u64>)| matches!((command.bytes, copy), (Some(most), Some(bytes)) if *bytes > most);
        match self.commands.as_slice() {
            [] if self.has_mention => vec![open; count],
            [] => vec![Context::Absent; count],
            [one] if self.is_loop => vec![of(one); count],
            // The copy of the command could not be read.
            [one] if count > 1 && self.copies[0].is_none() => {
                let mut contexts = vec![Context::Absent; count];
                contexts[0] = of(one);
                contexts
            }
            all if all.len() == count && !all.iter().zip(&self.copies).any(is_larger) => {
                all.iter().map(of).collect()
            }
            [first, rest @ ..] if rest.len() >= count && rest.iter().all(|it| it == first) => {
                vec![of(first); count]
            }
            _ => vec![open; count],
        }
    }
}

/// The context of each copy, in order.
pub(super) fn contexts(events: Vec<(Event, bool)>) -> Vec<Context> {
    let mut contexts = Vec::new();
    let mut block = Block::default();
    // A message that no copy follows ended its command.
    let mut is_ended = false;
    for (event, is_loop) in events {
        let begins = !matches!(event, Event::Copy(_) | Event::Message);
        if begins && !block.copies.is_empty() {
            contexts.extend(std::mem::take(&mut block).contexts());
        }
        if std::mem::take(&mut is_ended) && begins {
            block.commands.pop();
        }
        match event {
            Event::Command(command) => {
                block.commands.push(command);
                block.is_loop |= is_loop;
            }
            Event::Mention => block.has_mention = true,
            Event::Other => {}
            Event::Message => is_ended = block.copies.is_empty(),
            Event::Copy(bytes) => block.copies.push(bytes),
        }
    }
    contexts.extend(block.contexts());
    contexts
}

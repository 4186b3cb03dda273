//! The options of iozone's command, from its own line or a prompt above.

use crate::dd::{begins, without_prompt};

/// How iozone went past the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Method {
    /// `-I`: past the page cache.
    pub(super) is_direct: bool,
    /// `-e`: with the time of `fsync`.
    pub(super) is_flushed: bool,
    /// `-o`: each write waits for the card.
    pub(super) is_synced: bool,
    /// `-t` or `-u`: several threads at once.
    pub(super) is_threaded: bool,
}

impl Method {
    /// Parses the words behind `iozone`. Letters may stand together: `-eIa`.
    fn parse(options: &str) -> Self {
        const WITH_VALUE: &str = "bBcCdDfFgHijJklLmMnPqQrRsStTuUvVwWxXyYzZ";
        let mut method = Self::default();
        for word in options.split_whitespace() {
            let Some(letters) = word.strip_prefix('-') else {
                continue;
            };
            for letter in letters.chars() {
                match letter {
                    'I' => method.is_direct = true,
                    'e' => method.is_flushed = true,
                    'o' => method.is_synced = true,
                    't' | 'u' => method.is_threaded = true,
                    _ => {}
                }
                // The rest is its value: `-s100M`, `-f/tmp/file`.
                let is_alone = "aAceEhIKNoOpR+TvVwWxZ".contains(letter);
                if WITH_VALUE.contains(letter) && !is_alone || letter == '+' {
                    break;
                }
            }
        }
        method
    }

    /// Returns whether the page cache took part.
    pub(super) fn is_buffered(self) -> bool {
        !self.is_direct
    }

    /// Returns whether our suites do the same.
    pub(super) fn is_of_suite(self) -> bool {
        self.is_direct && (self.is_flushed || self.is_threaded)
    }
}

/// Methods of the lines so far.
#[derive(Default)]
pub(super) struct Methods {
    /// Those of commands at prompts since the last figures.
    asked: Vec<Method>,
    /// That of iozone's own line.
    own: Option<Method>,
    /// From the lines above iozone's table.
    banner: Option<Method>,
    has_figures: bool,
}

impl Methods {
    pub(super) fn look_at(&mut self, line: &str, unquoted: &str) {
        if let Some((_, command)) = line.split_once("Command line used:") {
            self.own = Some(Method::parse(command));
            self.begin();
        } else if line.contains("Iozone: Performance Test") {
            (self.own, self.banner) = (None, None);
            self.begin();
        } else if unquoted.starts_with("O_DIRECT feature enabled") {
            self.banner.get_or_insert_default().is_direct = true;
        } else if unquoted.starts_with("Include fsync in write timing") {
            self.banner.get_or_insert_default().is_flushed = true;
        } else if let Some(method) = at_prompt(unquoted) {
            (self.own, self.banner) = (None, None);
            self.begin();
            self.asked.push(method);
        }
    }

    /// Commands above figures belong to those figures only.
    fn begin(&mut self) {
        if std::mem::take(&mut self.has_figures) {
            self.asked.clear();
        }
    }

    /// The method of figures here, if the text has only one.
    pub(super) fn of_figures(&mut self) -> Option<Method> {
        self.has_figures = true;
        let (first, rest) = self
            .asked
            .split_first()
            .map_or((None, &[][..]), |(first, rest)| (Some(*first), rest));
        let asked = first.filter(|first| rest.iter().all(|it| it == first));
        // Lines of a banner show what was on, but not what was off.
        let banner = self.banner.filter(|banner| banner.is_direct);
        self.own.or(asked).or(banner)
    }
}

/// The method of a command of iozone: `$ ./iozone -e -I -a`.
fn at_prompt(line: &str) -> Option<Method> {
    let (has_prompt, command) = without_prompt(line);
    let segment = command
        .split([';', '&', '|'])
        .find(|it| it.contains("iozone "))?;
    let (_, options) = segment.split_once("iozone ")?;
    let is_command =
        options.trim_start().starts_with('-') && (has_prompt || begins(segment, "iozone"));
    is_command.then(|| Method::parse(options))
}

//! Places of a text where another device, board or run begins.

use cardmark_core::Board;

use crate::dd::{begins, without_prompt};
use crate::reading::{Found, Section};
use crate::text::{Line, Words, numbers};

/// Words of headings that name a device.
const DEVICES: &str = "sd microsd sdcard sdhc sdxc card ssd hdd emmc nvme usb stick disk drive harddisk flash \
    thumbdrive pendrive m2 sata karte tf ufs cf";
const BRANDS: &str = "sandisk samsung kingston lexar transcend toshiba kioxia sony pny adata verbatim intenso \
    netac crucial noname evo";
const BOARDS: &str = "raspberry pi rpi odroid orangepi orange banana rock rockpro64 beaglebone jetson pine64 \
    nanopi cubieboard";
const RUNS: &str = "run test round pass lauf durchgang attempt";
/// Words of headings that name a test of the same device.
const TESTS: &str = "read reads reading write writes writing speed test tests result results benchmark benchmarks \
    hdparm dd iozone fio f3 random sequential the with using output";
/// Commands whose device is that of the results below them.
const TOOLS: &[&str] = &[
    "hdparm",
    "dd",
    "iozone",
    "fio",
    "f3probe",
    "f3write",
    "f3read",
    "ddrescue",
    "badblocks",
];
static ANY_TOOL: Words = Words::new(TOOLS);
/// Devices that the kernel makes, and names that do not show which device they are.
const NO_DEVICES: [&str; 12] = [
    "null", "zero", "urandom", "random", "shm", "fd", "stdin", "stdout", "stderr", "disk",
    "mapper", "root",
];

/// Finds the places. A name that comes again is no place.
pub(crate) fn read(lines: &[Line], found: &mut Found) {
    let (mut device, mut heading) = (None::<String>, None::<String>);
    let mut board = None;
    for line in lines {
        let text = line.unquoted();
        if let Some(named) = device_of(text) {
            let is_other = device.as_ref().is_some_and(|known| *known != named);
            if is_other {
                found.sections.push(Section {
                    line: line.number,
                    board: board.clone(),
                    is_boundary: true,
                });
            }
            device = Some(named);
        } else if let Some(words) = heading_words(text) {
            let has = |list: &str| words.iter().any(|word| is_in(word, list));
            if has(BOARDS) {
                board = Some(board_name(text));
            }
            let kept = words.iter().filter(|word| !is_in(word, TESTS));
            let key = kept.cloned().collect::<Vec<_>>().join(" ");
            let is_boundary = heading.as_ref() != Some(&key);
            found.sections.push(Section {
                line: line.number,
                board: board.clone(),
                is_boundary,
            });
            heading = Some(key);
            if is_boundary {
                device = None;
            }
        }
    }
}

/// Returns whether a word is in a list.
fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

/// The disk that a line of hdparm or a command names, without its partition.
fn device_of(text: &str) -> Option<String> {
    if let Some(path) = text.strip_suffix(':')
        && path.starts_with("/dev/")
        && !path.contains(char::is_whitespace)
    {
        return disk(path);
    }
    if !text.contains("/dev/") || !ANY_TOOL.any(text) {
        return None;
    }
    let (has_prompt, command) = without_prompt(text);
    let is_tool = |segment: &str| TOOLS.iter().any(|tool| begins(segment, tool));
    let has_tool = command.split([';', '&', '|']).any(is_tool);
    if !(has_tool && (has_prompt || !is_prose(command))) {
        return None;
    }
    let is_end = |c: char| c.is_whitespace() || "\"'`;&|()=,".contains(c);
    let mut disks: Vec<String> = command.split(is_end).filter_map(disk).collect();
    disks.dedup();
    // A copy from one to the other.
    <[String; 1]>::try_from(disks).ok().map(|[one]| one)
}

/// Returns whether more than a few plain words stand in a line.
fn is_prose(text: &str) -> bool {
    const MOST_WORDS: usize = 3;
    let is_plain = |word: &&str| word.chars().all(|c| c.is_alphabetic() || ",.".contains(c));
    text.split_whitespace().filter(is_plain).count() > MOST_WORDS
}

/// `mmcblk0` of `/dev/mmcblk0p2`, `sda` of `/dev/sda1`, `disk2` of `/dev/rdisk2s1`.
fn disk(path: &str) -> Option<String> {
    let name = path
        .strip_prefix("/dev/")?
        .trim_end_matches([':', ',', '.']);
    let first = name.split('/').next()?;
    if first.is_empty() || NO_DEVICES.contains(&first) {
        return None;
    }
    let name = match first.strip_prefix("rdisk") {
        Some(number) => format!("disk{number}"),
        None => first.to_owned(),
    };
    let (sign, begins) = match name.as_str() {
        name if name.starts_with("disk") => ('s', 4),
        name if name.starts_with("mmcblk") => ('p', 6),
        name if name.starts_with("nvme") || name.starts_with("nbd") || name.starts_with("loop") => {
            ('p', 4)
        }
        name => {
            return Some(
                name.trim_end_matches(|c: char| c.is_ascii_digit())
                    .to_owned(),
            );
        }
    };
    let at = name.get(begins..)?.find(sign).map(|at| at + begins);
    Some(at.map_or(name.clone(), |at| name[..at].to_owned()))
}

/// The words of a heading that names a device, a board or a run.
fn heading_words(text: &str) -> Option<Vec<String>> {
    const MOST_WORDS: usize = 7;
    if text.len() > 80 || text.contains(['|', '=', '\t']) || text.contains("/s") {
        return None;
    }
    let bare = text.trim_matches(|c: char| c.is_whitespace() || "#*_=-".contains(c));
    let is_marked =
        text.starts_with(['#', '*']) && !text.starts_with("# ") || text.starts_with("## ");
    let title = bare.strip_suffix(':');
    let bare = title.unwrap_or(bare);
    if bare.is_empty() || bare.contains(": ") || bare.split_whitespace().count() > MOST_WORDS {
        return None;
    }
    let words: Vec<String> = bare
        .split(|c: char| !c.is_alphanumeric() && c != '.' && c != '+')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_number = |word: &String| word.starts_with(|c: char| c.is_ascii_digit());
    let is_name =
        |word: &String| is_in(word, DEVICES) || is_in(word, BRANDS) || is_in(word, BOARDS);
    let is_run = matches!(words.as_slice(), [run, number, ..] if is_in(run, RUNS) && number.bytes().all(|it| it.is_ascii_digit()));
    let is_plain =
        words.iter().all(|word| is_name(word) || is_number(word)) && words.iter().any(is_name);
    let is_heading = (title.is_some() || is_marked) && words.iter().any(is_name) || is_plain;
    let is_short = (1..=MOST_WORDS).contains(&words.len());
    let has_rate = || numbers(bare).iter().any(|number| number.contains("/s"));
    (is_short && (is_heading || is_run) && !has_rate()).then_some(words)
}

/// The words of a heading that name a board and its model, and no others: a name of a person is not kept.
fn board_name(text: &str) -> String {
    const MODELS: [&str; 13] = [
        "zero", "model", "compute", "module", "plus", "pro", "nano", "black", "w", "a", "b", "a+",
        "b+",
    ];
    const MOST_LETTERS: usize = 4;
    let is_model = |word: &str| {
        let has_digit = word.contains(|c: char| c.is_ascii_digit());
        has_digit && word.len() <= MOST_LETTERS || MODELS.contains(&word)
    };
    let is_end = |c: char| c.is_whitespace() || "#*_=-:()[]".contains(c);
    let words = text.split(is_end).filter(|word| !word.is_empty());
    let is_capacity = |word: &str| word.ends_with("gb") || word.ends_with("g");
    let kept = words.filter(|word| {
        let word = word.to_lowercase();
        is_in(&word, BOARDS) || is_model(&word) && !is_capacity(&word) && !is_in(&word, DEVICES)
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// The board that the last heading above a line names.
pub(crate) fn board_at(sections: &[Section], line: usize) -> Option<Board> {
    let above = sections.partition_point(|section| section.line <= line);
    let model = sections[..above].last()?.board.clone()?;
    Some(Board {
        model: Some(model),
        ..Board::default()
    })
}

/// Returns whether a record ends between two lines.
pub(crate) fn is_between(sections: &[Section], first: usize, second: usize) -> bool {
    let behind = sections.partition_point(|section| section.line <= first);
    let mut between = sections[behind..].iter().take_while(|it| it.line <= second);
    between.any(|it| it.is_boundary)
}

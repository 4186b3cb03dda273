//! Names that people write above columns and before rows of figures.

use std::collections::{BTreeSet, HashMap};

use cardmark_core::Quantity;

use crate::metrics::{KnownMetric, folded};

/// A script whose figures people name without its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    /// hdparm, dd, and iozone with 4 KiB.
    Common,
    /// iozone with 4 KiB and 16 MiB.
    Raw,
}

/// Words in headings that show a script.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    has_hdparm: bool,
    has_dd_write: bool,
    has_large_read: bool,
    has_small_read: bool,
}

impl Marks {
    /// Marks of a heading, or of all headings of a line at once: then those of each are among them.
    pub(crate) fn of(heading: &str) -> Self {
        Self::of_words(&words(heading))
    }

    pub(crate) fn of_words(words: &[String]) -> Self {
        let has = |wanted: &[&str]| wanted.iter().all(|it| words.iter().any(|word| word == it));
        Self {
            has_hdparm: has(&["hdparm"]),
            has_dd_write: has(&["dd", "write"]),
            has_large_read: has(&["16m", "sequential", "read"]),
            has_small_read: has(&["4k", "random", "read"]),
        }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            has_hdparm: self.has_hdparm || other.has_hdparm,
            has_dd_write: self.has_dd_write || other.has_dd_write,
            has_large_read: self.has_large_read || other.has_large_read,
            has_small_read: self.has_small_read || other.has_small_read,
        }
    }

    pub(crate) fn fit(self, script: Script) -> bool {
        match script {
            Script::Common => self.has_hdparm && self.has_dd_write,
            Script::Raw => self.has_large_read && self.has_small_read,
        }
    }
}

impl Script {
    /// The script whose headings have these marks: the common one has hdparm and dd beside iozone.
    pub(crate) fn of(marks: Marks) -> Option<Self> {
        let mut scripts = [Self::Common, Self::Raw].into_iter();
        scripts.find(|script| marks.fit(*script))
    }
}

/// The known metrics, by the names that people give them.
pub(crate) struct Names<'a> {
    known: &'a [KnownMetric],
    /// Places by id, by the exact names of hdparm, and by the folded names of the others.
    ids: HashMap<&'a str, usize>,
    exact: HashMap<&'a str, usize>,
    folded: HashMap<String, usize>,
    /// Beginnings of all of them.
    begins: Vec<[char; BEGIN]>,
}

/// Letters at the beginning of a name that show that it may be one.
const BEGIN: usize = 3;

/// The first letters and digits of a text, in small letters.
fn begin(text: &str) -> [char; BEGIN] {
    let kept = text.chars().filter(|c| c.is_alphanumeric());
    let mut kept = kept.flat_map(char::to_lowercase);
    [(); BEGIN].map(|()| kept.next().unwrap_or(' '))
}

impl<'a> Names<'a> {
    pub(crate) fn of(known: &'a [KnownMetric]) -> Self {
        let mut names = Self {
            known,
            ids: HashMap::new(),
            exact: HashMap::new(),
            folded: HashMap::new(),
            begins: TOOLS.iter().map(|tool| begin(tool)).collect(),
        };
        for (place, metric) in known.iter().enumerate() {
            names.ids.entry(&metric.id).or_insert(place);
            for name in [&metric.id, &metric.title] {
                names.begins.push(begin(name));
                // `hdparm_t` and `hdparm_T` differ in a capital.
                if metric.id.starts_with("hdparm_") {
                    names.exact.entry(name).or_insert(place);
                } else {
                    names.folded.entry(folded(name)).or_insert(place);
                }
            }
        }
        names.begins.sort_unstable();
        names.begins.dedup();
        names
    }

    /// Returns whether a text begins as one of the names does, or with a word that names leave out.
    pub(crate) fn may_begin(&self, text: &str) -> bool {
        self.begins.binary_search(&begin(text)).is_ok() || {
            let first = text.split_whitespace().next().unwrap_or("");
            LEFT_OUT.iter().any(|word| first.eq_ignore_ascii_case(word))
        }
    }

    fn metric(&self, id: &str) -> Option<&'a KnownMetric> {
        self.known.get(*self.ids.get(id)?)
    }

    /// The first metric with this id or title. Capitals, spaces and hyphens do not matter.
    fn own(&self, heading: &str) -> Option<&'a KnownMetric> {
        let exact = self.exact.get(heading);
        let folded = self.folded.get(&folded(heading));
        self.known.get(*exact.into_iter().chain(folded).min()?)
    }
}

/// Returns the metric that a heading names: by id or title, or in the words that people use.
pub(crate) fn named(heading: &str, names: &Names) -> Option<KnownMetric> {
    if !names.may_begin(heading) {
        return None;
    }
    names.own(heading).cloned().or_else(|| {
        let words = words(heading);
        let (tool, rest) = words.split_first()?;
        match tool.as_str() {
            "hdparm" => names.metric(&hdparm(heading, rest)?).cloned(),
            "iozone" => iozone(rest, names, None),
            "fio" => fio(rest),
            _ => None,
        }
    })
}

/// Tools whose tests have names of several words.
const TOOLS: [&str; 3] = ["hdparm", "iozone", "fio"];
/// Words that do not matter.
const LEFT_OUT: [&str; 5] = ["of", "speed", "rate", "test", "disk"];

/// Kinds of words in names of iozone's tests. A name has at most one of each.
pub(crate) mod kind {
    pub(crate) const DIRECTION: u8 = 1;
    pub(crate) const ORDER: u8 = 2;
    pub(crate) const SIZE: u8 = 4;
    /// A word that is in none of them.
    pub(crate) const OTHER: u8 = 8;
}

/// The words of such names.
const WORDS: [(&str, u8); 24] = [
    ("", 0),
    ("of", 0),
    ("speed", 0),
    ("rate", 0),
    ("test", 0),
    ("disk", 0),
    ("k", 0),
    ("kb", 0),
    ("kib", 0),
    ("m", 0),
    ("mb", 0),
    ("mib", 0),
    ("random", kind::ORDER),
    ("rand", kind::ORDER),
    ("sequential", kind::ORDER),
    ("seq", kind::ORDER),
    ("read", kind::DIRECTION),
    ("reads", kind::DIRECTION),
    ("reading", kind::DIRECTION),
    ("write", kind::DIRECTION),
    ("writes", kind::DIRECTION),
    ("writing", kind::DIRECTION),
    ("reread", kind::DIRECTION),
    ("rewrite", kind::DIRECTION),
];

/// The kinds of a word of a line. A number alone may be part of a size, and brackets hold a unit.
pub(crate) fn kinds(word: &str) -> u8 {
    if word.starts_with(['(', '[']) || word.ends_with([')', ']']) {
        return 0;
    }
    let mut kinds = 0;
    for word in word.split(|c: char| !c.is_alphanumeric()) {
        let has_digit = word.starts_with(|c: char| c.is_ascii_digit());
        let of_list = WORDS
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(word));
        let kind = match of_list {
            Some((_, kind)) => *kind,
            // A size, or a number before its unit.
            None if has_digit && word.bytes().all(|byte| byte.is_ascii_digit()) => 0,
            None if has_digit => kind::SIZE,
            None => kind::OTHER,
        };
        kinds |= if kinds & kind == 0 { kind } else { kind::OTHER };
    }
    kinds
}

/// Returns the metric of iozone that a heading means without naming a tool.
pub(crate) fn of_script(
    heading: &str,
    script: Option<Script>,
    names: &Names,
) -> Option<KnownMetric> {
    script?;
    of_words(&words(heading), script, names)
}

/// The same for the words of a heading.
pub(crate) fn of_words(
    words: &[String],
    script: Option<Script>,
    names: &Names,
) -> Option<KnownMetric> {
    script?;
    let has_size = words.iter().any(|word| is_size(word));
    has_size.then(|| iozone(words, names, script))?
}

/// The words of a name: `4 kB Rand. reads` is `4k`, `random`, `read`.
pub(crate) fn words(heading: &str) -> Vec<String> {
    #[cfg(test)]
    crate::text::work::count(heading);
    let heading = heading.to_lowercase();
    let mut words: Vec<String> = Vec::new();
    for word in heading.split(|c: char| !c.is_alphanumeric()) {
        let is_number = |it: &String| it.bytes().all(|byte| byte.is_ascii_digit());
        let size = word.trim_end_matches("ib").trim_end_matches('b');
        match (word, words.last_mut()) {
            (word, _) if word.is_empty() || LEFT_OUT.contains(&word) => {}
            ("k" | "kb" | "kib" | "m" | "mb" | "mib", Some(last)) if is_number(last) => {
                *last += size;
            }
            ("rand", _) => words.push("random".to_owned()),
            ("seq", _) => words.push("sequential".to_owned()),
            ("reads" | "reading", _) => words.push("read".to_owned()),
            ("writes" | "writing", _) => words.push("write".to_owned()),
            _ if is_size(size) => words.push(size.to_owned()),
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns whether a word is a size such as `4k` or `16m`.
fn is_size(word: &str) -> bool {
    let digits = word.strip_suffix(['k', 'm']).unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// `hdparm buffered`, `hdparm -t`, `hdparm cached reads`, each perhaps with `direct`.
fn hdparm(heading: &str, words: &[String]) -> Option<String> {
    let known = ["buffered", "cached", "read", "direct", "t"];
    let words: BTreeSet<&str> = words.iter().map(String::as_str).collect();
    let options = |option: &str| heading.split_whitespace().any(|word| word == option);
    let is_disk = words.contains("buffered") || options("-t");
    let is_cached = words.contains("cached") || options("-T");
    if is_disk == is_cached || !words.iter().all(|word| known.contains(word)) {
        return None;
    }
    let id = if is_disk { "hdparm_t" } else { "hdparm_T" };
    let is_direct = words.contains("direct");
    Some(format!("{id}{}", if is_direct { "_direct" } else { "" }))
}

/// Size, order and direction of fio, all three: `1M sequential read`.
fn fio(words: &[String]) -> Option<KnownMetric> {
    let [first, second, third] = words else {
        return None;
    };
    let words = [first.as_str(), second.as_str(), third.as_str()];
    let one = |list: [&'static str; 2]| list.into_iter().find(|it| words.contains(it));
    let size = words.iter().find(|word| is_size(word))?;
    let order = one(["random", "sequential"])?;
    let direction = one(["read", "write"])?;
    let order = if order == "random" { "rand" } else { "seq" };
    let id = format!("fio_{order}_{direction}_{size}");
    Some(KnownMetric::new(&id, Quantity::ByteRate))
}

/// Size, order and direction of iozone in any order of words. Records are of 4 KiB unless named.
fn iozone(words: &[String], names: &Names, script: Option<Script>) -> Option<KnownMetric> {
    let (mut size, mut order, mut direction) = (None, None, None);
    for word in words {
        let place = match word.as_str() {
            "random" | "sequential" => &mut order,
            "read" | "write" | "reread" | "rewrite" => &mut direction,
            word if is_size(word) => &mut size,
            _ => return None,
        };
        if place.replace(word.as_str()).is_some() {
            return None;
        }
    }
    let order = if order == Some("random") {
        "random_"
    } else {
        ""
    };
    let base = format!("iozone_{order}{}", direction?);
    names.metric(&base)?;
    let size = size.unwrap_or("4k");
    let id = match script {
        Some(Script::Raw) => format!("{base}_{size}"),
        _ if size == "4k" => base,
        _ => format!("{base}_{size}"),
    };
    Some(KnownMetric::new(&id, Quantity::ByteRate))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Vec<KnownMetric> {
        let ids = [
            "hdparm_t",
            "hdparm_T",
            "hdparm_t_direct",
            "iozone_read",
            "iozone_random_read",
            "iozone_random_write",
        ];
        ids.map(|id| KnownMetric::new(id, Quantity::ByteRate))
            .to_vec()
    }

    #[test]
    fn a_tool_and_its_test_are_a_name() {
        let id = |heading: &str| named(heading, &Names::of(&known())).map(|metric| metric.id);
        for (heading, expected) in [
            ("hdparm buffered", Some("hdparm_t")),
            ("hdparm -t", Some("hdparm_t")),
            ("hdparm -T", Some("hdparm_T")),
            ("hdparm Cached reads", Some("hdparm_T")),
            ("hdparm direct buffered disk reads", Some("hdparm_t_direct")),
            ("iozone 4K random read", Some("iozone_random_read")),
            ("iozone 1M rand. write", Some("iozone_random_write_1m")),
            ("fio 1M sequential read", Some("fio_seq_read_1m")),
            ("fio 4K rand. writes", Some("fio_rand_write_4k")),
            ("fio read", None),
            ("hdparm", None),
            ("hdparm -tT", None),
            ("hdparm cached -t", None),
            ("iozone random", None),
            ("iozone random read write", None),
            ("4K random read", None),
            ("Read speed", None),
        ] {
            assert_eq!(id(heading).as_deref(), expected, "{heading}");
        }
    }

    #[test]
    fn a_script_is_known_by_all_of_its_headings() {
        let common = ["Card", "hdparm buffered", "dd write", "4K rand read"];
        let raw = ["16M seq. read", "4 kB Rand. read"];
        let script = |headings: &[&str]| {
            let marks = headings.iter().map(|it| Marks::of(it));
            Script::of(marks.fold(Marks::default(), Marks::and))
        };
        assert_eq!(script(&common), Some(Script::Common));
        assert_eq!(script(&raw), Some(Script::Raw));
        assert_eq!(script(&common[2..]), None);
        let id = |heading: &str, script| {
            of_script(heading, script, &Names::of(&known())).map(|it| it.id)
        };
        let random = |script| id("4K rand read", script);
        assert_eq!(
            random(Some(Script::Common)).as_deref(),
            Some("iozone_random_read")
        );
        assert_eq!(
            random(Some(Script::Raw)).as_deref(),
            Some("iozone_random_read_4k")
        );
        assert_eq!(random(None), None);
        assert_eq!(id("Read speed", Some(Script::Common)), None);
    }
}

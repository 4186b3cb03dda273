//! Parts of a heading that may be names of metrics.

use crate::heading::{self, Marks, Names, Script, kind};
use crate::metrics::KnownMetric;
use crate::table::name_and_unit;

/// Longest name of a metric, and words that its beginning has at most.
const MOST_NAME_WORDS: usize = 7;
const MOST_BEGIN_WORDS: usize = 3;

/// A name of a metric in a heading.
pub(super) struct Name {
    pub(super) metric: KnownMetric,
    pub(super) unit: Option<String>,
    /// True if it names no tool.
    pub(super) is_inferred: bool,
    pub(super) marks: Marks,
}

/// Parts of a heading that may be names. Each is looked up once for all scripts.
pub(super) struct Parts<'a> {
    pub(super) words: &'a [&'a str],
    names: &'a Names<'a>,
    /// For each word, whether a name may begin with it, and first words of the parts that end before it.
    begins: Vec<Option<bool>>,
    starts: Vec<Option<Vec<usize>>>,
    /// By end and number of words.
    parts: Vec<Option<Part>>,
}

/// A part of a heading.
struct Part {
    own: Option<KnownMetric>,
    unit: Option<String>,
    words: Vec<String>,
    marks: Marks,
}

impl Part {
    fn of(text: &str, may_begin: bool, names: &Names) -> Self {
        let (name, unit) = name_and_unit(text);
        let words = heading::words(name);
        Self {
            own: may_begin.then(|| heading::named(name, names)).flatten(),
            unit: unit.map(str::to_owned),
            marks: Marks::of_words(&words),
            words,
        }
    }
}

impl<'a> Parts<'a> {
    pub(super) fn of(words: &'a [&'a str], names: &'a Names<'a>) -> Self {
        let mut parts = Vec::new();
        parts.resize_with((words.len() + 1) * (MOST_NAME_WORDS + 1), || None);
        Self {
            words,
            names,
            begins: vec![None; words.len()],
            starts: vec![None; words.len() + 1],
            parts,
        }
    }

    /// First words of parts that end before a word and may be names.
    pub(super) fn starts(&mut self, end: usize) -> Vec<usize> {
        if let Some(starts) = &self.starts[end] {
            return starts.clone();
        }
        let (mut is_of_script, mut kinds) = (true, 0);
        let mut starts = Vec::new();
        for start in (end.saturating_sub(MOST_NAME_WORDS).max(1)..end).rev() {
            if is_of_script {
                let own = heading::kinds(self.words[start]);
                is_of_script = own & kind::OTHER == 0 && own & kinds == 0;
                kinds |= own;
            }
            if is_of_script && kinds & kind::DIRECTION != 0 || self.may_begin(start) {
                starts.push(start);
            }
        }
        self.starts[end] = Some(starts.clone());
        starts
    }

    /// Returns whether a name may begin with a word.
    fn may_begin(&mut self, start: usize) -> bool {
        let (words, names) = (self.words, self.names);
        *self.begins[start].get_or_insert_with(|| {
            let begin = words.get(start..).unwrap_or_default();
            let begin: String = begin.iter().take(MOST_BEGIN_WORDS).copied().collect();
            names.may_begin(&begin) || names.may_begin(words[start])
        })
    }

    /// Returns whether the last words may be a name.
    pub(super) fn may_end(&mut self) -> bool {
        !self.starts(self.words.len()).is_empty()
    }

    pub(super) fn name(
        &mut self,
        start: usize,
        end: usize,
        script: Option<Script>,
    ) -> Option<Name> {
        let may_begin = self.may_begin(start);
        if script.is_none() && !may_begin {
            return None;
        }
        let (words, names) = (&self.words[start..end], self.names);
        let part = &mut self.parts[end * (MOST_NAME_WORDS + 1) + words.len()];
        let part = part.get_or_insert_with(|| Part::of(&words.join(" "), may_begin, names));
        let own = part.own.clone();
        let is_inferred = own.is_none();
        let metric = own.or_else(|| heading::of_words(&part.words, script, names))?;
        Some(Name {
            metric,
            unit: part.unit.clone(),
            is_inferred,
            marks: part.marks,
        })
    }
}

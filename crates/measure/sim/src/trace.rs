//! Recorded latencies in place of a model's: the engine measures a recording.
//!
//! Each kind of operation takes its recorded latencies in their order, from a seeded start and in a loop, so
//! that the replay keeps the sequence of the recording. Operations missing from the recording take the span of
//! an ordinary card.

use std::fmt::Write;

use cardmark_core::{Origin, OriginKind, Rng, mix};

use crate::error::ModelError;

/// Shares and spans in nanoseconds.
type Quantiles<'a> = &'a [(f64, f64)];

/// Fewest latencies of a kind.
const LEAST_COUNT: usize = 16;

/// Recorded latencies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    source: String,
    is_made_up: bool,
    reads_ns: Vec<u64>,
    writes_ns: Vec<u64>,
}

impl Trace {
    /// Reads a recording from lines `kind,latency_ns`, where the kind is `read` or `write`, in the
    /// order of the operations. Empty lines, lines that begin with `#`, and a first line of column
    /// names are left out.
    ///
    /// # Errors
    /// The number of the first line that is not of this kind, or too few latencies.
    pub fn from_csv(text: &str, source: &str) -> Result<Self, ModelError> {
        let mut trace = Self::empty(source);
        for (number, line) in numbered(text) {
            if line == "kind,latency_ns" {
                continue;
            }
            let (kind, latency) = line.split_once(',').ok_or_else(|| unreadable(number))?;
            trace.add(kind.trim(), latency.trim(), number)?;
        }
        trace.whole()
    }

    /// Reads a latency log of fio: `time, latency in ns, direction, block size` and more, where
    /// direction 0 reads and 1 writes. Other directions are left out.
    ///
    /// # Errors
    /// The number of the first line that is not of this kind, or too few latencies.
    pub fn from_fio(text: &str, source: &str) -> Result<Self, ModelError> {
        let mut trace = Self::empty(source);
        for (number, line) in numbered(text) {
            let mut fields = line.split(',').map(str::trim).skip(1);
            let (latency, direction) = (fields.next(), fields.next());
            let (latency, direction) = latency.zip(direction).ok_or_else(|| unreadable(number))?;
            match direction {
                "0" => trace.add("read", latency, number)?,
                "1" => trace.add("write", latency, number)?,
                _ => {}
            }
        }
        trace.whole()
    }

    /// Generates latencies from quantiles, with straight lines between them: a simulation, and its origin
    /// records that. Shares rise from 0 to 1, and spans in nanoseconds with them.
    ///
    /// # Errors
    /// If they do not, or their number is too small.
    pub fn made_up(
        reads: Quantiles<'_>,
        writes: Quantiles<'_>,
        count: usize,
        seed: u64,
        source: &str,
    ) -> Result<Self, ModelError> {
        let drawn = |quantiles: Quantiles<'_>, name: &str| {
            let mut rng = Rng::for_part(seed, name, 0);
            let draws = (0..count).map(|_| quantile(quantiles, rng.unit()));
            draws.collect::<Option<Vec<u64>>>()
        };
        let drawn = |quantiles: Quantiles<'_>, name: &str| match quantiles.is_empty() {
            true => Some(Vec::new()),
            false => drawn(quantiles, name),
        };
        let both = drawn(reads, "made-up reads").zip(drawn(writes, "made-up writes"));
        let (reads_ns, writes_ns) =
            both.ok_or_else(|| ModelError::Text("quantiles must rise from 0 to 1".to_owned()))?;
        let trace = Self {
            is_made_up: true,
            reads_ns,
            writes_ns,
            ..Self::empty(source)
        };
        trace.whole()
    }

    fn empty(source: &str) -> Self {
        Self {
            source: source.to_owned(),
            is_made_up: false,
            reads_ns: Vec::new(),
            writes_ns: Vec::new(),
        }
    }

    fn add(&mut self, kind: &str, latency: &str, number: usize) -> Result<(), ModelError> {
        let latency_ns = latency.parse().map_err(|_| unreadable(number))?;
        match kind {
            "read" => self.reads_ns.push(latency_ns),
            "write" => self.writes_ns.push(latency_ns),
            _ => return Err(unreadable(number)),
        }
        Ok(())
    }

    fn whole(self) -> Result<Self, ModelError> {
        let is_enough = |spans: &[u64]| spans.is_empty() || spans.len() >= LEAST_COUNT;
        let is_any = !self.reads_ns.is_empty() || !self.writes_ns.is_empty();
        if is_any && is_enough(&self.reads_ns) && is_enough(&self.writes_ns) {
            return Ok(self);
        }
        Err(ModelError::Text(format!(
            "a recording has at least {LEAST_COUNT} latencies of a kind"
        )))
    }

    /// Returns the recorded latencies of a kind, nanoseconds.
    pub(crate) fn spans_ns(&self, is_read: bool) -> &[u64] {
        if is_read {
            &self.reads_ns
        } else {
            &self.writes_ns
        }
    }

    /// Returns the origin of records made with it: always a simulation, which names the recording, or records
    /// that none existed.
    pub fn origin(&self) -> Origin {
        let what = match self.is_made_up {
            true => "simulated: latencies made up from percentiles of",
            false => "simulated: replay of recorded latencies of",
        };
        Origin {
            source: Some(format!("{what} {}", self.source)),
            ..Origin::of(OriginKind::Simulated)
        }
    }

    /// Part of the id of a run: a checksum of all latencies.
    pub(crate) fn content(&self) -> String {
        let fold = |spans: &[u64]| spans.iter().fold(0, |sum, &ns| mix(sum ^ ns));
        let mut text = String::new();
        let (reads, writes) = (fold(&self.reads_ns), fold(&self.writes_ns));
        let _ = writeln!(text, "replay = {reads:016x}{writes:016x}");
        text
    }
}

/// Returns the lines with content, numbered from 1.
fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

fn unreadable(number: usize) -> ModelError {
    ModelError::Text(format!("line {number} is not a recorded latency"))
}

/// Returns the quantile at this share; `None` if they do not rise from 0 to 1.
fn quantile(quantiles: Quantiles<'_>, share: f64) -> Option<u64> {
    let rises = quantiles.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1);
    let is_whole = quantiles.first()?.0 == 0.0 && quantiles.last()?.0 == 1.0;
    let above = quantiles.partition_point(|&(known, _)| known <= share);
    let (low, high) = (quantiles.get(above.checked_sub(1)?)?, quantiles.get(above)?);
    let span_ns = low.1 + (share - low.0) / (high.0 - low.0) * (high.1 - low.1);
    (rises && is_whole && span_ns > 0.0).then(|| crate::service::to_ns(span_ns))
}

//! A suite: an ordered list of workloads with their preparation; a named, versioned method.

use serde::{Deserialize, Serialize};

use crate::{PrintStyle, Quantity, Start, TargetKind, Workload};

/// A named, versioned method.
///
/// Two kinds exist. In one, the workloads are measured in interleaved rounds until their intervals are narrow
/// (`looks`). In the other (`passes`), they run in their order, as in a script of old tools.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, such as `quick`.
    pub name: String,
    /// Version; numbers of different versions are not compared silently.
    pub version: u32,
    /// SHA-256 of its file, hexadecimal digits; `None` if it is not of the catalogue.
    #[serde(skip)]
    pub digest: Option<String>,
    /// One sentence for `cardmark list suites`.
    pub summary: String,
    /// Maximum number of bytes that the files of the suite take at once.
    pub file_bytes: u64,
    /// Kind of target required.
    #[serde(default)]
    pub needs: TargetNeed,
    /// The workload whose trials write the file for the first time; empty with `passes`.
    #[serde(default)]
    pub layout: String,
    /// Number of trials in which the file is laid out; they divide `file_bytes` evenly.
    #[serde(default)]
    pub layout_trials_count: u32,
    /// Numbers of rounds after which a metric is evaluated, rising; the first is the least number of rounds.
    /// Empty with `passes`.
    #[serde(default)]
    pub looks: Vec<u32>,
    /// Goal for the half-width of the interval, relative to the point, percent.
    #[serde(default)]
    pub goal_percent: f64,
    /// Time after the layout's end from which no further rounds start, nanoseconds.
    #[serde(default)]
    pub budget_ns: u64,
    /// Time after the layout's end from which nothing new starts in the rounds, even if there were few rounds,
    /// nanoseconds; 0: no limit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub longest_ns: u64,
    /// Number of written bytes that are read back and compared after all measurements; 0: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub read_back_bytes: u64,
    /// Number of passes over the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// The workloads, in order.
    pub workloads: Vec<Workload>,
    /// The metrics, if they are not simply the workloads' rates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// The score of an old tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Available tiers. With tiers, each tier defines the span of its workloads, and the first that fits the
    /// target is the default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tiers: Vec<Tier>,
    /// Deviations of every tier from the standard's procedure, each without full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// One size of a procedure, with its deviations from the standard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tier {
    /// Name, such as `raw-short`.
    pub name: String,
    /// Kind of target required.
    pub needs: TargetNeed,
    /// Minimum size of the target, bytes; in a directory, the size of the file.
    pub file_bytes: u64,
    /// True if it runs the standard's procedure in full size and length. Only such a tier can pass a class; a
    /// shorter one can fail it, or find it likely met.
    #[serde(default)]
    pub is_full: bool,
    /// Its workloads, with their size and duration.
    pub parts: Vec<TierPart>,
    /// Further deviations from the standard's procedure, each without full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
}

/// Size and duration of a workload in a tier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TierPart {
    /// The workload.
    pub workload: String,
    /// Its span, bytes; absent: as in `span_percent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_bytes: Option<u64>,
    /// Its span, percent of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span_percent: Option<u8>,
    /// Minimum duration, nanoseconds; absent for exact work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_span_ns: Option<u64>,
}

/// Kind of target that a suite makes sense on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetNeed {
    /// Any.
    #[default]
    Any,
    /// Files in a directory (or a simulated card).
    Directory,
    /// A whole device (or a simulated card).
    Device,
    /// Files in a directory of a real filesystem.
    Filesystem,
}

impl TargetNeed {
    /// Returns whether a target of this kind qualifies. A simulated card stands for a device and, except for
    /// workloads that need a filesystem, for a directory.
    pub fn is_met_by(self, kind: TargetKind) -> bool {
        match self {
            Self::Any => true,
            Self::Directory => kind != TargetKind::Device,
            Self::Device => kind != TargetKind::Directory,
            Self::Filesystem => kind == TargetKind::Directory,
        }
    }
}

/// Number of passes over a list of workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passes {
    /// Fixed number of passes; figures rest on all of them.
    Count(u32),
    /// Until one pass fulfils every figure's `least`, at most this number of passes; figures rest on the last
    /// pass.
    UntilGood(u32),
}

/// A metric and its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of the metric.
    pub id: String,
    /// The workload whose trials it comes from.
    pub workload: String,
    /// Kind of figure.
    #[serde(default)]
    pub of: FigureOf,
    /// Format in which the old tool prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<PrintStyle>,
    /// The least printed number that the old tool accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// Weight of the printed number in the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// Kind of figure derived from a workload's trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureOf {
    /// Bytes a second.
    #[default]
    Rate,
    /// Operations a second.
    Operations,
    /// Sum of the streams' own rates (iozone: "children see").
    Children,
    /// Counted bytes of all streams over the span until the last one has finished ("parent sees").
    Parent,
    /// The slowest stream's rate.
    Min,
    /// The fastest stream's rate.
    Max,
    /// Mean of the streams' rates.
    Avg,
    /// Parts of operations a second, such as the files of packages.
    Parts,
    /// Rate of the slowest window.
    WorstWindow,
    /// Rate of the slowest window of the size that the video classes require.
    WorstVideoWindow,
    /// The rate of the slowest trial, without interval.
    Slowest,
    /// Part of a long series of writes.
    Course(CourseFigure),
}

impl FigureOf {
    /// Returns the quantity of the figure; `None` for those of a course, which have several.
    pub fn quantity(self) -> Option<Quantity> {
        match self {
            Self::Operations | Self::Parts => Some(Quantity::OperationRate),
            Self::Course(_) => None,
            _ => Some(Quantity::ByteRate),
        }
    }
}

impl FigureOf {
    /// Returns whether it combines the rates of several streams.
    pub fn is_of_streams(self) -> bool {
        match self {
            Self::Children | Self::Parent | Self::Min | Self::Max | Self::Avg => true,
            Self::Rate
            | Self::Operations
            | Self::Parts
            | Self::WorstWindow
            | Self::WorstVideoWindow
            | Self::Slowest
            | Self::Course(_) => false,
        }
    }
}

/// A figure of a series of writes that continues until its rate has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CourseFigure {
    /// Bytes a second before the lasting fall of the rate.
    Burst,
    /// Bytes a second after the rate had settled.
    Settled,
    /// Bytes written until the rate fell.
    CacheBytes,
    /// The longest pause, nanoseconds.
    LongestPause,
    /// Pauses of more than 100 ms for each GiB written.
    #[serde(rename = "pauses_100_ms")]
    Pauses100Ms,
    /// Pauses of more than 500 ms for each GiB written.
    #[serde(rename = "pauses_500_ms")]
    Pauses500Ms,
    /// Pauses of more than 1 s for each GiB written.
    #[serde(rename = "pauses_1_s")]
    Pauses1S,
    /// Bytes a second over the last 60 s; absent if the rate has settled.
    RateAtEnd,
    /// Bytes a second over the slowest 10 s.
    #[serde(rename = "slowest_10_s")]
    Slowest10S,
    /// Bytes a second over the slowest 60 s.
    #[serde(rename = "slowest_60_s")]
    Slowest60S,
    /// Period of an oscillating rate, nanoseconds.
    Period,
    /// Bytes that were fast again after a rest.
    Refill,
}

/// The score of an old tool: the sum of printed numbers times their weights, over the divisor,
/// rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Score {
    /// Divisor of the sum.
    pub divisor: f64,
}

impl Suite {
    /// Returns whether it brings its target into a known state first: the target is erased, or its file is
    /// recreated.
    pub fn is_preconditioned(&self) -> bool {
        let mut starts = self.workloads.iter().map(|workload| workload.manner.start);
        starts.any(|start| start == Start::Erased)
    }

    /// Returns the tier of that name.
    pub fn tier(&self, name: &str) -> Option<&Tier> {
        self.tiers.iter().find(|tier| tier.name == name)
    }

    /// Returns the workload of that name.
    pub fn workload(&self, id: &str) -> Option<&Workload> {
        self.workloads.iter().find(|w| w.id == id)
    }

    /// Returns the names of the metrics that come from a workload, as far as the suite names them.
    pub fn figures_of<'a>(&'a self, workload: &'a str) -> impl Iterator<Item = &'a Figure> {
        self.figures
            .iter()
            .filter(move |figure| figure.workload == workload)
    }
}

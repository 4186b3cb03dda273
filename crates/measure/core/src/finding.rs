//! Findings: something noticed about device, context or measurement.

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Errno;

words! {
    /// Degree to which a finding limits trust.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// Information; the figures remain valid.
        Note,
        /// Limits trust in the metrics named.
        Warning,
        /// Part of the request could not be fulfilled.
        Error,
    }

    /// Kind of observation.
    #[derive(PartialOrd, Ord)]
    pub enum FindingKind {
        /// The block layer counted fewer bytes than were requested: cached or not stored.
        NotReached,
        /// No counters: it is not known whether the operations reached the device.
        Unverified,
        /// The block layer counted clearly more bytes than ours: something else used the device.
        SharedDevice,
        /// Direct I/O was refused; the page cache was in use.
        Buffered,
        /// A write or read rate rose or fell over the trials, so that one figure does not describe it.
        NotSettled,
        /// The goal for the interval was not reached within the time limit.
        WideInterval,
        /// The operation failed.
        IoError,
        /// The device disappeared.
        Vanished,
        /// The device did not answer within the limit.
        NoAnswer,
        /// Not enough room for the data that the suite or test writes.
        NoSpace,
        /// The filesystem was remounted read-only.
        RemountedReadOnly,
        /// The run was stopped before its end.
        Interrupted,
        /// The board throttled itself.
        Throttled,
        /// Data were still in a volatile cache when a write trial ended: its flush took long.
        CachedWrites,
        /// Asynchronous I/O is missing here; threads replaced it.
        Threads,
        /// The span holds none of our data, and a device may answer reads of unwritten blocks without touching its
        /// flash.
        UnwrittenSpan,
        /// Generating the payload takes a large part of the time of writing it.
        SlowPayload,
        /// The wall clock was not set: the time of the run is unknown.
        ClockNotSet,
        /// The wall clock stepped while the run was under way; spans do not depend on it.
        ClockStepped,
        /// The host cannot determine which device lies below the target.
        UnknownDevice,
        /// This user lacks a permission for a workload, such as reading the disk below a directory.
        NotPermitted,
        /// A workload is not applicable to this target.
        NotApplicable,
        /// The bus between host and card runs slower than both could.
        SlowBus,
        /// An A2 card runs without a command queue, and so below the performance that its class promises.
        NoCommandQueue,
        /// A card with a cache runs without it.
        NoCache,
        /// The card's clock is above what the bus mode allows.
        Overclocked,
        /// The USB link is slower than the device claims to support.
        SlowUsb,
        /// A USB bridge that supports UAS is driven without it, one request after the other.
        NoUas,
        /// The partition does not begin on a boundary of the card's allocation units.
        Misaligned,
        /// The board had too little voltage.
        UnderVoltage,
        /// The CPU governor saves power, which makes each operation slower.
        Powersave,
        /// Other programs used the processors or the device shortly before the run.
        BusyHost,
        /// Other virtual machines on the same physical machine took processor time.
        StolenTime,
        /// The host controller counted errors on the bus to the card.
        BusErrors,
        /// The kernel logged errors about the device.
        KernelMessages,
        /// The device reports wear or a fault.
        Worn,
        /// The PCI Express link is slower than the device supports.
        SlowPcie,
        /// A label promises another class than the registers.
        LabelMismatch,
        /// The registers are unlike those of most genuine cards; this proves nothing by itself.
        UnusualRegisters,
        /// The registers contradict each other or the standard.
        ContradictingRegisters,
        /// A reader hides the card's registers.
        HiddenRegisters,
        /// A printed unit that can be read in two ways.
        AmbiguousUnit,
        /// A figure in an imported text that cannot be interpreted, or that another one contradicts.
        DoubtfulFigure,
        /// Data that a test wrote was lost or changed when read back.
        DataLost,
        /// A test found that less than the announced size keeps data.
        FalseCapacity,
        /// The device should have been erased before a test, but does not support it.
        NotErased,
        /// A long series of writes showed no lasting fall of the rate: the size of the cache is not known.
        NoCliff,
        /// Before and after the trials of a workload the card spent time that no rate includes.
        TransitionCost,
        /// A round had a rate far from those of the others.
        OutlyingRound,
        /// Writes that are made durable one by one are as fast as others: the device may confirm before storing.
        SyncNotSlower,
        /// The same reads, repeated several times, had different rates: something else changed during the run.
        ReferenceMoved,
        /// Reads anywhere on the device are slower than those within a small part of it.
        SmallMap,
        /// The rate of a long series of writes goes up and down in a steady rhythm.
        Period,
        /// The trials of a record contradict each other or its seed: it was changed after the measurement.
        ContradictingTrials,
        /// How far a long series of writes got: the rate at its end, the bytes written, and their share of the storage.
        WrittenPart,
    }
}

impl FindingKind {
    /// Findings that mean that a figure is not the device's: a cache or another layer answered instead, the device is not
    /// known, or the record was changed.
    pub const VOIDING: [Self; 5] = [
        Self::NotReached,
        Self::Buffered,
        Self::DataLost,
        Self::ContradictingTrials,
        Self::UnknownDevice,
    ];

    /// Returns the kind of an operation that failed with this error.
    #[must_use]
    pub fn of_failure(errno: Errno) -> Self {
        match errno {
            _ if errno.is_no_space() => Self::NoSpace,
            _ if errno.is_gone() => Self::Vanished,
            Errno::ROFS => Self::RemountedReadOnly,
            _ => Self::IoError,
        }
    }

    /// Returns whether the finding concerns what the device reports about itself, rather than how it was
    /// measured.
    pub fn is_of_identity(self) -> bool {
        matches!(
            self,
            Self::LabelMismatch | Self::UnusualRegisters | Self::ContradictingRegisters
        )
    }
}

/// One observation, with the metrics it affects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// Kind of observation.
    pub kind: FindingKind,
    /// Degree to which it limits trust.
    pub severity: Severity,
    /// Observation, as a sentence without full stop, figures included.
    pub detail: String,
    /// Workloads whose metrics it affects; empty: all of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<String>,
    /// Possible remedy on this machine, as a sentence without full stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Absent if the finding follows from the rest of the record, and can be derived from it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noticed_by: Option<NoticedBy>,
}

words! {
    /// Who noticed something that the rest of a record does not show.
    pub enum NoticedBy {
        /// The program, while it ran.
        Run,
    }
}

impl Finding {
    /// Creates a finding that affects these workloads.
    pub fn new(kind: FindingKind, severity: Severity, detail: impl Into<String>) -> Self {
        Self {
            kind,
            severity,
            detail: detail.into(),
            workloads: Vec::new(),
            advice: None,
            noticed_by: None,
        }
    }

    /// Marks it as something that only the run could notice.
    #[must_use]
    pub fn by_run(mut self) -> Self {
        self.noticed_by = Some(NoticedBy::Run);
        self
    }

    /// Returns the finding with this advice.
    #[must_use]
    pub fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }

    /// Returns the finding tied to a workload.
    #[must_use]
    pub fn on(mut self, workload: impl Into<String>) -> Self {
        self.workloads.push(workload.into());
        self
    }
}

impl FindingKind {
    /// Returns the name in records, as `snake_case` text.
    pub fn name(self) -> String {
        name_of(&self)
    }
}

/// Returns the name of a value of an enumeration, as in records.
pub fn name_of<T: Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

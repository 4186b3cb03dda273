//! The record, format 1: the single immutable document that a run produces.
//!
//! Only `format`, `id` and `origin` are required. A record is a view of its document: fields that this version does not
//! know survive there, and in no type.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_cards::{Word, words};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::finding::name_of;
use crate::{
    Anatomy, Board, Derived, DeviceInfo, Finding, Host, Integrity, Metric, SensorSample,
    SurfacePart, Trial, Workload,
};

/// Version of the document's shape.
pub const FORMAT: u32 = 1;
/// Version of a statement's shape.
pub const STATEMENT: u32 = 1;
/// Version of the method; it changes whenever numbers could change.
pub const METHOD: u32 = 2;

/// The document of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Record {
    /// Version of the document's shape.
    pub format: u32,
    /// Version of the method that produced the numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<u32>,
    /// Id of the run.
    pub id: Uuid,
    /// Origin of the numbers.
    pub origin: Origin,
    /// When the run began, RFC 3339, UTC; absent if it is not known or was simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The program that measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// The method by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteRef>,
    /// Seed of offsets and payload, 16 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// The target of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// The devices below the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<DeviceInfo>,
    /// The computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The system on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// What the user states of the run, as labels. No part of the document: [`crate::Statement`] holds it. Documents of
    /// earlier versions have labels, which are read.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub labels: BTreeMap<String, String>,
    /// Properties that must be equal in two records whose figures are compared; any reader can rebuild it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// The patterns of the trials, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workloads: Vec<Arc<Workload>>,
    /// The timed executions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::trials")]
    #[cfg_attr(feature = "schema", schemars(with = "crate::trials::TrialColumns"))]
    pub trials: Vec<Trial>,
    /// Result of an integrity test: does the storage hold its data? Absent if not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// Read-back of the data that a suite wrote while measuring.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBack>,
    /// Internal structure, derived from the timing of reads and writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anatomy: Option<Anatomy>,
    /// State of the blocks of the storage, by place; of tests of every block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surface: Vec<SurfacePart>,
    /// Figures derived from the trials; any reader can rebuild them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Verdicts derived from the metrics; any reader can rebuild them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived: Option<Derived>,
    /// Readings taken during the run.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "crate::readings"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "crate::readings::SensorColumns"))]
    pub sensors: Vec<SensorSample>,
    /// Observations that matter for the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Bytes that the run wrote to the target, preparation included.
    #[serde(default)]
    pub written_bytes: u64,
}

impl Record {
    /// A record with the required fields only.
    pub fn new(id: Uuid, origin: Origin) -> Self {
        Self {
            format: FORMAT,
            method: None,
            id,
            origin,
            started_at: None,
            tool: None,
            suite: None,
            seed: None,
            target: None,
            devices: Vec::new(),
            board: None,
            host: None,
            labels: BTreeMap::new(),
            context: None,
            workloads: Vec::new(),
            trials: Vec::new(),
            integrity: None,
            read_back: None,
            anatomy: None,
            surface: Vec::new(),
            metrics: Vec::new(),
            derived: None,
            sensors: Vec::new(),
            findings: Vec::new(),
            written_bytes: 0,
        }
    }

    /// Holds the workload of each trial once, in [`Self::workloads`]. To be called when all trials are there.
    pub fn share_workloads(&mut self) {
        self.workloads.clear();
        for trial in &mut self.trials {
            trial.workload.share(&mut self.workloads);
        }
    }

    /// Returns whether all trials have their workload in [`Self::workloads`].
    pub(crate) fn is_shared(&self) -> bool {
        let mut numbers = self.trials.iter().map(|trial| trial.workload.number());
        numbers.all(|number| number.is_some())
    }

    /// Gives trials that were read with the number of a workload that workload.
    pub(crate) fn resolve_workloads(&mut self) -> Result<(), (u32, u32)> {
        crate::trials::resolve(&mut self.trials, &self.workloads)
    }

    /// Returns the metric with that id.
    pub fn metric(&self, id: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.id == id)
    }
}

/// The context of a record, by name. Two records are known to match in a value only if it is equal and
/// `unknown` in neither.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Context {
    /// Values that must match before figures are compared: `suite`, `method`, `origin`, `target`, `span`,
    /// `reader`, `bus`, `command_queue`, `cache`.
    pub must: BTreeMap<String, String>,
    /// Values shown beside a comparison that do not prevent it: `board`, `filesystem`, `kernel`, `governor`,
    /// `scheduler`, `preparation` (the last fill by `cardmark prepare`), `fill` (used share of the filesystem, to the
    /// nearest 10 %), `temperature` (highest, whole degrees Celsius).
    pub shown: BTreeMap<String, String>,
}

words! {
    /// Kind of source of a record.
    pub enum OriginKind {
        /// Measured by this program on storage.
        Measured,
        /// Measured by this program on a simulated card.
        Simulated,
        /// Read from another tool's output.
        Imported,
        /// Taken from a publication.
        Published,
    }
}

/// Origin of the numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Origin {
    /// Kind of source.
    pub kind: OriginKind,
    /// Address or name of the publication, or the model of a simulated card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The tool that printed the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The figures as printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed_text: Option<String>,
}

impl Origin {
    /// Returns an origin of that kind.
    pub fn of(kind: OriginKind) -> Self {
        Self {
            kind,
            source: None,
            tool: None,
            printed_text: None,
        }
    }
}

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, where known. This and the next three are not of simulated runs, whose bytes are equal
    /// wherever they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// True if its sources differed from that commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<bool>,
    /// Platform it was built for, such as `aarch64-unknown-linux-musl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Profile of the compiler: `release`, or `debug`, whose figures are not the device's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

/// The method by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SuiteRef {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// SHA-256 of its file, hexadecimal digits; not of simulated runs, whose bytes are equal wherever they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The requested workloads, if not all were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Tier that was run, if the suite has tiers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
}

words! {
    /// Kind of target.
    pub enum TargetKind {
        /// A test file in a directory.
        Directory,
        /// A raw block device.
        Device,
        /// A simulated card.
        Sim,
        /// Unknown (imported).
        Unknown,
    }
}

/// The target of a test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Target {
    /// Kind of target.
    pub kind: TargetKind,
    /// From the target down to the disk.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<Layer>,
    /// Filesystem type, such as `ext4`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<String>,
    /// Size of the area that offsets lay in, bytes.
    pub span_bytes: u64,
    /// Free bytes before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<u64>,
    /// Used and free bytes of the filesystem together before the run, without blocks reserved for root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem_bytes: Option<u64>,
    /// True if the page cache was bypassed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct: Option<bool>,
    /// Mount options that affect the figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mount_options: Vec<String>,
    /// True if the file was created without copy-on-write, on filesystems that have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nocow: Option<bool>,
    /// True if the file had a name for a moment because `O_TMPFILE` is not supported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_file: Option<bool>,
    /// Highest speed of payload generation measured before the run, bytes per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_rate_bytes_per_s: Option<f64>,
}

impl Target {
    /// Returns a target of this kind with no other properties.
    pub fn of(kind: TargetKind) -> Self {
        Self {
            kind,
            layers: Vec::new(),
            filesystem: None,
            span_bytes: 0,
            free_bytes: None,
            filesystem_bytes: None,
            direct: None,
            mount_options: Vec::new(),
            nocow: None,
            named_file: None,
            payload_rate_bytes_per_s: None,
        }
    }
}

/// One step from the target down to the disk. Holds no path, label or UUID of the host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Layer {
    /// Kind of layer.
    pub kind: LayerKind,
    /// The kernel's name of the block device, such as `mmcblk0p2`; absent for mounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// For a partition: its start on the disk, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_bytes: Option<u64>,
}

impl Layer {
    /// Returns the name of the device, or else of the kind.
    pub fn name(&self) -> String {
        let device = self.device.clone();
        device.unwrap_or_else(|| name_of(&self.kind))
    }
}

/// Kind of a layer, written as its lower-case name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LayerKind {
    /// A mounted filesystem.
    Mount,
    /// An overlay of several directories.
    Overlay,
    /// Btrfs, whose data may lie on several devices.
    Btrfs,
    /// A loop device.
    Loop,
    /// A device of the device mapper: LVM, encryption.
    Dm,
    /// A RAID of Linux.
    Md,
    /// A cached device.
    Bcache,
    /// A partition.
    Partition,
    /// A whole disk.
    Disk,
    /// Compressed memory.
    Zram,
    /// Storage on another machine.
    Network,
    /// Memory.
    Memory,
    /// A word that this version does not know.
    #[serde(untagged)]
    Other(Word),
}

/// Share of the written data that was still intact afterwards, in a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ReadBack {
    /// Bytes that were read and compared.
    pub read_bytes: u64,
    /// Of these, bytes of blocks that do not hold the data written to them last.
    pub lost_bytes: u64,
    /// Position of the first such block, bytes from the start of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_lost_bytes: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layer_kinds_are_names_and_those_of_other_versions_stay() {
        for (kind, name) in [
            (LayerKind::Loop, "loop"),
            (LayerKind::Md, "md"),
            (LayerKind::Other(Word::new("zoned").unwrap()), "zoned"),
        ] {
            let json = format!("{{\"kind\":\"{name}\"}}");
            let layer: Layer = serde_json::from_str(&json).unwrap();
            assert_eq!(layer.kind, kind);
            assert_eq!(layer.name(), name);
            assert_eq!(serde_json::to_string(&layer).unwrap(), json);
        }
        // A name of somebody's is no kind.
        assert!(serde_json::from_str::<Layer>("{\"kind\":\"Ada at home\"}").is_err());
    }
}

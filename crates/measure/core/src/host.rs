//! The computer, the system on it, and the state of both during the run.

use std::collections::BTreeMap;

use cardmark_cards::words;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::DeviceCounters;

/// The computer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Board {
    /// Model reported by the device tree or the firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Revision code of a Raspberry Pi, hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Memory, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Number of processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_count: Option<u64>,
    /// Highest frequency of the first processor, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_frequency_hz: Option<u64>,
    /// Warnings about power and heat from the firmware or the kernel, between the start of the board and the
    /// run: `under_voltage`, `frequency_capped`, `throttled`, `soft_temperature_limit`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power_warnings: Vec<String>,
    /// Programs that started the board before its system, in the order of [`FirmwareKind`]; empty if none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub firmware: Vec<Firmware>,
}

/// A program that started the board, or still runs beside its system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Firmware {
    /// Its kind.
    pub kind: FirmwareKind,
    /// Version: the Git commit for `boot_loader` and `video_core`, else the release; at most 128 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Build time, RFC 3339, UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built_at: Option<String>,
}

words! {
    /// Kinds of firmware.
    pub enum FirmwareKind {
        /// Boot loader in the EEPROM of a Raspberry Pi 4 or later, from `/chosen/bootloader` of the device tree.
        BootLoader,
        /// VideoCore firmware of a Raspberry Pi, from the kernel's log.
        VideoCore,
        /// U-Boot, from `/chosen/u-boot,version` of the device tree, or from SMBIOS.
        UBoot,
        /// BIOS or UEFI, from SMBIOS.
        Bios,
    }
}

/// The system on the computer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Host {
    /// Operating system, as `os-release` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Kernel release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Architecture, such as `aarch64`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Frequency governor of the first processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// True if the host is a virtual machine, as far as the kernel reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_virtual: Option<bool>,
    /// Size of the kernel's pages of memory, bytes: the page cache, and swap, work in these units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_bytes: Option<u64>,
    /// Use of the host by other programs shortly before the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<HostLoad>,
}

/// Use of the host by other programs while this one was about to begin, and read and wrote nothing itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HostLoad {
    /// Length of the observation, nanoseconds.
    pub span_ns: u64,
    /// Processor time that passed, used or idle, all processors together, nanoseconds in steps of 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// Part of it that other programs and the kernel used; without waiting for I/O, and without time stolen by other
    /// virtual machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_cpu_ns: Option<u64>,
    /// Operations and bytes on the disks below the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_counters: Option<DeviceCounters>,
}

/// One reading of the sensors, with the errors since the previous reading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SensorSample {
    /// Time after the run's start, nanoseconds.
    pub at_ns: u64,
    /// Temperature of the processor, thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_millicelsius: Option<i32>,
    /// Temperature of the device under test, thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_temperature_millicelsius: Option<i32>,
    /// Frequency of the first processor, hertz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_hz: Option<u64>,
    /// True if the board reports that it is throttling itself now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<bool>,
    /// Processor time taken by other virtual machines on the same physical machine, nanoseconds, all processors
    /// together, since the previous reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stolen_ns: Option<u64>,
    /// Errors that the host controller of the card has counted since the previous reading, by the kernel's
    /// name, such as `data_crc`; empty if none is above zero.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bus_errors: BTreeMap<String, u64>,
    /// Kernel messages about the device since the previous reading.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<String>,
    /// Number of further messages since the previous reading, whose texts are not kept: a run keeps the first
    /// [`MOST_MESSAGES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_messages_count: Option<u64>,
}

/// Maximum number of kernel messages that a run keeps.
pub const MOST_MESSAGES: usize = 256;

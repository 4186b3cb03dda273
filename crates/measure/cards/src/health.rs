//! Wear and errors of a device.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Wear and errors reported by a device. Missing values are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Health {
    /// Share of its rated life that is used, percent; above 100: more than that. eMMC reports steps of ten;
    /// this is the upper end of the step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_percent: Option<u32>,
    /// Spare blocks left, percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spare_percent: Option<u32>,
    /// Warnings that the device gives, in its standard's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Bytes written in its life.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Hours under power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powered_hours_count: Option<u64>,
    /// Number of power losses without prior notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsafe_shutdowns_count: Option<u64>,
    /// Errors of its medium that it could not mend; of SATA, sectors set aside or waiting for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_errors_count: Option<u64>,
    /// Temperature, thousandths of a degree Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_millicelsius: Option<i32>,
}

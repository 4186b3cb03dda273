//! Health from the output of `smartctl --json` (smartmontools 7), which knows how to ask disks behind USB bridges.

use serde::Deserialize;

use crate::Health;
use crate::smart::{Attribute, NVME_UNIT_BYTES, attributes_health, nvme_warnings};

/// The parts that are kept; no model and no serial number.
#[derive(Deserialize)]
struct Output {
    nvme_smart_health_information_log: Option<NvmeLog>,
    ata_smart_attributes: Option<AtaAttributes>,
}

#[derive(Deserialize)]
struct NvmeLog {
    critical_warning: Option<u8>,
    /// Degrees Celsius.
    temperature: Option<i32>,
    available_spare: Option<u32>,
    percentage_used: Option<u32>,
    data_units_written: Option<u64>,
    power_on_hours: Option<u64>,
    unsafe_shutdowns: Option<u64>,
    media_errors: Option<u64>,
}

#[derive(Deserialize)]
struct AtaAttributes {
    table: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    id: u8,
    value: u8,
    thresh: u8,
    flags: Flags,
    raw: Raw,
}

#[derive(Deserialize)]
struct Flags {
    prefailure: bool,
}

#[derive(Deserialize)]
struct Raw {
    value: u64,
}

/// Returns the health that `smartctl --json --attributes` printed; `None` if it printed none, as for bridges that it
/// does not know.
pub fn smartctl_health(printed: &str) -> Option<Health> {
    let output: Output = serde_json::from_str(printed).ok()?;
    if let Some(log) = output.nvme_smart_health_information_log {
        return Some(nvme_health(&log));
    }
    let table = output.ata_smart_attributes?.table;
    let attribute = |row: Row| Attribute {
        id: row.id,
        foretells: row.flags.prefailure,
        current: row.value,
        threshold: row.thresh,
        raw: row.raw.value,
    };
    let attributes: Vec<Attribute> = table.into_iter().map(attribute).collect();
    attributes_health(&attributes)
}

fn nvme_health(log: &NvmeLog) -> Health {
    let written_bytes = log.data_units_written.and_then(|units| {
        let bytes = u128::from(units) * NVME_UNIT_BYTES;
        u64::try_from(bytes).ok()
    });
    Health {
        used_percent: log.percentage_used,
        spare_percent: log.available_spare,
        warnings: nvme_warnings(log.critical_warning.unwrap_or(0)),
        written_bytes,
        powered_hours_count: log.power_on_hours,
        unsafe_shutdowns_count: log.unsafe_shutdowns,
        media_errors_count: log.media_errors,
        temperature_millicelsius: log
            .temperature
            .and_then(|celsius| celsius.checked_mul(1000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvme_health_is_read_and_no_serial_number() {
        let printed = r#"{"json_format_version":[1,0],"smartctl":{"version":[7,3],"exit_status":0},
            "device":{"name":"/dev/sda","type":"snt_asmedia","protocol":"NVMe"},
            "model_name":"Disk 512","serial_number":"S123",
            "nvme_smart_health_information_log":{"critical_warning":9,"temperature":41,"available_spare":97,
            "available_spare_threshold":10,"percentage_used":3,"data_units_read":1,"data_units_written":2000000,
            "host_reads":5,"power_cycles":12,"power_on_hours":4321,"unsafe_shutdowns":7,"media_errors":3}}"#;
        let expected = Health {
            used_percent: Some(3),
            spare_percent: Some(97),
            warnings: vec!["spare below its threshold".into(), "read-only".into()],
            written_bytes: Some(1_024_000_000_000),
            powered_hours_count: Some(4321),
            unsafe_shutdowns_count: Some(7),
            media_errors_count: Some(3),
            temperature_millicelsius: Some(41_000),
        };
        assert_eq!(smartctl_health(printed), Some(expected));
    }

    #[test]
    fn sata_attributes_that_all_makers_share_are_read() {
        let row = |id: u8, value: u8, thresh: u8, prefailure: bool, raw: u64| {
            format!(
                r#"{{"id":{id},"name":"X","value":{value},"worst":1,"thresh":{thresh},"when_failed":"",
                "flags":{{"value":51,"string":"PO--CK ","prefailure":{prefailure}}},"raw":{{"value":{raw},"string":"-"}}}}"#
            )
        };
        let rows = [
            row(5, 10, 10, true, 2),
            row(9, 90, 0, false, 0x5_0000_2710),
            row(194, 60, 0, false, 0x37_000C_0027),
            row(177, 5, 0, true, 9),
        ];
        let printed = format!(
            r#"{{"ata_smart_attributes":{{"revision":16,"table":[{}]}}}}"#,
            rows.join(",")
        );
        let expected = Health {
            warnings: vec!["attribute 5 is below its threshold".into()],
            powered_hours_count: Some(10_000),
            media_errors_count: Some(2),
            temperature_millicelsius: Some(39_000),
            ..Health::default()
        };
        assert_eq!(smartctl_health(&printed), Some(expected));
    }

    #[test]
    fn an_unknown_bridge_has_no_health() {
        let refused = r#"{"smartctl":{"messages":[{"string":"/dev/sda: Unknown USB bridge [0x0bda:0x0316 (0x204)]",
            "severity":"error"}],"exit_status":1}}"#;
        assert_eq!(smartctl_health(refused), None);
        assert_eq!(smartctl_health("not JSON"), None);
        assert_eq!(
            smartctl_health(r#"{"ata_smart_attributes":{"table":[]}}"#),
            None
        );
    }
}

//! Health logs of NVMe and SATA disks: parses their bytes into the fields of a record.

use crate::Health;

/// Size of each of these logs, bytes.
pub const SMART_LOG_BYTES: usize = 512;
/// NVMe counts data in units of a thousand blocks of 512 bytes.
pub(crate) const NVME_UNIT_BYTES: u128 = 512_000;
/// Zero degrees Celsius, thousandths of a kelvin.
const ICE_MK: i32 = 273_150;

/// Warnings of an NVMe disk, from bit 0 on, in the words of its specification.
const NVME_WARNINGS: [&str; 6] = [
    "spare below its threshold",
    "temperature beyond its threshold",
    "reliability degraded",
    "read-only",
    "backup of volatile memory failed",
    "persistent memory region unreliable",
];

/// Health from log page 2 of NVMe, "SMART / Health Information" (NVM Express base specification
/// 1.4, 5.14.1.2).
pub fn nvme_health(log: &[u8; SMART_LOG_BYTES]) -> Health {
    let counter = |at: usize| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&log[at..at + 16]);
        u128::from_le_bytes(bytes)
    };
    let count = |at| u64::try_from(counter(at)).ok();
    let kelvin = u16::from_le_bytes([log[1], log[2]]);
    Health {
        used_percent: Some(u32::from(log[5])),
        // Without spare blocks and threshold the log contains no information about them.
        spare_percent: (log[3] > 0 || log[4] > 0).then(|| u32::from(log[3])),
        warnings: nvme_warnings(log[0]),
        written_bytes: counter(48)
            .checked_mul(NVME_UNIT_BYTES)
            .and_then(|bytes| u64::try_from(bytes).ok()),
        powered_hours_count: count(128),
        unsafe_shutdowns_count: count(144),
        media_errors_count: count(160),
        // Zero kelvin: it has no sensor.
        temperature_millicelsius: (kelvin > 0).then(|| i32::from(kelvin) * 1000 - ICE_MK),
    }
}

/// Attributes of SATA disks whose meaning all makers share.
const REALLOCATED: u8 = 5;
const POWER_ON_HOURS: u8 = 9;
const TEMPERATURE: u8 = 194;
const PENDING: u8 = 197;
/// Attributes in a table, and bytes of each.
const ATTRIBUTES_COUNT: usize = 30;
const ATTRIBUTE_BYTES: usize = 12;

/// An attribute of a SATA disk.
pub(crate) struct Attribute {
    pub(crate) id: u8,
    /// True if a fall to its threshold means that the disk will fail soon.
    pub(crate) foretells: bool,
    pub(crate) current: u8,
    /// Zero is never reached.
    pub(crate) threshold: u8,
    /// Six bytes, whose meaning is the maker's.
    pub(crate) raw: u64,
}

/// Returns the health from the tables of `SMART READ DATA` and `SMART READ THRESHOLDS` (ATA/ATAPI-7).
/// Attributes that makers number freely, such as wear, are left out. `None` if a table's checksum is wrong, or
/// the disk reports nothing.
pub fn ata_health(
    data: &[u8; SMART_LOG_BYTES],
    thresholds: &[u8; SMART_LOG_BYTES],
) -> Option<Health> {
    let is_sound = |table: &[u8; SMART_LOG_BYTES]| {
        table.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)) == 0
    };
    if !is_sound(data) || !is_sound(thresholds) {
        return None;
    }
    attributes_health(&attributes(data, thresholds))
}

/// Returns the health from attributes; `None` without any.
pub(crate) fn attributes_health(attributes: &[Attribute]) -> Option<Health> {
    if attributes.is_empty() {
        return None;
    }
    let raw = |id: u8| {
        let attribute = attributes.iter().find(|attribute| attribute.id == id);
        attribute.map(|attribute| attribute.raw)
    };
    let errors = [raw(REALLOCATED), raw(PENDING)];
    let is_below = |attribute: &&Attribute| {
        attribute.threshold > 0 && attribute.current <= attribute.threshold
    };
    Some(Health {
        warnings: attributes
            .iter()
            .filter(|attribute| attribute.foretells)
            .filter(is_below)
            .map(|attribute| format!("attribute {} is below its threshold", attribute.id))
            .collect(),
        // Some makers count minutes in the upper bytes.
        powered_hours_count: raw(POWER_ON_HOURS).map(|raw| raw & 0xFFFF_FFFF),
        media_errors_count: errors.iter().any(Option::is_some).then(|| {
            errors
                .iter()
                .flatten()
                .fold(0, |sum: u64, raw| sum.saturating_add(*raw))
        }),
        // The upper bytes hold the lowest and highest so far.
        temperature_millicelsius: raw(TEMPERATURE).map(|raw| i32::from((raw & 0xFF) as u8) * 1000),
        ..Health::default()
    })
}

fn attributes(table: &[u8; SMART_LOG_BYTES], thresholds: &[u8; SMART_LOG_BYTES]) -> Vec<Attribute> {
    let rows = table[2..]
        .chunks_exact(ATTRIBUTE_BYTES)
        .take(ATTRIBUTES_COUNT);
    let threshold = |id: u8| {
        let mut rows = thresholds[2..].chunks_exact(ATTRIBUTE_BYTES);
        rows.find(|row| row[0] == id).map_or(0, |row| row[1])
    };
    let attribute = |row: &[u8]| {
        let mut raw = [0; 8];
        raw[..6].copy_from_slice(&row[5..11]);
        Attribute {
            id: row[0],
            foretells: row[1] & 1 == 1,
            current: row[3],
            threshold: threshold(row[0]),
            raw: u64::from_le_bytes(raw),
        }
    };
    rows.filter(|row| row[0] != 0).map(attribute).collect()
}

/// Returns the words for the bits of an NVMe disk's critical warning.
pub(crate) fn nvme_warnings(bits: u8) -> Vec<String> {
    let words = NVME_WARNINGS.iter().enumerate();
    words
        .filter(|(bit, _)| bits >> bit & 1 == 1)
        .map(|(_, words)| (*words).to_owned())
        .collect()
}

/// Returns whether a text is one of the warnings that [`Health`] has, and nothing else.
pub fn is_health_warning(text: &str) -> bool {
    let id = text.strip_prefix("attribute ");
    let id = id.and_then(|rest| rest.strip_suffix(" is below its threshold"));
    NVME_WARNINGS.contains(&text) || id.is_some_and(|id| id.parse::<u8>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nvme() -> [u8; SMART_LOG_BYTES] {
        let mut log = [0; SMART_LOG_BYTES];
        log[0] = 0b1001;
        log[1..3].copy_from_slice(&(273_u16 + 41).to_le_bytes());
        log[3] = 97;
        log[5] = 255;
        log[48..56].copy_from_slice(&2_000_000_u64.to_le_bytes());
        log[128..130].copy_from_slice(&4321_u16.to_le_bytes());
        log[144] = 7;
        log[160] = 3;
        log
    }

    #[test]
    fn an_nvme_log_is_told_in_our_words() {
        let expected = Health {
            used_percent: Some(255),
            spare_percent: Some(97),
            warnings: vec!["spare below its threshold".into(), "read-only".into()],
            written_bytes: Some(1_024_000_000_000),
            powered_hours_count: Some(4321),
            unsafe_shutdowns_count: Some(7),
            media_errors_count: Some(3),
            temperature_millicelsius: Some(40_850),
        };
        assert_eq!(nvme_health(&nvme()), expected);
    }

    #[test]
    fn counters_beyond_our_words_are_left_out() {
        let mut log = nvme();
        log[48..64].fill(0xFF);
        log[160..176].fill(0xFF);
        log[1..3].fill(0);
        let health = nvme_health(&log);
        assert_eq!(health.written_bytes, None);
        assert_eq!(health.media_errors_count, None);
        assert_eq!(health.temperature_millicelsius, None);
        log[3] = 0;
        assert_eq!(nvme_health(&log).spare_percent, None);
        log[4] = 10;
        assert_eq!(nvme_health(&log).spare_percent, Some(0));
    }

    /// A table with these rows: id, flags, current, and the lowest raw bytes.
    fn table(rows: &[(u8, u8, u8, &[u8])]) -> [u8; SMART_LOG_BYTES] {
        let mut table = [0_u8; SMART_LOG_BYTES];
        for (index, (id, flags, current, raw)) in rows.iter().enumerate() {
            let at = 2 + index * ATTRIBUTE_BYTES;
            table[at] = *id;
            table[at + 1] = *flags;
            table[at + 3] = *current;
            table[at + 5..at + 5 + raw.len()].copy_from_slice(raw);
        }
        sealed(table)
    }

    fn sealed(mut table: [u8; SMART_LOG_BYTES]) -> [u8; SMART_LOG_BYTES] {
        let sum = table[..511]
            .iter()
            .fold(0_u8, |sum, b| sum.wrapping_add(*b));
        table[511] = 0_u8.wrapping_sub(sum);
        table
    }

    #[test]
    fn sata_attributes_that_all_makers_share_are_told() {
        let data = table(&[
            (5, 3, 10, &[2]),
            (9, 2, 90, &[0x10, 0x27, 0, 0, 5]),
            (194, 2, 60, &[39, 0, 12, 0, 55]),
            (197, 2, 100, &[1]),
            (177, 3, 5, &[9]),
        ]);
        // Row 5: threshold 10, reached; row 177: threshold 0, never reached.
        let thresholds = table(&[(5, 10, 0, &[]), (177, 0, 0, &[]), (197, 200, 0, &[])]);
        let health = ata_health(&data, &thresholds).unwrap();
        let expected = Health {
            warnings: vec!["attribute 5 is below its threshold".into()],
            powered_hours_count: Some(10_000),
            media_errors_count: Some(3),
            temperature_millicelsius: Some(39_000),
            ..Health::default()
        };
        assert_eq!(health, expected);
    }

    #[test]
    fn a_table_with_a_wrong_checksum_says_nothing() {
        let good = table(&[(5, 3, 10, &[2])]);
        let mut bad = good;
        bad[100] ^= 1;
        assert_eq!(ata_health(&bad, &good), None);
        assert_eq!(ata_health(&good, &bad), None);
        assert_eq!(ata_health(&[0; SMART_LOG_BYTES], &good), None, "nothing");
        assert!(ata_health(&good, &good).is_some());
    }
}

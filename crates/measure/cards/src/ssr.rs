//! SSR: the SD status, with the classes that a card claims.

use crate::field::{Field, Register};
use crate::words::{MIB, allocation_unit_bytes, entry, size, word, yes_or_no};

const TABLE: &[Field] = &[
    Field::new(
        "DAT_BUS_WIDTH",
        511,
        510,
        "data lines in use when it was read",
        |v| word(&["1 bit", "", "4 bit", ""], v),
    ),
    Field::new("SECURED_MODE", 509, 509, "in secured mode", yes_or_no),
    Field::reserved("RESERVED_502", 508, 502),
    Field::reserved("RESERVED_499", 501, 499),
    Field::new(
        "SECURE_CMD_STATUS",
        498,
        496,
        "status of the last secure command",
        |v| word(&["well", "invalid field", "wrong sequence", "denied"], v),
    ),
    Field::new("SD_CARD_TYPE", 495, 480, "variation of SD card", |v| {
        word(&["regular", "read only", "written once"], v)
    }),
    Field::raw(
        "SIZE_OF_PROTECTED_AREA",
        479,
        448,
        "size of the protected area",
    ),
    Field::new("SPEED_CLASS", 447, 440, "speed class", |v| {
        Some(format!("C{}", entry(&SPEED_CLASSES, v)?))
    }),
    Field::new(
        "PERFORMANCE_MOVE",
        439,
        432,
        "rate of moving data",
        |v| match v {
            0 => Some("writes in sequence".to_owned()),
            0xff => Some("endless".to_owned()),
            rate => Some(format!("{rate} MB/s")),
        },
    ),
    Field::new("AU_SIZE", 431, 428, "allocation unit", |v| {
        allocation_unit_bytes(v).map(size)
    }),
    Field::reserved("RESERVED_424", 427, 424),
    Field::new(
        "ERASE_SIZE",
        423,
        408,
        "allocation units erased at a time",
        |v| (v > 0).then(|| v.to_string()),
    ),
    Field::new("ERASE_TIMEOUT", 407, 402, "limit for erasing them", |v| {
        (v > 0).then(|| format!("{v} s"))
    }),
    Field::new("ERASE_OFFSET", 401, 400, "time added when erasing", |v| {
        Some(format!("{v} s"))
    }),
    Field::new("UHS_SPEED_GRADE", 399, 396, "UHS speed grade", |v| {
        defined(&UHS_GRADES, v).map(|grade| format!("U{grade}"))
    }),
    Field::new(
        "UHS_AU_SIZE",
        395,
        392,
        "allocation unit at UHS speeds",
        |v| uhs_allocation_unit_bytes(v).map(size),
    ),
    Field::new("VIDEO_SPEED_CLASS", 391, 384, "video speed class", |v| {
        defined(&VIDEO_CLASSES, v).map(|class| format!("V{class}"))
    }),
    Field::reserved("RESERVED_378", 383, 378),
    Field::new(
        "VSC_AU_SIZE",
        377,
        368,
        "allocation unit of video classes",
        |v| video_allocation_unit_bytes(v).map(size),
    ),
    Field::raw(
        "SUS_ADDR",
        367,
        346,
        "address of suspended recording, in 512 KiB",
    ),
    Field::reserved("RESERVED_340", 345, 340),
    Field::new(
        "APP_PERF_CLASS",
        339,
        336,
        "application performance class",
        |v| defined(&APP_CLASSES, v).map(|class| format!("A{class}")),
    ),
    Field::new(
        "PERFORMANCE_ENHANCE.QUEUE",
        335,
        331,
        "commands in its queue",
        |v| Some(queue_count(v).to_string()),
    ),
    Field::new("PERFORMANCE_ENHANCE.CACHE", 330, 330, "cache", yes_or_no),
    Field::new(
        "PERFORMANCE_ENHANCE.HOST",
        329,
        329,
        "maintenance by the host",
        yes_or_no,
    ),
    Field::new(
        "PERFORMANCE_ENHANCE.CARD",
        328,
        328,
        "maintenance by itself",
        yes_or_no,
    ),
    Field::reserved("RESERVED_316", 327, 316),
    Field::new(
        "WP_UPC_SUPPORT",
        315,
        315,
        "protection until power is cut",
        yes_or_no,
    ),
    Field::new(
        "BOOT_PARTITION_SUPPORT",
        314,
        314,
        "boot partitions",
        yes_or_no,
    ),
    Field::new("DISCARD_SUPPORT", 313, 313, "discard", yes_or_no),
    Field::new(
        "FULE_SUPPORT",
        312,
        312,
        "logical erase of the whole card",
        yes_or_no,
    ),
    Field::raw("MANUFACTURER", 311, 0, "the manufacturer's own"),
];

/// Speed classes by their code.
const SPEED_CLASSES: [u8; 5] = [0, 2, 4, 6, 10];
/// UHS speed grades; the code is the grade.
const UHS_GRADES: [u8; 3] = [0, 1, 3];
/// Video speed classes; the code is the class.
const VIDEO_CLASSES: [u8; 6] = [0, 6, 10, 30, 60, 90];
/// Application performance classes; the code is the class.
const APP_CLASSES: [u8; 3] = [0, 1, 2];
/// The least code of an allocation unit at UHS speeds that is in use: 1 MiB.
const UHS_LEAST_UNIT_CODE: u64 = 7;
/// Allocation units of the video classes that are defined, MiB.
const VIDEO_UNITS_MIB: [u64; 37] = [
    8, 16, 21, 24, 27, 28, 30, 32, 36, 40, 42, 45, 48, 54, 56, 60, 64, 72, 80, 96, 112, 120, 128,
    144, 160, 192, 216, 224, 240, 256, 288, 320, 384, 432, 448, 480, 512,
];

/// The SD status register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ssr([u8; 64]);

impl Ssr {
    /// From its bytes, the most significant first.
    pub fn new(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// Returns whether it is zero throughout; the kernel shows zeros when it could not read the register.
    pub fn is_blank(&self) -> bool {
        self.0 == [0; 64]
    }

    /// Speed class: 0, 2, 4, 6 or 10.
    pub fn speed_class(&self) -> Option<u8> {
        entry(&SPEED_CLASSES, self.get("SPEED_CLASS")?)
    }

    /// UHS speed grade: 0, 1 or 3.
    pub fn uhs_grade(&self) -> Option<u8> {
        defined(&UHS_GRADES, self.get("UHS_SPEED_GRADE")?)
    }

    /// Video speed class: 0, 6, 10, 30, 60 or 90.
    pub fn video_class(&self) -> Option<u8> {
        defined(&VIDEO_CLASSES, self.get("VIDEO_SPEED_CLASS")?)
    }

    /// Application performance class: 0, 1 or 2.
    pub fn app_class(&self) -> Option<u8> {
        defined(&APP_CLASSES, self.get("APP_PERF_CLASS")?)
    }

    /// `PERFORMANCE_MOVE` as it is, MB/s: 0 for cards that write in sequence, 255 for no limit.
    pub fn performance_move(&self) -> u8 {
        self.0[9]
    }

    /// Allocation unit, bytes.
    pub fn allocation_unit_bytes(&self) -> Option<u64> {
        allocation_unit_bytes(self.get("AU_SIZE")?)
    }

    /// Allocation unit at UHS speeds, bytes.
    pub fn uhs_allocation_unit_bytes(&self) -> Option<u64> {
        uhs_allocation_unit_bytes(self.get("UHS_AU_SIZE")?)
    }

    /// Allocation unit of the video classes, bytes.
    pub fn video_allocation_unit_bytes(&self) -> Option<u64> {
        video_allocation_unit_bytes(self.get("VSC_AU_SIZE")?)
    }

    /// Commands that its queue holds; 0: it has none.
    pub fn command_queue_count(&self) -> u32 {
        queue_count(self.get("PERFORMANCE_ENHANCE.QUEUE").unwrap_or_default())
    }

    /// Returns whether the card has a cache that the host can turn on.
    pub fn has_cache(&self) -> bool {
        self.get("PERFORMANCE_ENHANCE.CACHE") == Some(1)
    }

    /// Returns whether the card offers discard in addition to erase.
    pub fn has_discard(&self) -> bool {
        self.get("DISCARD_SUPPORT") == Some(1)
    }

    /// Returns whether the whole card can be erased logically (FULE).
    pub fn has_full_erase(&self) -> bool {
        self.get("FULE_SUPPORT") == Some(1)
    }

    /// The classes that it claims, such as `C10`, `U3`, `V30`, `A2`, in this order. Class 0 is
    /// none.
    pub fn classes(&self) -> Vec<String> {
        let classes = [
            ('C', self.speed_class()),
            ('U', self.uhs_grade()),
            ('V', self.video_class()),
            ('A', self.app_class()),
        ];
        let claimed = classes.into_iter().filter_map(|(family, class)| {
            let class = class.filter(|class| *class > 0)?;
            Some(format!("{family}{class}"))
        });
        claimed.collect()
    }
}

impl Default for Ssr {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Register for Ssr {
    fn table(&self) -> &'static [Field] {
        TABLE
    }

    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// Returns a class whose code is its number, if it is one of those defined.
fn defined(classes: &[u8], code: u64) -> Option<u8> {
    let class = u8::try_from(code).ok()?;
    classes.contains(&class).then_some(class)
}

fn uhs_allocation_unit_bytes(code: u64) -> Option<u64> {
    allocation_unit_bytes(code).filter(|_| code >= UHS_LEAST_UNIT_CODE)
}

fn video_allocation_unit_bytes(mib: u64) -> Option<u64> {
    VIDEO_UNITS_MIB.contains(&mib).then_some(mib * MIB)
}

/// The code is one less than the commands; 0 is no queue.
fn queue_count(code: u64) -> u32 {
    let code = u32::try_from(code).unwrap_or_default();
    if code == 0 { 0 } else { code + 1 }
}

//! Positions of the fields of a CSD, in each of its layouts.

use crate::CardKind;
use crate::field::Field;
use crate::words::{TENTHS, bit_numbers, block, entry, tenths, word, yes_or_no};

/// The table of an SD card around the fields that contain its size.
macro_rules! sd_table {
    ($($size:expr),+ $(,)?) => {
        &[
            STRUCTURE,
            Field::reserved("RESERVED_120", 125, 120),
            TAAC,
            NSAC,
            Field::new("TRAN_SPEED", 103, 96, "most bits a second on a data line", |v| {
                rate(CardKind::Sd, v)
            }),
            CCC,
            Field::new("READ_BL_LEN", 83, 80, "longest block to read", |v| powers(9, v)),
            READ_BL_PARTIAL,
            WRITE_BLK_MISALIGN,
            READ_BLK_MISALIGN,
            DSR_IMP,
            $($size,)+
            Field::new("ERASE_BLK_EN", 46, 46, "erases single blocks of 512 bytes", yes_or_no),
            Field::new("SECTOR_SIZE", 45, 39, "blocks erased together", plus_one),
            Field::new("WP_GRP_SIZE", 38, 32, "erase sectors protected together", plus_one),
            WP_GRP_ENABLE,
            Field::reserved("RESERVED_29", 30, 29),
            Field::new("R2W_FACTOR", 28, 26, "write time divided by read time", |v| {
                times(5, v)
            }),
            Field::new("WRITE_BL_LEN", 25, 22, "longest block to write", |v| powers(9, v)),
            WRITE_BL_PARTIAL,
            Field::reserved("RESERVED_16", 20, 16),
            FILE_FORMAT_GRP,
            COPY,
            PERM_WRITE_PROTECT,
            TMP_WRITE_PROTECT,
            FILE_FORMAT,
            Field::new("WP_UPC", 9, 9, "write protected until power is cut", yes_or_no),
            Field::reserved("RESERVED_8", 8, 8),
            CRC,
            ALWAYS_1,
        ]
    };
}

/// Structure 0 of SD: SDSC.
pub(crate) const SD_V1: &[Field] = sd_table![
    Field::reserved("RESERVED_74", 75, 74),
    C_SIZE_SMALL,
    VDD_R_CURR_MIN,
    VDD_R_CURR_MAX,
    VDD_W_CURR_MIN,
    VDD_W_CURR_MAX,
    C_SIZE_MULT,
];

/// Structure 1 of SD: SDHC and SDXC.
pub(crate) const SD_V2: &[Field] = sd_table![
    Field::reserved("RESERVED_70", 75, 70),
    Field::raw("C_SIZE", 69, 48, "size, in steps of 512 KiB"),
    Field::reserved("RESERVED_47", 47, 47),
];

/// Structure 2 of SD: SDUC.
pub(crate) const SD_V3: &[Field] = sd_table![
    Field::raw("C_SIZE", 75, 48, "size, in steps of 512 KiB"),
    Field::reserved("RESERVED_47", 47, 47),
];

/// Structure 3 of SD, which defines no fields.
pub(crate) const SD_UNDEFINED: &[Field] = &[
    STRUCTURE,
    Field::reserved("RESERVED_64", 125, 64),
    Field::reserved("RESERVED_8", 63, 8),
    CRC,
    ALWAYS_1,
];

/// MMC and eMMC.
pub(crate) const MMC: &[Field] = &[
    STRUCTURE,
    Field::new(
        "SPEC_VERS",
        125,
        122,
        "version of the MMC specification",
        |v| {
            word(
                &[
                    "1.0 to 1.2",
                    "1.4",
                    "2.0 to 2.2",
                    "3.1 to 3.3",
                    "4.x or later",
                ],
                v,
            )
        },
    ),
    Field::reserved("RESERVED_120", 121, 120),
    TAAC,
    NSAC,
    Field::new(
        "TRAN_SPEED",
        103,
        96,
        "most bits a second on a data line",
        |v| rate(CardKind::Mmc, v),
    ),
    CCC,
    Field::new("READ_BL_LEN", 83, 80, "longest block to read", |v| {
        powers(0, v)
    }),
    READ_BL_PARTIAL,
    WRITE_BLK_MISALIGN,
    READ_BLK_MISALIGN,
    DSR_IMP,
    Field::reserved("RESERVED_74", 75, 74),
    C_SIZE_SMALL,
    VDD_R_CURR_MIN,
    VDD_R_CURR_MAX,
    VDD_W_CURR_MIN,
    VDD_W_CURR_MAX,
    C_SIZE_MULT,
    Field::raw(
        "ERASE_GRP_SIZE",
        46,
        42,
        "blocks erased together, with ERASE_GRP_MULT",
    ),
    Field::raw("ERASE_GRP_MULT", 41, 37, "factor of ERASE_GRP_SIZE"),
    Field::new(
        "WP_GRP_SIZE",
        36,
        32,
        "erase groups protected together",
        plus_one,
    ),
    WP_GRP_ENABLE,
    Field::new(
        "DEFAULT_ECC",
        30,
        29,
        "error correction at manufacturing",
        correction,
    ),
    Field::new(
        "R2W_FACTOR",
        28,
        26,
        "write time divided by read time",
        |v| times(7, v),
    ),
    Field::new("WRITE_BL_LEN", 25, 22, "longest block to write", |v| {
        powers(0, v)
    }),
    WRITE_BL_PARTIAL,
    Field::reserved("RESERVED_17", 20, 17),
    Field::new("CONTENT_PROT_APP", 16, 16, "protects content", yes_or_no),
    FILE_FORMAT_GRP,
    COPY,
    PERM_WRITE_PROTECT,
    TMP_WRITE_PROTECT,
    FILE_FORMAT,
    Field::new(
        "ECC",
        9,
        8,
        "error correction expected of the host",
        correction,
    ),
    CRC,
    ALWAYS_1,
];

const STRUCTURE: Field = Field::raw("CSD_STRUCTURE", 127, 126, "layout of this register");
const TAAC: Field = Field::new("TAAC", 119, 112, "time of access to data", access_time);
const NSAC: Field = Field::new("NSAC", 111, 104, "clock cycles of access to data", |v| {
    Some(format!("{} clock cycles", v * 100))
});
const CCC: Field = Field::new("CCC", 95, 84, "classes of commands", |v| {
    (v > 0).then(|| bit_numbers(v))
});
const READ_BL_PARTIAL: Field = Field::new(
    "READ_BL_PARTIAL",
    79,
    79,
    "reads parts of a block",
    yes_or_no,
);
const WRITE_BLK_MISALIGN: Field = Field::new(
    "WRITE_BLK_MISALIGN",
    78,
    78,
    "writes across blocks",
    yes_or_no,
);
const READ_BLK_MISALIGN: Field = Field::new(
    "READ_BLK_MISALIGN",
    77,
    77,
    "reads across blocks",
    yes_or_no,
);
const DSR_IMP: Field = Field::new("DSR_IMP", 76, 76, "its drivers can be set", yes_or_no);
const C_SIZE_SMALL: Field = Field::raw("C_SIZE", 73, 62, "size, with C_SIZE_MULT and READ_BL_LEN");
const VDD_R_CURR_MIN: Field = Field::new(
    "VDD_R_CURR_MIN",
    61,
    59,
    "current of reading, least voltage",
    least_current,
);
const VDD_R_CURR_MAX: Field = Field::new(
    "VDD_R_CURR_MAX",
    58,
    56,
    "current of reading, most voltage",
    most_current,
);
const VDD_W_CURR_MIN: Field = Field::new(
    "VDD_W_CURR_MIN",
    55,
    53,
    "current of writing, least voltage",
    least_current,
);
const VDD_W_CURR_MAX: Field = Field::new(
    "VDD_W_CURR_MAX",
    52,
    50,
    "current of writing, most voltage",
    most_current,
);
const C_SIZE_MULT: Field = Field::new("C_SIZE_MULT", 49, 47, "factor of C_SIZE", |v| {
    Some(format!("times {}", 4u64 << v.min(7)))
});
const WP_GRP_ENABLE: Field = Field::new("WP_GRP_ENABLE", 31, 31, "can protect groups", yes_or_no);
const WRITE_BL_PARTIAL: Field = Field::new(
    "WRITE_BL_PARTIAL",
    21,
    21,
    "writes parts of a block",
    yes_or_no,
);
const FILE_FORMAT_GRP: Field = Field::raw("FILE_FORMAT_GRP", 15, 15, "group of FILE_FORMAT");
const COPY: Field = Field::new("COPY", 14, 14, "content is a copy", yes_or_no);
const PERM_WRITE_PROTECT: Field = Field::new(
    "PERM_WRITE_PROTECT",
    13,
    13,
    "write protected for ever",
    yes_or_no,
);
const TMP_WRITE_PROTECT: Field = Field::new(
    "TMP_WRITE_PROTECT",
    12,
    12,
    "write protected for now",
    yes_or_no,
);
const FILE_FORMAT: Field = Field::raw("FILE_FORMAT", 11, 10, "how files are kept");
const CRC: Field = Field::raw("CRC", 7, 1, "checksum");
const ALWAYS_1: Field = Field::raw("ALWAYS_1", 0, 0, "end of the register");

/// Tenths by a code of four bits, in `TRAN_SPEED` of MMC; 0 is reserved.
const MMC_RATE_TENTHS: [u64; 16] = [
    0, 10, 12, 13, 15, 20, 26, 30, 35, 40, 45, 52, 55, 60, 70, 80,
];
/// Units of `TRAN_SPEED`, a tenth of them, bits per second.
const RATE_TENTH_BITS_PER_S: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
/// Units of times of access, a tenth of them, and how they are called.
const TIME_UNITS: [(u64, &str); 8] = [
    (1, "ns"),
    (10, "ns"),
    (100, "ns"),
    (1, "µs"),
    (10, "µs"),
    (100, "µs"),
    (1, "ms"),
    (10, "ms"),
];

fn access_time(code: u64) -> Option<String> {
    let (factor, unit) = entry(&TIME_UNITS, code & 0b111)?;
    let value = entry(&TENTHS, code >> 3).filter(|value| *value > 0)?;
    Some(format!("{} {unit}", tenths(value * factor)))
}

/// Decodes `TRAN_SPEED`.
pub(crate) fn line_bits_per_s(kind: CardKind, code: u64) -> Option<u64> {
    let tenths = match kind {
        CardKind::Sd => TENTHS,
        CardKind::Mmc => MMC_RATE_TENTHS,
        CardKind::Other(_) => return None,
    };
    let unit = entry(&RATE_TENTH_BITS_PER_S, code & 0b111)?;
    // Bit 7 is reserved, and with it all that is above the table.
    let value = entry(&tenths, code >> 3)?;
    (value > 0).then_some(value * unit)
}

fn rate(kind: CardKind, code: u64) -> Option<String> {
    let tenths_of_mbit = line_bits_per_s(kind, code)? / 100_000;
    Some(format!("{} Mbit/s", tenths(tenths_of_mbit)))
}

/// Returns the size of a block from its power of two; `None` for undefined powers.
fn powers(least: u64, power: u64) -> Option<String> {
    (least..=11).contains(&power).then(|| block(power))?
}

fn times(most: u64, power: u64) -> Option<String> {
    (power <= most).then(|| format!("times {}", 1u64 << power.min(63)))
}

fn plus_one(value: u64) -> Option<String> {
    Some(format!("{}", value + 1))
}

fn least_current(code: u64) -> Option<String> {
    let words = [
        "0.5 mA", "1 mA", "5 mA", "10 mA", "25 mA", "35 mA", "60 mA", "100 mA",
    ];
    word(&words, code)
}

fn most_current(code: u64) -> Option<String> {
    let words = [
        "1 mA", "5 mA", "10 mA", "25 mA", "35 mA", "45 mA", "80 mA", "200 mA",
    ];
    word(&words, code)
}

fn correction(code: u64) -> Option<String> {
    word(&["none", "BCH (542, 512)"], code)
}

//! Meanings of values, checked against the tables of the standards.

use std::collections::BTreeMap;

use cardmark_cards::{
    CapacityClass, CardKind, Cid, Csd, PreEol, Register, Registers, Scr, SdVersion, Ssr,
};

use crate::support::{hex, registers};

/// The SSR with one field set.
fn ssr(field: &str, value: u64) -> Ssr {
    Ssr::default().with(&[(field, value)]).unwrap()
}

#[test]
fn classes_that_are_not_defined_are_none() {
    let speeds = (0..=255).map(|code| ssr("SPEED_CLASS", code).speed_class());
    let defined: Vec<u8> = speeds.flatten().collect();
    assert_eq!(defined, [0, 2, 4, 6, 10]);
    let grades = (0..16).map(|code| ssr("UHS_SPEED_GRADE", code).uhs_grade());
    assert_eq!(grades.flatten().collect::<Vec<u8>>(), [0, 1, 3]);
    let videos = (0..256).map(|code| ssr("VIDEO_SPEED_CLASS", code).video_class());
    assert_eq!(
        videos.flatten().collect::<Vec<u8>>(),
        [0, 6, 10, 30, 60, 90]
    );
    let apps = (0..16).map(|code| ssr("APP_PERF_CLASS", code).app_class());
    assert_eq!(apps.flatten().collect::<Vec<u8>>(), [0, 1, 2]);
    assert_eq!(ssr("SPEED_CLASS", 5).classes(), Vec::<String>::new());
}

#[test]
fn allocation_units_are_those_of_the_tables() {
    let kib = |bytes: Option<u64>| bytes.map(|bytes| bytes / 1024);
    let units = (0..16).map(|code| kib(ssr("AU_SIZE", code).allocation_unit_bytes()));
    let expected = [
        16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 12_288, 16_384, 24_576, 32_768, 65_536,
    ];
    assert_eq!(units.flatten().collect::<Vec<u64>>(), expected);
    let uhs = (0..16).map(|code| kib(ssr("UHS_AU_SIZE", code).uhs_allocation_unit_bytes()));
    assert_eq!(uhs.flatten().collect::<Vec<u64>>(), expected[6..]);
    let video = (0..1024).map(|mib| ssr("VSC_AU_SIZE", mib).video_allocation_unit_bytes());
    let video: Vec<u64> = video.flatten().map(|bytes| bytes >> 20).collect();
    assert_eq!(
        (video.len(), video[0], video[2], video[36]),
        (37, 8, 21, 512)
    );
}

#[test]
fn a_queue_of_one_command_is_none() {
    let counts = [0, 1, 31].map(|code| {
        let ssr = ssr("PERFORMANCE_ENHANCE.QUEUE", code);
        assert!(!ssr.has_cache() && !ssr.has_discard());
        ssr.command_queue_count()
    });
    assert_eq!(counts, [0, 2, 32]);
    assert!(ssr("PERFORMANCE_ENHANCE.CACHE", 1).has_cache());
}

#[test]
fn versions_are_those_combinations_that_are_defined() {
    let version = |spec, spec3, spec4, specx| {
        let values = [
            ("SD_SPEC", spec),
            ("SD_SPEC3", spec3),
            ("SD_SPEC4", spec4),
            ("SD_SPECX", specx),
        ];
        Scr::default().with(&values).unwrap().sd_version()
    };
    assert_eq!(version(0, 0, 0, 0), Some(SdVersion::V1_01));
    assert_eq!(version(1, 0, 0, 0), Some(SdVersion::V1_10));
    assert_eq!(version(2, 0, 0, 0), Some(SdVersion::V2));
    assert_eq!(version(2, 1, 0, 0), Some(SdVersion::V3));
    assert_eq!(version(2, 1, 1, 0), Some(SdVersion::V4));
    for spec4 in [0, 1] {
        let later = (1..16).filter_map(|specx| version(2, 1, spec4, specx));
        let later: Vec<String> = later.map(|version| version.to_string()).collect();
        assert_eq!(later, ["5.xx", "6.xx", "7.xx", "8.xx", "9.xx"]);
    }
    let undefined = [
        (0, 1, 0, 0),
        (1, 1, 0, 0),
        (2, 0, 1, 0),
        (2, 0, 0, 1),
        (3, 0, 0, 0),
    ];
    for (spec, spec3, spec4, specx) in undefined {
        assert_eq!(version(spec, spec3, spec4, specx), None);
    }
    let other = Scr::default().with(&[("SCR_STRUCTURE", 1)]).unwrap();
    assert_eq!(other.sd_version(), None);
    assert!(SdVersion::V1_10 < SdVersion::V2 && SdVersion::V5 < SdVersion::V6);
}

/// A CSD of the given structure with fields set.
fn csd(kind: CardKind, structure: u64, values: &[(&str, u64)]) -> Csd {
    let blank = Csd::new(kind, [0; 16]);
    let csd = blank.with(&[("CSD_STRUCTURE", structure)]).unwrap();
    csd.with(values).unwrap()
}

#[test]
fn capacities_follow_the_structure() {
    let small = |kind, power| {
        let values = [
            ("C_SIZE", 2000 - 1),
            ("C_SIZE_MULT", 3),
            ("READ_BL_LEN", power),
        ];
        csd(kind, 0, &values).capacity_bytes()
    };
    // The specification's example of a card of 32 MB.
    assert_eq!(small(CardKind::Sd, 9), Some(2000 * 32 * 512));
    assert_eq!(small(CardKind::Sd, 11), Some(2000 * 32 * 2048));
    assert_eq!(
        (small(CardKind::Sd, 8), small(CardKind::Sd, 12)),
        (None, None)
    );
    assert_eq!(small(CardKind::Mmc, 8), Some(2000 * 32 * 256));
    assert_eq!(small(CardKind::Mmc, 12), None);
    let large = |structure, c_size| {
        let csd = csd(CardKind::Sd, structure, &[("C_SIZE", c_size)]);
        (csd.capacity_bytes(), csd.capacity_class())
    };
    // The ends of the families in the specification.
    let sectors = |count: u64| Some(count * 512);
    assert_eq!(
        large(1, 0x1010),
        (sectors(4_211_712), Some(CapacityClass::Sdhc))
    );
    assert_eq!(
        large(1, 0xffff),
        (sectors(67_108_864), Some(CapacityClass::Sdxc))
    );
    assert_eq!(
        large(1, 0x3f_feff),
        (sectors(4_294_705_152), Some(CapacityClass::Sdxc))
    );
    assert_eq!(
        large(2, 0x40_0000),
        (sectors(4_294_968_320), Some(CapacityClass::Sduc))
    );
    assert_eq!(
        large(2, 0xfff_ffff),
        (sectors(274_877_906_944), Some(CapacityClass::Sduc))
    );
    let undefined = Csd::new(CardKind::Sd, [0xff; 16]);
    assert_eq!(undefined.capacity_bytes(), None);
    assert_eq!(undefined.command_classes(), None);
    assert_eq!(undefined.unfixed_fields(), None);
}

#[test]
fn rates_are_those_of_the_family() {
    let rate = |kind, code| csd(kind, 0, &[("TRAN_SPEED", code)]).line_bits_per_s();
    let sd = [0x32, 0x5a, 0x0b, 0x2b].map(|code| rate(CardKind::Sd, code).unwrap() / 1_000_000);
    assert_eq!(sd, [25, 50, 100, 200]);
    let mmc = [0x2a, 0x32, 0x5a].map(|code| rate(CardKind::Mmc, code).unwrap() / 1_000_000);
    assert_eq!(mmc, [20, 26, 52]);
    assert_eq!(rate(CardKind::Sd, 0x08), Some(100_000));
    // Reserved: no value, a unit above the table, the highest bit.
    assert_eq!(
        [0x02, 0x34, 0xb2].map(|code| rate(CardKind::Sd, code)),
        [None; 3]
    );
}

#[test]
fn fields_that_are_fixed_and_differ_are_named() {
    let fixed = Csd::new(
        CardKind::Sd,
        *b"\x40\x0e\x00\x32\x5b\x59\0\0\x3a\x8f\x7f\x80\x0a\x40\0\0",
    );
    assert_eq!(fixed.unfixed_fields(), Some(vec![]));
    let changed = fixed.with(&[("TAAC", 0x0f), ("WRITE_BL_LEN", 10)]).unwrap();
    assert_eq!(changed.unfixed_fields(), Some(vec!["TAAC", "WRITE_BL_LEN"]));
    let small = fixed.with(&[("CSD_STRUCTURE", 0)]).unwrap();
    assert_eq!(small.unfixed_fields(), None);
}

#[test]
fn names_are_printable_and_revisions_decimal() {
    let cid = |name: &[u8; 5], revision| {
        let mut bytes = [0; 16];
        bytes[3..8].copy_from_slice(name);
        bytes[8] = revision;
        Cid::new(CardKind::Sd, bytes)
    };
    assert_eq!(
        cid(b"A\x00B\x1b\xff", 0x10).product().as_deref(),
        Some("A?B??")
    );
    assert_eq!(cid(b"AB  \x00", 0x10).product().as_deref(), Some("AB"));
    assert_eq!(cid(b"\0\0\0\0\0", 0x10).product(), None);
    assert_eq!(cid(b"AB   ", 0x99).revision().as_deref(), Some("9.9"));
    assert_eq!(cid(b"AB   ", 0x9a).revision(), None);
}

#[test]
fn old_mmc_cards_have_years_from_1997_and_a_cid_of_another_layout() {
    let of_version = |version| {
        let csd = csd(CardKind::Mmc, 1, &[("SPEC_VERS", version)]);
        registers(
            CardKind::Mmc,
            &[
                ("cid", "1501004d384731474303dc0db061506f"),
                ("csd", &hex(csd.bytes())),
            ],
        )
    };
    let made = |version| of_version(version).made().map(|month| month.to_string());
    assert_eq!(made(3).as_deref(), Some("1997-05"));
    assert_eq!(made(4), None);
    assert_eq!(of_version(1).cid, None);
}

#[test]
fn ext_csd_adds_what_the_csd_of_an_emmc_lacks() {
    let mut ext_csd = [0; 512];
    ext_csd[192] = 8;
    ext_csd[212..216].copy_from_slice(&15_269_888_u32.to_le_bytes());
    ext_csd[249] = 1;
    ext_csd[267..270].copy_from_slice(&[2, 1, 3]);
    ext_csd[307..309].copy_from_slice(&[15, 1]);
    let texts = [
        ("ext_csd", hex(&ext_csd)),
        ("csd", "d02701320f5903fff6dbffef8e40400d".to_owned()),
    ];
    let texts: BTreeMap<String, String> = texts
        .map(|(name, text)| (name.to_owned(), text))
        .into_iter()
        .collect();
    let registers = Registers::from_hex(CardKind::Mmc, &texts);
    let card = registers.card();
    assert_eq!(card.decoded.capacity_bytes, Some(15_269_888 * 512));
    assert_eq!(card.decoded.command_queue_count, Some(16));
    assert_eq!(
        (card.decoded.has_cache, card.decoded.has_discard),
        (Some(true), Some(true))
    );
    let life = registers.ext_csd.unwrap().life;
    assert_eq!(
        (life.used_percent(), life.pre_eol),
        (Some(30), Some(PreEol::Warning))
    );
    // The whole of it is not kept.
    assert_eq!(card.registers.keys().collect::<Vec<_>>(), ["csd", "rev"]);
    assert_eq!(card.registers["rev"], "08");
}

/// Returns the value that `cardmark info --json` shows for a field, with its meaning.
fn shown(registers: &Registers, register: &str, field: &str) -> (String, Option<String>) {
    let fields = registers.fields();
    let found = fields
        .iter()
        .find(|f| f.register == register && f.field == field);
    let found = found.unwrap();
    (found.value.clone(), found.meaning.clone())
}

#[test]
fn fields_are_explained_in_plain_words() {
    let ssr = "800000000800000004009000011b391e000800000002ff0003".to_owned() + &"0".repeat(78);
    let registers = registers(
        CardKind::Sd,
        &[
            ("cid", "1b534d4a4431593730d27654a6a19cbd"),
            ("csd", "400e0032db790001dbd37f800a4040f9"),
            ("scr", "0245848f33333039"),
            ("ssr", &ssr),
        ],
    );
    for (register, field, value, meaning) in [
        ("cid", "PNM", "0x4a44315937", "JD1Y7"),
        ("cid", "OID", "0x534d", "SM"),
        ("cid", "MDT", "0x19c", "2025-12"),
        ("csd", "C_SIZE", "0x01dbd3", "63.86 GB"),
        ("csd", "TAAC", "0x0e", "1 ms"),
        ("csd", "TRAN_SPEED", "0x32", "25 Mbit/s"),
        ("csd", "CCC", "0xdb7", "0, 1, 2, 4, 5, 7, 8, 10, 11"),
        ("csd", "READ_BL_LEN", "0x9", "512 bytes"),
        ("csd", "COPY", "0x1", "yes"),
        ("scr", "SD_SPEC", "0x2", "SD 6.xx"),
        ("scr", "SD_SECURITY", "0x4", "of SDXC"),
        ("scr", "SD_BUS_WIDTHS", "0x5", "1 bit and 4 bit"),
        (
            "scr",
            "CMD_SUPPORT",
            "0x0f",
            "CMD20, CMD23, CMD48/49, CMD58/59",
        ),
        ("ssr", "DAT_BUS_WIDTH", "0x2", "4 bit"),
        ("ssr", "AU_SIZE", "0x9", "4 MiB"),
        ("ssr", "SPEED_CLASS", "0x04", "C10"),
        ("ssr", "PERFORMANCE_ENHANCE.QUEUE", "0x1f", "32"),
        ("ssr", "VSC_AU_SIZE", "0x008", "8 MiB"),
    ] {
        let expected = (value.to_owned(), Some(meaning.to_owned()));
        assert_eq!(shown(&registers, register, field), expected, "{field}");
    }
    let (value, meaning) = shown(&registers, "ssr", "MANUFACTURER");
    assert_eq!((value, meaning), (format!("0x{}", "0".repeat(78)), None));
    // Samsung sets reserved bits of the CID; reserved bits that are zero are not listed.
    assert_eq!(shown(&registers, "cid", "RESERVED_20").0, "0xa");
    let reserved = registers.fields();
    let reserved = reserved.iter().filter(|f| f.field.starts_with("RESERVED_"));
    assert_eq!(reserved.count(), 1);
}

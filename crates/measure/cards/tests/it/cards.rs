//! Cards whose registers and whose truth others have published.

use cardmark_cards::{CapacityClass, CardKind, Month, Register, Registers, SdVersion, Ssr};

use crate::support::{hex, registers};

/// A card and its registers.
struct Known {
    cid: &'static str,
    csd: &'static str,
    scr: &'static str,
    manufacturer_id: u8,
    oem: &'static str,
    product: &'static str,
    revision: &'static str,
    serial: u32,
    made: &'static str,
    gigabytes: &'static str,
    version: &'static str,
    /// Classes in its SSR: C, U, V, A. The registers themselves were not published.
    classes: &'static [&'static str],
}

/// Read by ironsheep's SD driver for the Propeller 2 (MIT), which describes each in `DOCs/cards`.
const KNOWN: [Known; 12] = [
    Known {
        cid: "035344534e363447867e650771016b8d",
        csd: "400e0032db790001dbd37f800a4040f9",
        scr: "0245848700000000",
        manufacturer_id: 0x03,
        oem: "5344",
        product: "SN64G",
        revision: "8.6",
        serial: 0x7e65_0771,
        made: "2022-11",
        gigabytes: "63.865",
        version: "6.xx",
        classes: &["C10", "U3", "V30", "A2"],
    },
    Known {
        cid: "035344575836344780eebad6c001834b",
        csd: "400e0032db790001dbd37f800a4040f9",
        scr: "0245848700000000",
        manufacturer_id: 0x03,
        oem: "5344",
        product: "WX64G",
        revision: "8.0",
        serial: 0xeeba_d6c0,
        made: "2024-03",
        gigabytes: "63.865",
        version: "6.xx",
        classes: &["C10", "U1", "V10", "A2"],
    },
    Known {
        cid: "035344414747434680e05c352b0117f9",
        csd: "400e00325b590003b8ab7f800a404079",
        scr: "0245844300000000",
        manufacturer_id: 0x03,
        oem: "5344",
        product: "AGGCF",
        revision: "8.0",
        serial: 0xe05c_352b,
        made: "2017-07",
        gigabytes: "127.865",
        version: "5.xx",
        classes: &[],
    },
    Known {
        cid: "1b534d4a4431593730d27654a6a19cbd",
        csd: "400e0032db790003baff7f800a40002d",
        scr: "0205848700000000",
        manufacturer_id: 0x1b,
        oem: "534d",
        product: "JD1Y7",
        revision: "3.0",
        serial: 0xd276_54a6,
        made: "2025-12",
        gigabytes: "128.178",
        version: "6.xx",
        classes: &["C10", "U3", "V30", "A2"],
    },
    Known {
        cid: "1b534d474434515430c03055650125e9",
        csd: "400e00325b590003b9ff7f800a4040ab",
        scr: "02c5800300000000",
        manufacturer_id: 0x1b,
        oem: "534d",
        product: "GD4QT",
        revision: "3.0",
        serial: 0xc030_5565,
        made: "2018-05",
        gigabytes: "128.044",
        version: "3.0x",
        classes: &[],
    },
    Known {
        cid: "ad4c5355534430302035841e2ea19727",
        csd: "400e0032db790001d77b7f800a40008b",
        scr: "0245848700000000",
        manufacturer_id: 0xad,
        oem: "4c53",
        product: "USD00",
        revision: "2.0",
        serial: 0x3584_1e2e,
        made: "2025-07",
        gigabytes: "63.282",
        version: "6.xx",
        classes: &["C10", "U3", "V30", "A2"],
    },
    Known {
        cid: "ad4c534d535344306133549024718b55",
        csd: "400e0032db790001d2677f800a400059",
        scr: "0245848733333039",
        manufacturer_id: 0xad,
        oem: "4c53",
        product: "MSSD0",
        revision: "6.1",
        serial: 0x3354_9024,
        made: "2024-11",
        gigabytes: "62.600",
        version: "6.xx",
        classes: &["C10", "U3", "V30", "A2"],
    },
    Known {
        cid: "9f54495350434320070094010571976b",
        csd: "400e0032db590001cf9b7f800a400081",
        scr: "0245848f33333039",
        manufacturer_id: 0x9f,
        oem: "5449",
        product: "SPCC",
        revision: "0.7",
        serial: 0x0094_0105,
        made: "2025-07",
        gigabytes: "62.225",
        version: "6.xx",
        classes: &["C10", "U3", "V30", "A1"],
    },
    Known {
        cid: "12345641535443002000000f1401764d",
        csd: "400e00325b590001d1eb7f800a4000a1",
        scr: "02c5848300000000",
        manufacturer_id: 0x12,
        oem: "3456",
        product: "ASTC",
        revision: "2.0",
        serial: 0x0000_0f14,
        made: "2023-06",
        gigabytes: "62.535",
        version: "6.xx",
        classes: &["C10", "U3", "V30"],
    },
    Known {
        cid: "003432534431364720000003fb0192d5",
        csd: "400e00325b590000770b7f800a40004f",
        scr: "02b5804300000000",
        manufacturer_id: 0x00,
        oem: "3432",
        product: "SD16G",
        revision: "2.0",
        serial: 0x0000_03fb,
        made: "2025-02",
        gigabytes: "15.978",
        version: "5.xx",
        classes: &["C10", "U1", "V10"],
    },
    Known {
        cid: "27504853443136473001cd5cf501281f",
        csd: "400e00325b59000074277f800a40000f",
        scr: "0235800001000000",
        manufacturer_id: 0x27,
        oem: "5048",
        product: "SD16G",
        revision: "3.0",
        serial: 0x01cd_5cf5,
        made: "2018-08",
        gigabytes: "15.590",
        version: "3.0x",
        classes: &["C4"],
    },
    Known {
        cid: "41343253443847423043f65dc900f4a1",
        csd: "400e00325b5900003a8f7f800a400087",
        scr: "02b5800000000000",
        manufacturer_id: 0x41,
        oem: "3432",
        product: "SD8GB",
        revision: "3.0",
        serial: 0x43f6_5dc9,
        made: "2015-04",
        gigabytes: "7.860",
        version: "3.0x",
        classes: &["C10", "U1"],
    },
];

/// An SSR that claims these classes, made field by field.
fn ssr_of(classes: &[&str]) -> Ssr {
    let values: Vec<(&str, u64)> = classes
        .iter()
        .map(|class| match (&class[..1], class[1..].parse().unwrap()) {
            ("C", 10) => ("SPEED_CLASS", 4),
            ("C", number) => ("SPEED_CLASS", number / 2),
            ("U", grade) => ("UHS_SPEED_GRADE", grade),
            ("V", class) => ("VIDEO_SPEED_CLASS", class),
            (_, class) => ("APP_PERF_CLASS", class),
        })
        .collect();
    Ssr::default().with(&values).unwrap()
}

fn registers_of(known: &Known) -> Registers {
    let ssr = hex(ssr_of(known.classes).bytes());
    registers(
        CardKind::Sd,
        &[
            ("cid", known.cid),
            ("csd", known.csd),
            ("scr", known.scr),
            ("ssr", &ssr),
        ],
    )
}

#[test]
fn known_cards_are_understood() {
    for known in &KNOWN {
        let registers = registers_of(known);
        let facts = registers.card().decoded;
        let name = known.product;
        assert_eq!(facts.manufacturer_id, Some(known.manufacturer_id), "{name}");
        assert_eq!(facts.oem.as_deref(), Some(known.oem), "{name}");
        assert_eq!(facts.product.as_deref(), Some(known.product));
        assert_eq!(facts.revision.as_deref(), Some(known.revision), "{name}");
        assert_eq!(facts.made.as_deref(), Some(known.made), "{name}");
        assert_eq!(facts.sd_version.as_deref(), Some(known.version), "{name}");
        assert_eq!(facts.classes, known.classes, "{name}");
        assert_eq!(facts.checksum_fits, Some(true), "{name}");
        let megabytes = (facts.capacity_bytes.unwrap() + 500_000) / 1_000_000;
        let gigabytes = format!("{}.{:03}", megabytes / 1000, megabytes % 1000);
        assert_eq!(gigabytes, known.gigabytes, "{name}");
        let csd = registers.csd.unwrap();
        assert_eq!(csd.unfixed_fields(), Some(vec![]), "{name}");
        assert_eq!(csd.line_bits_per_s(), Some(25_000_000), "{name}");
        let cid = registers.cid.unwrap();
        assert_eq!(cid.serial().number(), known.serial, "{name}");
    }
}

#[test]
fn one_wrong_bit_is_told_by_the_checksum() {
    for known in &KNOWN {
        for (name, digits) in [("cid", known.cid), ("csd", known.csd)] {
            let changed = digits.replacen('4', "5", 1);
            assert_ne!(changed, digits);
            let registers = registers(CardKind::Sd, &[(name, &changed)]);
            assert_eq!(registers.checksum_fits(), Some(false), "{changed}");
        }
    }
}

/// The kernel's files of a Kingston Canvas Go! Plus, from a thread of the linux-mmc list about its
/// cache: an A2 card.
#[test]
fn a_whole_ssr_of_an_a2_card_is_understood() {
    let ssr = "000000000800000004009000011b391e000800000002ff0003".to_owned() + &"0".repeat(78);
    let registers = registers(
        CardKind::Sd,
        &[
            ("cid", "9f544953443634476136980065013b7e"),
            ("csd", "400e00325b590001cfff7f800a4000fa"),
            ("scr", "0205848701006432"),
            ("ssr", &ssr),
        ],
    );
    let facts = registers.card().decoded;
    assert_eq!(facts.classes, ["C10", "U3", "V30", "A2"]);
    assert_eq!(facts.product.as_deref(), Some("SD64G"));
    assert_eq!(facts.made.as_deref(), Some("2019-11"));
    assert_eq!(facts.checksum_fits, Some(true));
    // The kernel's `preferred_erase_size`.
    assert_eq!(facts.allocation_unit_bytes, Some(4_194_304));
    assert_eq!(facts.uhs_allocation_unit_bytes, Some(4_194_304));
    assert_eq!(facts.video_allocation_unit_bytes, Some(8 << 20));
    assert_eq!(facts.command_queue_count, Some(32));
    assert_eq!(
        (facts.has_cache, facts.has_discard),
        (Some(true), Some(true))
    );
    let ssr = registers.ssr.unwrap();
    assert!(ssr.has_full_erase());
    let erase = ["ERASE_SIZE", "ERASE_TIMEOUT", "ERASE_OFFSET"].map(|name| ssr.get(name));
    assert_eq!(erase, [Some(1), Some(6), Some(3)]);
    // Genuine, and yet its CCC has neither bit 1 nor bit 11.
    let classes = [1, 10, 11].map(|class| registers.csd.unwrap().has_command_class(class));
    assert_eq!(classes, [Some(false), Some(true), Some(false)]);
    let scr = registers.scr.unwrap();
    let commands = [20, 23, 48, 58, 53].map(|number| scr.supports_command(number));
    assert_eq!(commands, [true, true, true, false, false]);
    assert_eq!(scr.security(), 0);
    assert_eq!(scr.bus_widths(), 0b0101);
    assert_eq!(scr.sd_version(), Some(SdVersion::V6));
    let class = registers.csd.unwrap().capacity_class();
    assert_eq!(class, Some(CapacityClass::Sdxc));
}

/// The kernel's files of a SanDisk Ultra of 16 GB with A1, behind a controller of TI.
#[test]
fn a_whole_ssr_of_an_a1_card_is_understood() {
    let ssr = "0000000004000000040090000f051a00000000000001".to_owned() + &"0".repeat(84);
    let registers = registers(
        CardKind::Sd,
        &[
            ("cid", "035344534331364780ecf4c851011b85"),
            ("csd", "400e00325b59000076b27f800a404013"),
            ("scr", "0235804300000000"),
            ("ssr", &ssr),
        ],
    );
    let facts = registers.card().decoded;
    assert_eq!(facts.classes, ["C10", "U1", "A1"]);
    assert_eq!(facts.made.as_deref(), Some("2017-11"));
    // The kernel's `size`, 31116288 sectors.
    assert_eq!(facts.capacity_bytes, Some(31_116_288 * 512));
    assert_eq!(facts.allocation_unit_bytes, Some(4_194_304));
    assert_eq!(facts.uhs_allocation_unit_bytes, Some(8 << 20));
    assert_eq!(facts.video_allocation_unit_bytes, None);
    assert_eq!(facts.command_queue_count, Some(0));
    assert_eq!(
        (facts.has_cache, facts.has_discard),
        (Some(false), Some(false))
    );
    assert_eq!(facts.checksum_fits, Some(true));
    let class = registers.csd.unwrap().capacity_class();
    assert_eq!(class, Some(CapacityClass::Sdhc));
}

/// The kernel's files of a Samsung eMMC of 8 GB, version 4.5, from Armbian's pull request 246. That kernel,
/// 3.4, did not yet know of revisions and reported 05/1997.
#[test]
fn an_emmc_is_understood() {
    let registers = registers(
        CardKind::Mmc,
        &[
            ("cid", "1501004d384731474303dc0db061506f"),
            ("csd", "d02701320f5903fff6dbffef8e40400d"),
            ("rev", "0x6\n"),
        ],
    );
    let cid = registers.cid.unwrap();
    assert_eq!(cid.serial().number(), 0xdc0d_b061);
    assert_eq!(cid.get("CBX"), Some(1));
    assert_eq!(
        cid.made(Some(0)),
        Some(Month {
            year: 1997,
            month: 5
        })
    );
    assert_eq!(cid.made(None), None);
    let csd = registers.csd.unwrap();
    assert_eq!(csd.mmc_version(), Some(4));
    assert_eq!(csd.line_bits_per_s(), Some(26_000_000));
    assert_eq!(csd.command_classes(), Some(0x0f5));
    assert_eq!(csd.get("C_SIZE"), Some(0xfff));
    assert_eq!(
        (csd.get("ERASE_GRP_SIZE"), csd.get("ERASE_GRP_MULT")),
        (Some(31), Some(31))
    );
    let facts = registers.card().decoded;
    assert_eq!(facts.manufacturer_id, Some(0x15));
    assert_eq!(facts.oem.as_deref(), Some("0100"));
    assert_eq!(facts.product.as_deref(), Some("M8G1GC"));
    assert_eq!(facts.made.as_deref(), Some("2013-05"));
    assert_eq!(facts.checksum_fits, Some(true));
    // Its size is in EXT_CSD, which only root can read.
    assert_eq!(facts.capacity_bytes, None);
    assert_eq!((facts.has_discard, facts.has_cache), (Some(true), None));
}

/// A SanDisk Extreme of 512 GB behind a controller that takes checksums off.
#[test]
fn a_checksum_that_no_host_shows_is_not_judged() {
    let registers = registers(
        CardKind::Sd,
        &[
            ("cid", "035344534e35313280fff7b17b015700"),
            ("csd", "400e0032db79000ee5b77f800a404000"),
        ],
    );
    let facts = registers.card().decoded;
    assert_eq!(facts.checksum_fits, None);
    assert_eq!(facts.made.as_deref(), Some("2021-07"));
    assert_eq!(
        registers.card().registers["cid"],
        "035344534e35313280000000000157".to_owned() + "00"
    );
}

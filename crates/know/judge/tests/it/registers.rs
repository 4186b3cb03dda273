//! Cards with published registers: verdicts on genuine ones, and on those that break a rule.

use std::collections::BTreeMap;

use cardmark_cards::{Register, Registers, Ssr};
use cardmark_core::{
    CardKind, DeviceInfo, FindingKind, Origin, OriginKind, Record, Verdict, VerdictOutcome,
    run_id_from_bytes,
};
use cardmark_judge::{judge, notice};

/// Label, CID, CSD, SCR, and the non-zero fields of the SSR.
type Sold = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static [(&'static str, u64)],
);

/// Cards that were bought in shops (catalogue of the P2 microSD
/// filesystem, MIT), their serial numbers replaced by others of the same size; fields of the SSR
/// as published.
const GENUINE: [Sold; 6] = [
    (
        "SanDisk Extreme 64 A2",
        "035344534e363447867e6507710165",
        "400e0032db790001dbd37f800a4040",
        "0245848700000000",
        A2,
    ),
    (
        "Samsung EVO Select 128",
        "1b534d474434515430c03055650125",
        "400e00325b590003b9ff7f800a4040",
        "02c5800300000000",
        &[("SPEED_CLASS", 4), ("UHS_SPEED_GRADE", 3), ("AU_SIZE", 9)],
    ),
    (
        "Silicon Power 64",
        "9f5449535043432030007009400157",
        "400e0032db590001cf9b7f800a4000",
        "0245848f33333039",
        &[
            ("SPEED_CLASS", 4),
            ("UHS_SPEED_GRADE", 3),
            ("VIDEO_SPEED_CLASS", 30),
            ("APP_PERF_CLASS", 1),
        ],
    ),
    (
        "Gigastone 64 A1 V30",
        "12345641535443002000000f140176",
        "400e00325b590001d1eb7f800a4000",
        "02c5848300000000",
        &[
            ("SPEED_CLASS", 4),
            ("UHS_SPEED_GRADE", 3),
            ("VIDEO_SPEED_CLASS", 30),
        ],
    ),
    (
        "Gigastone 16",
        "003432534431364720000003fb0192",
        "400e00325b590000770b7f800a4000",
        "02b5804300000000",
        &[
            ("SPEED_CLASS", 4),
            ("UHS_SPEED_GRADE", 1),
            ("VIDEO_SPEED_CLASS", 10),
        ],
    ),
    (
        "Kingston 8",
        "413432534438474230430f65dc00f4",
        "400e00325b5900003a8f7f800a4000",
        "02b5800000000000",
        &[("SPEED_CLASS", 4), ("UHS_SPEED_GRADE", 1)],
    ),
];

const A2: &[(&str, u64)] = &[
    ("SPEED_CLASS", 4),
    ("UHS_SPEED_GRADE", 3),
    ("VIDEO_SPEED_CLASS", 30),
    ("APP_PERF_CLASS", 2),
    ("PERFORMANCE_ENHANCE.QUEUE", 31),
    ("PERFORMANCE_ENHANCE.CACHE", 1),
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn texts(cid: &str, csd: &str, scr: &str, ssr: &[(&str, u64)]) -> BTreeMap<String, String> {
    let ssr = Ssr::new([0; 64]).with(ssr).unwrap();
    [
        ("cid", format!("{cid}00")),
        ("csd", format!("{csd}00")),
        ("scr", scr.to_owned()),
        ("ssr", hex(ssr.bytes())),
    ]
    .map(|(name, text)| (name.to_owned(), text))
    .into()
}

fn record(texts: &BTreeMap<String, String>) -> Record {
    let registers = Registers::from_hex(CardKind::Sd, texts);
    let mut record = Record::new(run_id_from_bytes([0; 16]), Origin::of(OriginKind::Measured));
    record.started_at = Some("2026-11-21T12:00:00Z".to_owned());
    record.devices = vec![DeviceInfo {
        name: "mmcblk0".to_owned(),
        size_bytes: registers.capacity_bytes(),
        card: Some(registers.card()),
        ..DeviceInfo::default()
    }];
    notice(&mut record);
    record
}

fn verdict(record: &Record) -> Verdict {
    judge(record, None).unwrap().verdicts[0].clone()
}

fn contradictions(record: &Record) -> Vec<&str> {
    let found = record.findings.iter();
    found
        .filter(|finding| finding.kind == FindingKind::ContradictingRegisters)
        .map(|finding| finding.detail.as_str())
        .collect()
}

#[test]
fn genuine_cards_contradict_nothing_and_are_unusual_at_most() {
    for (label, cid, csd, scr, ssr) in GENUINE {
        let record = record(&texts(cid, csd, scr, ssr));
        assert_eq!(contradictions(&record), [""; 0], "{label}");
        let verdict = verdict(&record);
        let is_odd = label.starts_with("Gigastone");
        let expected = if is_odd {
            VerdictOutcome::Unusual
        } else {
            VerdictOutcome::Usual
        };
        assert_eq!(verdict.outcome, expected, "{label}: {verdict:?}");
        if is_odd {
            let seen = |reason: &String| reason.contains("seen in genuine retail cards");
            assert!(verdict.reasons.iter().all(seen), "{label}: {verdict:?}");
        }
    }
}

#[test]
fn no_word_about_registers_calls_a_card_a_fake() {
    let (_, _, csd, _, _) = GENUINE[0];
    let worst = texts(
        "fe3432534436344720000000010165",
        csd,
        "0000000000000000",
        A2,
    );
    let record = record(&worst);
    let text = serde_json::to_string(&(&record.findings, verdict(&record))).unwrap();
    for word in ["fake", "Fake"] {
        assert!(!text.contains(word), "{text}");
    }
    assert_eq!(verdict(&record).outcome, VerdictOutcome::Unusual);
}

/// Each rule broken on its own, in an otherwise valid A2 card.
#[test]
fn each_broken_rule_is_named() {
    let (_, cid, csd, scr, _) = GENUINE[0];
    let without = |field: &str, value: u64| -> Vec<(&'static str, u64)> {
        let changed = A2.iter().map(|&(name, old)| match name == field {
            true => (name, value),
            false => (name, old),
        });
        changed.collect()
    };
    for (name, texts, said) in [
        (
            "CSD",
            texts(cid, "400e0032db7a0001dbd37f800a4040", scr, A2),
            "READ_BL_LEN",
        ),
        (
            "bus widths",
            texts(cid, csd, "0244848700000000", A2),
            "one and of four lines",
        ),
        (
            "security",
            texts(cid, csd, "0235848700000000", A2),
            "SD_SECURITY 3",
        ),
        (
            "version",
            texts(cid, csd, "0245804700000000", A2),
            "class A2, which came with SD",
        ),
        (
            "queue",
            texts(cid, csd, scr, &without("PERFORMANCE_ENHANCE.QUEUE", 0)),
            "without command queue or cache",
        ),
        (
            "cache",
            texts(cid, csd, scr, &without("PERFORMANCE_ENHANCE.CACHE", 0)),
            "without command queue or cache",
        ),
        (
            "extension registers",
            texts(cid, csd, "0245848300000000", A2),
            "turn its cache on",
        ),
        (
            "CMD20",
            texts(cid, csd, "0245848600000000", A2),
            "without CMD20",
        ),
    ] {
        let record = record(&texts);
        let found = contradictions(&record);
        assert!(
            found.iter().any(|detail| detail.contains(said)),
            "{name}: {found:?}"
        );
        assert_eq!(found.len(), 1, "{name}: {found:?}");
    }
}

#[test]
fn a_checksum_that_does_not_fit_is_told() {
    let (_, cid, csd, scr, ssr) = GENUINE[0];
    let mut texts = texts(cid, csd, scr, ssr);
    texts.insert("cid".to_owned(), format!("{cid}8f"));
    let found = record(&texts);
    assert_eq!(
        contradictions(&found),
        ["a checksum does not fit its register"]
    );
}

/// A published register dump.
struct Dump {
    label: String,
    device_bytes: Option<u64>,
    texts: BTreeMap<String, String>,
}

/// Parses dumps from CSV: `source,label,cid,csd,scr,device_bytes`, no commas within fields.
fn dumps(text: &str) -> Vec<Dump> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    let dump = |row: &str| {
        let [source, label, cid, csd, scr, bytes] = row.split(',').collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        Dump {
            label: format!("{source} {label}"),
            device_bytes: bytes.parse().ok(),
            texts: [("cid", cid), ("csd", csd), ("scr", scr)]
                .map(|(name, digits)| (name.to_owned(), digits.to_owned()))
                .into(),
        }
    };
    rows.map(dump).collect()
}

/// 58 sessions with real cards. None breaks a rule of the specification, whether the host kept the checksums
/// or not; their signs are those named in the catalogue, without a strong one.
#[test]
fn real_cards_contradict_nothing() {
    let dumps = dumps(include_str!("fixtures/real-registers.csv"));
    assert_eq!(dumps.len(), 58);
    let mut hidden = BTreeMap::new();
    let mut unusual = Vec::new();
    for Dump {
        label,
        device_bytes,
        texts,
    } in &dumps
    {
        let record = record(texts);
        assert_eq!(contradictions(&record), [""; 0], "{label}");
        let verdict = verdict(&record);
        let is_strong = |reason: &String| reason.contains("(strong");
        assert!(
            !verdict.reasons.iter().any(is_strong),
            "{label}: {verdict:?}"
        );
        if verdict.outcome == VerdictOutcome::Unusual {
            unusual.push(label.as_str());
        }
        let device = &record.devices[0];
        let fits = device.card.as_ref().unwrap().decoded.checksum_fits;
        *hidden
            .entry((&texts["cid"][30..], fits.is_none()))
            .or_insert(0) += 1;
        // Two pages of the catalogue of P2 cards list 1024 sectors less than the card has.
        let differs = device.size_bytes.unwrap().abs_diff(device_bytes.unwrap());
        assert!(matches!(differs, 0 | 524_288), "{label}");
    }
    let left = ["00", "01", "08"].map(|last| hidden.remove(&(last, true)));
    assert_eq!(left, [Some(25), Some(6), Some(5)]);
    assert!(hidden.keys().all(|(_, is_hidden)| !is_hidden), "{hidden:?}");
    // Retail cards that the catalogue of signs names, and cards of unknown maker.
    assert_eq!(
        unusual,
        [
            "p2usd Gigastone 32GB SDHC",
            "p2usd Gigastone 'High Endurance' 8GB SDHC MLC",
            "p2usd Gigastone 'Camera Plus' 64GB SDXC",
            "p2usd Gigastone 'High Endurance' 16GB SDHC MLC",
            "wirenboard 18_3",
            "wirenboard 19",
            "wirenboard 19_2",
            "wirenboard 22",
            "wirenboard 2_2",
        ]
    );
}

#[test]
fn other_cards_are_not_judged() {
    let mut plain = record(&BTreeMap::new());
    assert_eq!(judge(&plain, None), None);
    plain.devices[0].card = None;
    assert_eq!(judge(&plain, None), None);
}

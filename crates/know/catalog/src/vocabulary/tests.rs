use std::collections::BTreeMap;

use super::*;
use crate::facts::checking::{Example, check_file};
use crate::sources::{Availability, Fact, FactSource};
use crate::{QueueState, class};

fn ids(name: &str) -> Vec<&'static str> {
    look_up(name).found.iter().map(|row| row.id()).collect()
}

fn all() -> impl Iterator<Item = Known> {
    let lines = lines().iter().map(Known::Line);
    let boards = boards().iter().map(Known::Board);
    lines
        .chain(boards)
        .chain(products().iter().map(Known::Product))
}

#[test]
fn ids_are_stable_words_and_unique() {
    let mut seen = BTreeMap::new();
    for row in all() {
        let is_word = |id: &str| {
            let mut letters = id.bytes();
            letters.all(|l| l.is_ascii_lowercase() || l.is_ascii_digit() || l == b'_')
        };
        let id = row.id();
        assert!(is_word(id) && !id.contains("__"), "{id}");
        assert!(seen.insert(id, ()).is_none(), "{id} is listed twice");
    }
    assert!(lines().len() >= 30);
    assert!(boards().len() >= 20);
}

#[test]
fn every_fact_has_a_source() {
    check_file::<ProductLine>(&crate::lines::TEXT, "lines");
    for line in lines() {
        let facts = [
            (Fact::Year, line.year.is_some()),
            (Fact::ModelNumbers, !line.model_numbers.is_empty()),
            (
                Fact::Availability,
                line.availability != Availability::Unknown,
            ),
            (Fact::KnownSold, line.known_sold.is_some()),
            (Fact::Successor, line.successor.is_some()),
            (Fact::CommandQueue, line.command_queue.is_some()),
            (Fact::Claims, !line.claims.is_empty()),
            (Fact::Registers, !line.registers.is_empty()),
        ];
        assert_cited(&line.id, &facts, &line.sources);
        let claimed = line.claims.iter().flat_map(|claim| &claim.classes);
        for name in claimed {
            assert!(class(name).is_some(), "{}: {name}", line.id);
        }
    }
    for board in boards() {
        let facts = [
            (Fact::Year, board.year.is_some()),
            (
                Fact::Availability,
                board.availability != Availability::Unknown,
            ),
            (Fact::ProductionUntil, board.production_until.is_some()),
            (Fact::RevisionCodes, !board.revision_codes.is_empty()),
        ];
        assert_cited(&board.id, &facts, &board.sources);
        if board.availability == Availability::Sold {
            assert!(
                board.production_until > Some("2026-11".to_owned()),
                "{}",
                board.id
            );
        }
    }
}

#[test]
fn a_successor_is_a_line_and_a_sale_has_a_date() {
    for line in lines() {
        let successor = line.successor.as_ref();
        let is_line = successor.is_none_or(|id| lines().iter().any(|other| other.id == *id));
        assert!(is_line && successor != Some(&line.id), "{}", line.id);
        let is_sold = line.availability == Availability::Sold;
        assert!(!is_sold || line.known_sold.is_some(), "{}: when?", line.id);
        if let Some(date) = &line.known_sold {
            let parts: Vec<&str> = date.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert!([4, 2, 2].starts_with(&lengths), "{}: {date}", line.id);
            assert!(
                line.year
                    .is_none_or(|year| parts[0] >= year.to_string().as_str())
            );
        }
    }
    let queue = |id: &str| {
        let line = lines().iter().find(|line| line.id == id);
        line.and_then(|line| line.command_queue.as_ref())
            .map(|queue| queue.state)
    };
    assert_eq!(queue("raspberry_pi_a2"), Some(QueueState::Trusted));
    assert_eq!(queue("sandisk_extreme_a2_190"), Some(QueueState::Works));
    assert_eq!(queue("amazon_basics_a2"), Some(QueueState::None));
}

fn assert_cited(id: &str, facts: &[(Fact, bool)], sources: &[FactSource]) {
    for (fact, is_there) in facts {
        let cited = sources.iter().filter(|source| source.of.contains(fact));
        assert_eq!(cited.count(), usize::from(*is_there), "{id}: {fact:?}");
    }
    for source in sources {
        assert!(source.source.contains("://"), "{id}: {}", source.source);
    }
}

#[test]
fn every_name_finds_its_row_among_all_that_share_it() {
    for row in all() {
        for name in row.names() {
            let of_item = matches!(row, Known::Product(_));
            let is_found = look_up(&name).found.contains(&row);
            // A name of a line or board hides products of one capacity.
            let is_hidden = of_item && !ids(&name).is_empty();
            assert!(is_found || is_hidden, "{}: {name}", row.id());
        }
    }
    for line in lines() {
        for vector in &line.vectors {
            assert!(
                ids(vector).contains(&line.id.as_str()),
                "{}: {vector}",
                line.id
            );
        }
        for number in &line.model_numbers {
            let number = number.replace('*', "128");
            assert_eq!(ids(&number), [line.id.as_str()], "{number}");
        }
    }
}

#[test]
fn revision_codes_belong_to_one_board() {
    let mut seen = BTreeMap::new();
    for board in boards() {
        for code in &board.revision_codes {
            assert!(code.bytes().all(|byte| byte.is_ascii_hexdigit()), "{code}");
            let other = seen.insert(code, &board.id);
            assert!(other.is_none(), "{code}: {other:?} and {}", board.id);
            assert_eq!(ids(code), [board.id.as_str()]);
        }
    }
}

#[test]
fn people_write_names_in_many_ways() {
    let generations = [
        "samsung_evo_plus_2015",
        "samsung_evo_plus_2017",
        "samsung_evo_plus_2021",
        "samsung_evo_plus_ha",
        "samsung_evo_plus_sa",
    ];
    for name in ["evo+", "EVO Plus", "evo-plus", "Evo  plus"] {
        assert_eq!(ids(name), generations, "{name}");
    }
    for name in [
        "Zero 2 W",
        "zero2w",
        "pi zero 2",
        "Raspberry Pi Zero 2",
        "902120",
    ] {
        assert_eq!(ids(name), ["raspberry_pi_zero_2_w"], "{name}");
    }
    assert_eq!(ids("MB-MC64SA"), ["samsung_evo_plus_sa"]);
    assert_eq!(ids("mb mc1t0sa/eu"), ["samsung_evo_plus_sa"]);
    assert_eq!(ids("MB-MC64"), generations);
    assert_eq!(ids("SDCS2/64GBSP"), ["kingston_canvas_select_plus"]);
    assert_eq!(ids("samsung_evo_plus_2021"), ["samsung_evo_plus_2021"]);
    assert_eq!(ids("Canvas Go"), ["kingston_canvas_go_plus"]);
    assert_eq!(ids("Micro Center 32GB"), ["micro_center_32gb"]);
    for name in ["", "x", "no such card", "MB-MC64X"] {
        assert_eq!(ids(name), [""; 0], "{name}");
    }
}

#[test]
fn an_exact_name_comes_before_its_relatives() {
    assert_eq!(ids("Pi 4"), ["raspberry_pi_4b"]);
    let zero = look_up("Pi Zero");
    let similar: Vec<&str> = zero.similar.iter().map(|row| row.id()).collect();
    assert_eq!(ids("Pi Zero"), ["raspberry_pi_zero"]);
    assert_eq!(
        similar,
        [
            "raspberry_pi_zero_w",
            "raspberry_pi_zero_2_w",
            "orange_pi_zero_2"
        ]
    );
    assert_eq!(
        ids("Pi 3"),
        [
            "raspberry_pi_3b",
            "raspberry_pi_3b_plus",
            "raspberry_pi_3a_plus"
        ]
    );
}

#[test]
fn a_part_ends_within_no_number() {
    for (model, name, is_it) in [
        ("Raspberry Pi Zero 2 W Rev 1.0", "Zero 2 W", true),
        ("Raspberry Pi Zero 2 W Rev 1.0", "pi zero 2", true),
        ("Raspberry Pi Zero 2 W Rev 1.0", "zero w", false),
        ("Raspberry Pi 500 Rev 1.0", "Pi 5", false),
        ("Raspberry Pi 400 Rev 1.0", "Pi 4", false),
        ("Raspberry Pi 4 Model B Rev 1.4", "pI-4", true),
        ("Raspberry Pi 4 Model B Rev 1.4", "4B", true),
        ("Raspberry Pi 3 Model B Plus Rev 1.3", "3B+", true),
        ("Raspberry Pi 3 Model B Rev 1.2", "3B+", false),
        ("Raspberry Pi 3 Model B Plus Rev 1.3", "Pi 3", true),
        ("Raspberry Pi 5 Model B Rev 1.0", "e04171", true),
        ("Some Board", "board", true),
        ("Some Board", "oard", false),
        ("Some Board", "", false),
    ] {
        assert_eq!(is_board(model, name), is_it, "{model}: {name}");
    }
}

#[test]
fn products_are_called_by_line_or_part_and_a_sign_is_no_word() {
    let names = |called: &str| -> Vec<String> {
        products_called(called)
            .into_iter()
            .map(Product::name)
            .collect()
    };
    assert_eq!(names("samsung evo+ 32gb"), ["Samsung Evo+ 32 GB"]);
    for name in names("Evo+") {
        assert!(name.starts_with("Samsung Evo+"), "{name}");
    }
    for name in names("Evo Plus") {
        assert!(name.starts_with("Samsung Evo Plus"), "{name}");
    }
    assert!(names("Evo+").len() > 1 && names("Evo Plus").len() > 1);
    let extreme = names("Extreme");
    assert!(
        extreme.contains(&"SanDisk Extreme 16 GB".to_owned()),
        "{extreme:?}"
    );
    assert!(
        !extreme.iter().any(|name| name.contains("Pro")),
        "{extreme:?}"
    );
    assert_eq!(names("SanDisk Extreme"), extreme);
    assert_eq!(names("Extreme 16"), ["SanDisk Extreme 16 GB"]);
    assert!(names("Samsung").len() > 10);
    assert!(names("no such card").is_empty() && names("x").is_empty());
}

/// Cards whose labels were noted by those who read them: registers, and the line of the label if it has a row.
const LABELLED: [(&str, Option<&str>); 31] = [
    (
        "sd manfid=0xad oemid=0x4c53 name=USD00",
        Some("amazon_basics_a2"),
    ),
    (
        "sd manfid=0x74 oemid=0x4a60 name=00000",
        Some("gigastone_a1"),
    ),
    (
        "sd manfid=0x9f oemid=0x5449 name=00000",
        Some("gigastone_high_endurance_mlc"),
    ),
    (
        "sd manfid=0x12 oemid=0x3456 name=ASTC?",
        Some("gigastone_camera_plus"),
    ),
    (
        "sd manfid=0x00 oemid=0x3432 name=SD16G",
        Some("gigastone_high_endurance_mlc"),
    ),
    ("sd manfid=0x41 oemid=0x3432 name=SD8GB", None),
    (
        "sd manfid=0xc9 oemid=0x4d60 name=MSSD0",
        Some("lexar_play_a2"),
    ),
    ("sd manfid=0xad oemid=0x4c53 name=MSSD0", None),
    (
        "sd manfid=0x27 oemid=0x5048 name=SD16G",
        Some("pny_microsdhc"),
    ),
    ("sd manfid=0x1b oemid=0x534d name=00000", None),
    (
        "sd manfid=0x1b oemid=0x534d name=GD4QT",
        Some("samsung_evo_select_2018"),
    ),
    (
        "sd manfid=0x1b oemid=0x534d name=JD1Y7",
        Some("samsung_pro_endurance_2022"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=AGGCE",
        Some("sandisk_extreme_pro_a1"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=AGGCF",
        Some("sandisk_extreme_pro_a1"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=SA16G",
        Some("sandisk_industrial"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=SH32G",
        Some("sandisk_max_endurance"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=SN128",
        Some("sandisk_nintendo_switch"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=SN64G",
        Some("sandisk_extreme_a2"),
    ),
    ("sd manfid=0x03 oemid=0x5054 name=SS08G", None),
    ("sd manfid=0x03 oemid=0x5344 name=SU08G", None),
    (
        "sd manfid=0x9f oemid=0x5449 name=SPCC_",
        Some("silicon_power_elite"),
    ),
    (
        "sd manfid=0x03 oemid=0x5344 name=WX64G",
        Some("western_digital_purple_qd101"),
    ),
    ("sd manfid=0x02 oemid=0x544d name=SA64G", None),
    ("sd manfid=0x02 oemid=0x544d name=SD02G", None),
    ("sd manfid=0x03 oemid=0x5344 name=SD02G", None),
    ("sd manfid=0x03 oemid=0x5344 name=SU01G", None),
    ("sd manfid=0x03 oemid=0x5344 name=SU32G", None),
    (
        "sd manfid=0x03 oemid=0x5344 name=SU64G",
        Some("sandisk_ultra_2013"),
    ),
    ("sd manfid=0x12 oemid=0x5678 name=ASTC_", None),
    ("sd manfid=0x27 oemid=0x5048 name=SD32G", None),
    ("sd manfid=0x41 oemid=0x3432 name=SD128", None),
];

#[test]
fn registers_of_labelled_cards_name_the_label_or_nothing() {
    for (card, line) in LABELLED {
        let found = lines_with_registers(&Example::parse(card).facts);
        let found: Vec<&str> = found.iter().map(|line| line.id.as_str()).collect();
        assert_eq!(found, line.into_iter().collect::<Vec<_>>(), "{card}");
    }
    assert!(lines_with_registers(&CardFacts::default()).is_empty());
}

#[test]
fn generations_of_one_name_stay_apart() {
    let ids = |name: &str| -> Vec<&str> {
        let lines = lines_of(product(name).unwrap());
        lines.iter().map(|line| line.id.as_str()).collect()
    };
    let of_2022 = ids("samsung_pro_endurance_2022_64gb");
    assert_eq!(of_2022, ["samsung_pro_endurance_2022"]);
    // Tested in 2019.
    let first = ids("samsung_pro_endurance_32gb");
    assert_eq!(first, ["samsung_pro_endurance_2018"]);
    for product in products() {
        if let Some(id) = &product.product_line {
            let line = lines().iter().find(|line| line.id == *id).unwrap();
            assert_eq!((&line.brand, line.kind), (&product.brand, product.kind));
        }
    }
}

/// Products of publications since 2020 without a line, and why.
const WITHOUT_LINE: [(&str, &str); 8] = [
    ("adata_u3_32gb", "no source has the line of its number"),
    ("intenso_c10_32gb", "its source has no line, only a class"),
    ("kingston_ssd", "its source has no model"),
    ("micron_32gb", "its source has no line"),
    (
        "pny_elite_32gb",
        "no source has the line's name, year or state",
    ),
    (
        "raspberry_pi_cm3_plus_8gb",
        "soldered eMMC: not sold by itself",
    ),
    (
        "samsung_evo_a1",
        "its source has no year, and Samsung used the name again",
    ),
    (
        "teamgroup_micro_32gb",
        "no source has the line's name, year or state",
    ),
];

/// Without a line, nothing is known of a product's sale.
#[test]
fn every_product_that_was_measured_since_2020_has_a_line_or_a_reason() {
    let recent = crate::publications().iter().filter(|one| {
        let published = one.published.as_deref();
        published.is_some_and(|date| date >= "2020")
    });
    let products = recent.flat_map(|one| one.runs.iter().map(|run| run.product));
    let without = products.filter(|product| lines_of(product).is_empty());
    let without: std::collections::BTreeSet<&str> =
        without.map(|product| product.id.as_str()).collect();
    let reasons = WITHOUT_LINE.iter().map(|(id, _)| *id);
    assert_eq!(without, reasons.collect());
    let of = |id: &str| lines_of(crate::product(id).unwrap());
    for id in [
        "raspberry_pi_32gb",
        "raspberry_pi_64gb",
        "raspberry_pi_128gb",
    ] {
        assert_eq!(of(id).len(), 1, "{id}");
        assert_eq!(of(id)[0].id, "raspberry_pi_a2");
    }
}

/// Ways in which people write the name of a product.
fn spellings(product: &Product) -> Vec<String> {
    let name = product.name();
    let mut spellings = vec![
        name.to_lowercase(),
        name.to_uppercase(),
        without_class(product),
    ];
    for line in lines_of(product) {
        let aliases = line.aliases.iter();
        spellings.extend(aliases.map(|alias| with_capacity(alias, product)));
    }
    let close: Vec<String> = spellings
        .iter()
        .map(|name| name.replace(" GB", "GB").replace(" gb", "gb"))
        .collect();
    spellings.extend([name]);
    spellings.extend(close);
    spellings
}

/// A spelling names the product, or another one that has exactly this name.
#[test]
fn every_spelling_names_its_product() {
    for row in products() {
        for spelling in spellings(row) {
            let found = products_called(&spelling);
            let mut others = found.iter();
            let is_of_another = others.all(|other| {
                holds(&other.name(), &spelling) || holds(&without_class(other), &spelling)
            });
            assert!(
                !found.is_empty() && (found.iter().any(|one| one.id == row.id) || is_of_another),
                "{spelling}: {found:?}"
            );
        }
    }
}

#[test]
fn brands_have_short_names_and_classes_may_be_left_out() {
    let names = |called: &str| -> Vec<String> {
        let found = products_called(called).into_iter();
        found.map(Product::name).collect()
    };
    for (called, expected) in [
        ("SP Elite", &["Silicon Power Elite 32 GB"][..]),
        ("sp a1 64gb", &["Silicon Power A1 64 GB"]),
        ("SanDisk Ultra 32 GB", &["SanDisk Ultra A1 32 GB"]),
        (
            "Sandisk Ultra 64gb",
            &["SanDisk Ultra A1 64 GB", "SanDisk Ultra C10 64 GB"],
        ),
        ("SanDisk Ultra 16 GB", &["SanDisk Ultra 16 GB"]),
        ("official Raspberry Pi card 64 GB", &["Raspberry Pi 64 GB"]),
        ("SanDisk Ultra 512 GB", &[]),
    ] {
        assert_eq!(names(called), expected, "{called}");
    }
}

#[test]
fn a_capacity_is_split_from_a_name() {
    const GB: u64 = 1_000_000_000;
    for (name, expected) in [
        ("SanDisk Ultra 32 GB", ("SanDisk Ultra", Some(32 * GB))),
        ("SanDisk Ultra 32gb", ("SanDisk Ultra", Some(32 * GB))),
        ("SanDisk Ultra 1 TB", ("SanDisk Ultra", Some(1000 * GB))),
        ("PRO Plus 128", ("PRO Plus", Some(128 * GB))),
        ("Samsung Evo+", ("Samsung Evo+", None)),
        ("MX330", ("MX330", None)),
        ("", ("", None)),
    ] {
        assert_eq!(split_capacity(name), expected, "{name}");
    }
}

#[test]
fn a_search_finds_products_by_parts_of_names_in_any_order_with_a_letter_wrong() {
    let found = |text: &str| -> Vec<String> {
        let products = find_products(text).into_iter();
        products.map(Product::name).collect()
    };
    let evo = "Samsung Evo+ 32 GB".to_owned();
    for text in [
        "samsung evo+ 32",
        "32GB EVO+",
        "Samsng evo 32",
        "SAMSUNG evoo 32gb",
        "Samsung EVO+ 32GB microSDHC memory card",
    ] {
        assert!(found(text).contains(&evo), "{text}: {:?}", found(text));
    }
    for text in ["xtrem", "Extrme 64", "sandiskextreme"] {
        let all = found(text);
        assert!(
            all.iter().any(|name| name.contains("Extreme")),
            "{text}: {all:?}"
        );
    }
    assert!(!found("samsung 3").contains(&evo), "numbers are whole");
    for text in ["", " ", "-", "zeppelin", "samsung zeppelin"] {
        assert!(found(text).is_empty(), "{text}: {:?}", found(text));
    }
    for product in products() {
        assert!(found(&product.name()).contains(&product.name()));
        assert!(found(&product.id).contains(&product.name()));
    }
}

use std::collections::BTreeMap;

use cardmark_core::{FindingKind, OriginKind};

use super::*;
use crate::{product, suite};

fn publication(id: &str) -> &'static Publication {
    let found = publications()
        .iter()
        .find(|publication| publication.id == id);
    found.unwrap()
}

/// Returns the number of figures in a setting, and the sum of the printed numbers of each metric, to two
/// decimals: counted and added by hand from the publication.
fn sums(id: &str, setting: &str) -> BTreeMap<String, (usize, String)> {
    let mut sums = BTreeMap::<String, (usize, f64)>::new();
    let runs = publication(id)
        .runs
        .iter()
        .filter(|run| run.setting == setting);
    for figure in runs.flat_map(|run| &run.figures) {
        let sum = sums.entry(figure.metric.clone()).or_default();
        sum.0 += 1;
        sum.1 += figure.number;
    }
    let sums = sums.into_iter();
    sums.map(|(metric, (count, sum))| (metric, (count, format!("{sum:.2}"))))
        .collect()
}

fn expect(id: &str, setting: &str, expected: &[(&str, usize, &str)]) {
    let expected: BTreeMap<String, (usize, String)> = expected
        .iter()
        .map(|(metric, count, sum)| ((*metric).to_owned(), (*count, (*sum).to_owned())))
        .collect();
    assert_eq!(sums(id, setting), expected, "{id}, {setting}");
}

#[test]
fn every_publication_reads() {
    for (about, figures) in texts() {
        let publication = read(about, figures).unwrap();
        assert!(!publication.runs.is_empty(), "{}", publication.id);
        assert!(
            publication.address.starts_with("https://"),
            "{}",
            publication.id
        );
        assert!(!publication.licence.is_empty(), "{}", publication.id);
        let lines = figures.lines().count() - 1;
        assert_eq!(publication.figures_count(), lines, "{}", publication.id);
    }
    assert_eq!(publications().len(), texts().count());
}

/// Rows and sums of the seeds, as printed in their tables.
#[test]
fn the_tables_of_the_seeds_are_there_whole() {
    let [hdparm, dd, read, write] = [
        "hdparm_t",
        "dd_write",
        "iozone_random_read",
        "iozone_random_write",
    ];
    let id = "geerling-dramble";
    expect(
        id,
        "pi2",
        &[
            (hdparm, 16, "276.91"),
            (dd, 14, "166.00"),
            (read, 15, "88.67"),
            (write, 15, "15.49"),
        ],
    );
    expect(
        id,
        "pi2-usb",
        &[
            (hdparm, 2, "65.85"),
            (dd, 2, "48.90"),
            (read, 2, "12.05"),
            (write, 2, "9.27"),
        ],
    );
    expect(
        id,
        "pi3",
        &[
            (hdparm, 8, "168.83"),
            (dd, 8, "125.10"),
            (read, 8, "63.53"),
            (write, 8, "14.22"),
        ],
    );
    expect(
        id,
        "pi3-oc100",
        &[
            (hdparm, 7, "253.45"),
            (dd, 7, "159.50"),
            (read, 7, "65.27"),
            (write, 7, "12.91"),
        ],
    );
    expect(
        id,
        "pi3-oc80",
        &[
            (hdparm, 1, "31.59"),
            (dd, 1, "32.80"),
            (read, 1, "11.20"),
            (write, 1, "1.48"),
        ],
    );
    expect(
        "kulesz",
        "usb3",
        &[
            ("iozone_read_16m", 5, "363.64"),
            ("iozone_write_16m", 5, "175.91"),
            ("iozone_random_read_4k", 5, "36.51"),
            ("iozone_random_write_4k", 5, "15.73"),
        ],
    );
    let comments = "geerling-2019-comments";
    expect(
        comments,
        "c42-pi-3",
        &[
            (hdparm, 4, "79.16"),
            (dd, 4, "59.60"),
            (read, 4, "24158.00"),
            (write, 4, "7503.00"),
        ],
    );
    expect(
        comments,
        "c42-pi-4",
        &[
            (hdparm, 4, "172.87"),
            (dd, 4, "96.00"),
            (read, 4, "34173.00"),
            (write, 4, "8532.00"),
        ],
    );
}

/// All other figures of the comments, added up from the text.
#[test]
fn the_comments_of_the_seed_are_there_whole() {
    let id = "geerling-2019-comments";
    expect(
        id,
        "c24-pi-b",
        &[
            ("hdparm_t", 6, "132.90"),
            ("dd_write", 6, "79.60"),
            ("iozone_write", 6, "10959.00"),
            ("iozone_rewrite", 6, "12770.00"),
            ("iozone_read", 6, "27635.00"),
            ("iozone_reread", 6, "27657.00"),
            ("iozone_random_read", 6, "25956.00"),
            ("iozone_random_write", 6, "7112.00"),
        ],
    );
    expect(
        id,
        "c46-pi-2",
        &[
            ("iozone_write", 3, "7739.00"),
            ("iozone_rewrite", 3, "8611.00"),
            ("iozone_read", 3, "23495.00"),
            ("iozone_reread", 3, "23452.00"),
            ("iozone_random_read", 3, "20764.00"),
            ("iozone_random_write", 3, "9178.00"),
        ],
    );
    // Comments with the four figures of one card.
    for (setting, figures) in [
        ("c29", ["43.29", "24.40", "9.32", "2.96"]),
        ("c30", ["43.62", "21.10", "10.72", "2.73"]),
        ("c33-pi-4", ["44.38", "13.50", "11339.00", "3752.00"]),
        ("c35", ["43.51", "28.40", "7.48", "4.78"]),
        ("c41", ["44.15", "22.70", "10.02", "3.74"]),
    ] {
        let [hdparm, dd, read, write] = figures;
        expect(
            id,
            setting,
            &[
                ("hdparm_t", 1, hdparm),
                ("dd_write", 1, dd),
                ("iozone_random_read", 1, read),
                ("iozone_random_write", 1, write),
            ],
        );
    }
    expect(id, "c3-mac", &[("throughput", 1, "500.00")]);
}

/// The single figures in the sentences of the other seeds.
#[test]
fn figures_in_sentences_are_there() {
    expect("admin-76", "pi400-usb3", &[("hdparm_t", 1, "126.46")]);
    expect(
        "geerling-2019",
        "pi4",
        &[("iozone_random_write", 1, "0.66")],
    );
    expect(
        "pitt-pladdy",
        "b+-or-zero-w",
        &[
            ("iozone_t4_random_read_children", 1, "1800.00"),
            ("iozone_t4_random_write_children", 1, "250.00"),
        ],
    );
}

/// The 24 cells of the command-queue tables, eight cards each: operations at 4k and 8k, else MB/s.
#[test]
fn the_command_queue_tables_are_there_whole() {
    let patterns = ["seq_read", "seq_write", "rand_read", "rand_write"];
    let sizes = ["4k", "8k", "64k", "512k", "1m", "16m"];
    let on = [
        [
            "70638.00", "41908.00", "596.04", "710.99", "722.85", "729.24",
        ],
        [
            "40826.00", "29415.00", "422.56", "489.90", "519.81", "530.98",
        ],
        [
            "46353.00", "26018.00", "524.08", "697.60", "726.00", "736.24",
        ],
        [
            "18182.00", "16362.00", "288.24", "470.49", "513.81", "536.03",
        ],
    ];
    let off = [
        [
            "45327.00", "34667.00", "559.52", "698.35", "713.67", "723.47",
        ],
        [
            "11779.00", "9675.00", "228.52", "425.89", "525.94", "534.77",
        ],
        [
            "34608.00", "24083.00", "487.63", "676.78", "718.35", "736.71",
        ],
        [
            "15019.00", "13474.00", "278.40", "465.41", "524.08", "533.63",
        ],
    ];
    for (setting, sums_of_setting) in [("queue-on", on), ("queue-off", off)] {
        let cells = patterns
            .iter()
            .zip(sums_of_setting)
            .flat_map(|(pattern, row)| {
                let name = move |size| format!("fio_{pattern}_{size}");
                sizes.into_iter().map(name).zip(row)
            });
        let expected = cells.map(|(metric, sum)| (metric, (8, sum.to_owned())));
        assert_eq!(
            sums("command-queue", setting),
            expected.collect(),
            "{setting}"
        );
    }
}

/// The runs of Raspberry Pi Diagnostics, three of eight cards each; one line of a run with the queue off is missing.
#[test]
fn the_runs_of_diagnostics_are_there_whole() {
    for (setting, prepared, [prepare, seq_write, seq_read, rand_write, rand_read]) in [
        (
            "agnostics-on",
            24,
            [
                "1438515.00",
                "1516297.00",
                "2149347.00",
                "57894.00",
                "130632.00",
            ],
        ),
        (
            "agnostics-off",
            23,
            [
                "1315608.00",
                "1561179.00",
                "2203649.00",
                "45786.00",
                "103880.00",
            ],
        ),
    ] {
        expect(
            "command-queue",
            setting,
            &[
                ("agnostics_prepare", prepared, prepare),
                ("agnostics_seq_write", 24, seq_write),
                ("agnostics_seq_read", 24, seq_read),
                ("agnostics_rand_write", 24, rand_write),
                ("agnostics_rand_read", 24, rand_read),
            ],
        );
    }
}

/// Cards on a Raspberry Pi 4 and a Zero 2 W, added up from the printed lines.
#[test]
fn cards_on_a_zero_2_w_and_a_4_are_there_whole() {
    expect(
        "rpi-cryptodrm",
        "zero-2w",
        &[
            ("agnostics_prepare", 3, "54856.00"),
            ("agnostics_seq_write", 3, "55378.00"),
            ("agnostics_seq_read", 3, "69029.00"),
            ("agnostics_rand_write", 3, "1080.00"),
            ("agnostics_rand_read", 3, "5982.00"),
        ],
    );
    expect(
        "nuclearhazard",
        "pi4",
        &[
            ("agnostics_seq_write_unsized", 3, "40141.00"),
            ("agnostics_rand_write_4k", 3, "1777.00"),
            ("agnostics_rand_read_4k", 3, "5124.00"),
        ],
    );
    expect(
        "mongonta",
        "pi4",
        &[
            ("fio_seq_write_512k_q4", 2, "43972.00"),
            ("fio_rand_write_4k_q4", 2, "1947.00"),
            ("fio_rand_read_4k_q4", 2, "4651.00"),
        ],
    );
}

/// Number of runs and figures of each source: shows lost or duplicate lines.
#[test]
fn runs_and_figures_of_each_source_are_counted() {
    let counted: Vec<(&str, usize, usize)> = publications()
        .iter()
        .map(|source| {
            (
                source.id.as_str(),
                source.runs.len(),
                source.figures_count(),
            )
        })
        .collect();
    assert_eq!(
        counted,
        [
            // 18 cards and drives, 8 cards, the same 8 overclocked: 34 with 4 figures; 4
            // figures are no numbers.
            ("geerling-dramble", 34, 132),
            ("geerling-2019", 1, 1),
            ("geerling-2019-comments", 23, 119),
            ("geerling-a2", 15, 60),
            ("geerling-turing-pi", 6, 12),
            ("kulesz", 5, 20),
            ("admin-76", 1, 1),
            ("pitt-pladdy", 1, 2),
            // 8 cards with the queue on and off: 24 cells of fio, 3 runs of 5 jobs less one.
            ("command-queue", 64, 623),
            // 8 media in the second round, 9 in the first.
            ("kaiser-a1-a2", 17, 186),
            ("pibenchmarks-2019", 8, 64),
            ("speed-camera-58", 3, 9),
            // 3 runs of 5 jobs on a Zero 2 W, 3 cards with 3 lines.
            ("rpi-cryptodrm", 3, 15),
            ("nuclearhazard", 3, 9),
            ("gecompat", 1, 9),
            ("mongonta", 2, 6),
            ("nwgat", 1, 2),
            // Six tests at 4k and at 16384k.
            ("foundobjects", 1, 12),
        ]
    );
}

#[test]
fn what_is_no_number_is_absent() {
    let dramble = publication("geerling-dramble");
    let pny = dramble.runs.iter().find(|run| run.name.starts_with("PNY"));
    let metrics: Vec<&str> = pny
        .unwrap()
        .figures
        .iter()
        .map(|f| f.metric.as_str())
        .collect();
    assert!(!metrics.contains(&"dd_write"), "{metrics:?}");
    let words: Vec<&str> = dramble
        .absent
        .iter()
        .map(|absent| absent.why.as_str())
        .collect();
    for word in ["TODO", "Sad", "Painful", "Excruciating"] {
        assert!(words.iter().any(|why| why.contains(word)), "{word}");
    }
}

/// A setting with a suite has metrics of that suite only.
#[test]
fn metrics_are_those_of_the_suite() {
    for publication in publications() {
        for run in &publication.runs {
            let setting = publication.setting(&run.setting).unwrap();
            let Some(name) = &setting.suite else {
                continue;
            };
            let suite = suite(name, None).unwrap();
            for figure in &run.figures {
                let is_figure = suite.figures.iter().any(|known| known.id == figure.metric);
                let is_known = is_figure || suite.workload(&figure.metric).is_some();
                assert!(
                    is_known,
                    "{}: {} is not of {name}",
                    publication.id, figure.metric
                );
            }
        }
    }
}

/// Figures of one metric can only be compared if they have the same quantity.
#[test]
fn a_metric_has_one_quantity_in_all_sources() {
    let mut quantities = BTreeMap::new();
    for publication in publications() {
        for figure in publication.runs.iter().flat_map(|run| &run.figures) {
            let known = quantities
                .entry(figure.metric.as_str())
                .or_insert(figure.quantity);
            assert_eq!(
                *known, figure.quantity,
                "{}: {}",
                publication.id, figure.metric
            );
        }
    }
}

#[test]
fn units_are_those_of_their_tools() {
    let value = |id: &str, name: &str, metric: &str| {
        let runs = &publication(id).runs;
        let run = runs.iter().find(|run| run.name == name).unwrap();
        run.figures
            .iter()
            .find(|f| f.metric == metric)
            .unwrap()
            .value
    };
    let evo = "Samsung Evo+ 32GB";
    // hdparm's MB is 2^20 bytes, dd's 10^6.
    assert_eq!(
        value("geerling-dramble", evo, "hdparm_t"),
        18.45 * 1_048_576.0
    );
    assert_eq!(value("geerling-dramble", evo, "dd_write"), 14.0e6);
    let comment = "Samsung EVO Plus MB-MC32GA/EU 32 GB";
    let id = "geerling-2019-comments";
    assert_eq!(value(id, comment, "hdparm_t"), 22.65 * 1_048_576.0);
    assert_eq!(value(id, comment, "iozone_random_read"), 7240.0 * 1024.0);
}

#[test]
fn records_are_published_and_their_ids_are_their_own() {
    let mut ids = std::collections::BTreeSet::new();
    for record in publications().iter().flat_map(Publication::records) {
        assert_eq!(record.origin.kind, OriginKind::Published);
        assert!(record.trials.is_empty() && !record.metrics.is_empty());
        assert!(product(&record.labels["product"]).is_some());
        assert!(ids.insert(record.id), "{}", record.labels["product"]);
        let text = cardmark_core::record_to_json(&record).unwrap();
        let read = cardmark_core::parse_record(&text).unwrap();
        let labels = record.labels.clone();
        assert_eq!(cardmark_core::Record { labels, ..read }, record);
    }
    assert!(ids.len() > 100);
}

#[test]
fn a_unit_with_two_readings_is_told() {
    let records = publication("kulesz").records();
    let finding = &records[0].findings[0];
    assert_eq!(finding.kind, FindingKind::AmbiguousUnit);
    assert!(
        finding.detail.contains("2.4 %") || finding.detail.contains("1.2 %"),
        "{}",
        finding.detail
    );
    let dramble = publication("geerling-dramble").records();
    let touched = &dramble[0].findings[0].workloads;
    assert!(!touched.contains(&"hdparm_t".to_owned()), "{touched:?}");
}

#[test]
fn lines_that_cannot_be_right_are_refused() {
    let (about, figures) = texts().next().unwrap();
    let heading = figures.lines().next().unwrap();
    let good = figures.lines().nth(1).unwrap();
    let fails = |line: &str| {
        read(about, &format!("{heading}\n{line}\n"))
            .unwrap_err()
            .to_string()
    };
    let cells: Vec<&str> = good.split(',').collect();
    for (cell, with, expected) in [
        (1, "nowhere", "no setting"),
        (2, "no-card", "no product"),
        (5, "seq_read_1m", "no unit"),
        (6, "TODO", "is no number"),
        (7, "KB/s", "no unit"),
    ] {
        let mut changed = cells.clone();
        changed[cell] = with;
        let told = fails(&changed.join(","));
        assert!(told.contains("line 2") && told.contains(expected), "{told}");
    }
    let told = fails(&format!("{good}\n{good}"));
    assert!(told.contains("line 3: a second"), "{told}");
    assert!(read(about, &format!("{heading}\n1,2\n")).is_err());
}

#[test]
fn numbers_have_points_or_commas() {
    assert_eq!(number("22,35"), Some(22.35));
    assert_eq!(number("7.06"), Some(7.06));
    assert_eq!(number("5353"), Some(5353.0));
    for text in ["", "TODO", "1,234.5", "-3", "1e3", "0", "inf", " 7"] {
        assert_eq!(number(text), None, "{text}");
    }
}

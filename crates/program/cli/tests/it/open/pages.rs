//! The pages of `cardmark open`: own runs, histories, copies of other stores.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cardmark_core::{Integrity, IntegrityTest, Record, Sample, StorageKind};
use cardmark_samples::record as corpus;
use cardmark_store::Store;
use uuid::Uuid;

use crate::common::{program, scratch, text};
use crate::open::server::{Server, status};

const CARD: &str = "aaaaaa";

fn measured() -> Record {
    corpus("run-measured-quick")
}

fn labelled(mut record: Record, product: &str) -> Record {
    for (name, value) in [("product", product), ("note", "for me alone")] {
        record.labels.insert(name.to_owned(), value.to_owned());
    }
    record
}

/// Addresses of a page's links.
fn links(page: &str) -> Vec<String> {
    let found = page.split("href=\"").skip(1);
    let found = found.filter_map(|rest| rest.split('"').next());
    found
        .map(|link| link.replace("&amp;", "&").replace("&#38;", "&"))
        .collect()
}

#[test]
fn own_runs_are_shown_and_every_link_leads_to_a_page() {
    let scratch = scratch();
    let program = program(&scratch);
    std::fs::create_dir_all(program.data()).unwrap();
    let mut store = Store::open(&program.database()).unwrap();
    let first = labelled(measured(), "First 32");
    store.insert(&first).unwrap();
    let server = Server::entered(&program, &[]).unwrap();
    assert!(server.get("/").unwrap().contains("First 32"));
    let page = server.get(&format!("/runs/{}", first.id)).unwrap();
    for part in ["First 32", "for me alone", "random read 4 KiB"] {
        assert!(page.contains(part), "{part}: {page}");
    }

    // Later runs and labels are there at once.
    let simulated = labelled(corpus("run-sim-a1-32gb-quick"), "Second 64");
    store.insert(&simulated).unwrap();
    assert!(server.get("/").unwrap().contains("Second 64"));
    let label = [("product", Some("Third 128"))];
    store.label(first.id, label).unwrap();
    let products = server.get("/products").unwrap();
    assert!(
        products.contains("Third 128") && !products.contains("First 32"),
        "{products}"
    );
    let found = server.get("/runs?product=third&board=raspberry").unwrap();
    assert!(
        found.contains("Third 128") || found.contains("No run meets"),
        "{found}"
    );
    let both = format!("/compare?base={}&other={}", first.id, simulated.id);
    let compared = server.get(&both).unwrap();
    assert!([200, 422].contains(&status(&compared)), "{compared}");
    let record = server.get(&format!("/runs/{}/record", first.id)).unwrap();
    assert!(
        record.contains(&format!("\"id\":\"{}\"", first.id)),
        "{record}"
    );

    let (mut waiting, mut seen) = (vec!["/".to_owned()], BTreeSet::new());
    while let Some(path) = waiting.pop() {
        // Pages of what others published are many.
        let begins = ["/published/", "/for/"];
        let is_of_others = begins.iter().any(|begin| path.starts_with(begin));
        if !path.starts_with('/') || is_of_others || !seen.insert(path.clone()) {
            continue;
        }
        let page = server.get(&path).unwrap();
        assert_eq!(status(&page), 200, "{path}: {page}");
        for claim in [
            "CC0", "Withdraw", "Badge", "received", "shared", "/upload", "/api/",
        ] {
            let is_text = path.starts_with("/script.js") || path.ends_with("/record");
            assert!(is_text || !page.contains(claim), "{path}: {claim}: {page}");
        }
        waiting.extend(links(&page));
    }
    assert!(seen.len() > 12, "{seen:?}");
    for path in [
        "/for/boot",
        "/for/boot?board=Raspberry%20Pi%205",
        "/published/kulesz",
    ] {
        let page = server.get(path).unwrap();
        assert!(
            status(&page) == 200 && page.contains("<table"),
            "{path}: {page}"
        );
    }
    for (path, expected) in [
        ("/for/gaming", 404),
        ("/runs?least=x", 400),
        ("/runs?limit=0", 400),
    ] {
        let page = server.get(path).unwrap();
        assert_eq!(status(&page), expected, "{path}: {page}");
    }
}

const LOOK: &str = r#"{"format":"cardmark look 1","target":"/"}"#;

#[test]
fn boards_that_need_attention_come_first() {
    let scratch = scratch();
    let program = program(&scratch).columns(1000);
    std::fs::create_dir_all(program.data()).unwrap();
    let mut store = Store::open(&program.database()).unwrap();
    let whole = measured();
    let mut fake = measured();
    fake.id = Uuid::from_u128(0x3000_0000_0000_4000_8000_0000_0000_0009);
    fake.devices[0].sample = Some(Sample::of_card("bbbbbb"));
    let (size, real) = (64_000_000_000, 8_000_000_000);
    let test = (IntegrityTest::Verify, StorageKind::Limbo);
    fake.integrity = Some(Integrity::new(test.0, test.1, size, real));
    for (mut run, host) in [(fake.clone(), "board-b"), (whole, "board-a")] {
        run.labels.insert("host".to_owned(), host.to_owned());
        store.insert(&run).unwrap();
    }
    let printed = program.run(&["list", "runs", "--bad"]);
    let sentence = printed.stdout.lines().next().unwrap_or_default();
    assert!(sentence.contains("1 to replace"), "{printed}");
    let server = Server::entered(&program, &[]).unwrap();
    let page = server.get("/attention").unwrap();
    for part in [
        sentence,
        "board-b",
        "8 GB of 64 GB keep data",
        &format!("href=\"/runs/{}\"", fake.id),
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(server.get("/").unwrap().contains(sentence));
    store.put_look("board-c", "/", None, LOOK).unwrap();
    let fleet = server.get("/fleet").unwrap();
    let first = "1 of 3 boards needs attention: 1 to replace";
    for part in [
        first,
        "board-a",
        "board-c",
        &format!("href=\"/runs/{}\"", fake.id),
    ] {
        assert!(fleet.contains(part), "{part}: {fleet}");
    }
}

/// Runs of a card, one a month, whose random write falls by 31 % from the first to the last.
fn keep(store: &mut Store) -> Result<(), cardmark_store::StoreError> {
    for month in 1_u8..=9 {
        let mut record = measured();
        record.id = Uuid::from_u128(0x3000_0000_0000_4000_8000_0000_0000_0000 + u128::from(month));
        record.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
        for device in record.devices.iter_mut().take(1) {
            device.sample = Some(Sample::of_card(CARD));
        }
        // Equal runs would be copies.
        for trial in record.trials.iter_mut().take(1) {
            trial.started_ns += u64::from(month);
        }
        for metric in &mut record.metrics {
            if metric.id == "rand_write_4k" {
                metric.value *= 0.69_f64.powf(f64::from(month - 1) / 8.0);
            }
        }
        store.insert(&record)?;
    }
    Ok(())
}

#[test]
fn the_page_of_a_card_states_what_the_program_prints() {
    let scratch = scratch();
    let program = program(&scratch).columns(1000);
    std::fs::create_dir_all(program.data()).unwrap();
    let mut store = Store::open(&program.database()).unwrap();
    keep(&mut store).unwrap();
    let simulated = corpus("run-sim-a1-32gb-quick");
    store.insert(&simulated).unwrap();
    let printed = program.run(&["history", CARD, "--all"]);
    let points = printed
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("- "));
    let points: Vec<String> = points
        .map(|line| line.replace('&', "&amp;").replace('<', "&lt;"))
        .collect();
    assert!(
        points.iter().any(|line| line.contains("fell 3")),
        "{printed}"
    );
    let server = Server::entered(&program, &[]).unwrap();
    let page = server.get(&format!("/history/{CARD}")).unwrap();
    for point in &points {
        assert!(page.contains(point), "{point}: {page}");
    }
    assert!(
        page.contains("<svg") && page.contains("href=\"/runs/"),
        "{page}"
    );
    let run = server
        .get("/runs/30000000-0000-4000-8000-000000000001")
        .unwrap();
    assert!(links(&run).contains(&format!("/history/{CARD}")), "{run}");
    assert!(links(&server.get("/history").unwrap()).contains(&format!("/history/{CARD}")));
    let run = server.get(&format!("/runs/{}", simulated.id)).unwrap();
    let address = links(&run)
        .into_iter()
        .find(|link| link.starts_with("/history/sim"));
    let page = server.get(&address.unwrap()).unwrap();
    assert!(page.contains("no trend"), "{page}");
    assert_eq!(status(&server.get("/history/cccccc").unwrap()), 404);
}

/// A file or folder: path, bytes, mode and time.
type FileState = (PathBuf, Vec<u8>, u32, SystemTime);

/// The files of a folder, and the folder: a file that was made and deleted again changes its time.
fn state(folder: &Path) -> std::io::Result<Vec<FileState>> {
    let mut paths = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    let of = |path: PathBuf| {
        let found = path.metadata()?;
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mode = found.permissions().mode();
        Ok::<_, std::io::Error>((path, bytes, mode, found.modified()?))
    };
    paths.into_iter().map(of).collect()
}

#[test]
fn stores_of_other_boards_stay_as_they_are() {
    let scratch = scratch();
    let program = program(&scratch);
    let runs = [
        labelled(measured(), "First 32"),
        corpus("run-sim-a1-32gb-quick"),
    ];
    let folders = ["a", "b"].map(|name| scratch.path().join(name));
    let files = folders
        .each_ref()
        .map(|folder| folder.join("records.sqlite"));
    for ((folder, file), run) in folders.iter().zip(&files).zip(&runs) {
        std::fs::create_dir(folder).unwrap();
        Store::open(file).unwrap().insert(run).unwrap();
        std::fs::set_permissions(folder, Permissions::from_mode(0o500)).unwrap();
    }
    let before = folders.each_ref().map(|folder| state(folder).unwrap());
    let words = ["--store", text(&files[0]), "--store", text(&files[1])];
    let server = Server::entered(&program, &words).unwrap();
    for run in &runs {
        let page = server.get(&format!("/runs/{}", run.id)).unwrap();
        assert!(page.contains("random read 4 KiB"), "{page}");
    }
    assert!(server.get("/").unwrap().contains("2 runs of this computer"));
    drop(server);
    assert!(!program.database().exists());
    let after = folders.each_ref().map(|folder| state(folder).unwrap());
    assert_eq!(after, before);
    for folder in &folders {
        std::fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_shown() {
    let scratch = scratch();
    let program = program(&scratch);
    std::fs::create_dir_all(program.data()).unwrap();
    let damaged = labelled(measured(), "First 32");
    let whole = labelled(corpus("run-sim-a1-32gb-quick"), "Second 64");
    let mut store = Store::open(&program.database()).unwrap();
    for run in [&damaged, &whole] {
        store.insert(run).unwrap();
    }
    drop(store);
    let sql = format!(
        "UPDATE heads SET head = 'x' WHERE record_id = '{}'",
        damaged.id
    );
    assert_eq!(
        cardmark_testkit::damage_database(&program.database(), &sql),
        1
    );
    let sql = format!(
        "UPDATE records SET document = 'x' WHERE id = '{}'",
        damaged.id
    );
    assert_eq!(
        cardmark_testkit::damage_database(&program.database(), &sql),
        1
    );
    let server = Server::entered(&program, &[]).unwrap();
    let page = server.get("/").unwrap();
    assert!(
        page.contains("Second 64") && !page.contains("First 32"),
        "{page}"
    );
    let id = damaged.id.to_string();
    assert!(
        page.contains("Not everything can be shown") && page.contains(&id),
        "{page}"
    );
    assert_eq!(status(&server.get(&format!("/runs/{id}")).unwrap()), 404);
    assert_eq!(
        status(&server.get(&format!("/runs/{}", whole.id)).unwrap()),
        200
    );
}

//! The field kit: measures, packs, and lets nothing out that identifies a computer.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardmark_core::{Record, is_statement, parse_record, parse_run_file};
use cardmark_testkit::{Program, needs};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::common::{BINARY, QUICKEST, folder, program, scratch, text};

/// The kit as a program; it finds this build of `cardmark` in its path.
fn kit(scratch: &TempDir) -> Program {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/field-kit/field-kit");
    Program::new(text(&script), scratch.path()).with_path(Path::new(&*BINARY).parent().unwrap())
}

/// A campaign's file in a folder of its own.
fn campaign(scratch: &TempDir, change: impl Fn(String) -> String) -> PathBuf {
    let given = include_str!("../../../../../docs/simulated-campaign.toml");
    let file = scratch.path().join("cards.toml");
    fs::write(
        &file,
        change(given.replacen("title", "repeats = 2\ntitle", 1)),
    )
    .unwrap();
    file
}

fn archive_of(file: &Path) -> PathBuf {
    file.with_extension("field-kit.tar.gz")
}

/// Unpacks an archive into a new folder, and returns the folder of its files.
fn unpacked(archive: &Path) -> (TempDir, PathBuf) {
    let folder = scratch();
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(archive).arg("-C").arg(folder.path());
    assert!(tar.status().unwrap().success());
    let files = folder.path().join("field-kit");
    (folder, files)
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// All files below a folder, by name.
fn names(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(names(&path).iter().map(|inner| format!("{name}/{inner}")));
        } else {
            found.insert(name);
        }
    }
    found
}

/// Every file is in `SHA256SUMS` with its digest, and in the manifest but these two.
fn assert_whole(files: &Path) {
    let sums = fs::read_to_string(files.join("SHA256SUMS")).unwrap();
    let mut listed = BTreeSet::new();
    for line in sums.lines() {
        let (digest, name) = line.split_once("  ").unwrap();
        let found = Sha256::digest(fs::read(files.join(name)).unwrap());
        assert_eq!(format!("{found:x}"), digest, "{name}");
        listed.insert(name.to_owned());
    }
    let mut there = names(files);
    assert!(there.remove("SHA256SUMS"));
    assert_eq!(listed, there);
    there.remove("manifest.json");
    let manifest = json(&files.join("manifest.json"));
    let entries = manifest["files"].as_array().unwrap();
    for entry in entries {
        let bytes = fs::read(files.join(entry["name"].as_str().unwrap())).unwrap();
        let digest = Sha256::digest(&bytes);
        assert_eq!(entry["sha256"], format!("{digest:x}"));
        assert_eq!(entry["bytes"], bytes.len());
    }
    assert_eq!(entries.len(), there.len());
}

fn records(files: &Path) -> Vec<Record> {
    let text = fs::read_to_string(files.join("records.jsonl")).unwrap();
    let lines = text.lines().filter(|line| !is_statement(line));
    lines.map(|line| parse_record(line).unwrap()).collect()
}

/// No file holds one of these texts.
fn assert_without(files: &Path, texts: &[&str]) {
    for name in names(files) {
        let content = fs::read_to_string(files.join(&name)).unwrap();
        for text in texts {
            assert!(!content.contains(text), "`{text}` is in {name}");
        }
    }
}

#[test]
fn three_cards_on_two_boards_become_one_archive() {
    needs!(Python);
    let scratch = scratch();
    let kit = kit(&scratch);
    let file = campaign(&scratch, |given| given);
    let half = kit.run(&[text(&file), "--board", "pi4"]);
    assert_eq!(half.code, 1, "{half}");
    assert!(
        half.stderr.contains("insertions measured: 6 of 12"),
        "{half}"
    );
    let whole = kit.run(&[text(&file)]);
    assert_eq!(whole.code, 0, "{whole}");
    let (_folder, files) = unpacked(&archive_of(&file));
    assert_whole(&files);
    let manifest = json(&files.join("manifest.json"));
    let runs = manifest["runs"].as_array().unwrap();
    let visits: BTreeSet<String> = runs
        .iter()
        .map(|run| {
            let word = |key: &str| run[key].as_str().unwrap().to_owned();
            let visit = [word("card"), word("board"), word("suite")].join(" ");
            format!("{visit} {}", run["insertion"])
        })
        .collect();
    let expected = ["a1", "a2", "c10"].iter().flat_map(|card| {
        let boards = ["pi3", "pi4"].into_iter();
        boards.flat_map(move |board| [1, 2].map(|time| format!("{card} {board} quick {time}")))
    });
    assert_eq!(visits, expected.collect());
    // Runs in the order of the archive are those of the manifest, then one check by reading per card and board.
    let records = records(&files);
    let ids: BTreeSet<String> = records.iter().map(|record| record.id.to_string()).collect();
    let listed = runs.iter().map(|run| run["record_id"].as_str().unwrap());
    assert!(listed.clone().all(|id| ids.contains(id)));
    assert_eq!((runs.len(), records.len()), (12, 18));
    let checks = records.iter().filter(|record| record.integrity.is_some());
    assert_eq!(checks.count(), 6);
    assert!(names(&files).contains("info/a1@pi4.json"));
    assert_without(&files, &["Three simulated cards", text(scratch.path())]);
    // The same runs give the same archive.
    let first = fs::read(archive_of(&file)).unwrap();
    assert_eq!(kit.run(&[text(&file), "--pack"]).code, 0);
    assert!(fs::read(archive_of(&file)).unwrap() == first);
}

#[test]
fn a_measured_run_is_packed_without_time_host_and_path() {
    needs!(Python);
    let scratch = scratch();
    let program = program(&scratch);
    let file = campaign(&scratch, |_| {
        let board = format!(
            "[[boards]]\nname = \"here\"\ntarget = \"{}\"",
            text(scratch.path())
        );
        format!("title = \"Secret title\"\nrepeats = 1\n[[cards]]\nname = \"red\"\n{board}")
    });
    let card = folder(&scratch);
    let runs = scratch.path().join("cards/runs");
    fs::create_dir_all(&runs).unwrap();
    let path = runs.join("red@here+quick+01.json");
    let labels = [
        "campaign=Secret title",
        "sample=red",
        "setting=here",
        "repeat=1",
    ];
    let json = format!("--json={}", text(&path));
    let mut words = vec!["run", text(&card), QUICKEST, &json];
    words.extend(labels.iter().flat_map(|label| ["--label", label]));
    let run = program.run(&words);
    assert_eq!(run.code, 0, "{run}");
    let packed = kit(&scratch).run(&[text(&file), "--pack"]);
    assert_eq!(packed.code, 0, "{packed}");
    let (_folder, files) = unpacked(&archive_of(&file));
    assert_whole(&files);
    let own = parse_run_file(&fs::read_to_string(&path).unwrap()).unwrap();
    let time = own.started_at.as_deref().unwrap();
    let (day, time_of_day) = time.split_once('T').unwrap();
    let public = records(&files).remove(0);
    assert_eq!(public.started_at, Some(format!("{day}T00:00:00Z")));
    assert_eq!(public.metrics.len(), own.metrics.len());
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap();
    let mut private = vec!["Secret title", text(scratch.path()), time_of_day];
    // A shorter name could be part of any word.
    private.extend(Some(host).filter(|host| host.len() >= 5));
    assert_without(&files, &private);
}

#[test]
fn the_archive_is_a_regular_file_and_the_folder_a_folder() {
    let scratch = scratch();
    let file = campaign(&scratch, |text| text);
    for place in [archive_of(&file), scratch.path().join("cards")] {
        std::os::unix::fs::symlink("/dev/zero", &place).unwrap();
        let output = kit(&scratch).run(&[text(&file)]);
        assert_eq!(output.code, 2, "{output}");
        assert!(output.stderr.contains("cannot write to"), "{output}");
        fs::remove_file(&place).unwrap();
    }
}

#[test]
fn a_path_of_this_computer_stops_the_packing() {
    needs!(Python);
    let scratch = scratch();
    let file = campaign(&scratch, |given| {
        let path = text(scratch.path());
        given
            .replace("repeats = 2", "repeats = 1")
            .replace("Simulated A1 32 GB", &format!("card in {path}"))
    });
    let output = kit(&scratch).run(&[text(&file)]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stderr.contains("error: not packed"), "{output}");
    assert!(!archive_of(&file).exists());
}

#[test]
fn a_run_that_cannot_be_read_stops_the_packing() {
    needs!(Python);
    let scratch = scratch();
    let file = campaign(&scratch, |given| given);
    let runs = scratch.path().join("cards/runs");
    fs::create_dir_all(&runs).unwrap();
    fs::write(runs.join("a1@pi3+quick+01.json"), "{").unwrap();
    let output = kit(&scratch).run(&[text(&file), "--pack"]);
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stderr.contains("error: cannot read"), "{output}");
    assert!(!archive_of(&file).exists());
}

use std::cell::RefCell;
use std::path::PathBuf;

use cardmark_core::{Finding, FindingKind, Record, Statement, parse_run_file, record_to_json};
use cardmark_samples::{Model, simulated};
use cardmark_session::Silent;
use cardmark_store::Places;
use tempfile::TempDir;

use super::*;
use crate::measure::plan;

const CAMPAIGN: &str = r#"
title = "Three cards on two boards"
repeats = 2
[[cards]]
name = "red"
product = "Red 32 GB"
claims = ["A1"]
labels = { price = "8.99 EUR" }
simulated = "a1-32gb"
[[cards]]
name = "blue"
simulated = "a2-64gb"
[[cards]]
name = "old"
simulated = "c10-16gb"
[[boards]]
name = "pi3"
simulated = "pi3"
[[boards]]
name = "pi4"
simulated = "pi4"
"#;

/// Writes the records of simulated cards in this process, and remembers the words.
struct InProcess {
    words: RefCell<Vec<Vec<String>>>,
}

impl InProcess {
    fn value<'a>(words: &'a [String], option: &str) -> Vec<&'a str> {
        let pairs = words.iter().zip(&words[1..]);
        let values = pairs.filter(|(name, _)| *name == option);
        values.map(|(_, value)| value.as_str()).collect()
    }
}

impl Runs for InProcess {
    fn run(&self, words: &[OsString]) -> Result<Exit, CommandError> {
        let text = |word: &OsString| word.to_str().unwrap().to_owned();
        let words: Vec<String> = words.iter().map(text).collect();
        assert_eq!(words[0], "run");
        let model = words[1].strip_prefix("sim:").unwrap();
        let (card, board) = model.split_once('@').unwrap();
        let model = Model::named(card).unwrap().on_board(board).unwrap();
        let suite = Self::value(&words, "--suite")[0];
        let seed = Self::value(&words, "--seed")[0].parse().unwrap();
        let mut record = simulated(&model, suite, seed);
        let mut labels = std::collections::BTreeMap::new();
        for label in Self::value(&words, "--label") {
            let (key, value) = label.split_once('=').unwrap();
            labels.insert(key.to_owned(), value.to_owned());
        }
        let exit = match card {
            "failing-32gb" => {
                let error = Finding::new(FindingKind::IoError, Severity::Error, "it failed");
                record.findings.push(error);
                Exit::Trouble
            }
            "v30-64gb" => Exit::Bad,
            _ => Exit::Done,
        };
        record.labels.clear();
        let stated = serde_json::to_string(&Statement::of(record.id, 1, &labels)).unwrap();
        let json = words.iter().find_map(|word| word.strip_prefix("--json="));
        let document = record_to_json(&record).unwrap();
        std::fs::write(json.unwrap(), format!("{document}\n{stated}\n")).unwrap();
        self.words.borrow_mut().push(words);
        Ok(exit)
    }

    fn asked_to_end(&self) -> Option<Exit> {
        None
    }
}

/// A campaign in a folder of its own.
struct Rig {
    scratch: TempDir,
    campaign: Campaign,
    folder: Folder,
    runs: InProcess,
}

impl Rig {
    fn new(text: &str) -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("cards.toml");
        std::fs::write(&file, text).unwrap();
        let folder = Folder::of(&file).unwrap();
        folder.make().unwrap();
        Self {
            campaign: Campaign::read(&file).unwrap(),
            scratch,
            folder,
            runs: InProcess {
                words: RefCell::default(),
            },
        }
    }

    /// Measures what is left on these boards.
    fn measure(&self, boards: &[&str]) -> Result<Exit, CommandError> {
        let data = Data {
            places: Places {
                database: self.scratch.path().join("records.sqlite"),
                journals: self.scratch.path().join("journals"),
                tests: self.scratch.path().join("tests"),
            },
            lock_file: None,
        };
        let request = CampaignRequest {
            file: Path::new("cards.toml"),
            board: None,
            device_serial: None,
            timeout_s: 30,
            voice: &Silent,
            data: &data,
        };
        let mut exit = Exit::Done;
        for board in self
            .campaign
            .boards
            .iter()
            .filter(|board| boards.contains(&board.name.as_str()))
        {
            let mut tour = Tour::new(
                &self.campaign,
                board,
                &self.folder,
                &data,
                &self.runs,
                &request,
            );
            exit = exit.or_worse(tour.simulate()?);
        }
        Ok(exit)
    }

    /// Names of the kept files.
    fn kept(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path().join("runs")).unwrap();
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.unwrap().file_name().into_string().unwrap()
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("runs").join(name)
    }

    fn record(&self, name: &str) -> Record {
        parse_run_file(&std::fs::read_to_string(self.path(name)).unwrap()).unwrap()
    }

    fn plan(&self) -> String {
        plan(
            &self.campaign,
            &self.folder.done(&self.campaign.title).unwrap(),
        )
    }

    /// The cards of the runs since the last call.
    fn measured(&self) -> Vec<String> {
        let words = self.runs.words.take();
        let label = |words: &Vec<String>| {
            let labels = InProcess::value(words, "--label");
            let card = labels
                .iter()
                .find_map(|label| label.strip_prefix("sample="));
            card.unwrap().to_owned()
        };
        words.iter().map(label).collect()
    }
}

#[test]
fn each_run_is_of_its_card_on_its_board() {
    let rig = Rig::new(CAMPAIGN);
    assert_eq!(rig.measure(&["pi3", "pi4"]).unwrap(), Exit::Done);
    assert_eq!(rig.kept().len(), 12);
    for (card, model) in [("red", "a1-32gb"), ("blue", "a2-64gb"), ("old", "c10-16gb")] {
        for board in ["pi3", "pi4"] {
            let record = rig.record(&format!("{card}@{board}+quick+02.json"));
            assert_eq!(record.origin.source, Some(format!("{model}@{board}")));
        }
    }
    let red = rig.record("red@pi4+quick+01.json");
    for (key, value) in [
        ("price", "8.99 EUR"),
        ("product", "Red 32 GB"),
        ("campaign", "Three cards on two boards"),
        ("sample", "red"),
        ("setting", "pi4"),
        ("repeat", "1"),
    ] {
        assert_eq!(
            red.labels.get(key).map(String::as_str),
            Some(value),
            "{key}"
        );
    }
    for words in &*rig.runs.words.borrow() {
        let claims = if words[1].starts_with("sim:a1-32gb") {
            &["A1"][..]
        } else {
            &[]
        };
        assert_eq!(InProcess::value(words, "--claim"), claims, "{words:?}");
        assert_eq!(InProcess::value(words, "--timeout"), ["30"]);
    }
}

/// No two runs of a campaign have a seed in common.
#[test]
fn the_same_campaign_has_the_same_seeds() {
    let seeds = || {
        let rig = Rig::new(CAMPAIGN);
        rig.measure(&["pi3", "pi4"]).unwrap();
        let words = rig.runs.words.take();
        let seeds = words
            .iter()
            .map(|words| InProcess::value(words, "--seed")[0].to_owned());
        seeds.collect::<Vec<String>>()
    };
    let first = seeds();
    assert_eq!(first, seeds());
    assert_eq!(BTreeSet::from_iter(first).len(), 12);
}

#[test]
fn it_goes_on_where_it_ended() {
    let rig = Rig::new(CAMPAIGN);
    rig.measure(&["pi4"]).unwrap();
    assert_eq!(rig.measured().len(), 6);
    std::fs::remove_file(rig.path("old@pi4+quick+02.json")).unwrap();
    let plan = rig.plan();
    for part in [
        "pi3: 0 of 6 done",
        "pi4: 5 of 6 done",
        "  old: 1 of 2",
        "  next: old",
    ] {
        assert!(plan.contains(part), "no `{part}` in {plan}");
    }
    assert_eq!(rig.measure(&["pi4"]).unwrap(), Exit::Done);
    assert_eq!(rig.measured(), ["old"]);
    assert_eq!(rig.kept().len(), 6);
}

#[test]
fn a_card_that_fails_is_kept_and_the_others_go_on() {
    let rig = Rig::new(&CAMPAIGN.replace("a2-64gb", "failing-32gb"));
    assert_eq!(rig.measure(&["pi4"]).unwrap(), Exit::Trouble);
    assert_eq!(rig.measured().len(), 6);
    assert!(rig.path("blue@pi4+quick+01.partial.json").exists());
    assert!(rig.plan().contains("pi4: 4 of 6 done"), "{}", rig.plan());
    // Only what failed is tried again.
    assert_eq!(rig.measure(&["pi4"]).unwrap(), Exit::Trouble);
    assert_eq!(rig.measured(), ["blue", "blue"]);
    assert_eq!(rig.kept().len(), 6);
}

#[test]
fn a_bad_verdict_is_that_of_the_campaign_and_the_others_go_on() {
    let rig = Rig::new(&CAMPAIGN.replace("a2-64gb", "v30-64gb"));
    assert_eq!(rig.measure(&["pi4"]).unwrap(), Exit::Bad);
    assert_eq!(rig.kept().len(), 6);
    assert!(rig.plan().contains("pi4: 6 of 6 done"), "{}", rig.plan());
}

#[test]
fn names_that_look_alike_do_not_share_a_file() {
    let alike = CAMPAIGN
        .replace("repeats = 2", "repeats = 1")
        .replace("\"red\"", "\"a\"")
        .replace("\"blue\"", "\"a-b\"")
        .replace("\"pi3\"\nsim", "\"b-c\"\nsim")
        .replace("\"pi4\"\nsim", "\"c\"\nsim");
    let rig = Rig::new(&alike);
    rig.measure(&["b-c", "c"]).unwrap();
    assert_eq!(rig.kept().len(), 6);
}

#[test]
fn a_folder_of_another_campaign_is_left_alone() {
    let mut rig = Rig::new(CAMPAIGN);
    rig.measure(&["pi3"]).unwrap();
    let kept = rig.kept();
    rig.campaign.title = "Other".to_owned();
    let error = rig.measure(&["pi3", "pi4"]).unwrap_err();
    assert_eq!(error.exit, Exit::Usage);
    assert!(
        error.what.contains("holds runs of another campaign"),
        "{error:?}"
    );
    assert!(
        error.causes[0].contains("\"Three cards on two boards\""),
        "{error:?}"
    );
    assert_eq!(rig.kept(), kept);
}

#[test]
fn a_run_that_cannot_be_read_is_not_measured_again() {
    let rig = Rig::new(CAMPAIGN);
    rig.measure(&["pi3"]).unwrap();
    rig.measured();
    let path = rig.path("red@pi3+quick+01.json");
    std::fs::write(&path, "{").unwrap();
    let error = rig.measure(&["pi3"]).unwrap_err();
    assert_eq!(error.exit, Exit::Trouble);
    assert!(error.what.contains("red@pi3+quick+01.json"), "{error:?}");
    assert_eq!(error.hints, ["move it away to measure again what it held"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "{");
    assert_eq!(rig.measured(), <[&str; 0]>::default());
}

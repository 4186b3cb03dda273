//! The folder beside a campaign's file: its records, and the report.

use std::path::{Path, PathBuf};

use cardmark_core::{DeviceInfo, Record, Severity, parse_run_file};

use cardmark_session::{CommandError, Exit, file};

/// Label: the campaign's title.
pub(crate) const CAMPAIGN: &str = "campaign";
/// Label: the card's name.
pub(crate) const SAMPLE: &str = "sample";
/// Label: the board's name.
pub(crate) const SETTING: &str = "setting";
/// Label: which time, from 1.
pub(crate) const REPEAT: &str = "repeat";
/// Ending of a record's file.
const RECORD: &str = "json";
/// That of a run in which something failed; it is tried again another time.
const PARTIAL: &str = "partial.json";
/// Ending of the record of a run under way.
const DRAFT: &str = "draft";

/// A run that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The card's name.
    pub card: String,
    /// The board's name.
    pub board: String,
    /// The method.
    pub suite: String,
    /// Number of the repeat, from 1.
    pub repeat: u32,
    /// By which the card is recognised; absent where the reader does not show it.
    pub sample_id: Option<String>,
    /// True if nothing failed.
    pub is_whole: bool,
}

impl Done {
    /// Description of a record; none if it is not of that campaign.
    fn of(record: &Record, title: &str) -> Option<Self> {
        let label = |name: &str| record.labels.get(name).cloned();
        if label(CAMPAIGN)? != title {
            return None;
        }
        Some(Self {
            card: label(SAMPLE)?,
            board: label(SETTING)?,
            suite: record.suite.as_ref()?.name.clone(),
            repeat: label(REPEAT)?.parse().ok()?,
            sample_id: record
                .devices
                .last()
                .and_then(DeviceInfo::card_id)
                .map(str::to_owned),
            is_whole: is_whole(record),
        })
    }
}

fn is_whole(record: &Record) -> bool {
    let mut findings = record.findings.iter();
    findings.all(|finding| finding.severity != Severity::Error)
}

/// The folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of a campaign's file: of `cards.toml` it is `cards`.
    pub fn of(file: &Path) -> Result<Self, CommandError> {
        let path = file.with_extension("");
        if path == file {
            let what = format!("the campaign `{}` has no ending", file.display());
            return Err(CommandError::new(Exit::Usage, what)
                .because("its records go into the folder of the same name without it")
                .hint(format!("call it `{}.toml`", file.display())));
        }
        Ok(Self { path })
    }

    /// Makes the folder where there is none.
    pub(crate) fn make(&self) -> Result<(), CommandError> {
        file::folder(&self.path)?;
        file::folder(&self.runs())?;
        std::fs::create_dir_all(self.runs()).map_err(|error| {
            let what = format!("cannot make the folder `{}`", self.runs().display());
            CommandError::new(Exit::Usage, what)
                .because(error.to_string())
                .hint("put the campaign's file where you may write")
        })
    }

    fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All its records, by the names of their files. What cannot be read is an error: to measure
    /// again what is there would lose it.
    pub(crate) fn records(&self) -> Result<Vec<Record>, CommandError> {
        let runs = self.runs();
        if !runs.exists() {
            return Ok(Vec::new());
        }
        let entries =
            std::fs::read_dir(&runs).map_err(|error| unreadable(&runs, error.to_string()))?;
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry
                .map_err(|error| unreadable(&runs, error.to_string()))?
                .path();
            if path.extension().is_some_and(|ending| ending == RECORD) {
                paths.push(path);
            }
        }
        paths.sort();
        let mut records: Vec<Record> = Vec::new();
        for path in &paths {
            let record = read(path)?;
            // A copy of a file is no other run.
            if records.iter().all(|known| known.id != record.id) {
                records.push(record);
            }
        }
        Ok(records)
    }

    /// The runs of the campaign with that title.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn records_of(&self, title: &str) -> Result<Vec<Record>, CommandError> {
        let mut records = self.records()?;
        records.retain(|record| record.labels.get(CAMPAIGN).is_some_and(|own| own == title));
        Ok(records)
    }

    /// The runs that there are. Those of another campaign are an error: its files have the same
    /// names.
    pub fn done(&self, title: &str) -> Result<Vec<Done>, CommandError> {
        let records = self.records()?;
        let other = |record: &&Record| record.labels.get(CAMPAIGN).is_none_or(|own| own != title);
        if let Some(record) = records.iter().find(other) {
            let own = record.labels.get(CAMPAIGN).map_or("none", String::as_str);
            let what = format!("`{}` holds runs of another campaign", self.path.display());
            return Err(CommandError::new(Exit::Usage, what)
                .because(format!("their title is \"{own}\", not \"{title}\""))
                .hint("give the campaign its old title back, or its file another name"));
        }
        Ok(records
            .iter()
            .filter_map(|record| Done::of(record, title))
            .collect())
    }

    /// File for the record of the current run.
    pub(crate) fn draft(&self) -> PathBuf {
        // Another campaign may be under way in the same folder.
        self.runs().join(format!("{}.{DRAFT}", std::process::id()))
    }

    /// Takes the draft away: that run is to be done again.
    pub(crate) fn drop_draft(&self) {
        // There may be none.
        let _ = std::fs::remove_file(self.draft());
    }

    /// Keeps the draft as the record it is. None where there is no draft.
    pub(crate) fn keep_draft(&self) -> Result<Option<Record>, CommandError> {
        let draft = self.draft();
        if !draft.exists() {
            return Ok(None);
        }
        let record = read(&draft)?;
        let label = |name: &str| record.labels.get(name).map_or("", String::as_str);
        let suite = record.suite.as_ref().map_or("", |suite| &suite.name);
        // Signs that names do not have stand between them, so that no two runs share a file.
        let name = format!(
            "{}@{}+{suite}+{:0>2}",
            label(SAMPLE),
            label(SETTING),
            label(REPEAT)
        );
        let file = |ending: &str| self.runs().join(format!("{name}.{ending}"));
        let (whole, partial) = (file(RECORD), file(PARTIAL));
        let kept = if is_whole(&record) {
            // Earlier attempts are useless now.
            let _ = std::fs::remove_file(&partial);
            &whole
        } else {
            &partial
        };
        let bytes = std::fs::read(&draft).map_err(|error| {
            let what = format!("cannot keep `{}`", draft.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })?;
        file::write(kept, &bytes)?;
        self.drop_draft();
        Ok(Some(record))
    }
}

fn read(path: &Path) -> Result<Record, CommandError> {
    // A FIFO would never end.
    let found = path.metadata();
    if found.is_ok_and(|found| !found.is_file()) {
        return Err(unreadable(path, "it is no regular file".to_owned()));
    }
    let text =
        std::fs::read_to_string(path).map_err(|error| unreadable(path, error.to_string()))?;
    parse_run_file(&text).map_err(|error| unreadable(path, error.to_string()))
}

fn unreadable(path: &Path, cause: String) -> CommandError {
    CommandError::new(Exit::Trouble, format!("cannot read `{}`", path.display()))
        .because(cause)
        .hint("move it away to measure again what it held")
}

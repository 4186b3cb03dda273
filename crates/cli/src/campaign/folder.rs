//! The folder beside a campaign's file: its records, and the report.

use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_record};

use crate::error::{CommandError, Exit};

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
/// The record of a run under way.
const DRAFT: &str = "draft";

/// A run that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Done {
    /// The card's name.
    pub(crate) card: String,
    /// The board's name.
    pub(crate) board: String,
    /// The method.
    pub(crate) suite: String,
    /// Which time, from 1.
    pub(crate) repeat: u32,
    /// By which the card is recognised; absent where the reader does not show it.
    pub(crate) sample_id: Option<String>,
}

impl Done {
    /// What a record says of itself; none where it is not one of that campaign.
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
            sample_id: sample_id(record),
        })
    }
}

/// By which the card of a record is recognised.
fn sample_id(record: &Record) -> Option<String> {
    let mut ids = record.devices.iter().map(|device| device.sample_id.clone());
    ids.next_back().flatten()
}

/// The folder.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of a campaign's file: of `cards.toml` it is `cards`. Makes it where there is none.
    pub(crate) fn of(file: &Path) -> Result<Self, CommandError> {
        let path = file.with_extension("");
        if path == file {
            let what = format!("the campaign `{}` has no ending", file.display());
            return Err(CommandError::new(Exit::Usage, what)
                .because("its records go into the folder of the same name without it")
                .hint(format!("call it `{}.toml`", file.display())));
        }
        let folder = Self { path };
        std::fs::create_dir_all(folder.runs()).map_err(|error| {
            let what = format!("cannot make the folder `{}`", folder.runs().display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })?;
        Ok(folder)
    }

    fn runs(&self) -> PathBuf {
        self.path.join("runs")
    }

    /// A file of the report.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// All its records, by the names of their files. What cannot be read is an error: to measure
    /// again what is there would lose it.
    pub(crate) fn records(&self) -> Result<Vec<Record>, CommandError> {
        let runs = self.runs();
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
        paths.iter().map(|path| read(path)).collect()
    }

    /// The runs of that campaign that are done.
    pub(crate) fn done(&self, title: &str) -> Result<Vec<Done>, CommandError> {
        let records = self.records()?;
        Ok(records
            .iter()
            .filter_map(|record| Done::of(record, title))
            .collect())
    }

    /// Where a run under way writes its record.
    pub(crate) fn draft(&self) -> PathBuf {
        self.runs().join(DRAFT)
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
        let name = format!(
            "{}-{}-{suite}-{:0>2}.{RECORD}",
            label(SAMPLE),
            label(SETTING),
            label(REPEAT)
        );
        std::fs::rename(&draft, self.runs().join(name)).map_err(|error| {
            let what = format!("cannot keep `{}`", draft.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })?;
        Ok(Some(record))
    }
}

fn read(path: &Path) -> Result<Record, CommandError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| unreadable(path, error.to_string()))?;
    parse_record(&text).map_err(|error| unreadable(path, error.to_string()))
}

fn unreadable(path: &Path, cause: String) -> CommandError {
    CommandError::new(Exit::Trouble, format!("cannot read `{}`", path.display()))
        .because(cause)
        .hint("move it away to measure again what it held")
}

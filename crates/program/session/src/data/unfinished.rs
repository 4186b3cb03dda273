//! Unfinished work: begun, found again, finished.

use std::collections::BTreeMap;

use cardmark_core::Record;
use cardmark_store::{JobKind, Journal, JournalError, JournalHead, peek};
use serde::de::DeserializeOwned;

use crate::data::Data;
use crate::error::{CommandError, Exit};

/// Work of an earlier process that can continue.
pub struct Unfinished<T> {
    /// Its journal, locked.
    pub journal: Journal,
    /// Record of its result, without trials.
    pub record: Option<Record>,
    /// Its last state.
    pub state: T,
}

impl Data {
    /// Returns the unfinished work of that name; `None` if there is none, or it ended before its first state.
    ///
    /// # Errors
    /// If another process works on it, or its journal cannot be read.
    pub fn unfinished<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<Unfinished<T>>, CommandError> {
        let resumed = Journal::resume(&self.journals, name);
        let Some((journal, content)) = resumed.map_err(|error| unusable(&error))? else {
            return Ok(None);
        };
        let Some(state) = content.state else {
            return Ok(None);
        };
        let state = serde_json::from_str(&state).map_err(|error| {
            let what = format!("cannot read `{}`", content.path.display());
            CommandError::new(Exit::Trouble, what)
                .because(error.to_string())
                .hint("`--restart` begins again")
        })?;
        Ok(Some(Unfinished {
            journal,
            record: content.record,
            state,
        }))
    }

    /// Returns the last state of the work of that name, whether or not a process works on it; `None` if it is
    /// unknown.
    #[must_use]
    pub fn last_state<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let content = peek(&self.journals, name).ok()??;
        serde_json::from_str(&content.state?).ok()
    }

    /// Begins the journal of that name, of a job on a target as the user named it.
    ///
    /// # Errors
    /// If another process holds one of that name, or it cannot be written.
    pub fn begin(
        &self,
        name: &str,
        job: JobKind,
        target: &str,
        record: Option<&Record>,
    ) -> Result<Journal, JournalError> {
        let head = JournalHead {
            job,
            target: target.to_owned(),
            labels: record.map_or_else(BTreeMap::new, |record| record.labels.clone()),
        };
        Journal::create(&self.journals, name, &head, record)
    }
}

/// Converts an error of a journal, with advice.
#[must_use]
pub fn unusable(error: &JournalError) -> CommandError {
    let made = CommandError::from_error(Exit::Trouble, error);
    match error {
        JournalError::Live { .. } => CommandError {
            exit: Exit::Refused,
            ..made
        }
        .hint("wait until it has ended"),
        JournalError::Unusable { path, .. } => made.hint(format!(
            "`--restart` begins again; what `{}` holds is lost then",
            path.display()
        )),
        _ => made
            .hint("unfinished work is kept there; set XDG_DATA_HOME to a place with room to write"),
    }
}

/// Name of the journal of a test of that card.
pub fn journal_name(card: &str, job: JobKind) -> String {
    format!("{card}-{}", job.name())
}

/// Finishes a journal: its result is stored.
///
/// # Errors
/// If it cannot be removed.
pub fn finish(journal: Option<Journal>) -> Result<(), CommandError> {
    match journal.map(Journal::finish) {
        Some(Err(error)) => Err(CommandError::from_error(Exit::Trouble, &error)),
        _ => Ok(()),
    }
}

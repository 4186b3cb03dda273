//! What is remembered of a test that takes hours, so that it can be taken up again.

use std::path::Path;

use cardmark_core::Record;
use cardmark_integrity::Trouble;
use cardmark_store::Checkpoint;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Exit};

/// Where it is remembered, and the head of the record it will have.
pub(crate) struct Kept {
    checkpoint: Checkpoint,
    head: Record,
}

#[derive(Serialize)]
struct Saved<'a, T> {
    head: &'a Record,
    test: &'a T,
}

#[derive(Deserialize)]
struct Loaded<T> {
    head: Record,
    test: T,
}

impl Kept {
    /// The place for the test of that name of that card.
    pub(crate) fn place(folder: &Path, card: &str, test: &str) -> Result<Checkpoint, CommandError> {
        Checkpoint::in_folder(folder, &format!("{card}-{test}.json")).map_err(|error| {
            let what = format!("cannot make the folder `{}`", folder.display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })
    }

    /// Remembers a new test.
    pub(crate) fn new(checkpoint: Checkpoint, head: Record) -> Self {
        Self { checkpoint, head }
    }

    /// The test that is remembered there, if one is.
    pub(crate) fn load<T: DeserializeOwned>(
        checkpoint: &Checkpoint,
    ) -> Result<Option<(Record, T)>, CommandError> {
        let unreadable = |why: String| {
            let what = format!("cannot read `{}`", checkpoint.path().display());
            CommandError::new(Exit::Trouble, what)
                .because(why)
                .hint("`--restart` begins the test anew")
        };
        let text = checkpoint
            .load()
            .map_err(|error| unreadable(error.to_string()))?;
        let Some(text) = text else {
            return Ok(None);
        };
        let loaded: Loaded<T> =
            serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        Ok(Some((loaded.head, loaded.test)))
    }

    /// Remembers how far it is.
    pub(crate) fn save<T: Serialize>(&self, test: &T) -> Result<(), Trouble> {
        let head = &self.head;
        let text = serde_json::to_string(&Saved { head, test }).map_err(std::io::Error::from);
        let saved = text.and_then(|text| self.checkpoint.save(&text));
        saved.map_err(|error| Trouble::NotKept {
            errno: error.raw_os_error().unwrap_or(0),
        })
    }

    /// Forgets it.
    pub(crate) fn forget(&self) -> Result<(), CommandError> {
        self.checkpoint.remove().map_err(|error| {
            let what = format!("cannot remove `{}`", self.checkpoint.path().display());
            CommandError::new(Exit::Trouble, what).because(error.to_string())
        })
    }
}

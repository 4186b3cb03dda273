//! Stores and runs that the personal instance cannot show.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Reasons why stores and runs cannot be shown, by path and id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unreadable(Arc<Mutex<BTreeMap<String, String>>>);

impl Unreadable {
    pub(crate) fn reasons(&self) -> Vec<String> {
        self.locked().values().cloned().collect()
    }

    /// A reason goes to the log when it is new.
    pub(crate) fn note(&self, what: String, result: Result<(), String>) {
        match result {
            Ok(()) => drop(self.locked().remove(&what)),
            Err(reason) => {
                let before = self.locked().insert(what, reason.clone());
                if before.as_ref() != Some(&reason) {
                    tracing::warn!(reason, "not everything can be shown");
                }
            }
        }
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

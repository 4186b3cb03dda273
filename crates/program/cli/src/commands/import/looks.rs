//! Looks of boards.

use cardmark_judge::LastLook;
use cardmark_report::text::count_of;
use cardmark_store::{Inserted, Store};
use serde_json::{Value, json};

use crate::error::CommandError;
use crate::terminal::print;

/// A look that was taken in, or was there before.
pub(super) struct TakenLook {
    target: String,
    is_new: bool,
}

impl TakenLook {
    pub(super) fn row(&self, host: Option<&str>) -> Value {
        let state = if self.is_new {
            "imported"
        } else {
            "already kept"
        };
        json!({ "look": self.target, "host": host, "state": state })
    }
}

/// Keeps looks as those of a board. Without its name they are left out.
pub(super) fn take_in(
    looks: Vec<(LastLook, String)>,
    host: Option<&str>,
    store: &mut Store,
) -> Result<Vec<TakenLook>, CommandError> {
    let Some(host) = host else {
        if !looks.is_empty() {
            let count = count_of(looks.len(), "look", "looks");
            print::notice(&format!("left out: {count}; `--host NAME` names the board"));
        }
        return Ok(Vec::new());
    };
    let mut taken = Vec::new();
    for (look, document) in looks {
        let inserted = store.put_look(host, &look.target, look.at_s, &document)?;
        taken.push(TakenLook {
            target: look.target,
            is_new: inserted != Inserted::Known,
        });
    }
    Ok(taken)
}

/// What became of the looks, as parts of a sentence.
pub(super) fn parts(taken: &[TakenLook]) -> impl Iterator<Item = String> {
    let new = taken.iter().filter(|look| look.is_new).count();
    let looks = |count| count_of(count, "look", "looks");
    let known = taken.len() - new;
    let known = (known > 0).then(|| format!("{} already kept", looks(known)));
    (new > 0).then(|| looks(new)).into_iter().chain(known)
}

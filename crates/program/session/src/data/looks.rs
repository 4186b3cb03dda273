//! Looks of other boards, as they exported them.

use cardmark_judge::{LOOK_FORMAT, LastLook};
use cardmark_store::{Store, StoreError};
use serde_json::Value;

/// Bytes of the longest document; the state that it is made of has half of them.
const MOST_BYTES: usize = 16 << 10;

/// Reads the document of a look.
///
/// # Errors
/// The reason, for people.
pub fn parse_look(document: &str) -> Result<LastLook, String> {
    if document.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    let look: Value = serde_json::from_str(document).map_err(|error| error.to_string())?;
    // Before the rest, which may have another form.
    if look["format"] != LOOK_FORMAT {
        return Err("a later version of cardmark made it: update this one".to_owned());
    }
    serde_json::from_value(look).map_err(|error| error.to_string())
}

/// Returns the last looks of other boards, each with the name of its board.
///
/// # Errors
/// If the store fails.
pub fn looks_of(store: &mut Store) -> Result<Vec<(String, LastLook)>, StoreError> {
    let stored = store.looks()?.into_iter();
    let looks = stored.filter_map(|look| Some((look.host, parse_look(&look.document).ok()?)));
    Ok(looks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_form_is_named_as_one() {
        let later = r#"{"format":"cardmark look 2","target":["/"]}"#;
        let error = parse_look(later).unwrap_err();
        assert!(error.contains("later version"), "{error}");
    }
}

//! `cardmark label`.

use cardmark_store::StoreError;

use crate::args::LabelArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::{Data, store_error};

/// Adds or removes labels of a run, all or none, and shows its labels. The record itself never
/// changes; labels live in the store.
pub(crate) fn label(arguments: &LabelArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let trouble = |error: StoreError| store_error(&error);
    let id = store.find(&arguments.run).map_err(trouble)?.record.id;
    let changes = arguments.labels.iter().map(|(key, value)| {
        let value = (!value.is_empty()).then_some(value.as_str());
        (key.as_str(), value)
    });
    store.label(id, changes).map_err(trouble)?;
    let labels = store.labels(id).map_err(trouble)?;
    let text: String = if arguments.json {
        format!("{:#}\n", serde_json::json!(labels))
    } else {
        labels
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"))
            .collect()
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

//! `cardmark label`.

use cardmark_store::StoreError;

use crate::args::LabelArguments;
use crate::data::{Data, store_error};
use crate::error::{CommandError, Exit};
use crate::print;

/// Adds remarks to a run or takes them away, and shows what there is then. The record itself never
/// changes; remarks live in the store.
pub(crate) fn label(arguments: &LabelArguments) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let trouble = |error: StoreError| store_error(&error);
    let id = store.find(&arguments.run).map_err(trouble)?.record.id;
    for (key, value) in &arguments.labels {
        let value = (!value.is_empty()).then_some(value.as_str());
        store.label(id, key, value).map_err(trouble)?;
    }
    let labels = store.labels(id).map_err(trouble)?;
    let text: String = if arguments.json {
        format!("{:#}\n", serde_json::json!(labels))
    } else {
        labels
            .iter()
            .map(|(key, value)| format!("{key} = {value}\n"))
            .collect()
    };
    print::result(&text)?;
    Ok(Exit::Done)
}

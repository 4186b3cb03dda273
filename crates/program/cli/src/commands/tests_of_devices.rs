//! Common parts of the commands that test devices.

use std::path::Path;

use cardmark_core::{Record, TargetKind};
use cardmark_report::{usable_part, wrap};
use cardmark_session::{Data, TestResult, quoted};

use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Details of a verdict that are shown.
const MOST_DETAILS: usize = 3;

/// The places of the store, which can be opened: a broken store is reported before anything is measured.
pub(crate) fn opened_data() -> Result<Data, CommandError> {
    let data = Data::from_environment()?;
    data.open()?;
    Ok(data)
}

/// Shows the result of a test, and its errors.
pub(crate) fn show_result(
    result: &TestResult,
    data: &Data,
    as_json: bool,
) -> Result<Exit, CommandError> {
    let text = match as_json {
        true => print::run_file(&result.record)?,
        false => {
            let text = cardmark_report::terminal(&result.record, print::width(), print::style());
            with_details(text, &result.details)
        }
    };
    show(as_json, &text, result, data)
}

/// The text with the most important details below it.
fn with_details(text: String, details: &[String]) -> String {
    let shown = details.iter().take(MOST_DETAILS);
    let mut lines: Vec<String> = shown
        .flat_map(|detail| wrap(detail, print::width(), 2))
        .collect();
    let more = details.len().saturating_sub(MOST_DETAILS);
    lines.extend((more > 0).then(|| format!("… and {more} more")));
    match lines.is_empty() {
        true => text,
        false => format!("{text}\n{}\n", lines.join("\n")),
    }
}

/// Shows the result of a test of the storage of `device`, as the user named it: also the command that makes a
/// partition of the part that holds data, if the rest does not.
pub(crate) fn show_storage(
    result: &TestResult,
    data: &Data,
    as_json: bool,
    device: &str,
) -> Result<Exit, CommandError> {
    let advice = advice(&result.record, device).filter(|_| !as_json);
    let Some(advice) = advice else {
        return show_result(result, data, as_json);
    };
    let text = cardmark_report::terminal(&result.record, print::width(), print::style());
    show(false, &[text, advice].join("\n"), result, data)
}

/// How to use the part of a device that holds data, if the rest does not.
fn advice(record: &Record, device: &str) -> Option<String> {
    let name = match record.target.as_ref()?.kind {
        TargetKind::Device => quoted(Path::new(device)),
        _ => "/dev/DEVICE".to_owned(),
    };
    usable_part(record)?.advice(&name, print::width())
}

fn show(as_json: bool, text: &str, result: &TestResult, data: &Data) -> Result<Exit, CommandError> {
    if as_json {
        result
            .details
            .iter()
            .for_each(|detail| print::notice(detail));
    }
    print::output(as_json, text)?;
    let mut exit = result.exit;
    for error in &result.errors {
        print::error(error);
        exit = exit.or_worse(error.exit);
    }
    if result.errors.is_empty() {
        print::owner(data);
    }
    Ok(exit)
}

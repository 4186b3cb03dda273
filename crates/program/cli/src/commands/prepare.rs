//! `cardmark prepare`.

use std::time::Duration;

use cardmark_core::{DeviceInfo, Fill};
use cardmark_report::{fill_words, text};
use cardmark_session::{PreparationEnd, Session, WholeDevice};
use serde_json::json;

use crate::args::PrepareArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;
use crate::terminal::print;
use cardmark_session::Data;

const WHOLE: &str = "a device as a whole is prepared; everything on it is lost";

/// Brings a device into a known state, and keeps in the card's history that it was.
pub(crate) fn prepare(arguments: &PrepareArguments) -> Result<Exit, CommandError> {
    let device = WholeDevice::to_write(&arguments.device, WHOLE)?;
    let data = Data::from_environment()?;
    let session = Session::new(&TERMINAL, &data, arguments.timeout);
    let fill = Fill::from(arguments.fill);
    let ended = cardmark_session::prepare(
        &session,
        &arguments.device,
        &device,
        (fill, arguments.restart),
        &arguments.consent.given(),
    )?;
    tell(ended, &device.info, arguments.json)
}

/// Shows the end.
fn tell(ended: PreparationEnd, info: &DeviceInfo, as_json: bool) -> Result<Exit, CommandError> {
    let is_finished = ended.preparation.finished_at.is_some();
    if as_json {
        print::data(&json(&ended, info)?)?;
    } else if is_finished {
        print::result(&line(&ended))?;
    }
    let mut exit = Exit::Done;
    let failed = ended.failure();
    let history = ended
        .history_error
        .map(|error| error.hint("the device is in that state, but its history is not up to date"));
    for error in failed.into_iter().chain(history) {
        print::error(&error);
        exit = exit.or_worse(error.exit);
    }
    Ok(exit)
}

/// Bytes per second, where anything was written.
fn rate(ended: &PreparationEnd) -> Option<f64> {
    let bytes = ended.written_bytes();
    (bytes > 0).then(|| bytes as f64 / ended.span.as_secs_f64().max(1e-9))
}

/// `filled with 0xFF: 64 GB in 52 min 30 s, 20.3 MB/s`
fn line(ended: &PreparationEnd) -> String {
    let mut line = format!(
        "{}: {}",
        fill_words(&ended.preparation.fill),
        text::amount(ended.preparation.size_bytes)
    );
    if ended.from_bytes > 0 {
        line += &format!(", {} of it now", text::amount(ended.written_bytes()));
    }
    line += &format!(" in {}", text::span(span_ns(ended.span)));
    if let Some(rate) = rate(ended) {
        line += &format!(", {}", text::rate(rate));
    }
    line + "\n"
}

fn json(ended: &PreparationEnd, info: &DeviceInfo) -> Result<String, CommandError> {
    let row = json!({
        "device": info.name,
        "sample": info.sample,
        "preparation": ended.preparation,
        "from_bytes": ended.from_bytes,
        "written_bytes": ended.written_bytes(),
        "span_ns": span_ns(ended.span),
        "rate_bytes_per_s": rate(ended),
    });
    print::pretty(&row)
}

fn span_ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

//! `cardmark import`.

mod looks;
mod records;
mod source;

use std::path::Path;

use cardmark_core::Record;
use cardmark_import::{
    FigureError, Import, Imported, KnownMetric, NotUnderstood, figures, import as read,
};
use cardmark_report::{terminal, workload_name};
use cardmark_share::{ImportedFrom, imported_record, known_metrics};
use cardmark_store::{HOST_LABEL, Store};
use serde_json::json;

use crate::args::ImportArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::Data;
use looks::TakenLook;
use records::{Taken, take_in};
use source::Source;

/// Most lines of a text that are listed as not understood, and most causes of an error.
const MOST_LISTED: usize = 200;
const MOST_CAUSES: usize = 5;

/// Stores records, and as records typed figures and what other tools printed. A file that cannot be read does not keep
/// the others from being imported.
pub(crate) fn import(arguments: &ImportArguments) -> Result<Exit, CommandError> {
    let known = known_metrics(workload_name);
    let mut records = typed(arguments, &known)?;
    let (mut taken, mut looks, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut store = Data::from_environment()?.open()?;
    for file in &arguments.files {
        let of_file = source::open(file).and_then(|source| match source {
            Source::Records(documents) => {
                let of_file = take_in(file, documents, &mut store, &mut looks, &mut failed);
                taken.extend(of_file?);
                Ok(Vec::new())
            }
            Source::Text(text) => of_text(file, &text, arguments, &known),
        });
        match of_file {
            Ok(of_file) => records.extend(of_file),
            Err(error) => failed.push(error),
        }
    }
    if records.is_empty() && taken.is_empty() && looks.is_empty() && !failed.is_empty() {
        let first = failed.remove(0);
        failed.iter().for_each(print::error);
        return Err(first);
    }
    describe(&taken, arguments, &mut store)?;
    let looks = looks::take_in(looks, arguments.host.as_deref(), &mut store)?;
    show(&mut store, records, (&taken, &looks), arguments)?;
    failed.iter().for_each(print::error);
    Ok(if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Bad
    })
}

/// Keeps labels beside new records, and the computer's name beside those that have none.
fn describe(
    taken: &[Taken],
    arguments: &ImportArguments,
    store: &mut Store,
) -> Result<(), CommandError> {
    let host = arguments.host.iter();
    let host = host.map(|name| (HOST_LABEL, Some(name.as_str())));
    let labels = arguments.label.iter();
    let labels = labels.map(|(key, value)| (key.as_str(), Some(value.as_str())));
    let all: Vec<_> = host.chain(labels).collect();
    if all.is_empty() {
        return Ok(());
    }
    for one in taken {
        if one.is_new {
            store.label(one.id, all.iter().copied())?;
        } else if arguments.host.is_some() && !store.labels(one.id)?.contains_key(HOST_LABEL) {
            store.label(one.id, all.iter().copied().take(1))?;
        }
    }
    Ok(())
}

/// Stores the records of texts and prints them, and what became of records and looks from elsewhere.
fn show(
    store: &mut Store,
    records: Vec<Record>,
    (taken, looks): (&[Taken], &[TakenLook]),
    arguments: &ImportArguments,
) -> Result<(), CommandError> {
    let state = |is_new| if is_new { "imported" } else { "already kept" };
    let row = |one: &Taken| {
        let mut row = json!({ "id": one.id, "state": state(one.is_new) });
        if let Some(of) = &one.copy_of {
            row["copy_of"] = json!(of);
        }
        row
    };
    let mut rows: Vec<_> = taken.iter().map(row).collect();
    let host = arguments.host.as_deref();
    rows.extend(looks.iter().map(|look| look.row(host)));
    // Neither texts nor records: the files are empty.
    if !taken.is_empty() || !looks.is_empty() || records.is_empty() {
        records::say(taken, looks);
    }
    let mut texts = Vec::new();
    for record in records {
        let known = keep(store, &record)?;
        let is_new = known.is_none();
        let record = known.unwrap_or(record);
        rows.push(json!({
            "id": record.id, "state": state(is_new), "labels": record.labels, "record": record,
        }));
        texts.push(terminal(&record, print::width(), print::style()));
        if !is_new {
            print::notice(&format!(
                "{} was imported before and is left as it is; `cardmark label` changes its labels",
                record.id
            ));
        }
    }
    if arguments.json {
        print::data(&format!("{:#}\n", json!(rows)))
    } else {
        print::result(&texts.join("\n"))
    }
}

/// Stores a record. Returns the stored one if its id exists already: the id is that of text, labels
/// and board; the metrics of another version and later labels stay.
fn keep(store: &mut Store, record: &Record) -> Result<Option<Record>, CommandError> {
    if !store.contains(record.id)? {
        store.insert(record)?;
        return Ok(None);
    }
    let found = store.find(&record.id.to_string())?;
    Ok(Some(Record {
        labels: found.labels,
        ..found.record
    }))
}

/// The record of the typed figures, if there are any.
fn typed(arguments: &ImportArguments, known: &[KnownMetric]) -> Result<Vec<Record>, CommandError> {
    if arguments.figure.is_empty() {
        return Ok(Vec::new());
    }
    let one = figures(&arguments.figure, known).map_err(|error| not_accepted(&error))?;
    let mut parts: Vec<String> = arguments
        .figure
        .iter()
        .map(|(id, text)| format!("{id}={}", text.trim()))
        .collect();
    parts.sort();
    Ok(vec![record("figures", &parts, one, arguments)?])
}

fn not_accepted(error: &FigureError) -> CommandError {
    let made = CommandError::new(Exit::Usage, error.to_string());
    match error {
        FigureError::UnknownMetric { near, .. } if near.is_empty() => {
            made.hint("`cardmark rank` lists metrics with results; docs/OLD-TOOLS.md has all ids")
        }
        FigureError::UnknownMetric { near, .. } => {
            made.hint(format!("similar metrics: {}", near.join(", ")))
        }
        FigureError::NoNumber { .. } => made.hint("give a figure such as `hdparm_t=43.5MiB/s`"),
        FigureError::Comma { .. } => made.hint("write decimals with a point"),
        FigureError::Unit { .. } | FigureError::Twice { .. } => made,
    }
}

fn of_text(
    file: &Path,
    text: &str,
    arguments: &ImportArguments,
    known: &[KnownMetric],
) -> Result<Vec<Record>, CommandError> {
    let Import {
        records,
        not_understood,
    } = read(text, known);
    list(file, &not_understood);
    if records.is_empty() {
        return Err(nothing(file, &not_understood));
    }
    // White space at the ends of lines comes and goes when texts are copied.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let plain = lines.join("\n");
    let records = records.into_iter().enumerate();
    records
        .map(|(index, one)| record(plain.trim(), &[index.to_string()], one, arguments))
        .collect()
}

/// Lists the lines with numbers that are in no record. Of a line, only the numbers are shown.
fn list(file: &Path, not_understood: &[NotUnderstood]) {
    let (listed, more) = not_understood.split_at(not_understood.len().min(MOST_LISTED));
    let file = file.display();
    for NotUnderstood {
        line,
        numbers,
        reason,
    } in listed
    {
        let reason = reason.as_ref().map(|reason| format!(" ({reason})"));
        print::notice(&format!(
            "{file}:{line}: not understood: {}{}",
            numbers.join(", "),
            reason.unwrap_or_default()
        ));
    }
    if !more.is_empty() {
        print::notice(&format!(
            "{file}: {} further lines not understood",
            more.len()
        ));
    }
}

fn nothing(file: &Path, not_understood: &[NotUnderstood]) -> CommandError {
    let what = format!("nothing can be imported from `{}`", file.display());
    let mut made = CommandError::new(Exit::Usage, what);
    let reasons = not_understood.iter().filter_map(|one| {
        let reason = one.reason.as_ref()?;
        Some(format!("line {}: {reason}", one.line))
    });
    made.causes = reasons.take(MOST_CAUSES).collect();
    if made.causes.is_empty() {
        return made.because("no output of a known tool").hint(
            "known tools are hdparm, dd, iozone, fio, ddrescue, f3, H2testw, PiBenchmarks, Raspberry Pi Diagnostics, \
             CrystalDiskMark, KDiskMark, YABS and GNOME Disks; type other figures, such as those of sysbench, sd_bench or \
             DietPi, by the metric nearest to their test: `--figure hdparm_t=43.5MiB/s`",
        );
    }
    made.hint("give the tool's whole output as it is")
}

/// The record of a source: a text or typed figures, and which record of it this is.
fn record(
    source: &str,
    which: &[String],
    one: Imported,
    arguments: &ImportArguments,
) -> Result<Record, CommandError> {
    let from = ImportedFrom {
        source,
        which,
        board: arguments.board.as_deref(),
        labels: &arguments.label,
    };
    imported_record(one, &from).map_err(|error| CommandError::from_error(Exit::Bug, &error))
}

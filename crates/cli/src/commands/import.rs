//! `cardmark import`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use cardmark_core::{Context, Origin, OriginKind, Record, SuiteRef, simulated_run_id};
use cardmark_judge::{advise, judge};
use cardmark_peers::{ImportError, Imported, import as read};
use cardmark_report::terminal;
use cardmark_store::Store;
use serde_json::json;

use crate::args::ImportArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::print;

/// Largest text that is read, bytes.
const LARGEST_TEXT_BYTES: u64 = 16 << 20;

/// Takes over what other tools printed, keeps it as records and shows them. Nothing is kept where
/// one of the texts cannot be understood.
pub(crate) fn import(arguments: &ImportArguments) -> Result<Exit, CommandError> {
    let mut records = Vec::new();
    for file in &arguments.files {
        records.extend(of_text(file, arguments)?);
    }
    let mut store = Data::from_environment()?.open()?;
    let mut rows = Vec::new();
    let mut texts = Vec::new();
    for record in records {
        let known = keep(&mut store, &record)?;
        let is_new = known.is_none();
        let record = known.unwrap_or(record);
        let state = if is_new { "imported" } else { "already kept" };
        rows.push(json!({ "id": record.id, "state": state, "record": record }));
        texts.push(terminal(&record, print::width(), print::style()));
        if !is_new {
            print::notice(&format!(
                "{} was imported before and is left as it is; `cardmark label` changes what is said of it",
                record.id
            ));
        }
    }
    if arguments.json {
        print::result(&format!("{:#}\n", json!(rows)))?;
    } else {
        print::result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// Stores a record; gives the one of the same id where that is stored already. The id is that of
/// the text and of what was said of it: what another version made of these, and labels given since,
/// stay.
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

fn of_text(file: &Path, arguments: &ImportArguments) -> Result<Vec<Record>, CommandError> {
    let text = text_of(file)?;
    let imported = read(&text).map_err(|error| not_understood(file, &error))?;
    // White space at the ends of lines comes and goes when texts are copied.
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let plain = lines.join("\n");
    let said = said(arguments);
    imported
        .into_iter()
        .enumerate()
        .map(|(index, one)| {
            let index = index.to_string();
            let mut parts = vec!["imported", plain.trim(), &index];
            parts.extend(said.iter().map(String::as_str));
            let id = simulated_run_id(&parts);
            record(
                Record::new(id, Origin::of(OriginKind::Imported)),
                one,
                arguments,
            )
        })
        .collect()
}

/// What was said of the text besides, in an order of its own: two cards may have the same figures.
fn said(arguments: &ImportArguments) -> Vec<String> {
    let labels: BTreeMap<_, _> = arguments.label.iter().cloned().collect();
    let labels = labels
        .into_iter()
        .map(|(key, value)| format!("label {key}={value}"));
    let board = arguments.board.iter();
    board
        .map(|board| format!("board {board}"))
        .chain(labels)
        .collect()
}

fn text_of(file: &Path) -> Result<String, CommandError> {
    let is_input = file == Path::new("-");
    let shown = if is_input {
        "standard input".to_owned()
    } else {
        format!("`{}`", file.display())
    };
    let trouble = |cause: String| {
        CommandError::new(Exit::Trouble, format!("cannot read {shown}")).because(cause)
    };
    let mut bytes = Vec::new();
    let limit = LARGEST_TEXT_BYTES + 1;
    let reading = if is_input {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    reading.map_err(|error| {
        let made = trouble(error.to_string());
        if error.kind() == std::io::ErrorKind::NotFound {
            return CommandError {
                exit: Exit::Usage,
                ..made
            }
            .hint("name a file with what the tool printed, or `-` for standard input");
        }
        made
    })?;
    if bytes.len() as u64 > LARGEST_TEXT_BYTES {
        return Err(
            trouble(format!("it has more than {LARGEST_TEXT_BYTES} bytes"))
                .hint("cut out what the tool printed at its end"),
        );
    }
    // Texts of old terminals may not be UTF-8; figures are.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn not_understood(file: &Path, error: &ImportError) -> CommandError {
    let what = format!("nothing can be imported from `{}`", file.display());
    let made = CommandError::new(Exit::Usage, what).because(error.to_string());
    match error {
        ImportError::Nothing => made.hint(
            "known are hdparm, dd, iozone, fio, ddrescue, f3, PiBenchmarks, Raspberry Pi Diagnostics, \
             KDiskMark, and figures such as `hdparm 43.5 MB/s`",
        ),
        ImportError::NotUnderstood { reasons } => reasons
            .iter()
            .fold(made, |made, reason| made.because(reason))
            .hint("give the tool's whole output as it is, and a unit behind each typed figure"),
    }
}

fn record(
    empty: Record,
    one: Imported,
    arguments: &ImportArguments,
) -> Result<Record, CommandError> {
    let suite = one
        .suite
        .map(|name| cardmark_catalog::suite(name, None))
        .transpose();
    let suite = suite.map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
    let mut record = Record {
        board: one.board,
        host: one.host,
        devices: one.device.into_iter().collect(),
        labels: one.labels,
        metrics: one.metrics,
        findings: one.findings,
        ..empty
    };
    record.origin.tool = Some(one.tools.join(", "));
    record.origin.printed_text = Some(one.printed_text).filter(|text| !text.is_empty());
    record.suite = suite.as_ref().map(|suite| {
        let ids = suite.figures.iter().map(|figure| figure.id.as_str());
        let (there, missing): (Vec<&str>, Vec<&str>) =
            ids.partition(|id| record.metric(id).is_some());
        let only = if missing.is_empty() {
            Vec::new()
        } else {
            there
        };
        SuiteRef {
            name: suite.name.clone(),
            version: suite.version,
            only: only.into_iter().map(str::to_owned).collect(),
            tier: None,
        }
    });
    if let Some(model) = &arguments.board {
        record.board.get_or_insert_default().model = Some(model.clone());
    }
    // Other words of a row may say whose card it is.
    let product = one.named.as_deref().and_then(cardmark_catalog::product);
    let product = product.map(|product| ("product".to_owned(), product.name()));
    record.labels.extend(product);
    record.labels.extend(arguments.label.iter().cloned());
    advise(&mut record);
    record.derived = judge(&record, suite.as_ref());
    record.context = Some(Context::of(&record));
    Ok(record)
}

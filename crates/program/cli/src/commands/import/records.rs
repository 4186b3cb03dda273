//! Records that come from elsewhere.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use cardmark_core::{is_statement, parse_record, parse_statement, visible};
use cardmark_judge::{LastLook, derive_again};
use cardmark_session::{Voice, parse_look};
use cardmark_store::{Incoming, Inserted, Store, StoreError};
use uuid::Uuid;

use super::looks::{self, TakenLook};
use super::source::{Documents, is_look};
use crate::error::{CommandError, Exit};
use crate::runs::{short, warn_of};
use crate::terminal::TERMINAL;
use crate::terminal::print;

/// Size of documents that are stored in one transaction, bytes, unless a single one is larger.
const TOGETHER_BYTES: usize = 16 << 20;

/// Time after which an import shows its progress.
const QUIET: Duration = Duration::from_secs(2);

/// Copies that are named.
const MOST_COPIES: usize = 10;

/// A record that was taken in, or was there before.
pub(super) struct Taken {
    pub(super) id: Uuid,
    pub(super) is_new: bool,
    /// Id of the run with the same measurements that was there before.
    pub(super) copy_of: Option<String>,
}

/// Document of a file.
enum Read {
    Stored(Incoming),
    Look(Box<LastLook>, String),
}

/// Stores the records and statements of a file as they are, and adds its looks to `looks`. Those that cannot be read, and those of another content than the record
/// that is kept under their id, are named and left out.
pub(super) fn take_in(
    file: &Path,
    mut documents: Documents,
    store: &mut Store,
    looks: &mut Vec<(LastLook, String)>,
    failed: &mut Vec<CommandError>,
) -> Result<Vec<Taken>, CommandError> {
    let shown = file.display();
    let (mut together, mut bytes, mut taken) = (Vec::new(), 0, Vec::new());
    let begun = Instant::now();
    let mut progress = None;
    for number in 1.. {
        if let Some((done, all)) = documents.position()
            && begun.elapsed() >= QUIET
        {
            let progress = progress.get_or_insert_with(|| TERMINAL.progress(done, all));
            progress.show(done);
        }
        let document = match documents.next() {
            Ok(Some(document)) => document,
            Ok(None) => break,
            Err(error) => {
                let what = format!("cannot read record {number} of `{shown}`, and none after it");
                failed.push(CommandError::new(Exit::Trouble, what).because(error.to_string()));
                break;
            }
        };
        match read(&document) {
            Ok(Read::Stored(incoming)) => {
                bytes += document.len();
                together.push(incoming);
            }
            Ok(Read::Look(look, line)) => looks.push((*look, line)),
            Err(why) => {
                let what = format!("cannot read record {number} of `{shown}`");
                failed.push(CommandError::new(Exit::Usage, what).because(why));
            }
        }
        if bytes > TOGETHER_BYTES {
            store_all(store, &mut together, failed, &mut taken)?;
            bytes = 0;
        }
    }
    store_all(store, &mut together, failed, &mut taken)?;
    Ok(taken)
}

/// A look or a statement; or a record, with figures derived again. Each with its document in one line.
fn read(document: &str) -> Result<Read, String> {
    let document = visible(document.trim_start_matches('\u{feff}').trim());
    if is_look(&document) {
        let line = one_line(&document)?.into_owned();
        return Ok(Read::Look(Box::new(parse_look(&line)?), line));
    }
    if is_statement(&document) {
        let statement = parse_statement(&document).map_err(|error| error.to_string())?;
        let line = one_line(&document)?.into_owned();
        return Ok(Read::Stored(Incoming::Statement(Box::new(statement), line)));
    }
    let mut record = parse_record(&document).map_err(|error| error.to_string())?;
    let differing = derive_again(&mut record);
    warn_of(&format!("run {}", record.id), &record, &differing);
    let line = one_line(&document)?.into_owned();
    Ok(Read::Stored(Incoming::Record(Box::new(record), line)))
}

/// The document in one line, which has the same content.
fn one_line(document: &str) -> Result<Cow<'_, str>, String> {
    if !document.contains('\n') {
        return Ok(document.into());
    }
    let mut line = Vec::new();
    let mut from = serde_json::Deserializer::from_str(document);
    serde_transcode::transcode(&mut from, &mut serde_json::Serializer::new(&mut line))
        .map_err(|error| error.to_string())?;
    let line = String::from_utf8(line).map_err(|error| error.to_string())?;
    Ok(line.into())
}

fn store_all(
    store: &mut Store,
    together: &mut Vec<Incoming>,
    failed: &mut Vec<CommandError>,
    taken: &mut Vec<Taken>,
) -> Result<(), CommandError> {
    let results = store.take_in(together)?;
    for (incoming, result) in together.drain(..).zip(results) {
        match (result, incoming) {
            (Ok(inserted), Incoming::Record(record, _)) => {
                let is_new = inserted == Inserted::New;
                let copy_of = is_new.then(|| store.copied_from(record.id)).transpose()?;
                taken.push(Taken {
                    id: record.id,
                    is_new,
                    copy_of: copy_of.flatten(),
                });
            }
            (Ok(_), Incoming::Statement(..)) => {}
            (Err(error), _) => failed.push(refused(error)?),
        }
    }
    Ok(())
}

/// The error of a document that is left out, while the others are stored.
fn refused(error: StoreError) -> Result<CommandError, CommandError> {
    Ok(match error {
        StoreError::Conflict { id } => {
            CommandError::new(Exit::Usage, format!("another record of run {id} is kept"))
                .because("a record never changes: one of the two was edited")
                .hint(format!("`cardmark show {id}` shows the one that is kept"))
        }
        StoreError::Stated { id } => CommandError::new(
            Exit::Usage,
            format!("another statement on run {id} is kept"),
        )
        .because("both have the same number")
        .hint(format!(
            "`cardmark label {id}` changes the one that is kept"
        )),
        StoreError::NotFound { prefix } => {
            CommandError::new(Exit::Usage, format!("a statement is on run {prefix}"))
                .because("there is no record of that run")
                .hint("import its record first")
        }
        error => return Err(error.into()),
    })
}

/// Reports what became of records and looks.
pub(super) fn say(taken: &[Taken], taken_looks: &[TakenLook]) {
    let new = taken.iter().filter(|one| one.is_new).count();
    let known = taken.len() - new;
    let runs = |count: usize| match count {
        1 => "1 run".to_owned(),
        _ => format!("{count} runs"),
    };
    let mut text = format!("imported {}", runs(new));
    if known > 0 {
        text += &format!("; {} already kept", runs(known));
    }
    for part in looks::parts(taken_looks) {
        text += &format!("; {part}");
    }
    print::notice(&text);
    say_copies(taken);
}

/// Names new runs with the measurements of another one.
fn say_copies(taken: &[Taken]) {
    let copies = || taken.iter().filter(|one| one.copy_of.is_some());
    for one in copies().take(MOST_COPIES) {
        let (id, of) = (
            one.id.to_string(),
            one.copy_of.as_deref().unwrap_or_default(),
        );
        print::notice(&format!("{}: copy of run {}", short(&id), short(of)));
    }
    let more = copies().count().saturating_sub(MOST_COPIES);
    if more > 0 {
        print::notice(&format!("{more} more copies; `show` names the runs"));
    }
}

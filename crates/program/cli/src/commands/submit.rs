//! `cardmark submit`.

mod change;
mod client;
mod dialog;
mod parcel;
mod queue;
mod reply;
mod secret;
mod seed;
mod settings;
mod shown;
mod there;

use std::collections::BTreeSet;

use cardmark_session::{Data, store_error};
use cardmark_share::{Secrets, Server};
use cardmark_store::{Store, SubmissionState};
use uuid::Uuid;

use crate::args::SubmitArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use change::{labels_changed, queued};
use client::Client;
use dialog::{consent, say};
use parcel::{Parcel, counted};
use queue::{enqueue, send, waiting};
use reply::{Reply, refusal};
pub(crate) use seed::fresh_seed;
use settings::Settings;
use there::There;

/// Runs that are described before they are sent.
const MOST_LISTED: usize = 20;

/// Sends runs to a results site, or shows, amends or withdraws them there, or answers to a quarantine.
pub(crate) fn submit(arguments: &SubmitArguments) -> Result<Exit, CommandError> {
    if let Some(path) = &arguments.export_secret {
        return secret::export(&path.destination()?);
    }
    if let Some(path) = &arguments.import_secret {
        return secret::import(path, arguments.force);
    }
    let settings = Settings::read()?;
    if arguments.dry_run {
        return dry_run(arguments, &settings);
    }
    if !arguments.status && !arguments.withdraw && arguments.answer.is_none() {
        settings.may_send()?;
    }
    let server = settings.server(arguments.server.as_ref())?;
    let client = Client::new(&server)?;
    let mut store = Data::from_environment()?.open()?;
    let secret = store.secret().map_err(|error| store_error(&error))?;
    let there = There {
        site: &client,
        server: &server,
        secrets: Secrets::new(secret),
        as_json: arguments.json,
    };
    if arguments.status {
        change::status(&there, &mut store, &arguments.runs)
    } else if arguments.amend {
        change::amend(&there, &mut store, arguments)
    } else if arguments.withdraw {
        change::withdraw(&there, &mut store, arguments)
    } else if let Some(text) = &arguments.answer {
        change::answer(&there, &mut store, &arguments.runs, text)
    } else {
        submit_runs(&there, &mut store, arguments)
    }
}

/// Writes what would be sent.
fn dry_run(arguments: &SubmitArguments, settings: &Settings) -> Result<Exit, CommandError> {
    let mut store = Data::from_environment()?.open()?;
    let runs = match arguments.new {
        true => unsent(&mut store, &settings.server(arguments.server.as_ref())?)?,
        false => found(&mut store, &arguments.runs)?,
    };
    let mut withheld = BTreeSet::new();
    for run in &runs {
        let parcel = Parcel::of(&mut store, &run.to_string(), &arguments.keep)?;
        print::data(&parcel.text)?;
        withheld.extend(parcel.withheld);
    }
    say_withheld(&withheld);
    if runs.is_empty() {
        print::notice("No new runs: nothing would be sent.");
    }
    Ok(Exit::Done)
}

/// Sends runs, and those that wait.
fn submit_runs(
    there: &There<'_>,
    store: &mut Store,
    arguments: &SubmitArguments,
) -> Result<Exit, CommandError> {
    let runs = match arguments.new {
        true => unsent(store, there.server)?,
        false => found(store, &arguments.runs)?,
    };
    let mut parcels = Vec::new();
    for run in runs {
        if is_to_be_sent(there, store, run)? {
            parcels.push(Parcel::of(store, &run.to_string(), &arguments.keep)?);
        }
    }
    let waiting = waiting(store, there.server)?.len();
    if parcels.is_empty() {
        if waiting == 0 && arguments.new {
            let text = format!(
                "No new runs for {}. Imported and simulated runs are sent by name: `cardmark submit RUN`.",
                there.server
            );
            say(&text, 0);
        }
    } else {
        describe(there.server, &parcels);
        let question = format!(
            "Send {} to {}?",
            counted(parcels.len(), "run"),
            there.server
        );
        if !consent(&question, arguments.yes, "sent")? {
            return Ok(Exit::Done);
        }
    }
    if waiting > 0 {
        let text = format!("Sends {} that waited too.", counted(waiting, "run"));
        print::notice(&text);
        if !arguments.keep.is_empty() {
            say(
                "Runs that waited are sent as before, without this `--keep`.",
                0,
            );
        }
    }
    enqueue(store, there.server, parcels, &arguments.keep)?;
    send(there, store)
}

/// Returns whether a run has to be sent. One that was sent before is shown, unless the site lost it.
fn is_to_be_sent(there: &There<'_>, store: &mut Store, run: Uuid) -> Result<bool, CommandError> {
    let known = queued(store, there.server, run)?;
    match known.as_ref().map(|known| known.state) {
        None | Some(SubmissionState::Withdrawn) => return Ok(true),
        Some(SubmissionState::Waiting) => return Ok(false),
        Some(SubmissionState::Sent) => {}
    }
    match Reply::to(there.site, &There::state(run), run) {
        Reply::Accepted(accepted) => {
            let labels_changed = labels_changed(store, &accepted, known.as_ref());
            there.show(&accepted, labels_changed)?;
            Ok(false)
        }
        Reply::Refused(problem) if problem.status == 404 => Ok(true),
        Reply::Refused(problem) => Err(refusal(there.server, "to show ", run, &problem)),
        Reply::Later(trouble) => Err(change::unanswered("show", run, there.server, &trouble)),
    }
}

/// The runs that these names name, each once.
fn found(store: &mut Store, names: &[String]) -> Result<Vec<Uuid>, CommandError> {
    let mut ids = Vec::new();
    for name in names {
        let found = store.find(name).map_err(|error| store_error(&error))?;
        if !ids.contains(&found.record.id) {
            ids.push(found.record.id);
        }
    }
    Ok(ids)
}

fn unsent(store: &mut Store, server: &Server) -> Result<Vec<Uuid>, CommandError> {
    let unsent = store.unsent(&server.origin());
    unsent.map_err(|error| store_error(&error))
}

/// Shows what leaves this computer, and what does not.
fn describe(server: &Server, parcels: &[Parcel]) {
    print::notice(&format!("To {server}:\n"));
    for parcel in parcels.iter().take(MOST_LISTED) {
        for line in &parcel.lines {
            say(line, 2);
        }
    }
    if parcels.len() > MOST_LISTED {
        print::notice(&format!("and {} more", parcels.len() - MOST_LISTED));
    }
    let fields: BTreeSet<String> = parcels.iter().flat_map(Parcel::fields).collect();
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    say(&format!("\nFields that leave: {}", fields.join(", ")), 2);
    let withheld = parcels.iter().flat_map(|parcel| &parcel.withheld);
    say_withheld(&withheld.cloned().collect());
    say("`--dry-run` shows every byte.", 0);
    say(
        "\nThe data become public domain (CC0 1.0), which cannot be revoked. All runs of this computer carry the same \
         pseudonym on a site, which its dumps publish. You can withdraw a run later; copies that others made by then remain.",
        0,
    );
}

fn say_withheld(withheld: &BTreeSet<String>) {
    if !withheld.is_empty() {
        let names: Vec<&str> = withheld.iter().map(String::as_str).collect();
        let text = format!(
            "Withheld or shortened: {}; `--keep FIELD` keeps one",
            names.join(", ")
        );
        say(&text, 2);
    }
}

#[cfg(test)]
mod tests;

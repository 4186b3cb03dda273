//! Questions for the state of runs on a site, and changes there. The right to a change derives from the store's secret.

use cardmark_session::store_error;
use cardmark_share::{Accepted, Problem, Server};
use cardmark_store::{Queued, Store, SubmissionState};
use uuid::Uuid;

use super::dialog::{consent, fitted};
use super::parcel::{counted, public_statement};
use super::queue::{Sent, send_one};
use super::reply::{Reply, Trouble, refusal};
use super::shown::Absence;
use super::there::There;
use crate::args::SubmitArguments;
use crate::error::{CommandError, Exit};
use crate::runs::short;
use crate::terminal::print;

/// Status of an answer about a run that the site does not have.
const NOT_FOUND: u16 = 404;
/// Status of an answer about a withdrawn run.
const GONE: u16 = 410;

/// Shows the state of runs; without names, of all that were sent to this site.
pub(super) fn status(
    there: &There<'_>,
    store: &mut Store,
    runs: &[String],
) -> Result<Exit, CommandError> {
    let ids = match runs {
        [] => known(store, there.server)?,
        _ => ids(store, runs)?,
    };
    if ids.is_empty() {
        print::notice(&format!("No run was sent to {} yet.", there.server));
    }
    for run in ids {
        let queued = queued(store, there.server, run)?;
        match Reply::to(there.site, &There::state(run), run) {
            Reply::Accepted(accepted) => {
                let labels_changed = labels_changed(store, &accepted, queued.as_ref());
                there.show(&accepted, labels_changed)?;
            }
            Reply::Refused(problem) => match problem.status {
                NOT_FOUND | GONE => {
                    there.show_absent(run, absence(queued.as_ref(), &problem), None)?;
                }
                _ => return Err(refusal(there.server, "to show ", run, &problem)),
            },
            Reply::Later(trouble) => return Err(unanswered("show", run, there.server, &trouble)),
        }
    }
    Ok(Exit::Done)
}

fn absence(queued: Option<&Queued>, problem: &Problem) -> Absence {
    let state = queued.map(|queued| queued.state);
    match (problem.status, state) {
        (GONE, _) | (_, Some(SubmissionState::Withdrawn)) => Absence::Withdrawn,
        (_, Some(SubmissionState::Waiting)) => Absence::Waiting,
        _ => Absence::Unknown,
    }
}

/// Returns whether labels changed here after they were sent.
pub(super) fn labels_changed(
    store: &mut Store,
    accepted: &Accepted,
    queued: Option<&Queued>,
) -> bool {
    let keep = queued.map_or(&[][..], |queued| &queued.keep);
    // A run of a lost store has no labels here.
    let Ok(here) = public_statement(store, &accepted.id.to_string(), keep) else {
        return false;
    };
    let is_newer = here.revision > accepted.revision && !(here.is_empty && accepted.revision == 0);
    is_newer && accepted.state != cardmark_share::STATE_WITHDRAWN
}

/// Sends the present statements of runs.
pub(super) fn amend(
    there: &There<'_>,
    store: &mut Store,
    arguments: &SubmitArguments,
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    for run in &arguments.runs {
        match amend_one(there, store, run, &arguments.keep) {
            Ok(()) => {}
            Err(error) if error.exit == Exit::Bad => {
                print::error(&error);
                exit = exit.or_worse(error.exit);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(exit)
}

pub(super) fn amend_one(
    there: &There<'_>,
    store: &mut Store,
    run: &str,
    keep: &[String],
) -> Result<(), CommandError> {
    let id = public_statement(store, run, keep)?.run;
    let mut known = queued(store, there.server, id)?;
    if let Some(waiting) = known.take_if(|one| one.state == SubmissionState::Waiting) {
        match send_one(there, store, &waiting)? {
            Sent::Waits(trouble) => return Err(unanswered("amend", id, there.server, &trouble)),
            Sent::Ended(Exit::Done) => {}
            Sent::Ended(exit) => {
                let what = format!("Cannot amend run {}", short(&id.to_string()));
                return Err(CommandError::new(exit, what).because("the site did not take it"));
            }
        }
        known = queued(store, there.server, id)?;
    }
    let kept = known.as_ref().map_or(&[][..], |one| &one.keep);
    let mut all: Vec<String> = kept.iter().chain(keep).cloned().collect();
    all.sort();
    all.dedup();
    let statement = public_statement(store, run, &all)?;
    let sends = format!("{}: sends {}", short(&id.to_string()), statement.labels);
    print::notice(&fitted(&sends, 2));
    match Reply::to(there.site, &there.amendment(id, &statement.text), id) {
        Reply::Accepted(accepted) => {
            let sent = Queued {
                run: id,
                state: SubmissionState::Sent,
                keep: all,
                body: None,
            };
            put(store, there.server, &sent)?;
            there.show(&accepted, false)
        }
        Reply::Refused(problem) => {
            let error = refusal(there.server, "to amend ", id, &problem);
            Err(match problem.status {
                NOT_FOUND => error.hint("`cardmark submit RUN` sends it"),
                403 => error.hint(OTHER_SECRET),
                _ => error,
            })
        }
        Reply::Later(trouble) => Err(unanswered("amend", id, there.server, &trouble)),
    }
}

const OTHER_SECRET: &str =
    "the store that sent it had another secret: `--import-secret FILE` restores one";

/// Withdraws runs, after a question.
pub(super) fn withdraw(
    there: &There<'_>,
    store: &mut Store,
    arguments: &SubmitArguments,
) -> Result<Exit, CommandError> {
    let ids = ids(store, &arguments.runs)?;
    let question = format!(
        "Withdraw {} from {}? Copies that others made by now remain.",
        counted(ids.len(), "run"),
        there.server
    );
    if !consent(&question, arguments.yes, "withdrawn")? {
        return Ok(Exit::Done);
    }
    let mut exit = Exit::Done;
    for run in ids {
        if let Err(error) = withdraw_one(there, store, run) {
            print::error(&error);
            exit = exit.or_worse(error.exit);
            if error.exit != Exit::Bad {
                break;
            }
        }
    }
    Ok(exit)
}

pub(super) fn withdraw_one(
    there: &There<'_>,
    store: &mut Store,
    run: Uuid,
) -> Result<(), CommandError> {
    let before = queued(store, there.server, run)?;
    let withdrawn = Queued {
        run,
        state: SubmissionState::Withdrawn,
        keep: Vec::new(),
        body: None,
    };
    let waits = before.as_ref().map(|one| one.state) == Some(SubmissionState::Waiting);
    if waits {
        // Whatever the site answers, it is not sent again.
        put(store, there.server, &withdrawn)?;
    }
    match Reply::to(there.site, &there.withdrawal(run), run) {
        Reply::Accepted(accepted) => {
            put(store, there.server, &withdrawn)?;
            there.show(&accepted, false)
        }
        Reply::Refused(problem) if problem.status == NOT_FOUND => {
            if before.is_some() {
                put(store, there.server, &withdrawn)?;
            }
            there.show_absent(run, Absence::Unknown, None)
        }
        Reply::Refused(problem) => {
            let error = refusal(there.server, "to withdraw ", run, &problem);
            Err(match problem.status {
                403 => error.hint(OTHER_SECRET),
                _ => error,
            })
        }
        Reply::Later(trouble) => Err(unanswered("withdraw", run, there.server, &trouble)),
    }
}

/// Answers to the quarantine of runs.
pub(super) fn answer(
    there: &There<'_>,
    store: &mut Store,
    runs: &[String],
    text: &str,
) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    for run in ids(store, runs)? {
        match Reply::to(there.site, &there.answer(run, text), run) {
            Reply::Accepted(accepted) => there.show(&accepted, false)?,
            Reply::Refused(problem) => {
                let error = refusal(there.server, "an answer on ", run, &problem);
                let error = match problem.status {
                    403 => error.hint(OTHER_SECRET),
                    _ => error,
                };
                print::error(&error);
                exit = exit.or_worse(error.exit);
            }
            Reply::Later(trouble) => {
                return Err(unanswered("answer on", run, there.server, &trouble));
            }
        }
    }
    Ok(exit)
}

pub(super) fn unanswered(
    action: &str,
    run: Uuid,
    server: &Server,
    trouble: &Trouble,
) -> CommandError {
    let run = run.to_string();
    let what = format!("Cannot {action} run {} on {server} now", short(&run));
    let error = CommandError::new(Exit::Trouble, what).because(&trouble.cause);
    error.hint(trouble.hint.as_deref().unwrap_or("try again later"))
}

/// The runs that this store sent to a site, or that wait for it.
fn known(store: &mut Store, server: &Server) -> Result<Vec<Uuid>, CommandError> {
    let known = store.submissions(&server.origin());
    let known = known.map_err(|error| store_error(&error))?;
    Ok(known.into_iter().map(|one| one.run).collect())
}

/// Ids of runs; a whole id may be of a run that is not in this store.
fn ids(store: &mut Store, runs: &[String]) -> Result<Vec<Uuid>, CommandError> {
    let mut ids = Vec::new();
    for run in runs {
        let id = match Uuid::parse_str(run) {
            Ok(id) => id,
            Err(_) => {
                store
                    .find(run)
                    .map_err(|error| store_error(&error))?
                    .record
                    .id
            }
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

pub(super) fn queued(
    store: &mut Store,
    server: &Server,
    run: Uuid,
) -> Result<Option<Queued>, CommandError> {
    let found = store.submission(&server.origin(), run);
    found.map_err(|error| store_error(&error))
}

fn put(store: &mut Store, server: &Server, queued: &Queued) -> Result<(), CommandError> {
    let put = store.put_submission(&server.origin(), queued);
    put.map_err(|error| store_error(&error))
}

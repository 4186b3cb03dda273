//! Sends runs. Each is first put into the queue of the store, so that a lost answer, or the end of the program, costs nothing:
//! the next attempt is the same request, byte for byte.

use cardmark_session::store_error;
use cardmark_share::Server;
use cardmark_store::{Queued, Store, SubmissionState};

use super::parcel::{Parcel, counted};
use super::reply::{Reply, Trouble, refusal};
use super::shown::Absence;
use super::there::There;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Puts runs into the queue of a site.
pub(super) fn enqueue(
    store: &mut Store,
    server: &Server,
    parcels: Vec<Parcel>,
    keep: &[String],
) -> Result<(), CommandError> {
    for parcel in parcels {
        let queued = Queued {
            run: parcel.run,
            state: SubmissionState::Waiting,
            keep: keep.to_vec(),
            body: Some(parcel.packed),
        };
        let put = store.put_submission(&server.origin(), &queued);
        put.map_err(|error| store_error(&error))?;
    }
    Ok(())
}

/// Runs that wait for a site, the longest first.
pub(super) fn waiting(store: &mut Store, server: &Server) -> Result<Vec<Queued>, CommandError> {
    let known = store.submissions(&server.origin());
    let mut known = known.map_err(|error| store_error(&error))?;
    known.retain(|one| one.state == SubmissionState::Waiting);
    Ok(known)
}

/// Sends everything that waits for a site. Ends at the first run that the site cannot take now: the others would fare no
/// better.
pub(super) fn send(there: &There<'_>, store: &mut Store) -> Result<Exit, CommandError> {
    let queue = waiting(store, there.server)?;
    let mut exit = Exit::Done;
    for (done, queued) in queue.iter().enumerate() {
        match send_one(there, store, queued)? {
            Sent::Ended(end) => exit = exit.or_worse(end),
            Sent::Waits(trouble) => {
                let count = queue.len() - done;
                if there.as_json {
                    for waiting in &queue[done..] {
                        there.show_absent(waiting.run, Absence::Waiting, None)?;
                    }
                }
                print::error(&waits(there.server, count, &trouble));
                return Ok(exit.or_worse(Exit::Trouble));
            }
        }
    }
    Ok(exit)
}

/// Result of an attempt.
pub(super) enum Sent {
    /// The site has the run, or refused it; the result was shown.
    Ended(Exit),
    /// The run waits.
    Waits(Trouble),
}

/// Sends a run that waits, and shows the answer.
pub(super) fn send_one(
    there: &There<'_>,
    store: &mut Store,
    queued: &Queued,
) -> Result<Sent, CommandError> {
    let run = queued.run;
    let request = there.submission(run, queued.body.as_deref().unwrap_or_default());
    let origin = there.server.origin();
    let mut note = |state| {
        let queued = Queued {
            state,
            body: None,
            ..queued.clone()
        };
        let put = store.put_submission(&origin, &queued);
        put.map_err(|error| store_error(&error))
    };
    match Reply::to(there.site, &request, run) {
        Reply::Accepted(accepted) => {
            note(SubmissionState::Sent)?;
            there.show(&accepted, false)?;
            Ok(Sent::Ended(Exit::Done))
        }
        Reply::Later(trouble) => Ok(Sent::Waits(trouble)),
        Reply::Refused(problem) => {
            let error = refusal(there.server, "", run, &problem);
            if problem.status == 410 {
                note(SubmissionState::Withdrawn)?;
            } else {
                let forgotten = store.forget_submission(&origin, run);
                forgotten.map_err(|error| store_error(&error))?;
            }
            there.show_absent(run, Absence::Refused, Some(&problem))?;
            print::error(&error);
            Ok(Sent::Ended(error.exit))
        }
    }
}

fn waits(server: &Server, count: usize, trouble: &Trouble) -> CommandError {
    let what = format!("Cannot send {} to {server} now", counted(count, "run"));
    let error = CommandError::new(Exit::Trouble, what).because(&trouble.cause);
    let error = match &trouble.hint {
        None => error,
        Some(hint) => error.hint(hint),
    };
    let (it, goes) = if count == 1 {
        ("it", "goes")
    } else {
        ("they", "go")
    };
    let waits = if count == 1 { "waits" } else { "wait" };
    error.hint(format!(
        "{it} {waits} here and {goes} with the next submit, such as `cardmark submit --new`"
    ))
}

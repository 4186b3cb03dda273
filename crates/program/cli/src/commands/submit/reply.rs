//! Meaning of the answers of a site.

use cardmark_share::{Accepted, Check, CheckName, CheckOutcome, Problem, STATE_WITHDRAWN, Server};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::client::{Answer, Request, Site, Unanswered};
use super::dialog::fitted;
use crate::error::{CommandError, Exit};
use crate::runs::short;

/// Places in the document that are named.
const MOST_PLACES: usize = 5;
/// Characters of a text of the site that are shown.
const MOST_TEXT: usize = 400;
const FOREIGN: &str = "the answer is not one of a results site";

/// Meaning of an answer, or of its absence.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// The site has the run.
    Accepted(Accepted),
    /// The same request may succeed later.
    Later(Trouble),
    /// The site refused the request; the same request will be refused again.
    Refused(Problem),
}

/// Reason to repeat a request later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble {
    pub(super) cause: String,
    pub(super) hint: Option<String>,
}

impl Reply {
    /// Sends a request about a run.
    pub(super) fn to(site: &dyn Site, request: &Request, run: Uuid) -> Self {
        match site.ask(request) {
            Ok(answer) => Self::of(&answer, run),
            Err(Unanswered { cause, hint }) => Self::Later(Trouble {
                cause,
                hint: hint.map(str::to_owned),
            }),
        }
    }

    /// Interprets an answer to a request about a run.
    pub(super) fn of(answer: &Answer, run: Uuid) -> Self {
        match answer.status {
            200 | 201 => match accepted(&answer.body) {
                Some(accepted) if accepted.id == run => Self::Accepted(accepted),
                _ => later(FOREIGN, None),
            },
            300..400 => Self::Refused(problem(
                answer,
                "the site has moved",
                "cardmark follows no redirection: name its new address",
            )),
            408 | 425 | 429 | 500.. => busy(answer),
            _ => Self::Refused(problem(answer, "the site refused the request", "")),
        }
    }
}

/// Interprets an answer that is not about a run.
pub(super) fn trouble_of(answer: &Answer) -> Trouble {
    match Reply::of(answer, Uuid::nil()) {
        Reply::Refused(problem) => Trouble {
            cause: join(&problem.title, &problem.detail),
            hint: None,
        },
        Reply::Later(trouble) => trouble,
        Reply::Accepted(_) => Trouble {
            cause: FOREIGN.to_owned(),
            hint: None,
        },
    }
}

/// Reads the answer about a run. A later version of the site may have fields and checks that this version does not know, and
/// answers to some requests lack some.
fn accepted(body: &[u8]) -> Option<Accepted> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Loose {
        id: Uuid,
        state: String,
        level: String,
        received_on: String,
        revision: u64,
        path: String,
        checks: Vec<Value>,
        decided_by: Option<i64>,
    }
    let loose: Loose = serde_json::from_slice(body).ok()?;
    let checks = loose.checks.into_iter();
    let checks = checks.filter_map(|check| serde_json::from_value(check).ok());
    (!loose.state.is_empty()).then(|| Accepted {
        id: loose.id,
        state: loose.state,
        level: loose.level,
        received_on: loose.received_on,
        revision: loose.revision,
        path: loose.path,
        checks: checks.collect(),
        decided_by: loose.decided_by,
    })
}

fn later(cause: &str, hint: Option<String>) -> Reply {
    Reply::Later(Trouble {
        cause: cause.to_owned(),
        hint,
    })
}

fn busy(answer: &Answer) -> Reply {
    let said = match answer.status {
        429 => "the site accepts no more requests from here for now".to_owned(),
        503 => "the site is busy".to_owned(),
        status => format!("the site failed (status {status})"),
    };
    let seconds = answer.retry_after.as_deref();
    let seconds = seconds.and_then(|text| text.trim().parse::<u64>().ok());
    let hint = seconds.map(|seconds| match seconds {
        0..=1 => "try again in a second".to_owned(),
        2..=119 => format!("try again in {seconds} s"),
        _ => format!("try again in {} min", seconds.div_ceil(60)),
    });
    later(&said, hint)
}

/// The problem of an answer. All its parts may be missing (RFC 9457), and something between here and the site may have
/// answered with a page.
fn problem(answer: &Answer, title: &str, detail: &str) -> Problem {
    let given: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let text = |key: &str| given[key].as_str().unwrap_or_default().to_owned();
    let errors = given["errors"].as_array().into_iter().flatten();
    let errors = errors.filter_map(|error| serde_json::from_value(error.clone()).ok());
    let (given_title, given_detail) = (text("title"), text("detail"));
    let is_given = !given_title.is_empty() || !given_detail.is_empty();
    let (title, detail) = match (is_given, detail) {
        (true, _) => (given_title, given_detail),
        (false, "") => (
            title.to_owned(),
            format!("status {}, without a reason", answer.status),
        ),
        (false, _) => (title.to_owned(), detail.to_owned()),
    };
    Problem {
        kind: text("type"),
        title,
        status: answer.status,
        detail,
        errors: errors.collect(),
    }
}

/// An error for a request about a run that the site refused.
pub(super) fn refusal(server: &Server, what: &str, run: Uuid, problem: &Problem) -> CommandError {
    let run = run.to_string();
    let what = format!("{server} refused {what}run {}", short(&run));
    let mut error = CommandError::new(Exit::Bad, what);
    error = error.because(join(&problem.title, &problem.detail));
    for place in problem.errors.iter().take(MOST_PLACES) {
        let pointer = match place.pointer.as_str() {
            "" => "the document",
            pointer => pointer,
        };
        error = error.because(format!("{}: {}", cut(pointer), cut(&place.detail)));
    }
    match problem.errors.len().saturating_sub(MOST_PLACES) {
        0 => error,
        more => error.because(format!("{more} more places")),
    }
}

fn join(title: &str, detail: &str) -> String {
    match (title, detail) {
        ("", text) | (text, "") => cut(text),
        _ => format!("{}: {}", cut(title), cut(detail)),
    }
}

/// The beginning of a text that a site sent.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_TEXT).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// A run on a site in words: state, level, address, and what its checks found. The address stays in one piece.
pub(super) fn told(accepted: &Accepted, server: &Server) -> String {
    let run = accepted.id.to_string();
    let mut first = format!("{}: {}", short(&run), cut(&accepted.state));
    let level = accepted.level.replace('_', " ");
    if !level.is_empty() && accepted.state != STATE_WITHDRAWN {
        first += &format!(", {}", cut(&level));
    }
    let mut lines = vec![fitted(&first, 2)];
    if accepted.path.starts_with('/') {
        lines.push(format!("  {}", server.url(&cut(&accepted.path))));
    }
    if let Some(number) = accepted.decided_by {
        let act = server.url(&format!("/audit/{number}"));
        lines.push("  a moderator decided:".to_owned());
        lines.push(format!("  {act}"));
    }
    let found = accepted.checks.iter().filter_map(found);
    lines.extend(found.map(|line| fitted(&format!("  {line}"), 2)));
    lines.join("\n") + "\n"
}

/// Result of a check in words, if it is to the disadvantage of the run.
fn found(check: &Check) -> Option<String> {
    let outcome = match check.outcome {
        CheckOutcome::Failed => "failed",
        CheckOutcome::Marked => "marked",
        CheckOutcome::NotCounted => "not counted",
        CheckOutcome::Passed | CheckOutcome::CannotTell => return None,
    };
    let name = match check.name {
        CheckName::Recomputed => "figures, calculated again",
        CheckName::Accounting => "counts and times of the trials",
        CheckName::Seed => "places that the seed draws",
        CheckName::Physics => "limits of bus and card",
        CheckName::Simulation => "simulated cards",
        CheckName::Dates => "dates",
        CheckName::Board => "board and system",
        CheckName::Identified => "identity of the card",
        CheckName::Circumstances => "circumstances",
        CheckName::ProductFits => "name of the product",
        CheckName::Repeats => "measurements of another run",
        CheckName::ProductRange => "other cards of the product",
        CheckName::FreshSeed => "seed from the site",
        CheckName::NewSubmitters => "new submitters",
    };
    Some(format!("{outcome}: {name}: {}", cut(&check.reason)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, retry_after: Option<&str>, body: &str) -> Reply {
        let answer = Answer {
            status,
            retry_after: retry_after.map(str::to_owned),
            body: body.into(),
        };
        Reply::of(&answer, Uuid::nil())
    }

    #[test]
    fn only_trouble_that_may_pass_waits() {
        for status in [408, 429, 500, 502, 503, 504] {
            assert!(matches!(of(status, None, ""), Reply::Later(_)), "{status}");
        }
        for status in [301, 400, 403, 404, 409, 410, 413, 422] {
            assert!(
                matches!(of(status, None, ""), Reply::Refused(_)),
                "{status}"
            );
        }
        // A hotel's portal.
        assert!(matches!(of(200, None, "<html>"), Reply::Later(_)));
        let other = quarantined(Uuid::from_u128(1));
        let other = serde_json::to_string(&other).unwrap();
        assert!(matches!(of(200, None, &other), Reply::Later(_)));
    }

    /// A later version of the site has another check, and a withdrawal needs no level.
    #[test]
    fn an_answer_of_a_later_site_is_understood() {
        let mut answer = serde_json::to_value(quarantined(Uuid::nil())).unwrap();
        let new = serde_json::json!({"name": "weather", "outcome": "cloudy", "reason": ""});
        answer["checks"].as_array_mut().unwrap().push(new);
        answer["more"] = serde_json::json!({});
        let expected = Reply::Accepted(quarantined(Uuid::nil()));
        assert_eq!(of(200, None, &answer.to_string()), expected);
        let withdrawn = serde_json::json!({"id": Uuid::nil(), "state": "withdrawn"});
        assert!(matches!(
            of(200, None, &withdrawn.to_string()),
            Reply::Accepted(_)
        ));
        assert!(matches!(of(200, None, "{}"), Reply::Later(_)));
    }

    #[test]
    fn the_time_of_a_retry_is_shown() {
        for (given, shown) in [
            (Some("30"), Some("try again in 30 s")),
            (Some("600"), Some("try again in 10 min")),
            (Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
            (None, None),
        ] {
            let Reply::Later(trouble) = of(503, given, "") else {
                panic!("{given:?}");
            };
            assert_eq!(trouble.hint.as_deref(), shown);
        }
    }

    fn quarantined(id: Uuid) -> Accepted {
        Accepted {
            id,
            state: "quarantined".to_owned(),
            level: "measured".to_owned(),
            received_on: "2026-11-25".to_owned(),
            revision: 1,
            path: format!("/runs/{id}"),
            checks: vec![
                Check {
                    name: CheckName::Dates,
                    outcome: CheckOutcome::Failed,
                    reason: "it began tomorrow".to_owned(),
                },
                Check {
                    name: CheckName::Seed,
                    outcome: CheckOutcome::CannotTell,
                    reason: "the record holds no seed".to_owned(),
                },
            ],
            decided_by: None,
        }
    }

    #[test]
    fn a_state_has_its_link_and_its_reasons() {
        let server = "https://cards.example".parse().unwrap();
        assert_eq!(
            told(&quarantined(Uuid::nil()), &server),
            "00000000: quarantined, measured\n  \
             https://cards.example/runs/00000000-0000-0000-0000-000000000000\n  \
             failed: dates: it began tomorrow\n"
        );
    }
}

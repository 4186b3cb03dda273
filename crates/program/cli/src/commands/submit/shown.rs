//! The state of a run on a site, in words or as one line of JSON.

use cardmark_share::{Accepted, Problem};
use serde::Serialize;
use uuid::Uuid;

use super::dialog::fitted;
use super::reply::told;
use super::there::There;
use crate::error::CommandError;
use crate::runs::short;
use crate::terminal::print;

/// State of a run that the site has or had.
#[derive(Serialize)]
struct OnSite<'a> {
    server: String,
    /// Address of the run's page.
    url: Option<String>,
    /// Whether the labels here are newer than those there.
    labels_changed: bool,
    #[serde(flatten)]
    said: &'a Accepted,
}

/// A run that the site does not have.
#[derive(Serialize)]
struct Absent<'a> {
    server: String,
    id: Uuid,
    state: Absence,
    /// The site's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a Problem>,
}

/// Why a site does not have a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Absence {
    /// It waits here for the next submit.
    Waiting,
    Withdrawn,
    Refused,
    Unknown,
}

impl There<'_> {
    /// Shows a run that the site has.
    pub(super) fn show(&self, said: &Accepted, labels_changed: bool) -> Result<(), CommandError> {
        if self.as_json {
            let url = said.path.starts_with('/');
            return line(&OnSite {
                server: self.server.to_string(),
                url: url.then(|| self.server.url(&said.path)),
                labels_changed,
                said,
            });
        }
        let mut text = told(said, self.server);
        if labels_changed {
            let run = said.id.to_string();
            let advice = format!(
                "  its labels changed here: `cardmark submit --amend {}`",
                short(&run)
            );
            text += &(fitted(&advice, 2) + "\n");
        }
        print::result(&text)
    }

    /// Shows a run that the site does not have. The words for a refusal are those of its error.
    pub(super) fn show_absent(
        &self,
        id: Uuid,
        state: Absence,
        problem: Option<&Problem>,
    ) -> Result<(), CommandError> {
        if self.as_json {
            return line(&Absent {
                server: self.server.to_string(),
                id,
                state,
                problem,
            });
        }
        let words = match state {
            Absence::Waiting => "waits here for the next submit",
            Absence::Withdrawn => "withdrawn",
            Absence::Refused => return Ok(()),
            Absence::Unknown => "not on the site",
        };
        print::result(&format!("{}: {words}\n", short(&id.to_string())))
    }
}

fn line(value: &impl Serialize) -> Result<(), CommandError> {
    print::data(&print::one_line(value)?)
}

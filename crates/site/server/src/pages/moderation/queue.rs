//! Quarantined and marked runs.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cardmark_catalog::explanation;
use cardmark_core::name_of;
use cardmark_pages::addresses;
use cardmark_pages::frame::{Field, Form, Page, Section, sentence};
use cardmark_report::document::Block;
use cardmark_share::{Check, CheckName, CheckOutcome, from_hexadecimal, to_hexadecimal};
use cardmark_site_data::day_of;
use cardmark_site_store::{Decisions, Head, QueueSearch};
use serde::Deserialize;

use crate::http::page::{PageRefusal, shown_once};
use crate::http::parameters::{Parameters, RunId, cursor, cursor_text};
use crate::http::problem::Refusal;
use crate::moderation::session::Moderator;
use crate::moderation::short_tag;
use crate::pages::audit::table;
use crate::pages::desk::Desk;
use crate::queries::runs::{head, state_of};
use crate::state::Site;

/// Runs of a page.
const RUNS: u32 = 20;
/// Acts that are listed with a run.
const MOST_ACTS: usize = 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueQuery {
    check: Option<String>,
    tag: Option<String>,
    decided: Option<String>,
    cursor: Option<String>,
}

impl QueueQuery {
    fn given(text: Option<&String>) -> Option<&str> {
        text.map(String::as_str).filter(|text| !text.is_empty())
    }

    fn search(&self) -> Result<QueueSearch, Refusal> {
        let wrong = |name: &str| Refusal::bad_request(format!("{name} is unknown"));
        let check = Self::given(self.check.as_ref());
        let check = check.map(|name| check_of(name).ok_or_else(|| wrong("check")));
        let tag = Self::given(self.tag.as_ref());
        let tag = tag.map(|text| from_hexadecimal(text).ok_or_else(|| wrong("tag")));
        Ok(QueueSearch {
            is_decided: Self::given(self.decided.as_ref()) == Some("true"),
            check: check.transpose()?,
            tag: tag.transpose()?,
            after: cursor(Self::given(self.cursor.as_ref()))?,
            limit: RUNS,
        })
    }

    fn address(&self, cursor: Option<&str>) -> String {
        let parameters = [
            ("check", self.check.as_deref()),
            ("tag", self.tag.as_deref()),
            ("decided", self.decided.as_deref()),
            ("cursor", cursor),
        ];
        addresses::with("/moderation", &parameters)
    }

    fn form(&self) -> Form {
        let check = |name: CheckName| (name_of(&name), title(name));
        let mut checks = vec![(String::new(), "all".to_owned())];
        checks.extend(CheckName::ALL.map(check));
        let decided = [
            ("", "waiting for a decision"),
            ("true", "decided by an act"),
        ];
        let decided = decided.map(|(value, name)| (value.to_owned(), name.to_owned()));
        let decided = decided.to_vec();
        Form::asking(
            "/moderation",
            "Show",
            vec![
                Field::choice("check", "Check", self.check.as_deref(), checks),
                Field::text("tag", "Tag of a submitter", self.tag.as_deref()),
                Field::choice("decided", "Runs", self.decided.as_deref(), decided),
            ],
        )
    }
}

fn check_of(name: &str) -> Option<CheckName> {
    CheckName::ALL
        .into_iter()
        .find(|check| name_of(check) == name)
}

fn title(name: CheckName) -> String {
    let known = explanation(&name.term()).map(|known| known.title.clone());
    known.unwrap_or_else(|| name.term())
}

pub(super) async fn queue(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    query: Result<Parameters<QueueQuery>, Refusal>,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let found = site.store.queue(&query.search()?).await?;
    let decisions = site.store.decisions().await?;
    let desk = Desk {
        site: &site,
        moderator: &moderator,
        address: query.address(query.cursor.as_deref()),
    };
    let next = found
        .next
        .map(|next| query.address(Some(&cursor_text(next))));
    let text = match (found.heads.is_empty(), next.is_some()) {
        (true, false) => "No run waits here.",
        (true, true) => "No run among those that this page tested; the next page goes on.",
        (false, _) => {
            "A decision stands above the checks, which stay as they are. A run that was held or released is listed among those that were decided."
        }
    };
    let mut page = desk.page("Moderation", vec![Block::Text(text.to_owned())]);
    for head in &found.heads {
        page = page.section(section(&desk, &decisions, head).await?);
    }
    Ok(shown_once(&page.form(query.form()).next(next)))
}

pub(super) async fn run(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    id: Result<RunId, Refusal>,
) -> Result<Response, PageRefusal> {
    let RunId(id) = id?;
    let head = head(&site, id).await?;
    let decisions = site.store.decisions().await?;
    let desk = Desk {
        site: &site,
        moderator: &moderator,
        address: format!("/moderation/runs/{id}"),
    };
    let section = section(&desk, &decisions, &head).await?;
    let page: Page = desk.page("Moderation of a run", Vec::new());
    Ok(shown_once(&page.section(section)))
}

/// A run with its raised checks, its owner's answer, the acts on it, and the form for a decision.
async fn section(
    desk: &Desk<'_>,
    decisions: &Decisions,
    head: &Head,
) -> Result<Section, PageRefusal> {
    let name = head.product_name.as_ref().or(head.model.as_ref());
    let name = name.map_or("storage of unknown name", String::as_str);
    let tag = head.tag.map(|tag| to_hexadecimal(&tag));
    let mut blocks = vec![Block::Text(sentence(&format!(
        "{}; received on {}; {}; board {}; suite {}",
        state_of(head.state).name(),
        day_of(head.received_ms),
        tag.as_ref().map_or_else(
            || "without a tag".to_owned(),
            |tag| format!("submitter {tag}")
        ),
        head.board.as_deref().unwrap_or("unknown"),
        head.suite.as_deref().unwrap_or("unknown"),
    )))];
    blocks.push(Block::List(raised(&head.checks)));
    if let Some(answer) = desk.site.store.answer_of(head.id).await? {
        let day = day_of(answer.at_ms);
        blocks.push(Block::Text(format!(
            "Answer of its owner on {day}: {}",
            answer.text
        )));
    }
    blocks.extend(acts(desk.site, decisions, head).await?);
    let title = format!("{name}, run {}", short_id(head));
    let mut section = Section::new(title, blocks)
        .link("Run", addresses::run(head.id))
        .link("Alone", format!("/moderation/runs/{}", head.id));
    if let Some(tag) = &tag {
        let all = [("tag", Some(tag.as_str()))];
        let title = format!("Submitter {}", short_tag(&head.tag.unwrap_or_default()));
        section = section.link(title, addresses::with("/moderation", &all));
    }
    Ok(section.form(form(desk, head, tag.as_deref())))
}

/// The beginning of a run's id, by which people recognise it.
fn short_id(head: &Head) -> String {
    head.id.to_string().chars().take(8).collect()
}

fn raised(checks: &[Check]) -> Vec<String> {
    let word = |outcome| match outcome {
        CheckOutcome::Failed => Some("failed"),
        CheckOutcome::Marked => Some("marked"),
        CheckOutcome::Passed | CheckOutcome::NotCounted | CheckOutcome::CannotTell => None,
    };
    let point = |check: &Check| {
        let word = word(check.outcome)?;
        Some(format!("{word}: {}: {}", title(check.name), check.reason))
    };
    let points: Vec<String> = checks.iter().filter_map(point).collect();
    match points.is_empty() {
        true => vec!["no check failed or marked anything".to_owned()],
        false => points,
    }
}

async fn acts(
    site: &Site,
    decisions: &Decisions,
    head: &Head,
) -> Result<Option<Block>, PageRefusal> {
    let mut acts = Vec::new();
    let numbers = decisions.acts_on(head.id, head.tag);
    for number in numbers.into_iter().take(MOST_ACTS) {
        acts.extend(site.store.act(number).await?);
    }
    // A quarantine of all new runs is no act on the run.
    if let Some(number) = head.decided_by
        && acts.iter().all(|act| act.number != number)
    {
        acts.extend(site.store.act(number).await?);
    }
    let caption = match head.decided_by {
        Some(number) => format!("Acts on run {}; number {number} decides", short_id(head)),
        None => format!("Acts on run {}; the checks decide", short_id(head)),
    };
    Ok((!acts.is_empty()).then(|| table(&caption, &acts, decisions)))
}

fn form(desk: &Desk<'_>, head: &Head, tag: Option<&str>) -> Form {
    let mut kinds = vec![
        ("release_record", "release this run"),
        ("hold_record", "hold this run"),
    ];
    if tag.is_some() {
        kinds.extend([
            (
                "release_tag",
                "release all runs of this submitter, future ones too",
            ),
            (
                "hold_tag",
                "hold all runs of this submitter, future ones too",
            ),
        ]);
    }
    let kinds = kinds.into_iter();
    let kinds = kinds.map(|(value, name)| (value.to_owned(), name.to_owned()));
    desk.form(
        "Decide",
        vec![
            Field::choice("kind", "Decision", None, kinds.collect()),
            Field::hidden("record", &head.id.to_string()),
            Field::hidden("tag", tag.unwrap_or_default()),
        ],
    )
}

//! The page of a run: its checks, and the program's report on it.

use cardmark_catalog::explanation;
use cardmark_core::{OriginKind, Record, name_of};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::{answer_of_run, run_title, survey};
use cardmark_share::{Check, CheckOutcome, counts, fits_product};
use uuid::Uuid;

use crate::addresses;
use crate::frame::{Page, sentence};
use crate::pages::history;
use crate::queries::Queries;
use crate::views::run::{Run, RunState};

/// A run, with the report on its record. `origin` is the scheme and host under which the page is read.
///
/// # Errors
/// If its record cannot be read.
pub async fn run<Q: Queries>(queries: &Q, run: Run, origin: String) -> Result<Page, Q::Error> {
    let record = queries.record(run.listed.id).await?;
    let is_mine = queries.is_personal();
    let draw = move || {
        let page = page(&run, &record, is_mine);
        match is_mine {
            true => of_the_owner(page, &record),
            false => of_a_site(page, run.listed.id, &origin),
        }
    };
    queries.work(draw).await
}

fn page(run: &Run, record: &Record, is_mine: bool) -> Page {
    let listed = &run.listed;
    let title = listed.product_name.clone();
    let title = title.unwrap_or_else(|| run_title(record));
    let document = survey(&title, std::slice::from_ref(record));
    // Nobody has to prove anything to himself.
    let standing = match is_mine {
        true => Vec::new(),
        false => standing(run),
    };
    let mut blocks = match is_clean(run) && listed.state == RunState::Shared {
        true => [document.blocks, standing].concat(),
        false => [standing, document.blocks].concat(),
    };
    blocks.extend(stated(record));
    let on = listed.board.as_ref().map(|board| format!(" on {board}"));
    let about = match answer_of_run(record) {
        Some(answer) => format!("{}{}.", answer.sentence, on.unwrap_or_default()),
        None => format!("Measured{}", on.unwrap_or_default()),
    };
    let mut page = Page::new(document.title, about, blocks);
    let is_simulated = record.origin.kind == OriginKind::Simulated;
    // Neither a simulated board nor a product without a run that counts has a page.
    if let Some(board) = listed.board.as_ref().filter(|_| !is_simulated) {
        page = page.link("Board", addresses::board(board));
    }
    if let (Some(key), Some(name)) = (&listed.product, &listed.product_name) {
        let simulated = is_simulated.then_some("true");
        let of_product = [("product", Some(name.as_str())), ("simulated", simulated)];
        page = match !is_simulated && listed.state == RunState::Shared {
            true => page.link("Product", addresses::product(key)),
            false => page.link("Runs of the product", addresses::with("/runs", &of_product)),
        };
    }
    if let Some(number) = listed.decided_by {
        page = page.link(format!("Act {number}"), addresses::act(number));
    }
    let id = listed.id.to_string();
    page.link(
        "Compare",
        addresses::with("/compare", &[("base", Some(id.as_str()))]),
    )
    .link("Record", format!("/api/v1/records/{id}/document"))
    .link("As data", format!("/api/v1/records/{id}"))
}

/// The page in the personal instance, where nothing was sent.
fn of_the_owner(page: Page, record: &Record) -> Page {
    let page = match history::name_of(record) {
        Some(card) => page.link("History of the card", addresses::history(&card)),
        None => page,
    };
    page.link("Record", addresses::record(record.id))
}

fn of_a_site(page: Page, id: Uuid, origin: &str) -> Page {
    let (id, path) = (id.to_string(), addresses::run(id));
    page.pictured(origin, &path)
        .link("Badge", addresses::badge(&path))
        .link(
            "Withdraw",
            addresses::with("/submission", &[("id", Some(id.as_str()))]),
        )
}

/// Labels that the owner stated.
fn stated(record: &Record) -> Option<Block> {
    let points = record.labels.iter();
    let points: Vec<String> = points
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    (!points.is_empty()).then(|| Block::Details {
        title: "Stated by its owner".to_owned(),
        blocks: vec![Block::List(points)],
    })
}

/// Level and checks, those that failed first.
fn standing(run: &Run) -> Vec<Block> {
    let listed = &run.listed;
    let level = sentence(&name_of(&listed.level).replace('_', " "));
    let mut text = level.trim_end_matches('.').to_owned();
    text += &format!("; received on {}", listed.received_on);
    text += &match (listed.state, listed.decided_by) {
        (RunState::Quarantined, None) => "; quarantined: it counts nowhere".to_owned(),
        (RunState::Quarantined, Some(number)) => {
            format!("; quarantined by act {number} of a moderator: it counts nowhere")
        }
        (_, Some(number)) => format!("; shared by act {number} of a moderator"),
        (_, None) => String::new(),
    };
    if listed.state == RunState::Shared {
        text += match (counts(&run.checks), fits_product(&run.checks)) {
            (false, _) => "; no figure of a product counts it",
            (true, false) => {
                "; the device contradicts the product, and no figure of it counts the run"
            }
            (true, true) => "",
        };
    }
    let mut checks: Vec<&Check> = run.checks.iter().collect();
    checks.sort_by_key(|check| order(check.outcome));
    let row = |check: &&Check| {
        let title = explanation(&check.name.term()).map(|known| known.title.clone());
        let cells = vec![
            title.unwrap_or_else(|| check.name.term()),
            word(check.outcome).to_owned(),
            check.reason.clone(),
        ];
        Row::new(cells).linked("/checks")
    };
    let table = Block::Table {
        caption: "Checks of the site; none is a proof".to_owned(),
        table: Table {
            columns: vec![
                Column::left("check"),
                Column::left("result"),
                Column::left(""),
            ],
            rows: checks.iter().map(row).collect(),
        },
    };
    let table = match is_clean(run) {
        true => Block::Details {
            title: "Checks: nothing speaks against this run".to_owned(),
            blocks: vec![table],
        },
        false => table,
    };
    vec![Block::Text(format!("{text}.")), table]
}

/// True if no check speaks against the run.
fn is_clean(run: &Run) -> bool {
    run.checks.iter().all(|check| order(check.outcome) > 2)
}

fn order(outcome: CheckOutcome) -> u8 {
    match outcome {
        CheckOutcome::Failed => 0,
        CheckOutcome::NotCounted => 1,
        CheckOutcome::Marked => 2,
        CheckOutcome::Passed => 3,
        CheckOutcome::CannotTell => 4,
    }
}

fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Failed => "failed",
        CheckOutcome::Marked => "marked",
        CheckOutcome::NotCounted => "not counted",
        CheckOutcome::Passed => "passed",
        CheckOutcome::CannotTell => "cannot tell",
    }
}

//! The page of a run: its checks, and the program's report on it.

use cardmark_catalog::explanation;
use cardmark_core::{OriginKind, Record, name_of};
use cardmark_judge::standing_among;
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::figure;
use cardmark_report::{Weight, answer_of_run, place_line, plain_name, run_title, survey};
use cardmark_share::{Check, CheckOutcome, Extract, counts, fits_product};
use uuid::Uuid;

use crate::addresses;
use crate::frame::{Page, sentence};
use crate::pages::{figures, history};
use crate::queries::Queries;
use crate::views::product::{ProductView, SummaryView};
use crate::views::published::all_records;
use crate::views::run::{Run, RunState};

/// Rates that stand beside those of others.
const MOST_BESIDE: usize = 6;

/// A run, with the report on its record. `origin` is the scheme and host under which the page is read.
///
/// # Errors
/// If its record cannot be read.
pub async fn run<Q: Queries>(queries: &Q, run: Run, origin: String) -> Result<Page, Q::Error> {
    let record = queries.record(run.listed.id).await?;
    let is_mine = queries.is_personal();
    let is_simulated = record.origin.kind == OriginKind::Simulated;
    // Neither a simulated card nor one whose run does not count has a product to stand beside.
    let product = match &run.listed.product {
        Some(key) if !is_simulated && run.listed.state == RunState::Shared => {
            queries.product(key, None).await.ok()
        }
        _ => None,
    };
    let draw = move || {
        let page = page(&run, &record, product.as_ref(), is_mine);
        match is_mine {
            true => of_the_owner(page, &record),
            false => of_a_site(page, run.listed.id, &origin),
        }
    };
    queries.work(draw).await
}

fn page(run: &Run, record: &Record, product: Option<&ProductView>, is_mine: bool) -> Page {
    let listed = &run.listed;
    let title = listed.product_name.clone();
    let title = title.unwrap_or_else(|| run_title(record));
    let mut report: Vec<Block> = survey(&title, std::slice::from_ref(record)).blocks;
    report.iter_mut().for_each(without_ids);
    let is_answer = |block: &Block| matches!(block, Block::Answer { .. });
    let rest = report.split_off(report.iter().take_while(|block| is_answer(block)).count());
    let mut head = report;
    head.extend(beside_others(record, product));
    // Nobody has to prove anything to himself.
    let standing = match is_mine {
        true => Vec::new(),
        false => standing(run),
    };
    let is_counted = listed.state == RunState::Shared && counts(&run.checks);
    let mut blocks = match is_counted {
        true if is_clean(run) => [rest, standing].concat(),
        // A mark changes nothing, and a fake is one whatever it was sold as: the answer comes first.
        true => {
            head.extend(standing);
            rest
        }
        // A run that does not count begins with the reason.
        false => {
            head.splice(0..0, standing);
            rest
        }
    };
    blocks.extend(stated(record));
    let measured = match &listed.board {
        Some(board) => format!("Measured on {board}."),
        None => "Board unknown.".to_owned(),
    };
    let about = match answer_of_run(record) {
        Some(answer) => format!("{}. {measured}", answer.sentence),
        None => measured,
    };
    let mut page = Page::new(title, about, blocks).answered(head, Vec::new());
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

/// Leaves out the column with the ids of metrics, which are for programs.
fn without_ids(block: &mut Block) {
    if let Block::Table { table, .. } = block {
        let is_id = |column: &Column| column.title == "id";
        if let Some(index) = table.columns.iter().position(is_id) {
            table.remove_column(index);
        }
    }
}

/// The rates of the run beside the medians of its product, and its place among published cards.
fn beside_others(record: &Record, product: Option<&ProductView>) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(product.and_then(|product| beside_product(record, product)));
    if let Some(among) = standing_among(record, all_records()) {
        let line = place_line(&among);
        let line = line.split(" · ").next().unwrap_or_default();
        blocks.push(Block::Text(format!("{line}.")));
    }
    blocks
}

/// The rates of the run beside the medians of its product under the same circumstances; `None` if nobody else measured it so.
fn beside_product(record: &Record, product: &ProductView) -> Option<Block> {
    let context = Extract::of(record).context;
    let is_same = |all: &&SummaryView| all.context == context && all.submitters_count > 1;
    let all = product.summaries.iter().filter(is_same).collect();
    let row = |all: &SummaryView| {
        let own = record.metric(&all.metric)?;
        let ratio = own.value / all.median;
        let row = Row::new(vec![
            plain_name(&all.metric),
            figures::shown(all, own.value),
            figures::shown(all, all.median),
            figure(ratio),
            all.submitters_count.to_string(),
        ]);
        let values = vec![None, Some(own.value), Some(all.median), Some(ratio)];
        own.quantity.is_rate().then(|| row.valued(values))
    };
    let all: Vec<&SummaryView> = figures::offered_first(all, |all| all.metric.as_str());
    let rows: Vec<Row> = all.into_iter().filter_map(row).take(MOST_BESIDE).collect();
    let columns = [
        Column::left(""),
        Column::right("this run"),
        Column::right("median of all"),
        Column::right("ratio"),
        Column::right("people"),
    ];
    (!rows.is_empty()).then(|| Block::Table {
        caption: format!(
            "Beside other cards of {}, under the same circumstances; 1 is as fast",
            product.entry.name
        ),
        table: Table {
            columns: columns.into(),
            rows,
        },
    })
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
    let row = |check: &&Check| {
        let title = explanation(&check.name.term()).map(|known| known.title.clone());
        let cells = vec![
            title.unwrap_or_else(|| check.name.term()),
            word(check.outcome).to_owned(),
            check.reason.clone(),
        ];
        Row::new(cells).linked("/checks")
    };
    let table = |checks: &[&Check]| Block::Table {
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
    let mut checks: Vec<&Check> = run.checks.iter().collect();
    checks.sort_by_key(|check| order(check.outcome));
    let at = checks.partition_point(|check| speaks_against(check));
    let (against, others) = checks.split_at(at);
    let text = Block::Text(format!("{text}."));
    let title = match against.is_empty() {
        true => "Checks of the site: no contradiction in this file",
        false => "Other checks of the site",
    };
    let folded = Block::Details {
        title: title.to_owned(),
        blocks: vec![table(others)],
    };
    let is_counted = counts(&run.checks) && fits_product(&run.checks);
    let text = match is_counted && listed.state == RunState::Shared {
        true => text,
        false => warning(text),
    };
    let against = (!against.is_empty()).then(|| table(against));
    let blocks = [Some(text), against, Some(folded)].into_iter();
    blocks.flatten().collect()
}

fn warning(text: Block) -> Block {
    Block::Answer {
        weight: Weight::Warning,
        blocks: vec![text],
    }
}

fn speaks_against(check: &Check) -> bool {
    order(check.outcome) <= 2
}

/// True if no check speaks against the run.
fn is_clean(run: &Run) -> bool {
    !run.checks.iter().any(speaks_against)
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

//! Cards of a computer's own runs, and the history of each: the answers of `cardmark history`.

use cardmark_core::{DeviceInfo, OriginKind, Record};
use cardmark_judge::{by_card, history};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::count_of;
use cardmark_report::{card_name, history_blocks};

use crate::addresses;
use crate::frame::Page;

/// Cards that the list has.
const MOST_CARDS: usize = 500;

/// The name by which `cardmark history` finds the card of a run; `None` if it is not known.
pub fn name_of(run: &Record) -> Option<String> {
    let device = run.devices.first();
    if let Some(id) = device.and_then(DeviceInfo::card_id) {
        return Some(id.to_owned());
    }
    if let Some(label) = run.labels.get("sample") {
        return Some(format!("{SAMPLE}{label}"));
    }
    let model = device?.model.as_ref()?;
    (run.origin.kind == OriginKind::Simulated).then(|| format!("{SIMULATED}{model}"))
}

/// Before the name of a simulated card.
pub const SIMULATED: &str = "sim:";
/// Before the name that its owner gave to a card.
pub const SAMPLE: &str = "sample=";

/// The cards of runs.
pub fn cards(runs: Vec<Record>) -> Page {
    let cards = by_card(runs);
    let count = cards.len();
    let row = |(id, runs): (String, Vec<Record>)| {
        let name = runs.last().map_or_else(|| id.clone(), card_name);
        let day = |run: Option<&Record>| {
            let start = run.and_then(|run| run.started_at.as_deref());
            start.and_then(|at| at.get(..10)).unwrap_or("–").to_owned()
        };
        let (first, last) = (day(runs.first()), day(runs.last()));
        Row::new(vec![name, runs.len().to_string(), first, last]).linked(addresses::history(&id))
    };
    let rows: Vec<Row> = cards.into_iter().take(MOST_CARDS).map(row).collect();
    let blocks = match rows.is_empty() {
        true => vec![Block::Text(
            "No run is of an identifiable card: no CID or serial number was readable. The pages of runs lead to the history of cards that \
             are simulated or have a label `sample`."
                .to_owned(),
        )],
        false => vec![Block::Table {
            caption: match count > MOST_CARDS {
                true => format!("{MOST_CARDS} of {count} cards"),
                false => "Cards with an id of their own".to_owned(),
            },
            table: Table {
                columns: vec![
                    Column::left("card"),
                    Column::right("runs"),
                    Column::left("first"),
                    Column::left("last"),
                ],
                rows,
            },
        }],
    };
    Page::new("Cards", "Cards of this computer's runs.", blocks)
}

/// The history of a card with this name, from its runs in the order of time.
pub fn card(name: String, runs: &[Record]) -> Page {
    let name = runs.last().map_or(name, card_name);
    let page = Page::new(name, "Runs of a card in the order of time.", blocks(runs));
    page.link("All cards", "/history")
}

fn blocks(runs: &[Record]) -> Vec<Block> {
    let groups = history(runs, &[]);
    if groups.is_empty() {
        return vec![Block::Text(
            "The runs of this card have no rates.".to_owned(),
        )];
    }
    let count = groups.iter().map(|group| group.runs.len()).sum::<usize>();
    let mut blocks = vec![Block::Text(format!(
        "{} with rates, and whether the rates changed.",
        count_of(count, "run", "runs")
    ))];
    blocks.extend(history_blocks(&groups, |run| addresses::run(run.id)));
    blocks
}

//! Comparison of runs.

use cardmark_core::Record;
use cardmark_judge::{Compared, NotComparable, compare_sides};
use cardmark_report::document::Block;
use cardmark_report::{Comparison, comparison_blocks, plain_name, run_title, side_names};
use cardmark_share::Problem;
use serde::Deserialize;
use uuid::Uuid;

use crate::addresses;
use crate::frame::{Field, Form, Page};
use crate::queries::{Queries, bad_request, problem};

/// Two sides: runs, and what may differ between them, or products.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComparePageQuery {
    /// Name of a product, or ids of the runs of the base, separated by commas.
    #[serde(default)]
    pub base: String,
    /// Name of a product, or ids of the runs of the other side.
    #[serde(default)]
    pub other: String,
    /// Names of the context that may differ, separated by commas.
    #[serde(default)]
    pub across: String,
}

impl ComparePageQuery {
    /// Returns whether a side is missing.
    pub fn is_incomplete(&self) -> bool {
        self.base.is_empty() || self.other.is_empty()
    }

    /// Returns whether both sides are runs, by their ids; otherwise they are products, by their names.
    pub fn is_of_runs(&self) -> bool {
        self.sides().is_ok()
    }

    /// The ids of the runs of both sides.
    ///
    /// # Errors
    /// If a side is no list of ids, or too long.
    pub fn sides(&self) -> Result<[Vec<Uuid>; 2], Problem> {
        let ids = |side: &str| ids_of(&side.split_whitespace().collect::<String>());
        Ok([ids(&self.base)?, ids(&self.other)?])
    }
}

/// Most runs of a side.
const MOST_RUNS: usize = 8;

/// Reads the ids of a side, which are separated by commas.
///
/// # Errors
/// If one is no id, or there are more than eight.
pub fn ids_of(side: &str) -> Result<Vec<Uuid>, Problem> {
    let ids: Vec<&str> = side.split(',').collect();
    if ids.len() > MOST_RUNS {
        return Err(bad_request(format!("a side has at most {MOST_RUNS} runs")));
    }
    let wrong = |_| bad_request("a side is a list of ids of runs");
    let ids = ids.into_iter().map(|id| id.parse().map_err(wrong));
    ids.collect()
}

/// The form for a comparison.
pub fn begin(asked: &ComparePageQuery) -> Page {
    let text = "Name two products, such as Evo Plus 64 and Extreme 64; or the runs of both sides by their ids, several of a side with \
                commas between them. The page of a run holds its id.";
    Page::new("Compare", ABOUT, vec![Block::Text(text.to_owned())]).form(form(asked))
}

/// A comparison.
///
/// # Errors
/// If the sides cannot be compared, or a query has no answer.
pub async fn compare<Q: Queries>(queries: &Q, asked: ComparePageQuery) -> Result<Page, Q::Error> {
    let [base, other] = asked.sides()?;
    let (base, other) = (
        records(queries, &base).await?,
        records(queries, &other).await?,
    );
    let draw = move || -> Result<Page, Problem> {
        let blocks = blocks(&base, &other, &asked.across)?;
        let parameters = [
            ("base", Some(asked.base.as_str())),
            ("other", Some(asked.other.as_str())),
            ("across", Some(asked.across.as_str())),
        ];
        let address = addresses::with("/api/v1/compare", &parameters);
        let page = Page::new("Compare", ABOUT, blocks).form(form(&asked));
        Ok(page.link("As data", address))
    };
    Ok(queries.work(draw).await??)
}

/// The records of runs, derived.
///
/// # Errors
/// If a query has no answer.
pub async fn records<Q: Queries>(queries: &Q, ids: &[Uuid]) -> Result<Vec<Record>, Q::Error> {
    let mut records = Vec::new();
    for id in ids {
        records.push(queries.record(*id).await?);
    }
    Ok(records)
}

pub(super) const ABOUT: &str =
    "Two cards beside each other: which is faster, by how much, and how sure that is.";

fn blocks(base: &[Record], other: &[Record], across: &str) -> Result<Vec<Block>, Problem> {
    let across: Vec<String> = across
        .split(',')
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .collect();
    let sides = [base.iter().collect(), other.iter().collect()];
    let results = compared_sides(&sides, &[], &across)?;
    let name = |side: &[Record]| side.first().map(run_title).unwrap_or_default();
    let titles = [name(base), name(other)];
    let given = ["the base", "the other"];
    let [base, other] = match titles[0] == titles[1] {
        true => side_names(given, [sides[0].as_slice(), sides[1].as_slice()]),
        false => titles,
    };
    let mut blocks = comparison_blocks(&Comparison {
        base: &base,
        other: &other,
        results: &results,
        across: &across,
        repeat: None,
    });
    blocks.iter_mut().for_each(name_latencies);
    Ok(blocks)
}

/// Replaces ids of latencies by words.
fn name_latencies(block: &mut Block) {
    match block {
        Block::Table { table, .. } => {
            let names = table
                .rows
                .iter_mut()
                .filter_map(|row| row.cells.first_mut());
            names.for_each(|name| *name = latencies_named(name));
        }
        Block::List(points) => points
            .iter_mut()
            .for_each(|point| *point = latencies_named(point)),
        _ => {}
    }
}

/// The text with `random read 4 KiB: 99 % latency` in the place of `rand_read_4k_p99`.
fn latencies_named(text: &str) -> String {
    let named = |word: &str| {
        let id = word.trim_end_matches([',', ';']);
        let of = |end: &str, latency: &str| {
            let metric = id.strip_suffix(end)?;
            Some(format!(
                "{}: {latency}{}",
                plain_name(metric),
                &word[id.len()..]
            ))
        };
        let name = of("_p50", "median latency").or_else(|| of("_p99", "99 % latency"));
        name.unwrap_or_else(|| word.to_owned())
    };
    let words: Vec<String> = text.split(' ').map(named).collect();
    words.join(" ")
}

pub(super) fn form(query: &ComparePageQuery) -> Form {
    let text = |name, label, value: &str| Field::text(name, label, Some(value));
    let mut fields = vec![
        text("base", "One card, or ids of runs", &query.base),
        text("other", "Another", &query.other),
    ];
    if query.is_of_runs() {
        let label = "What may differ, such as board";
        fields.push(text("across", label, &query.across));
    }
    Form::asking("/compare", "Compare", fields)
}

/// Compares two sides, with an answer for the reasons not to.
///
/// # Errors
/// If they cannot be compared.
pub fn compared_sides(
    sides: &[Vec<&Record>; 2],
    metrics: &[String],
    across: &[String],
) -> Result<Compared, Problem> {
    compare_sides(sides, metrics, across).map_err(not_comparable)
}

fn not_comparable(reason: NotComparable) -> Problem {
    let detail = match reason {
        NotComparable::OnBothSides(run) => format!("run {run} is on both sides"),
        NotComparable::NoFigures { .. } => "the runs of one side measured no speed".to_owned(),
        NotComparable::UnknownStorage { id, reason } => format!("run {id}: {reason}"),
        NotComparable::Mixtures { .. } => {
            "a side is a mixture of products that the other does not have".to_owned()
        }
        NotComparable::UnknownContext { name, known } => {
            format!(
                "`{name}` is not part of the context; there is: {}",
                known.join(", ")
            )
        }
        NotComparable::Differ(rows) => {
            let names: Vec<String> = rows.into_iter().map(|row| row.name).collect();
            format!(
                "circumstances differ: {}; `across` lists those that may",
                names.join(", ")
            )
        }
        NotComparable::NoMetric => "none of the metrics is on both sides".to_owned(),
    };
    problem(
        422,
        "not-comparable",
        "The sides cannot be compared",
        detail,
    )
}

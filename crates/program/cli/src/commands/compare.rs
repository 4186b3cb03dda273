//! `cardmark compare`.

use std::collections::BTreeSet;

use cardmark_catalog::{product, product_name};
use cardmark_core::{ContextRow, OriginKind, Record};
use cardmark_judge::{CommonPlace, Compared, NotComparable, common_places, compare_sides};
use cardmark_report::{
    Comparison, Overview, circumstances, comparison, comparison_json, overview, wrap,
};
use serde_json::json;

use crate::args::CompareArguments;
use crate::error::{CommandError, Exit};
use crate::runs::{Runs, Side};
use crate::terminal::print;

/// Compares each further side with the first.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Exit, CommandError> {
    let mut runs = Runs::with_published(arguments.board.as_ref());
    let base = runs.compared(&arguments.base)?;
    let (mut shown, mut in_short) = (Vec::new(), Vec::new());
    for name in &arguments.others {
        let other = runs.compared(name)?;
        if base.is_of_product && other.is_of_product {
            let compared = in_each_place(arguments, &base, name, &other)?;
            let mut all = base.records.iter().chain(&other.records);
            let is_published = all.all(|record| record.origin.kind == OriginKind::Published);
            let names = [arguments.base.as_str(), name];
            in_short.extend(in_all_places(names, &compared, is_published));
            shown.extend(compared);
        } else {
            let sides = [&base, &other].map(|side| side.records.iter().collect());
            shown.push(one(arguments, [&arguments.base, name], &sides)?);
        }
    }
    if arguments.json {
        let all: Vec<_> = shown.iter().map(|one| one.as_json.clone()).collect();
        print::data(&format!("{:#}\n", json!(all)))?;
    } else {
        let details = shown.iter().map(|one| one.text.clone());
        let texts: Vec<String> = in_short.into_iter().chain(details).collect();
        print::result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// The results of several places in short.
fn in_all_places(
    names: [&str; 2],
    compared: &[ComparisonOutput],
    is_published: bool,
) -> Option<String> {
    let [base, other] = names;
    let places = compared.iter().map(|one| (one.place.clone(), &one.results));
    let places: Vec<_> = places.collect();
    let of = Overview {
        base,
        other,
        places: &places,
        is_published,
    };
    let has_rates = places
        .iter()
        .any(|(_, found)| !found.differences.is_empty());
    has_rates.then(|| overview(&of, print::width(), print::style()))
}

/// Compares two products wherever both were measured.
fn in_each_place(
    arguments: &CompareArguments,
    base: &Side,
    name: &str,
    other: &Side,
) -> Result<Vec<ComparisonOutput>, CommandError> {
    let names = [&arguments.base, name];
    if [base, other]
        .iter()
        .any(|side| lines_count(&side.records) > 1)
    {
        let of = |side: &Side| products(&side.records.iter().collect::<Vec<_>>());
        return Err(several(names, [of(base), of(other)]));
    }
    let mut places = common_places([&base.records, &other.records]);
    if places.is_empty() {
        let is_across = arguments.across.iter().any(|name| name == "board");
        let may_differ = is_across || (base.names_board && other.names_board);
        if !may_differ {
            return Err(nowhere(names, [base, other]));
        }
        let sides = [base, other].map(|side| side.records.iter().collect());
        return Ok(vec![one(arguments, names, &sides)?]);
    }
    let is_of_one =
        |place: &CommonPlace<'_>| place.sides.iter().all(|side| products(side).len() < 2);
    if !places.iter().any(is_of_one) {
        let of = |index: usize| {
            places
                .iter()
                .flat_map(move |place| products(&place.sides[index]))
        };
        return Err(several(names, [of(0).collect(), of(1).collect()]));
    }
    places.retain(is_of_one);
    let used: usize = places
        .iter()
        .flat_map(|place| &place.sides)
        .map(Vec::len)
        .sum();
    let left_out = (base.records.len() + other.records.len()).saturating_sub(used);
    if left_out > 0 {
        let text = format!(
            "left out: {left_out} of the runs, in circumstances that the other side does not have"
        );
        print::notice(&wrap(&text, print::width(), 2).join("\n"));
    }
    let compared = |place: CommonPlace<'_>| {
        let called = |index: usize| match products(&place.sides[index]).first() {
            Some(product) if place.name.is_empty() => product.clone(),
            Some(product) => format!("{product} on {}", place.name),
            None => names[index].to_owned(),
        };
        let names = [called(0), called(1)];
        let compared = one(arguments, [&names[0], &names[1]], &place.sides)?;
        Ok(ComparisonOutput {
            place: place.name,
            ..compared
        })
    };
    places.into_iter().map(compared).collect()
}

/// The products of these runs.
fn products(records: &[&Record]) -> Vec<String> {
    let labels = records
        .iter()
        .filter_map(|record| record.labels.get("product"));
    let names: BTreeSet<String> = labels.map(|label| product_name(label)).collect();
    names.into_iter().collect()
}

/// The error for products that were never measured on the same board.
fn nowhere(names: [&str; 2], sides: [&Side; 2]) -> CommandError {
    let boards = |side: &Side| -> String {
        let boards = side
            .records
            .iter()
            .map(|record| record.board.as_ref()?.model.as_deref());
        let boards: BTreeSet<&str> = boards
            .map(|board| board.unwrap_or("an unknown board"))
            .collect();
        boards.into_iter().collect::<Vec<_>>().join(", ")
    };
    let causes = [0, 1].map(|index| format!("`{}` on {}", names[index], boards(sides[index])));
    let what = "these products were not measured on the same board";
    CommandError::new(Exit::Usage, what)
        .because(causes.join("; "))
        .hint("`--across board` compares them all the same; the boards may be the difference")
}

/// The number of product lines of these runs: products of one line differ in their capacity only.
fn lines_count(records: &[Record]) -> usize {
    let labels = records
        .iter()
        .filter_map(|record| record.labels.get("product"));
    let line = |label: &String| match product(label) {
        Some(product) => format!("{} {}", product.brand, product.line),
        None => label.clone(),
    };
    labels.map(line).collect::<BTreeSet<_>>().len()
}

/// The error for a name of several products.
fn several(names: [&str; 2], products: [Vec<String>; 2]) -> CommandError {
    let mut causes = Vec::new();
    for (name, products) in names.iter().zip(products) {
        let distinct: BTreeSet<String> = products.into_iter().collect();
        if distinct.len() > 1 {
            let distinct: Vec<String> = distinct.into_iter().collect();
            causes.push(format!("`{name}` is {}", distinct.join(", ")));
        }
    }
    CommandError::new(Exit::Usage, "a side has several products")
        .because(causes.join("; "))
        .hint("name one product on each side")
}

/// A comparison, for people and for programs.
struct ComparisonOutput {
    /// Board, setting and publication of both sides, if they are compared place by place.
    place: String,
    results: Compared,
    text: String,
    as_json: serde_json::Value,
}

fn one(
    arguments: &CompareArguments,
    names: [&str; 2],
    sides: &[Vec<&Record>; 2],
) -> Result<ComparisonOutput, CommandError> {
    let [base, other] = names;
    let results = compare_sides(sides, &arguments.metrics, &arguments.across)
        .map_err(|reason| refusal(reason, names, &arguments.metrics))?;
    let text = comparison(
        &Comparison {
            base,
            other,
            results: &results,
            repeat: repeat(sides).as_deref(),
            across: &arguments.across,
        },
        print::width(),
        print::style(),
    );
    let as_json = comparison_json(names, sides, &results, &arguments.across);
    Ok(ComparisonOutput {
        place: String::new(),
        results,
        text,
        as_json,
    })
}

/// The command that makes another run of the first side with one run.
fn repeat(sides: &[Vec<&Record>; 2]) -> Option<String> {
    let side = sides.iter().find(|side| side.len() == 1)?;
    let suite = &side.first()?.suite.as_ref()?.name;
    let model = side.first()?.origin.source.as_deref();
    let target = match model {
        Some(model) if side.first()?.origin.kind == OriginKind::Simulated => {
            let model = model.strip_prefix("sim:").unwrap_or(model);
            format!("sim:{model} --seed 2")
        }
        _ => "TARGET".to_owned(),
    };
    Some(format!("cardmark run {target} --suite {suite}"))
}

/// The error for sides that cannot be compared.
fn refusal(reason: NotComparable, names: [&str; 2], metrics: &[String]) -> CommandError {
    let error = |what: &str| CommandError::new(Exit::Usage, what);
    match reason {
        NotComparable::OnBothSides(run) => error(&format!("run {run} is on both sides")),
        NotComparable::UnknownStorage { id, reason } => {
            error("runs of a known device and of storage that is not known do not compare")
                .because(format!("run {id}: {reason}"))
        }
        NotComparable::Mixtures { common } => {
            let [base, other] = names;
            error(&format!("`{base}` and `{other}` are mixtures of products"))
                .because("their means depend on which products happened to be measured")
                .hint(match common.as_slice() {
                    [] => "name one product on each side: `product=…`".to_owned(),
                    common => format!(
                        "name one product on each side; on both is {}",
                        common.join(", ")
                    ),
                })
        }
        NotComparable::UnknownContext { name, known } => {
            error(&format!("no part of the context is called `{name}`"))
                .hint(format!("available: {}", known.join(", ")))
        }
        NotComparable::Differ(rows) => differ(&rows),
        NotComparable::NoMetric => error(&format!(
            "no figures of {} on both sides",
            metrics.join(", ")
        ))
        .hint("without `--metric`, all metrics of both sides are compared"),
    }
}

fn differ(rows: &[ContextRow]) -> CommandError {
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let causes: Vec<String> = rows.iter().map(difference).collect();
    let error = CommandError::new(Exit::Usage, "these runs cannot be compared as they are")
        .because(causes.join("; "));
    let across = format!(
        "`--across {}` compares them all the same; the difference may come from any of these",
        names.join(",")
    );
    match rows
        .iter()
        .find(|row| is_mixed(row) && is_condition(&row.name))
    {
        Some(row) => error.hint(format!(
            "name one on each side, such as `product=…,{}={}`; {across}",
            row.name,
            as_condition(row)
        )),
        None => error.hint(across),
    }
}

/// The first value as a condition has it: a suite without its version.
fn as_condition(row: &ContextRow) -> &str {
    let value = row.sides[0][0].as_str();
    let name = value.split(' ').next().filter(|_| row.name == "suite");
    name.unwrap_or(value)
}

/// True if each side has several values, the same ones.
fn is_mixed(row: &ContextRow) -> bool {
    row.sides
        .iter()
        .all(|side| side.len() > 1 && *side == row.sides[0])
}

/// True for parts of the context that conditions for runs can name.
fn is_condition(name: &str) -> bool {
    ["suite", "origin", "bus", "command_queue"].contains(&name)
}

fn difference(row: &ContextRow) -> String {
    let sides = circumstances(row).into_iter().map(|side| side.join(", "));
    let sides: Vec<String> = sides.collect();
    match is_mixed(row) {
        true => format!(
            "each side has runs with different {} ({})",
            row.name, sides[0]
        ),
        false => format!("they differ in {} ({})", row.name, sides.join(" against ")),
    }
}

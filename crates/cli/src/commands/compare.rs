//! `cardmark compare`.

use cardmark_core::{ContextRow, OriginKind, Record, context_rows};
use cardmark_judge::known_spread;
use cardmark_report::{Comparison, Counts, circumstances, comparison};
use cardmark_stats::{
    Pair, Products, cards_count, claim_of, compare_with_stalls, pairs, stall_pairs,
};
use serde_json::json;

use crate::args::CompareArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::Runs;

/// Compares each further side with the first.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Exit, CommandError> {
    let mut runs = Runs::default();
    let base = runs.side(&arguments.base)?;
    let mut told = Vec::new();
    for name in &arguments.others {
        let other = runs.side(name)?;
        told.push(one(arguments, &base, name, &other)?);
    }
    if arguments.json {
        let all: Vec<_> = told.iter().map(|one| one.as_json.clone()).collect();
        print::result(&format!("{:#}\n", json!(all)))?;
    } else {
        let texts: Vec<&str> = told.iter().map(|one| one.text.as_str()).collect();
        print::result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// A comparison, for people and for programs.
struct Told {
    text: String,
    as_json: serde_json::Value,
}

fn one(
    arguments: &CompareArguments,
    base: &[Record],
    name: &str,
    other: &[Record],
) -> Result<Told, CommandError> {
    let sides = [base.iter().collect::<Vec<_>>(), other.iter().collect()];
    apart(&sides, [arguments.base.as_str(), name])?;
    let context = context_rows(&sides);
    allow(&context, &arguments.across)?;
    let products = Products::of(&sides[0], &sides[1]);
    let mut pairs = pairs(&sides[0], &sides[1]);
    pairs.iter_mut().for_each(with_published_spread);
    let mut stalls = stall_pairs(&sides[0], &sides[1]);
    if products.are_matched() {
        // Counts of several products are no counts of one process.
        stalls.clear();
    }
    if !arguments.metrics.is_empty() {
        pairs.retain(|pair| arguments.metrics.contains(&pair.metric));
        stalls.retain(|pair| arguments.metrics.contains(&pair.metric));
        if pairs.is_empty() {
            let what = format!(
                "no figures of {} on both sides",
                arguments.metrics.join(", ")
            );
            return Err(CommandError::new(Exit::Usage, what)
                .hint("without `--metric` all that there is on both is compared"));
        }
    }
    let (differences, stalls) = compare_with_stalls(&pairs, &stalls);
    let left_out: Vec<String> = match products.are_matched() {
        true => products.one.into_iter().collect(),
        false => Vec::new(),
    };
    let counts = sides.clone().map(|side| counts(&side, &left_out));
    let claim = claim_of(&pairs);
    let text = comparison(
        &Comparison {
            base: &arguments.base,
            other: name,
            counts,
            claim,
            differences: &differences,
            stalls: &stalls,
            repeat: repeat(&sides).as_deref(),
            context: &context,
            across: &arguments.across,
            left_out: &left_out,
        },
        print::width(),
        print::style(),
    );
    let side = |name: &str, records: &[Record]| {
        let runs: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
        json!({ "name": name, "runs": runs })
    };
    let as_json = json!({
        "base": side(&arguments.base, base),
        "other": side(name, other),
        "claim": claim,
        "differences": differences,
        "stalls": stalls,
        "context": context,
        "across": arguments.across,
        "left_out": left_out,
    });
    Ok(Told { text, as_json })
}

/// Adds the spread that was published of the metric's class.
fn with_published_spread(pair: &mut Pair) {
    pair.known = known_spread(&pair.metric, pair.quantity);
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

/// Refuses circumstances that must match, do not, and were not allowed to differ.
fn allow(context: &[ContextRow], across: &[String]) -> Result<(), CommandError> {
    let known: Vec<&str> = context.iter().map(|row| row.name.as_str()).collect();
    if let Some(name) = across.iter().find(|name| !known.contains(&name.as_str())) {
        let what = format!("no part of the context is called `{name}`");
        return Err(
            CommandError::new(Exit::Usage, what).hint(format!("there are {}", known.join(", ")))
        );
    }
    let differing: Vec<&ContextRow> = context
        .iter()
        .filter(|row| row.must_match && row.differs() && !across.contains(&row.name))
        .collect();
    if differing.is_empty() {
        return Ok(());
    }
    let causes: Vec<String> = differing
        .iter()
        .map(|row| {
            let sides = circumstances(row).into_iter().map(|side| side.join(", "));
            let sides: Vec<String> = sides.collect();
            format!("{} ({})", row.name, sides.join(" against "))
        })
        .collect();
    let names: Vec<&str> = differing.iter().map(|row| row.name.as_str()).collect();
    Err(
        CommandError::new(Exit::Usage, "these runs cannot be compared as they are")
            .because(format!("they differ in {}", causes.join("; ")))
            .hint(format!(
                "`--across {}` compares them all the same; the difference then is that of all of it",
                names.join(",")
            )),
    )
}

/// Refuses where a run is on both sides, or where a side is a mixture of products that the other
/// does not have: their mean would depend on which of them happened to be measured.
fn apart(sides: &[Vec<&Record>; 2], names: [&str; 2]) -> Result<(), CommandError> {
    let is_on_both = |record: &&&Record| sides[1].iter().any(|other| other.id == record.id);
    if let Some(record) = sides[0].iter().find(is_on_both) {
        let what = format!("run {} is on both sides", record.id);
        return Err(CommandError::new(Exit::Usage, what));
    }
    let products = Products::of(&sides[0], &sides[1]);
    if !products.are_several || products.are_matched() {
        return Ok(());
    }
    let what = format!("`{}` and `{}` are mixtures of products", names[0], names[1]);
    let common: Vec<String> = products.both.into_iter().collect();
    Err(CommandError::new(Exit::Usage, what)
        .because("their means depend on which products happened to be measured")
        .hint(match common.as_slice() {
            [] => "name one product on each side: `product=…`".to_owned(),
            common => format!(
                "name one product on each side; on both is {}",
                common.join(", ")
            ),
        }))
}

fn counts(records: &[&Record], left_out: &[String]) -> Counts {
    let is_in = |record: &&&Record| {
        let product = record.labels.get("product");
        product.is_none_or(|product| !left_out.contains(product))
    };
    let records: Vec<&Record> = records.iter().filter(is_in).copied().collect();
    Counts {
        runs: records.len(),
        cards: cards_count(&records),
    }
}

//! `cardmark compare`.

use cardmark_core::{ContextRow, OriginKind, Record};
use cardmark_judge::{NotComparable, compare_sides};
use cardmark_report::{Comparison, circumstances, comparison};
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
        print::data(&format!("{:#}\n", json!(all)))?;
    } else {
        let texts: Vec<&str> = told.iter().map(|one| one.text.as_str()).collect();
        print::result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// A comparison, for people and for programs.
struct ComparisonOutput {
    text: String,
    as_json: serde_json::Value,
}

fn one(
    arguments: &CompareArguments,
    base: &[Record],
    name: &str,
    other: &[Record],
) -> Result<ComparisonOutput, CommandError> {
    let sides = [base.iter().collect::<Vec<_>>(), other.iter().collect()];
    let results = compare_sides(&sides, &arguments.metrics, &arguments.across)
        .map_err(|reason| refusal(reason, [&arguments.base, name], &arguments.metrics))?;
    let text = comparison(
        &Comparison {
            base: &arguments.base,
            other: name,
            results: &results,
            repeat: repeat(&sides).as_deref(),
            across: &arguments.across,
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
        "claim": results.claim,
        "differences": results.differences,
        "stalls": results.stalls,
        "context": results.context,
        "across": arguments.across,
        "left_out": results.left_out,
    });
    Ok(ComparisonOutput { text, as_json })
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
                .hint(format!("there are {}", known.join(", ")))
        }
        NotComparable::Differ(rows) => differ(&rows),
        NotComparable::NoMetric => error(&format!(
            "no figures of {} on both sides",
            metrics.join(", ")
        ))
        .hint("without `--metric` all that there is on both is compared"),
    }
}

fn differ(rows: &[ContextRow]) -> CommandError {
    let cause = |row: &ContextRow| {
        let sides = circumstances(row).into_iter().map(|side| side.join(", "));
        let sides: Vec<String> = sides.collect();
        format!("{} ({})", row.name, sides.join(" against "))
    };
    let causes: Vec<String> = rows.iter().map(cause).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    CommandError::new(Exit::Usage, "these runs cannot be compared as they are")
        .because(format!("they differ in {}", causes.join("; ")))
        .hint(format!(
            "`--across {}` compares them all the same; the difference then is that of all of it",
            names.join(",")
        ))
}

//! `cardmark recommend`.

mod durable;

use std::collections::BTreeMap;

use cardmark_catalog::{Use, product_name, products_called, use_of, uses};
use cardmark_judge::{Price, Recommendation, Wish, recommend as recommended};
use cardmark_report::{Recommended, left_by_filters, recommendation};
use serde_json::json;

use crate::args::RecommendArguments;
use crate::error::{CommandError, Exit};
use crate::runs::published_records;
use crate::terminal::print;
use cardmark_session::{Data, store_error};

/// Use that is meant by `--avoid` alone.
const USUAL: &str = "boot";

/// Names the products that suit a use best, from own runs and what others published.
pub(crate) fn recommend(arguments: &RecommendArguments) -> Result<Exit, CommandError> {
    let wanted = wanted(arguments)?;
    if let Some(exit) = durable::answered(arguments, wanted)? {
        return Ok(exit);
    }
    let wish = wish(arguments)?;
    let mut store = Data::from_environment()?.open()?;
    let mut records = store
        .select_distinct(&[])
        .map_err(|error| store_error(&error))?;
    records.extend(published_records());
    let found = recommended(&records, wanted, &wish);
    if found.is_empty() {
        return Err(nothing(&wish, &found));
    }
    let is_answer = arguments.all || !found.cannot_answer();
    if arguments.json {
        let found = json!({ "use": wanted, "recommendation": found });
        print::data(&format!("{found:#}\n"))?;
        return Ok(exit(is_answer));
    }
    if !is_answer {
        return Err(no_answer(&found));
    }
    let text = recommendation(
        &Recommended {
            wanted,
            wish: &wish,
            found: &found,
            all: arguments.all,
        },
        print::width(),
        print::style(),
    );
    print::result(&text)?;
    Ok(Exit::Done)
}

fn wanted(arguments: &RecommendArguments) -> Result<&'static Use, CommandError> {
    let named = arguments.wanted.as_deref().unwrap_or(USUAL);
    use_of(named).ok_or_else(|| {
        let known: Vec<&str> = uses().iter().map(|known| known.id.as_str()).collect();
        let what = format!("unknown use `{named}`");
        CommandError::new(Exit::Usage, what).hint(format!("choose {}", known.join(", ")))
    })
}

/// The exit status without an answer is that of a missing measurement.
fn exit(is_answer: bool) -> Exit {
    if is_answer { Exit::Done } else { Exit::Trouble }
}

fn wish(arguments: &RecommendArguments) -> Result<Wish, CommandError> {
    const GB: u64 = 1_000_000_000;
    Ok(Wish {
        capacity_bytes: arguments.capacity.map(|capacity| capacity * GB),
        budget: arguments.budget.clone(),
        board: arguments.board.clone(),
        prices: prices(&arguments.prices)?,
        kinds: arguments.kind.0.clone(),
    })
}

/// The prices by full names of products.
fn prices(stated: &[(String, Price)]) -> Result<BTreeMap<String, Price>, CommandError> {
    let priced = |(name, price): &(String, Price)| {
        let name = match products_called(name).as_slice() {
            [one] => one.name(),
            [] => product_name(name),
            several => {
                let names: Vec<String> = several.iter().map(|one| one.name()).collect();
                let what = format!("`{name}` is several products");
                return Err(CommandError::new(Exit::Usage, what)
                    .hint(format!("give the price of one of {}", names.join(", "))));
            }
        };
        Ok((name, price.clone()))
    };
    stated.iter().map(priced).collect()
}

/// The error if no product has a figure that decides.
fn no_answer(found: &Recommendation) -> CommandError {
    let needs = found.unknown_needs.join(", ");
    let what = format!("cannot answer: no published figures of {needs}");
    let count = found.cannot_tell.len();
    CommandError::new(Exit::Trouble, what)
        .because(format!("this use depends on it, and none of {count} products has it"))
        .hint("`cardmark run` measures it on your card, `cardmark label last product=NAME` names the card; `--all` shows what else is known")
}

fn nothing(wish: &Wish, found: &Recommendation) -> CommandError {
    let mut cause = left_by_filters(wish, found)
        .trim_end_matches('.')
        .to_owned();
    if found.simulated_runs_count > 0 {
        cause += "; runs of simulated cards do not count";
    }
    CommandError::new(Exit::Usage, "nothing can be recommended")
        .because(cause)
        .hint("drop the filter that leaves 0; `cardmark list published` shows what others measured, `cardmark run` measures")
}

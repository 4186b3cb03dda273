//! `cardmark recommend`.

use cardmark_catalog::{ProductKind, publications, use_of, uses};
use cardmark_judge::{Fit, Price, Recommendation, Standing, Wish, recommend as recommended};
use cardmark_report::{Choice, Recommended, recommendation};
use serde_json::json;

use crate::args::RecommendArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use cardmark_session::{Data, store_error};

/// Names the products that suit a use best, from own runs and what others published.
pub(crate) fn recommend(arguments: &RecommendArguments) -> Result<Exit, CommandError> {
    let wanted = use_of(&arguments.wanted).ok_or_else(|| {
        let known: Vec<&str> = uses().iter().map(|known| known.id.as_str()).collect();
        let what = format!("no use is called `{}`", arguments.wanted);
        CommandError::new(Exit::Usage, what).hint(format!("there are {}", known.join(", ")))
    })?;
    let wish = wish(arguments);
    let mut store = Data::from_environment()?.open()?;
    let mut records = store.select(&[]).map_err(|error| store_error(&error))?;
    let published = publications().iter();
    records.extend(published.flat_map(|publication| publication.records()));
    let found = recommended(&records, wanted, &wish);
    if found.is_empty() {
        return Err(nothing(arguments, &found));
    }
    if arguments.json {
        let found = json!({ "use": wanted, "recommendation": found });
        print::result(&format!("{found:#}\n"))?;
        return Ok(Exit::Done);
    }
    let text = recommendation(
        &Recommended {
            wanted,
            choices: choices(&found.standings),
            price_not_known: choices(&found.price_not_known),
            capacity_not_known: choices(&found.capacity_not_known),
            left_out: left_out(&found, &wish),
            all: arguments.all,
        },
        print::width(),
        print::style(),
    );
    print::result(&text)?;
    Ok(Exit::Done)
}

fn wish(arguments: &RecommendArguments) -> Wish {
    const GB: u64 = 1_000_000_000;
    Wish {
        capacity_bytes: arguments.capacity.map(|capacity| capacity * GB),
        budget: arguments.budget.clone(),
        board: arguments.board.clone(),
    }
}

fn nothing(arguments: &RecommendArguments, found: &Recommendation) -> CommandError {
    let mut cause = match &arguments.board {
        Some(board) => format!("nothing is known of a product on a board called `{board}`"),
        None => "no result has a metric that this use needs".to_owned(),
    };
    if found.simulated_runs_count > 0 {
        cause += "; runs of simulated cards do not count";
    }
    CommandError::new(Exit::Usage, "nothing can be recommended")
        .because(cause)
        .hint("`cardmark list published` shows what others measured, `cardmark run` measures")
}

fn choices(standings: &[Standing]) -> Vec<Choice> {
    standings.iter().map(choice).collect()
}

fn choice(standing: &Standing) -> Choice {
    let suitability = &standing.suitability;
    let board = standing
        .board
        .as_deref()
        .unwrap_or("a board that is not told");
    let place = match standing.conditions.as_slice() {
        [] => board.to_owned(),
        conditions => format!("{board} ({})", conditions.join(", ")),
    };
    Choice {
        product: standing.product.clone(),
        kind: standing.kind.map(ProductKind::name),
        places: standing.places,
        fit: match suitability.fit {
            Fit::Poor => "poor",
            Fit::Slow => "slow",
            Fit::Good => "good",
            Fit::Ample => "ample",
        },
        limiting: suitability.limiting.metric.clone(),
        value: suitability.limiting.value,
        unknown: suitability.unknown.clone(),
        score: suitability.score,
        runs_count: standing.runs_count,
        cards_count: standing.cards_count,
        is_sparse: standing.is_sparse,
        place,
        elsewhere_count: standing.elsewhere_count,
        sources: standing.sources.clone(),
        price: standing.price.as_ref().map(Price::text),
    }
}

/// What is not shown, and why.
fn left_out(found: &Recommendation, wish: &Wish) -> Vec<String> {
    let count = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let products = |of: usize| count(of, "product", "products");
    let mut told = Vec::new();
    if found.too_small_count > 0 {
        told.push(format!(
            "Left out: {} of less capacity.",
            products(found.too_small_count)
        ));
    }
    if let Some(budget) = wish.budget.as_ref().filter(|_| found.too_dear_count > 0) {
        let products = products(found.too_dear_count);
        told.push(format!(
            "Left out: {products} that cost more than {}.",
            budget.text()
        ));
    }
    if wish.budget.is_some() {
        told.push("Prices are what you said: `cardmark label RUN price=AMOUNT`.".to_owned());
    }
    if found.simulated_runs_count > 0 {
        told.push(format!(
            "Left out: {} of simulated cards.",
            count(found.simulated_runs_count, "run", "runs")
        ));
    }
    if found.nameless_runs_count > 0 {
        told.push(format!(
            "Left out: {} of which the product is not known; `cardmark label RUN product=NAME` says it.",
            count(found.nameless_runs_count, "run", "runs")
        ));
    }
    told
}

//! `cardmark recommend`.

use cardmark_catalog::{publications, use_of, uses};
use cardmark_judge::{Recommendation, Wish, recommend as recommended};
use cardmark_report::{Recommended, recommendation};
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
        print::data(&format!("{found:#}\n"))?;
        return Ok(Exit::Done);
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

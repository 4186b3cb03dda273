//! The runs that are meant if none is named.

use cardmark_core::{OriginKind, Record};
use cardmark_session::store_error;

use super::{Runs, short};
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Runs among which the last one of another card is searched.
const MOST_LOOKED_AT: u32 = 1000;

/// Fills in the run of a report, if none is named: the last one.
pub(crate) fn report_of_last(named: &[String]) -> Result<Vec<String>, CommandError> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    let last = Runs::default().one("last")?.record;
    print::notice(&format!("report on the last run: {}", called(&last)));
    Ok(vec![last.id.to_string()])
}

/// Fills in the sides of a comparison that are not named: the last run, and as its base the last run of another card in
/// the same suite; that too if the last run is the only one named.
pub(crate) fn sides_of_comparison(
    base: &str,
    others: &[String],
) -> Result<(String, Vec<String>), CommandError> {
    if !others.is_empty() {
        return Ok((base.to_owned(), others.to_vec()));
    }
    let mut runs = Runs::default();
    let last = runs.one("last")?.record;
    let is_last = base.is_empty() || runs.one(base).is_ok_and(|run| run.record.id == last.id);
    if !is_last {
        print::notice(&format!(
            "compared with it: the last run, {}",
            called(&last)
        ));
        return Ok((base.to_owned(), vec![last.id.to_string()]));
    }
    let other = runs.last_of_another_card(&last)?;
    print::notice(&format!(
        "the last run, {}, compared with the last one of another card, {}",
        called(&last),
        called(&other)
    ));
    Ok((other.id.to_string(), vec![last.id.to_string()]))
}

impl Runs {
    /// The last run of another card in the suite of this one.
    fn last_of_another_card(&mut self, last: &Record) -> Result<Record, CommandError> {
        let store = self.store()?;
        let listed = store.list(MOST_LOOKED_AT);
        for run in listed.map_err(|error| store_error(&error))? {
            if run.suite != last.suite.as_ref().map(|suite| suite.name.clone()) {
                continue;
            }
            let other = store.head(&run.id).map_err(|error| store_error(&error))?;
            if is_other_card(last, &other) {
                return Ok(other);
            }
        }
        Err(nothing_to_compare(last))
    }
}

fn nothing_to_compare(last: &Record) -> CommandError {
    let what = "there is no run of another card to compare the last one with";
    CommandError::new(Exit::Usage, what)
        .because(format!("the last run is {}", called(last)))
        .hint(
            "measure another card with the same suite, or name a product: `cardmark compare \"Evo Plus 32 GB\"`",
        )
}

/// True if both runs identify their cards, and these differ.
fn is_other_card(one: &Record, other: &Record) -> bool {
    let cards = card_of(one).zip(card_of(other));
    cards.is_some_and(|(one, other)| one != other)
}

/// Identity of the card of a run: a simulated model, the label `sample` with its product, or the card's id; else its
/// product.
fn card_of(record: &Record) -> Option<Vec<String>> {
    if record.origin.kind == OriginKind::Simulated {
        return Some(vec![record.origin.source.clone()?]);
    }
    let label = |key: &str| record.labels.get(key).cloned();
    let product = label("product");
    if let Some(sample) = label("sample") {
        return Some(std::iter::once(sample).chain(product).collect());
    }
    let id = record.devices.first().and_then(|device| device.card_id());
    id.map(str::to_owned).or(product).map(|id| vec![id])
}

/// Name and short id of a run, for a person.
fn called(record: &Record) -> String {
    let label = |key: &str| record.labels.get(key).cloned();
    let name = label("sample")
        .or_else(|| label("product"))
        .or_else(|| record.origin.source.clone())
        .or_else(|| record.devices.first()?.model.clone());
    let id = record.id.to_string();
    match name {
        Some(name) => format!("{name} (run {})", short(&id)),
        None => format!("run {}", short(&id)),
    }
}

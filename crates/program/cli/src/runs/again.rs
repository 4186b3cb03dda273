//! In which range the rates of a run lie when its card is measured again, from the runs in the store.

use cardmark_core::{Metric, OriginKind, Record};
use cardmark_judge::{measured_again, repeats_of};
use cardmark_report::RateAgain;
use cardmark_store::Condition;

use crate::error::CommandError;
use cardmark_session::{Data, store_error};

/// Rates for which a range is shown.
const RATES: [&str; 4] = [
    "seq_read_1m",
    "seq_write_1m",
    "rand_read_4k",
    "rand_write_4k",
];

/// The ranges of a run's rates.
pub(crate) fn rates_again(record: &Record) -> Result<Vec<RateAgain>, CommandError> {
    let is_told = |metric: &Metric| metric.quantity.is_rate() && metric.voided_by().is_none();
    let metrics: Vec<&Metric> = RATES
        .iter()
        .filter_map(|id| record.metric(id).filter(|metric| is_told(metric)))
        .collect();
    if metrics.is_empty() {
        return Ok(Vec::new());
    }
    let others = other_runs(record)?;
    let rates = metrics.into_iter().map(|metric| {
        let alike = others.iter().filter_map(|run| {
            let other = run.metric(&metric.id)?;
            (other.quantity == metric.quantity && is_told(other)).then_some(other.value)
        });
        let values: Vec<f64> = std::iter::once(metric.value).chain(alike).collect();
        RateAgain {
            metric: metric.id.clone(),
            range: measured_again(metric, &values),
        }
    });
    Ok(rates.collect())
}

/// The other runs of the same card under the same circumstances.
fn other_runs(record: &Record) -> Result<Vec<Record>, CommandError> {
    let Some(conditions) = same_card(record) else {
        return Ok(Vec::new());
    };
    let data = Data::from_environment()?;
    if !data.database.exists() {
        return Ok(Vec::new());
    }
    let selected = data.open()?.select_distinct(&conditions);
    let runs = selected.map_err(|error| store_error(&error))?;
    Ok(repeats_of(record, runs))
}

/// Conditions for the runs of the record's card; none if it cannot be recognised.
fn same_card(record: &Record) -> Option<Vec<Condition>> {
    let condition = |name: &str, value: &str| Condition {
        name: name.to_owned(),
        value: value.to_owned(),
    };
    if record.origin.kind == OriginKind::Simulated {
        let source = record.origin.source.as_deref()?;
        return Some(vec![
            condition("origin", "simulated"),
            condition("source", source),
        ]);
    }
    let label = |key: &str| record.labels.get(key).map(String::as_str);
    if let Some(sample) = label("sample") {
        // Two products may each have a card A.
        let product = label("product").map(|product| condition("product", product));
        let sample = condition("sample", sample);
        return Some(std::iter::once(sample).chain(product).collect());
    }
    let card = record.devices.first()?.card_id()?;
    Some(vec![condition("card", card)])
}

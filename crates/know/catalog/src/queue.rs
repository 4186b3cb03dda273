//! What a command queue gains: published runs of one product with it on and off.

use std::collections::BTreeMap;

use crate::products::Product;
use crate::publications::publications;
use crate::published::{Publication, Setting};

/// Figures of one product in one metric with the command queue on and off, everything else being equal.
#[derive(Clone, Debug, PartialEq)]
pub struct QueueGain {
    /// Id of the publication.
    pub publication: &'static str,
    /// The computer.
    pub board: Option<&'static str>,
    /// The metric.
    pub metric: String,
    /// Median with the queue on, in the quantity's unit.
    pub on: f64,
    /// Median with the queue off.
    pub off: f64,
    /// Runs with the queue on and off.
    pub runs_counts: [usize; 2],
}

impl QueueGain {
    /// Returns the factor that the queue gains; below 1 it costs.
    #[must_use]
    pub fn factor(&self) -> f64 {
        self.on / self.off
    }
}

/// Returns what the command queue gains a product, in the order of the publications.
#[must_use]
pub fn queue_gains(product: &Product) -> Vec<QueueGain> {
    publications()
        .iter()
        .flat_map(|publication| gains(publication, product))
        .collect()
}

fn gains(publication: &'static Publication, product: &Product) -> Vec<QueueGain> {
    let mut all = Vec::new();
    for on in with_queue(publication, true) {
        let with = figures(publication, product, on);
        let Some(off) = with_queue(publication, false).find(|off| is_same_but_queue(on, off))
        else {
            continue;
        };
        let without = figures(publication, product, off);
        all.extend(with.iter().filter_map(|(metric, with)| {
            let without = without.get(metric)?;
            Some(QueueGain {
                publication: &publication.id,
                board: on.board.as_deref(),
                metric: (*metric).to_owned(),
                on: median(with)?,
                off: median(without)?,
                runs_counts: [with.len(), without.len()],
            })
        }));
    }
    all
}

fn with_queue(publication: &Publication, is_on: bool) -> impl Iterator<Item = &Setting> {
    let settings = publication.settings.iter();
    settings.filter(move |setting| setting.command_queue == Some(is_on))
}

fn is_same_but_queue(on: &Setting, off: &Setting) -> bool {
    (&on.suite, &on.board, on.reader) == (&off.suite, &off.board, off.reader)
}

/// Figures of a product in a setting, by metric.
fn figures<'a>(
    publication: &'a Publication,
    product: &Product,
    setting: &Setting,
) -> BTreeMap<&'a str, Vec<f64>> {
    let mut figures = BTreeMap::<&str, Vec<f64>>::new();
    let runs = publication.runs.iter();
    for run in runs.filter(|run| run.setting == setting.id && run.product.id == product.id) {
        for figure in &run.figures {
            figures
                .entry(&figure.metric)
                .or_default()
                .push(figure.value);
        }
    }
    figures
}

/// Returns the middle value, or the mean of the two; `None` without values.
fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get(values.len().saturating_sub(1) / 2)?;
    Some(0.5 * (lower + upper))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::product;

    fn gain(of: &str, metric: &str) -> QueueGain {
        let gains = queue_gains(product(of).unwrap());
        let mut found = gains.into_iter().filter(|gain| gain.metric == metric);
        let gain = found.next().unwrap();
        assert!(found.next().is_none(), "{metric}: twice");
        gain
    }

    /// Medians of three printed lines each.
    #[test]
    fn a_gain_is_that_of_medians() {
        let extreme = gain("sandisk_extreme_64gb", "agnostics_rand_write");
        assert_eq!((extreme.on, extreme.off), (2995.0, 1145.0));
        assert_eq!(extreme.runs_counts, [3, 3]);
        assert_eq!(extreme.board, Some("Raspberry Pi 5"));
        assert!((extreme.factor() - 2.616).abs() < 0.001);
        let own = gain("raspberry_pi_64gb", "agnostics_rand_write");
        assert_eq!((own.on, own.off), (3947.0, 4095.0));
        assert!(own.factor() < 1.0);
        // Two runs without the queue have this job.
        let prepare = gain("sandisk_extreme_64gb", "agnostics_prepare");
        assert_eq!(prepare.runs_counts, [3, 2]);
    }

    #[test]
    fn eight_products_were_measured_both_ways() {
        let both: Vec<&str> = crate::products()
            .iter()
            .filter(|product| !queue_gains(product).is_empty())
            .map(|product| product.id.as_str())
            .collect();
        assert_eq!(both.len(), 8, "{both:?}");
    }

    #[test]
    fn a_median_needs_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[3.0, 1.0]), Some(2.0));
        assert_eq!(median(&[]), None);
    }
}

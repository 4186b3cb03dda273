//! What a command queue gains: published runs of one product with it on and off.

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
    let with = |is_on| {
        let settings = publication.settings.iter();
        settings.filter(move |setting| setting.command_queue == Some(is_on))
    };
    let is_pair = |on: &Setting, off: &Setting| {
        (&on.suite, &on.board, on.reader) == (&off.suite, &off.board, off.reader)
    };
    let pairs = with(true).flat_map(|on| {
        let other = with(false).filter(move |off| is_pair(on, off));
        other.map(move |off| (on, off))
    });
    pairs
        .flat_map(|(on, off)| {
            let mut metrics: Vec<&str> = Vec::new();
            let runs = publication.runs.iter();
            for run in runs.filter(|run| run.setting == on.id && run.product.id == product.id) {
                for figure in &run.figures {
                    if !metrics.contains(&figure.metric.as_str()) {
                        metrics.push(&figure.metric);
                    }
                }
            }
            metrics.into_iter().filter_map(move |metric| {
                let [with, without] = [on, off].map(|setting| {
                    let runs = publication.runs.iter();
                    let runs = runs
                        .filter(|run| run.setting == setting.id && run.product.id == product.id);
                    let figures = runs.flat_map(|run| &run.figures);
                    let figures = figures.filter(|figure| figure.metric == metric);
                    figures.map(|figure| figure.value).collect::<Vec<f64>>()
                });
                Some(QueueGain {
                    publication: &publication.id,
                    board: on.board.as_deref(),
                    metric: metric.to_owned(),
                    runs_counts: [with.len(), without.len()],
                    on: median(with)?,
                    off: median(without)?,
                })
            })
        })
        .collect()
}

/// Returns the middle value, or the mean of the two; `None` without values.
fn median(mut values: Vec<f64>) -> Option<f64> {
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
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}

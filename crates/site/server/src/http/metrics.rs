//! Counters for Prometheus.

use std::time::Duration;

use cardmark_site_store::Counts;
use prometheus_client::encoding::{EncodeLabelSet, text};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::http::problem::Refusal;

/// Labels of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: String,
    route: String,
    status: u16,
}

/// Labels of an answered submission.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Outcome {
    outcome: &'static str,
}

/// Counters of this process.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    seconds: Histogram,
    submissions: Family<Outcome, Counter>,
    uploads: Family<Outcome, Counter>,
    records: Gauge,
    quarantined: Gauge,
    waiting: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("cardmark_site");
        let requests = Family::<Request, Counter>::default();
        let edges = [
            0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0,
        ];
        let seconds = Histogram::new(edges);
        let submissions = Family::<Outcome, Counter>::default();
        let uploads = Family::<Outcome, Counter>::default();
        let (records, quarantined, waiting) =
            (Gauge::default(), Gauge::default(), Gauge::default());
        registry.register("requests", "Answered requests", requests.clone());
        registry.register(
            "request_seconds",
            "Time from the head of a request to its answer",
            seconds.clone(),
        );
        registry.register("submissions", "Answered submissions", submissions.clone());
        registry.register("uploads", "Uploads that were read, or not", uploads.clone());
        registry.register("records", "Stored records", records.clone());
        registry.register(
            "quarantined_records",
            "Stored records that are quarantined",
            quarantined.clone(),
        );
        registry.register(
            "waiting_writes",
            "Writes that wait for the database",
            waiting.clone(),
        );
        Self {
            registry,
            requests,
            seconds,
            submissions,
            uploads,
            records,
            quarantined,
            waiting,
        }
    }
}

impl Metrics {
    pub(crate) fn answered(&self, method: &str, route: &str, status: u16, took: Duration) {
        let labels = Request {
            method: method.to_owned(),
            route: route.to_owned(),
            status,
        };
        self.requests.get_or_create(&labels).inc();
        self.seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn submitted(&self, outcome: &'static str) {
        self.submissions.get_or_create(&Outcome { outcome }).inc();
    }

    /// Counts an upload, with the reason for which there is no page.
    pub(crate) fn read(&self, refusal: Option<&Refusal>) {
        let outcome = match refusal.map(|refusal| refusal.problem().status) {
            None => "understood",
            Some(413) => "too_large",
            Some(500..) => "busy",
            Some(_) => "not_understood",
        };
        self.uploads.get_or_create(&Outcome { outcome }).inc();
    }

    pub(crate) fn stored(&self, counts: &Counts) {
        for (gauge, count) in [
            (&self.records, counts.records),
            (&self.quarantined, counts.quarantined),
            (&self.waiting, counts.waiting_writes),
        ] {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// The text that Prometheus reads.
    pub(crate) fn text(&self) -> String {
        let mut written = String::new();
        // Writing to a text cannot fail.
        let _ = text::encode(&mut written, &self.registry);
        written
    }
}

//! Metrics that typed figures and tables may name.

use cardmark_core::Quantity;

/// A metric that typed figures and tables may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMetric {
    /// Its id.
    pub id: String,
    /// Its name in plain words; the id if it has none.
    pub title: String,
    /// Quantity of its values.
    pub quantity: Quantity,
}

impl KnownMetric {
    /// A metric whose title is its id.
    pub fn new(id: &str, quantity: Quantity) -> Self {
        Self {
            id: id.to_owned(),
            title: id.to_owned(),
            quantity,
        }
    }
}

/// A name without the capitals, spaces and hyphens that do not matter.
pub(crate) fn folded(text: &str) -> String {
    #[cfg(test)]
    crate::text::work::count(text);
    let kept = text.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// Metrics of the readers that belong to none of our suites.
const TOOL_METRICS: [(&str, Quantity); 22] = [
    ("hdparm_t_direct", Quantity::ByteRate),
    ("hdparm_T_direct", Quantity::ByteRate),
    ("ddrescue", Quantity::ByteRate),
    ("f3_write", Quantity::ByteRate),
    ("f3_read", Quantity::ByteRate),
    ("f3_usable", Quantity::Size),
    ("f3_announced", Quantity::Size),
    ("gnome_disks_read", Quantity::ByteRate),
    ("gnome_disks_write", Quantity::ByteRate),
    ("gnome_disks_access", Quantity::Span),
    ("h2testw_write", Quantity::ByteRate),
    ("h2testw_read", Quantity::ByteRate),
    ("h2testw_ok", Quantity::Size),
    ("h2testw_lost", Quantity::Size),
    ("crystaldiskmark_seq_read_1m_q8_t1", Quantity::ByteRate),
    ("crystaldiskmark_seq_write_1m_q8_t1", Quantity::ByteRate),
    ("crystaldiskmark_seq_read_1m_q1_t1", Quantity::ByteRate),
    ("crystaldiskmark_seq_write_1m_q1_t1", Quantity::ByteRate),
    (
        "crystaldiskmark_rand_read_4k_q32_t1",
        Quantity::OperationRate,
    ),
    (
        "crystaldiskmark_rand_write_4k_q32_t1",
        Quantity::OperationRate,
    ),
    (
        "crystaldiskmark_rand_read_4k_q1_t1",
        Quantity::OperationRate,
    ),
    (
        "crystaldiskmark_rand_write_4k_q1_t1",
        Quantity::OperationRate,
    ),
];

/// Returns metrics of the readers that belong to none of our suites.
pub fn tool_metrics() -> Vec<KnownMetric> {
    let metrics = TOOL_METRICS.iter();
    metrics
        .map(|(id, quantity)| KnownMetric::new(id, *quantity))
        .collect()
}

/// Returns the metric with this id.
pub(crate) fn metric<'a>(known: &'a [KnownMetric], id: &str) -> Option<&'a KnownMetric> {
    known.iter().find(|metric| metric.id == id)
}

/// Near names in a suggestion, and how like they are at least.
const MOST_NEAR: usize = 5;
const LIKE: f64 = 0.8;

/// Returns ids like this one, the most similar first.
pub(crate) fn near(known: &[KnownMetric], id: &str) -> Vec<String> {
    let likeness = |metric: &KnownMetric| {
        let by_title = strsim::jaro_winkler(&folded(&metric.title), &folded(id));
        strsim::jaro_winkler(&folded(&metric.id), &folded(id)).max(by_title)
    };
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|metric| (likeness(metric), metric.id.as_str()))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near = near.into_iter().take(MOST_NEAR);
    near.map(|(_, id)| id.to_owned()).collect()
}

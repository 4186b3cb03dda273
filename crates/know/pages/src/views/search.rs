//! Search of runs.

use serde::{Deserialize, Serialize};

use crate::views::run::ListedRun;

/// Conditions of a search. All have to be met.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    /// Name or key of a product.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub product: Option<String>,
    /// Model of the board, as the record has it.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub board: Option<String>,
    /// Bus, such as `sdr104`.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub bus: Option<String>,
    /// Command queue of the card: `on` or `off`.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub queue: Option<String>,
    /// Suite and version, such as `quick 1`, or the test of storage.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub suite: Option<String>,
    /// Metric that has to lie between `least` and `most`.
    #[cfg_attr(feature = "openapi", param(pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"))]
    #[serde(default, deserialize_with = "given")]
    pub metric: Option<String>,
    /// Least value of the metric.
    #[serde(default, deserialize_with = "given")]
    pub least: Option<f64>,
    /// Greatest value of the metric.
    #[serde(default, deserialize_with = "given")]
    pub most: Option<f64>,
    /// First day of the run, such as `2026-11-01`.
    #[cfg_attr(feature = "openapi", param(format = Date))]
    #[serde(default, deserialize_with = "given")]
    pub from: Option<String>,
    /// Last day of the run.
    #[cfg_attr(feature = "openapi", param(format = Date))]
    #[serde(default, deserialize_with = "given")]
    pub to: Option<String>,
    /// True for runs of simulated cards, which are apart from all others.
    #[serde(default, deserialize_with = "given")]
    pub simulated: Option<bool>,
    /// `next` of the page before.
    #[cfg_attr(
        feature = "openapi",
        param(pattern = "^-?[0-9]{1,18}\\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
    )]
    #[serde(default, deserialize_with = "given")]
    pub cursor: Option<String>,
    /// Entries of a page, 1 to 100; 20.
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 100))]
    #[serde(default, deserialize_with = "given")]
    pub limit: Option<u32>,
}

/// Reads a value; an empty text, as a form sends it, is none.
fn given<'de, D, T>(from: D) -> Result<Option<T>, D::Error>
where
    D: serde::Deserializer<'de>,
    T: std::str::FromStr<Err: std::fmt::Display>,
{
    match Option::<String>::deserialize(from)? {
        Some(text) if !text.is_empty() => text.parse().map(Some).map_err(serde::de::Error::custom),
        _ => Ok(None),
    }
}

/// A page of a search, the last arrivals first. A page tests a limited number of records: it can have fewer entries than asked for, or
/// none, and still not be the last.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SearchPage {
    /// The records.
    pub records: Vec<ListedRun>,
    /// Cursor of the next page; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl SearchQuery {
    /// Names and values of all that is given but the cursor.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        // By name, so that a new condition is not forgotten here.
        let Self {
            product,
            board,
            bus,
            queue,
            suite,
            metric,
            least,
            most,
            from,
            to,
            simulated,
            cursor: _,
            limit,
        } = self;
        let number = |value: &Option<f64>| value.map(|value| value.to_string());
        let all = [
            ("board", board.clone()),
            ("bus", bus.clone()),
            ("from", from.clone()),
            ("least", number(least)),
            ("limit", limit.map(|value| value.to_string())),
            ("metric", metric.clone()),
            ("most", number(most)),
            ("product", product.clone()),
            ("queue", queue.clone()),
            ("simulated", simulated.map(|value| value.to_string())),
            ("suite", suite.clone()),
            ("to", to.clone()),
        ];
        let given = all.into_iter();
        given
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The last `limit` arrivals.
    pub fn last(limit: u32) -> Self {
        Self {
            limit: Some(limit),
            ..Self::default()
        }
    }
}

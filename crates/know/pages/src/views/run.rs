//! Runs.

use cardmark_share::{Check, Level, STATE_QUARANTINED, STATE_SHARED, STATE_WITHDRAWN};
use serde::Serialize;
use uuid::Uuid;

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Seen, and counted.
    Shared,
    /// Seen, and counted nowhere.
    Quarantined,
    /// Gone.
    Withdrawn,
}

impl RunState {
    /// The state in answers and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => STATE_SHARED,
            Self::Quarantined => STATE_QUARANTINED,
            Self::Withdrawn => STATE_WITHDRAWN,
        }
    }
}

/// A record in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Listed))]
pub struct ListedRun {
    /// Id of the run.
    pub id: Uuid,
    /// `shared` or `quarantined`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub state: RunState,
    /// Level of checking.
    pub level: Level,
    /// Day on which it arrived.
    pub received_on: String,
    /// Time of arrival, milliseconds since 1970.
    #[serde(skip)]
    pub received_ms: i64,
    /// Day of the run, as the board's clock had it.
    pub day: Option<String>,
    /// Key of the product on this site; absent if the device contradicts the product.
    pub product: Option<String>,
    /// Name of the product.
    pub product_name: Option<String>,
    /// Model that the device reports.
    pub model: Option<String>,
    /// Model of the board.
    pub board: Option<String>,
    /// Suite and version, or the test of storage.
    pub suite: Option<String>,
    /// Bus between reader and card.
    pub bus: Option<String>,
    /// Size of the device, bytes.
    pub size_bytes: Option<u64>,
    /// Result of a test of all blocks, such as `good` or `limbo`.
    pub storage: Option<String>,
    /// Verdict and the figures that matter most, such as `89.0/32.3 MB/s, 2507/904 IOPS`: read/write, in sequence and at random.
    pub result: String,
    /// Number of the act of a moderator that decides the state; absent if the checks do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<i64>,
}

impl ListedRun {
    /// Name of the product, or else the model that the device reports.
    pub fn storage_name(&self) -> &str {
        let name = self.product_name.as_ref().or(self.model.as_ref());
        name.map_or("storage of unknown name", String::as_str)
    }
}

/// A run with its checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Entry in lists.
    pub listed: ListedRun,
    /// Results of the checks.
    pub checks: Vec<Check>,
}

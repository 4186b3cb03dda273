//! Arguments and results of the database.

use std::collections::BTreeMap;

use cardmark_share::{Check, Extract, Level, Summary, TAG_BYTES, is_quarantined};
use thiserror::Error;
use uuid::Uuid;

/// State of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Seen, and counted.
    Shared,
    /// Seen, and counted nowhere: a check failed, or an act of a moderator decides so.
    Quarantined,
    /// Taken back by its owner, or removed by the operator: only id, day and state are left.
    Withdrawn,
}

impl State {
    /// The state that follows from the checks.
    pub(crate) fn of(checks: &[Check]) -> Self {
        if is_quarantined(checks) {
            Self::Quarantined
        } else {
            Self::Shared
        }
    }
}

/// A submission, read, checked by itself, and packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Incoming {
    /// The bytes that were received, unpacked and then packed with zstd.
    pub packed: Vec<u8>,
    /// SHA-256 of the unpacked document.
    pub digest: [u8; 32],
    /// SHA-256 of the record's line as received, without its line feed: two submissions of a run are the same if it is.
    pub record_digest: [u8; 32],
    /// Derived values.
    pub extract: Extract,
    /// Checks by itself ([`cardmark_share::Derivation`]).
    pub checks: Vec<Check>,
    /// Key of the card ([`cardmark_share::card_key`]).
    pub card: [u8; 16],
    /// Submitter ([`cardmark_share::submitter_of`]); without one no summary counts the record.
    pub tag: Option<[u8; TAG_BYTES]>,
    /// Hash of the edit token; without one the record cannot be changed.
    pub token_hash: Option<[u8; 32]>,
    /// Number of the owner's statement; 0 without any.
    pub revision: u64,
    /// Time of arrival, milliseconds since 1970.
    pub received_ms: i64,
    /// Limits that the submission is charged to.
    pub limits: Vec<Bucket>,
    /// Limit of the new submitters of its network that begin to count; absent: no limit.
    pub newcomers: Option<Bucket>,
}

/// A record that is loaded from a copy of a site.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The record.
    pub incoming: Incoming,
    /// The act by which new records were quarantined when it arrived.
    pub quarantined_by: Option<i64>,
}

impl From<Incoming> for Loaded {
    fn from(incoming: Incoming) -> Self {
        Self {
            incoming,
            quarantined_by: None,
        }
    }
}

/// A document with a new statement, read, checked by itself, and packed.
#[derive(Clone, Debug, PartialEq)]
pub struct Amendment {
    /// The record's line as it was received, with the new statement, packed with zstd.
    pub packed: Vec<u8>,
    /// SHA-256 of the unpacked document.
    pub digest: [u8; 32],
    /// Number of the statement, from 1.
    pub revision: u64,
    /// Derived values.
    pub extract: Extract,
    /// Checks by itself ([`cardmark_share::Derivation`]).
    pub checks: Vec<Check>,
    /// Time of arrival, milliseconds since 1970.
    pub at_ms: i64,
    /// Buckets; it takes a token from each, unless it changes nothing.
    pub limits: Vec<Bucket>,
    /// Limit of the new submitters of its network that begin to count; absent: no limit.
    pub newcomers: Option<Bucket>,
}

/// Results derived from the bytes of a stored record alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Rederived {
    /// Derived values.
    pub extract: Extract,
    /// Checks by itself ([`cardmark_share::Derivation`]).
    pub checks: Vec<Check>,
    /// Key of the card ([`cardmark_share::card_key`]).
    pub card: [u8; 16],
}

/// Result of a rebuild.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Number of records.
    pub records_count: u64,
    /// Records whose rows differ now.
    pub changed_count: u64,
    /// Records that could not be derived again; their rows stay.
    pub unreadable_count: u64,
    /// Number of products.
    pub products_count: u64,
}

/// Numbers of records and of waiting writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records that are not withdrawn, quarantined ones included.
    pub records: u64,
    /// Quarantined records.
    pub quarantined: u64,
    /// Withdrawn records.
    pub withdrawn: u64,
    /// Writes that wait in this instance.
    pub waiting_writes: u64,
}

/// A token bucket. It holds `most` tokens and gains `per_hour` of them; a write takes one from each of its buckets.
#[derive(Clone, Debug, PartialEq)]
pub struct Bucket {
    /// Hash of the address block or of the tag.
    pub key: [u8; 16],
    /// Most tokens.
    pub most: f64,
    /// Tokens gained in an hour.
    pub per_hour: f64,
}

/// A limit that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Seconds after which one more is possible.
    pub retry_after_s: u64,
}

/// Answer to a submission.
#[derive(Clone, Debug, PartialEq)]
pub enum Put {
    /// It is stored now.
    New(Head),
    /// The same record is stored already.
    Same(Head),
    /// Another record is stored under its id.
    Conflict,
    /// It was withdrawn.
    Gone,
    /// Too many submissions; nothing was stored.
    Limited(Limit),
    /// The site takes nothing in at present.
    ReadOnly,
}

/// Answer to a new statement.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is moved a few times per request"
)]
pub enum Amended {
    /// The statement counts now, or did before.
    Now(Head),
    /// A later statement counts; its revision.
    Older(u64),
    /// The token is not that of the record, or the record has none.
    Forbidden,
    /// There is no such record.
    Unknown,
    /// It was withdrawn.
    Gone,
    /// A bucket is empty.
    Limited(Limit),
    /// The site takes nothing in at present.
    ReadOnly,
}

/// Answer to a withdrawal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// Withdrawn now or before.
    Now,
    /// The token is not that of the record, or the record has none.
    Forbidden,
    /// There is no such record.
    Unknown,
}

/// Result of a removal by the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It was there, and is withdrawn now.
    Now,
    /// It was withdrawn before.
    Before,
    /// There is no such record.
    Unknown,
}

/// A record without its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Id of the run.
    pub id: Uuid,
    /// Its state.
    pub state: State,
    /// Level of checking.
    pub level: Level,
    /// Results of all checks.
    pub checks: Vec<Check>,
    /// Time of arrival, milliseconds since 1970.
    pub received_ms: i64,
    /// Number of the owner's statement.
    pub revision: u64,
    /// Submitter ([`cardmark_share::submitter_of`]).
    pub tag: Option<[u8; TAG_BYTES]>,
    /// Key of the product that it counts under: its own ([`Extract::product_key`]), or another one by acts of moderators.
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
    /// Day of the run.
    pub day: Option<String>,
    /// Kind of storage that a test of all blocks found, as a word.
    pub storage: Option<String>,
    /// Verdict and the figures that matter most.
    pub result: String,
    /// Number of the act that decides the state; `None` if the checks do.
    pub decided_by: Option<i64>,
}

/// The bytes of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Packed with zstd: the document as received; after an amendment with the new statement instead of the first.
    pub packed: Vec<u8>,
    /// SHA-256 of the unpacked document.
    pub digest: [u8; 32],
}

/// Records in the order of arrival.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// The records.
    pub arrivals: Vec<Arrival>,
    /// Place after which the next page begins; `None` behind the last record. A page without records can have one.
    pub last: Option<Cursor>,
}

/// A stored record with everything that a dump has of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// State, checks and searched values.
    pub head: Head,
    /// Origin of the figures.
    pub origin: String,
    /// State of the command queue.
    pub command_queue: Option<String>,
    /// Key of the card ([`cardmark_share::card_key`]).
    pub card: [u8; 16],
    /// Values that must match before figures are summarised, as a JSON object.
    pub context: String,
    /// Figures: metric, value, and true if low figures are better.
    pub figures: Vec<(String, f64, bool)>,
    /// The act by which new records were quarantined when it arrived.
    pub quarantined_by: Option<i64>,
    /// Its bytes.
    pub document: StoredDocument,
}

/// A stored record.
#[derive(Clone, Debug, PartialEq)]
pub enum Found {
    /// It is there.
    Here(Box<Head>),
    /// It was withdrawn at this time.
    Withdrawn {
        /// Milliseconds since 1970.
        at_ms: i64,
    },
    /// There never was one.
    Unknown,
}

/// Place in a list, for the next page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// Time of arrival of the last one shown.
    pub received_ms: i64,
    /// Its id.
    pub id: Uuid,
}

/// Range of a metric; both ends are included.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricRange {
    /// The metric.
    pub metric: String,
    /// Least value.
    pub least: f64,
    /// Most.
    pub most: f64,
}

/// A page of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Records that meet all conditions, the last arrivals first.
    pub heads: Vec<Head>,
    /// Place after which the next page begins; `None` on the last page. A page can have fewer records than asked for, or
    /// none, and still not be the last one.
    pub next: Option<Cursor>,
}

/// Conditions of a search. Records that meet all of them are returned, the last arrivals first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Search {
    /// Simulated cards, or storage.
    pub is_simulated: bool,
    /// Key of the product.
    pub product: Option<String>,
    /// Model of the board.
    pub board: Option<String>,
    /// Bus.
    pub bus: Option<String>,
    /// Command queue.
    pub command_queue: Option<String>,
    /// Suite and version.
    pub suite: Option<String>,
    /// First and last day of the run.
    pub days: Option<(String, String)>,
    /// A metric in a range.
    pub metric: Option<MetricRange>,
    /// Place after which the page begins.
    pub after: Option<Cursor>,
    /// Most records of a page, up to 100.
    pub limit: u32,
}

/// A product with shared runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProductRow {
    /// Key of the product on this site.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Number of runs that count.
    pub runs_count: u64,
    /// Number of cards, as far as known.
    pub cards_count: u64,
    /// Cards that failed a test of their capacity.
    pub fakes_count: u64,
}

/// Figures of a product in one metric and one context.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryRow {
    /// The metric.
    pub metric: String,
    /// The context.
    pub context: BTreeMap<String, String>,
    /// Figures of the submitters: the median of the cards of each.
    pub submitters: Summary,
    /// Number of these cards.
    pub cards_count: u64,
    /// Key of the context.
    pub context_key: i64,
}

impl SummaryRow {
    /// Its place among those of a product.
    #[must_use]
    pub fn place(&self) -> SummaryPlace {
        SummaryPlace {
            submitters_count: self.submitters.count(),
            context_key: self.context_key,
            metric: self.metric.clone(),
        }
    }
}

/// Place of a summary among those of a product, which are read from most submitters to fewest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryPlace {
    /// Number of submitters.
    pub submitters_count: u64,
    /// Key of the context.
    pub context_key: i64,
    /// The metric.
    pub metric: String,
}

/// Before all others.
impl Default for SummaryPlace {
    fn default() -> Self {
        Self {
            submitters_count: u64::MAX,
            context_key: i64::MAX,
            metric: char::MAX.to_string(),
        }
    }
}

/// Circumstances under which products are ranked by a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankedContext {
    /// Key of the context.
    pub key: i64,
    /// The circumstances.
    pub context: BTreeMap<String, String>,
    /// Ranked products.
    pub products_count: u64,
}

/// A product in a ranking.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedProduct {
    /// Key of the product.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What the ranking is sorted by: the median, negative if high figures are better.
    pub place: f64,
    /// Its figures in the context of the ranking.
    pub row: SummaryRow,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// A record arrived.
    Arrived,
    /// Its owner amended it.
    Amended,
    /// Its owner withdrew it, or the operator removed it.
    Withdrawn,
}

/// A change, for those who keep a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Place in the order of all changes; the next page begins after it.
    pub sequence: i64,
    /// The record.
    pub id: Uuid,
    /// Kind.
    pub kind: ChangeKind,
    /// When, milliseconds since 1970.
    pub at_ms: i64,
}

/// Failure of the database.
#[derive(Debug, Error)]
pub enum SiteStoreError {
    /// The address names no database of a known kind.
    #[error("{0} is neither sqlite:FILE nor postgres://…")]
    Address(String),
    /// Another process has the file open.
    #[error("another process uses {0}; several instances need PostgreSQL")]
    InUse(String),
    /// More writes are waiting than the database takes.
    #[error("too many writes are waiting")]
    Busy,
    /// The database cannot be reached now; a later attempt can succeed.
    #[error("the database cannot be reached")]
    Unavailable(#[source] sqlx::Error),
    /// The database failed.
    #[error("the database failed")]
    Database(#[source] sqlx::Error),
    /// A newer version changed the tables so that this one cannot use them.
    #[error("the database needs a newer version of cardmark-site")]
    Newer,
    /// The tables are damaged, or not those of a site.
    #[error("the tables could not be brought up to date")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A row holds what this version did not write.
    #[error("a row of the database is damaged: {0}")]
    Damaged(&'static str),
}

/// States in which PostgreSQL refuses every statement: it is stopped, stops, or starts.
const POSTGRES_IS_AWAY: [&str; 3] = ["57P01", "57P02", "57P03"];

impl From<sqlx::Error> for SiteStoreError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error::{Database, Io, PoolClosed, PoolTimedOut, WorkerCrashed};
        let is_away = match &error {
            Io(_) | PoolClosed | PoolTimedOut | WorkerCrashed => true,
            Database(error) => error
                .code()
                .is_some_and(|code| POSTGRES_IS_AWAY.contains(&&*code)),
            _ => false,
        };
        match is_away {
            true => Self::Unavailable(error),
            false => Self::Database(error),
        }
    }
}

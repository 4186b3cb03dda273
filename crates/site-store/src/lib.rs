//! Database of a results site: SQLite in one file, or PostgreSQL for several instances.
//!
//! It keeps the bytes that were received, and what was derived from them. All writes go through one queue and are committed
//! in groups; a write is answered when it is durable. Summaries of products change in the transaction of the record.

mod types;

pub use types::{
    Amended, Bucket, Change, ChangeKind, Cursor, Found, Head, Incoming, Limit, MetricRange,
    ProductRow, Put, RankedProduct, Search, SiteStoreError, State, StoredDocument, SummaryRow,
    Withdrawn,
};

//! Database of a results site: SQLite in one file, or PostgreSQL for several instances.
//!
//! It keeps the bytes that were received, and what was derived from them. All writes go through one queue and are committed
//! in groups; a write is answered when it is durable. Summaries of products change in the transaction of the record.

mod database;
mod decisions;
mod queue;
mod store;
mod tables;
mod types;
mod writes;

pub use decisions::Decisions;
pub use decisions::types::{
    Account, Act, Answered, Deed, Moderated, NewAct, Objection, OwnersAnswer, PasswordHash,
    QueuePage, QueueSearch, Scope, Switch,
};
pub use store::SiteStore;
pub use tables::record::storable;
pub use types::{
    Amended, Amendment, Arrival, Arrivals, Bucket, Change, ChangeKind, Counts, Cursor, Found, Head,
    Incoming, Limit, Loaded, MetricRange, Page, ProductRow, Put, RankedContext, RankedProduct,
    Rebuilt, Rederived, Removed, Search, SiteStoreError, State, StoredDocument, SummaryPlace,
    SummaryRow, Withdrawn,
};
pub use writes::put::is_of_record;

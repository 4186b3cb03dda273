//! Database of a results site: SQLite in one file, or PostgreSQL for several instances.
//!
//! It keeps the bytes that were received, and what was derived from them. All writes go through one queue and are committed
//! in groups; a write is answered when it is durable. Summaries of products change in the transaction of the record.

mod address;
mod batch;
mod change;
mod dumping;
mod execute;
mod facets;
mod limits;
mod lists;
mod load;
mod locks;
mod migrations;
mod moderation;
mod numbers;
mod products;
mod put;
mod queue;
mod rebuild;
mod record;
mod search;
mod seeds;
mod sql;
mod store;
mod summaries;
mod totals;
mod types;
mod work;

pub use moderation::decisions::Decisions;
pub use moderation::types::{
    Account, Act, Answered, Deed, Moderated, NewAct, Objection, OwnersAnswer, PasswordHash,
    QueuePage, QueueSearch, Scope, Switch,
};
pub use put::is_of_record;
pub use record::storable;
pub use store::SiteStore;
pub use types::{
    Amended, Amendment, Arrival, Arrivals, Bucket, Change, ChangeKind, Counts, Cursor, Found, Head,
    Incoming, Limit, Loaded, MetricRange, Page, ProductRow, Put, RankedContext, RankedProduct,
    Rebuilt, Rederived, Removed, Search, SiteStoreError, State, StoredDocument, SummaryPlace,
    SummaryRow, Withdrawn,
};

//! A results site: submissions with checks before the answer, search, products, rankings, a feed of changes.
//!
//! The site decides no figure: `share`, `judge` and `report` do, as in the program. It keeps the received bytes.

mod accounts;
mod answers;
mod apart;
mod app;
mod body;
mod cache;
mod compare;
mod config;
mod connections;
mod contexts;
mod derived;
mod described;
mod dumps;
mod error;
mod export;
#[doc(hidden)]
pub mod fuzzing;
mod health;
mod host;
mod kept;
mod limits;
mod lists;
mod logged;
mod metrics;
mod mine;
mod moderation;
mod openapi;
mod operation;
mod pages;
mod parameters;
mod peer;
mod problem;
mod processors;
mod published;
mod rankings;
mod reading;
mod records;
mod removal;
mod seeds;
mod server;
mod shares;
mod state;
mod stream;
mod submit;
mod suited;
mod unshown;

pub use accounts::{account_add, account_list, account_remove};
pub use app::router;
pub use config::{Config, ConfigError, WriteLimits};
pub use dumps::{dump_if_due, dump_name};
pub use error::{SiteError, chain};
pub use export::export_pages;
pub use moderation::account::{NewAccount, add_account};
pub use moderation::totp::code_at;
pub use openapi::openapi_json;
pub use operation::{derive, dump, export, import, read_upload, rebuild, serve, serve_mine};
pub use reading::UploadReader;
pub use removal::{Removal, Removals, withdraw};
pub use server::{Served, listen};
pub use state::Site;

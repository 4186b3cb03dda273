//! A results site: submissions with checks before the answer, search, products, rankings, a feed of changes.
//!
//! The site decides no figure: `share`, `judge` and `report` do, as in the program. It keeps the received bytes.

mod admin;
mod api;
mod app;
mod clock;
mod config;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod jobs;
mod moderation;
mod pages;
mod queries;
mod state;
mod submissions;
mod uploads;

pub use admin::accounts::{account_add, account_list, account_remove};
pub use admin::data::{derive, dump, export, import, read_upload, rebuild};
pub use admin::export::export_pages;
pub use admin::removal::{Removal, Removals, withdraw};
pub use admin::serving::serve;
pub use api::openapi::openapi_json;
pub use app::router;
pub use config::{Config, ConfigError, WriteLimits};
pub use error::{SiteError, chain};
pub use http::server::{Served, listen};
pub use jobs::dumps::{dump_if_due, dump_name};
pub use moderation::account::{NewAccount, add_account};
pub use moderation::totp::code_at;
pub use state::Site;
pub use uploads::queue::UploadReader;

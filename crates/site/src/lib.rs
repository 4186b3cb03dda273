//! A results site: submissions with checks before the answer, search, products, rankings, a feed of changes.
//!
//! The site decides no figure: `share`, `judge` and `report` do, as in the program. It keeps the received bytes.

mod answers;
mod app;
mod body;
mod compare;
mod config;
mod derived;
mod described;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod health;
mod limits;
mod lists;
mod logged;
mod metrics;
mod mine;
mod openapi;
mod operation;
mod packing;
mod pages;
mod parameters;
mod peer;
mod problem;
mod published;
mod records;
mod seeds;
mod server;
mod shares;
mod state;
mod stream;
mod submit;

pub use app::router;
pub use config::{Config, ConfigError, PacksConfig, WriteLimits};
pub use error::SiteError;
pub use openapi::openapi_json;
pub use operation::{pack_by_hand, rebuild, serve, serve_mine};
pub use packing::{PackReader, Packing, PackingDone, PackingError, pack};
pub use server::{Served, listen};
pub use state::Site;

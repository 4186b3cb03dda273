//! Own runs in the browser of this computer: a server for one user, which shows the pages of [`cardmark_pages`] over the program's own
//! store.
//!
//! Only processes of that user reach it, and only with the token of its address; pages of other sites do not (ADR 0030).

mod guard;
mod http;
mod launch;
mod own;
mod routes;
mod server;

pub use launch::Launch;
pub use server::Server;

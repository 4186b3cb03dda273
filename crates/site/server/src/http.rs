//! Connections, requests and answers, whatever they are about.

pub(crate) mod body;
pub(crate) mod cache;
mod connections;
pub(crate) mod file;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod metrics;
pub(crate) mod page;
pub(crate) mod parameters;
pub(crate) mod peer;
pub(crate) mod problem;
pub(crate) mod processors;
pub(crate) mod quota;
pub(crate) mod reply;
pub(crate) mod requests;
pub(crate) mod server;
mod stream;

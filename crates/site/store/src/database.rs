//! Opening a database, its migrations, its statements and its locks.

pub(crate) mod address;
pub(crate) mod locks;
mod migrations;
pub(crate) mod sql;

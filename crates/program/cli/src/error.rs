//! Errors and exits.

pub(crate) use cardmark_session::{CommandError, Exit};

//! Reading of uploads, in processes of their own.

pub(crate) mod queue;
pub(crate) mod understood;

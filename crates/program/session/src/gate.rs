//! What must hold before anything is written: to a device, and to a path that a person names.

pub(crate) mod consent;
pub mod file;
mod in_memory;
pub(crate) mod whole_device;

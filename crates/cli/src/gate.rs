//! Stands in for the gate until that is there.

use std::path::Path;

use cardmark_device::{OpenTarget, open_device_for_writing};
use cardmark_host::Resolution;

use crate::error::{CommandError, Exit};

/// What the user said.
pub(crate) struct Consent {
    /// Ask nothing.
    pub(crate) yes: bool,
    /// The device that is meant.
    pub(crate) device_serial: Option<String>,
}

/// Opens a device for writing.
pub(crate) fn permit_writing(
    path: &Path,
    _resolution: &Resolution,
    consent: &Consent,
    _bytes_to_write: Option<u64>,
    _what: &str,
) -> Result<OpenTarget, CommandError> {
    if !consent.yes || consent.device_serial.is_none() {
        return Err(CommandError::new(Exit::Refused, "not permitted"));
    }
    open_device_for_writing(path).map_err(|error| CommandError::from_error(Exit::Trouble, &error))
}

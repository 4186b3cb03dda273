//! The request for a measurement.

use cardmark_core::Suite;
use cardmark_engine::Request;

use crate::drive::session::Session;
use crate::gate::consent::{Consent, Leave};

/// A measurement request, independent of the kind of target.
pub struct Measurement<'a> {
    /// Surroundings. Part of a command that measures again and again, it gives file and device back at once.
    pub session: &'a Session<'a>,
    /// The target as the user named it.
    pub target: &'a str,
    /// The method.
    pub suite: &'a Suite,
    /// The request.
    pub request: &'a Request,
    /// Consent to writing a raw device.
    pub consent: &'a Consent,
    /// Labels from the user.
    pub labels: &'a [(String, String)],
    /// Earlier consent to writing a device; without it, the user is asked.
    pub leave: Option<&'a Leave>,
}

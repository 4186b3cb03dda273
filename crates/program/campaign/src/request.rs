//! Request for measuring a campaign.

use std::path::Path;

use cardmark_session::{Data, Voice};

/// Request for measuring the rest of a campaign on this computer.
pub struct CampaignRequest<'a> {
    /// The campaign's file.
    pub file: &'a Path,
    /// Name of the board; by default it is recognised.
    pub board: Option<&'a str>,
    /// Consent to writing the block device with that serial number.
    pub device_serial: Option<String>,
    /// Time after which a device counts as not answering, seconds.
    pub timeout_s: u64,
    /// Receiver of messages.
    pub voice: &'static dyn Voice,
    /// Places of the results.
    pub data: &'a Data,
}

//! Power cuts: does a card keep what it has acknowledged?

mod checking;
mod log_file;
mod outcome;
mod request;
mod simulated;
mod writing;

use crate::drive::session::Session;
use crate::error::CommandError;

pub use checking::check_power_cut;
pub use request::{CutRequest, CutTarget};
pub use writing::CutDone;

/// Writes until the power is cut. Of a simulated card, also cuts it and checks.
///
/// # Errors
/// If the target may not be written, or the log cannot be kept.
pub fn power_cut(
    session: &Session<'_>,
    name: &str,
    target: &CutTarget,
    request: &CutRequest,
) -> Result<CutDone, CommandError> {
    match target {
        CutTarget::Simulated(model) => {
            let result = simulated::simulated(session, model, &request.plan(true))?;
            Ok(CutDone::Tested(Box::new(result)))
        }
        CutTarget::Directory { path, resolution } => {
            writing::write(session, name, (path, resolution), request)
        }
    }
}

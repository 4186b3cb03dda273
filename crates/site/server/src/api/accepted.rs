//! The answer about a run that was sent.

use cardmark_core::name_of;
use cardmark_share::{Accepted, STATE_WITHDRAWN};
use cardmark_site_data::day_of;
use cardmark_site_store::Head;
use uuid::Uuid;

use crate::queries::runs::state_of;

/// The answer to a submission.
pub(crate) fn accepted(head: &Head) -> Accepted {
    Accepted {
        id: head.id,
        state: state_of(head.state).name().to_owned(),
        level: name_of(&head.level),
        received_on: day_of(head.received_ms),
        revision: head.revision,
        path: format!("/runs/{}", head.id),
        checks: head.checks.clone(),
        decided_by: head.decided_by,
    }
}

/// The answer about a run that was withdrawn.
pub(crate) fn withdrawn(id: Uuid) -> Accepted {
    Accepted {
        id,
        state: STATE_WITHDRAWN.to_owned(),
        level: String::new(),
        received_on: String::new(),
        revision: 0,
        path: format!("/runs/{id}"),
        checks: Vec::new(),
        decided_by: None,
    }
}

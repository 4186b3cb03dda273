//! What people send about runs: submissions, statements, answers to a quarantine.

pub(crate) mod amendment;
pub(crate) mod incoming;
pub(crate) mod owner;
pub(crate) mod owners_answer;

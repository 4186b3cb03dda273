//! Common rules of a results site and its clients: secrets, the document that is sent, answers, checks, and summaries of
//! products.
//!
//! Pure: the site calls it for each submission, the program before it sends one, and both come to the same result.

mod api;
mod check;
mod checks;
mod derivation;
mod extract;
mod hexadecimal;
mod imported;
mod secrets;
mod server;
mod submission;
mod summary;
mod voice;

pub use api::{
    Accepted, IssuedSeed, PROBLEM_TYPE, Problem, ProblemAt, SEED_DAYS, STATE_QUARANTINED,
    STATE_SHARED, STATE_WITHDRAWN, TAG_HEADER, TOKEN_HASH_HEADER,
};
pub use check::{Check, CheckName, CheckOutcome, EvidenceState, SeedState, Surroundings};
pub use checks::{
    Level, checks_around, counts, fits_product, is_quarantined, level, new_submitters,
    product_range,
};
pub use derivation::{Derivation, derive};
pub use extract::{Area, Extract, Figure, card_key, context_key, product_key};
pub use hexadecimal::{from_hexadecimal, to_hexadecimal};
pub use imported::{ImportedFrom, imported_record, known_metrics};
pub use secrets::{EditToken, Secrets, TAG_BYTES, hash_of_token_text, submitter_of, token_hash};
pub use server::{Server, ServerError};
pub use submission::{
    MOST_PACKED_BYTES, MOST_SENT_BYTES, Submission, SubmissionError, read_kept, read_submission,
    write_submission,
};
pub use summary::{
    LEAST_OLDER, LEAST_SUBMITTERS, MOST_CARDS_OF_A_SUBMITTER, Older, Summary, bucket_of_value,
    value_of_bucket,
};
pub use voice::{Activity, MOST_WEIGHT, OLDER_DAYS, SETTLED_DAYS, Voice};

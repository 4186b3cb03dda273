//! The API: paths under `/api/v1`, their description, and the addresses for the operator's programs.

pub(crate) mod accepted;
pub(crate) mod acts;
pub(crate) mod compare;
pub(crate) mod health;
pub(crate) mod lists;
pub(crate) mod openapi;
pub(crate) mod owners_answer;
pub(crate) mod products;
pub(crate) mod published;
pub(crate) mod rankings;
pub(crate) mod records;
mod responses;
pub(crate) mod seeds;
pub(crate) mod submit;

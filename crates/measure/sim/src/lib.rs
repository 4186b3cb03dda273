//! Simulated cards in virtual time: storage with a known truth.
//!
//! A [`Model`] is data (`models/*.toml`); a [`SimulatedCard`] is one run on one card of that model and
//! implements the engine's ports. If a model is stationary, [`SimulatedCard::truth`] is the exact long-run rate
//! of that very run, so that intervals can be tested against it.
//!
//! Pure: no clock, file, environment or random source; the same model, seed and operations give the same
//! nanoseconds on every platform.

mod board;
mod body;
mod card;
mod course;
mod data;
mod error;
mod flash;
mod ftl;
mod heat;
mod kept;
mod library;
mod medium;
mod model;
mod online;
mod page_cache;
mod process;
mod queue;
mod service;
mod settled;
mod state;
mod streams;
mod stretches;
mod sway;
mod trace;
mod truth;
mod units;

/// Revision of the simulation, part of the id of every simulated run. It rises whenever the same model,
/// seed and request give other bytes; `digests.txt` beside it and a test in `cardmark-cli` notice.
pub const SIMULATION_REVISION: u32 = 8;

pub use board::boards;
pub use card::{SimBackend, SimClock, SimSensors, SimulatedCard};
pub use course::CourseTruth;
pub use error::ModelError;
pub use flash::{BlockPlace, Flash, Part};
pub use ftl::{Ftl, FtlCounts, FtlData};
pub use library::{Entry, zoo};
pub use medium::{SimMedium, SimPiece};
pub use model::{Model, models};
pub use online::{OnlineCard, Request, TransitTime};
pub use process::StallTruth;
pub use settled::Ends;
pub use stretches::{Origin, Stretch};
pub use trace::Trace;
pub use truth::Truth;

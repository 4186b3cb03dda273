//! The engine: ports, planner, the measuring loop, the recorder.
//!
//! Single-threaded and generic over the back end. It never prints, opens no file, and reads no clock except
//! the one it is given. See `docs/METHODOLOGY.md`.

mod apart;
mod constants;
mod context;
mod ending;
mod event;
mod failure;
mod flow;
mod long;
mod plan;
mod ports;
mod read_back;
mod readings;
mod recorder;
mod request;
mod run;
mod schedule;
mod slices;
mod streams;
mod tally;
mod tiers;
mod trial;
mod wear;
mod windows;

pub use constants::CONSTANTS;
pub use context::TrialContext;
pub use event::Event;
pub use failure::Failure;
pub use plan::{Plan, make_plan};
pub use ports::{Backend, Clock, Done, Observer, Op, OpKind, Pulse, Sensors};
pub use recorder::record;
pub use request::{PlanError, Request, TargetRoom, Units};
pub use run::{Ports, RunResult, execute};
pub use trial::{TrialEnd, run_trial};
pub use wear::{SUPPOSED_OPERATIONS_PER_S, Wear};

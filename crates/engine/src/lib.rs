//! The engine: ports, planner, the measuring loop, the recorder.
//!
//! Single-threaded and generic over the back end; it never prints, opens no file and reads no
//! clock but the one it is given. See `docs/METHODOLOGY.md`.

mod event;
mod plan;
mod ports;
//TMP mod recorder;
//TMP mod run;
//TMP mod schedule;
//TMP mod trial;

pub use event::Event;
pub use plan::{Plan, PlanError, Request, make_plan};
pub use ports::{Backend, Clock, Done, Observer, Op, OpKind, Pulse, Sensors};
//TMP pub use recorder::record;
//TMP pub use run::{Outcome, Ports, execute};
//TMP pub use trial::{TrialContext, run_trial};

//! Long jobs: target, consent, signals, devices that hang, turns with other processes, journal, resumption, and the
//! record. Nothing here needs a terminal: messages go to a [`Voice`].
//!
//! Folders; each uses only those after it: `jobs`, `drive`, `gate`, `target`, `data`, `voice`, `error`.

mod build;
mod constants;
mod data;
mod drive;
mod error;
mod gate;
mod jobs;
mod target;
mod voice;

pub use build::Build;
pub use constants::CONSTANTS;
pub use data::looks::{looks_of, parse_look};
pub use data::state::States;
pub use data::unfinished::{Unfinished, finish, journal_name, unusable};
pub use data::{Data, store_error};
pub use drive::in_turns::InTurns;
pub use drive::job::{Interruption, Job};
pub use drive::keeper::Keeper;
pub use drive::session::{Driven, Session};
pub use drive::traces::Traces;
pub use drive::turn::{Claim, FirstWait, Step, Turn, UnderWay, stop_work};
pub use drive::watch::{Rescue, Signals, Watch};
pub use error::{CommandError, Exit};
pub use gate::consent::{Consent, Intent, Leave, ask, permit_writing, quoted, refuse_used};
pub use gate::file;
pub use gate::whole_device::{Tested, WholeDevice};
pub use jobs::anatomy::anatomy;
pub use jobs::endure::endurance::{Endurance, Rest};
pub use jobs::endure::{EndureRequest, endure, to_endure};
pub use jobs::integrity::{LoanTerms, TestRequest, TestResult, card_name, path_name, seed};
pub use jobs::measure::{Measured, Measurement, device_bytes, disk_path, has_room, measure};
pub use jobs::power_cut::{CutDone, CutRequest, CutTarget, check_power_cut, power_cut};
pub use jobs::prepare::filling::{Filling, FillingEnd};
pub use jobs::prepare::{PreparationEnd, prepare};
pub use jobs::probe::{ProbeTerms, probe};
pub use jobs::since::Since;
pub use jobs::verify::reading::verify_reading;
pub use jobs::verify::{VerifyPart, VerifyScope, VerifyTarget, verify};
pub use jobs::watch::{LookRequest, Looked, last_looks, watch};
pub use jobs::writers::writers;
pub use target::choose::{Chosen, choose};
pub use target::describe;
pub use target::history::{CardHistory, Prepared, devices};
pub use voice::{Progress, Silent, Trials, Voice, Waits};

//! Long jobs: signals, devices that hang, turns with other processes, journal and resumption. Nothing here needs
//! a terminal: messages go to a [`Voice`].

mod blocks;
mod data;
mod drive;
mod endurance;
mod error;
mod filling;
mod holder;
mod keep;
mod traces;
mod turn;
mod voice;
mod watch;

pub use blocks::InTurns;
pub use data::{Data, store_error};
pub use drive::{Driven, Interruption, Job, Session};
pub use endurance::{Endurance, Rest};
pub use error::{CommandError, Exit};
pub use filling::{Filling, FillingEnd, Prepared};
pub use keep::{Unfinished, finish, unusable};
pub use traces::Traces;
pub use turn::Turn;
pub use voice::{Progress, Silent, Voice};
pub use watch::{Rescue, Signals, Watch};

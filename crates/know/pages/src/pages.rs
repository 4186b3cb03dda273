//! Pages, one file for each kind. They show what the views hold, with the charts and tables of the program's reports. A script sorts
//! tables; no page needs it.

pub mod boards;
pub mod checks;
pub mod choice;
pub mod circumstances;
pub mod compare;
pub mod feed;
mod figures;
pub mod history;
pub mod home;
pub mod pictures;
pub mod product;
pub mod published;
pub mod ranking;
pub mod run;
pub mod runs;

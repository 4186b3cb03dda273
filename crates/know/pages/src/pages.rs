//! Pages, one file for each kind. They show what the views hold, with the charts and tables of the program's reports. A script sorts
//! tables; no page needs it.

mod answers;
pub mod attention;
pub mod boards;
pub mod checks;
pub mod choice;
pub mod circumstances;
pub mod compare;
pub mod compare_products;
pub mod feed;
mod figures;
pub mod fleet;
pub mod history;
pub mod home;
pub mod pictures;
pub mod product;
pub mod published;
mod published_charts;
pub mod ranking;
pub mod run;
pub mod runs;
pub mod under_way;

//! One contract for both databases.

mod contract;
mod limits;
mod lists;
mod postgres;
mod rebuild;
mod records;
mod samples;
mod seeds;
mod site;
mod speed;
mod sqlite;

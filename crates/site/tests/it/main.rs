//! The API, asked as clients ask it.

mod bodies;
mod lists;
mod network;
mod openapi;
mod owners;
mod rig;
mod submissions;

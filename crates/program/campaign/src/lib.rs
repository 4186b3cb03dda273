//! A campaign: many cards on several boards, measured in an order that favours none.
//!
//! Its whole state is the records in the folder beside its file, so that both can be carried from
//! board to board, and it goes on where it ended.

mod child;
mod folder;
mod measure;
mod order;
mod question;
mod recognise;
mod request;
mod spec;
mod tour;

pub use folder::{Done, Folder};
pub use measure::{measure, plan};
pub use request::CampaignRequest;
pub use spec::{Campaign, CardSpec, EXAMPLE, SlotSpec};

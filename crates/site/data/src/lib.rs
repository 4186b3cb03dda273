//! Open data of a results site.
//!
//! A dump is a folder with everything that a site publishes; importing it makes the same site. Its documents can be derived
//! again into tables of the same columns, part by part. Formats and their reasons: docs/SITE.md, docs/adr/0017.

#[cfg(test)]
extern crate self as cardmark_site_data;

mod derived;
mod dump;
mod error;
mod files;
mod import;
mod kept;
mod line;
mod manifest;
mod month;
mod new_folder;
mod rows;
mod table;
mod verify;

pub use derived::{DerivedPart, derive_part};
pub use dump::{DumpAbout, Dumped, write_dump};
pub use error::DataError;
pub use import::{Imported, import};
pub use kept::{day_of, packed, rederived, unpacked};
pub use line::DocumentLine;
pub use manifest::{DUMP_FORMAT, FileEntry, Manifest, manifest_of};
pub use new_folder::NewFolder;
pub use verify::{verify, withdrawn_in};

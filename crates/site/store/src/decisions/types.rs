//! Arguments and results of moderation.

use cardmark_share::TAG_BYTES;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::types::{Cursor, Head, Limit};

/// An act of a moderator: its kind and its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "target", rename_all = "snake_case")]
pub enum Deed {
    /// Quarantines records, whatever their checks found.
    Hold(Scope),
    /// Shares records, whatever their checks found.
    Release(Scope),
    /// Confirms the name of a product.
    Accept {
        /// Key of the product.
        product: String,
        /// Its name.
        name: String,
    },
    /// Counts records of a product under another one.
    Merge {
        /// Key of the product.
        product: String,
        /// Key of the other product.
        into: String,
        /// Name of the other product.
        into_name: String,
    },
    /// Counts records of a product whose device has this model under another product.
    Split {
        /// Key of the product.
        product: String,
        /// Model that the device reports.
        model: String,
        /// Key of the other product.
        into: String,
        /// Name of the other product.
        into_name: String,
    },
    /// Switches something on.
    SwitchOn {
        /// The switch.
        switch: Switch,
    },
    /// Switches something off.
    SwitchOff {
        /// The switch.
        switch: Switch,
    },
    /// Undoes another act.
    Undo {
        /// Number of the other act.
        act: i64,
    },
}

/// Records that an act is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One record.
    Record(Uuid),
    /// All records under a submitter's tag, present and future ones.
    #[serde(with = "hexadecimal")]
    Tag([u8; TAG_BYTES]),
}

/// A switch of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Switch {
    /// New records are quarantined until they are released.
    QuarantineNew,
    /// Nothing is taken in; withdrawing stays possible.
    ReadOnly,
}

impl Switch {
    /// All switches.
    pub const ALL: [Self; 2] = [Self::QuarantineNew, Self::ReadOnly];
}

mod hexadecimal {
    use cardmark_share::{TAG_BYTES, from_hexadecimal, to_hexadecimal};
    use serde::de::{Deserialize as _, Deserializer, Error as _};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(
        tag: &[u8; TAG_BYTES],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(&to_hexadecimal(tag))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<[u8; TAG_BYTES], D::Error> {
        let text = String::deserialize(from)?;
        from_hexadecimal(&text).ok_or_else(|| D::Error::custom("not a tag"))
    }
}

/// An act that is to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAct {
    /// Name of the moderator's account.
    pub account: String,
    /// The act.
    pub deed: Deed,
    /// Reason, for everybody to read.
    pub reason: String,
    /// Time, milliseconds since 1970.
    pub at_ms: i64,
}

/// A recorded act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// Its number, from 1 in the order of time.
    pub number: i64,
    /// Time, milliseconds since 1970.
    pub at_ms: i64,
    /// Name of the moderator's account.
    pub account: String,
    /// Kind and target.
    pub deed: Deed,
    /// Reason.
    pub reason: String,
    /// Number of the act that undoes it.
    pub undone_by: Option<i64>,
    /// False while records are left to which it is not applied.
    pub is_applied: bool,
}

/// Answer to a new act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moderated {
    /// It is recorded under this number; it may have to be applied to records yet.
    Done(i64),
    /// It is not possible.
    Refused(Objection),
}

/// Reason for which an act is not possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// There is no such record.
    UnknownRecord,
    /// There is no such act.
    UnknownAct,
    /// Another act undid it; its number.
    UndoneBefore(i64),
    /// Products would be counted under each other in a circle.
    Circle,
    /// The switch is in this position.
    NoChange,
}

/// Conditions of the queue of records for moderators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueSearch {
    /// Records that an act decides on, instead of those that wait for a decision.
    pub is_decided: bool,
    /// Only records in which this check failed or marked something.
    pub check: Option<cardmark_share::CheckName>,
    /// Only records under this tag.
    pub tag: Option<[u8; TAG_BYTES]>,
    /// Place after which the page begins.
    pub after: Option<Cursor>,
    /// Most records of a page, up to 100.
    pub limit: u32,
}

/// A page of the queue, the last arrivals first. It can have fewer records than asked for, or none, and still not be the
/// last one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueuePage {
    /// Records.
    pub heads: Vec<Head>,
    /// Place after which the next page begins; `None` on the last page.
    pub next: Option<Cursor>,
}

/// Answer of an owner to a quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnersAnswer {
    /// The text.
    pub text: String,
    /// Time, milliseconds since 1970.
    pub at_ms: i64,
}

/// Result of an owner's answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answered {
    /// It is stored.
    Now(Box<Head>),
    /// The record is not quarantined.
    NotQuarantined,
    /// The token is not that of the record, or the record has none.
    Forbidden,
    /// There is no such record.
    Unknown,
    /// It was withdrawn.
    Gone,
    /// A bucket is empty.
    Limited(Limit),
    /// The site takes nothing in at present.
    ReadOnly,
}

/// An account of a moderator.
#[derive(Clone, PartialEq, Eq)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Hash of the password.
    pub password: PasswordHash,
    /// Secret of one-time codes (RFC 6238).
    pub totp: Vec<u8>,
    /// Time at which it was made, milliseconds since 1970.
    pub created_ms: i64,
}

/// argon2id of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash {
    /// The hash.
    pub hash: [u8; 32],
    /// Its salt.
    pub salt: [u8; 16],
    /// Memory, KiB.
    pub memory_kib: u32,
    /// Passes over the memory.
    pub passes: u32,
}

/// Never prints secrets.
impl std::fmt::Debug for Account {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Account({})", self.name)
    }
}

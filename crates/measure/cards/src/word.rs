//! Words of later versions.

#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::fmt;

use arrayvec::ArrayString;
#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Defines enums of words of the record. Each has a variant `Other` for a word that this version does not know.
#[macro_export]
macro_rules! words {
    ($($(#[$about:meta])* pub enum $name:ident { $($(#[$of:meta])* $word:ident,)* })*) => { $(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(::schemars::JsonSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name {
            $($(#[$of])* $word,)*
            /// A word that this version does not know.
            #[serde(untagged)]
            Other($crate::Word),
        }
    )* };
}

/// Maximum length of a word, bytes.
const MOST_BYTES: usize = 40;

/// A word of a vocabulary that this version does not know, kept as it was read: 1 to 40 of `a`–`z`, `0`–`9` and `_`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "ArrayString<MOST_BYTES>")]
pub struct Word(ArrayString<MOST_BYTES>);

impl Word {
    /// Returns the word, or `None` if it is empty, too long or has other letters.
    pub fn new(text: &str) -> Option<Self> {
        ArrayString::from(text).ok()?.try_into().ok()
    }
}

impl TryFrom<ArrayString<MOST_BYTES>> for Word {
    type Error = &'static str;

    fn try_from(text: ArrayString<MOST_BYTES>) -> Result<Self, Self::Error> {
        let is_of_word = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_');
        if text.is_empty() || !text.bytes().all(is_of_word) {
            return Err("a word has 1 to 40 of the letters a-z, 0-9 and _");
        }
        Ok(Self(text))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

impl fmt::Display for Word {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self)
    }
}

impl std::ops::Deref for Word {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for Word {
    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A word that this version of the schema does not know.",
            "type": "string",
            "pattern": "^[a-z0-9_]{1,40}$",
        })
    }
}

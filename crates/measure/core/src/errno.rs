use std::fmt;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Error number of Linux, the same on all supported processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
#[cfg_attr(feature = "schema", schemars(inline))]
pub struct Errno(pub i32);

impl Errno {
    /// No error of the system: fewer bytes than requested were moved, or the cause is another.
    pub const NONE: Self = Self(0);
    /// Operation not permitted.
    pub const PERM: Self = Self(1);
    /// No such file or directory.
    pub const NOENT: Self = Self(2);
    /// Input/output error.
    pub const IO: Self = Self(5);
    /// No such device or address.
    pub const NXIO: Self = Self(6);
    /// Permission denied.
    pub const ACCESS: Self = Self(13);
    /// Device or resource busy.
    pub const BUSY: Self = Self(16);
    /// No such device.
    pub const NODEV: Self = Self(19);
    /// Invalid argument.
    pub const INVAL: Self = Self(22);
    /// No space left on the device.
    pub const NOSPC: Self = Self(28);
    /// Read-only filesystem.
    pub const ROFS: Self = Self(30);
    /// Device shut down.
    pub const SHUTDOWN: Self = Self(108);
    /// Quota exceeded.
    pub const DQUOT: Self = Self(122);
    /// No medium found.
    pub const NOMEDIUM: Self = Self(123);

    /// Number of an error; [`Self::NONE`] if it is not the system's.
    pub fn of(error: &std::io::Error) -> Self {
        error.raw_os_error().map_or(Self::NONE, Self)
    }

    /// Returns whether it reports that the device is gone.
    pub fn is_gone(self) -> bool {
        [Self::NXIO, Self::NODEV, Self::SHUTDOWN, Self::NOMEDIUM].contains(&self)
    }

    /// Returns whether it reports a lack of space.
    pub fn is_no_space(self) -> bool {
        [Self::NOSPC, Self::DQUOT].contains(&self)
    }

    /// Returns whether it reports a lack of permission.
    pub fn is_not_permitted(self) -> bool {
        [Self::PERM, Self::ACCESS].contains(&self)
    }
}

/// Description and number. The system's own descriptions differ among C libraries.
impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = match self.0 {
            5 => "input/output error",
            6 | 19 | 123 => "no such device",
            9 => "bad file descriptor",
            16 => "device busy",
            22 => "invalid argument",
            28 => "no space left",
            30 => "read-only",
            84 => "illegal byte sequence",
            108 => "device shut down",
            110 => "timed out",
            121 => "remote input/output error",
            122 => "quota used up",
            number => return write!(f, "error {number}"),
        };
        write!(f, "{known} (error {})", self.0)
    }
}

//! Errors to people: what, cause, hint; and the exit codes.

use std::error::Error;

/// Exit of the program, from the least to the most serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything that was asked for was done.
    Done,
    /// It was done, and the requested verdict is bad.
    Bad,
    /// Something is missing: trouble with device or host. Measured figures are kept.
    Trouble,
    /// Ended by SIGTERM or SIGHUP.
    Terminated,
    /// Ended by Ctrl-C.
    Interrupted,
    /// The command line is wrong.
    Usage,
    /// Refused for safety.
    Refused,
    /// A bug.
    Bug,
}

impl Exit {
    /// Every exit, from the least to the most serious.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Bad,
        Self::Trouble,
        Self::Terminated,
        Self::Interrupted,
        Self::Usage,
        Self::Refused,
        Self::Bug,
    ];

    /// Exit code of the process.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Bad => 1,
            Self::Usage => 2,
            Self::Trouble => 3,
            Self::Refused => 4,
            Self::Bug => 5,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }

    /// Returns the more serious of two.
    #[must_use]
    pub fn or_worse(self, other: Self) -> Self {
        self.max(other)
    }
}

/// An error for people.
#[derive(Debug)]
pub struct CommandError {
    /// Exit of the program.
    pub exit: Exit,
    /// Failed action, lower case, without full stop.
    pub what: String,
    /// Causes, the nearest first.
    pub causes: Vec<String>,
    /// Advice.
    pub hints: Vec<String>,
}

impl CommandError {
    /// Creates an error without cause or hint.
    #[must_use]
    pub fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// Creates an error from a library's error and its sources.
    #[must_use]
    pub fn from_error(exit: Exit, error: &dyn Error) -> Self {
        let mut made = Self::new(exit, error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            made.causes.push(cause.to_string());
            source = cause.source();
        }
        made
    }

    /// Adds a cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

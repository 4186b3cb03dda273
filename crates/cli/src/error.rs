//! Errors to people: what, cause, hint; and the exit codes.

use std::error::Error;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Everything asked for was done.
    Done,
    /// It was done, and the verdict that was asked for is bad.
    Bad,
    /// The command line is wrong.
    Usage,
    /// Something is missing: device or host trouble. What was measured is kept.
    Trouble,
    /// Refused for safety.
    Refused,
    /// A bug.
    Bug,
    /// Ended by Ctrl-C.
    Interrupted,
    /// Ended by SIGTERM or SIGHUP.
    Terminated,
}

impl Exit {
    /// The process's exit code (design §7).
    pub(crate) fn code(self) -> u8 {
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

    /// Which of two tells more: 5, 4, 2, 130 and 143, 3, 1, 0.
    pub(crate) fn or_worse(self, other: Self) -> Self {
        const RISING: [Exit; 8] = [
            Exit::Done,
            Exit::Bad,
            Exit::Trouble,
            Exit::Terminated,
            Exit::Interrupted,
            Exit::Usage,
            Exit::Refused,
            Exit::Bug,
        ];
        let rank = |exit: Self| RISING.iter().position(|known| *known == exit);
        if rank(other) > rank(self) {
            other
        } else {
            self
        }
    }
}

/// An error as a person gets to see it.
#[derive(Debug)]
pub(crate) struct CommandError {
    /// How the program ends for it.
    pub(crate) exit: Exit,
    /// What went wrong, lower case, without full stop.
    pub(crate) what: String,
    /// Why, from the nearest cause down.
    pub(crate) causes: Vec<String>,
    /// What to do.
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    /// An error without cause or hint.
    pub(crate) fn new(exit: Exit, what: impl Into<String>) -> Self {
        Self {
            exit,
            what: what.into(),
            causes: Vec::new(),
            hints: Vec::new(),
        }
    }

    /// An error made of a library's error and what lies below it.
    pub(crate) fn from_error(exit: Exit, error: &dyn Error) -> Self {
        let mut made = Self::new(exit, error.to_string());
        let mut source = error.source();
        while let Some(cause) = source {
            made.causes.push(cause.to_string());
            source = cause.source();
        }
        made
    }

    /// The same error with a cause.
    pub(crate) fn because(mut self, cause: impl Into<String>) -> Self {
        self.causes.push(cause.into());
        self
    }

    /// The same error with a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_exit_wins_as_the_design_orders_them() {
        let falling = [
            Exit::Bug,
            Exit::Refused,
            Exit::Usage,
            Exit::Interrupted,
            Exit::Terminated,
            Exit::Trouble,
            Exit::Bad,
            Exit::Done,
        ];
        for (index, worse) in falling.iter().enumerate() {
            for other in &falling[index..] {
                assert_eq!(worse.or_worse(*other), *worse);
                assert_eq!(other.or_worse(*worse), *worse);
            }
        }
        assert_eq!(falling.map(Exit::code), [5, 4, 2, 130, 143, 3, 1, 0]);
    }
}

//! The build of the program that runs here.

use std::sync::OnceLock;

use cardmark_core::{Finding, FindingKind, Severity, Tool};

/// What a program knows of its own build.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Build {
    /// Commit of the sources; `None` outside of a repository.
    pub commit: Option<&'static str>,
    /// Whether the sources differed from that commit.
    pub is_modified: bool,
    /// Target triple.
    pub target: &'static str,
    /// Profile of Cargo.
    pub profile: &'static str,
    /// Time of the commit, seconds since 1970.
    pub time_s: i64,
}

/// 2026-01-01, before the first release: no program of an unknown build is older.
pub(crate) const LEAST_TIME_S: i64 = 1_767_225_600;

static BUILD: OnceLock<Build> = OnceLock::new();

impl Build {
    /// Names the build in all records of measurements that this process makes. Only the first call has an effect.
    pub fn set(self) {
        let _ = BUILD.set(self);
    }

    fn of_process() -> Option<Self> {
        BUILD.get().copied()
    }

    fn tool(self) -> Tool {
        let commit = self.commit.map(str::to_owned);
        Tool {
            modified: commit.is_some().then_some(self.is_modified),
            commit,
            target: Some(self.target.to_owned()),
            profile: Some(self.profile.to_owned()),
            ..tool()
        }
    }
}

/// The program in a record of a simulated run, which is the same for all builds of a version.
pub(crate) fn tool() -> Tool {
    Tool {
        name: "cardmark".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        commit: None,
        modified: None,
        target: None,
        profile: None,
    }
}

/// The program in a record of a measurement.
pub(crate) fn tool_with_build() -> Tool {
    Build::of_process().map_or_else(tool, Build::tool)
}

/// Returns whether the clock can be right at that time, seconds since 1970: not before this program was made.
pub(crate) fn is_clock_set(now_s: i64) -> bool {
    is_after(Build::of_process(), now_s)
}

fn is_after(build: Option<Build>, now_s: i64) -> bool {
    now_s >= build.map_or(LEAST_TIME_S, |build| build.time_s)
}

/// Finding of a clock that is not set.
pub(crate) fn clock_not_set() -> Finding {
    let detail = "the time of day lies before this program was made; the run has no time";
    Finding::new(FindingKind::ClockNotSet, Severity::Note, detail).by_run()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MADE: Build = Build {
        commit: Some("1f2e3d4c5b6a"),
        is_modified: false,
        target: "arm-unknown-linux-musleabihf",
        profile: "release",
        time_s: LEAST_TIME_S + 86_400,
    };

    #[test]
    fn a_board_without_battery_begins_before_this_program_was_made() {
        for build in [Some(MADE), None] {
            assert!(!is_after(build, 0));
            assert!(!is_after(build, LEAST_TIME_S - 1));
            assert!(is_after(build, MADE.time_s));
        }
        assert!(!is_after(Some(MADE), MADE.time_s - 1));
    }

    #[test]
    fn only_measurements_name_the_build() {
        let measured = MADE.tool();
        assert_eq!(measured.version, tool().version);
        assert_eq!(measured.commit.as_deref(), MADE.commit);
        assert_eq!(measured.modified, Some(false));
        assert_eq!(measured.target.as_deref(), Some(MADE.target));
        assert_eq!(measured.profile.as_deref(), Some(MADE.profile));
        assert_eq!(
            (tool().target, tool().profile, tool().modified),
            (None, None, None)
        );
    }

    #[test]
    fn without_a_commit_nothing_is_said_of_changes() {
        let unknown = Build {
            commit: None,
            ..MADE
        };
        assert_eq!(unknown.tool().modified, None);
    }
}

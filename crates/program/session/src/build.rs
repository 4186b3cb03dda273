//! The build of this program.

use cardmark_core::{Finding, FindingKind, Severity, Tool};

/// Version and build, such as `0.1.0 (1f2e3d4c5b6a, x86_64-unknown-linux-gnu, release)`.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("CARDMARK_BUILD"), ")");

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
    let commit = env!("CARDMARK_COMMIT");
    let commit = (!commit.is_empty()).then(|| commit.to_owned());
    Tool {
        modified: commit
            .is_some()
            .then_some(env!("CARDMARK_MODIFIED") == "true"),
        commit,
        target: Some(env!("CARDMARK_TARGET").to_owned()),
        profile: Some(env!("CARDMARK_PROFILE").to_owned()),
        ..tool()
    }
}

/// Returns whether the clock can be right at that time, seconds since 1970: not before this program was made.
pub(crate) fn is_clock_set(now_s: i64) -> bool {
    let made_s = env!("CARDMARK_TIME").parse::<i64>();
    made_s.is_ok_and(|made_s| now_s >= made_s)
}

/// Finding of a clock that is not set.
pub(crate) fn clock_not_set() -> Finding {
    let detail = "the time of day lies before this program was made; the run has no time";
    Finding::new(FindingKind::ClockNotSet, Severity::Note, detail).by_run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_without_battery_begins_before_this_program_was_made() {
        assert!(!is_clock_set(0));
        assert!(is_clock_set(jiff::Timestamp::now().as_second()));
    }

    #[test]
    fn only_measurements_name_the_build() {
        let measured = tool_with_build();
        assert_eq!(measured.version, tool().version);
        assert!(VERSION.starts_with(&measured.version));
        let target = measured.target.unwrap();
        assert!(VERSION.contains(&target), "{VERSION}");
        assert!(target.starts_with(std::env::consts::ARCH), "{target}");
        assert!(measured.profile.is_some());
        assert_eq!(
            (tool().target, tool().profile, tool().modified),
            (None, None, None)
        );
    }
}

//! The build of this program, as its build script found it.

use cardmark_session::Build;

/// Version and build, such as `0.1.0 (1f2e3d4c5b6a, x86_64-unknown-linux-gnu, release)`.
pub(crate) const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("CARDMARK_BUILD"), ")");

/// What records of measurements say of this build.
pub(crate) fn build() -> Build {
    let commit = env!("CARDMARK_COMMIT");
    Build {
        commit: (!commit.is_empty()).then_some(commit),
        is_modified: env!("CARDMARK_MODIFIED") == "true",
        target: env!("CARDMARK_TARGET"),
        profile: env!("CARDMARK_PROFILE"),
        time_s: env!("CARDMARK_TIME").parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_names_the_build() {
        let build = build();
        assert!(VERSION.contains(build.target), "{VERSION}");
        assert!(
            VERSION.ends_with(&format!("{})", build.profile)),
            "{VERSION}"
        );
        assert!(build.target.starts_with(std::env::consts::ARCH));
        assert!(build.time_s > 0);
    }
}

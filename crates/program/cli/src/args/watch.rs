//! Arguments of `watch`.

use cardmark_judge::EventKind;
use clap::{Args, ValueEnum};

use super::values::parse_text;

/// Formats of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people
    Text,
    /// All facts and events
    Json,
}

/// Events that their owner knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged(pub(crate) Option<EventKind>);

/// Kinds of events, by the names in JSON.
const KINDS: [(&str, EventKind); 10] = [
    ("read_only", EventKind::ReadOnly),
    ("failed_operations", EventKind::FailedOperations),
    ("filesystem_errors", EventKind::FilesystemErrors),
    ("media_errors", EventKind::MediaErrors),
    ("disk_warning", EventKind::DiskWarning),
    ("life_over", EventKind::LifeOver),
    ("under_voltage", EventKind::UnderVoltage),
    ("another_card", EventKind::AnotherCard),
    ("perhaps_another", EventKind::PerhapsAnother),
    ("link_trouble", EventKind::LinkTrouble),
];
/// Stands for all kinds.
const ALL: &str = "all";

fn parse_acknowledged(text: &str) -> Result<Acknowledged, String> {
    if text == ALL {
        return Ok(Acknowledged(None));
    }
    let known = KINDS.iter().find(|(name, _)| *name == text);
    let names = || KINDS.map(|(name, _)| name).join(", ");
    known
        .map(|(_, kind)| Acknowledged(Some(*kind)))
        .ok_or_else(|| format!("expected one of {ALL}, {}", names()))
}

/// Arguments of `watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    /// Directories or block devices; none: the storage that the system runs from
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Format
    #[arg(long, default_value = "text")]
    pub(crate) format: WatchFormat,
    /// Forget events that you know of: all, or those of a kind, such as `read_only`
    #[arg(
        long,
        value_name = "EVENT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ALL,
        value_parser = parse_acknowledged
    )]
    pub(crate) acknowledge: Option<Acknowledged>,
    /// The product that the card is, such as `Samsung PRO Endurance`: shows what its maker states it can be written
    #[arg(long, value_name = "NAME", value_parser = parse_text)]
    pub(crate) product: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_the_names_of_the_json() {
        for (name, kind) in KINDS {
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
            assert_eq!(parse_acknowledged(name), Ok(Acknowledged(Some(kind))));
        }
        assert_eq!(parse_acknowledged("all"), Ok(Acknowledged(None)));
        assert!(parse_acknowledged("everything").is_err());
    }
}

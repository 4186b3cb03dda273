//! Arguments of `watch`.

use cardmark_judge::EventKind;
use clap::{Args, ValueEnum, ValueHint};

use super::WrittenFile;
use super::values::parse_text;

/// Formats of a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WatchFormat {
    /// For people
    Text,
    /// All facts and events
    Json,
    /// Metrics for the textfile collector of Prometheus' node exporter
    Prometheus,
    /// A plugin for Nagios, Icinga and the like; its exit status is 0, 1 (warning), 2 (critical) or 3 (unknown)
    Nagios,
}

/// Events that their owner knows of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged(pub(crate) Option<EventKind>);

/// Stands for all kinds.
const ALL: &str = "all";

fn parse_acknowledged(text: &str) -> Result<Acknowledged, String> {
    if text == ALL {
        return Ok(Acknowledged(None));
    }
    let known = EventKind::NAMED.iter().find(|(name, _)| *name == text);
    let names = || EventKind::NAMED.map(|(name, _)| name).join(", ");
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
    /// Write to this file, which is replaced as a whole; `-`: standard output
    #[arg(short, long, value_name = "FILE|-", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<WrittenFile>,
    /// Print one line if something is wrong, otherwise nothing: for the login
    #[arg(long, conflicts_with_all = ["format", "output", "acknowledge"])]
    pub(crate) login: bool,
    /// Look each day with these arguments: writes a service and a timer of systemd to /etc/systemd/system, prints and starts them
    #[arg(long, conflicts_with_all = ["login", "acknowledge"])]
    pub(crate) install: bool,
    /// Stop and remove that service and timer; the state between looks stays
    #[arg(long, exclusive = true)]
    pub(crate) uninstall: bool,
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
        for (name, kind) in EventKind::NAMED {
            assert_eq!(serde_json::to_value(kind).unwrap(), name);
            assert_eq!(parse_acknowledged(name), Ok(Acknowledged(Some(kind))));
        }
        assert_eq!(parse_acknowledged("all"), Ok(Acknowledged(None)));
        assert!(parse_acknowledged("everything").is_err());
    }
}

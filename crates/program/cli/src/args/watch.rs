//! Arguments of `watch`.

use std::time::Duration;

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

/// Longest observation, seconds.
const LONGEST_S: u64 = 86_400;

/// A time in whole seconds, minutes or hours.
fn parse_span(text: &str) -> Result<Duration, String> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    let factor = match unit.trim() {
        "s" => Some(1),
        "min" => Some(60),
        "h" => Some(3600),
        _ => None,
    };
    let seconds = factor.and_then(|factor| number.parse::<u64>().ok()?.checked_mul(factor));
    let seconds = seconds.filter(|seconds| (1..=LONGEST_S).contains(seconds));
    let span = seconds.map(Duration::from_secs);
    span.ok_or_else(|| "expected a time of at most a day, such as 60s or 10min".to_owned())
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
    /// Show which programs write to the card, and which files, for a time such as `60s` or `10min`. Names are shown only, and kept nowhere
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_span,
        conflicts_with_all = ["format", "output", "acknowledge", "product", "login", "install"]
    )]
    pub(crate) writers: Option<Duration>,
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

    #[test]
    fn times_have_a_unit_and_an_end() {
        assert_eq!(parse_span("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_span("10min"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_span("24h"), Ok(Duration::from_secs(86_400)));
        for bad in ["", "60", "0s", "25h", "-1s", "1.5h", "s"] {
            assert!(parse_span(bad).is_err(), "{bad}");
        }
    }
}

//! What the readers make of a text: parts of a record.

use std::collections::BTreeMap;

use cardmark_core::{Board, DeviceInfo, Finding, Host, Metric};

/// Parts of one record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The tools that printed the figures, with their version if known.
    pub tools: Vec<String>,
    /// The suite of ours that gives the same figures.
    pub suite: Option<&'static str>,
    /// The figures.
    pub metrics: Vec<Metric>,
    /// Units with two meanings, figures that were not understood, lost data.
    pub findings: Vec<Finding>,
    /// Facts about card and report that have no field of their own.
    pub labels: BTreeMap<String, String>,
    /// The computer, if the report names it.
    pub board: Option<Board>,
    /// The system, if the report names it.
    pub host: Option<Host>,
    /// The card or disk, if the report describes it.
    pub device: Option<DeviceInfo>,
}

impl Imported {
    /// The printed figures, one `id: number unit` per line.
    pub fn printed_text(&self) -> Option<String> {
        let figure = |metric: &Metric| {
            let printed = metric.printed.as_ref()?;
            Some(format!("{}: {}", metric.id, printed.text))
        };
        let figures: Vec<String> = self.metrics.iter().filter_map(figure).collect();
        (!figures.is_empty()).then(|| figures.join("\n"))
    }
}

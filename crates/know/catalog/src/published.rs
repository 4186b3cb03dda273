//! Published results of others: `published/*.toml` and `*.csv`.

use std::collections::BTreeMap;

use cardmark_core::{
    Board, Bus, Context, DeviceInfo, Finding, FindingKind, Metric, Origin, OriginKind, Printed,
    Quantity, Queue, Reader, ReaderKind, Record, Severity, SuiteRef, simulated_run_id,
};
use serde::Deserialize;

use crate::Product;

/// A publication, with notes on its figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// Name of its files.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Author.
    pub author: String,
    /// Its address.
    pub address: String,
    /// Year, month or day of the publication, as far as known.
    pub published: Option<String>,
    /// Licence of the publication, or a note that none is stated.
    pub licence: String,
    /// Day on which it was read.
    pub checked_on: String,
    /// Settings that many figures share.
    pub settings: Vec<Setting>,
    /// Interpretation of printed units.
    pub units: Vec<Unit>,
    /// Missing figures, and entries that are not numbers.
    #[serde(default)]
    pub absent: Vec<Absent>,
    /// Measured cards, in the order of the publication.
    #[serde(skip)]
    pub runs: Vec<PublishedRun>,
}

/// Computer, reader and other settings that many figures share, as far as stated.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// Its name in the figures.
    pub id: String,
    /// Suite that reproduces the measurement.
    pub suite: Option<String>,
    /// The computer.
    pub board: Option<String>,
    /// Device between computer and card.
    pub reader: Option<ReaderKind>,
    /// Operating system, kernel, filesystem.
    pub system: Option<String>,
    /// Clock that the card slot was raised to, hertz.
    pub overclock_hz: Option<u64>,
    /// True if the card's command queue was in use.
    pub command_queue: Option<bool>,
    /// Further notes.
    pub note: Option<String>,
}

/// Interpretation of a printed unit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// The metrics that are printed with it.
    pub metrics: Vec<String>,
    /// The printed form; empty if there is none.
    pub printed: String,
    /// Its quantity.
    #[serde(default = "byte_rate")]
    pub quantity: Quantity,
    /// Smallest possible meaning of 1 of it, in the quantity's unit.
    pub least: f64,
    /// Largest possible meaning of 1 of it.
    pub most: f64,
    /// Reason for this interpretation.
    pub reason: String,
}

fn byte_rate() -> Quantity {
    Quantity::ByteRate
}

/// A missing figure, or an entry that is not a number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// The figure.
    pub what: String,
    /// The text in its place.
    pub why: String,
}

/// One measurement of a card.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedRun {
    /// Position in the publication.
    pub place: String,
    /// Name of the setting.
    pub setting: String,
    /// The product.
    pub product: &'static Product,
    /// Name in the publication.
    pub name: String,
    /// Number of the repeat of the same card in the same setting, from 1.
    pub run_index: u32,
    /// Figures, in the order of the publication.
    pub figures: Vec<PublishedFigure>,
}

/// A figure as printed, with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedFigure {
    /// The metric.
    pub metric: String,
    /// The number, letter for letter.
    pub printed: String,
    /// The unit, letter for letter.
    pub unit: String,
    /// `about`, `over` or `under` if the publication contains it; otherwise empty.
    pub note: String,
    /// The printed number.
    pub number: f64,
    /// Its quantity.
    pub quantity: Quantity,
    /// Its meaning in the quantity's unit: the middle if the unit has two readings.
    pub value: f64,
    /// Difference between the middle and the readings of its unit, as a ratio; 0 if there is one reading.
    pub doubt_ratio: f64,
}

impl Publication {
    /// Returns the setting of this name.
    pub fn setting(&self, id: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.id == id)
    }

    /// Returns the number of figures.
    pub fn figures_count(&self) -> usize {
        self.runs.iter().map(|run| run.figures.len()).sum()
    }

    /// Returns each run as a record.
    pub fn records(&self) -> Vec<Record> {
        self.runs.iter().map(|run| self.record(run)).collect()
    }

    fn record(&self, run: &PublishedRun) -> Record {
        let index = run.run_index.to_string();
        let parts = [
            "published",
            &self.id,
            &run.setting,
            &run.product.id,
            &run.name,
            &index,
        ];
        let printed: Vec<String> = run.figures.iter().map(PublishedFigure::text).collect();
        let origin = Origin {
            source: Some(self.address.clone()),
            printed_text: Some(format!("{}: {}", run.name, printed.join("; "))),
            ..Origin::of(OriginKind::Published)
        };
        let mut record = Record::new(simulated_run_id(&parts), origin);
        if let Some(setting) = self.setting(&run.setting) {
            describe(&mut record, setting, run.product);
        }
        record.metrics = run.figures.iter().map(PublishedFigure::metric).collect();
        record.findings = doubts(&run.figures);
        record.labels = BTreeMap::from([
            ("product".to_owned(), run.product.name()),
            ("publication".to_owned(), self.id.clone()),
            ("setting".to_owned(), run.setting.clone()),
        ]);
        record.context = Some(Context::of(&record));
        record
    }
}

fn describe(record: &mut Record, setting: &Setting, product: &Product) {
    let suite = setting
        .suite
        .as_deref()
        .and_then(|name| crate::suite(name, None).ok());
    record.suite = suite.map(|suite| SuiteRef {
        name: suite.name,
        version: suite.version,
        digest: None,
        only: Vec::new(),
        tier: None,
    });
    record.board = setting.board.as_ref().map(|model| Board {
        model: Some(model.clone()),
        ..Board::default()
    });
    let bus = setting.overclock_hz.map(|hertz| Bus {
        overclock_hz: Some(hertz),
        ..Bus::default()
    });
    let queue = setting.command_queue.map(|is_on| Queue {
        command_queue: Some(is_on),
        ..Queue::default()
    });
    record.devices = vec![DeviceInfo {
        size_bytes: product.capacity_bytes,
        queue,
        reader: setting.reader.map(|kind| Reader {
            kind,
            driver: None,
            bus,
            usb: None,
            pcie: None,
            sata_bits_per_s: None,
        }),
        ..DeviceInfo::default()
    }];
}

impl PublishedFigure {
    fn text(&self) -> String {
        let parts = [&self.metric, &self.note, &self.printed, &self.unit];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        parts.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    fn metric(&self) -> Metric {
        let mut metric = Metric::new(self.metric.clone(), self.quantity, self.value);
        match self.quantity {
            Quantity::ByteRate => metric.rate_bytes_per_s = Some(self.value),
            Quantity::OperationRate => metric.operations_per_s = Some(self.value),
            _ => {}
        }
        metric.printed = Some(Printed {
            tool: tool_of(&self.metric).to_owned(),
            text: format!("{} {}", self.printed, self.unit).trim().to_owned(),
            value: self.number,
            meaning: None,
        });
        metric
    }
}

/// Returns the tool after which a metric of an old suite is named.
fn tool_of(metric: &str) -> &str {
    let metric = metric.strip_prefix("pibenchmarks_").unwrap_or(metric);
    metric.split('_').next().unwrap_or(metric)
}

/// Returns one finding for all figures whose unit is ambiguous.
fn doubts(figures: &[PublishedFigure]) -> Vec<Finding> {
    let most = figures.iter().map(|f| f.doubt_ratio).fold(0.0, f64::max);
    if most == 0.0 {
        return Vec::new();
    }
    let detail = format!(
        "the source does not define its MB: figures may be off by {:.1} %",
        100.0 * most
    );
    let finding = Finding::new(FindingKind::AmbiguousUnit, Severity::Note, detail);
    let in_doubt = figures.iter().filter(|figure| figure.doubt_ratio > 0.0);
    vec![in_doubt.fold(finding, |finding, figure| finding.on(&figure.metric))]
}

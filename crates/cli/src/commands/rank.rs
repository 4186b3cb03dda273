//! `cardmark rank`.

use std::collections::HashMap;
use std::sync::Arc;

use cardmark_catalog::{product_name, publications};
use cardmark_core::{Context, Metric, Quantity, Record};
use cardmark_judge::known_spread;
use cardmark_report::{Ranking, ranking};
use cardmark_stats::{Candidate, Subject, rank as places};
use cardmark_store::{StoredFigure, StoredSubject};
use serde_json::json;

use crate::args::RankArguments;
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::Runs;
use cardmark_session::{Data, store_error};

/// Shows where a run stands among own and published results, metric by metric.
pub(crate) fn rank(arguments: &RankArguments) -> Result<Exit, CommandError> {
    let asked = asked(arguments)?;
    let metrics = metrics(arguments, asked.as_ref())?;
    let mut store = Data::from_environment()?.open()?;
    let published: Vec<Record> = publications()
        .iter()
        .flat_map(|publication| publication.records())
        .collect();
    // Figures first: a run that another process stores meanwhile has no figure without a subject.
    let mut all_figures = Vec::new();
    for metric in &metrics {
        all_figures.push(store.figures(metric).map_err(|error| store_error(&error))?);
    }
    let subjects = store.subjects().map_err(|error| store_error(&error))?;
    let subjects: HashMap<String, Arc<Subject>> = subjects.into_iter().map(of_store).collect();
    let mut texts = Vec::new();
    let mut rows = Vec::new();
    for (metric, figures) in metrics.iter().zip(all_figures) {
        let stored = Stored {
            figures,
            subjects: &subjects,
        };
        let field = Field::new(arguments, metric, asked.as_ref(), &stored, &published)?;
        let Some(quantity) = field.quantity else {
            continue;
        };
        if field.candidates.is_empty() {
            continue;
        }
        let index = field.begins_with_asked.then_some(0);
        let found = places(&field.candidates, index, known_spread(metric, quantity));
        texts.push(ranking(
            &Ranking {
                metric,
                quantity,
                places: &found,
                all: arguments.all || asked.is_none(),
            },
            print::width(),
            print::style(),
        ));
        rows.push(json!({ "metric": metric, "quantity": quantity, "places": found }));
    }
    if rows.is_empty() {
        let what = format!("no results of {}", metrics.join(", "));
        return Err(CommandError::new(Exit::Usage, what)
            .hint("`cardmark list published` shows which metrics others published"));
    }
    if arguments.json {
        print::result(&format!("{:#}\n", json!(rows)))?;
    } else {
        print::result(&texts.join("\n"))?;
    }
    Ok(Exit::Done)
}

/// The run that was named; without any name, the last one, unless a metric was asked for.
fn asked(arguments: &RankArguments) -> Result<Option<Record>, CommandError> {
    let name = match &arguments.run {
        Some(run) => run.as_str(),
        None if arguments.metrics.is_empty() => "last",
        None => return Ok(None),
    };
    let (mut record, remarks) = Runs::default().one(name)?;
    record.labels.extend(remarks);
    Ok(Some(record))
}

/// The metrics that were named, or else the rates of the run.
fn metrics(arguments: &RankArguments, asked: Option<&Record>) -> Result<Vec<String>, CommandError> {
    if !arguments.metrics.is_empty() {
        return Ok(arguments.metrics.clone());
    }
    let all = asked.iter().flat_map(|record| &record.metrics);
    let (voided, rates): (Vec<&Metric>, Vec<&Metric>) = all
        .filter(|metric| metric.quantity.is_rate())
        .partition(|metric| metric.voided_by().is_some());
    if rates.is_empty() {
        let mut error = CommandError::new(Exit::Usage, "this run has no rate to be ranked by");
        let warning = voided.first().and_then(|metric| metric.voided_by());
        error
            .causes
            .extend(warning.map(|warning| format!("its figures are not the device's: {warning}")));
        return Err(error);
    }
    Ok(rates.into_iter().map(|metric| metric.id.clone()).collect())
}

/// The figures of a metric that are stored, and what they are of, by run.
struct Stored<'a> {
    figures: Vec<StoredFigure>,
    subjects: &'a HashMap<String, Arc<Subject>>,
}

/// All figures of a metric.
struct Field {
    quantity: Option<Quantity>,
    candidates: Vec<Candidate>,
    /// Whether the first is that of the run that was asked for.
    begins_with_asked: bool,
}

impl Field {
    fn new(
        arguments: &RankArguments,
        metric: &str,
        asked: Option<&Record>,
        stored: &Stored<'_>,
        published: &[Record],
    ) -> Result<Self, CommandError> {
        let mut field = Self {
            quantity: None,
            candidates: Vec::new(),
            begins_with_asked: false,
        };
        // A run from a file may not be in the store.
        let own = asked.and_then(|record| Some((record, record.metric(metric)?)));
        if let Some((record, metric)) = own.filter(|(_, metric)| metric.voided_by().is_none()) {
            field.add(metric.quantity, of_record(record, metric));
            field.begins_with_asked = !field.candidates.is_empty();
        }
        for record in published {
            if let Some(metric) = record.metric(metric) {
                field.add(metric.quantity, of_record(record, metric));
            }
        }
        let asked_id = asked.map(|record| record.id.to_string());
        for figure in &stored.figures {
            if Some(&figure.run) == asked_id.as_ref() {
                continue;
            }
            let subject = stored.subjects.get(&figure.run).ok_or_else(|| {
                let what = format!("a figure of run {} belongs to no stored run", figure.run);
                CommandError::new(Exit::Trouble, what)
                    .because("the store is damaged")
                    .hint("restore it from a backup; `cardmark export` writes what is readable")
            })?;
            let candidate = Candidate {
                subject: Arc::clone(subject),
                value: figure.value,
                printed: None,
            };
            field.add(figure.quantity, candidate);
        }
        if arguments.board.is_some() || arguments.publication.is_some() {
            field.keep(arguments);
        }
        Ok(field)
    }

    /// Figures of another quantity under the same name are left out.
    fn add(&mut self, quantity: Quantity, candidate: Candidate) {
        let is_alike = *self.quantity.get_or_insert(quantity) == quantity;
        if is_alike && quantity.is_rate() {
            self.candidates.push(candidate);
        }
    }

    /// Only those of boards whose name holds that text, and of that publication; the run that was
    /// asked for stays.
    fn keep(&mut self, arguments: &RankArguments) {
        let wanted = arguments.board.as_ref().map(|board| board.to_lowercase());
        let is_on = |candidate: &Candidate| {
            let board = candidate.subject.board.as_deref().unwrap_or_default();
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| board.to_lowercase().contains(wanted))
        };
        let is_from = |candidate: &Candidate| {
            let wanted = arguments.publication.as_ref();
            wanted.is_none_or(|wanted| candidate.subject.publication.as_ref() == Some(wanted))
        };
        let mut is_asked = self.begins_with_asked;
        self.candidates.retain(|candidate| {
            std::mem::take(&mut is_asked) || (is_on(candidate) && is_from(candidate))
        });
    }
}

fn of_record(record: &Record, metric: &Metric) -> Candidate {
    let device = record.devices.first();
    let label = |key: &str| record.labels.get(key).cloned();
    let name = label("product").map(|label| product_name(&label));
    let model = || device.and_then(|device| device.model.clone());
    let source = || record.origin.source.clone();
    let subject = Subject {
        name: name
            .or_else(model)
            .or_else(source)
            .unwrap_or_else(|| "unknown".to_owned()),
        board: record.board.as_ref().and_then(|board| board.model.clone()),
        setting: label("setting"),
        origin: record.origin.kind,
        publication: label("publication"),
        card: label("sample").or_else(|| device?.sample_id.clone()),
        context: Arc::new(Context::of(record).must),
    };
    Candidate {
        subject: Arc::new(subject),
        value: metric.value,
        printed: metric.printed.as_ref().map(|printed| printed.text.clone()),
    }
}

/// What a stored run was of, by its id.
fn of_store(stored: StoredSubject) -> (String, Arc<Subject>) {
    let name = stored.product.map(|label| product_name(&label));
    let subject = Subject {
        name: name
            .or(stored.model)
            .unwrap_or_else(|| "unknown".to_owned()),
        board: stored.board,
        setting: stored.setting,
        origin: stored.origin,
        publication: None,
        card: stored.sample.or(stored.card),
        context: stored.context,
    };
    (stored.run, Arc::new(subject))
}

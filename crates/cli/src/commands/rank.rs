//! `cardmark rank`.

use std::collections::HashMap;
use std::sync::Arc;

use cardmark_catalog::publications;
use cardmark_core::{Metric, Record, Subject};
use cardmark_judge::{Field, FieldFilter, in_catalogue, ranked_metrics};
use cardmark_store::StoredFigure;
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
    let subjects: HashMap<String, Arc<Subject>> = subjects
        .into_iter()
        .map(|(run, subject)| (run, Arc::new(in_catalogue(subject))))
        .collect();
    let filter = FieldFilter {
        board: arguments.board.clone(),
        publication: arguments.publication.clone(),
    };
    let mut rankings = Vec::new();
    for (metric, figures) in metrics.iter().zip(all_figures) {
        let mut field = Field::new(metric, asked.as_ref(), &filter);
        published.iter().for_each(|record| field.add_record(record));
        for figure in figures {
            let subject = subjects.get(&figure.run).ok_or_else(|| orphan(&figure))?;
            field.add(&figure.run, subject, figure.quantity, figure.value);
        }
        rankings.extend(field.ranking());
    }
    if rankings.is_empty() {
        let what = format!("no results of {}", metrics.join(", "));
        return Err(CommandError::new(Exit::Usage, what)
            .hint("`cardmark list published` shows which metrics others published"));
    }
    let text = if arguments.json {
        format!("{:#}\n", json!(rankings))
    } else {
        let all = arguments.all || asked.is_none();
        cardmark_report::rankings(&rankings, all, print::width(), print::style())
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

/// The run that was named; without any name, the last one, unless a metric was asked for.
fn asked(arguments: &RankArguments) -> Result<Option<Record>, CommandError> {
    let name = match &arguments.run {
        Some(run) => run.as_str(),
        None if arguments.metrics.is_empty() => "last",
        None => return Ok(None),
    };
    Ok(Some(Runs::default().one(name)?.record))
}

/// The metrics that were named, or else the rates of the run.
fn metrics(arguments: &RankArguments, asked: Option<&Record>) -> Result<Vec<String>, CommandError> {
    if !arguments.metrics.is_empty() {
        return Ok(arguments.metrics.clone());
    }
    let rates: Vec<&Metric> = asked.into_iter().flat_map(ranked_metrics).collect();
    if rates.is_empty() {
        let mut error = CommandError::new(Exit::Usage, "this run has no rate to be ranked by");
        let mut all = asked.into_iter().flat_map(|record| &record.metrics);
        let voided = all.find(|metric| metric.quantity.is_rate());
        let warning = voided.and_then(Metric::voided_by);
        error
            .causes
            .extend(warning.map(|warning| format!("its figures are not the device's: {warning}")));
        return Err(error);
    }
    Ok(rates.into_iter().map(|metric| metric.id.clone()).collect())
}

/// The error for a figure of an unknown run.
fn orphan(figure: &StoredFigure) -> CommandError {
    let what = format!("a figure of run {} belongs to no stored run", figure.run);
    CommandError::new(Exit::Trouble, what)
        .because("the store is damaged")
        .hint("restore it from a backup; `cardmark export` writes what is readable")
}

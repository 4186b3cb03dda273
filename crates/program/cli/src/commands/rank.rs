//! `cardmark rank`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use cardmark_catalog::{all_equivalents, is_board, meant, nearest_boards, publications};
use cardmark_core::{Metric, OriginKind, Record, Subject, evidence_digest};
use cardmark_judge::{
    Field, FieldFilter, ROLES, Ranking, Role, in_catalogue, order_of, ordered_metrics,
    ranked_metrics, role_of,
};
use cardmark_report::text::count_of;
use cardmark_report::{RankableMetric, rankable_metrics, rankings_json, wrap};
use cardmark_store::{Store, StoredFigure};

use crate::args::RankArguments;
use crate::error::{CommandError, Exit};
use crate::runs::{Runs, own_records, own_store, published_records, readable_store, short};
use crate::terminal::print;

/// Metrics that an error names.
const MOST_NAMED: usize = 3;

/// Shows where a run stands among own and published results, metric by metric.
pub(crate) fn rank(arguments: &RankArguments) -> Result<Exit, CommandError> {
    if arguments.list {
        return list();
    }
    let asked = asked(arguments)?;
    let metrics = metrics(arguments, asked.as_ref())?;
    let filter = FieldFilter {
        board: arguments.board.clone(),
        publication: arguments.publication.clone(),
        is_exact: arguments.exact,
    };
    let mut store = readable_store();
    let rankings = rankings(store.as_mut(), &metrics, asked.as_ref(), &filter)?;
    if rankings.is_empty() {
        return Err(nothing(store.as_mut(), &metrics, &filter)?);
    }
    let text = if arguments.json {
        format!("{:#}\n", rankings_json(&rankings))
    } else {
        let all = arguments.all || asked.is_none();
        let text = cardmark_report::rankings(&rankings, all, print::width(), print::style());
        text + &more(arguments, asked.as_ref(), metrics.len())
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

/// Lists the metrics of published and own results.
fn list() -> Result<Exit, CommandError> {
    let own = own_records()?;
    let mut known: Vec<RankableMetric> = Vec::new();
    for (records, is_own) in [(published_records(), false), (own, true)] {
        for metric in records.iter().flat_map(ordered_metrics) {
            let index = known.iter().position(|one| one.id == metric.id);
            let index = index.unwrap_or(known.len());
            if index == known.len() {
                let Some(order) = order_of(&metric.id, metric.quantity) else {
                    continue;
                };
                known.push(RankableMetric {
                    id: metric.id.clone(),
                    order,
                    published_count: 0,
                    own_count: 0,
                });
            }
            known[index].own_count += usize::from(is_own);
            known[index].published_count += usize::from(!is_own);
        }
    }
    let text = rankable_metrics(&known, print::width(), print::style());
    print::result(&text)?;
    Ok(Exit::Done)
}

/// Figures of the user's own runs.
#[derive(Default)]
struct Own<'a> {
    by_metric: BTreeMap<&'a str, Vec<StoredFigure>>,
    subjects: HashMap<String, Arc<Subject>>,
    /// Runs that do not count.
    copies: BTreeSet<String>,
}

impl<'a> Own<'a> {
    fn read(
        store: &mut Store,
        metrics: BTreeSet<&'a str>,
        asked: Option<&Record>,
    ) -> Result<Self, CommandError> {
        // Figures first: a run that another process stores meanwhile has no figure without a subject.
        let mut by_metric = BTreeMap::new();
        for metric in metrics {
            by_metric.insert(metric, store.figures(metric)?);
        }
        let subjects = store.subjects()?.into_iter();
        Ok(Self {
            by_metric,
            subjects: subjects
                .map(|(run, subject)| (run, Arc::new(in_catalogue(subject))))
                .collect(),
            copies: copies(store, asked)?,
        })
    }
}

fn rankings(
    store: Option<&mut Store>,
    metrics: &[String],
    asked: Option<&Record>,
    filter: &FieldFilter,
) -> Result<Vec<Ranking>, CommandError> {
    let mut fields: Vec<Field<'_>> = metrics
        .iter()
        .map(|metric| Field::new(metric, asked, filter))
        .collect();
    let names: BTreeSet<&str> = fields.iter().flat_map(Field::metrics).collect();
    let own = match store {
        Some(store) => Own::read(store, names, asked)?,
        None => Own::default(),
    };
    let published = published_records();
    for field in &mut fields {
        published.iter().for_each(|record| field.add_record(record));
        for metric in field.metrics() {
            let figures = own.by_metric.get(metric).into_iter().flatten();
            for figure in figures.filter(|figure| !own.copies.contains(&figure.run)) {
                let subject = own.subjects.get(&figure.run);
                field.add(
                    &figure.run,
                    subject.ok_or_else(|| orphan(figure))?,
                    metric,
                    (figure.quantity, figure.value),
                );
            }
        }
    }
    Ok(fields.iter().filter_map(Field::ranking).collect())
}

/// Runs with the measurements of one that was stored before them, or of the run that was asked for.
pub(super) fn copies(
    store: &mut Store,
    asked: Option<&Record>,
) -> Result<BTreeSet<String>, CommandError> {
    let digests = store.digests()?;
    let of_asked = asked.and_then(evidence_digest);
    let asked = asked.map(|record| record.id.to_string());
    let mut met: BTreeSet<&String> = of_asked.iter().collect();
    let mut copies = BTreeSet::new();
    for (run, digest) in &digests {
        if asked.as_ref() != Some(run) && !met.insert(digest) {
            copies.insert(run.clone());
        }
    }
    Ok(copies)
}

/// The run that was named; without any name, the last one with rates, unless metrics or a publication were asked for.
fn asked(arguments: &RankArguments) -> Result<Option<Record>, CommandError> {
    let is_list = !arguments.metrics.is_empty() || arguments.publication.is_some();
    let board = arguments.board.as_ref().filter(|_| arguments.run.is_none());
    let name = match (arguments.run.as_deref(), board) {
        (None, _) if is_list => return Ok(None),
        // A store that cannot be opened is a notice later.
        (None, Some(_)) => last_with_rates(own_store().unwrap_or_default())?,
        (None | Some("last"), _) => last_with_rates(own_store()?)?,
        (Some(run), _) => Some(run.to_owned()),
    };
    let Some(name) = name else {
        return match board {
            Some(_) => Ok(None),
            None => Err(CommandError::new(Exit::Usage, "no run has rates yet").hint(
                "`cardmark run` measures some; `cardmark rank --board \"Pi 4\"` ranks published results",
            )),
        };
    };
    let record = Runs::default().one(&name)?.record;
    // A simulated run has no place on a real board.
    let is_elsewhere = |board: &String| {
        let own = record.board.as_ref().and_then(|own| own.model.as_deref());
        record.origin.kind == OriginKind::Simulated && !own.is_some_and(|own| is_board(own, board))
    };
    let is_beside = board.is_some_and(is_elsewhere);
    Ok((!is_beside).then_some(record))
}

/// The id of the last run with rates, with a notice if later ones have none.
fn last_with_rates(store: Option<Store>) -> Result<Option<String>, CommandError> {
    let Some(mut store) = store else {
        return Ok(None);
    };
    let mut runs = store.list(1)?;
    if runs.iter().all(|run| run.headline.is_empty()) {
        runs = store.list(u32::MAX)?;
    }
    let Some(index) = runs.iter().position(|run| !run.headline.is_empty()) else {
        return Ok(None);
    };
    let id = &runs[index].id;
    if index > 0 {
        let id = short(id);
        print::notice(&format!(
            "the last run has no rates; this is run {id}, the last one with some"
        ));
    }
    Ok(Some(id.clone()))
}

/// The hint at rates that are not ranked.
fn more(arguments: &RankArguments, asked: Option<&Record>, ranked_count: usize) -> String {
    let all = asked.map_or(0, |record| ranked_metrics(record).len());
    let count = all.saturating_sub(ranked_count);
    if count == 0 || !arguments.metrics.is_empty() {
        return String::new();
    }
    let rates = count_of(count, "more rate", "more rates");
    let text = format!("`--all` ranks {rates}, and shows all places");
    wrap(&text, print::width(), 2).join("\n") + "\n"
}

/// The metrics that were named, or else the rates of the run or of the publication: unless all are wanted, those that people
/// ask for.
fn metrics(arguments: &RankArguments, asked: Option<&Record>) -> Result<Vec<String>, CommandError> {
    if !arguments.metrics.is_empty() {
        return Ok(arguments.metrics.clone());
    }
    let Some(record) = asked else {
        return match &arguments.publication {
            Some(id) => metrics_of_publication(id),
            None => Ok(metrics_of_patterns()),
        };
    };
    let rates: Vec<&Metric> = ranked_metrics(record);
    if rates.is_empty() {
        let error = CommandError::new(Exit::Usage, "this run has no rate to be ranked by")
            .hint("`cardmark run TARGET` measures rates; `cardmark list runs` shows the runs that have some");
        let voided = record
            .metrics
            .iter()
            .find(|metric| metric.quantity.is_rate());
        return Err(match voided.and_then(Metric::voided_by) {
            Some(warning) => error.because(format!("its figures are not the device's: {warning}")),
            None => error,
        });
    }
    let all: Vec<String> = rates.into_iter().map(|metric| metric.id.clone()).collect();
    let of_role = |role: &Role| {
        let mut ids = all.iter();
        ids.find(|id| role_of(id) == Some(role)).cloned()
    };
    let main: Vec<String> = ROLES.iter().filter_map(of_role).collect();
    Ok(match arguments.all || arguments.json || main.is_empty() {
        true => all,
        false => main,
    })
}

/// The first metric of each pattern that several methods measure.
fn metrics_of_patterns() -> Vec<String> {
    let methods = all_equivalents()
        .iter()
        .filter_map(|row| row.methods.first());
    methods.map(|method| method.metric.clone()).collect()
}

fn metrics_of_publication(id: &str) -> Result<Vec<String>, CommandError> {
    let Some(publication) = publications().iter().find(|known| known.id == id) else {
        let known: Vec<&str> = publications()
            .iter()
            .map(|known| known.id.as_str())
            .collect();
        let what = format!("no publication is called `{id}`");
        return Err(CommandError::new(Exit::Usage, what).hint(meant(id, &known)));
    };
    let rates = figures_of(&publication.records());
    if rates.is_empty() {
        let what = format!("`{id}` has no figures to rank");
        return Err(CommandError::new(Exit::Usage, what).hint(format!(
            "`cardmark report publication={id}` shows its figures"
        )));
    }
    Ok(rates)
}

/// The metrics with an order of these records, without duplicates.
fn figures_of(records: &[Record]) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for metric in records.iter().flat_map(ordered_metrics) {
        if !ids.contains(&metric.id) {
            ids.push(metric.id.clone());
        }
    }
    ids
}

/// The error for metrics without any result.
fn nothing(
    store: Option<&mut Store>,
    metrics: &[String],
    filter: &FieldFilter,
) -> Result<CommandError, CommandError> {
    let mut records = published_records();
    let own = match store {
        Some(store) => store.select(&[])?,
        None => Vec::new(),
    };
    let is_wanted = |record: &&Record| metrics.iter().any(|id| record.metric(id).is_some());
    let is_simulated = |record: &Record| record.origin.kind == OriginKind::Simulated;
    let simulated = own.iter().filter(is_wanted).any(is_simulated);
    records.extend(own);
    if let Some(error) = unknown_board(&records, filter) {
        return Ok(error);
    }
    let what = match metrics.len() {
        0..=MOST_NAMED => format!("no results of {}", metrics.join(", ")),
        _ => "no results to rank".to_owned(),
    };
    let error = CommandError::new(Exit::Usage, what);
    let is_known = records.iter().any(|record| is_wanted(&record));
    let has_order = |id: &String| {
        let mut all = records.iter().flat_map(|record| &record.metrics);
        all.any(|one| one.id == *id && order_of(id, one.quantity).is_some())
    };
    let list = "`cardmark rank --list` shows the metrics by which results can be ranked";
    Ok(match (is_known, metrics.iter().any(has_order)) {
        (true, false) => error
            .because("neither high nor low figures of it are better")
            .hint(list),
        (true, true) if simulated => error
            .because("simulated runs are not ranked with real cards")
            .hint("`cardmark rank RUN` ranks a simulated run among simulated ones"),
        (true, true) => error.because(format!("none {}", excluded(filter))),
        (false, _) => error.hint(list),
    })
}

/// The error for a board on which nothing was measured.
fn unknown_board(records: &[Record], filter: &FieldFilter) -> Option<CommandError> {
    let name = filter.board.as_deref()?;
    let board = |record: &Record| record.board.as_ref().and_then(|board| board.model.clone());
    let mut boards = records.iter().filter_map(board);
    if boards.any(|board| is_board(&board, name)) {
        return None;
    }
    let what = format!("no results on a board called `{name}`");
    let hint = match nearest_boards(name).as_slice() {
        [] => "`cardmark rank` without `--board` ranks the results of all boards".to_owned(),
        near => format!("perhaps {}", near.join(", ")),
    };
    Some(CommandError::new(Exit::Usage, what).hint(hint))
}

/// What the filters ask for.
fn excluded(filter: &FieldFilter) -> String {
    let board = filter.board.as_ref();
    let board = board.map(|board| format!("on a board called `{board}`"));
    let publication = filter.publication.as_ref();
    let publication = publication.map(|id| format!("in publication `{id}`"));
    let parts: Vec<String> = board.into_iter().chain(publication).collect();
    match parts.as_slice() {
        [] => "that is the device's".to_owned(),
        parts => parts.join(" "),
    }
}

/// The error for a figure of an unknown run.
pub(super) fn orphan(figure: &StoredFigure) -> CommandError {
    let what = format!("a figure of run {} belongs to no stored run", figure.run);
    CommandError::new(Exit::Trouble, what)
        .because("the store is damaged")
        .hint("restore it from a backup; `cardmark export` writes what is readable")
}

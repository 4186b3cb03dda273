//! `cardmark report`.

use std::path::{Path, PathBuf};

use cardmark_core::{OriginKind, Record};
use cardmark_report::chart::{Chart, Size, Theme};
use cardmark_report::document::{Document, html, markdown};
use cardmark_report::{begin_with_answer, csv, run_title, survey, survey_charts, survey_title};
use clap::ValueEnum;

use crate::args::{ReportArguments, ReportFormat};
use crate::error::{CommandError, Exit};
use crate::print;
use crate::runs::{Found, Runs, Source};
use cardmark_session::file;

/// Runs whose trials are read for the charts over time and of latencies. The others are there with
/// their figures: reading thousands of whole records takes longer than anybody waits.
const MOST_WHOLE_RUNS: usize = 24;

/// Writes a report on runs.
pub(crate) fn report(arguments: &ReportArguments) -> Result<Exit, CommandError> {
    let format = format(arguments)?;
    let mut runs = Runs::with_published(arguments.board.as_ref());
    let mut found = runs.sides(&arguments.runs)?;
    for found in found.iter_mut().take(MOST_WHOLE_RUNS) {
        add_trials(&mut runs, found)?;
    }
    let records: Vec<Record> = found.into_iter().map(|found| found.record).collect();
    let title = arguments
        .title
        .clone()
        .unwrap_or_else(|| title_of(&records));
    let text = match format {
        ReportFormat::Md => markdown(&document(&title, &records)),
        ReportFormat::Html => html(&document(&title, &records)),
        ReportFormat::Csv => csv(&records),
        ReportFormat::Json => print::pretty(&records)?,
        ReportFormat::Svg => chart(&records, arguments)?.svg(Theme::Auto, Size::Wide),
        ReportFormat::Png => return picture(&chart(&records, arguments)?, arguments),
    };
    match &arguments.output {
        Some(path) => save(path, text.as_bytes())?,
        None => print::data(&text)?,
    }
    Ok(Exit::Done)
}

/// The format that was asked for, or that the name of the file has.
fn format(arguments: &ReportArguments) -> Result<ReportFormat, CommandError> {
    let ending = arguments.output.as_deref().and_then(Path::extension);
    match (arguments.format, ending.and_then(|ending| ending.to_str())) {
        (Some(format), _) => Ok(format),
        (None, None) if arguments.chart.is_some() => Ok(ReportFormat::Svg),
        (None, None) => Ok(ReportFormat::Md),
        (None, Some(ending)) => ReportFormat::from_str(ending, true).map_err(|_| {
            let known = ReportFormat::value_variants().iter();
            let known = known.filter_map(ReportFormat::to_possible_value);
            let known: Vec<String> = known.map(|value| value.get_name().to_owned()).collect();
            CommandError::new(Exit::Usage, format!("no format has the ending `.{ending}`")).hint(
                format!(
                    "end the name in one of {}, or add `--format`",
                    known.join(", ")
                ),
            )
        }),
    }
}

/// Records found by conditions have no trials.
fn add_trials(runs: &mut Runs, found: &mut Found) -> Result<(), CommandError> {
    let record = &mut found.record;
    let is_own = matches!(
        record.origin.kind,
        OriginKind::Measured | OriginKind::Simulated
    );
    if is_own && found.source == Source::Head {
        let whole = runs.one(&record.id.to_string())?.record;
        record.trials = whole.trials;
    }
    Ok(())
}

/// A picture goes into a file: no terminal can show it.
fn picture(chart: &Chart, arguments: &ReportArguments) -> Result<Exit, CommandError> {
    let path = arguments.output.as_ref().ok_or_else(|| {
        CommandError::new(Exit::Usage, "a PNG needs a file").hint("add `--output FILE`")
    })?;
    save(path, &png(chart)?)?;
    Ok(Exit::Done)
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
    file::write(path, bytes)?;
    print::notice(&format!("written: {}", path.display()));
    Ok(())
}

#[cfg(feature = "png")]
fn png(chart: &Chart) -> Result<Vec<u8>, CommandError> {
    cardmark_report::chart::png(chart)
        .ok_or_else(|| CommandError::new(Exit::Trouble, "no picture can hold this chart"))
}

#[cfg(not(feature = "png"))]
fn png(_: &Chart) -> Result<Vec<u8>, CommandError> {
    Err(
        CommandError::new(Exit::Usage, "this program was built without pictures")
            .hint("`--format svg` draws the same chart"),
    )
}

/// The report; of one run it begins with the answer.
fn document(title: &str, records: &[Record]) -> Document {
    let mut document = survey(title, records);
    if let [one] = records {
        begin_with_answer(&mut document, one);
    }
    document
}

fn title_of(records: &[Record]) -> String {
    match records {
        [one] => run_title(one),
        _ => survey_title(records),
    }
}

/// The chart of that name or number, or else the first whose name or title holds that text.
fn chart(records: &[Record], arguments: &ReportArguments) -> Result<Chart, CommandError> {
    let charts = survey_charts(records);
    let wanted = arguments.chart.as_deref().unwrap_or("1").to_lowercase();
    let by_number = || wanted.parse::<usize>().ok()?.checked_sub(1);
    let position = |fits: &dyn Fn(&Chart) -> bool| charts.iter().position(fits);
    let found = position(&|chart| chart.heading().name == wanted)
        .or_else(by_number)
        .or_else(|| position(&|chart| chart.heading().name.contains(&wanted)))
        .or_else(|| position(&|chart| chart.heading().title.to_lowercase().contains(&wanted)));
    if let Some(chart) = found.and_then(|index| charts.get(index)) {
        return Ok(chart.clone());
    }
    let names: Vec<&str> = charts
        .iter()
        .map(|chart| chart.heading().name.as_str())
        .collect();
    let what = format!("no chart `{wanted}`");
    Err(
        CommandError::new(Exit::Usage, what).hint(match names.as_slice() {
            [] => "these runs have nothing that a chart could show".to_owned(),
            names => format!("charts of these runs: {}", names.join(", ")),
        }),
    )
}

/// Writes everything that a report can be into a folder: page, Markdown, figures, and each chart,
/// drawn and as a picture. Charts of an earlier report go. Returns where the page is.
pub(super) fn write_all(
    title: &str,
    records: &[Record],
    folder: &Path,
) -> Result<PathBuf, CommandError> {
    let document = survey(title, records);
    let (page, drawn) = (folder.join("report.html"), folder.join("charts"));
    file::write(&page, html(&document).as_bytes())?;
    file::write(&folder.join("report.md"), markdown(&document).as_bytes())?;
    file::write(&folder.join("figures.csv"), csv(records).as_bytes())?;
    // There may be none.
    let _ = std::fs::remove_dir_all(&drawn);
    std::fs::create_dir_all(&drawn).map_err(|error| {
        let what = format!("cannot make the folder `{}`", drawn.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    })?;
    for chart in document.charts() {
        let file = |ending: &str| drawn.join(format!("{}.{ending}", chart.heading().name));
        file::write(&file("svg"), chart.svg(Theme::Auto, Size::Wide).as_bytes())?;
        if cfg!(feature = "png") {
            file::write(&file("png"), &png(chart)?)?;
        }
    }
    Ok(page)
}

//! `cardmark report`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use cardmark_core::{OriginKind, Record};
use cardmark_judge::{Promise, suites_for};
use cardmark_report::chart::{Chart, Group, Size, Theme};
use cardmark_report::document::{Document, html, markdown};
use cardmark_report::{
    csv, is_without_fault, run_title, seller_report, survey, survey_charts, survey_title,
    untested_promises,
};
use clap::ValueEnum;

use crate::args::{Audience, ReportArguments, ReportFormat, WrittenFile};
use crate::error::{CommandError, Exit};
use crate::runs::{Found, Runs, Source};
use crate::terminal::print;
use cardmark_session::file::{self, Destination};

/// Runs whose trials are read for the charts over time and of latencies. The others are there with
/// their figures: reading thousands of whole records takes longer than anybody waits.
const MOST_WHOLE_RUNS: usize = 24;

/// Writes a report on runs.
pub(crate) fn report(arguments: &ReportArguments) -> Result<Exit, CommandError> {
    let format = format(arguments)?;
    let to = arguments.output.as_ref().map(WrittenFile::destination);
    let to = to.transpose()?;
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
    let document = || match arguments.audience {
        Audience::Owner => Ok(survey(&title, &records)),
        Audience::Seller => for_seller(&records, arguments),
    };
    let text = match format {
        ReportFormat::Md => markdown(&document()?),
        ReportFormat::Html => html(&document()?),
        ReportFormat::Csv => csv(&records),
        ReportFormat::Json => print::pretty(&records)?,
        ReportFormat::Svg => chart(&records, arguments)?.svg(Theme::Auto, Size::Wide),
        ReportFormat::Png => return picture(&chart(&records, arguments)?, to.as_ref()),
    };
    save(to.as_ref().unwrap_or(&Destination::Output), text.as_bytes())?;
    Ok(Exit::Done)
}

/// The format that was asked for, or that the name of the file has.
fn format(arguments: &ReportArguments) -> Result<ReportFormat, CommandError> {
    let ending = arguments.output.as_ref().and_then(WrittenFile::ending);
    match (arguments.format, ending) {
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

/// A picture needs a destination: no terminal can show it.
fn picture(chart: &Chart, to: Option<&Destination>) -> Result<Exit, CommandError> {
    let to = to.ok_or_else(|| {
        CommandError::new(Exit::Usage, "a PNG needs a file").hint("add `--output FILE`")
    })?;
    if *to == Destination::Output && std::io::stdout().is_terminal() {
        let what = "a PNG cannot be shown on a terminal";
        return Err(CommandError::new(Exit::Usage, what).hint("name a file: `--output FILE`"));
    }
    save(to, &png(chart)?)?;
    Ok(Exit::Done)
}

fn save(to: &Destination, bytes: &[u8]) -> Result<(), CommandError> {
    print::to(to, bytes)?;
    if let Destination::File(place) = to {
        print::notice(&format!("written: {}", place.named().display()));
    }
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

/// Evidence for the seller of one card.
fn for_seller(records: &[Record], arguments: &ReportArguments) -> Result<Document, CommandError> {
    let [record] = records else {
        let what = format!("`--for seller` is about one run, not {}", records.len());
        return Err(CommandError::new(Exit::Usage, what).hint("name the run that shows the fault"));
    };
    tell_gaps(record, &arguments.claim);
    let mut document = seller_report(record, &arguments.claim);
    if let Some(title) = &arguments.title {
        document.title.clone_from(title);
    }
    Ok(document)
}

/// Shows what a page for a seller lacks: a fault, or a test of what was promised.
fn tell_gaps(record: &Record, sold_as: &[String]) {
    if is_without_fault(record, sold_as) {
        print::notice(
            "warning: this run found no fault: the page is no evidence against the seller",
        );
    }
    for promise in untested_promises(record, sold_as) {
        let (suites, _) = suites_for(std::slice::from_ref(&promise));
        let command = match (suites.first(), &promise) {
            (Some(suite), _) => format!("run TARGET --suite {suite} --claim {promise}"),
            (None, Promise::Capacity(_)) => "probe DEVICE".to_owned(),
            (None, _) => continue,
        };
        print::notice(&format!(
            "hint: this run does not test {promise}: `cardmark {command}` does"
        ));
    }
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
        let mut chart = chart.clone();
        if let Some(name) = &arguments.highlight {
            highlight(&mut chart, name)?;
        }
        return Ok(match &arguments.title {
            Some(message) => chart.with_message(message),
            None => chart,
        });
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

/// Gives cards of that name a colour of their own.
fn highlight(chart: &mut Chart, name: &str) -> Result<(), CommandError> {
    let what = || CommandError::new(Exit::Usage, format!("cannot highlight `{name}`"));
    let Chart::Bars(bars) = chart else {
        return Err(what().because("only charts of bars have colours for it"));
    };
    let wanted = name.to_lowercase();
    let fits = |group: &Group| group.name.to_lowercase().contains(&wanted);
    let has_one = bars.groups.iter().any(fits);
    match bars.highlight(["Others", name], fits) {
        true => Ok(()),
        false if has_one => Err(what()
            .because("the colours of this chart stand for boards or kinds of writes")
            .hint("restrict the runs to one board: `--board NAME`")),
        false => Err(what().because("no bar has such a name")),
    }
}

/// Files of [`write_all`] without the charts.
const PAGES: [&str; 3] = ["report.html", "report.md", "figures.csv"];

/// Checks that [`write_all`] can write its files, before anything is measured.
pub(super) fn check_pages(folder: &Path) -> Result<(), CommandError> {
    let mut pages = PAGES.iter().map(|name| folder.join(name));
    file::folder(folder)?;
    file::folder(&folder.join(CHARTS))?;
    pages.try_for_each(|page| match folder.exists() {
        true => Destination::at(&page).map(drop),
        false => Ok(()),
    })
}

/// Folder of the charts.
const CHARTS: &str = "charts";

/// Writes everything that a report can be into a folder: page, Markdown, figures, and each chart,
/// drawn and as a picture. Charts of an earlier report go. Returns where the page is.
pub(super) fn write_all(
    title: &str,
    records: &[Record],
    folder: &Path,
) -> Result<PathBuf, CommandError> {
    let document = survey(title, records);
    let drawn = folder.join(CHARTS);
    let [page, text, figures] = PAGES.map(|name| folder.join(name));
    file::write(&page, html(&document).as_bytes())?;
    file::write(&text, markdown(&document).as_bytes())?;
    file::write(&figures, csv(records).as_bytes())?;
    empty(&drawn)?;
    for chart in document.charts() {
        let file = |ending: &str| drawn.join(format!("{}.{ending}", chart.heading().name));
        file::write(&file("svg"), chart.svg(Theme::Auto, Size::Wide).as_bytes())?;
        if cfg!(feature = "png") {
            file::write(&file("png"), &png(chart)?)?;
        }
    }
    Ok(page)
}

/// Makes the folder of charts, and removes charts of an earlier report. Other files stay.
fn empty(folder: &Path) -> Result<(), CommandError> {
    let is_chart = |path: &Path| {
        let ending = path.extension();
        path.is_file() && ending.is_some_and(|ending| ending == "svg" || ending == "png")
    };
    file::folder(folder)?;
    let emptied = std::fs::create_dir_all(folder).and_then(|()| {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if is_chart(&path) {
                std::fs::remove_file(path)?;
            }
        }
        Ok(())
    });
    emptied.map_err(|error| {
        let what = format!("cannot use the folder `{}`", folder.display());
        CommandError::new(Exit::Trouble, what).because(error.to_string())
    })
}

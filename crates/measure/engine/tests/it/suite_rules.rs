//! The rules of a suite that the engine relies on.

use cardmark_core::{
    CourseFigure, FigureOf, Object, Order, Passes, Rounds, Suite, TargetNeed, Workload,
};
use thiserror::Error;

use crate::procedure_rules::procedure_rules;

/// Largest block size, bytes.
const LARGEST_BLOCK_BYTES: u64 = 1 << 30;
/// Most operations in flight.
const MOST_IN_FLIGHT: u32 = 256;

/// Reason why a suite is not usable.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum SuiteError {
    /// The layout names no workload, or one that does not write the whole file in sequence.
    #[error("layout `{0}` is not a sequential write of the whole file")]
    Layout(String),
    /// The file cannot be divided among the layout's trials.
    #[error("file of {0} bytes cannot be laid out in {1} trials")]
    LayoutTrials(u64, u32),
    /// Looks must rise, and start at three or more rounds and after the layout's.
    #[error("looks must rise, and start at three or more rounds and after the layout's")]
    Looks,
    /// A list that is run through has no rounds with looks, and is run at least once.
    #[error("passes must be one or more, and have neither looks nor layout")]
    Passes,
    /// A workload's numbers are out of range.
    #[error("workload `{0}`: {1}")]
    Workload(String, &'static str),
    /// Two workloads or two figures have one name.
    #[error("`{0}` is listed twice")]
    Twice(String),
    /// A tier does not fit the suite.
    #[error("tier `{0}`: {1}")]
    Tier(String, &'static str),
    /// A figure's source is not there.
    #[error("figure `{0}`: {1}")]
    Figure(String, &'static str),
}

/// The first rule that does not hold.
pub(crate) fn broken_rule(suite: &Suite) -> Option<SuiteError> {
    kind_rules(suite)
        .err()
        .or_else(|| workload_rules(suite).err())
        .or_else(|| figure_rules(suite).err())
        .or_else(|| tier_rules(suite).err())
}

fn kind_rules(suite: &Suite) -> Result<(), SuiteError> {
    let Some(passes) = suite.passes else {
        if suite.needs != TargetNeed::Filesystem {
            layout_rules(suite)?;
        }
        return looks_rules(suite);
    };
    let (Passes::Count(count) | Passes::UntilGood(count)) = passes;
    let has_rounds = !suite.looks.is_empty() || !suite.layout.is_empty();
    let can_be_good = suite.figures.iter().any(|figure| figure.least.is_some());
    let is_endless = matches!(passes, Passes::UntilGood(_)) && !can_be_good;
    if count == 0 || has_rounds || suite.layout_trials_count > 0 || is_endless {
        return Err(SuiteError::Passes);
    }
    Ok(())
}

fn layout_rules(suite: &Suite) -> Result<(), SuiteError> {
    let layout = suite.workload(&suite.layout);
    let lays_out = |w: &Workload| {
        let covers = w.span_bytes == suite.file_bytes;
        w.order == Order::Sequential && w.read_share_percent == 0 && covers
    };
    if !layout.is_some_and(lays_out) {
        return Err(SuiteError::Layout(suite.layout.clone()));
    }
    let pieces = u64::from(suite.layout_trials_count);
    let block = layout.map_or(1, |w| w.block_bytes);
    let share = pieces.saturating_mul(block);
    if share == 0 || suite.file_bytes == 0 || !suite.file_bytes.is_multiple_of(share) {
        return Err(SuiteError::LayoutTrials(
            suite.file_bytes,
            suite.layout_trials_count,
        ));
    }
    Ok(())
}

fn looks_rules(suite: &Suite) -> Result<(), SuiteError> {
    let rising = suite.looks.windows(2).all(|pair| pair[0] < pair[1]);
    let least = suite.layout_trials_count.max(2);
    if !rising || suite.looks.first().is_none_or(|&first| first <= least) {
        return Err(SuiteError::Looks);
    }
    Ok(())
}

fn workload_rules(suite: &Suite) -> Result<(), SuiteError> {
    for (index, workload) in suite.workloads.iter().enumerate() {
        if suite.workloads[..index].iter().any(|w| w.id == workload.id) {
            return Err(SuiteError::Twice(workload.id.clone()));
        }
        let rules = pattern_rules(workload)
            .into_iter()
            .chain(span_rules(workload, suite))
            .chain(rounds_rules(workload, suite))
            .chain(procedure_rules(workload, suite));
        for (holds, why) in rules {
            if !holds {
                return Err(SuiteError::Workload(workload.id.clone(), why));
            }
        }
    }
    Ok(())
}

pub(crate) type Rule = (bool, &'static str);

/// Rules for the part a workload takes in rounds.
fn rounds_rules(workload: &Workload, suite: &Suite) -> [Rule; 4] {
    let rounds = &workload.rounds;
    let is_apart = rounds.once || rounds.every_ns > 0;
    let cap_bytes = workload.stop.cap_bytes;
    let beside = rounds.unless_equal_to.as_ref();
    [
        (
            suite.passes.is_none() || *rounds == Rounds::default(),
            "a list with passes has no rounds",
        ),
        (
            rounds.budget_bytes.is_none()
                || cap_bytes.is_some_and(|cap| cap >= workload.block_bytes),
            "a budget of bytes needs a cap on each trial",
        ),
        (
            beside.is_none_or(|id| suite.workload(id).is_some()),
            "the workload in `unless_equal_to` does not exist",
        ),
        (
            !((is_apart && workload.id == suite.layout) || (rounds.once && rounds.every_ns > 0)),
            "the workload of the layout takes part in all rounds",
        ),
    ]
}

fn pattern_rules(workload: &Workload) -> [Rule; 10] {
    let depth = workload.queue_depth;
    let most = workload.stop.most_bytes;
    let windows = || workload.manner.windows_bytes();
    [
        (
            workload.stop.settled_span_ns.is_none_or(|span_ns| {
                let has_limits =
                    most.is_some_and(|most| most > 0) && workload.stop.longest_span_ns.is_some();
                span_ns > 0 && has_limits
            }),
            "what goes on until its rate has settled needs a span for that, and a limit of bytes and \
             of time",
        ),
        (
            workload.stop.least_written.is_none() || workload.stop.settled_span_ns.is_some(),
            "only a workload that runs until its rate has settled has a least amount",
        ),
        (
            workload.stop.refill.is_none()
                || (most.is_some_and(|most| most > 0) && workload.stop.settled_span_ns.is_none()),
            "writing behind a rest needs a limit of bytes, and settles by itself",
        ),
        (
            workload.order != Order::Spread || most.is_some_and(|most| most > 0),
            "a spread order needs to know how many bytes each round moves",
        ),
        (
            workload.read_share_percent <= 100,
            "read share above 100 percent",
        ),
        (
            workload.procedure.is_some()
                || (workload.block_bytes.is_power_of_two()
                    && (512..=LARGEST_BLOCK_BYTES).contains(&workload.block_bytes)),
            "block size must be a power of two from 512 bytes to 1 GiB",
        ),
        (
            (1..=MOST_IN_FLIGHT).contains(&depth),
            "queue depth must be 1–256",
        ),
        (
            workload.manner.streams_count == 1
                || (depth == 1 && (2..=MOST_IN_FLIGHT).contains(&workload.manner.streams_count)),
            "streams must be 1–256, each at queue depth 1",
        ),
        (
            workload.manner.streams_count == 1
                || (most.is_some() && workload.stop.longest_span_ns.is_none()),
            "streams go through their whole span",
        ),
        (
            windows().all(|bytes| bytes.is_multiple_of(workload.block_bytes))
                && (windows().next().is_none()
                    || (depth == 1 && workload.ramp_ns == 0 && most.is_some())),
            "windows are whole blocks of exact work, one at a time and without ramp",
        ),
    ]
}

fn span_rules(workload: &Workload, suite: &Suite) -> [Rule; 4] {
    let blocks = workload.blocks_count();
    let is_whole = workload.span_bytes == 0;
    let streams = u64::from(workload.manner.streams_count);
    [
        (
            is_whole || blocks >= u64::from(workload.queue_depth),
            "span smaller than its queue",
        ),
        (
            workload.span_bytes.saturating_mul(streams) <= suite.file_bytes
                || workload.manner.object == Object::Disk,
            "span larger than the file",
        ),
        (
            workload.span_bytes.is_multiple_of(workload.block_bytes),
            "span is not a multiple of the block size",
        ),
        (
            workload.order != Order::Permuted || (!is_whole && blocks <= u64::from(u32::MAX)),
            "a permuted order needs a span of a known number of blocks",
        ),
    ]
}

fn figure_rules(suite: &Suite) -> Result<(), SuiteError> {
    for (index, figure) in suite.figures.iter().enumerate() {
        if suite.figures[..index].iter().any(|f| f.id == figure.id) {
            return Err(SuiteError::Twice(figure.id.clone()));
        }
        let wrong = |why| Err(SuiteError::Figure(figure.id.clone(), why));
        let Some(workload) = suite.workload(&figure.workload) else {
            return wrong("there is no such workload");
        };
        if figure.of.is_of_streams() != (workload.manner.streams_count > 1) {
            return wrong("children and parent are figures of several streams, and only of these");
        }
        let has_windows = match figure.of {
            FigureOf::WorstWindow => workload.manner.window_bytes > 0,
            FigureOf::WorstVideoWindow => workload.manner.video_window_bytes > 0,
            _ => true,
        };
        if !has_windows {
            return wrong("its workload has no such windows");
        }
        let has_course = match figure.of {
            FigureOf::Course(CourseFigure::Refill) => workload.stop.refill.is_some(),
            FigureOf::Course(_) => workload.stop.settled_span_ns.is_some(),
            _ => true,
        };
        if !has_course {
            return wrong("a course is that of a workload that goes on until its rate has settled");
        }
        if figure.printed.is_none() && (figure.least.is_some() || figure.weight.is_some()) {
            return wrong("marks and weights are of printed numbers");
        }
    }
    Ok(())
}

fn tier_rules(suite: &Suite) -> Result<(), SuiteError> {
    for (index, tier) in suite.tiers.iter().enumerate() {
        let wrong = |why| Err(SuiteError::Tier(tier.name.clone(), why));
        if suite.tiers[..index].iter().any(|t| t.name == tier.name) {
            return Err(SuiteError::Twice(tier.name.clone()));
        }
        if suite.passes.is_none() {
            return wrong("only a list with passes has tiers");
        }
        if tier.deviations.is_empty() && suite.deviations.is_empty() {
            return wrong("no tier is all of its standard's procedure");
        }
        for part in &tier.parts {
            let Some(workload) = suite.workload(&part.workload) else {
                return wrong("there is no such workload");
            };
            if part.span_bytes.is_some() == part.span_percent.is_some() {
                return wrong("a span is either bytes or percent");
            }
            if part.least_span_ns.is_some() != workload.stop.most_bytes.is_none() {
                return wrong("exact work has no span of time, and all else has one");
            }
            let most = part.span_percent.unwrap_or(1);
            let bytes = part.span_bytes.unwrap_or(workload.block_bytes);
            let is_whole = bytes > 0 && bytes.is_multiple_of(workload.block_bytes);
            if !(1..=100).contains(&most) || !is_whole || bytes > tier.file_bytes {
                return wrong("a span is whole blocks, within the target");
            }
        }
    }
    Ok(())
}

/// Folder of the suites of the program.
const SUITES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../know/catalog/suites");

#[test]
fn every_suite_of_the_program_holds_the_rules() {
    let files = std::fs::read_dir(SUITES).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let suites = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
    let mut count = 0;
    for path in suites {
        let suite = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(broken_rule(&suite), None, "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count} suites");
}

/// Returns the first broken rule of a suite after replacing this text.
fn broken(suite: &str, from: &str, to: &str) -> String {
    let text = std::fs::read_to_string(format!("{SUITES}/{suite}.toml")).unwrap();
    assert!(text.contains(from), "{from}");
    let changed = toml::from_str(&text.replacen(from, to, 1)).unwrap();
    broken_rule(&changed).expect("a broken rule").to_string()
}

#[test]
fn broken_rules_are_named() {
    let cases = [
        (
            "layout = \"seq_write_1m\"",
            "layout = \"rand_read_4k\"",
            "layout `rand_read_4k`",
        ),
        ("looks = [6, 12, 24]", "looks = [6, 6]", "looks must rise"),
        (
            "layout_trials_count = 4",
            "layout_trials_count = 7",
            "cannot be laid out",
        ),
        (
            "queue_depth = 32",
            "queue_depth = 512",
            "queue depth must be",
        ),
        (
            "id = \"seq_read_1m\"",
            "id = \"seq_write_1m\"",
            "listed twice",
        ),
        ("block_bytes = 4096", "block_bytes = 5000", "power of two"),
    ];
    for (from, to, message) in cases {
        let rule = broken("quick-1", from, to);
        assert!(rule.contains(message), "{from} → {to}: {rule}");
    }
}

#[test]
fn a_list_has_neither_rounds_nor_a_layout_and_is_run_at_least_once() {
    let once = "passes = { count = 1 }";
    for to in [
        "passes = { count = 0 }",
        "passes = { until_good = 0 }",
        // No figure has a mark, so it would never be good.
        "passes = { until_good = 3 }",
        "passes = { count = 1 }\nlooks = [6]",
        "passes = { count = 1 }\nlayout = \"dd_write\"",
        "passes = { count = 1 }\nlayout_trials_count = 4",
    ] {
        let message = broken("dramble-1", once, to);
        assert!(
            message.starts_with("passes must be one or more"),
            "{message}"
        );
    }
    let message = broken("dramble-1", once, "");
    assert!(message.contains("is not a sequential write"), "{message}");
}

#[test]
fn broken_workloads_of_the_old_tools_are_named() {
    let streams = "streams_count = 4";
    let exact = "stop = { most_bytes = 0 }";
    let span =
        "order = \"permuted\"\nblock_bytes = 4_096\nqueue_depth = 32\nspan_bytes = 268_435_456";
    let all = &span.replace("268_435_456", "0");
    for (suite, from, to, message) in [
        (
            "parallel4",
            streams,
            "streams_count = 257",
            "streams must be 1–256",
        ),
        (
            "parallel4",
            streams,
            "streams_count = 0",
            "streams must be 1–256",
        ),
        (
            "parallel4",
            streams,
            "streams_count = 5",
            "span larger than the file",
        ),
        (
            "parallel4",
            "queue_depth = 1",
            "queue_depth = 2",
            "each at queue depth 1",
        ),
        (
            "parallel4",
            exact,
            "stop = { least_span_ns = 1 }",
            "through their whole span",
        ),
        (
            "parallel4",
            exact,
            "stop = { most_bytes = 0, longest_span_ns = 1 }",
            "through their whole span",
        ),
        (
            "parallel4",
            "span_bytes = 268_435_456",
            "span_bytes = 268_437_504",
            "span larger than",
        ),
        (
            "dramble",
            "span_bytes = 419_430_400",
            "span_bytes = 419_438_592",
            "span larger than",
        ),
        (
            "dramble",
            "span_bytes = 104_857_600",
            "span_bytes = 104_857_601",
            "not a multiple",
        ),
        ("agnostics", span, all, "known number of blocks"),
    ] {
        let said = broken(&format!("{suite}-1"), from, to);
        assert!(
            said.starts_with("workload `") && said.contains(message),
            "{said}"
        );
    }
}

#[test]
fn broken_procedures_are_named() {
    let plain = "procedure = { kind = \"transaction\", journal = \"delete\", page_bytes = 4_096, \
                 cache_bytes = 2_048_000, rows_count = 10_000 }";
    let own = "block, span and order are not those of the procedure";
    for (from, to, message) in [
        (
            "needs = \"filesystem\"",
            "needs = \"directory\"",
            "not a sequential write",
        ),
        ("looks = [6, 12, 24]", "looks = [6, 6]", "looks must rise"),
        ("rows_count = 10_000", "rows_count = 9_999", own),
        ("journal = \"delete\"", "journal = \"wal\"", own),
        ("page_bytes = 4_096", "page_bytes = 256", own),
        ("packages_count = 8", "packages_count = 7", own),
        ("117, 226", "118, 226", own),
        ("order = \"sequential\"", "order = \"random\"", own),
        (
            "queue_depth = 1",
            "queue_depth = 2",
            "one durable write at a time",
        ),
        (
            "\"each_operation\"",
            "\"after_trial\"",
            "one durable write at a time",
        ),
        (plain, "", "has procedures only"),
    ] {
        let said = broken("application-1", from, to);
        assert!(said.contains(message), "{from} → {to}: {said}");
    }
    let file = "span_bytes = 419_430_400\n";
    let with = format!("{file}procedure = {{ kind = \"append\" }}\n");
    let said = broken("dramble-1", file, &with);
    assert!(said.contains("a procedure needs files"), "{said}");
}

#[test]
fn broken_figures_are_named() {
    let one = "of = \"children\"";
    for (suite, from, to, message) in [
        (
            "dramble",
            "workload = \"dd_write\"",
            "workload = \"cp_write\"",
            "no such workload",
        ),
        (
            "dramble",
            "printed = \"dd\"",
            "of = \"children\"\nprinted = \"dd\"",
            "of several streams",
        ),
        ("parallel4", one, "of = \"rate\"", "of several streams"),
        (
            "parallel4",
            one,
            "of = \"operations\"",
            "of several streams",
        ),
        (
            "agnostics",
            "printed = \"agnostics\"\n",
            "",
            "of printed numbers",
        ),
        (
            "pibenchmarks",
            "printed = \"pibenchmarks_dd\"\n",
            "",
            "of printed numbers",
        ),
    ] {
        let said = broken(&format!("{suite}-1"), from, to);
        assert!(
            said.starts_with("figure `") && said.contains(message),
            "{said}"
        );
    }
    let twice = "[[figures]]\nid = \"hdparm_T\"";
    let said = broken("dramble-1", twice, &twice.replace("hdparm_T", "hdparm_t"));
    assert_eq!(said, "`hdparm_t` is listed twice");
}

//! The answer of a run in sentences, before its figures.

use cardmark_core::{FindingKind, OriginKind, Quantity, Record, TargetKind};
use cardmark_judge::{
    Answer, BoardLimit, CameraBasis, CameraRate, Fault, Fit, Limit, System, answer, faults,
};

use crate::answer::{AnswerBlock, Weight};
use crate::document::Document;
use crate::run::{anatomy, claims, class_answer, integrity, stops, unknown};
use crate::text::names::{capitalised, listed};
use crate::text::style::clean;
use crate::text::{amount, figure, in_unit, percent, size};

/// Least rate of writing that helps a camera, bytes per second: a 1080p stream of 8 Mbit/s.
const LEAST_CAMERA_RATE: f64 = 1e6;
/// Answer if synced writes were as fast as others: their true rate is not known, and neither is what a power cut leaves.
const CONFIRMS_EARLY: &str = "Data may be lost if the power fails: synced writes were as fast as others, so this \
                              device may confirm writes before it has stored them";
/// Space within a command, which is copied from one line.
const NO_BREAK: &str = "\u{a0}";

/// The sentences of a record's answer; none without an answer. `next` is the command that tests the capacity of this
/// target.
pub(crate) fn sentences(record: &Record, next: Option<&str>, hidden: &[String]) -> Vec<String> {
    let classes = class_answer::sentence(record);
    let missed = claims::missed(record);
    let open = claims::open(record);
    let Some(answer) = answer(record) else {
        return missed.into_iter().chain(classes).chain(open).collect();
    };
    let early = answer.may_confirm_early;
    let stops = answer.stops.as_ref().map(stops::words);
    let first = answer.system.as_ref();
    let task = task(&answer);
    let first = first.map(|of| with_stops(of, system(of, &task, early, hidden), stops.as_deref()));
    let (loses_data, fails) = match answer.system {
        Some(System::LosesData(_)) => (true, false),
        Some(System::Fails(_)) => (false, true),
        _ => (false, false),
    };
    let is_unknown = matches!(answer.system, Some(System::Unknown(_)));
    let is_sound = !loses_data && !fails && !is_unknown;
    let warning = (is_sound && early).then(|| CONFIRMS_EARLY.to_owned());
    let long = answer.long_series_per_s.filter(|_| is_sound);
    let long = long.map(|rate| {
        let rate = number(rate);
        format!("Random writes slow down in a long series: {rate}/s")
    });
    let part = answer.written_part.as_ref().filter(|_| is_sound);
    let part = part.map(|text| capitalised(&clean(text)));
    let uses = is_sound.then(|| uses(&answer)).flatten();
    // The findings advise what to do about a failure; of an unknown device no test shows the capacity.
    let reading = answer.read_all_s.filter(|_| answer.is_own && is_sound);
    let reading = reading.map(|seconds| format!("Reading all of it takes {}", duration(seconds)));
    let tests = (answer.is_own && !fails && !is_unknown).then(|| tests(record, &answer, next));
    // No promise matters on a device that is good for nothing.
    let (worst, first) = match loses_data || fails {
        true => (first, None),
        false => (None, first),
    };
    let sentences = worst
        .into_iter()
        .chain(missed)
        .chain(warning)
        .chain(classes)
        .chain(first)
        .chain(long)
        .chain(part)
        .chain(uses)
        .chain(reading);
    sentences.chain(open).chain(tests).collect()
}

/// Returns the answer of a record of any kind; `None` if nothing in it answers a question.
#[must_use]
pub fn answer_of_run(record: &Record) -> Option<AnswerBlock> {
    let mut answer = answer_of(record, None, &[])?;
    let texts = std::iter::once(&mut answer.sentence).chain(&mut answer.more);
    texts.for_each(|text| *text = text.replace(NO_BREAK, " "));
    Some(answer)
}

/// The answer of a record. `next` is the command that tests the capacity of this target, `hidden` are kinds of findings that
/// are not shown.
pub(crate) fn answer_of(
    record: &Record,
    next: Option<&str>,
    hidden: &[String],
) -> Option<AnswerBlock> {
    let mut texts = match (&record.integrity, &record.anatomy) {
        (Some(found), _) => one_by_one(&integrity::verdict(record, found)),
        (None, Some(found)) => {
            let texts: Vec<String> = anatomy::sentences(found).collect();
            one_by_one(&capitalised(&texts.join(" ")))
        }
        (None, None) => sentences(record, next, hidden),
    }
    .into_iter();
    Some(AnswerBlock {
        sentence: texts.next()?,
        more: texts.collect(),
        weight: weight(record),
        ..AnswerBlock::default()
    })
}

/// The sentences of a text, without full stops.
fn one_by_one(text: &str) -> Vec<String> {
    let sentences = text.trim_end_matches('.').split(". ");
    sentences.map(str::to_owned).collect()
}

fn weight(record: &Record) -> Weight {
    if record.integrity.is_some() {
        return integrity::weight(record);
    }
    let is_missed = |fault: &Fault| matches!(fault, Fault::Failed(_));
    let answer = answer(record);
    let system = answer.as_ref().and_then(|answer| answer.system.as_ref());
    match system {
        Some(System::LosesData(_) | System::Fails(_)) => Weight::Error,
        _ if claims::smaller(record).is_some() => Weight::Error,
        _ if answer
            .as_ref()
            .is_some_and(|answer| answer.may_confirm_early) =>
        {
            Weight::Warning
        }
        _ if faults(record).iter().any(is_missed) => Weight::Warning,
        _ => Weight::Plain,
    }
}

/// Puts the answer of a run at the beginning of its report. Reports of tests begin with their verdicts by themselves.
pub(crate) fn begin_with_answer(document: &mut Document, record: &Record) {
    let is_run = record.integrity.is_none() && record.anatomy.is_none();
    let answer = is_run.then(|| answer_of_run(record)).flatten();
    let blocks = answer.map_or_else(Vec::new, |answer| answer.blocks());
    document.blocks.splice(0..0, blocks);
}

/// Returns the name of what a run measured: the product or model, else the device.
pub fn run_title(record: &Record) -> String {
    let device = record.devices.first();
    let product = record.labels.get("product").cloned();
    let model = || device.and_then(|device| device.model.clone());
    let source = || record.origin.source.clone();
    let name = || device.map(|device| format!("Device {}", device.name));
    let title = product.or_else(model).or_else(source).or_else(name);
    title.map_or_else(|| "Storage of unknown name".to_owned(), |text| clean(&text))
}

/// Task that the first sentence is about.
fn task(answer: &Answer) -> String {
    match answer.wanted.id.as_str() {
        "boot" => "for running an operating system".to_owned(),
        _ => format!("for {}", answer.wanted.title),
    }
}

/// A sentence in two parts: the verdict, and its figure with what is asked.
struct Sentence {
    verdict: String,
    figure: String,
}

/// The first sentence, with the stops behind the verdict. Without a verdict on speed they come last; of a device that
/// fails they add nothing.
fn with_stops(system: &System, sentence: Sentence, stops: Option<&str>) -> String {
    let Sentence { verdict, figure } = sentence;
    let plain = |verdict: &str| match figure.as_str() {
        "" => verdict.to_owned(),
        figure => format!("{verdict}: {figure}"),
    };
    let Some(stops) = stops else {
        return plain(&verdict);
    };
    match system {
        System::LosesData(_) | System::Fails(_) | System::Unknown(_) => plain(&verdict),
        System::Rated(Fit::Enough | Fit::Good | Fit::Ample, _)
        | System::MeetsClass(_)
        | System::Border(_) => plain(&format!("{verdict}, but {stops}")),
        System::Rated(Fit::Poor | Fit::Slow, _) => plain(&format!("{verdict}, and {stops}")),
        System::Uneven(_) | System::Voided(..) | System::NotMeasured(_) => {
            format!("{}. It {stops}", plain(&verdict))
        }
    }
}

/// The sentence on a task. A device that may confirm writes early is called good for nothing.
fn system(system: &System, task: &str, confirms_early: bool, hidden: &[String]) -> Sentence {
    let limited = |verdict: String, limit: &Limit, comfortable: bool| {
        let about = if limit.is_rough() { "roughly " } else { "" };
        let asked = asked(limit, comfortable, hidden);
        let figure = format!("{about}{} {asked}", rate(limit));
        Sentence { verdict, figure }
    };
    let unknown = |figure: String| Sentence {
        verdict: format!("Cannot tell whether it is fast enough {task}"),
        figure,
    };
    let alone = |verdict: String| Sentence {
        verdict,
        figure: String::new(),
    };
    match system {
        System::LosesData(read) => {
            let part = match read.lost_bytes == read.read_bytes {
                true => "all".to_owned(),
                false => format!("{} of the", size(read.lost_bytes)),
            };
            let all = size(read.read_bytes);
            alone(format!(
                "Do not store data here: {part} {all} read back differ from what was written"
            ))
        }
        System::Fails(kind) => alone(integrity::unreliable(*kind)),
        System::Unknown(unknown) => alone(unknown::text(unknown)),
        System::Rated(fit, limit) => limited(degree(*fit, task, confirms_early), limit, true),
        System::MeetsClass(limit) => limited(meets(limit, task, confirms_early), limit, false),
        System::Border(limit) => limited(format!("About fast enough {task}"), limit, true),
        System::Uneven(limit) => {
            let spread = percent(limit.half_width_ratio.unwrap_or_default());
            let (rate, asked) = (rate(limit), asked(limit, true, hidden));
            unknown(format!("{rate}, varying by ±{spread} {asked}"))
        }
        System::Voided(by, operations) => {
            unknown(format!("{} ({})", reason(by), listed(operations, "and")))
        }
        System::NotMeasured(operations) => {
            unknown(format!("{} were not measured", listed(operations, "and")))
        }
    }
}

fn degree(fit: Fit, task: &str, confirms_early: bool) -> String {
    let word = match fit {
        Fit::Enough | Fit::Good | Fit::Ample if confirms_early => "Apart from that, fast enough",
        Fit::Poor => "Slow",
        Fit::Slow => "Somewhat slow",
        Fit::Enough | Fit::Good => "Good",
        Fit::Ample => "Fast",
    };
    format!("{word} {task}")
}

fn meets(limit: &Limit, task: &str, confirms_early: bool) -> String {
    let class = limit.class.as_ref().map_or("the class", |(name, _)| name);
    match confirms_early {
        true => format!("Apart from that, it meets {class}, enough {task}"),
        false => format!("Meets {class}, enough {task}"),
    }
}

/// Reason why rates are not those of the storage.
fn reason(finding: &str) -> String {
    let known = [
        (FindingKind::Buffered, "the memory of the computer answered"),
        (
            FindingKind::NotReached,
            "not all operations reached the device",
        ),
        (
            FindingKind::ContradictingTrials,
            "the record contradicts itself",
        ),
    ];
    let words = known.iter().find(|(kind, _)| kind.name() == finding);
    words.map_or_else(|| clean(finding), |(_, words)| (*words).to_owned())
}

/// `49 random writes/s`.
fn rate(limit: &Limit) -> String {
    let rate = number(in_unit(limit.quantity, limit.value));
    match limit.quantity {
        Quantity::ByteRate => format!("{rate} MB/s in {}", limit.plain),
        _ => format!("{rate} {}/s", limit.plain),
    }
}

/// `(A1 asks for 500; 800 is comfortable)`, with the board if that is the limit.
fn asked(limit: &Limit, comfortable: bool, hidden: &[String]) -> String {
    let number = |rate: f64| number(in_unit(limit.quantity, rate));
    let class = limit.class.as_ref();
    let class = class.map(|(name, rate)| format!("{name} asks for {}", number(*rate)));
    let comfortable = comfortable.then(|| format!("{} is comfortable", number(limit.enough)));
    let board = limit.board.as_ref().map(|board| match board {
        BoardLimit::SameProduct { board, value } => {
            let (board, value) = (clean(board), number(*value));
            format!("probably the board's limit: {value} on a {board}")
        }
        BoardLimit::Ceiling {
            board,
            products_count,
        } => {
            let board = clean(board);
            format!(
                "probably the board's limit: none of {products_count} cards is faster on a {board}"
            )
        }
    });
    let is_warned = limit.warnings.iter().any(|name| !hidden.contains(name));
    let warned = is_warned.then(|| "see the warnings".to_owned());
    let parts = [class, comfortable, board, warned];
    format!(
        "({})",
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    )
}

/// A rate for a sentence: whole from 10 on.
fn number(value: f64) -> String {
    match value {
        10.0..1000.0 => format!("{value:.0}"),
        _ => figure(value),
    }
}

/// `about 12 min`: what is worth knowing of a time that another card would take a few percent longer for.
fn duration(seconds: f64) -> String {
    let minutes = seconds / 60.0;
    match (seconds, minutes) {
        (..90.0, _) => format!("about {seconds:.0} s"),
        (_, ..100.0) => format!("about {minutes:.0} min"),
        _ => format!("about {:.1} h", minutes / 60.0),
    }
}

fn uses(answer: &Answer) -> Option<String> {
    let camera = answer.camera.as_ref().and_then(camera);
    let fine: Vec<String> = camera.into_iter().chain(answer.fine.clone()).collect();
    let part = |words: &str, uses: &[String]| {
        (!uses.is_empty()).then(|| format!("{words}: {}", uses.join(", ")))
    };
    let parts = [
        part("Fine for", &fine),
        part("Usable, but slow, for", &answer.usable),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(". "))
}

/// `cameras up to 8 MB/s (slowest minute of 7.5 GB)`.
fn camera(rate: &CameraRate) -> Option<String> {
    let of = rate
        .written_bytes
        .map(|bytes| format!(" of {}", amount(bytes)));
    let of = of.unwrap_or_default();
    let basis = match rate.basis {
        CameraBasis::SlowestMinute => format!("slowest minute{of}"),
        CameraBasis::SteadyEnd => format!("end{of}"),
        CameraBasis::Short => "short test".to_owned(),
    };
    let megabytes = (rate.bytes_per_s / 1e6).floor();
    (rate.bytes_per_s >= LEAST_CAMERA_RATE)
        .then(|| format!("cameras up to {megabytes:.0} MB/s ({basis})"))
}

/// What was tested of the data, what was not, and the command that does.
fn tests(record: &Record, answer: &Answer, next: Option<&str>) -> String {
    let next = next.map_or_else(|| next_command(record), str::to_owned);
    let next = format!("{NO_BREAK}{}", next.replace(' ', NO_BREAK));
    let Some(read) = answer.read_back else {
        return format!("Not tested: capacity, and whether data is kept →{next}");
    };
    if read.lost_bytes > 0 {
        return format!("Not tested: how much of the capacity keeps data →{next}");
    }
    format!(
        "Data read back: intact ({} sample). Capacity: not tested →{next}",
        size(read.read_bytes)
    )
}

/// The command for a record that was not made just now: its device may have another name.
fn next_command(record: &Record) -> String {
    let kind = record.target.as_ref().map(|target| target.kind);
    match (kind, &record.origin) {
        (_, origin) if origin.kind == OriginKind::Simulated => {
            let model = origin.source.as_deref().unwrap_or("MODEL");
            format!("cardmark probe sim:{}", clean(model))
        }
        (Some(TargetKind::Directory), _) => "cardmark verify DIRECTORY".to_owned(),
        _ => "sudo cardmark probe DEVICE".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use cardmark_core::{
        Finding, IntervalKind, Metric, Origin, ReadBack, Severity, Target, run_id_from_bytes,
    };

    use super::*;
    use crate::document::Block;
    use crate::text::style::Style;

    fn run(write: f64, half_width: f64) -> Record {
        let origin = Origin::of(OriginKind::Measured);
        let mut record = Record::new(run_id_from_bytes([1; 16]), origin);
        record.target = Some(Target::of(TargetKind::Device));
        record.read_back = Some(ReadBack {
            read_bytes: 64 << 20,
            lost_bytes: 0,
            first_lost_bytes: None,
        });
        let mut random_writes = Metric::new("rand_write_4k", Quantity::OperationRate, write);
        random_writes.interval_kind = IntervalKind::BetweenRounds;
        random_writes.low = Some(write * (1.0 - half_width));
        random_writes.high = Some(write * (1.0 + half_width));
        record.metrics = vec![
            random_writes,
            Metric::new("rand_read_4k", Quantity::OperationRate, 2600.0),
            Metric::new("seq_read_1m", Quantity::ByteRate, 89e6),
            Metric::new("seq_write_1m", Quantity::ByteRate, 8.9e6),
        ];
        record
    }

    fn shown(record: &Record, next: Option<&str>) -> Vec<String> {
        let sentences = sentences(record, next, &[]).into_iter();
        sentences.map(|text| text.replace(NO_BREAK, " ")).collect()
    }

    fn first(record: &Record) -> String {
        shown(record, None).remove(0)
    }

    #[test]
    fn the_answer_says_what_limits_what_it_is_fine_for_and_what_to_do_next() {
        assert_eq!(
            shown(&run(49.0, 0.03), Some("sudo cardmark probe /dev/sda")),
            [
                "Slow for running an operating system: 49 random writes/s (A1 asks for 500; 800 is comfortable)",
                "Fine for: cameras up to 8 MB/s (short test), media",
                "Data read back: intact (64 MiB sample). Capacity: not tested → sudo cardmark probe /dev/sda",
            ]
        );
    }

    #[test]
    fn the_first_sentence_has_the_certainty_of_its_figure() {
        let asked = "(A1 asks for 500; 800 is comfortable)";
        let task = "for running an operating system";
        let cases = [
            (
                49.4,
                0.2,
                format!("Slow {task}: roughly 49 random writes/s {asked}"),
            ),
            (
                440.0,
                0.01,
                format!("Somewhat slow {task}: 440 random writes/s {asked}"),
            ),
            (
                510.0,
                0.01,
                format!("Meets A1, enough {task}: 510 random writes/s (A1 asks for 500)"),
            ),
            (
                490.0,
                0.05,
                format!("About fast enough {task}: 490 random writes/s {asked}"),
            ),
            (
                910.0,
                0.01,
                format!("Good {task}: 910 random writes/s {asked}"),
            ),
            (
                600.0,
                0.4,
                format!(
                    "Cannot tell whether it is fast enough {task}: 600 random writes/s, varying by ±40 % {asked}"
                ),
            ),
        ];
        for (write, half_width, expected) in cases {
            assert_eq!(first(&run(write, half_width)), expected);
        }
    }

    #[test]
    fn stops_stand_behind_the_verdict() {
        let stops = "stops for 1.5 s (once in 90 s)";
        let task = "for running an operating system";
        let of = |write: f64, half_width: f64| {
            let record = run(write, half_width);
            let found = answer(&record).unwrap().system.unwrap();
            with_stops(&found, system(&found, task, false, &[]), Some(stops))
        };
        for (write, half_width, expected) in [
            (49.0, 0.01, format!("Slow {task}, and {stops}: 49 random")),
            (
                600.0,
                0.01,
                format!("Meets A1, enough {task}, but {stops}: 600 random"),
            ),
            (
                495.0,
                0.05,
                format!("About fast enough {task}, but {stops}: 495 random"),
            ),
            (910.0, 0.01, format!("Good {task}, but {stops}: 910 random")),
        ] {
            let found = of(write, half_width);
            assert!(found.starts_with(&expected), "{found}");
        }
        let unknown = of(600.0, 0.4);
        assert!(
            unknown.ends_with(&format!("800 is comfortable). It {stops}")),
            "{unknown}"
        );
        let fails = System::Fails(FindingKind::IoError);
        let sentence = with_stops(&fails, system(&fails, "for all", false, &[]), Some(stops));
        assert_eq!(
            sentence,
            "Do not rely on this device: reads or writes failed"
        );
    }

    #[test]
    fn the_board_is_named_where_it_is_the_limit() {
        let mut limit = Limit {
            plain: "random reads".to_owned(),
            quantity: Quantity::OperationRate,
            value: 1760.0,
            enough: 2000.0,
            class: Some(("A1".to_owned(), 1500.0)),
            half_width_ratio: None,
            warnings: Vec::new(),
            board: Some(BoardLimit::SameProduct {
                board: "Raspberry Pi 4".to_owned(),
                value: 2700.0,
            }),
        };
        let expected = "(A1 asks for 1500; probably the board's limit: 2700 on a Raspberry Pi 4)";
        assert_eq!(asked(&limit, false, &[]), expected);
        limit.board = Some(BoardLimit::Ceiling {
            board: "Raspberry Pi 2".to_owned(),
            products_count: 9,
        });
        let expected = "(A1 asks for 1500; probably the board's limit: none of 9 cards is faster on a Raspberry Pi 2)";
        assert_eq!(asked(&limit, false, &[]), expected);
    }

    #[test]
    fn reads_in_one_piece_have_their_unit() {
        let mut record = run(1700.0, 0.01);
        record.metrics[1].value = 5000.0;
        record.metrics[2].value = 12.34e6;
        assert_eq!(
            first(&record),
            "Somewhat slow for running an operating system: 12 MB/s in sequential reads (20 is comfortable)"
        );
        record.metrics[2].value = 89e6;
        assert!(first(&record).starts_with("Fast for running an operating system: 1700 random"));
    }

    #[test]
    fn what_cannot_be_told_has_its_reason() {
        let mut record = run(910.0, 0.01);
        record.metrics[0].warnings = vec!["slow_payload".to_owned()];
        assert!(first(&record).ends_with("800 is comfortable; see the warnings)"));
        let hidden = ["slow_payload".to_owned()];
        assert!(sentences(&record, None, &hidden)[0].ends_with("800 is comfortable)"));
        record.metrics[0].warnings = vec!["buffered".to_owned()];
        assert_eq!(
            first(&record),
            "Cannot tell whether it is fast enough for running an operating system: the memory of the computer \
             answered (random writes)"
        );
        record.metrics.remove(0);
        assert_eq!(
            first(&record),
            "Cannot tell whether it is fast enough for running an operating system: random writes were not \
             measured"
        );
    }

    #[test]
    fn a_device_that_loses_data_is_good_for_nothing() {
        let mut record = run(910.0, 0.01);
        let lose = |record: &mut Record, lost_bytes| {
            if let Some(read) = &mut record.read_back {
                read.lost_bytes = lost_bytes;
            }
        };
        lose(&mut record, 64 << 20);
        assert_eq!(
            shown(&record, Some("cardmark probe sim:dead-1gb")),
            [
                "Do not store data here: all 64 MiB read back differ from what was written",
                "Not tested: how much of the capacity keeps data → cardmark probe sim:dead-1gb",
            ]
        );
        lose(&mut record, 1 << 20);
        assert_eq!(
            first(&record),
            "Do not store data here: 1 MiB of the 64 MiB read back differ from what was written"
        );
    }

    #[test]
    fn a_slow_long_series_stands_behind_the_first_sentence() {
        let mut record = run(1272.0, 0.01);
        let long = Metric::new("rand_write_4k_long", Quantity::OperationRate, 491.0);
        record.metrics.push(long);
        assert_eq!(
            shown(&record, None)[1],
            "Random writes slow down in a long series: 491/s"
        );
    }

    #[test]
    fn a_command_is_on_one_line() {
        let answer = answer_of(&run(49.0, 0.03), Some("cardmark probe sim:a1-32gb"), &[]);
        let lines = answer.unwrap().lines(40, Style::Plain);
        assert_eq!(lines.last().unwrap(), "  → cardmark probe sim:a1-32gb");
    }

    #[test]
    fn a_device_that_may_confirm_writes_early_is_not_called_good() {
        let with = |write: f64| {
            let mut record = run(write, 0.01);
            let finding = Finding::new(FindingKind::SyncNotSlower, Severity::Warning, "as fast");
            record.findings = vec![finding];
            shown(&record, None)
        };
        let good = with(910.0);
        assert_eq!(good[0], CONFIRMS_EARLY);
        assert_eq!(
            good[1],
            "Apart from that, fast enough for running an operating system: 910 random writes/s (A1 asks for 500; \
             800 is comfortable)"
        );
        assert!(
            good.iter().all(|sentence| !sentence.contains("Good")),
            "{good:?}"
        );
        assert!(with(49.0)[1].starts_with("Slow for running an operating system: 49"));
    }

    #[test]
    fn a_device_that_fails_comes_before_its_rates() {
        let mut record = run(910.0, 0.01);
        let cases = [
            (FindingKind::IoError, "reads or writes failed"),
            (FindingKind::NoAnswer, "it stopped answering"),
            (FindingKind::Vanished, "it disappeared during the test"),
        ];
        for (kind, how) in cases {
            record.findings = vec![Finding::new(kind, Severity::Error, "failed")];
            let expected = format!("Do not rely on this device: {how}");
            assert_eq!(shown(&record, None), [expected]);
        }
    }

    #[test]
    fn the_command_is_general_where_the_target_is_not_known() {
        let last = |record: &Record| shown(record, None).pop().unwrap();
        let mut record = run(910.0, 0.01);
        assert!(last(&record).ends_with("→ sudo cardmark probe DEVICE"));
        record.target = Some(Target::of(TargetKind::Directory));
        record.read_back = None;
        assert_eq!(
            last(&record),
            "Not tested: capacity, and whether data is kept → cardmark verify DIRECTORY"
        );
        record.origin.kind = OriginKind::Simulated;
        record.origin.source = Some("a1-32gb".to_owned());
        assert!(last(&record).ends_with("→ cardmark probe sim:a1-32gb"));
        // Others' runs: nothing can be tested any more.
        record.origin.kind = OriginKind::Published;
        assert!(last(&record).starts_with("Fine for: "));
    }

    #[test]
    fn a_page_has_a_name_and_begins_with_the_answer() {
        let mut record = run(49.0, 0.03);
        assert_eq!(run_title(&record), "Storage of unknown name");
        record.devices.push(cardmark_core::DeviceInfo {
            name: "sda".to_owned(),
            ..Default::default()
        });
        assert_eq!(run_title(&record), "Device sda");
        record.devices[0].model = Some("SD64G".to_owned());
        assert_eq!(run_title(&record), "SD64G");
        record
            .labels
            .insert("product".to_owned(), "Red 64".to_owned());
        assert_eq!(run_title(&record), "Red 64");
        let mut document = Document {
            title: String::new(),
            blocks: vec![Block::Heading("Method".to_owned())],
        };
        begin_with_answer(&mut document, &record);
        let Block::Answer { blocks, .. } = &document.blocks[0] else {
            panic!("{document:?}");
        };
        let Block::Text(text) = &blocks[0] else {
            panic!("{document:?}");
        };
        assert!(
            text.starts_with("Slow for running") && text.ends_with("comfortable)."),
            "{text}"
        );
        assert_eq!((blocks.len(), document.blocks.len()), (3, 2));
    }
}

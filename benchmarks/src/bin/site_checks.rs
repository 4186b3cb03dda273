//! Checks of a results site on honest runs and on forgeries: `FIRST=0 site_checks PROGRAM RUNS [FILE…]`. PROGRAM is
//! `cardmark`, which makes the simulated runs; each FILE holds runs, one a line or with its statement in the next line. FIRST is
//! the number of the first simulated run. See `benchmarks/site/checks`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that prints tables"
)]

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cardmark_benchmarks::forgery::{FORGERIES, Forgery, OF_SITES, OF_TESTS, is_base};
use cardmark_benchmarks::{ended, number};
use cardmark_catalog::publications;
use cardmark_core::{
    Origin, OriginKind, ParseError, Record, TargetKind, evidence_digest, is_statement, name_of,
    parse_run_file,
};
use cardmark_judge::derive_again;
use cardmark_share::{
    Check, CheckName, CheckOutcome, EvidenceState, Extract, SeedState, Summary, Surroundings,
    Voice, checks_around, context_key, derive, is_quarantined, product_range, read_submission,
    write_submission,
};
use cardmark_sim::models;
use uuid::Uuid;

/// Day of arrival of all runs.
const TODAY: &str = "2026-11-26";
/// Commands, each for all models; `quick` is the suite that most people run.
const COMMANDS: [&str; 44] = [
    "run --suite quick",
    "run --suite quick --label product=Canvas --label sample=A --claim A1",
    "run --suite quick --only rand_read_4k,seq_read_1m",
    "run --suite quick --only rand_write_4k",
    "run --suite quick --only rand_read_4k_q32,seq_write_1m",
    "run --suite quick --timeout 5",
    "run --suite quick --read-only",
    "run --suite dramble",
    "run --suite dramble --rounds 3",
    "run --suite pibenchmarks",
    "run --suite pibenchmarks --rounds 2",
    "run --suite quick",
    "run --suite agnostics",
    "run --suite parallel4",
    "run --suite parallel4 --rounds 2",
    "run --suite raw-survey",
    "run --suite raw-survey --rounds 2",
    "run --suite sustained",
    "run --suite sustained --bytes 1000000000",
    "run --suite position",
    "run --suite position --read-only",
    "run --suite block-sizes",
    "run --suite quick",
    "run --suite app-class",
    "run --suite app-class --tier file",
    "run --suite app-class --tier raw-full",
    "run --suite app-class --claim A2 --require A1",
    "run --suite speed-class",
    "run --suite speed-class --tier file",
    "run --suite speed-class --tier raw-full",
    "run --suite speed-class --claim V30",
    "probe",
    "probe --cache 64MiB",
    "probe --destroy",
    "verify",
    "verify --read-only",
    "verify --from 10 --to 20 --queue 8",
    "verify --to 1 --pattern random",
    "verify --to 5 --discard",
    "endure --cycles 2",
    "endure --until 0 --cycles 3",
    "anatomy",
    "anatomy --read-only",
    "power-cut",
];
/// Slots that a model is put into; the first is that of no particular board.
const SLOTS: [&str; 3] = ["", "@pi3", "@pi4"];
/// Commands that take minutes on a simulated card of 1 TB.
const LONG: [&str; 3] = ["raw-survey", "verify", "endure"];
/// Most seconds of a command.
const MOST_SECONDS: &str = "120";
/// Records that forgeries are applied to, at most.
const MOST_BASES: usize = 40;
/// Runs after which the numbers so far are printed.
const PROGRESS: u32 = 500;
/// Longest reason in a table, characters.
const MOST_CHARACTERS: usize = 110;

/// Outcomes of the checks of many records.
#[derive(Default)]
struct Tally {
    records: u32,
    outcomes: BTreeMap<(CheckName, &'static str), u32>,
    /// Number of records and the first of them, by check, outcome and reason with its numbers left out.
    reasons: BTreeMap<(CheckName, &'static str, String), (u32, String)>,
    quarantined: u32,
    /// Quarantined by `physics` alone.
    too_fast: u32,
    /// Evidence digests, with the id of the first record of each.
    seen: HashMap<String, Uuid>,
}

impl Tally {
    /// Checks a record beside those before it, as a site does, and counts the outcomes.
    fn add(&mut self, label: &str, submitted: &Submitted) {
        let mut checks = submitted.checks.clone();
        let around = self.surroundings(&submitted.extract);
        checks.extend(checks_around(submitted.extract.area, around));
        // All are of simulated cards, and stand for honest ones.
        checks.retain(|check| check.name != CheckName::Simulation);
        self.records += 1;
        let is_else = |check: &Check| check.name != CheckName::Physics;
        let others: Vec<Check> = checks.iter().filter(|one| is_else(one)).cloned().collect();
        match (is_quarantined(&checks), is_quarantined(&others)) {
            (true, false) => self.too_fast += 1,
            (is_quarantined, _) => self.quarantined += u32::from(is_quarantined),
        }
        for check in &checks {
            self.count(label, check);
        }
    }

    fn surroundings(&mut self, extract: &Extract) -> Surroundings {
        let evidence = match extract.evidence.clone() {
            None => EvidenceState::None,
            Some(evidence) => match *self.seen.entry(evidence).or_insert(extract.id) {
                first if first == extract.id => EvidenceState::New,
                first => EvidenceState::Known(first),
            },
        };
        Surroundings {
            evidence,
            seed: extract.seed.as_ref().map(|_| SeedState::Foreign),
        }
    }

    fn count(&mut self, label: &str, check: &Check) {
        let outcome = word(check.outcome);
        *self.outcomes.entry((check.name, outcome)).or_default() += 1;
        if check.outcome != CheckOutcome::Passed {
            let key = (check.name, outcome, plain(&check.reason));
            let of_reason = self.reasons.entry(key);
            let first = || (0, format!("{label}: {}", check.reason));
            of_reason.or_insert_with(first).0 += 1;
        }
    }

    fn print(&self, title: &str) {
        println!(
            "{title}: {} records, {} quarantined, {} more by `physics` alone\n\n| Check | passed | marked | not counted | failed | cannot tell |",
            self.records, self.quarantined, self.too_fast
        );
        println!("|---|---:|---:|---:|---:|---:|");
        for name in CheckName::ALL {
            let count = |outcome| self.outcomes.get(&(name, outcome)).copied().unwrap_or(0);
            let counts = OUTCOMES
                .map(|outcome| count(outcome).to_string())
                .join(" | ");
            if OUTCOMES.iter().any(|outcome| count(outcome) > 0) {
                println!("| `{}` | {counts} |", name_of(&name));
            }
        }
        println!();
        for ((name, outcome, reason), (count, first)) in &self.reasons {
            print!("{count} × {} {outcome}: {reason}", name_of(name));
            match *outcome {
                "cannot tell" => println!(),
                _ => println!("\n      first: {first}"),
            }
        }
        println!();
    }
}

const OUTCOMES: [&str; 5] = ["passed", "marked", "not counted", "failed", "cannot tell"];
/// Runs of a product arrive over a long time.
const OLDER: Voice = Voice {
    is_older: true,
    weight: 2,
};

fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Passed => "passed",
        CheckOutcome::Marked => "marked",
        CheckOutcome::NotCounted => "not counted",
        CheckOutcome::Failed => "failed",
        CheckOutcome::CannotTell => "cannot tell",
    }
}

/// A reason without its numbers.
fn plain(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.chars().take(MOST_CHARACTERS) {
        match c.is_ascii_digit() {
            true if text.ends_with('#') => {}
            true => text.push('#'),
            false => text.push(c),
        }
    }
    text
}

/// Everything that a site derives from a record as it is sent.
struct Submitted {
    extract: Extract,
    checks: Vec<Check>,
}

/// Sends a record and derives everything from the document.
fn submit(record: &Record) -> Result<Submitted, String> {
    let (text, _) = write_submission(record, 1, &[]).map_err(|error| error.to_string())?;
    let submission = read_submission(&text).map_err(|error| error.to_string())?;
    let derivation = derive(&submission, TODAY);
    Ok(Submitted {
        extract: derivation.extract,
        checks: derivation.checks,
    })
}

/// A run in a simulated slot as a device would have made it that behaves like the model: its figures are those of a measured
/// run.
fn as_measured(record: &Record, job: &Job) -> Option<Record> {
    if record.trials.is_empty() || job.slot.is_empty() {
        return None;
    }
    let mut record = record.clone();
    record.origin = Origin::of(OriginKind::Measured);
    if let Some(target) = &mut record.target {
        target.kind = TargetKind::Directory;
    }
    let _ = derive_again(&mut record);
    Some(record)
}

/// Results of all runs.
#[derive(Default)]
struct Results {
    simulated: Tally,
    as_measured: Tally,
    without_record: BTreeMap<String, u32>,
    unreadable: Vec<String>,
    /// Extracts of the runs labelled as measured, by number of the run.
    extracts: BTreeMap<usize, Extract>,
    /// Records that forgeries are applied to: whole runs of `quick`, and tests of storage.
    bases: BTreeMap<String, Record>,
    tests: BTreeMap<String, Record>,
}

impl Results {
    fn print_progress(&self) {
        let count = self.simulated.records;
        if count.is_multiple_of(PROGRESS) {
            eprintln!(
                "{count} runs, {} quarantined; {} as if measured, {} quarantined",
                self.simulated.quarantined, self.as_measured.records, self.as_measured.quarantined
            );
        }
    }
}

/// A command on a model in a slot.
struct Job {
    index: usize,
    model: &'static str,
    slot: &'static str,
    command: &'static str,
}

impl Job {
    fn of(index: usize, names: &[&'static str]) -> Self {
        let (model, rest) = (names[index % names.len()], index / names.len());
        let command = COMMANDS[rest % COMMANDS.len()];
        Self {
            index,
            model,
            slot: SLOTS[(rest + rest / COMMANDS.len()) % SLOTS.len()],
            command,
        }
    }

    fn is_long(&self) -> bool {
        self.model.ends_with("1tb") && LONG.iter().any(|word| self.command.contains(word))
    }

    fn label(&self) -> String {
        format!(
            "{} sim:{}{} --seed {}",
            self.command,
            self.model,
            self.slot,
            self.index + 1
        )
    }

    /// Runs the command with an empty store; returns its record if there is one.
    fn record(&self, program: &str, data: &Path) -> Result<Option<Record>, String> {
        let mut words = self.command.split(' ');
        let output = Command::new("timeout")
            .args([MOST_SECONDS, program, words.next().unwrap_or_default()])
            .arg(format!("sim:{}{}", self.model, self.slot))
            .args(words)
            .args(["--seed", &(self.index + 1).to_string(), "--json"])
            .env("XDG_DATA_HOME", data)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .map_err(|error| format!("{program}: {error}"))?;
        if data.exists() {
            std::fs::remove_dir_all(data).map_err(|error| error.to_string())?;
        }
        let text = String::from_utf8_lossy(&output.stdout);
        if text.is_empty() {
            return Ok(None);
        }
        parse_run_file(&text)
            .map(Some)
            .map_err(|error| error.to_string())
    }
}

/// Makes simulated runs on all processors until there are enough. `first` is the number of the first: commands follow each
/// other in the same order, each for all models.
fn simulated(program: &str, wanted: u32, first: usize) -> Result<Results, String> {
    let names: Vec<&'static str> = models().iter().map(|entry| entry.name).collect();
    let (next, results) = (AtomicUsize::new(first), Mutex::new(Results::default()));
    let data = std::env::temp_dir().join(format!("cardmark-site-checks-{}", std::process::id()));
    let work = |worker: usize| -> Result<(), String> {
        let data = data.join(worker.to_string());
        loop {
            let job = Job::of(next.fetch_add(1, Ordering::Relaxed), &names);
            if locked(&results).simulated.records >= wanted {
                return Ok(());
            }
            if !job.is_long() {
                let record = job.record(program, &data)?;
                take(&results, &job, record.as_ref());
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|worker| scope.spawn(move || work(worker)))
            .collect();
        let ends = threads.into_iter().map(|thread| match thread.join() {
            Ok(end) => end,
            Err(_) => Err("a worker panicked".to_owned()),
        });
        ends.collect::<Result<(), String>>()
    })?;
    let _ = std::fs::remove_dir_all(&data);
    results.into_inner().map_err(|error| error.to_string())
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Checks the record of a job, as it is and labelled as measured.
fn take(results: &Mutex<Results>, job: &Job, record: Option<&Record>) {
    let label = job.label();
    let Some(record) = record else {
        let key = format!("{} {}", job.command, job.slot);
        *locked(results).without_record.entry(key).or_default() += 1;
        return;
    };
    let relabelled = as_measured(record, job);
    let (sent, sent_again) = (submit(record), relabelled.as_ref().map(submit));
    let mut results = locked(results);
    match sent {
        Ok(sent) => {
            results.simulated.add(&label, &sent);
            results.print_progress();
        }
        Err(error) => results.unreadable.push(format!("{label}: {error}")),
    }
    match sent_again {
        Some(Ok(sent)) => {
            results.as_measured.add(&label, &sent);
            results.extracts.insert(job.index, sent.extract);
        }
        Some(Err(error)) => results
            .unreadable
            .push(format!("{label}, as measured: {error}")),
        None => {}
    }
    if record.integrity.is_some() {
        let test = job.command.split(' ').next().unwrap_or_default();
        let key = format!("{test} {}", job.model);
        results.tests.entry(key).or_insert_with(|| record.clone());
    }
    if is_base(record) {
        let key = format!("{}{}", job.model, job.slot);
        results.bases.entry(key).or_insert_with(|| record.clone());
        let key = format!("{}{}, as measured", job.model, job.slot);
        if let Some(base) = relabelled {
            results.bases.entry(key).or_insert(base);
        }
    }
}

/// Runs of a file, each with the labels of its statement.
fn runs_of(file: &str) -> Result<Vec<Record>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    if let Ok(one) = parse_run_file(&text) {
        return Ok(vec![one]);
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut runs = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).filter(|next| is_statement(next));
        let run = match next {
            _ if is_statement(line) => continue,
            Some(statement) => parse_run_file(&format!("{line}\n{statement}")),
            None => parse_run_file(line),
        };
        runs.push(run.map_err(|error| format!("{file}: {error}"))?);
    }
    Ok(runs)
}

/// Marks of `product_range`: each model is a product, and its runs in a context arrive one by one, each of another card.
fn ranges(extracts: &BTreeMap<usize, Extract>) -> BTreeMap<&'static str, u32> {
    let mut products: HashMap<(String, i64), BTreeMap<String, Summary>> = HashMap::new();
    let mut counts = BTreeMap::new();
    for extract in extracts.values() {
        let key = (
            extract.model.clone().unwrap_or_default(),
            context_key(&extract.context),
        );
        let summaries = products.entry(key).or_default();
        let known = extract.figures.iter().filter_map(|figure| {
            let summary = summaries.get(&figure.metric)?;
            Some((figure.metric.as_str(), figure.value, summary))
        });
        let check = product_range(known);
        *counts.entry(word(check.outcome)).or_default() += 1;
        for figure in &extract.figures {
            let summary = summaries.entry(figure.metric.clone()).or_default();
            summary.add(figure.value, OLDER);
        }
    }
    counts
}

/// What finds a forgery.
#[derive(Default)]
struct Found {
    applied: u32,
    quarantined: u32,
    failed: BTreeSet<String>,
    marked: BTreeSet<String>,
    /// Not quarantined, and in the context of the original: counted with it if both are measured.
    counted: u32,
    beside: BTreeSet<&'static str>,
}

impl Found {
    fn add(&mut self, base: &Record, forged: Result<Record, ParseError>) {
        self.applied += 1;
        let forged = forged.map_err(|error| error.to_string());
        let sent = forged.and_then(|forged| Ok((submit(&forged)?, forged)));
        let Ok((sent, forged)) = sent else {
            self.quarantined += 1;
            self.failed.insert("refused (422)".to_owned());
            return;
        };
        let is_quarantined = is_quarantined(&sent.checks);
        self.quarantined += u32::from(is_quarantined);
        let is_same_context = Extract::of(base).context == sent.extract.context;
        self.counted += u32::from(!is_quarantined && is_same_context);
        for check in &sent.checks {
            let name = format!("`{}`", name_of(&check.name));
            match check.outcome {
                CheckOutcome::Failed => self.failed.insert(name),
                CheckOutcome::Marked => self.marked.insert(name),
                _ => false,
            };
        }
        if forged.id == base.id {
            self.beside.insert("409");
        } else if evidence_digest(&forged) == evidence_digest(base) {
            self.beside.insert("`repeats`");
        }
    }
}

/// Prints a row of the table of forgeries. Returns whether the forgery is quarantined wherever it applies.
fn row(forgery: &Forgery, bases: &[Record], others: &[Record]) -> bool {
    let mut found = Found::default();
    for (at, base) in bases.iter().enumerate() {
        let forged = forgery.of(base, &others[(at + 1) % others.len()]);
        if let Some(forged) = forged {
            found.add(base, forged);
        }
    }
    let joined = |words: &BTreeSet<String>| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        words.join(", ")
    };
    let beside: Vec<&str> = found.beside.iter().copied().collect();
    println!(
        "| {} | {} | {} | {}/{} | {} | {} |",
        forgery.name,
        joined(&found.failed),
        joined(&found.marked),
        found.quarantined,
        found.applied,
        found.counted,
        beside.join(", ")
    );
    found.applied > 0 && found.quarantined == found.applied
}

/// Prints which checks find which forgeries, and what the site does if it has the original.
fn forgeries(title: &str, kinds: &[Forgery], bases: &[Record], others: &[Record]) {
    println!("{title}: {} records changed\n", bases.len());
    println!(
        "| Forgery | Failed check | Mark | Quarantined | Context of the original | Beside it |"
    );
    println!("|---|---|---|---:|---:|---|");
    let found = kinds.iter().filter(|forgery| row(forgery, bases, others));
    let count = found.count();
    println!("\n{count} of {} kinds quarantined in all\n", kinds.len());
}

/// At most [`MOST_BASES`] of these, evenly over all models.
fn chosen(all: BTreeMap<String, Record>) -> impl Iterator<Item = Record> {
    let step = all.len().div_ceil(MOST_BASES).max(1);
    all.into_values().step_by(step)
}

fn table() -> Result<bool, String> {
    let program = number(0, String::new())?;
    let wanted = number(1, 10_000)?;
    let mut of_files = Tally::default();
    let mut bases = Vec::new();
    for record in publications().iter().flat_map(|one| one.records()) {
        let sent = submit(&record).map_err(|error| format!("{}: {error}", record.id))?;
        of_files.add("published", &sent);
    }
    for file in std::env::args().skip(3) {
        for record in runs_of(&file)? {
            let sent = submit(&record).map_err(|error| format!("{file}: {error}"))?;
            of_files.add(&file, &sent);
            bases.extend(Some(record).filter(is_base));
        }
    }
    of_files.print("Runs of files");
    let first = std::env::var("FIRST").map_or(Ok(0), |first| first.parse().map_err(|_| first))?;
    let results = simulated(&program, wanted, first)?;
    results.simulated.print("Simulated runs");
    results
        .as_measured
        .print("The same with trials, as if measured");
    println!(
        "product_range of these, a model as a product: {:?}",
        ranges(&results.extracts)
    );
    let without: u32 = results.without_record.values().sum();
    println!(
        "{without} commands left no record: {:?}\n",
        results.without_record
    );
    for unreadable in &results.unreadable {
        println!("not readable as sent: {unreadable}");
    }
    bases.extend(chosen(results.bases));
    let tests: Vec<Record> = chosen(results.tests).collect();
    forgeries("Whole runs of `quick`", &FORGERIES, &bases, &bases);
    forgeries("The same, against a site", &OF_SITES, &bases, &bases);
    forgeries("Tests of storage", &OF_TESTS, &tests, &bases);
    // A simulated card can be faster than its simulated slot: what varies its time varies that on the bus too. A device cannot, so
    // that `physics` is right about such a run as if it were measured.
    let of_runs = results.simulated.quarantined + results.simulated.too_fast;
    let quarantined =
        of_files.quarantined + of_files.too_fast + of_runs + results.as_measured.quarantined;
    Ok(quarantined == 0 && results.unreadable.is_empty())
}

fn main() -> ExitCode {
    ended(table())
}

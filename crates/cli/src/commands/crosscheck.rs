//! `cardmark crosscheck`.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cardmark_core::{Record, SECOND_NS, Suite, TargetKind};
use cardmark_device::{OpenTarget, empty_page_cache};
use cardmark_engine::Request;
use cardmark_host::Resolution;
use cardmark_report::{Agreement, agreement_table, text};

use crate::args::CrosscheckArguments;
use crate::crosscheck::{Contest, Pairs, Place, Rival, Workshop, contests, find_program};
use crate::error::{CommandError, Exit};
use crate::print::{self, TERMINAL};
use cardmark_session::{
    Chosen, Data, Intent, Leave, Measurement, Session, Turn, ask, choose, device_bytes, disk_path,
    has_room, journal_name, measure, path_name, refuse_used, unusable,
};
use cardmark_store::{JobKind, Journal};

/// Runs the originals and ours in turn, and shows how they compare.
pub(crate) fn crosscheck(arguments: &CrosscheckArguments) -> Result<Exit, CommandError> {
    let suite = cardmark_catalog::crosscheck_suite()
        .map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
    let target = choose(&arguments.target)?;
    let Chosen::Real { path, resolution } = &target else {
        return Err(CommandError::new(
            Exit::Usage,
            "the original tools cannot run on a simulated card",
        )
        .hint("cardmark-simfs makes one into a block device for any tool"));
    };
    let parent = match resolution.kind {
        TargetKind::Device => std::env::temp_dir(),
        _ => path.clone(),
    };
    // The size does not decide which contests write.
    let all = contests(&place(path, resolution, 0, &parent));
    if writes(&asked(all, &arguments.only, &suite)?) {
        refuse_used(path, resolution)?;
    }
    let data = Data::from_environment()?;
    let size_bytes = device_size(path, resolution, &suite)?;
    let at = |workshop: &Path| {
        let contests = contests(&place(path, resolution, size_bytes, workshop));
        asked(contests, &arguments.only, &suite)
    };
    // Before the workshop takes over the signals: the question is answered by Ctrl-C too.
    let leave = leave(arguments, path, resolution, &at(&parent)?)?;
    let workshop = Workshop::new(&parent)?;
    let bench = Bench {
        suite: &suite,
        target: &target,
        path,
        resolution,
        data: &data,
        workshop: &workshop,
        leave: leave.as_ref(),
        written_bytes: Cell::new(0),
    };
    let asked = at(workshop.path())?;
    let (mut journal, mut state) = begin(arguments, path, &data)?;
    let mut exit = Exit::Done;
    for contest in present(&asked) {
        if let Err(error) = bench.meet(contest, arguments.pairs, &mut state, &mut journal) {
            exit = exit.or_worse(error.exit);
            print::error(&error);
        }
        if workshop.signals().exit().is_some() {
            break;
        }
    }
    let is_stopped = workshop.signals().exit().is_some();
    if is_stopped && state.values().any(|pairs| pairs.count() > 0) {
        print::notice("the whole pairs are kept; the same command goes on");
    } else {
        cardmark_session::finish(Some(journal))?;
    }
    let agreements: Vec<Agreement> = state.values().flat_map(Pairs::agreements).collect();
    print::notice(&format!(
        "written to the target: {} by cardmark, and about the same amount by the originals",
        text::amount(bench.written_bytes.get())
    ));
    show(&agreements, arguments.json)?;
    Ok(exit)
}

/// Pairs of each contest, by its name, in the order of the alphabet.
type State = BTreeMap<String, Pairs>;

/// Continues the pairs of an interrupted crosscheck of this target, or begins.
fn begin(
    arguments: &CrosscheckArguments,
    path: &Path,
    data: &Data,
) -> Result<(Journal, State), CommandError> {
    let name = journal_name(&path_name(path, data)?, JobKind::Crosscheck);
    let begun = match arguments.restart {
        true => None,
        false => data.unfinished::<State>(&name)?,
    };
    if let Some(begun) = begun {
        let whole = begun
            .state
            .into_iter()
            .map(|(name, pairs)| (name, pairs.whole()));
        let state: State = whole.collect();
        let count: usize = state.values().map(Pairs::count).sum();
        print::notice(&format!(
            "continues with the {count} pairs of an interrupted crosscheck; `--restart` begins again"
        ));
        return Ok((begun.journal, state));
    }
    let journal = data.begin(&name, JobKind::Crosscheck, &arguments.target, None);
    Ok((journal.map_err(|error| unusable(&error))?, State::new()))
}

/// The size of a device, which must hold the files of the suite; 0 for a directory.
fn device_size(path: &Path, resolution: &Resolution, suite: &Suite) -> Result<u64, CommandError> {
    if resolution.kind != TargetKind::Device {
        return Ok(0);
    }
    let size_bytes = device_bytes(path)?;
    if size_bytes >= suite.file_bytes {
        return Ok(size_bytes);
    }
    Err(
        CommandError::new(Exit::Trouble, format!("`{}` is too small", path.display())).because(
            format!(
                "it has {}; {} are needed",
                text::capacity(size_bytes),
                text::capacity(suite.file_bytes)
            ),
        ),
    )
}

/// Returns whether one of the contests writes to the target.
fn writes(contests: &[Contest]) -> bool {
    contests.iter().any(|contest| contest.writes)
}

/// Leave to write to a device, asked for once, and only where a contest writes: an original may,
/// although the figure that was asked for is one of reading.
fn leave(
    arguments: &CrosscheckArguments,
    path: &Path,
    resolution: &Resolution,
    contests: &[Contest],
) -> Result<Option<Leave>, CommandError> {
    if resolution.kind != TargetKind::Device || !writes(contests) {
        return Ok(None);
    }
    let what = "let iozone, ddrescue and its own workloads write over all of a raw device, again \
                and again";
    let intent = Intent {
        what,
        bytes_to_write: None,
        puts_back: false,
    };
    ask(
        &TERMINAL,
        path,
        resolution,
        &arguments.consent.given(),
        &intent,
    )
    .map(Some)
}

/// Place where originals with this workshop work.
fn place(path: &Path, resolution: &Resolution, size_bytes: u64, workshop: &Path) -> Place {
    let is_device = resolution.kind == TargetKind::Device;
    let own = path.to_string_lossy().into_owned();
    Place {
        disk: if is_device {
            Some(own.clone())
        } else {
            disk_path(resolution)
        },
        device: is_device.then_some((own, size_bytes)),
        workshop: workshop.to_owned(),
    }
}

/// The contests in which a workload that was asked for takes part.
fn asked(
    contests: Vec<Contest>,
    only: &[String],
    suite: &Suite,
) -> Result<Vec<Contest>, CommandError> {
    if let Some(id) = only.iter().find(|id| suite.workload(id).is_none()) {
        let known: Vec<&str> = suite.workloads.iter().map(|w| w.id.as_str()).collect();
        return Err(
            CommandError::new(Exit::Usage, format!("no workload `{id}`"))
                .hint(format!("there is {}", known.join(", "))),
        );
    }
    let is_asked =
        |contest: &Contest| only.is_empty() || contest.workloads.iter().any(|id| only.contains(id));
    Ok(contests.into_iter().filter(is_asked).collect())
}

/// Those whose tool is installed; the others are named, each package once.
fn present(contests: &[Contest]) -> Vec<&Contest> {
    let mut told: Vec<&str> = Vec::new();
    let is_there = |contest: &&Contest| {
        let call = &contest.invocation;
        if find_program(call.program).is_some() {
            return true;
        }
        if !told.contains(&call.program) {
            told.push(call.program);
            print::notice(&format!(
                "left out: {} is not installed; Debian has it in the package {}",
                call.program, call.package
            ));
        }
        false
    };
    contests.iter().filter(is_there).collect()
}

fn show(agreements: &[Agreement], as_json: bool) -> Result<(), CommandError> {
    if as_json {
        let rows: Vec<_> = agreements.iter().map(Agreement::row).collect();
        let text = serde_json::to_string_pretty(&rows).map_err(|error| {
            CommandError::new(Exit::Bug, "the agreement cannot be written")
                .because(error.to_string())
        })?;
        return print::result(&(text + "\n"));
    }
    if agreements.is_empty() {
        return print::result("nothing was compared\n");
    }
    print::result(&agreement_table(agreements, print::width(), print::style()))
}

/// Place where both sides work.
struct Bench<'a> {
    suite: &'a Suite,
    target: &'a Chosen,
    path: &'a Path,
    resolution: &'a Resolution,
    data: &'a Data,
    workshop: &'a Workshop,
    leave: Option<&'a Leave>,
    /// Amount that our side has written.
    written_bytes: Cell<u64>,
}

impl Bench<'_> {
    fn meet(
        &self,
        contest: &Contest,
        most_pairs: u32,
        state: &mut State,
        journal: &mut Journal,
    ) -> Result<(), CommandError> {
        let mut pairs = state.remove(contest.name).unwrap_or_default();
        let mut keep = |pairs: &Pairs| {
            state.insert(contest.name.to_owned(), pairs.clone());
            journal.state(state).map_err(|error| unusable(&error))
        };
        let run = |rival: Rival, pair: usize| {
            let who = match rival {
                Rival::Original => contest.invocation.program,
                Rival::Ours => "cardmark",
            };
            print::notice(&format!("{}, pair {}: {who}", contest.name, pair + 1));
            // Both start alike, and never have files at the same time.
            self.workshop.clear();
            if let Some(disk) = &contest.cold_disk {
                // If the disk may not be read, both sides report it.
                let _ = empty_page_cache(Path::new(disk));
            }
            match rival {
                Rival::Original => self.original(contest),
                Rival::Ours => self.ours(contest),
            }
        };
        let ended = pairs.complete(most_pairs, run, &mut keep);
        state.insert(contest.name.to_owned(), pairs);
        ended
    }

    fn original(&self, contest: &Contest) -> Result<Vec<(String, f64)>, CommandError> {
        if self.resolution.kind != TargetKind::Device {
            has_room(self.path, self.suite.file_bytes)?;
        }
        let held = self.held(contest)?;
        if let Some((path, bytes)) = &contest.written {
            self.workshop.write(path, *bytes)?;
        }
        let mut turn = Turn::new(&TERMINAL, &Arc::default());
        turn.take();
        let ran = self.workshop.run(&contest.invocation);
        turn.give();
        let (text, wall) = ran?;
        drop(held);
        contest.read(&text, wall).ok_or_else(|| {
            let what = format!("cannot read the output of {}", contest.invocation.program);
            CommandError::new(Exit::Trouble, what)
        })
    }

    /// The device, held while an original writes to it, so that it stays the same and unused by others.
    fn held(&self, contest: &Contest) -> Result<Option<OpenTarget>, CommandError> {
        if self.resolution.kind != TargetKind::Device || !contest.writes {
            return Ok(None);
        }
        let refused =
            || CommandError::new(Exit::Bug, format!("{} has no leave to write", contest.name));
        self.leave.ok_or_else(refused)?.open().map(Some)
    }

    fn ours(&self, contest: &Contest) -> Result<Vec<(String, f64)>, CommandError> {
        let request = Request {
            only: contest.workloads.clone(),
            read_only: false,
            seed: 1,
            limit_ns: LIMIT_SECONDS * SECOND_NS,
            passes_count: None,
            most_bytes: None,
            tier: None,
        };
        let session = Session {
            signals: Some(self.workshop.signals()),
            ..Session::new(&TERMINAL, self.data, LIMIT_SECONDS)
        };
        let job = Measurement {
            session: &session,
            target: &self.path.to_string_lossy(),
            suite: self.suite,
            request: &request,
            labels: &[],
            consent: &cardmark_session::Consent::default(),
            leave: self.leave,
        };
        let measured = measure(&job, self.target)?;
        let written = self.written_bytes.get() + measured.record.bytes_written;
        self.written_bytes.set(written);
        if measured.exit != Exit::Done {
            let mut error = CommandError::new(measured.exit, "our side is not complete");
            let details = measured.record.findings.iter().map(|f| f.detail.clone());
            error.causes = details.take(1).collect();
            return Err(error);
        }
        Ok(values(&measured.record))
    }
}

/// Seconds after which the device counts as not answering.
const LIMIT_SECONDS: u64 = 60;

fn values(record: &Record) -> Vec<(String, f64)> {
    let value = |metric: &cardmark_core::Metric| (metric.id.clone(), metric.value);
    record.metrics.iter().map(value).collect()
}

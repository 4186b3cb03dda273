//! A target on which both sides work in turn.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cardmark_core::{Record, SECOND_NS, Suite, TargetKind};
use cardmark_device::{OpenTarget, empty_page_cache};
use cardmark_engine::Request;
use cardmark_host::Resolution;
use cardmark_report::{Agreement, text};
use cardmark_session::{
    Chosen, Claim, CommandError, Consent, Data, Exit, FirstWait, Intent, Leave, Measurement,
    Session, Step, Turn, Voice, ask, choose, device_bytes, disk_path, finish, has_room,
    journal_name, measure, path_name, refuse_used, unusable,
};
use cardmark_store::{JobKind, Journal};

use crate::contest::{Contest, contests};
use crate::original::{ToolTarget, Workshop, find_program};
use crate::pairs::{Pairs, Rival};

/// Request for a crosscheck.
pub struct CrosscheckRequest<'a> {
    /// The target as the user named it.
    pub target: &'a str,
    /// Workloads; none is all.
    pub only: &'a [String],
    /// Largest number of pairs of each contest.
    pub most_pairs: u32,
    /// True to begin again, even if an interrupted crosscheck could continue.
    pub restart: bool,
    /// Consent to writing a device.
    pub consent: &'a Consent,
    /// Receiver of messages.
    pub voice: &'static dyn Voice,
    /// Places of the results.
    pub data: &'a Data,
}

/// Result of a crosscheck.
pub struct Crosschecked {
    /// Comparison of each figure.
    pub agreements: Vec<Agreement>,
    /// Exit for the contests that failed.
    pub exit: Exit,
}

/// Runs the originals and ours in turn, and returns how they compare.
///
/// # Errors
/// If the target cannot be used, or the suite has no such workload.
pub fn crosscheck(request: &CrosscheckRequest<'_>) -> Result<Crosschecked, CommandError> {
    let suite = cardmark_catalog::crosscheck_suite()
        .map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
    let target = choose(request.target)?;
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
    if writes(&asked(all, request.only, &suite)?) {
        refuse_used(path, resolution)?;
    }
    let size_bytes = device_size(path, resolution, &suite)?;
    let at = |workshop: &Path| {
        let contests = contests(&place(path, resolution, size_bytes, workshop));
        asked(contests, request.only, &suite)
    };
    // Before the workshop takes over the signals: the question is answered by Ctrl-C too.
    let leave = leave(request, path, resolution, &at(&parent)?)?;
    let workshop = Workshop::new(&parent)?;
    let bench = Bench {
        suite: &suite,
        target: &target,
        path,
        resolution,
        voice: request.voice,
        data: request.data,
        workshop: &workshop,
        leave: leave.as_ref(),
        written_bytes: Cell::new(0),
    };
    let asked = at(workshop.path())?;
    let (mut journal, mut state) = begin(request, path)?;
    let mut exit = Exit::Done;
    for contest in present(request.voice, &asked) {
        if let Err(error) = bench.meet(contest, request.most_pairs, &mut state, &mut journal) {
            exit = exit.or_worse(error.exit);
            request.voice.error(&error);
        }
        if workshop.signals().exit().is_some() {
            break;
        }
    }
    let is_stopped = workshop.signals().exit().is_some();
    if is_stopped && state.values().any(|pairs| pairs.count() > 0) {
        request
            .voice
            .notice("the whole pairs are kept; the same command goes on");
    } else {
        finish(Some(journal))?;
    }
    let agreements: Vec<Agreement> = state.values().flat_map(Pairs::agreements).collect();
    request.voice.notice(&format!(
        "written to the target: {} by cardmark, and about the same amount by the originals",
        text::amount(bench.written_bytes.get())
    ));
    Ok(Crosschecked { agreements, exit })
}

/// Pairs of each contest, by its name, in the order of the alphabet.
type State = BTreeMap<String, Pairs>;

/// Continues the pairs of an interrupted crosscheck of this target, or begins.
fn begin(request: &CrosscheckRequest<'_>, path: &Path) -> Result<(Journal, State), CommandError> {
    let name = journal_name(&path_name(path, request.data)?, JobKind::Crosscheck);
    let begun = match request.restart {
        true => None,
        false => request.data.unfinished::<State>(&name)?,
    };
    if let Some(begun) = begun {
        let whole = begun
            .state
            .into_iter()
            .map(|(name, pairs)| (name, pairs.whole()));
        let state: State = whole.collect();
        let count: usize = state.values().map(Pairs::count).sum();
        request.voice.notice(&format!(
            "continues with the {count} pairs of an interrupted crosscheck; `--restart` begins again"
        ));
        return Ok((begun.journal, state));
    }
    let data = request.data;
    let journal = data.begin(&name, JobKind::Crosscheck, request.target, None);
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
    request: &CrosscheckRequest<'_>,
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
    ask(request.voice, path, resolution, request.consent, &intent).map(Some)
}

/// Place where originals with this workshop work.
fn place(path: &Path, resolution: &Resolution, size_bytes: u64, workshop: &Path) -> ToolTarget {
    let is_device = resolution.kind == TargetKind::Device;
    let own = path.to_string_lossy().into_owned();
    ToolTarget {
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
fn present<'a>(voice: &dyn Voice, contests: &'a [Contest]) -> Vec<&'a Contest> {
    let mut told: Vec<&str> = Vec::new();
    let is_there = |contest: &&Contest| {
        let call = &contest.invocation;
        if find_program(call.program).is_some() {
            return true;
        }
        if !told.contains(&call.program) {
            told.push(call.program);
            voice.notice(&format!(
                "left out: {} is not installed; Debian has it in the package {}",
                call.program, call.package
            ));
        }
        false
    };
    contests.iter().filter(is_there).collect()
}

/// Place where both sides work.
struct Bench<'a> {
    suite: &'a Suite,
    target: &'a Chosen,
    path: &'a Path,
    resolution: &'a Resolution,
    voice: &'static dyn Voice,
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
            self.voice
                .notice(&format!("{}, pair {}: {who}", contest.name, pair + 1));
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
        let claim = Claim::timed(
            "crosscheck",
            &self.path.display().to_string(),
            self.resolution,
        );
        let mut turn = Turn::new(
            self.voice,
            &Arc::default(),
            &claim,
            self.data.lock_file.as_deref(),
        );
        turn.take(Step::default(), &mut FirstWait::new(self.voice));
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
            until_settled: false,
            tier: None,
        };
        let session = Session {
            signals: Some(self.workshop.signals()),
            ..Session::new(self.voice, self.data, LIMIT_SECONDS)
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
        let written = self.written_bytes.get() + measured.record.written_bytes;
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

//! Endurance: a device is written and read until it fails, and read again after a rest.

pub(crate) mod endurance;

use cardmark_core::{IntegrityTest, Record};
use cardmark_device::{Blocks, OpenTarget, open_device_readonly};
use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, Endure, EndureEnd, Medium, Trouble, Verify};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::{JobKind, Journal};
use jiff::SignedDuration;
use serde_json::json;

use crate::data::Data;
use crate::data::unfinished::{Unfinished, finish, journal_name, unusable};
use crate::drive::job::{Interruption, Job};
use crate::drive::session::Session;
use crate::drive::traces::Traces;
use crate::drive::turn::Claim;
use crate::error::{CommandError, Exit};
use crate::gate::consent::{Intent, permit_writing, refuse_used};
use crate::gate::whole_device::{Tested, WholeDevice};
use crate::jobs::endure::endurance::{Endurance, Rest};
use crate::jobs::integrity::{
    Attempt, Hint, TestRequest, TestResult, blocks_of, card_name, ended_early, head, model_fault,
    no_verdict, of_endure, of_retention, refuse_changed, simulated_head, tell_anew,
};
use crate::target::describe::minute;

const WHOLE: &str = "a device wears out as a whole";

/// Request for an endurance test.
pub struct EndureRequest<'a> {
    /// Part that all tests have.
    pub test: TestRequest<'a>,
    /// End of the cycles.
    pub end: EndureEnd,
    /// Days of rest after the last cycle, before the card is read again.
    pub after_days: Option<u32>,
}

/// Writes and reads a device until it fails.
///
/// # Errors
/// If the device may not be written, or the test cannot reach its end.
pub fn endure(
    session: &Session<'_>,
    tested: &Tested,
    request: &EndureRequest<'_>,
) -> Result<TestResult, CommandError> {
    match tested {
        Tested::Simulated(model) => simulated(session, request, model),
        Tested::Device(device) => on_device(session, request, device),
    }
}

/// Resolves the name of a target of this test. A device in use is refused before any other check, unless the test only reads
/// it: a card that rested may be write-protected by now.
///
/// # Errors
/// If it is in use, or no whole device.
pub fn to_endure(name: &str, restart: bool, data: Option<&Data>) -> Result<Tested, CommandError> {
    Tested::checked(name, WHOLE, |path, resolution| {
        let used = refuse_used(path, resolution);
        match used.is_err() && !restart && is_resting(resolution, data) {
            true => Ok(()),
            false => used,
        }
    })
}

/// Returns whether the device is known to rest, so that this command only reads it.
fn is_resting(resolution: &Resolution, data: Option<&Data>) -> bool {
    let kept = || {
        let data = data?;
        // Nothing is created for a device that may be refused.
        if !data.journals.is_dir() {
            return None;
        }
        let device = resolution.layers.first()?.device.as_ref()?;
        let name = card_name(data, device).ok()??;
        data.last_state::<Endurance>(&journal_name(&name, JobKind::Endure))
    };
    kept().is_some_and(|test| test.rest.is_some())
}

fn simulated(
    session: &Session<'_>,
    request: &EndureRequest<'_>,
    model: &Model,
) -> Result<TestResult, CommandError> {
    let seed = request.test.new_seed(true);
    let end = request.end;
    refuse_small_budget(end, model.capacity_bytes())?;
    if end.most_bytes.is_none() && end.most_cycles.is_none() && !model.wears_out() {
        return Err(CommandError::new(
            Exit::Usage,
            format!("`sim:{}` never wears out", model.name()),
        )
        .hint("`--cycles N` ends it, or take `sim:wearing-1gb`"));
    }
    let head = simulated_head(model, &json!({"test": "endure", "end": end}), seed);
    let mut medium = SimMedium::new(model, seed).with_limit(session.limit_ns());
    let mut test = Endurance {
        endure: Endure::new(medium.blocks_count(), seed, end),
        rest: None,
    };
    if let Err(trouble) = test.run(&mut medium) {
        let attempt = Attempt::new(&head, IntegrityTest::Endure);
        let moved_bytes = medium.moved_bytes();
        return attempt.end(session, trouble, moved_bytes, model_fault(trouble));
    }
    let Some(days) = request.after_days else {
        return keep(session, head, &test.endure);
    };
    session.data.open()?.insert(&ended(head, &test.endure)?)?;
    medium.rest(f64::from(days));
    let asked = json!({"test": "retention", "end": end, "days": days});
    let head = simulated_head(model, &asked, seed);
    let mut reading = test.endure.verify().again();
    while !reading.is_done() {
        reading.advance(&mut medium).map_err(model_fault)?;
    }
    let rested = SignedDuration::from_hours(24 * i64::from(days));
    keep_rest(session, head, &test.endure, &reading, rested)
}

/// The record of cycles that came to their end.
fn ended(head: Record, test: &Endure) -> Result<Record, CommandError> {
    let verdict = test.verdict().ok_or_else(no_verdict)?;
    Ok(of_endure(head, test, &verdict))
}

/// Keeps the result of cycles that came to their end.
fn keep(session: &Session<'_>, head: Record, test: &Endure) -> Result<TestResult, CommandError> {
    let exit = exit_of(test.bad_blocks());
    Ok(TestResult::keep(session, ended(head, test)?, exit))
}

/// Keeps what is left after a rest.
fn keep_rest(
    session: &Session<'_>,
    head: Record,
    test: &Endure,
    reading: &Verify,
    rested: SignedDuration,
) -> Result<TestResult, CommandError> {
    let verdict = test.verdict_of(reading).ok_or_else(no_verdict)?;
    let before = test.verify().surface();
    let rested_ms = u64::try_from(rested.as_millis()).unwrap_or(0);
    let record = of_retention(head, reading, test, rested_ms, &verdict);
    let exit = exit_of(reading.surface().bad_since(before));
    Ok(TestResult::keep(session, record, exit))
}

fn exit_of(bad_blocks: u64) -> Exit {
    match bad_blocks {
        0 => Exit::Done,
        _ => Exit::Bad,
    }
}

fn on_device(
    session: &Session<'_>,
    request: &EndureRequest<'_>,
    device: &WholeDevice,
) -> Result<TestResult, CommandError> {
    let data = session.data;
    let Some(name) = card_name(data, &device.info.name)? else {
        let what = "this device cannot be recognised later";
        return Err(CommandError::new(Exit::Trouble, what)
            .because(
                "it reports neither a CID nor a serial number: the test could not continue after a pause",
            )
            .hint("use a reader that shows one"));
    };
    let begun = match request.test.restart {
        true => None,
        false => data.unfinished::<Endurance>(&journal_name(&name, JobKind::Endure))?,
    };
    let blocks_count = device.info.size_bytes.unwrap_or(0) / BLOCK_BYTES as u64;
    let parts = |begun: Unfinished<Endurance>| Some((begun.journal, begun.record?, begun.state));
    let begun = begun.and_then(parts);
    let begun = begun.filter(|(_, _, test)| test.endure.verify().blocks_count() == blocks_count);
    let card = TestedCard {
        request,
        device,
        name,
        session,
    };
    match begun {
        Some((
            journal,
            _,
            Endurance {
                endure,
                rest: Some(rest),
            },
        )) => card.after_rest(journal, endure, rest),
        // It ended, and its result could not be stored.
        Some((journal, head, test)) if test.is_done() => card.finish(journal, head, test),
        begun => card.cycles(begun),
    }
}

/// A card under test.
struct TestedCard<'a> {
    request: &'a EndureRequest<'a>,
    device: &'a WholeDevice,
    /// Name of the card for its journals.
    name: String,
    session: &'a Session<'a>,
}

/// An endurance test of an earlier process: its journal, the head of its record, its state.
type Begun = (Journal, Record, Endurance);

const AGAIN: &str = "the same command goes on there";

impl TestedCard<'_> {
    /// Writes and reads until the end.
    fn cycles(&self, begun: Option<Begun>) -> Result<TestResult, CommandError> {
        let (end, device) = (self.request.end, self.device);
        refuse_small_budget(end, device.info.size_bytes.unwrap_or(0))?;
        if let Some((_, _, test)) = &begun
            && test.endure.has_spent(end)
        {
            let test = &test.endure;
            let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
            let what = "the unfinished test has reached this limit already";
            return Err(CommandError::new(Exit::Usage, what)
                .because(format!("{cycles} cycles are whole, {written} were written"))
                .hint("a larger `--cycles` or `--budget` continues, `--restart` begins again"));
        }
        self.tell_wear(device.info.size_bytes.unwrap_or(0));
        let target = permit_writing(
            self.session.voice,
            &device.path,
            &device.resolution,
            self.request.test.consent,
            &Intent {
                what: "write to every block of a raw device, again and again until it fails",
                bytes_to_write: end.most_bytes,
                puts_back: false,
            },
        )?;
        self.refuse_changed(&target)?;
        let (journal, head, test) = self.drive_cycles(begun, target)?;
        self.finish(journal, head, test)
    }

    /// Keeps what the cycles found, and lets the card rest then, if that was asked for.
    fn finish(
        &self,
        journal: Journal,
        head: Record,
        test: Endurance,
    ) -> Result<TestResult, CommandError> {
        keep(self.session, head, &test.endure)?.finish(|| match self.request.after_days {
            Some(days) => self.begin_rest(journal, test, days),
            None => finish(Some(journal)),
        })
    }

    fn claim(&self) -> Claim {
        let path = self.device.path.display().to_string();
        Claim::untimed("endure", &path, &self.device.resolution)
    }

    /// Goes on with the cycles that were begun, where that can be, else with new ones.
    fn drive_cycles(
        &self,
        begun: Option<Begun>,
        target: OpenTarget,
    ) -> Result<Begun, CommandError> {
        let seed = self.request.test.new_seed(false);
        let blocks_count = target.size_bytes / BLOCK_BYTES as u64;
        let data = self.session.data;
        let fresh = (
            head(&self.device.resolution, data, seed, target.size_bytes)?,
            Endure::new(blocks_count, seed, self.request.end),
        );
        let mut blocks = blocks_of(target, &self.session.pulse)?;
        let attempt = Attempt::new(&fresh.0, IntegrityTest::Endure);
        self.watched(&attempt, || {
            let (mut journal, head, mut test) = match self.taken_up(begun, &mut blocks)? {
                Some(begun) => begun,
                None => {
                    let (head, endure) = fresh;
                    let name = journal_name(&self.name, JobKind::Endure);
                    let path = self.device.path.display().to_string();
                    let journal = data.begin(&name, JobKind::Endure, &path, Some(&head));
                    let journal = journal.map_err(Interruption::NotKept)?;
                    (journal, head, Endurance { endure, rest: None })
                }
            };
            let driven =
                self.session
                    .drive(&self.claim(), &mut test, &mut blocks, Some(&mut journal));
            driven.map(|()| (journal, head, test))
        })
    }

    /// The cycles that were begun, if what they wrote is still there.
    fn taken_up(
        &self,
        begun: Option<Begun>,
        blocks: &mut Blocks,
    ) -> Result<Option<Begun>, Trouble> {
        let Some((journal, head, mut begun)) = begun else {
            return Ok(None);
        };
        let test = &mut begun.endure;
        test.take_up(self.request.end);
        if Traces::of(test.verify(), blocks)?.are_disturbed() {
            tell_anew(self.session.voice, &head, test.written_bytes());
            return Ok(None);
        }
        let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
        self.session.voice.notice(&format!(
            "goes on: {cycles} cycles are whole, {written} were written"
        ));
        Ok(Some((journal, head, begun)))
    }

    fn begin_rest(
        &self,
        mut journal: Journal,
        mut test: Endurance,
        days: u32,
    ) -> Result<(), CommandError> {
        let rest = Rest {
            since: jiff::Timestamp::now(),
            days,
            reading: test.endure.verify().again(),
        };
        let until = rest.until();
        test.rest = Some(rest);
        journal
            .state(&test)
            .map_err(|error| unusable(&error).hint("the rest is not remembered"))?;
        self.session.voice.notice(&format!(
            "now take it out and leave it alone; at {} or later, `cardmark endure {}` reads what it still \
             holds",
            minute(until),
            self.device.path.display()
        ));
        Ok(())
    }

    /// Reads what was written before the rest, if that is over.
    fn after_rest(
        &self,
        mut journal: Journal,
        endure: Endure,
        rest: Rest,
    ) -> Result<TestResult, CommandError> {
        let now = jiff::Timestamp::now();
        let until = rest.until();
        if now < until {
            let what = format!("this card is to rest until {}", minute(until));
            return Err(CommandError::new(Exit::Trouble, what)
                .because("what it holds then is to be read, and nothing else was written to it")
                .hint("`--restart` gives that up and begins a new test"));
        }
        let rested = now.duration_since(rest.since);
        let opened = open_device_readonly(&self.device.path);
        let target = opened.map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
        self.refuse_changed(&target)?;
        let seed = rest.reading.content().seed;
        let data = self.session.data;
        let head = head(&self.device.resolution, data, seed, target.size_bytes)?;
        let rest = Some(rest);
        let mut test = Endurance { endure, rest };
        let attempt = Attempt::new(&head, IntegrityTest::Retention);
        self.drive_reading(&attempt, &mut test, target, &mut journal)?;
        let Endurance {
            endure,
            rest: Some(rest),
        } = test
        else {
            return Err(no_verdict());
        };
        let result = keep_rest(self.session, head, &endure, &rest.reading, rested)?;
        result.finish(|| finish(Some(journal)))
    }

    /// Reads the content from before the rest. A card without any of it gets an error and no verdict.
    fn drive_reading(
        &self,
        attempt: &Attempt,
        test: &mut Endurance,
        target: OpenTarget,
        journal: &mut Journal,
    ) -> Result<(), CommandError> {
        let mut blocks = blocks_of(target, &self.session.pulse)?;
        let is_there = self.watched(attempt, || {
            if let Some(rest) = test.rest.as_ref().filter(|_| !test.is_done()) {
                let traces = Traces::of(&rest.reading, &mut blocks)?;
                if traces.are_gone() || traces.lack_last() {
                    return Ok(false);
                }
            }
            self.session
                .drive(&self.claim(), test, &mut blocks, Some(journal))?;
            Ok(true)
        })?;
        if is_there {
            return Ok(());
        }
        let what = "this is not the card that is to be read again, or it was written since";
        Err(CommandError::new(Exit::Trouble, what)
            .because("it does not hold what the test wrote last")
            .hint("put in the card that was tested")
            .hint("`--restart` gives that up and begins a new test"))
    }

    /// A card may be changed before it is opened.
    fn refuse_changed(&self, target: &OpenTarget) -> Result<(), CommandError> {
        refuse_changed(self.device, Some(&self.name), target, self.session.data)
    }

    /// Works under a watch. A failure of the device leaves a record.
    fn watched<T>(
        &self,
        attempt: &Attempt,
        work: impl FnOnce() -> Result<T, Trouble>,
    ) -> Result<T, CommandError> {
        let rescue = attempt.saving(self.session, Hint { hint: AGAIN });
        let (driven, signal) = self.session.watched(rescue, work)?;
        driven.map_err(|trouble| {
            let error = ended_early(trouble, signal, AGAIN);
            let moved_bytes = self.session.pulse.moved_bytes();
            attempt.note(self.session, trouble, moved_bytes, error)
        })
    }

    /// Announces the wear before the test begins.
    fn tell_wear(&self, size_bytes: u64) {
        let size = text::amount(size_bytes);
        let end = self.request.end;
        let limit = match (end.most_cycles, end.most_bytes) {
            (None, None) => format!(
                "until {} % of its blocks are bad, which may take weeks",
                end.bad_share * 100.0
            ),
            (cycles, budget) => {
                let cycles = cycles.map(|count| format!("{count} cycles"));
                let budget = budget.map(|bytes| format!("{} written", text::amount(bytes)));
                let limits: Vec<String> = cycles.into_iter().chain(budget).collect();
                format!("for at most {}", limits.join(" or "))
            }
        };
        self.session.voice.notice(&format!(
            "each cycle writes all {size} and reads it, {limit}; a card lasts some hundred to some thousand \
             cycles, and those that this test writes are lost to it"
        ));
    }
}

/// A budget holds one cycle at least.
fn refuse_small_budget(end: EndureEnd, size_bytes: u64) -> Result<(), CommandError> {
    match end.most_bytes {
        Some(budget) if budget < size_bytes => {
            let what = "the budget does not hold one cycle";
            Err(CommandError::new(Exit::Usage, what)
                .because(format!("a cycle writes all {}", text::amount(size_bytes)))
                .hint("`cardmark probe` writes less, `cardmark verify` writes all of it once"))
        }
        _ => Ok(()),
    }
}

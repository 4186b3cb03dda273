//! `cardmark endure`.

use cardmark_core::Record;
use cardmark_device::{Blocks, OpenTarget, open_device_readonly};
use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, Endure, EndureEnd, Medium, Trouble, Verify};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::{JobKind, Journal, JournalHead};
use jiff::SignedDuration;

use super::keep_and_show;
use crate::args::EndureArguments;
use crate::error::{CommandError, Exit};
use crate::gate::{Intent, permit_writing, refuse_used};
use crate::integrity::{
    Told, blocks_of, card_name, ended_early, head, journal_name, of_endure, of_retention,
    refuse_changed, seed, session, simulated_head, tell_anew,
};
use crate::print;
use crate::whole_device::{Tested, WholeDevice};
use cardmark_session::{
    Data, Endurance, Interruption, Job, Rest, Session, Traces, Unfinished, unusable,
};

const WHOLE: &str = "a device wears out as a whole";

/// Writes and reads a device until it fails.
pub(crate) fn endure(arguments: &EndureArguments) -> Result<Exit, CommandError> {
    let tested = Tested::checked(&arguments.device, WHOLE, |path, resolution| {
        let used = refuse_used(path, resolution);
        // A card that rested is only read: it may be write-protected by now.
        match used.is_err() && is_resting(arguments, resolution) {
            true => Ok(()),
            false => used,
        }
    })?;
    let data = Data::from_environment()?;
    data.open()?;
    match tested {
        Tested::Simulated(model) => simulated(arguments, &model, &data),
        Tested::Device(device) => on_device(arguments, &device, &data),
    }
}

/// Returns whether the device is known to rest, so that this command only reads it.
fn is_resting(arguments: &EndureArguments, resolution: &Resolution) -> bool {
    let kept = || {
        let data = Data::from_environment().ok()?;
        // Nothing is created for a device that may be refused.
        if arguments.restart || !data.journals.is_dir() {
            return None;
        }
        let device = resolution.layers.first()?.device.as_ref()?;
        let name = card_name(&data, device).ok()??;
        data.last_state::<Endurance>(&journal_name(&name, JobKind::Endure))
    };
    kept().is_some_and(|test| test.rest.is_some())
}

fn end(arguments: &EndureArguments) -> EndureEnd {
    EndureEnd {
        bad_share: arguments.until / 100.0,
        most_bytes: arguments.budget,
        most_cycles: arguments.cycles,
    }
}

fn simulated(
    arguments: &EndureArguments,
    model: &Model,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, true);
    let end = end(arguments);
    refuse_small_budget(arguments, model.capacity_bytes())?;
    if end.most_bytes.is_none() && end.most_cycles.is_none() && !model.wears_out() {
        return Err(CommandError::new(
            Exit::Usage,
            format!("`sim:{}` never wears out", model.name()),
        )
        .hint("`--cycles N` ends it, or take `sim:wearing-1gb`"));
    }
    let head = simulated_head(model, &format!("Endure {end:?}"), seed);
    let mut medium = SimMedium::new(model, seed);
    let mut test = Endurance {
        endure: Endure::new(medium.blocks_count(), seed, end),
        rest: None,
    };
    let fault = |trouble| ended_early(trouble, None, "it is the model's fault");
    test.run(&mut medium).map_err(fault)?;
    let Some(days) = arguments.after else {
        return finish(head, &test.endure, data, arguments.test.json);
    };
    data.open()?.insert(&ended(head, &test.endure)?)?;
    medium.rest(f64::from(days));
    let asked = format!("Retention {end:?} {days}");
    let head = simulated_head(model, &asked, seed);
    let mut reading = test.endure.verify().again();
    while !reading.is_done() {
        reading.advance(&mut medium).map_err(fault)?;
    }
    let rested = SignedDuration::from_hours(24 * i64::from(days));
    finish_rest(
        head,
        &test.endure,
        &reading,
        rested,
        data,
        arguments.test.json,
    )
}

/// The record of cycles that came to their end.
fn ended(head: Record, test: &Endure) -> Result<Record, CommandError> {
    let verdict = test.verdict().ok_or_else(no_verdict)?;
    Ok(of_endure(head, test, &verdict))
}

fn no_verdict() -> CommandError {
    CommandError::new(Exit::Bug, "the test has no verdict")
}

/// Keeps and shows what a test found that came to its end.
fn finish(head: Record, test: &Endure, data: &Data, as_json: bool) -> Result<Exit, CommandError> {
    keep_and_show(&ended(head, test)?, data, as_json)?;
    Ok(exit_of(test.bad_blocks()))
}

/// Keeps and shows what is left after a rest.
fn finish_rest(
    head: Record,
    test: &Endure,
    reading: &Verify,
    rested: SignedDuration,
    data: &Data,
    as_json: bool,
) -> Result<Exit, CommandError> {
    let verdict = test.verdict_of(reading).ok_or_else(no_verdict)?;
    let before = test.verify().surface();
    let rested_ns = u64::try_from(rested.as_nanos()).unwrap_or(0);
    let record = of_retention(head, reading, before, rested_ns, &verdict);
    keep_and_show(&record, data, as_json)?;
    Ok(exit_of(reading.surface().bad_since(before)))
}

fn exit_of(bad_blocks: u64) -> Exit {
    match bad_blocks {
        0 => Exit::Done,
        _ => Exit::Bad,
    }
}

fn on_device(
    arguments: &EndureArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let Some(name) = card_name(data, &device.info.name)? else {
        let what = "this device cannot be recognised later";
        return Err(CommandError::new(Exit::Trouble, what)
            .because(
                "it reports neither a CID nor a serial number: the test could not continue after a pause",
            )
            .hint("use a reader that shows one"));
    };
    let begun = match arguments.restart {
        true => None,
        false => data.unfinished::<Endurance>(&journal_name(&name, JobKind::Endure))?,
    };
    let blocks_count = device.info.size_bytes.unwrap_or(0) / BLOCK_BYTES as u64;
    let parts = |begun: Unfinished<Endurance>| Some((begun.journal, begun.record?, begun.state));
    let begun = begun.and_then(parts);
    let begun = begun.filter(|(_, _, test)| test.endure.verify().blocks_count() == blocks_count);
    let card = TestedCard {
        arguments,
        device,
        name,
        session: session(data, arguments.test.timeout),
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
    arguments: &'a EndureArguments,
    device: &'a WholeDevice,
    /// Name of the card for its journals.
    name: String,
    session: Session<'a>,
}

/// An endurance test of an earlier process: its journal, the head of its record, its state.
type Begun = (Journal, Record, Endurance);

const AGAIN: &str = "the same command goes on there";

impl TestedCard<'_> {
    /// Writes and reads until the end.
    fn cycles(&self, begun: Option<Begun>) -> Result<Exit, CommandError> {
        let (arguments, device) = (self.arguments, self.device);
        refuse_small_budget(arguments, device.info.size_bytes.unwrap_or(0))?;
        if let Some((_, _, test)) = &begun
            && test.endure.has_spent(end(arguments))
        {
            let test = &test.endure;
            let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
            let what = "the unfinished test has reached this limit already";
            return Err(CommandError::new(Exit::Usage, what)
                .because(format!("{cycles} cycles are whole, {written} were written"))
                .hint("a larger `--cycles` or `--budget` continues, `--restart` begins again"));
        }
        tell_wear(arguments, device.info.size_bytes.unwrap_or(0));
        let target = permit_writing(
            &device.path,
            &device.resolution,
            &arguments.test.consent,
            &Intent {
                what: "write to every block of a raw device, again and again until it fails",
                bytes_to_write: arguments.budget,
                puts_back: false,
            },
        )?;
        self.refuse_changed(&target)?;
        let (journal, head, test) = self.drive_cycles(begun, target)?;
        self.finish(journal, head, test)
    }

    /// Keeps and shows what the cycles found, and lets the card rest then, if that was asked for.
    fn finish(
        &self,
        journal: Journal,
        head: Record,
        test: Endurance,
    ) -> Result<Exit, CommandError> {
        let arguments = self.arguments;
        let exit = finish(head, &test.endure, self.session.data, arguments.test.json)?;
        match arguments.after {
            Some(days) => self.begin_rest(journal, test, days)?,
            None => cardmark_session::finish(Some(journal))?,
        }
        Ok(exit)
    }

    /// Goes on with the cycles that were begun, where that can be, else with new ones.
    fn drive_cycles(
        &self,
        begun: Option<Begun>,
        target: OpenTarget,
    ) -> Result<Begun, CommandError> {
        let seed = seed(self.arguments.test.seed, false);
        let blocks_count = target.size_bytes / BLOCK_BYTES as u64;
        let data = self.session.data;
        let fresh = (
            head(&self.device.resolution, data, seed, target.size_bytes)?,
            Endure::new(blocks_count, seed, end(self.arguments)),
        );
        let mut blocks = blocks_of(target, &self.session.pulse)?;
        self.watched(|| {
            let (mut journal, head, mut test) = match self.taken_up(begun, &mut blocks)? {
                Some(begun) => begun,
                None => {
                    let (head, endure) = fresh;
                    let journal = self.begin(&head)?;
                    (journal, head, Endurance { endure, rest: None })
                }
            };
            let driven = self
                .session
                .drive(&mut test, &mut blocks, Some(&mut journal));
            driven.map(|()| (journal, head, test))
        })
    }

    fn begin(&self, head: &Record) -> Result<Journal, Interruption> {
        let name = journal_name(&self.name, JobKind::Endure);
        let journal = JournalHead {
            job: JobKind::Endure,
            target: self.device.path.display().to_string(),
        };
        let begun = self.session.data.begin(&name, &journal, Some(head));
        begun.map_err(Interruption::NotKept)
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
        test.take_up(end(self.arguments));
        if Traces::of(test.verify(), blocks)?.are_disturbed() {
            tell_anew(&head, test.written_bytes());
            return Ok(None);
        }
        let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
        print::notice(&format!(
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
        print::notice(&format!(
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
    ) -> Result<Exit, CommandError> {
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
        self.drive_reading(&mut test, target, &mut journal)?;
        let Endurance {
            endure,
            rest: Some(rest),
        } = test
        else {
            return Err(no_verdict());
        };
        let as_json = self.arguments.test.json;
        let exit = finish_rest(head, &endure, &rest.reading, rested, data, as_json)?;
        cardmark_session::finish(Some(journal))?;
        Ok(exit)
    }

    /// Reads the content from before the rest. A card without any of it gets an error and no verdict.
    fn drive_reading(
        &self,
        test: &mut Endurance,
        target: OpenTarget,
        journal: &mut Journal,
    ) -> Result<(), CommandError> {
        let mut blocks = blocks_of(target, &self.session.pulse)?;
        let is_there = self.watched(|| {
            if let Some(rest) = test.rest.as_ref().filter(|_| !test.is_done())
                && Traces::of(&rest.reading, &mut blocks)?.are_gone()
            {
                return Ok(false);
            }
            self.session.drive(test, &mut blocks, Some(journal))?;
            Ok(true)
        })?;
        if is_there {
            return Ok(());
        }
        let what = "this is not the card that is to be read again, or it was written since";
        Err(CommandError::new(Exit::Trouble, what)
            .because("it holds nothing that the test wrote")
            .hint("put in the card that was tested")
            .hint("`--restart` gives that up and begins a new test"))
    }

    /// A card may be changed before it is opened.
    fn refuse_changed(&self, target: &OpenTarget) -> Result<(), CommandError> {
        refuse_changed(self.device, Some(&self.name), target, self.session.data)
    }

    fn watched<T>(&self, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, CommandError> {
        let (driven, signal) = self.session.watched(Told { hint: AGAIN }, work)?;
        driven.map_err(|trouble| ended_early(trouble, signal, AGAIN))
    }
}

/// A time in UTC, `2026-12-22 14:04 UTC`.
fn minute(time: jiff::Timestamp) -> String {
    time.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A budget holds one cycle at least.
fn refuse_small_budget(arguments: &EndureArguments, size_bytes: u64) -> Result<(), CommandError> {
    match arguments.budget {
        Some(budget) if budget < size_bytes => {
            let what = "the budget does not hold one cycle";
            Err(CommandError::new(Exit::Usage, what)
                .because(format!("a cycle writes all {}", text::amount(size_bytes)))
                .hint("`cardmark probe` writes less, `cardmark verify` writes all of it once"))
        }
        _ => Ok(()),
    }
}

/// Announces the wear before the test begins.
fn tell_wear(arguments: &EndureArguments, size_bytes: u64) {
    let size = text::amount(size_bytes);
    let limit = match (arguments.cycles, arguments.budget) {
        (None, None) => format!(
            "until {} % of its blocks are bad, which may take weeks",
            arguments.until
        ),
        (cycles, budget) => {
            let cycles = cycles.map(|count| format!("{count} cycles"));
            let budget = budget.map(|bytes| format!("{} written", text::amount(bytes)));
            let limits: Vec<String> = cycles.into_iter().chain(budget).collect();
            format!("for at most {}", limits.join(" or "))
        }
    };
    print::notice(&format!(
        "each cycle writes all {size} and reads it, {limit}; a card lasts some hundred to some thousand \
         cycles, and those that this test writes are lost to it"
    ));
}

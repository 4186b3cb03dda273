//! `cardmark endure`.

use std::sync::Arc;

use cardmark_core::Record;
use cardmark_device::{Blocks, OpenTarget, open_device_readonly};
use cardmark_engine::Pulse;
use cardmark_host::Resolution;
use cardmark_integrity::{BLOCK_BYTES, Endure, EndureEnd, Medium, Trouble, Verify};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::Checkpoint;
use jiff::SignedDuration;

use super::keep_and_show;
use crate::args::EndureArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::gate::{Intent, permit_writing, refuse_used};
use crate::integrity::{
    Endurance, Kept, Long, Rest, Told, Traces, blocks_of, card_name, drive, drive_simulated,
    ended_early, head, of_endure, of_retention, refuse_changed, seed, simulated_head, tell_anew,
    tests_folder, watched,
};
use crate::measure::limit_ns;
use crate::print;
use crate::whole_device::{Tested, WholeDevice};

const WHOLE: &str = "a device wears out as a whole";
/// Name of the test in what is remembered of it.
const NAME: &str = "endure";

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

/// Whether the device is known to rest, so that this command only reads it.
fn is_resting(arguments: &EndureArguments, resolution: &Resolution) -> bool {
    let kept = || {
        let data = Data::from_environment().ok()?;
        // Nothing is created for a device that may be refused.
        if arguments.restart || !data.tests.is_dir() {
            return None;
        }
        let device = resolution.layers.first()?.device.as_ref()?;
        let name = card_name(&data, device).ok()??;
        let place = Kept::place(&data.tests, &name, NAME).ok()?;
        Kept::load::<Endurance>(&place).ok()?
    };
    kept().is_some_and(|(_, test)| test.rest.is_some())
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
    drive_simulated(&mut test, &mut medium).map_err(fault)?;
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
        let what = "this device cannot be told from others";
        return Err(CommandError::new(Exit::Trouble, what)
            .because(
                "it says neither a CID nor a serial number: the test could not go on after a pause",
            )
            .hint("use a reader that shows one"));
    };
    let place = Kept::place(&tests_folder(data)?, &name, NAME)?;
    let begun = match arguments.restart {
        true => None,
        false => Kept::load::<Endurance>(&place)?,
    };
    let blocks_count = device.info.size_bytes.unwrap_or(0) / BLOCK_BYTES as u64;
    let begun = begun.filter(|(_, test)| test.endure.verify().blocks_count() == blocks_count);
    let session = Session {
        arguments,
        device,
        name,
        data,
        pulse: Arc::new(Pulse::new()),
    };
    match begun {
        Some((
            head,
            Endurance {
                endure,
                rest: Some(rest),
            },
        )) => session.after_rest(&Kept::new(place, head), endure, rest),
        // It ended, and its result could not be kept.
        Some((head, test)) if test.is_done() => {
            session.finish(&Kept::new(place, head.clone()), head, test)
        }
        Some((head, test)) => session.cycles(place, Some((head, test.endure))),
        None => session.cycles(place, None),
    }
}

/// A test of a device.
struct Session<'a> {
    arguments: &'a EndureArguments,
    device: &'a WholeDevice,
    /// Of the card.
    name: String,
    data: &'a Data,
    pulse: Arc<Pulse>,
}

const AGAIN: &str = "the same command goes on there";

impl Session<'_> {
    /// Writes and reads until the end.
    fn cycles(
        &self,
        place: Checkpoint,
        begun: Option<(Record, Endure)>,
    ) -> Result<Exit, CommandError> {
        let (arguments, device) = (self.arguments, self.device);
        refuse_small_budget(arguments, device.info.size_bytes.unwrap_or(0))?;
        if let Some((_, test)) = &begun
            && test.has_spent(end(arguments))
        {
            let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
            let what = "the test that was begun has spent as much already";
            return Err(CommandError::new(Exit::Usage, what)
                .because(format!("{cycles} cycles are whole, {written} were written"))
                .hint("a larger `--cycles` or `--budget` goes on, `--restart` begins anew"));
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
        let (kept, head, test) = self.drive_cycles(place, begun, target)?;
        self.finish(&kept, head, test)
    }

    /// Keeps and shows what the cycles found, and lets the card rest then, if that was asked for.
    fn finish(&self, kept: &Kept, head: Record, test: Endurance) -> Result<Exit, CommandError> {
        let arguments = self.arguments;
        let exit = finish(head, &test.endure, self.data, arguments.test.json)?;
        match arguments.after {
            Some(days) => self.begin_rest(kept, test, days)?,
            None => kept.forget()?,
        }
        Ok(exit)
    }

    /// Goes on with the cycles that were begun, where that can be, else with new ones.
    fn drive_cycles(
        &self,
        place: Checkpoint,
        begun: Option<(Record, Endure)>,
        target: OpenTarget,
    ) -> Result<(Kept, Record, Endurance), CommandError> {
        let seed = seed(self.arguments.test.seed, false);
        let blocks_count = target.size_bytes / BLOCK_BYTES as u64;
        let fresh = (
            head(&self.device.resolution, self.data, seed, target.size_bytes)?,
            Endure::new(blocks_count, seed, end(self.arguments)),
        );
        let mut blocks = blocks_of(target, &self.pulse)?;
        self.watched(|| {
            let begun = self.taken_up(begun, &mut blocks)?;
            let (head, endure) = begun.unwrap_or(fresh);
            let kept = Kept::new(place, head.clone());
            let mut test = Endurance { endure, rest: None };
            drive(&mut test, &mut blocks, Some(&kept), &self.pulse)?;
            Ok((kept, head, test))
        })
    }

    /// The cycles that were begun, if what they wrote is still there.
    fn taken_up(
        &self,
        begun: Option<(Record, Endure)>,
        blocks: &mut Blocks,
    ) -> Result<Option<(Record, Endure)>, Trouble> {
        let Some((head, mut test)) = begun else {
            return Ok(None);
        };
        test.take_up(end(self.arguments));
        if Traces::of(test.verify(), blocks)?.are_disturbed() {
            tell_anew(&head, test.written_bytes());
            return Ok(None);
        }
        let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
        print::notice(&format!(
            "goes on: {cycles} cycles are whole, {written} were written"
        ));
        Ok(Some((head, test)))
    }

    fn begin_rest(&self, kept: &Kept, mut test: Endurance, days: u32) -> Result<(), CommandError> {
        let rest = Rest {
            since: jiff::Timestamp::now(),
            days,
            reading: test.endure.verify().again(),
        };
        let until = rest.until();
        test.rest = Some(rest);
        kept.save(&test)
            .map_err(|trouble| ended_early(trouble, None, "the rest is not remembered"))?;
        print::notice(&format!(
            "now take it out and leave it alone; at {} or later, `cardmark endure {}` reads what it still \
             holds",
            minute(until),
            self.device.path.display()
        ));
        Ok(())
    }

    /// Reads what was written before the rest, if that is over.
    fn after_rest(&self, kept: &Kept, endure: Endure, rest: Rest) -> Result<Exit, CommandError> {
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
        let head = head(&self.device.resolution, self.data, seed, target.size_bytes)?;
        let rest = Some(rest);
        let mut test = Endurance { endure, rest };
        self.drive_reading(&mut test, target, kept)?;
        let Endurance {
            endure,
            rest: Some(rest),
        } = test
        else {
            return Err(no_verdict());
        };
        let as_json = self.arguments.test.json;
        let exit = finish_rest(head, &endure, &rest.reading, rested, self.data, as_json)?;
        kept.forget()?;
        Ok(exit)
    }

    /// Reads what was written before the rest; of a card that holds nothing of it nothing is told but that.
    fn drive_reading(
        &self,
        test: &mut Endurance,
        target: OpenTarget,
        kept: &Kept,
    ) -> Result<(), CommandError> {
        let mut blocks = blocks_of(target, &self.pulse)?;
        let is_there = self.watched(|| {
            if let Some(rest) = test.rest.as_ref().filter(|_| !test.is_done())
                && Traces::of(&rest.reading, &mut blocks)?.are_gone()
            {
                return Ok(false);
            }
            drive(test, &mut blocks, Some(kept), &self.pulse)?;
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
        refuse_changed(self.device, Some(&self.name), target, self.data)
    }

    fn watched<T>(&self, work: impl FnOnce() -> Result<T, Trouble>) -> Result<T, CommandError> {
        let limit_ns = limit_ns(self.arguments.test.timeout);
        let (driven, signal) = watched(&self.pulse, limit_ns, Told { hint: AGAIN }, work)?;
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

/// What it costs, before it begins.
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

//! `cardmark endure`.

use std::sync::Arc;

use cardmark_core::Record;
use cardmark_device::Blocks;
use cardmark_engine::Pulse;
use cardmark_integrity::{BLOCK_BYTES, Endure, EndureEnd, Medium};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};

use super::keep_and_show;
use crate::args::EndureArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::gate::permit_writing;
use crate::integrity::{
    Kept, card_name, drive, ended_early, head, of_endure, seed, simulated_head, tests_folder,
    watched,
};
use crate::measure::limit_ns;
use crate::print;
use crate::target::{Chosen, choose};
use crate::whole_device::WholeDevice;

const WHOLE: &str = "a device wears out as a whole";
/// Name of the test in what is remembered of it.
const NAME: &str = "endure";

/// Writes and reads a device until it fails.
pub(crate) fn endure(arguments: &EndureArguments) -> Result<Exit, CommandError> {
    let data = Data::from_environment()?;
    data.open()?;
    match choose(&arguments.device)? {
        Chosen::Simulated(model) => simulated(arguments, &model, &data),
        Chosen::Real { path, resolution } => {
            let device = WholeDevice::of(&arguments.device, path, resolution, WHOLE)?;
            on_device(arguments, &device, &data)
        }
    }
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
    if end.most_bytes.is_none() && end.most_cycles.is_none() && !model.wears_out() {
        return Err(CommandError::new(
            Exit::Usage,
            format!("`sim:{}` never wears out", model.name()),
        )
        .hint("`--cycles N` ends it, or take `sim:wearing-1gb`"));
    }
    let head = simulated_head(model, &format!("Endure {end:?}"), seed);
    let mut medium = SimMedium::new(model, seed);
    let mut test = Endure::new(medium.blocks_count(), seed, end);
    drive(&mut test, &mut medium, None, &Pulse::new())
        .map_err(|trouble| ended_early(trouble, None, "it is the model's fault"))?;
    finish(head, &test, data, arguments.test.json)
}

/// Keeps and shows what a test found that came to its end.
fn finish(head: Record, test: &Endure, data: &Data, as_json: bool) -> Result<Exit, CommandError> {
    let verdict = test
        .verify()
        .verdict()
        .ok_or_else(|| CommandError::new(Exit::Bug, "the test has no verdict"))?;
    keep_and_show(&of_endure(head, test, &verdict), data, as_json)?;
    Ok(match test.bad_blocks() {
        0 => Exit::Done,
        _ => Exit::Bad,
    })
}

fn on_device(
    arguments: &EndureArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let size_bytes = device.info.size_bytes.unwrap_or(0);
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
        false => Kept::load::<Endure>(&place)?,
    };
    tell_wear(arguments, size_bytes);
    let target = permit_writing(
        &device.path,
        &device.resolution,
        &arguments.test.consent,
        arguments.budget,
        "write to every block of a raw device, again and again until it fails",
    )?;
    let blocks_count = target.size_bytes / BLOCK_BYTES as u64;
    let is_same = |test: &Endure| test.verify().blocks_count() == blocks_count;
    let (head, mut test) = match begun.filter(|(_, test)| is_same(test)) {
        Some((head, mut test)) => {
            let (cycles, written) = (test.cycles(), text::amount(test.written_bytes()));
            print::notice(&format!(
                "goes on: {cycles} cycles are whole, {written} were written"
            ));
            test.take_up();
            (head, test)
        }
        None => {
            let seed = seed(arguments.test.seed, false);
            let head = head(&device.resolution, data, seed, target.size_bytes)?;
            (head, Endure::new(blocks_count, seed, end(arguments)))
        }
    };
    let pulse = Arc::new(Pulse::new());
    let mut blocks = Blocks::of_device(target, Arc::clone(&pulse))
        .ok_or_else(|| CommandError::new(Exit::Trouble, "there is no memory for the test"))?;
    let kept = Kept::new(place, head.clone());
    let again = "the same command goes on there";
    let (driven, signal) = watched(
        &pulse,
        limit_ns(arguments.test.timeout),
        again.to_owned(),
        || drive(&mut test, &mut blocks, Some(&kept), &pulse),
    )?;
    driven.map_err(|trouble| ended_early(trouble, signal, again))?;
    let exit = finish(head, &test, data, arguments.test.json)?;
    kept.forget()?;
    Ok(exit)
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

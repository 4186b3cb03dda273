//! `cardmark anatomy`.

use cardmark_core::{Anatomy, Record};
use cardmark_device::open_device_readonly;
use cardmark_integrity::{
    AnatomyRequest, BLOCK_BYTES, LEAST_UNIT_BYTES, Looked, Medium, Trouble, anatomy as look,
    anatomy_bytes,
};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::JobKind;

use super::keep_and_show;
use crate::args::AnatomyArguments;
use crate::error::{CommandError, Exit};
use crate::integrity::{Loan, Work, ended_early, head, lend, seed, simulated_head};
use crate::steps::Steps;
use crate::whole_device::{Tested, WholeDevice};
use cardmark_session::Data;

const WHOLE: &str = "only a device as a whole lies on its own units";

/// Finds out how the inside of a card is made.
pub(crate) fn anatomy(arguments: &AnatomyArguments) -> Result<Exit, CommandError> {
    if let Some(bytes) = arguments.unit.filter(|&bytes| bytes < LEAST_UNIT_BYTES) {
        let what = format!("units of {} are too small", text::size(bytes));
        return Err(CommandError::new(Exit::Usage, what).because(format!(
            "{} are written to each",
            text::size(LEAST_UNIT_BYTES)
        )));
    }
    let tested = match arguments.read_only {
        true => Tested::to_read(&arguments.device, WHOLE)?,
        false => Tested::to_write(&arguments.device, WHOLE)?,
    };
    let data = Data::from_environment()?;
    data.open()?;
    match tested {
        Tested::Simulated(model) => simulated(arguments, &model, &data),
        Tested::Device(device) => real(arguments, &device, &data),
    }
}

fn simulated(
    arguments: &AnatomyArguments,
    model: &Model,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, true);
    let request = request(arguments, seed, None);
    let asked = format!("Anatomy {:?} {}", request.asked_blocks, request.with_writes);
    let head = simulated_head(model, &asked, seed);
    let mut medium = SimMedium::new(model, seed);
    let found = look(&mut medium, &request, &mut |_| ());
    let found = found.map_err(|trouble| ended_early(trouble, None, "it is the model's fault"))?;
    finish(head, found, arguments, data)
}

fn request(
    arguments: &AnatomyArguments,
    seed: u64,
    registers_bytes: Option<u64>,
) -> AnatomyRequest {
    let blocks = |bytes: u64| bytes / BLOCK_BYTES as u64;
    AnatomyRequest {
        seed,
        with_writes: !arguments.read_only,
        asked_blocks: arguments.unit.map(blocks),
        registers_blocks: registers_bytes.map(blocks),
    }
}

/// Size of a unit according to the card's registers.
fn registers_bytes(head: &Record) -> Option<u64> {
    let card = head.devices.first()?.card.as_ref()?;
    let facts = &card.decoded;
    facts
        .uhs_allocation_unit_bytes
        .or(facts.allocation_unit_bytes)
}

fn real(
    arguments: &AnatomyArguments,
    device: &WholeDevice,
    data: &Data,
) -> Result<Exit, CommandError> {
    let seed = seed(arguments.test.seed, false);
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let mut head = head(&device.resolution, data, seed, size_bytes)?;
    let request = request(arguments, seed, registers_bytes(&head));
    let wanted_bytes = anatomy_bytes(size_bytes / BLOCK_BYTES as u64, &request);
    let loan = if request.with_writes {
        let consent = &arguments.test.consent;
        lend(
            &arguments.loan,
            consent,
            device,
            data,
            (JobKind::Anatomy, wanted_bytes),
        )?
    } else {
        let opened = open_device_readonly(&device.path);
        Loan {
            target: opened.map_err(|error| CommandError::from_error(Exit::Trouble, &error))?,
            log: None,
            keeps_residue: false,
            wanted_bytes: 0,
        }
    };
    // The blocks that it writes follow from what it reads first.
    let work = Work {
        plan: &|_, _| Vec::new(),
        look: &|medium| shown(medium, &request),
    };
    let worked = loan.work(data, arguments.test.timeout, &work)?;
    head.bytes_written += worked.put_back_bytes();
    let finished = finish(head, worked.found.clone(), arguments, data);
    worked.restored(finished)
}

/// Examines the card and shows the progress.
fn shown(mut medium: &mut dyn Medium, request: &AnatomyRequest) -> Result<(Anatomy, u64), Trouble> {
    let steps = Steps::for_stderr();
    let mut is_writing = None;
    let found = look(&mut medium, request, &mut |now: Looked| {
        if is_writing != Some(now.is_writing) {
            is_writing = Some(now.is_writing);
            steps.begin(match now.is_writing {
                false => "reads across boundaries",
                true => "writes to more and more units in turn",
            });
        }
        steps.show(now.done_count, now.wanted_count);
    });
    steps.end();
    found
}

fn finish(
    mut record: Record,
    (found, written_blocks): (Anatomy, u64),
    arguments: &AnatomyArguments,
    data: &Data,
) -> Result<Exit, CommandError> {
    record.bytes_written += written_blocks * BLOCK_BYTES as u64;
    record.anatomy = Some(found);
    keep_and_show(&record, data, arguments.test.json)?;
    Ok(Exit::Done)
}

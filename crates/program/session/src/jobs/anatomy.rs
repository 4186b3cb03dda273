//! The anatomy of a card: erase blocks, and how many can be written in turn.

use std::cell::RefCell;
use std::rc::Rc;

use cardmark_core::{Anatomy, Record};
use cardmark_device::open_device_readonly;
use cardmark_integrity::{
    AnatomyRequest, BLOCK_BYTES, Looked, Trouble, anatomy as look, anatomy_bytes,
};
use cardmark_sim::{Model, SimMedium};
use cardmark_store::JobKind;
use serde_json::json;

use crate::drive::in_turns::InTurns;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::error::{CommandError, Exit};
use crate::gate::whole_device::{Tested, WholeDevice};
use crate::jobs::integrity::{
    Attempt, Loan, LoanTerms, TestRequest, TestResult, Work, head, lend, model_fault,
    simulated_head,
};
use crate::voice::Voice;

/// Finds out how the inside of a card is made. Without `with_writes` it only reads; `unit_bytes` is the size of
/// the units that are written in turn, by default the size that is found or that the card reports.
///
/// # Errors
/// If the device may not be written, or the test cannot reach its end.
pub fn anatomy(
    session: &Session<'_>,
    tested: &Tested,
    test: &TestRequest<'_>,
    loan: &LoanTerms,
    (with_writes, unit_bytes): (bool, Option<u64>),
) -> Result<TestResult, CommandError> {
    let request = AnatomyRequest {
        seed: test.seed(tested),
        with_writes,
        asked_blocks: unit_bytes.map(blocks),
        registers_blocks: None,
    };
    match tested {
        Tested::Simulated(model) => simulated(session, model, &request),
        Tested::Device(device) => real(session, device, test, loan, request),
    }
}

fn blocks(bytes: u64) -> u64 {
    bytes / BLOCK_BYTES as u64
}

fn simulated(
    session: &Session<'_>,
    model: &Model,
    request: &AnatomyRequest,
) -> Result<TestResult, CommandError> {
    let asked = json!({
        "test": "anatomy",
        "asked_blocks": request.asked_blocks,
        "with_writes": request.with_writes,
    });
    let head = simulated_head(model, &asked, request.seed);
    let mut medium = SimMedium::new(model, request.seed).with_limit(session.limit_ns());
    let found = match look(&mut medium, request, &mut |_| ()) {
        Ok(found) => found,
        Err(trouble) => {
            let moved_bytes = medium.moved_bytes();
            let attempt = Attempt::without_verdict(&head);
            return attempt.end(session, trouble, moved_bytes, model_fault(trouble));
        }
    };
    Ok(keep(session, head, found))
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
    session: &Session<'_>,
    device: &WholeDevice,
    test: &TestRequest<'_>,
    loan: &LoanTerms,
    mut request: AnatomyRequest,
) -> Result<TestResult, CommandError> {
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let mut head = head(&device.resolution, session.data, request.seed, size_bytes)?;
    request.registers_blocks = registers_bytes(&head).map(blocks);
    let wanted_bytes = anatomy_bytes(blocks(size_bytes), &request);
    let loan = match request.with_writes {
        true => lend(
            session,
            loan,
            test.consent,
            device,
            (JobKind::Anatomy, wanted_bytes),
        )?,
        false => {
            let opened = open_device_readonly(&device.path);
            let path = device.path.display().to_string();
            Loan::of_nothing(
                opened.map_err(|error| CommandError::from_error(Exit::Trouble, &error))?,
                Claim::timed("anatomy", &path, &device.resolution),
            )
        }
    };
    // The blocks that it writes follow from what it reads first.
    let work = Work {
        plan: &|_, _| Vec::new(),
        look: &|medium| shown(session.voice, medium, &request),
        attempt: Attempt::without_verdict(&head),
    };
    let worked = match loan.work(session, &work)? {
        Ok(worked) => worked,
        Err(failed) => return Ok(*failed),
    };
    head.written_bytes += worked.put_back_bytes();
    Ok(keep(session, head, worked.found).with(worked.put_back.err()))
}

/// Examines the card and shows the progress.
fn shown(
    voice: &dyn Voice,
    medium: &mut InTurns<'_>,
    request: &AnatomyRequest,
) -> Result<(Anatomy, u64), Trouble> {
    let progress = Rc::new(RefCell::new(voice.steps()));
    medium.show_waits(Box::new(Rc::clone(&progress)));
    let mut is_writing = None;
    look(medium, request, &mut |now: Looked| {
        let mut progress = progress.borrow_mut();
        if is_writing != Some(now.is_writing) {
            is_writing = Some(now.is_writing);
            progress.stage(match now.is_writing {
                false => "reads across boundaries",
                true => "writes to more and more units in turn",
            });
        }
        progress.expect(now.wanted_count);
        progress.show(now.done_count);
    })
}

fn keep(
    session: &Session<'_>,
    mut record: Record,
    (found, written_blocks): (Anatomy, u64),
) -> TestResult {
    record.written_bytes += written_blocks * BLOCK_BYTES as u64;
    record.anatomy = Some(found);
    TestResult::keep(session, record, Exit::Done)
}

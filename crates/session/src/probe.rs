//! The probe: is the capacity of a device real?

use cardmark_core::StorageKind;
use cardmark_integrity::{
    BLOCK_BYTES, Medium, Probe, ProbeRequest, Progress as Moved, Stage, Trouble, probe as look,
    rehearse, wanted_bytes,
};
use cardmark_sim::{Model, SimMedium};
use cardmark_store::JobKind;

use crate::integrity::{
    TestRequest, TestResult, Work, head, lend, model_fault, of_probe, simulated_head,
};
use crate::whole_device::{Tested, WholeDevice};
use crate::{CommandError, Exit, LoanTerms, Session, Voice};

/// Room for single blocks beside the samples, bytes.
const SENTINELS_BYTES: u64 = 2 << 20;

/// Finds out whether a device is a fake or broken. A cache of up to `cache_bytes` cannot hide it.
///
/// # Errors
/// If the device may not be written, or the test cannot reach its end.
pub fn probe(
    session: &Session<'_>,
    tested: &Tested,
    test: &TestRequest<'_>,
    loan: &LoanTerms,
    cache_bytes: u64,
) -> Result<TestResult, CommandError> {
    let request = ProbeRequest {
        seed: test.seed(tested),
        cache_blocks: cache_bytes / BLOCK_BYTES as u64,
    };
    match tested {
        Tested::Simulated(model) => simulated(session, model, &request, cache_bytes),
        Tested::Device(device) => real(session, device, test, loan, &request),
    }
}

fn simulated(
    session: &Session<'_>,
    model: &Model,
    request: &ProbeRequest,
    cache_bytes: u64,
) -> Result<TestResult, CommandError> {
    let asked = format!("Probe cache {cache_bytes}");
    let head = simulated_head(model, &asked, request.seed);
    let mut medium = SimMedium::new(model, request.seed);
    let found = look(&mut medium, request, &mut |_| ()).map_err(model_fault)?;
    let record = of_probe(head, &found, medium.blocks_count());
    Ok(TestResult::keep(session, record, exit_of(found.kind)))
}

fn exit_of(kind: StorageKind) -> Exit {
    match kind {
        StorageKind::Confirmed => Exit::Done,
        _ => Exit::Bad,
    }
}

fn real(
    session: &Session<'_>,
    device: &WholeDevice,
    test: &TestRequest<'_>,
    loan: &LoanTerms,
    request: &ProbeRequest,
) -> Result<TestResult, CommandError> {
    let size_bytes = device.info.size_bytes.unwrap_or(0);
    let wanted = wanted_bytes(size_bytes / BLOCK_BYTES as u64, request) + SENTINELS_BYTES;
    let loan = lend(
        session,
        loan,
        test.consent,
        device,
        (JobKind::Probe, wanted),
    )?;
    let tested_bytes = loan.target.size_bytes;
    let head = head(&device.resolution, session.data, request.seed, tested_bytes)?;
    let work = Work {
        plan: &|blocks_count, grain_blocks| {
            rehearse(blocks_count, grain_blocks, |mut medium| {
                look(&mut medium, request, &mut |_| ())
            })
        },
        look: &|medium| shown(session.voice, medium, request),
    };
    let worked = loan.work(session, &work)?;
    let mut record = of_probe(head, &worked.found, tested_bytes / BLOCK_BYTES as u64);
    record.written_bytes += worked.put_back_bytes();
    let exit = exit_of(worked.found.kind);
    let result = TestResult::keep(session, record, exit);
    Ok(result.with(worked.put_back.err()))
}

/// Probes the card and shows the progress.
fn shown(
    voice: &dyn Voice,
    mut medium: &mut dyn Medium,
    request: &ProbeRequest,
) -> Result<Probe, Trouble> {
    let mut progress = voice.progress(0, 0);
    let mut stage = None;
    look(&mut medium, request, &mut |now: Moved| {
        progress.expect(now.wanted_blocks * BLOCK_BYTES as u64);
        if stage != Some(now.stage) {
            stage = Some(now.stage);
            progress.stage(text_of(now.stage));
        }
        progress.show(now.moved_blocks * BLOCK_BYTES as u64);
    })
}

fn text_of(stage: Stage) -> &'static str {
    match stage {
        Stage::Sentinels => "writes and reads single blocks",
        Stage::Repetition => "looks for addresses that repeat",
        Stage::Samples => "writes samples",
        Stage::Displacing => "writes more than a cache holds",
        Stage::Reading => "reads the samples",
        Stage::Boundary => "seeks where what is kept ends",
    }
}

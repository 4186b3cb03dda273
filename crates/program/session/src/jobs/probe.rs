//! The probe: is the capacity of a device real?

use std::cell::RefCell;
use std::rc::Rc;

use cardmark_core::{IntegrityTest, StorageKind};
use cardmark_integrity::{
    BLOCK_BYTES, Medium, Probe, ProbeRequest, Progress as Moved, Stage, Trouble, most_bytes,
    probe as look, read_bytes, rehearse, usual_cache_blocks, wanted_bytes,
};
use cardmark_report::text;
use cardmark_sim::{Model, SimMedium};
use cardmark_store::JobKind;
use serde_json::json;

use crate::drive::in_turns::InTurns;
use crate::drive::session::Session;
use crate::error::{CommandError, Exit};
use crate::gate::whole_device::{Tested, WholeDevice};
use crate::jobs::integrity::{
    Attempt, LoanTerms, TestRequest, TestResult, Work, head, lend, model_fault, of_probe,
    simulated_head,
};
use crate::voice::Voice;

/// Room for single blocks beside the samples, bytes.
const SENTINELS_BYTES: u64 = 2 << 20;

/// Rates at which the duration of a probe is estimated before it starts, bytes per second: those of a common card.
const WRITE_RATE: f64 = 20e6;
const READ_RATE: f64 = 60e6;

/// Options of a probe.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeTerms {
    /// Largest cache that cannot hide missing storage, bytes; by default, one that depends on the size of the device.
    pub cache_bytes: Option<u64>,
    /// Time without access before the last reading, seconds.
    pub wait_s: u64,
}

impl ProbeTerms {
    fn request(self, seed: u64, size_bytes: u64) -> ProbeRequest {
        let block = BLOCK_BYTES as u64;
        let usual = || usual_cache_blocks(size_bytes / block);
        ProbeRequest {
            seed,
            cache_blocks: self.cache_bytes.map_or_else(usual, |bytes| bytes / block),
            wait_ns: self.wait_s.saturating_mul(1_000_000_000),
        }
    }
}

/// Finds out whether a device is a fake or broken.
///
/// # Errors
/// If the device may not be written, or the test cannot reach its end.
pub fn probe(
    session: &Session<'_>,
    tested: &Tested,
    test: &TestRequest<'_>,
    loan: &LoanTerms,
    terms: ProbeTerms,
) -> Result<TestResult, CommandError> {
    let seed = test.seed(tested);
    match tested {
        Tested::Simulated(model) => {
            simulated(session, model, &terms.request(seed, model.capacity_bytes()))
        }
        Tested::Device(device) => {
            let size_bytes = device.info.size_bytes.unwrap_or(0);
            real(
                session,
                device,
                test,
                loan,
                &terms.request(seed, size_bytes),
            )
        }
    }
}

fn simulated(
    session: &Session<'_>,
    model: &Model,
    request: &ProbeRequest,
) -> Result<TestResult, CommandError> {
    let asked = json!({
        "test": "probe",
        "cache_blocks": request.cache_blocks,
        "wait_ns": request.wait_ns,
    });
    announce(session, model.capacity_bytes(), request);
    let head = simulated_head(model, &asked, request.seed);
    let mut medium = SimMedium::new(model, request.seed).with_limit(session.limit_ns());
    let found = match look(&mut medium, request, &mut |_| ()) {
        Ok(found) => found,
        Err(trouble) => {
            let attempt = Attempt::new(&head, IntegrityTest::Probe);
            let moved_bytes = medium.moved_bytes();
            return attempt.end(session, trouble, moved_bytes, model_fault(trouble));
        }
    };
    let record = of_probe(head, &found, medium.blocks_count());
    Ok(TestResult::keep(session, record, exit_of(found.kind)))
}

/// Shows what the probe writes and misses, what others would, and the limit of its bytes.
fn announce(session: &Session<'_>, size_bytes: u64, request: &ProbeRequest) {
    session.voice.notice(&choice(size_bytes, request));
    let most = most_bytes(size_bytes / BLOCK_BYTES as u64, request);
    session.voice.notice(&format!(
        "writes at most {}, whatever the device does",
        text::amount(most)
    ));
}

/// Returns one line with the time and the limits of this probe, of a shorter one and of a longer one.
fn choice(size_bytes: u64, request: &ProbeRequest) -> String {
    let blocks = size_bytes / BLOCK_BYTES as u64;
    let size = |cache_blocks: u64| text::size(cache_blocks * BLOCK_BYTES as u64);
    let of = |cache_blocks: u64| {
        let request = ProbeRequest {
            cache_blocks,
            ..*request
        };
        let (written, read) = (wanted_bytes(blocks, &request), read_bytes(blocks, &request));
        let span_ns = (written as f64 / WRITE_RATE + read as f64 / READ_RATE) * 1e9;
        let time = text::span(rounded(span_ns));
        format!("{}, about {time}", text::amount(written))
    };
    let other = |cache_blocks: u64| {
        let argument = size(cache_blocks).replace(' ', "");
        format!("`--cache {argument}`: {}", of(cache_blocks))
    };
    let whole_s = size_bytes as f64 * (1.0 / WRITE_RATE + 1.0 / READ_RATE);
    format!(
        "writes {} at 20 MB/s; misses fakes behind a cache of more than {} ({}; {}) and scattered bad spots \
         (`cardmark verify`: about {})",
        of(request.cache_blocks),
        size(request.cache_blocks),
        other(request.cache_blocks / 4),
        other(request.cache_blocks * 2),
        text::span(rounded(whole_s * 1e9)),
    )
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a duration, positive and below centuries"
)]
fn rounded(span_ns: f64) -> u64 {
    span_ns as u64
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
    let blocks_count = size_bytes / BLOCK_BYTES as u64;
    let wanted = wanted_bytes(blocks_count, request) + SENTINELS_BYTES;
    announce(session, size_bytes, request);
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
        attempt: Attempt::new(&head, IntegrityTest::Probe),
    };
    let worked = match loan.work(session, &work)? {
        Ok(worked) => worked,
        Err(failed) => return Ok(*failed),
    };
    let mut record = of_probe(head, &worked.found, tested_bytes / BLOCK_BYTES as u64);
    record.written_bytes += worked.put_back_bytes();
    let exit = exit_of(worked.found.kind);
    let result = TestResult::keep(session, record, exit);
    Ok(result.with(worked.put_back.err()))
}

/// Probes the card and shows the progress.
fn shown(
    voice: &dyn Voice,
    medium: &mut InTurns<'_>,
    request: &ProbeRequest,
) -> Result<Probe, Trouble> {
    let progress = Rc::new(RefCell::new(voice.progress(0, 0)));
    medium.show_waits(Box::new(Rc::clone(&progress)));
    let mut stage = None;
    look(medium, request, &mut |now: Moved| {
        let mut progress = progress.borrow_mut();
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
        Stage::Checking => "checks the result with fresh markers",
        Stage::Waiting => "waits before the last reading",
    }
}

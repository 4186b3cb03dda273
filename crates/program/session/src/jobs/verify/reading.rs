//! Verification without writing: a device with data on it is read twice.

use std::time::Duration;

use cardmark_core::{IntegrityTest, StorageKind};
use cardmark_device::open_device_readonly;
use cardmark_integrity::{BLOCK_BYTES, Content, Contents, Medium, Reading, Trouble};
use cardmark_sim::{Model, SimMedium};
use serde::Serialize;

use crate::drive::job::Job;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::gate::consent::refuse_used;
use crate::gate::whole_device::{Tested, WholeDevice};
use crate::jobs::integrity::{
    Attempt, TestResult, blocks_of, ended_early, head, model_fault, no_verdict, of_reading,
    simulated_head,
};
use crate::jobs::verify::VerifyScope;
use crate::voice::Voice;

impl Job for Reading {
    type Io = dyn Contents;
    type Error = Trouble;

    fn step(&mut self, mut medium: &mut Self::Io) -> Result<(), Trouble> {
        self.advance(&mut medium)
    }

    fn is_done(&self) -> bool {
        Self::is_done(self)
    }

    fn moved_bytes(&self) -> (u64, u64) {
        let (moved, all) = self.moved_blocks();
        let block = BLOCK_BYTES as u64;
        (moved * block, all * block)
    }

    // Nothing is kept: a device that was used meanwhile would seem to be damaged.
    fn state(&self) -> &impl Serialize {
        &()
    }
}

/// Reads every block of a device, or of a part of it, twice. Nothing is written.
///
/// # Errors
/// If the device cannot be read, or the test cannot reach its end.
pub fn verify_reading(
    session: &Session<'_>,
    tested: &Tested,
    seed: Option<u64>,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    let seed = crate::jobs::integrity::seed(seed, matches!(tested, Tested::Simulated(_)));
    match tested {
        Tested::Simulated(model) => simulated(session, model, seed, scope),
        Tested::Device(device) => real(session, device, seed, scope),
    }
}

fn simulated(
    session: &Session<'_>,
    model: &Model,
    seed: u64,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    let mut medium = SimMedium::new(model, seed).with_limit(session.limit_ns());
    let blocks = scope.test(medium.blocks_count(), Content { seed, round: 0 })?;
    let mut test = Reading::new(&blocks, false);
    let mut head = simulated_head(model, &scope.asked("read"), seed);
    if let Some(target) = &mut head.target {
        target.span_bytes = blocks.blocks_count() * BLOCK_BYTES as u64;
    }
    if let Err(trouble) = test.run(&mut medium) {
        let attempt = Attempt::new(&head, IntegrityTest::Read);
        let moved_bytes = medium.moved_bytes();
        return attempt.end(session, trouble, moved_bytes, model_fault(trouble));
    }
    keep(session, head, &test)
}

fn keep(
    session: &Session<'_>,
    head: cardmark_core::Record,
    test: &Reading,
) -> Result<TestResult, CommandError> {
    let verdict = test.verdict().ok_or_else(no_verdict)?;
    let exit = match verdict.kind {
        StorageKind::Readable => Exit::Done,
        _ => Exit::Bad,
    };
    let record = of_reading(head, test, &verdict);
    Ok(TestResult::keep(session, record, exit))
}

fn real(
    session: &Session<'_>,
    device: &WholeDevice,
    seed: u64,
    scope: &VerifyScope,
) -> Result<TestResult, CommandError> {
    let opened = open_device_readonly(&device.path)
        .map_err(|error| CommandError::from_error(Exit::Trouble, &error))?;
    let is_in_use = refuse_used(&device.path, &device.resolution).is_err();
    if is_in_use {
        session.voice.notice(
            "the device is in use: content that differs between the two passes may have been written meanwhile, \
             and does not count as damage; unmount the device to have it compared",
        );
    }
    let content = Content { seed, round: 0 };
    let blocks = scope.test(opened.size_bytes / BLOCK_BYTES as u64, content)?;
    let bytes = blocks.blocks_count() * BLOCK_BYTES as u64;
    let head = head(&device.resolution, session.data, seed, bytes)?;
    let mut medium = blocks_of(opened, &session.pulse)?;
    let mut test = Reading::new(&blocks, is_in_use);
    let path = device.path.display().to_string();
    let claim = Claim::untimed("verify", &path, &device.resolution);
    let drive = || session.drive(&claim, &mut test, &mut medium, None);
    let attempt = Attempt::new(&head, IntegrityTest::Read);
    let (driven, signal) = session.watched(attempt.saving(session, Again), drive)?;
    if let Err(trouble) = driven {
        let error = ended_early(trouble, signal, "the same command begins again");
        return attempt.end(session, trouble, session.pulse.moved_bytes(), error);
    }
    keep(session, head, &test)
}

/// Advice for a device that does not answer: there is nothing to save.
struct Again;

impl Rescue for Again {
    const STOPPING: &'static str = "stopping at the next block; nothing was written";

    fn save(&self, voice: &dyn Voice, _waited: Duration) {
        voice.notice(
            "hint: take the card out and put it in again, or try another reader; the same command begins again",
        );
    }
}

//! Shared helpers of the tests.

use std::path::Path;
use std::sync::Arc;

use cardmark_application::Applications;
use cardmark_core::{Rng, Suite, Workload};
use cardmark_engine::{Backend, Op, OpKind, Pulse};
use tempfile::TempDir;

pub(crate) const SEED: u64 = 11;

pub(crate) fn suite() -> Suite {
    cardmark_catalog::suite("application", None).unwrap()
}

pub(crate) fn workload(id: &str) -> Workload {
    suite().workload(id).unwrap().clone()
}

pub(crate) fn scratch() -> TempDir {
    // Databases follow no links.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).canonicalize();
    tempfile::tempdir_in(target.unwrap()).unwrap()
}

pub(crate) fn applications(folder: &Path, seed: u64, pulse: &Arc<Pulse>) -> Applications {
    Applications::new(folder, seed, Box::new(|| None), Arc::clone(pulse))
}

/// Runs `count` operations as the engine does.
pub(crate) fn work(applications: &mut Applications, workload: &Workload, count: u64) {
    let mut rng = Rng::new(SEED);
    for index in 0..count {
        let blocks = workload.blocks_count();
        let block = match workload.order {
            cardmark_core::Order::Random => rng.below(blocks),
            _ => index % blocks,
        };
        let op = op(workload, block);
        applications.submit(op);
        assert_eq!(
            applications.reap().outcome,
            Ok(op.bytes),
            "operation {index}"
        );
    }
}

pub(crate) fn op(workload: &Workload, block: u64) -> Op {
    Op {
        kind: OpKind::WriteSync,
        offset: block * workload.block_bytes,
        bytes: u32::try_from(workload.block_bytes).unwrap(),
        slot: 0,
        stream: 0,
    }
}

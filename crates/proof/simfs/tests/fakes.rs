//! Fakes behind the kernel: the content of blocks is read through a loop device, as bytes.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use cardmark_core::StorageKind;
use cardmark_device::{Blocks, open_device_for_writing};
use cardmark_engine::Pulse;
use cardmark_integrity::{
    BLOCK_BYTES, Content, Medium, ProbeRequest, Span, Surface, Verify, probe,
};
use cardmark_sim::{Model, SimMedium};
use cardmark_testkit::{SimCard, needs};

const BINARY: &str = env!("CARGO_BIN_EXE_cardmark-simfs");
const MIB: u64 = 1 << 20;
const SIZE_BYTES: u64 = 64 * MIB;

/// Returns a card of 64 MiB, quick enough for a test, with this kind of flash.
fn model(flash: &str) -> String {
    format!(
        "name = \"fake\"\nlike = \"v30-64gb\"\nsummary = \"fake\"\nsource = \"test\"\n\
         capacity_bytes = {SIZE_BYTES}\n\n[flash]\n{flash}\n"
    )
}

const FAKES: [(&str, StorageKind, u64); 5] = [
    (
        "real_bytes = 20_972_032",
        StorageKind::Limbo,
        20 * MIB + 512,
    ),
    (
        "real_bytes = 14_680_064\nwrap_bytes = 14_680_064",
        StorageKind::Wraparound,
        14 * MIB,
    ),
    (
        "real_bytes = 8_388_608\nwrap_bytes = 16_777_216",
        StorageKind::Chain,
        8 * MIB,
    ),
    (
        "real_bytes = 20_971_520\nhidden_cache = { bytes = 2_097_152, strict = true }",
        StorageKind::Limbo,
        20 * MIB,
    ),
    (
        "damage = { kind = \"changed\", share = 0.01, spot_bytes = 4_096 }",
        StorageKind::Damaged,
        64 * MIB,
    ),
];

/// The kernel and bytes in between change nothing: kind, capacity and map are those of the same card in memory,
/// whose content is stored by name.
#[test]
fn fakes_are_told_as_in_memory() {
    needs!(Root, Fuse, LoopDevice);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for (flash, kind, real_bytes) in FAKES {
        let path = scratch.path().join("model.toml");
        std::fs::write(&path, model(flash)).unwrap();
        let start = || SimCard::start(BINARY, path.to_str().unwrap(), SIZE_BYTES, scratch.path());
        let card = start();
        let found = probe(
            &mut open(&card),
            &ProbeRequest {
                seed: 7,
                cache_blocks: 8 * MIB / BLOCK_BYTES as u64,
                wait_ns: 0,
            },
            &mut |_| (),
        )
        .unwrap();
        assert_eq!(found.kind, kind, "{flash}: {found:?}");
        assert_eq!(
            found.real_blocks * BLOCK_BYTES as u64,
            real_bytes,
            "{flash}"
        );
        drop(card);
        let card = start();
        let (verdict, surface) = verified(&mut open(&card));
        assert_eq!(verdict, (kind, real_bytes), "{flash}");
        let in_memory = Model::parse(&model(flash)).unwrap();
        let expected = verified(&mut SimMedium::new(&in_memory, 1));
        assert_eq!((verdict, surface), expected, "{flash}");
    }
}

fn open(card: &SimCard) -> Blocks {
    let target = open_device_for_writing(card.path()).unwrap();
    Blocks::of_device(target, Arc::new(Pulse::new())).unwrap()
}

fn verified(medium: &mut impl Medium) -> ((StorageKind, u64), Surface) {
    let mut verify = Verify::new(medium.blocks_count(), Content { seed: 9, round: 0 });
    while !verify.is_done() {
        verify.advance(medium).unwrap();
    }
    let verdict = verify.verdict().unwrap();
    let real_bytes = Span::new(0, verdict.real_blocks).bytes();
    ((verdict.kind, real_bytes), verify.surface().clone())
}

//! Cards, and the facts about them.

use cardmark_core::StorageKind;
use cardmark_integrity::{
    BLOCK_BYTES, Content, Medium, Probe, ProbeRequest, Span, Surface, Trouble, Verify, probe,
};
use cardmark_sim::{Model, SimMedium};

pub(crate) const GIB: u64 = 1 << 30;

/// Facts about a model: the kind, the real capacity, and the distance after which addresses repeat, bytes.
pub(crate) struct Truth {
    pub(crate) name: &'static str,
    /// Divisor of all sizes in tests of many cards.
    pub(crate) divisor: u64,
    pub(crate) kind: StorageKind,
    pub(crate) real_bytes: u64,
    pub(crate) wrap_bytes: Option<u64>,
}

const fn truth(name: &'static str, divisor: u64, kind: StorageKind, real_bytes: u64) -> Truth {
    Truth {
        name,
        divisor,
        kind,
        real_bytes,
        wrap_bytes: None,
    }
}

const fn repeating(
    name: &'static str,
    kind: StorageKind,
    real_bytes: u64,
    wrap_bytes: u64,
) -> Truth {
    Truth {
        name,
        divisor: 64,
        kind,
        real_bytes,
        wrap_bytes: Some(wrap_bytes),
    }
}

/// The geometries, written down here again and not taken from the models.
pub(crate) const GEOMETRIES: [Truth; 14] = [
    truth("honest-2mb", 1, StorageKind::Confirmed, 2 << 20),
    truth("honest-1gb", 4, StorageKind::Confirmed, GIB),
    truth("a1-32gb", 128, StorageKind::Confirmed, 32_010_928_128),
    truth("dead-1gb", 4, StorageKind::Dead, 0),
    truth("limbo-32gb", 128, StorageKind::Limbo, 1_777_645_568),
    repeating("wrap-16gb", StorageKind::Wraparound, 2 * GIB, 2 * GIB),
    repeating("chain-16gb", StorageKind::Chain, 2 * GIB, 4 * GIB),
    truth("tiny-1tb", 4096, StorageKind::Limbo, (1 << 20) + 512),
    truth("cached-64gb", 256, StorageKind::Limbo, 7_600_799_744),
    truth(
        "loosely-cached-64gb",
        256,
        StorageKind::Limbo,
        7_600_799_744,
    ),
    truth("devil-1tb", 4096, StorageKind::Dead, 0),
    truth("loose-devil-1tb", 4096, StorageKind::Dead, 0),
    repeating("wrap-700mb", StorageKind::Wraparound, 700 << 20, 700 << 20),
    truth("huge-cache-64gb", 256, StorageKind::Limbo, 8_000_000_000),
];

impl Truth {
    pub(crate) fn model(&self) -> Model {
        Model::named(self.name).unwrap()
    }

    pub(crate) fn scaled_model(&self) -> Model {
        self.model().scaled(self.divisor)
    }

    /// Returns a size in the scaled model.
    pub(crate) fn scaled(&self, bytes: u64) -> u64 {
        let odd = bytes % 4096;
        bytes / self.divisor / 4096 * 4096 + odd
    }

    /// A cache that a probe of the scaled model is to exclude, blocks: in the model at full size, the
    /// largest one that any of them has.
    pub(crate) fn cache_blocks(&self) -> u64 {
        4 * GIB / self.divisor / BLOCK_BYTES as u64
    }
}

pub(crate) fn content(seed: u64) -> Content {
    Content { seed, round: 0 }
}

pub(crate) fn blocks(bytes: u64) -> u64 {
    bytes / BLOCK_BYTES as u64
}

/// A whole verify.
pub(crate) fn verify(medium: &mut SimMedium, seed: u64) -> Verify {
    let mut verify = Verify::new(medium.blocks_count(), content(seed));
    while !verify.is_done() {
        verify.advance(medium).unwrap();
    }
    verify
}

pub(crate) fn probed(
    medium: &mut impl Medium,
    seed: u64,
    cache_blocks: u64,
) -> Result<Probe, Trouble> {
    let request = ProbeRequest {
        seed,
        cache_blocks,
        wait_ns: 0,
    };
    probe(medium, &request, &mut |_| ())
}

/// Returns the content of all blocks, read at once.
pub(crate) fn whole(medium: &mut SimMedium, seed: u64) -> Surface {
    let all = Span::new(0, medium.blocks_count());
    let answer = medium.read(all, content(seed)).unwrap();
    let mut surface = Surface::default();
    answer.runs.into_iter().for_each(|run| surface.push(run));
    surface
}

//! Read-back: a sample of the written content is compared after the last trial.

use cardmark_core::{MIB, OperationError, ReadBack, Rng};

use crate::failure::Failure;
use crate::{Backend, Pulse};

/// Size of a read, bytes.
pub(crate) const PIECE_BYTES: u64 = MIB;

/// Reads back `bytes` of the first `written_bytes`, in pieces drawn without replacement. Returns the
/// comparison of all pieces read, and the failure that ended it. There is no comparison if the back end does
/// not remember its writes.
pub(crate) fn read_back<B: Backend>(
    backend: &mut B,
    pulse: &Pulse,
    seed: u64,
    written_bytes: u64,
    bytes: u64,
) -> (Option<ReadBack>, Option<Failure>) {
    let mut all = ReadBack::default();
    for offset in places(seed, written_bytes, bytes) {
        if pulse.is_stopped() {
            return (Some(all), Some(Failure::Stopped));
        }
        let failed = |errno| {
            Failure::Operation(OperationError {
                offset_bytes: offset,
                errno,
                at_ns: 0,
            })
        };
        let piece = match backend.read_back(offset, PIECE_BYTES).map_err(failed) {
            Ok(Some(piece)) => piece,
            Ok(None) => return (None, None),
            Err(failure) => return (Some(all), Some(failure)),
        };
        pulse.beat();
        all.read_bytes += piece.read_bytes;
        all.lost_bytes += piece.lost_bytes;
        let firsts = all
            .first_lost_bytes
            .into_iter()
            .chain(piece.first_lost_bytes);
        all.first_lost_bytes = firsts.min();
    }
    (Some(all), None)
}

/// Returns the ascending offsets of the pieces.
fn places(seed: u64, written_bytes: u64, bytes: u64) -> Vec<u64> {
    let mut pieces: Vec<u64> = (0..written_bytes / PIECE_BYTES).collect();
    let wanted = usize::try_from(bytes / PIECE_BYTES)
        .unwrap_or(usize::MAX)
        .min(pieces.len());
    let mut rng = Rng::for_part(seed, "read_back", 0);
    for place in 0..wanted {
        let others = (pieces.len() - place) as u64;
        #[allow(
            clippy::cast_possible_truncation,
            reason = "below the number of pieces"
        )]
        let other = place + rng.below(others) as usize;
        pieces.swap(place, other);
    }
    pieces.truncate(wanted);
    pieces.sort_unstable();
    pieces
        .into_iter()
        .map(|piece| piece * PIECE_BYTES)
        .collect()
}

//! Ids of runs.

use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

/// The id of a run that is not measured: a hash of what identifies it, as a UUID of version 8.
pub fn simulated_run_id(parts: &[&str]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    let digest = hash.finalize();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

/// The id of a measured run from 16 random bytes, as a UUID of version 4.
pub fn run_id_from_bytes(bytes: [u8; 16]) -> Uuid {
    Builder::from_random_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_apart_from_their_joint_text() {
        assert_ne!(
            simulated_run_id(&["ab", "c"]),
            simulated_run_id(&["a", "bc"])
        );
        assert_eq!(
            simulated_run_id(&["ab", "c"]),
            simulated_run_id(&["ab", "c"])
        );
    }
}

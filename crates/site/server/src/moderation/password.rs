//! Hashes of passwords (argon2id, RFC 9106).

use argon2::{Algorithm, Argon2, Params, Version};
use cardmark_site_store::PasswordHash;

use super::random;

/// Costs of a new hash: those that OWASP recommends for argon2id.
const MEMORY_KIB: u32 = 19_456;
const PASSES: u32 = 2;

/// Hashes a new password; takes some 30 ms.
pub(super) fn hashed(password: &str) -> Option<PasswordHash> {
    let mut salt = [0; 16];
    salt.copy_from_slice(&random()[..16]);
    let mut made = PasswordHash {
        hash: [0; 32],
        salt,
        memory_kib: MEMORY_KIB,
        passes: PASSES,
    };
    made.hash = hash(password, &made)?;
    Some(made)
}

/// A hash without a password, for names without an account: comparing it costs as much as comparing another.
pub(super) fn nobody() -> PasswordHash {
    PasswordHash {
        hash: random(),
        salt: [0; 16],
        memory_kib: MEMORY_KIB,
        passes: PASSES,
    }
}

/// Returns whether a password has this hash.
pub(super) fn is_of(password: &str, known: &PasswordHash) -> bool {
    hash(password, known).is_some_and(|hash| {
        let pairs = hash.iter().zip(known.hash);
        pairs.fold(0, |differing, (one, other)| differing | one ^ other) == 0
    })
}

fn hash(password: &str, costs: &PasswordHash) -> Option<[u8; 32]> {
    let params = Params::new(costs.memory_kib, costs.passes, 1, Some(32)).ok()?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut hash = [0; 32];
    argon2
        .hash_password_into(password.as_bytes(), &costs.salt, &mut hash)
        .ok()?;
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_password_has_the_hash() {
        let cheap = PasswordHash {
            memory_kib: 64,
            passes: 1,
            ..nobody()
        };
        let hash = hash("correct horse", &cheap).unwrap();
        let known = PasswordHash { hash, ..cheap };
        assert!(is_of("correct horse", &known));
        assert!(!is_of("correct horsf", &known));
        let other = PasswordHash {
            salt: [1; 16],
            ..known
        };
        assert!(!is_of("correct horse", &other));
    }
}

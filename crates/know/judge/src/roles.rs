//! The four rates by which people choose a card, whichever tool measured them.

use cardmark_catalog::equivalents_of;

/// A rate that people ask for, with the metrics that answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// Plain name, such as `random writes`.
    pub name: &'static str,
    /// Ids of the metrics that measure it, those of cardmark first. Only figures of one pattern are compared.
    pub metrics: &'static [&'static str],
}

impl Role {
    /// Returns whether it is a rate of random accesses.
    #[must_use]
    pub fn is_random(&self) -> bool {
        self.name.starts_with("random")
    }
}

/// The four rates, the most important first.
pub const ROLES: [Role; 4] = [
    Role {
        name: "random writes",
        metrics: &[
            "rand_write_4k",
            "iozone_random_write",
            "iozone_random_write_4k",
            "fio_rand_write_4k",
            "agnostics_rand_write",
            "pibenchmarks_fio_rand_write",
        ],
    },
    Role {
        name: "random reads",
        metrics: &[
            "rand_read_4k",
            "iozone_random_read",
            "iozone_random_read_4k",
            "fio_rand_read_4k",
            "agnostics_rand_read",
            "pibenchmarks_fio_rand_read",
        ],
    },
    Role {
        name: "sequential writes",
        metrics: &[
            "seq_write_1m",
            "dd_write",
            "iozone_write_16m",
            "iozone_sequential_write",
            "agnostics_seq_write",
            "pibenchmarks_dd",
        ],
    },
    Role {
        name: "sequential reads",
        metrics: &[
            "seq_read_1m",
            "hdparm_t",
            "iozone_read_16m",
            "iozone_sequential_read",
            "agnostics_seq_read",
            "pibenchmarks_hdparm_disk",
        ],
    },
];

/// Rate of a long series of random writes, relative to that of short trials, below which both are worth a sentence.
pub const LONG_SERIES_RATIO: f64 = 0.7;

/// Random writes in one long series of cardmark.
pub(crate) const LONG_WRITES: Role = Role {
    name: "random writes over 15 s",
    metrics: &["rand_write_4k_long"],
};

/// Writes that each wait for the storage.
pub(crate) const SYNCED_WRITES: Role = Role {
    name: "synced writes",
    metrics: &["sync_write_4k"],
};

/// Returns the number of operations that a random rate keeps in flight; `None` if its method does not state it.
#[must_use]
pub fn queue_depth(metric: &str) -> Option<u32> {
    let pattern = equivalents_of(metric)?;
    let depth = pattern.id.rsplit_once("_q").map(|(_, depth)| depth.parse());
    depth.map_or(Some(1), Result::ok)
}

/// Returns the number of operations that a random rate of [`ROLES`] keeps in flight, if it is more than one.
#[must_use]
pub fn at_once(metric: &str) -> Option<u32> {
    let role = role_of(metric).filter(|role| role.is_random());
    role.and(queue_depth(metric)).filter(|depth| *depth > 1)
}

/// Returns the role that a metric answers.
#[must_use]
pub fn role_of(metric: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| role.metrics.contains(&metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_those_of_the_patterns() {
        for (metric, depth) in [
            ("rand_write_4k", Some(1)),
            ("iozone_random_read", Some(1)),
            ("agnostics_rand_write", Some(32)),
            ("fio_rand_read_4k_q64", Some(64)),
            ("fio_rand_write_4k", None),
        ] {
            assert_eq!(queue_depth(metric), depth, "{metric}");
        }
    }

    #[test]
    fn no_metric_has_two_roles() {
        let all = ROLES.iter().flat_map(|role| role.metrics);
        for metric in all {
            let roles = ROLES.iter().filter(|role| role.metrics.contains(metric));
            assert_eq!(roles.count(), 1, "{metric}");
        }
    }
}

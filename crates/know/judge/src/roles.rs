//! The four rates by which people choose a card, whichever tool measured them.

/// A rate that people ask for, with the metrics that answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Role {
    /// Plain name, such as `random writes`.
    pub name: &'static str,
    /// Ids of the metrics that measure it, those of cardmark first. They are methods of their own: figures of two of them are
    /// not compared.
    pub metrics: &'static [&'static str],
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

/// Returns the role that a metric answers.
#[must_use]
pub fn role_of(metric: &str) -> Option<&'static Role> {
    ROLES.iter().find(|role| role.metrics.contains(&metric))
}

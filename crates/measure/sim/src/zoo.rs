//! The models of single processes, each on an ordinary card: challenges for a method of measuring.

/// Invented processes first, then those fitted to real figures.
pub(crate) const ZOO: [(&str, &str); 25] = [
    ("stalls-often", include_str!("../models/stalls-often.toml")),
    ("stalls-rare", include_str!("../models/stalls-rare.toml")),
    ("stalls-heavy", include_str!("../models/stalls-heavy.toml")),
    ("freeze-2s", include_str!("../models/freeze-2s.toml")),
    ("freeze-700ms", include_str!("../models/freeze-700ms.toml")),
    ("garbage", include_str!("../models/garbage.toml")),
    ("regimes", include_str!("../models/regimes.toml")),
    ("slow-sway", include_str!("../models/slow-sway.toml")),
    ("slower-sway", include_str!("../models/slower-sway.toml")),
    ("gentle-sway", include_str!("../models/gentle-sway.toml")),
    ("drift", include_str!("../models/drift.toml")),
    ("two-speeds", include_str!("../models/two-speeds.toml")),
    ("slow-trials", include_str!("../models/slow-trials.toml")),
    ("housekeeping", include_str!("../models/housekeeping.toml")),
    ("switching", include_str!("../models/switching.toml")),
    ("ftl-4gb", include_str!("../models/ftl-4gb.toml")),
    ("sd-stalls", include_str!("../models/sd-stalls.toml")),
    ("emmc-stalls", include_str!("../models/emmc-stalls.toml")),
    ("pause-5mb", include_str!("../models/pause-5mb.toml")),
    ("pause-4gib", include_str!("../models/pause-4gib.toml")),
    ("read-retries", include_str!("../models/read-retries.toml")),
    ("runs-apart", include_str!("../models/runs-apart.toml")),
    (
        "recorded-emmc",
        include_str!("../models/recorded-emmc.toml"),
    ),
    (
        "soft-units-16gb",
        include_str!("../models/soft-units-16gb.toml"),
    ),
    (
        "hard-units-16gb",
        include_str!("../models/hard-units-16gb.toml"),
    ),
];

/// Names of the models of single processes.
pub fn zoo() -> impl Iterator<Item = &'static str> {
    ZOO.iter().map(|&(name, _)| name)
}

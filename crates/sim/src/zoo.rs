//! The models of single processes, each on an ordinary card: what a method of measuring must cope with.

/// Invented processes first, then those fitted to real figures.
pub(crate) const ZOO: [(&str, &str); 15] = [
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
];

//! PCI Express links.

use std::path::{Path, PathBuf};

use cardmark_core::{AspmState, PcieLink};

use crate::Root;
use crate::root::{chosen, decimal, number_of, text_of};

const POLICY: &str = "/sys/module/pcie_aspm/parameters/policy";
/// Attributes of a link. The kernel shows those of the states that both ends support.
const ASPM: [(&str, AspmState); 4] = [
    ("l0s_aspm", AspmState::L0s),
    ("l1_aspm", AspmState::L1),
    ("l1_1_aspm", AspmState::L1Sub1),
    ("l1_2_aspm", AspmState::L1Sub2),
];

/// The link of the nearest PCI device.
pub(crate) fn pcie_link(root: &Root, above: &[PathBuf]) -> Option<PcieLink> {
    let mut devices = above.iter();
    let device = devices.find(|path| path.join("current_link_speed").exists())?;
    let megatransfers = |attribute: &str| {
        let text = text_of(device.join(attribute))?;
        decimal(text.split_once(" GT/s")?.0, 1000)
    };
    // A device that is gone reports 255.
    let lanes = |attribute: &str| {
        let count = number_of(device.join(attribute))?;
        (1..=32).contains(&count).then_some(count)
    };
    let link = PcieLink {
        megatransfers_per_s: megatransfers("current_link_speed"),
        max_megatransfers_per_s: megatransfers("max_link_speed"),
        lanes_count: lanes("current_link_width"),
        max_lanes_count: lanes("max_link_width"),
        aspm_policy: None,
        aspm: aspm(device),
    };
    (link != PcieLink::default()).then(|| PcieLink {
        aspm_policy: root.text(POLICY).and_then(|text| chosen(&text)),
        ..link
    })
}

/// Returns the enabled states; `None` if the kernel shows none of them.
fn aspm(device: &Path) -> Option<Vec<AspmState>> {
    let folder = device.join("link");
    let shown = ASPM.iter().filter_map(|(attribute, state)| {
        let value = number_of(folder.join(attribute))?;
        Some((*state, value == 1))
    });
    let shown: Vec<(AspmState, bool)> = shown.collect();
    let enabled = shown.iter().filter(|(_, is_enabled)| *is_enabled);
    let enabled = enabled.map(|(state, _)| *state).collect();
    (!shown.is_empty()).then_some(enabled)
}

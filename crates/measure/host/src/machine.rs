//! Detection of virtual machines.

use crate::Root;

/// Makers and products, as firmware names them, that only virtual machines have.
const VIRTUAL_NAMES: &[&str] = &[
    "QEMU",
    "KVM",
    "Bochs",
    "BHYVE",
    "VMware",
    "VirtualBox",
    "innotek GmbH",
    "Xen",
    "Parallels",
    "OpenStack",
    "KubeVirt",
    "Amazon EC2",
    "Google Compute Engine",
    "Apple Virtualization",
];

/// Returns whether the computer is a virtual machine. Only processors of PCs can report that it is not; those
/// of other boards have no sign for it.
pub(crate) fn is_virtual(root: &Root) -> Option<bool> {
    if is_xen_host(root) {
        return None;
    }
    let has_flag = has_hypervisor_flag(root);
    let is_named = || {
        root.text("/sys/hypervisor/type").is_some()
            || names_virtual_board(root)
            || names_virtual_maker(root)
    };
    if has_flag == Some(true) || is_named() {
        return Some(true);
    }
    has_flag
}

/// The system of Xen that has the real devices.
fn is_xen_host(root: &Root) -> bool {
    let abilities = root.text("/proc/xen/capabilities");
    abilities.is_some_and(|text| text.contains("control_d"))
}

/// The flags of the first processor of a PC; none elsewhere.
fn has_hypervisor_flag(root: &Root) -> Option<bool> {
    let bytes = root.list("/proc/cpuinfo").ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let (_, flags) = lines.find(|(name, _)| name.trim_end() == "flags")?;
    Some(
        flags
            .split_ascii_whitespace()
            .any(|flag| flag == "hypervisor"),
    )
}

fn names_virtual_board(root: &Root) -> bool {
    let compatible = root.text("/proc/device-tree/compatible");
    let hypervisor = root.text("/proc/device-tree/hypervisor/compatible");
    let names = [compatible, hypervisor].map(Option::unwrap_or_default);
    let mut names = names.iter().flat_map(|text| text.split('\0'));
    names.any(|name| ["linux,dummy-virt", "linux,kvm", "xen,xen"].contains(&name))
}

/// Rented computers that are whole machines bear the name of the same maker.
fn names_virtual_maker(root: &Root) -> bool {
    let names = ["sys_vendor", "product_name", "board_vendor"];
    let names = names.map(|name| {
        root.text(format!("/sys/class/dmi/id/{name}"))
            .unwrap_or_default()
    });
    let is_virtual = |name: &String| {
        let mut known = VIRTUAL_NAMES.iter();
        known.any(|known| name.starts_with(known))
    };
    let is_metal = names.iter().any(|name| name.ends_with(".metal"));
    let is_hyper_v = names[0] == "Microsoft Corporation" && names[1] == "Virtual Machine";
    !is_metal && (is_hyper_v || names.iter().any(is_virtual))
}

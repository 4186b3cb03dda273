//! Description of a job that takes turns: what it is, what it works on, and whether its steps are timed.

use cardmark_core::LayerKind;
use cardmark_host::Resolution;

/// A job and the storage that it works on.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Name of the command, such as `verify`.
    pub(super) job: &'static str,
    /// The target as the user named it.
    pub(super) target: String,
    /// Names of the disks, sorted; two jobs on one of them exclude each other.
    pub(super) disks: Vec<String>,
    /// True if figures that are judged follow from the duration of its steps.
    pub(super) is_timed: bool,
}

impl Claim {
    /// A job whose steps are timed: no other job of this host is timed meanwhile.
    #[must_use]
    pub fn timed(job: &'static str, target: &str, resolution: &Resolution) -> Self {
        Self {
            job,
            target: target.to_owned(),
            disks: disks_of(resolution),
            is_timed: true,
        }
    }

    /// A job that judges content, not time: it waits only for jobs on the same disks.
    #[must_use]
    pub fn untimed(job: &'static str, target: &str, resolution: &Resolution) -> Self {
        Self {
            is_timed: false,
            ..Self::timed(job, target, resolution)
        }
    }
}

/// Names of the disks below a target, or the number of its filesystem if no disk is known. A loop device counts as
/// a disk of its own, whatever holds its file.
fn disks_of(resolution: &Resolution) -> Vec<String> {
    let mut disks = Vec::new();
    for layer in &resolution.layers {
        let Some(device) = &layer.device else {
            continue;
        };
        match layer.kind {
            LayerKind::Loop => {
                disks.push(device.clone());
                break;
            }
            LayerKind::Disk | LayerKind::Zram => disks.push(device.clone()),
            _ => {}
        }
    }
    if disks.is_empty() {
        let (major, minor) = resolution.device_id;
        disks.push(format!("{major}-{minor}"));
    }
    disks.sort();
    disks.dedup();
    disks
}

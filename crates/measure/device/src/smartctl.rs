//! Health of a disk behind a USB bridge, from `smartctl`.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cardmark_cards::smartctl_health;
use cardmark_core::Health;

/// Longest wait for its output.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of its output, bytes.
const MOST_BYTES: u64 = 1 << 20;

/// Returns the health of the disk at this path as `smartctl`, a program on the search path or at a path, reports it.
/// It asks only behind bridges that it knows by their USB ids, as others may stop answering; nothing is written, and a
/// sleeping disk stays asleep. `None` if the program is missing, refuses, or does not answer within 5 s.
#[must_use]
pub fn bridged_health(smartctl: &Path, disk: &Path) -> Option<Health> {
    within(PATIENCE, smartctl, disk)
}

fn within(patience: Duration, smartctl: &Path, disk: &Path) -> Option<Health> {
    let mut child = Command::new(smartctl)
        .args(["--json=c", "--nocheck=standby", "--attributes"])
        .arg(disk)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut printed = String::new();
        if output.take(MOST_BYTES).read_to_string(&mut printed).is_ok() {
            let _ = sender.send(printed);
        }
    });
    let printed = receiver.recv_timeout(patience);
    let _ = child.kill();
    let printed = printed.ok()?;
    // Output that ended means that no disk holds the program.
    let _ = child.wait();
    smartctl_health(&printed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a program of these lines. Another process writes it: a child of another test cannot hold it open.
    fn program(folder: &Path, lines: &str) -> std::path::PathBuf {
        let path = folder.join("smartctl");
        let script = r#"printf '#!/bin/sh\n%s\n' "$1" >"$2" && chmod +x "$2""#;
        let mut write = Command::new("sh");
        write.args(["-c", script, "sh", lines]).arg(&path);
        assert!(write.status().unwrap().success());
        path
    }

    #[test]
    fn it_is_asked_for_the_attributes_of_that_disk_and_leaves_it_asleep() {
        let folder = tempfile::tempdir().unwrap();
        let smartctl = program(
            folder.path(),
            r#"[ "$*" = "--json=c --nocheck=standby --attributes /dev/sdz" ] || exit 1
echo '{"serial_number":"S1","nvme_smart_health_information_log":{"percentage_used":3}}'
exit 4"#,
        );
        let health = bridged_health(&smartctl, Path::new("/dev/sdz")).unwrap();
        assert_eq!(health.used_percent, Some(3));
        assert_eq!(bridged_health(&smartctl, Path::new("/dev/sdy")), None);
    }

    #[test]
    fn without_it_or_its_answer_nothing_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        assert_eq!(bridged_health(&missing, Path::new("/dev/sdz")), None);
        let hanging = program(folder.path(), "exec sleep 600");
        let patience = Duration::from_millis(50);
        assert_eq!(within(patience, &hanging, Path::new("/dev/sdz")), None);
    }
}

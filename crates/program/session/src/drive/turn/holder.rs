//! Process that holds a lock.

use std::fs::{File, read_to_string};
use std::os::unix::fs::MetadataExt;

/// Process that holds a lock on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    /// Process id.
    pub(super) process: u32,
    /// Real user id.
    pub(super) user: u32,
}

impl Holder {
    /// Returns the process that holds a lock on this file, if the kernel shows it.
    pub(super) fn of(file: &File) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let device = metadata.dev();
        let name = format!(
            "{:02x}:{:02x}:{}",
            rustix::fs::major(device),
            rustix::fs::minor(device),
            metadata.ino()
        );
        let process = process_in(&read_to_string("/proc/locks").ok()?, &name)?;
        let status = read_to_string(format!("/proc/{process}/status")).ok()?;
        let users = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let user = users.split_whitespace().next()?.parse().ok()?;
        Some(Self { process, user })
    }
}

/// Process in the kernel's list of locks that holds the file `MAJOR:MINOR:INODE`. Lines with `->` are of processes
/// that wait.
fn process_in(locks: &str, name: &str) -> Option<u32> {
    let of_line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, process, file, ..] if file == name => process.parse().ok(),
            _ => None,
        }
    };
    locks.lines().find_map(of_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_the_one_that_does_not_wait() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:00:5 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 fe:00:6 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:00:5 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 fe:00:5 0 EOF\n";
        assert_eq!(process_in(locks, "fe:00:5"), Some(13));
        assert_eq!(process_in(locks, "fe:01:5"), None);
    }

    #[test]
    fn our_own_lock_is_found() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Holder::of(&file), None);
        file.lock().unwrap();
        let holder = Holder::of(&file).unwrap();
        assert_eq!(holder.process, std::process::id());
        assert_eq!(holder.user, rustix::process::getuid().as_raw());
    }
}

//! What processes have caused to be written.

use cardmark_core::ProcessWrites;

use crate::openers::processes;
use crate::root::Root;

/// Returns the processes whose counts this user may read.
#[must_use]
pub fn process_writes(root: &Root) -> Vec<ProcessWrites> {
    let all = processes(root).into_iter();
    all.filter_map(|process| of_process(root, process))
        .collect()
}

fn of_process(root: &Root, process: u32) -> Option<ProcessWrites> {
    let io = root.text(format!("/proc/{process}/io"))?;
    let count = |name: &str| -> Option<u64> {
        let mut lines = io.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
        value.parse().ok()
    };
    // Of files that were deleted before they were written.
    let cancelled = count("cancelled_write_bytes").unwrap_or(0);
    let stat = root.text(format!("/proc/{process}/stat"))?;
    // The name may hold spaces and brackets.
    let fields = stat.rsplit_once(')')?.1;
    let started = fields.split_ascii_whitespace().nth(19)?;
    Some(ProcessWrites {
        process,
        started: started.parse().ok()?,
        program: root.line(format!("/proc/{process}/comm"))?,
        bytes: count("write_bytes")?.saturating_sub(cancelled),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn counts_are_read_whatever_the_name_of_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let process = |number: &str, name: &str, io: &str| {
            let path = folder.path().join("proc").join(number);
            fs::create_dir_all(&path).unwrap();
            let zeros = "0 ".repeat(18);
            fs::write(
                path.join("stat"),
                format!("{number} ({name}) S {zeros}4711 0"),
            )
            .unwrap();
            fs::write(path.join("comm"), format!("{name}\n")).unwrap();
            fs::write(path.join("io"), io).unwrap();
        };
        let counts = "wchar: 9\nread_bytes: 8\nwrite_bytes: 4096\ncancelled_write_bytes: 96\n";
        process("7", "a) b (c", counts);
        process(
            "8",
            "more-cancelled",
            "write_bytes: 1\ncancelled_write_bytes: 5\n",
        );
        process("9", "unreadable", "");
        let found = process_writes(&Root::at(folder.path()));
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.process, one.started, one.program.as_str(), one.bytes))
            .collect();
        assert_eq!(
            found,
            [(7, 4711, "a) b (c", 4000), (8, 4711, "more-cancelled", 0)]
        );
    }
}

//! Programs that write to a card.

use std::collections::BTreeMap;

use cardmark_core::ProcessWrites;

/// Files of a program that are named.
const MOST_FILES: usize = 3;

/// What programs wrote in some time. It stays on the computer: names of programs and files reveal what somebody does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Writing {
    /// The disks, by the kernel's names.
    pub disks: Vec<String>,
    /// Length of the observation, seconds.
    pub span_s: u64,
    /// Bytes that the disks were written; absent if they do not count.
    pub disk_bytes: Option<u64>,
    /// Programs, those that wrote most first.
    pub programs: Vec<ProgramWrites>,
    /// True if the names of files are known, so that only programs that wrote to these filesystems are listed.
    pub has_files: bool,
    /// True if the programs of other users are visible.
    pub sees_all: bool,
}

/// What a program wrote, as all its processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramWrites {
    /// Its name.
    pub program: String,
    /// Bytes that it caused to be written; a file that was deleted before does not count.
    pub bytes: u64,
    /// Files that it wrote most often.
    pub files: Vec<String>,
}

/// Adds up what processes write.
#[derive(Debug, Default)]
pub struct WritersTally {
    is_begun: bool,
    /// By number and time of the beginning.
    processes: BTreeMap<(u32, u64), Counts>,
    /// Number of times that a process was seen to write a file.
    files: BTreeMap<u32, BTreeMap<String, u64>>,
}

#[derive(Debug)]
struct Counts {
    program: String,
    first_bytes: u64,
    last_bytes: u64,
}

impl WritersTally {
    /// Adds the counts of all processes at a moment. Of a process that began later all bytes count.
    pub fn add(&mut self, processes: Vec<ProcessWrites>) {
        for now in processes {
            let first_bytes = match self.is_begun {
                true => 0,
                false => now.bytes,
            };
            let counts = self.processes.entry((now.process, now.started));
            let counts = counts.or_insert(Counts {
                program: String::new(),
                first_bytes,
                last_bytes: 0,
            });
            counts.program = now.program;
            counts.last_bytes = now.bytes;
        }
        self.is_begun = true;
    }

    /// Notes that a process was seen to write a file.
    pub fn note(&mut self, process: u32, file: String) {
        let files = self.files.entry(process).or_default();
        *files.entry(file).or_default() += 1;
    }

    /// Returns the programs that wrote; with `has_files` only those that were seen to write a file.
    #[must_use]
    pub fn programs(&self, has_files: bool) -> Vec<ProgramWrites> {
        let mut programs = BTreeMap::<&str, (u64, BTreeMap<&str, u64>)>::new();
        for ((process, _), counts) in &self.processes {
            let files = self.files.get(process);
            let bytes = counts.last_bytes.saturating_sub(counts.first_bytes);
            if (has_files && files.is_none()) || (bytes == 0 && files.is_none()) {
                continue;
            }
            let program = programs.entry(&counts.program).or_default();
            program.0 += bytes;
            for (file, count) in files.into_iter().flatten() {
                *program.1.entry(file).or_default() += count;
            }
        }
        let of_program = |(program, (bytes, files)): (&str, (u64, BTreeMap<&str, u64>))| {
            let mut files: Vec<(&str, u64)> = files.into_iter().collect();
            files.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
            files.truncate(MOST_FILES);
            ProgramWrites {
                program: program.to_owned(),
                bytes,
                files: files.iter().map(|(file, _)| (*file).to_owned()).collect(),
            }
        };
        let mut found: Vec<ProgramWrites> = programs.into_iter().map(of_program).collect();
        found.sort_by_key(|program| std::cmp::Reverse(program.bytes));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(process: u32, started: u64, program: &str, bytes: u64) -> ProcessWrites {
        ProcessWrites {
            process,
            started,
            program: program.to_owned(),
            bytes,
        }
    }

    #[test]
    fn only_what_was_written_meanwhile_counts() {
        let mut tally = WritersTally::default();
        tally.add(vec![
            process(1, 0, "journal", 1000),
            process(2, 0, "idle", 5000),
            process(3, 0, "other", 10),
        ]);
        tally.add(vec![
            process(1, 0, "journal", 1500),
            process(4, 9, "short", 70),
        ]);
        // Number 4 is another process, and a file was deleted.
        tally.add(vec![
            process(1, 0, "journal", 1600),
            process(2, 0, "idle", 4000),
            process(3, 0, "other", 910),
            process(4, 20, "short", 30),
        ]);
        let bytes = |has_files| -> Vec<(String, u64)> {
            let programs = tally.programs(has_files).into_iter();
            programs.map(|one| (one.program, one.bytes)).collect()
        };
        let named = |all: &[(&str, u64)]| -> Vec<(String, u64)> {
            let all = all.iter();
            all.map(|(name, bytes)| ((*name).to_owned(), *bytes))
                .collect()
        };
        assert_eq!(
            bytes(false),
            named(&[("other", 900), ("journal", 600), ("short", 100)])
        );
        assert_eq!(bytes(true), []);
    }

    #[test]
    fn the_files_of_a_program_are_those_that_it_wrote_most_often() {
        let mut tally = WritersTally::default();
        tally.add(vec![
            process(1, 0, "a", 0),
            process(2, 0, "a", 0),
            process(3, 0, "b", 0),
        ]);
        for (process, file) in [
            (1, "x"),
            (1, "y"),
            (2, "y"),
            (2, "z"),
            (2, "w"),
            (2, "w"),
            (9, "q"),
        ] {
            tally.note(process, file.to_owned());
        }
        tally.add(vec![process(1, 0, "a", 5), process(3, 0, "b", 100)]);
        let programs = tally.programs(true);
        assert_eq!(programs.len(), 1, "{programs:?}");
        assert_eq!(programs[0].bytes, 5);
        assert_eq!(programs[0].files, ["w", "y", "x"]);
    }
}

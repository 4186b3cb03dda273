//! Operations of a program on its files, from the output of `strace`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// The calls that open, move, cut, read, write and sync; `?` where not every machine has it.
const CALLS: &str = "trace=?open,openat,?creat,close,?dup2,fcntl,lseek,ftruncate,read,write,pread64,\
                     pwrite64,fsync,fdatasync";
/// Nothing of what is moved is printed.
const NO_CONTENT: &str = "-s0";

/// Operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Open,
    /// It is created or emptied.
    Cut,
    Read,
    Write,
    Sync,
}

/// One act; where and how much matter to reads and writes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moved {
    pub(crate) is_write: bool,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Past the page cache.
    pub(crate) direct: bool,
}

/// A call that was traced.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) file: String,
    pub(crate) act: Act,
    pub(crate) moved: Option<Moved>,
}

/// A workload as the storage sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// True if the file was created or emptied before.
    pub(crate) cut: bool,
    /// Reads and writes in order.
    pub(crate) moved: Vec<Moved>,
    /// True if it is made durable afterwards.
    pub(crate) synced: bool,
}

/// Runs a command under `strace`; what it did, and what it printed.
pub(crate) fn trace(command: &Command, scratch: &Path) -> (Vec<Step>, String) {
    let log = tempfile::NamedTempFile::new_in(scratch).unwrap();
    let mut traced = Command::new("strace");
    traced.args(["-f", "-qq", "--seccomp-bpf", NO_CONTENT, "-e", CALLS, "-o"]);
    traced.arg(log.path()).arg("--").arg(command.get_program());
    traced.args(command.get_args());
    traced.env_clear().env("LC_ALL", "C");
    traced.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            traced.env(name, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        traced.current_dir(folder);
    }
    let output = traced.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command:?}: {output:?}");
    (steps(&std::fs::read_to_string(log.path()).unwrap()), said)
}

/// An open file, by its descriptor.
#[derive(Clone, Debug)]
struct Open {
    file: String,
    direct: bool,
    at: u64,
}

fn steps(log: &str) -> Vec<Step> {
    let mut open: BTreeMap<i64, Open> = BTreeMap::new();
    let mut begun: BTreeMap<&str, &str> = BTreeMap::new();
    let mut steps = Vec::new();
    for line in log.lines() {
        let (process, call) = line.split_once(' ').unwrap();
        let call = call.trim_start();
        if let Some(first) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first);
        } else if let Some(rest) = call.strip_prefix("<... ") {
            let (_, rest) = rest.split_once(" resumed>").unwrap();
            let first = begun.remove(process).unwrap();
            note(&format!("{first}{rest}"), &mut open, &mut steps);
        } else if !call.starts_with("---") && !call.starts_with("+++") {
            note(call, &mut open, &mut steps);
        }
    }
    steps
}

/// Notes a whole call such as `pread64(3, ""..., 4096, 8192) = 4096`.
fn note(call: &str, open: &mut BTreeMap<i64, Open>, steps: &mut Vec<Step>) {
    let (name, rest) = call.split_once('(').unwrap();
    let (arguments, result) = rest.rsplit_once(" = ").unwrap();
    let arguments = arguments.trim_end().strip_suffix(')').unwrap();
    let arguments: Vec<&str> = arguments.split(", ").collect();
    let Ok(result) = first_word(result).parse::<i64>() else {
        // `?`: the process ended within it.
        return;
    };
    if result < 0 {
        return;
    }
    let number = |index: usize| first_word(arguments[index]).parse::<i64>().unwrap_or(-1);
    if ["open", "openat", "creat"].contains(&name) {
        let at = usize::from(name == "openat");
        let path = arguments[at].trim_matches('"');
        let flags = if name == "creat" {
            "O_TRUNC"
        } else {
            arguments[at + 1]
        };
        let file = if flags.contains("O_TMPFILE") {
            format!("{NAMELESS}{result}")
        } else {
            path.to_owned()
        };
        let opened = Open {
            file,
            direct: flags.contains("O_DIRECT") && !flags.contains("O_DIRECTORY"),
            at: 0,
        };
        steps.push(step(&opened, Act::Open, None));
        if flags.contains("O_TRUNC") {
            steps.push(step(&opened, Act::Cut, None));
        }
        open.insert(result, opened);
        return;
    }
    let Some(file) = open.get_mut(&number(0)) else {
        return;
    };
    let bytes = result.cast_unsigned();
    match name {
        "close" => drop(open.remove(&number(0))),
        "dup2" => {
            let copy = file.clone();
            open.insert(result, copy);
        }
        "fcntl" if arguments[1] == "F_SETFL" => file.direct = arguments[2].contains("O_DIRECT"),
        "lseek" => file.at = bytes,
        "ftruncate" if number(1) == 0 => steps.push(step(file, Act::Cut, None)),
        "read" | "write" => {
            let moved = Moved {
                is_write: name == "write",
                offset: file.at,
                bytes,
                direct: file.direct,
            };
            file.at += bytes;
            steps.push(step(file, act(moved), Some(moved)));
        }
        "pread64" | "pwrite64" => {
            let moved = Moved {
                is_write: name == "pwrite64",
                offset: number(3).cast_unsigned(),
                bytes,
                direct: file.direct,
            };
            steps.push(step(file, act(moved), Some(moved)));
        }
        "fsync" | "fdatasync" => steps.push(step(file, Act::Sync, None)),
        _ => {}
    }
}

/// What the names of files without a name begin with here.
pub(crate) const NAMELESS: &str = "nameless ";

fn act(moved: Moved) -> Act {
    if moved.is_write {
        Act::Write
    } else {
        Act::Read
    }
}

fn step(open: &Open, act: Act, moved: Option<Moved>) -> Step {
    Step {
        file: open.file.clone(),
        act,
        moved,
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// The workloads on one file, one after the other. One begins where the file is opened again, or
/// where `is_border` says so, and something was moved since the last one began.
pub(crate) fn patterns(
    steps: &[Step],
    is_file: impl Fn(&str) -> bool,
    is_border: impl Fn(&Step) -> bool,
) -> Vec<Pattern> {
    let none = Pattern {
        cut: false,
        moved: Vec::new(),
        synced: false,
    };
    let mut patterns = vec![none.clone()];
    for step in steps {
        let is_file = is_file(&step.file);
        let is_begun = patterns.last().is_some_and(|p| !p.moved.is_empty());
        if is_begun && (is_border(step) || (is_file && step.act == Act::Open)) {
            patterns.push(none.clone());
        }
        let Some(last) = patterns.last_mut().filter(|_| is_file) else {
            continue;
        };
        match (step.act, step.moved) {
            (Act::Cut, _) => {
                assert!(last.moved.is_empty(), "cut in the middle");
                last.cut = true;
            }
            // What is made durable before anything is moved is none of the workload's.
            (Act::Sync, _) => last.synced = !last.moved.is_empty(),
            (_, Some(moved)) => {
                assert!(!last.synced, "made durable in the middle");
                last.moved.push(moved);
            }
            (_, None) => {}
        }
    }
    patterns.retain(|pattern| !pattern.moved.is_empty());
    patterns
}

#[test]
fn a_trace_becomes_what_was_done() {
    let log = "\
7 openat(AT_FDCWD, \"a\", O_WRONLY|O_CREAT, 000) = 3
7 ftruncate(3, 0)                   = 0
7 close(3)                          = 0
7 openat(AT_FDCWD, \"a\", O_RDWR|O_DIRECT) = 3
7 fsync(3)                          = 0
7 write(3, \"\"..., 4096 <unfinished ...>
8 openat(AT_FDCWD, \".\", O_RDWR|O_EXCL|O_CLOEXEC|O_TMPFILE, 0600) = 4
8 pwrite64(4, \"\"..., 512, 1024)      = 512
7 <... write resumed>)              = 4096
7 lseek(3, 0, SEEK_SET)             = 0
7 read(3, \"\"..., 4096)              = 100
7 fcntl(3, F_SETFL, O_RDWR)         = 0
7 pread64(3, \"\"..., 4096, 8192)     = 4096
7 read(3, 0x5, 4096)                = -1 EINVAL (Invalid argument)
7 fsync(3)                          = 0
7 read(9, \"\"..., 4096)              = 4096
";
    let moved = |is_write, offset, bytes, direct| Moved {
        is_write,
        offset,
        bytes,
        direct,
    };
    let expected = Pattern {
        cut: true,
        moved: vec![
            moved(true, 0, 4096, true),
            moved(false, 0, 100, true),
            moved(false, 8192, 4096, false),
        ],
        synced: true,
    };
    let steps = steps(log);
    assert_eq!(patterns(&steps, |file| file == "a", |_| false), [expected]);
    let nameless = patterns(&steps, |file| file.starts_with(NAMELESS), |_| false);
    assert_eq!(nameless[0].moved, [moved(true, 1024, 512, false)]);
}

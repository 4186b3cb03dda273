//! A command line for each argument that names what a command writes. `PATH` stands for the path.

/// A command line.
pub(crate) struct Sample {
    pub(crate) command: &'static str,
    pub(crate) argument: &'static str,
    /// True if the argument names a folder.
    pub(crate) is_folder: bool,
    pub(crate) words: &'static [&'static str],
}

const fn file(
    command: &'static str,
    argument: &'static str,
    words: &'static [&'static str],
) -> Sample {
    Sample {
        command,
        argument,
        is_folder: false,
        words,
    }
}

const fn folder(
    command: &'static str,
    argument: &'static str,
    words: &'static [&'static str],
) -> Sample {
    Sample {
        command,
        argument,
        is_folder: true,
        words,
    }
}

pub(crate) const SAMPLES: [Sample; 8] = [
    file(
        "run",
        "json",
        &["run", "sim:a1-32gb", "--only=rand_read_4k", "--json=PATH"],
    ),
    file(
        "report",
        "output",
        &["report", "last", "--format=md", "-o", "PATH"],
    ),
    file("watch", "output", &["watch", "/", "--output", "PATH"]),
    file(
        "power-cut",
        "log",
        &["power-cut", "sim:lying-32gb", "--log", "PATH"],
    ),
    file(
        "submit",
        "export_secret",
        &["submit", "--export-secret", "PATH"],
    ),
    folder(
        "probe",
        "save_to",
        &["probe", "sim:honest-2mb", "--save-to", "PATH"],
    ),
    folder(
        "anatomy",
        "save_to",
        &["anatomy", "sim:units-16gb", "--save-to", "PATH"],
    ),
    folder("generate", "folder", &["generate", "PATH"]),
];

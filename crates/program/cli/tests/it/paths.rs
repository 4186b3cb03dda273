//! Paths that commands write: regular files, and nothing else.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use cardmark_testkit::{LoopDevice, Output, Program, needs};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::common::{MIB, QUICKEST, assert_error, program, scratch, text};

mod samples;

use samples::{SAMPLES, Sample};

fn run(program: &Program, sample: &Sample, path: &Path) -> Output {
    let words: Vec<String> = sample
        .words
        .iter()
        .map(|word| word.replace("PATH", text(path)))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    program.run(&words)
}

/// The path, and a link to it.
fn with_link(path: PathBuf, folder: &Path, number: usize) -> [PathBuf; 2] {
    let link = folder.join(format!("link-{number}"));
    symlink(&path, &link).unwrap();
    [path, link]
}

#[track_caller]
fn assert_refused(program: &Program, sample: &Sample, path: &Path) {
    let output = run(program, sample, path);
    let what = format!("{} {}: {}", sample.command, sample.argument, path.display());
    assert_eq!(output.code, 2, "{what}: {output}");
    assert_eq!(output.stdout, "", "{what}");
    assert!(
        output.stderr.contains("error: cannot write to `"),
        "{what}: {output}"
    );
}

#[test]
fn a_path_that_is_no_regular_file_is_refused_before_anything_is_measured() {
    let scratch = scratch();
    let program = program(&scratch);
    assert_eq!(program.run(&["run", "sim:a1-32gb", QUICKEST]).code, 0);
    let odd = program.file("odd");
    fs::create_dir(&odd).unwrap();
    let (fifo, socket) = (odd.join("fifo"), odd.join("socket"));
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RWXU, 0).unwrap();
    // Longer names are refused by the kernel.
    let bound = tempfile::tempdir().unwrap();
    drop(UnixListener::bind(bound.path().join("socket")).unwrap());
    symlink(bound.path().join("socket"), &socket).unwrap();
    let directory = odd.join("directory");
    fs::create_dir(&directory).unwrap();
    let store = fs::read(program.database()).unwrap();
    let others: Vec<PathBuf> = [
        fifo.clone(),
        socket,
        "/dev/zero".into(),
        "/dev/sdzz".into(),
        program.database(),
        "/proc/self/comm".into(),
    ]
    .into_iter()
    .enumerate()
    .flat_map(|(number, path)| with_link(path, &odd, number))
    .collect();
    let directories = with_link(directory.clone(), &odd, 100);
    for sample in &SAMPLES {
        for path in &others {
            // A folder that is missing is made, or reported by the command.
            if sample.is_folder && !path.exists() {
                continue;
            }
            assert_refused(&program, sample, path);
        }
        for path in directories.iter().filter(|_| !sample.is_folder) {
            assert_refused(&program, sample, path);
        }
        // A folder in which not even root makes files.
        let shut = if sample.is_folder {
            "/sys"
        } else {
            "/sys/page"
        };
        assert_refused(&program, sample, Path::new(shut));
    }
    assert!(fs::symlink_metadata(&fifo).unwrap().file_type().is_fifo());
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
    assert!(fs::read(program.database()).unwrap() == store);
    assert!(!Path::new("/dev/sdzz").exists());
}

/// On 27 November 2026 `run --json /dev/loop2` and `report -o /dev/loop2` overwrote a mounted device.
#[test]
fn a_block_device_is_no_destination() {
    needs!(Root, LoopDevice);
    let scratch = scratch();
    let program = program(&scratch);
    assert_eq!(program.run(&["run", "sim:a1-32gb", QUICKEST]).code, 0);
    let image = program.file("image");
    let content = vec![7; 1 << 20];
    fs::write(&image, &content).unwrap();
    // As large as a suite needs.
    let file = fs::File::options().write(true).open(&image).unwrap();
    file.set_len(512 * MIB).unwrap();
    drop(file);
    let device = LoopDevice::attach(&image, false);
    let node = program.file("node");
    let number = fs::metadata(device.path()).unwrap().rdev();
    mknodat(CWD, &node, FileType::BlockDevice, Mode::RWXU, number).unwrap();
    let link = program.file("link");
    symlink(device.path(), &link).unwrap();
    for sample in &SAMPLES {
        for path in [device.path(), &node, &link] {
            assert_refused(&program, sample, path);
        }
    }
    // As the person would write it in other commands: now it is the target, behind the gate.
    let output = program.run(&["run", "--json", text(device.path()), QUICKEST]);
    assert_eq!(output.code, 4, "{output}");
    // The shell opened it.
    let opened = || fs::File::options().write(true).open(device.path()).unwrap();
    for words in [&["report", "last"][..], &["show", "--json"], &["--help"]] {
        let status = program.command(words).stdout(opened()).status().unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
    // As the address of the store.
    let address = format!("sqlite://{}", device.path().display());
    let mut command = program.command(&["run", "sim:a1-32gb", QUICKEST]);
    let output = command
        .env("CARDMARK_DATABASE_URL", address)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    rustix::fs::sync();
    let mut found = vec![0; content.len()];
    let mut file = fs::File::open(&image).unwrap();
    file.read_exact(&mut found).unwrap();
    assert!(found == content, "the device was written");
    let stored = file.metadata().unwrap().blocks() * 512;
    assert!(stored <= 2 * MIB, "the device was written: {stored}");
}

#[test]
fn a_campaign_writes_into_a_folder_alone() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = program.file("cards.toml");
    let campaign = "title = \"T\"\nsuites = [\"quick\"]\nrepeats = 1\n[[cards]]\nname = \"red\"\n\
                    simulated = \"a1-32gb\"\n[[boards]]\nname = \"pi4\"\nsimulated = \"pi4\"\n";
    fs::write(&file, campaign).unwrap();
    let folder = program.file("cards");
    let plan = program.run(&["campaign", text(&file), "--plan"]);
    assert_eq!(plan.code, 0, "{plan}");
    mknodat(CWD, &folder, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let output = program.run(&["campaign", text(&file)]);
    assert_error(&output, 2, &["cannot write to `", "it is a FIFO"]);
    fs::remove_file(&folder).unwrap();
    // A page that is a device, and a file of the person among the charts.
    fs::create_dir_all(folder.join("charts")).unwrap();
    fs::write(folder.join("charts/mine.txt"), "mine").unwrap();
    symlink("/dev/zero", folder.join("report.html")).unwrap();
    let output = program.run(&["campaign", text(&file)]);
    assert_error(&output, 2, &["report.html", "it is a character device"]);
    fs::remove_file(folder.join("report.html")).unwrap();
    assert!(!folder.join("runs").exists(), "it was measured before");
    fs::write(folder.join("charts/old.svg"), "old").unwrap();
    let output = program.run(&["campaign", text(&file)]);
    assert_eq!(output.code, 0, "{output}");
    assert_eq!(
        fs::read_to_string(folder.join("charts/mine.txt")).unwrap(),
        "mine"
    );
    assert!(!folder.join("charts/old.svg").exists());
    assert!(folder.join("report.html").is_file());
}

#[test]
fn outputs_of_the_program_are_written_and_never_replaced() {
    let scratch = scratch();
    let program = program(&scratch);
    let record = program.run(&["run", "sim:a1-32gb", QUICKEST, "--json"]);
    assert_eq!(record.code, 0, "{record}");
    assert_eq!(record.record().id, program.last().id);
    let page = program.run(&["report", "last"]).stdout;
    for name in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let output = program.run(&["report", "last", "-o", name]);
        assert_eq!(
            (output.code, &output.stdout),
            (0, &page),
            "{name}: {output}"
        );
        let output = program.run(&["run", "sim:a1-32gb", QUICKEST, &format!("--json={name}")]);
        assert_eq!((output.code, &output.stdout), (0, &record.stdout), "{name}");
    }
    let output = program.run(&["report", "last", "-o", "/dev/stderr"]);
    assert_eq!((output.code, &*output.stdout), (0, ""), "{output}");
    assert!(
        output.stderr.contains(page.lines().next().unwrap()),
        "{output}"
    );
    let output = program.run(&["report", "last", "-o", "/dev/null"]);
    assert_eq!((output.code, &*output.stdout), (0, ""), "{output}");
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    // A file that the shell opened is appended to, and stays the same file.
    let file = program.file("out");
    fs::write(&file, "before\n").unwrap();
    let inode = fs::metadata(&file).unwrap().ino();
    let appended = fs::File::options().append(true).open(&file).unwrap();
    let mut command = program.command(&["report", "last", "-o", "/dev/stdout"]);
    assert!(command.stdout(appended).status().unwrap().success());
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        format!("before\n{page}")
    );
    assert_eq!(fs::metadata(&file).unwrap().ino(), inode);
}

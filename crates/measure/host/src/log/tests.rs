//! Records, and the end of one pass.

use std::fs;
use std::io::Write;

use super::*;

fn root_with(text: &[u8]) -> (tempfile::TempDir, Root) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("dev")).unwrap();
    fs::write(directory.path().join("dev/kmsg"), text).unwrap();
    let root = Root::at(directory.path());
    (directory, root)
}

fn texts(log: &mut KernelLog) -> Vec<String> {
    let lines = log.lines(&|_| true);
    lines.into_iter().map(|line| line.text).collect()
}

#[test]
fn a_record_has_a_number_a_time_and_a_text() {
    let line = parse_record("6,339,5140900,-;NET: Registered; twice").unwrap();
    let expected = LogLine {
        sequence: 339,
        at_us: 5_140_900,
        text: "NET: Registered; twice".to_owned(),
    };
    assert_eq!(line, expected);
    assert!(parse_record("3,1,2,c,caller=T1;x").is_some());
}

#[test]
fn what_is_no_record_of_the_kernel_is_left_out() {
    for text in [
        "",
        ";",
        "x",
        "6,1,2",
        "6,1;x",
        "6,,2,-;x",
        "-6,1,2,-;x",
        " SUBSYSTEM=usb;x",
        // Written by a program: 1 above the three bits of the priority.
        "14,1,2,-;mmc0: card aaaa removed",
        "6,99999999999999999999,2,-;x",
    ] {
        assert_eq!(parse_record(text), None, "{text}");
    }
}

#[test]
fn each_line_is_given_once_and_only_when_it_is_whole() {
    let (directory, root) = root_with(b"6,1,10,-;one\n SUBSYSTEM=usb\n6,2,20,-;two\n6,3,3");
    let mut log = KernelLog::open(&root);
    assert_eq!(log.access(), LogAccess::Readable);
    assert_eq!(texts(&mut log), ["one", "two"]);
    assert_eq!(texts(&mut log), [""; 0]);
    let path = directory.path().join("dev/kmsg");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"0,-;three\n6,4,40,-;four\n").unwrap();
    let lines = log.lines(&|text| text.starts_with('t'));
    assert_eq!((lines.len(), lines[0].at_us), (1, 30));
    let mut late = KernelLog::open(&root);
    late.skip();
    file.write_all(b"6,5,50,-;five\n").unwrap();
    assert_eq!(texts(&mut late), ["five"]);
}

#[test]
fn a_line_without_end_is_left_out_and_the_next_one_is_not() {
    let mut text = b"6,1,10,-;one\n6,2,20,-;".to_vec();
    text.extend(vec![b'x'; 3 * MOST_RECORD_BYTES]);
    text.extend(b"\n6,3,30,-;three\n");
    let (_directory, root) = root_with(&text);
    assert_eq!(texts(&mut KernelLog::open(&root)), ["one", "three"]);
}

#[test]
fn one_look_has_an_end_and_the_next_goes_on() {
    let mut text = String::new();
    let count = MOST_LINES * 2;
    for number in 0..count {
        text.push_str(&format!("6,{number},1,-;line\n"));
    }
    let (_directory, root) = root_with(text.as_bytes());
    let mut log = KernelLog::open(&root);
    let mut looks = Vec::new();
    loop {
        let lines = log.lines(&|_| true);
        if lines.is_empty() {
            break;
        }
        looks.extend(lines.into_iter().map(|line| line.sequence));
    }
    let all: Vec<u64> = (0..).take(count).collect();
    assert_eq!(looks, all);
}

#[test]
fn a_look_takes_in_only_so_much() {
    let (directory, root) = root_with(b"");
    let file = fs::File::create(directory.path().join("dev/kmsg")).unwrap();
    file.set_len(1 << 30).unwrap();
    let mut log = KernelLog::open(&root);
    assert_eq!(texts(&mut log), [""; 0]);
    let taken = std::io::Seek::stream_position(log.file.as_mut().unwrap()).unwrap();
    assert!(taken <= 2 * MOST_BYTES as u64, "{taken}");
}

#[test]
fn what_is_no_log_is_not_read() {
    let (directory, root) = root_with(b"");
    let path = directory.path().join("dev/kmsg");
    fs::remove_file(&path).unwrap();
    assert_eq!(KernelLog::open(&root).access(), LogAccess::Absent);
    // As in some containers.
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    let mut log = KernelLog::open(&root);
    assert_eq!(log.access(), LogAccess::Absent);
    assert_eq!(texts(&mut log), [""; 0]);
}

#[test]
fn the_log_of_this_machine_ends() {
    let mut log = KernelLog::open(&Root::system());
    let lines = log.lines(&|_| true);
    assert!(lines.is_empty() || log.access() == LogAccess::Readable);
    assert!(lines.is_sorted_by_key(|line| line.sequence));
}

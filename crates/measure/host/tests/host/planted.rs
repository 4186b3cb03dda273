//! The public form of records from hosts with a name planted in what the readers read.

use std::path::Path;

use cardmark_core::{
    DeviceInfo, Origin, OriginKind, Record, Rng, SensorSample, Target, TargetKind, public_form,
    record_to_json,
};
use cardmark_host::{KernelLog, Root, block_devices, device_info, read_board, read_host, resolve};
use cardmark_testkit::trees::{Tree, whole};

/// A name that is part of no other word.
const NAME: &str = "Zebulonqx";
/// Hosts in the test; `CARDMARK_PLANTED` sets another number.
const HOSTS: u64 = 160;

/// A record of that host, with all that the readers find.
fn record_of(root: &Root) -> Record {
    let mut record = Record::new(uuid::Uuid::nil(), Origin::of(OriginKind::Measured));
    record.board = Some(read_board(root));
    record.host = Some(read_host(root));
    let devices = block_devices(root).into_iter();
    record.devices = devices
        .map(|device| device_info(root, &device.name))
        .collect();
    let mut target = Target::of(TargetKind::Directory);
    if let Ok(resolution) = resolve(root, Path::new("/")) {
        target.layers = resolution.layers;
        target.filesystem = resolution.filesystem;
        target.mount_options = resolution.mount_options;
        record.findings = resolution.findings;
    }
    record.target = Some(target);
    let lines = KernelLog::open(root).lines(&|_| true);
    record.sensors.push(SensorSample {
        messages: lines.into_iter().map(|line| line.text).collect(),
        ..SensorSample::default()
    });
    record.labels.insert("note".to_owned(), NAME.to_owned());
    record
}

/// Names that hardware reports of itself are public, and so are not searched.
fn without_hardware(mut record: Record) -> Record {
    let clear = |device: &mut DeviceInfo| {
        device.model = None;
        device.firmware = None;
        if let Some(usb) = device
            .reader
            .as_mut()
            .and_then(|reader| reader.usb.as_mut())
        {
            (usb.revision, usb.name, usb.usb_version) = (None, None, None);
        }
    };
    record.devices.iter_mut().for_each(clear);
    if let Some(board) = &mut record.board {
        board.model = None;
    }
    record.context = None;
    record
}

/// Puts the name into a file: alone, behind each line, before each line, or in place of each last word.
fn plant(text: &str, how: u64) -> String {
    let lines = text.split_inclusive('\n');
    let each = |change: &dyn Fn(&str) -> String| -> String {
        let whole = |line: &str| match line.strip_suffix('\n') {
            Some(line) => change(line) + "\n",
            None => change(line),
        };
        lines.clone().map(whole).collect()
    };
    match how {
        0 => format!("{NAME}\n"),
        1 => each(&|line| format!("{line}-{NAME}")),
        2 => each(&|line| format!("{NAME} {line}")),
        _ => each(&|line| match line.rsplit_once([' ', '=', ':']) {
            Some((before, _)) => format!("{before} {NAME}"),
            None => NAME.to_owned(),
        }),
    }
}

/// Plants the name in a third of these files of a tree.
fn plant_in(tree: &mut Tree, files: &[(String, String)], rng: &mut Rng) {
    for (path, text) in files {
        let planted = match rng.below(3) {
            0 => plant(text, rng.below(4)),
            _ => text.clone(),
        };
        tree.file(path, &planted);
    }
}

/// The files of a tree that are text, and their content.
fn texts(tree: &Tree) -> Vec<(String, String)> {
    let read = |path: String| {
        let file = tree.finish().join(path.trim_start_matches('/'));
        Some((path, std::fs::read_to_string(file).ok()?))
    };
    tree.all_files().into_iter().filter_map(read).collect()
}

/// Checks the public form of a record; returns whether the record held the name.
fn check(record: &Record, host: &str) -> bool {
    let text = record_to_json(record).unwrap();
    let form = public_form(record, &[]);
    let again = public_form(&form.record, &[]);
    assert_eq!(again.record, form.record, "{host}");
    assert_eq!(again.withheld, Vec::<String>::new(), "{host}");
    let form_labels = form.record.labels.clone();
    let public = record_to_json(&without_hardware(form.record)).unwrap();
    assert!(!public.contains(NAME), "{host}: {public}");
    let stated = format!("{form_labels:?}");
    assert!(!stated.contains(NAME), "{host}: {stated}");
    text.contains(NAME)
}

#[test]
fn a_name_planted_anywhere_is_not_in_the_public_form() {
    let hosts = std::env::var("CARDMARK_PLANTED").map_or(HOSTS, |count| count.parse().unwrap());
    let mut kinds = whole();
    let of_each = hosts.div_ceil(kinds.len() as u64);
    let mut seen = 0;
    for (name, tree) in &mut kinds {
        let files = texts(tree);
        for number in 0..of_each {
            let mut rng = Rng::for_part(1, name, number);
            plant_in(tree, &files, &mut rng);
            seen += u64::from(check(&record_of(&tree.root()), &format!("{name} {number}")));
        }
    }
    let all = of_each * kinds.len() as u64;
    println!("{all} hosts, {seen} records held the name");
    assert!(seen > all / 2, "only {seen} of {all} records held the name");
}

//! Tests of classes on a device: it is erased first, and its wear is announced before.

use std::fs::File;
use std::os::unix::fs::FileExt;

use cardmark_core::{Fill, SECOND_NS};
use cardmark_engine::Request;
use cardmark_session::{Consent, Exit};
use cardmark_testkit::{LoopDevice, needs};

use crate::run::Run;
use crate::world::{Ended, MIB, World, consent, text};

const SIZE_BYTES: u64 = 1088 * MIB;

/// Measures the device by a suite.
fn measured(
    world: &World,
    device: &LoopDevice,
    name: &str,
    consent: &Consent,
    request: &Request,
) -> Ended {
    let run = Run {
        target: text(device.path()),
        suite: name,
        request: request.clone(),
        consent: consent.clone(),
        labels: vec![("claims".to_owned(), "C10".to_owned())],
    };
    run.execute(world)
}

/// All of it is erased, every window is timed, and later runs know of it.
#[test]
fn a_device_is_erased_and_its_wear_announced() {
    needs!(Root, LoopDevice);
    let world = World::new();
    let image = world.path("image");
    let file = File::create(&image).unwrap();
    file.set_len(SIZE_BYTES).unwrap();
    for at in [0, SIZE_BYTES - 4096] {
        file.write_all_at(&[0x55; 4096], at).unwrap();
    }
    file.sync_all().unwrap();
    drop(file);
    let device = LoopDevice::attach(&image, true);
    let request = Request {
        seed: 1,
        limit_ns: 60 * SECOND_NS,
        ..Request::default()
    };
    let wear =
        "speed-class (raw-short): about 1.07 GB will be written, 94 % of its capacity, in about";
    let refused = measured(
        &world,
        &device,
        "speed-class",
        &Consent::default(),
        &request,
    );
    refused.assert_error(Exit::Refused, &["there is no terminal to confirm", wear]);
    let ended = measured(&world, &device, "speed-class", &consent(&device), &request);
    ended.assert_heard(&[wear]);
    let record = ended.record();
    assert_eq!(record.written_bytes, 1 << 30);
    let written = &record.trials[0];
    let windows = written.windows.iter();
    let windows: Vec<(u64, u64)> = windows
        .map(|it| (it.window_bytes, it.windows_count))
        .collect();
    assert_eq!(windows, [(4 << 20, 256), (8 << 20, 128)]);
    let slowest: Vec<u64> = written.windows[0]
        .slowest
        .iter()
        .map(|it| it.span_ns)
        .collect();
    assert!(slowest.is_sorted_by(|a, b| a >= b));
    assert!(slowest[0] <= written.span_ns);
    assert!(u128::from(slowest[0]) * 256 >= u128::from(written.span_ns));
    // The rest of the device holds nothing any more.
    let start_bytes = written.workload.manner.start_bytes;
    assert_eq!(start_bytes % (8 << 20), 0);
    let outside = if start_bytes > 0 {
        0
    } else {
        SIZE_BYTES - 4096
    };
    let mut found = [1; 4096];
    let image = File::open(&image).unwrap();
    image.read_exact_at(&mut found, outside).unwrap();
    assert_eq!(found, [0; 4096]);
    let derived = record.derived.as_ref().unwrap();
    for part in ["CMD20", "bus mode"] {
        let mut deviations = derived.deviations.iter();
        assert!(deviations.any(|text| text.contains(part)), "{part}");
    }
    assert!(derived.verdicts.iter().any(|verdict| verdict.rule == "C10"));
    // What the card was filled with before holds no longer.
    let reading = Request {
        read_only: true,
        only: vec!["rand_read_4k".to_owned()],
        ..request
    };
    let later = measured(&world, &device, "quick", &Consent::default(), &reading);
    let prepared = later.record().devices[0].prepared.clone().unwrap();
    assert_eq!(prepared.fill, Fill::Discard);
    assert!(prepared.finished_at.is_some());
}

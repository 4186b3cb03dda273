//! The program against the truth of its models: through a loop device, as tools see it.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, which print their measurements"
)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small positive numbers of a test"
)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cardmark_core::{Flush, Manner, Order, Payload, Rng, StopRule, Workload};
use cardmark_device::RealBackend;
use cardmark_engine::{Backend, Op, OpKind};
use cardmark_sim::{Model, SimulatedCard};
use cardmark_testkit::{Mount, SimCard, needs};
use rustix::fs::{FallocateFlags, OFlags};
use rustix::process::Signal;
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_cardmark-simfs");
const SIZE_BYTES: u64 = 1 << 30;
/// Span of a workload.
const SPAN_BYTES: u64 = 256 << 20;
/// A rate is the mean of [`QUIET_SLICES`] slices in which no other program needed the processors, or of more of
/// them if it is not near the truth. It is not judged if too few of [`MOST_SLICES`] are quiet.
const SLICE: Duration = Duration::from_millis(300);
const QUIET_SLICES: usize = 10;
const MOST_SLICES: usize = 40;
/// Share of a slice during which programs waited for a processor.
const QUIET: f64 = 0.1;
/// Allowed error of a rate.
const NEAR: f64 = 0.03;
/// Highest rate of all slices in any case, as a ratio to the truth.
const WHOLE: f64 = 1.05;

/// One card at a time: they are measured.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn scratch() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn start(model: &str, scratch: &TempDir) -> SimCard {
    SimCard::start(BINARY, model, SIZE_BYTES, scratch.path())
}

/// A model that comes with the program, with one text replaced by another.
fn changed(name: &str, changes: &[(&str, &str)], scratch: &TempDir) -> String {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../measure/sim/models");
    let mut text = std::fs::read_to_string(models.join(name).with_extension("toml")).unwrap();
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        text = text.replace(from, to);
    }
    let path = scratch.path().join("model.toml");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

fn open(path: &Path) -> File {
    let direct = OFlags::DIRECT.bits() as i32;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).custom_flags(direct);
    options.open(path).unwrap()
}

/// Room that direct I/O takes.
struct Buffer {
    room: Vec<u8>,
    start: usize,
    bytes: usize,
}

impl Buffer {
    fn new(bytes: usize) -> Self {
        let room = vec![0; bytes + 4096];
        let start = room.as_ptr().align_offset(4096);
        Self { room, start, bytes }
    }

    fn filled(bytes: usize, seed: u64) -> Self {
        let mut buffer = Self::new(bytes);
        let mut rng = Rng::new(seed);
        for word in buffer.get().chunks_mut(8) {
            word.copy_from_slice(&rng.next_u64().to_le_bytes()[..word.len()]);
        }
        buffer
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.room[self.start..self.start + self.bytes]
    }
}

fn workload(read_share: u8, order: Order, block_bytes: u64, depth: u32) -> Workload {
    Workload {
        id: "test".to_owned(),
        read_share_percent: read_share,
        order,
        block_bytes,
        queue_depth: depth,
        span_bytes: SPAN_BYTES,
        flush: Flush::AfterTrial,
        payload: Payload::Incompressible,
        ramp_ns: 0,
        stop: StopRule::default(),
        latency_metrics: false,
        manner: Manner::default(),
        procedure: None,
        rounds: cardmark_core::Rounds::default(),
    }
}

/// One asker of a workload.
struct Asker<'a> {
    file: File,
    buffer: Buffer,
    rng: Rng,
    place: u64,
    workload: &'a Workload,
}

impl<'a> Asker<'a> {
    fn new(path: &Path, workload: &'a Workload) -> Self {
        Self {
            file: open(path),
            buffer: Buffer::filled(workload.block_bytes as usize, 1),
            rng: Rng::new(1),
            place: 0,
            workload,
        }
    }

    fn ask(&mut self) {
        let block = match self.workload.order {
            Order::Random | Order::Permuted | Order::Other(_) => {
                self.rng.below(self.workload.blocks_count())
            }
            Order::Sequential | Order::Spread => self.place % self.workload.blocks_count(),
        };
        self.place += 1;
        let offset = block * self.workload.block_bytes;
        let buffer = self.buffer.get();
        if self.workload.read_share_percent == 100 {
            self.file.read_exact_at(buffer, offset).unwrap();
        } else {
            self.file.write_all_at(buffer, offset).unwrap();
        }
    }

    /// Asks until `stop` is set; returns the spans from answer to answer.
    fn ask_until(&mut self, count: &AtomicU64, stop: &AtomicBool) -> Vec<Duration> {
        let mut spans = Vec::new();
        let mut last = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            self.ask();
            count.fetch_add(1, Ordering::Relaxed);
            let now = Instant::now();
            spans.push(now - last);
            last = now;
        }
        spans
    }
}

/// Results of the callers.
struct Found {
    /// Operations per second, if it can be judged.
    rate: Option<f64>,
    /// Operations per second of all slices, whoever needed the processors.
    whole_rate: f64,
    /// From answer to answer, if the requests came one at a time.
    middle_span_s: Option<f64>,
}

/// Reads with many requests in flight until `stop` is set.
fn read_deep(path: &Path, workload: &Workload, count: &AtomicU64, stop: &AtomicBool) {
    let target = cardmark_device::open_device_readonly(path).unwrap();
    let mut backend = RealBackend::new(target, 1, Box::new(|| None));
    backend.prepare(workload).unwrap();
    let mut rng = Rng::new(1);
    let mut op = |slot| Op {
        kind: OpKind::Read,
        offset: rng.below(workload.blocks_count()) * workload.block_bytes,
        bytes: workload.block_bytes as u32,
        slot,
        stream: 0,
    };
    for slot in 0..workload.queue_depth {
        backend.submit(op(slot));
    }
    let mut in_flight = workload.queue_depth;
    while in_flight > 0 {
        let done = backend.reap();
        done.outcome.unwrap();
        if stop.load(Ordering::Relaxed) {
            in_flight -= 1;
            continue;
        }
        backend.submit(op(done.slot));
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Measures a rate that should be `truth`.
fn measure(path: &Path, workload: &Workload, truth: f64) -> Found {
    let (count, stop) = (&AtomicU64::new(0), &AtomicBool::new(false));
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| {
            // As far as it is allowed: the card is to be measured, not this process.
            let _ = rustix::process::nice(-20);
            if workload.queue_depth == 1 {
                return Asker::new(path, workload).ask_until(count, stop);
            }
            read_deep(path, workload, count, stop);
            Vec::new()
        });
        let (rate, whole_rate) = rates(count, truth);
        stop.store(true, Ordering::Relaxed);
        let mut spans = asker.join().unwrap();
        spans.sort_unstable();
        Found {
            rate,
            whole_rate,
            middle_span_s: spans.get(spans.len() / 2).map(Duration::as_secs_f64),
        }
    })
}

/// Returns the rate in slices in which no other program needed the processors, and that of all slices.
fn rates(count: &AtomicU64, truth: f64) -> (Option<f64>, f64) {
    let (first, started) = (count.load(Ordering::Relaxed), Instant::now());
    let mut rates = Vec::new();
    let mut found = None;
    for _ in 0..MOST_SLICES {
        let (begin, before_s) = (Instant::now(), waited_s());
        let before = count.load(Ordering::Relaxed);
        std::thread::sleep(SLICE);
        let done = count.load(Ordering::Relaxed) - before;
        let span_s = begin.elapsed().as_secs_f64();
        if waited_s() - before_s > QUIET * span_s {
            continue;
        }
        rates.push(done as f64 / span_s);
        if rates.len() >= QUIET_SLICES {
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            found = Some(mean);
            if is_near(mean / truth, NEAR) {
                break;
            }
        }
    }
    let whole = count.load(Ordering::Relaxed) - first;
    (found, whole as f64 / started.elapsed().as_secs_f64())
}

fn is_near(ratio: f64, most: f64) -> bool {
    (ratio - 1.0).abs() < most
}

/// Returns the time programs have waited for a processor so far, according to the kernel.
fn waited_s() -> f64 {
    let told = std::fs::read_to_string("/proc/pressure/cpu").unwrap_or_default();
    let total = told
        .lines()
        .next()
        .and_then(|line| line.split("total=").nth(1));
    total.map_or(0.0, |microseconds| {
        microseconds.parse::<f64>().unwrap() / 1e6
    })
}

/// Checks the rate and, if the truth has it, the middle span.
fn assert_true(card: &SimCard, model: &str, workload: &Workload) {
    let truth = SimulatedCard::new(&Model::named(model).unwrap(), 1);
    let truth = truth.truth(workload).unwrap();
    let found = measure(card.path(), workload, truth.operations_per_s);
    let rate_ratio = found.rate.map(|rate| rate / truth.operations_per_s);
    let middle_ratio =
        (truth.p50_ns.zip(found.middle_span_s)).map(|(ns, span_s)| span_s * 1e9 / ns);
    let told = format!(
        "{model} {:?} read {} % of {} bytes, {} at once: rate {rate_ratio:.4?}, middle span {middle_ratio:.4?}",
        workload.order, workload.read_share_percent, workload.block_bytes, workload.queue_depth
    );
    let whole_ratio = found.whole_rate / truth.operations_per_s;
    let told = format!("{told}, rate of all {whole_ratio:.4}");
    println!("{told}");
    // Judged whoever needs the processors: they make a card slower, never faster.
    assert!(whole_ratio < WHOLE, "{told}");
    assert!(
        rate_ratio.is_none_or(|ratio| is_near(ratio, NEAR)),
        "{told}"
    );
    // A middle span that belongs to a rate that can be judged: others move it a little.
    assert!(
        rate_ratio
            .and(middle_ratio)
            .is_none_or(|ratio| is_near(ratio, 0.08)),
        "{told}"
    );
}

#[test]
fn one_request_at_a_time_is_served_at_the_models_rate() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let workloads = [
        workload(100, Order::Random, 4096, 1),
        workload(0, Order::Random, 4096, 1),
        workload(100, Order::Sequential, 1 << 20, 1),
        workload(0, Order::Sequential, 1 << 20, 1),
    ];
    let scratch = scratch();
    let card = start("a1-32gb", &scratch);
    for workload in workloads {
        assert_true(&card, "a1-32gb", &workload);
    }
}

#[test]
fn many_requests_at_once_are_served_at_the_models_rate() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let card = start("a2-64gb", &scratch);
    for depth in [1, 2, 32] {
        let workload = workload(100, Order::Random, 4096, depth);
        assert_true(&card, "a2-64gb", &workload);
    }
}

#[test]
fn what_is_written_is_read_back() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let card = start("v30-64gb", &scratch);
    let name = card.path().file_name().unwrap().to_str().unwrap();
    let is_direct = std::fs::read_to_string(format!("/sys/block/{name}/loop/dio")).unwrap();
    assert_eq!(is_direct.trim(), "1");

    let file = open(card.path());
    let large = 3 << 20;
    for (seed, offset, bytes) in [
        (1, 0, large),
        (2, SIZE_BYTES - 4096, 4096),
        (3, 512 << 20, 512),
    ] {
        let mut written = Buffer::filled(bytes, seed);
        file.write_all_at(written.get(), offset).unwrap();
        let mut found = Buffer::new(bytes);
        file.read_exact_at(found.get(), offset).unwrap();
        assert!(written.get() == found.get(), "{offset}");
    }
    let mut found = Buffer::new(1 << 20);
    let is_zero = |found: &mut Buffer| found.get().iter().all(|&byte| byte == 0);
    file.read_exact_at(found.get(), 64 << 20).unwrap();
    assert!(is_zero(&mut found));
    // Discarded content is gone.
    let below = open(&card.file());
    let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&below, hole, 0, 1 << 20).unwrap();
    file.read_exact_at(found.get(), 0).unwrap();
    assert!(is_zero(&mut found));
    file.read_exact_at(found.get(), 1 << 20).unwrap();
    assert!(!is_zero(&mut found));
}

#[test]
fn a_filesystem_can_live_on_it() {
    needs!(Root, Fuse, LoopDevice, Ext4);
    let _alone = alone();
    let scratch = scratch();
    let card = start("a1-32gb", &scratch);
    let mount = Mount::ext4_on(scratch.path(), card.path());
    let mut content = Buffer::filled(8 << 20, 9);
    let path = mount.folder().join("file");
    std::fs::write(&path, content.get()).unwrap();
    let file = File::open(&path).unwrap();
    let begin = Instant::now();
    file.sync_all().unwrap();
    // 8 MiB at 32.5 MB/s; some of it may have been written before.
    assert!(begin.elapsed() > Duration::from_millis(50), "{begin:?}");
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    assert!(std::fs::read(&path).unwrap() == content.get());
}

#[test]
fn flushes_take_their_time() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let card = start("c10-16gb", &scratch);
    let file = open(card.path());
    let mut buffer = Buffer::filled(4096, 1);
    let mut flush_ns = |writes: u64| {
        for write in 0..writes {
            file.write_all_at(buffer.get(), write * 4096).unwrap();
        }
        let begin = Instant::now();
        file.sync_data().unwrap();
        begin.elapsed()
    };
    flush_ns(0);
    assert!(flush_ns(4) > Duration::from_millis(20));
}

#[test]
fn faults_are_those_of_the_model() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let mut buffer = Buffer::filled(4096, 1);

    let card = start("failing-32gb", &scratch);
    let file = open(card.path());
    file.write_all_at(buffer.get(), 153 << 20).unwrap();
    let error = file.write_all_at(buffer.get(), 154 << 20).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(5));
    file.read_exact_at(buffer.get(), 154 << 20).unwrap();
    drop((file, card));

    let model = changed(
        "vanishing-32gb",
        &[("after_s = 20.0", "after_s = 1.0")],
        &scratch,
    );
    let begin = Instant::now();
    let card = start(&model, &scratch);
    let file = open(card.path());
    let error = loop {
        if let Err(error) = file.read_exact_at(buffer.get(), 0) {
            break error;
        }
    };
    assert_eq!(error.raw_os_error(), Some(19));
    assert!(begin.elapsed() >= Duration::from_secs(1));
    drop((file, card));

    let changes = [
        ("after_s = 15.0", "after_s = 1.0"),
        ("span_s = 600.0", "span_s = 2.0"),
    ];
    let model = changed("silent-32gb", &changes, &scratch);
    let begin = Instant::now();
    let card = start(&model, &scratch);
    let file = open(card.path());
    std::thread::sleep(Duration::from_secs(1));
    file.read_exact_at(buffer.get(), 0).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(2_990));
    // It is silent once.
    file.read_exact_at(buffer.get(), 0).unwrap();
}

/// Runs the program with these arguments to its end; returns exit code and output.
fn end_of(arguments: &[&str], point: &Path) -> (i32, String) {
    let mut command = Command::new(BINARY);
    let output = command.args(arguments).arg(point).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), told)
}

#[test]
fn a_model_faster_than_the_way_is_refused() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let changes = [
        ("setup_us = 120.0", "setup_us = 1.0"),
        ("rate_mb_per_s = 89.0", "rate_mb_per_s = 4000.0"),
    ];
    let model = changed("a1-32gb", &changes, &scratch);
    let point = scratch.path().join("point");
    std::fs::create_dir(&point).unwrap();
    let (code, told) = end_of(&[&model, "--size", "1048576"], &point);
    assert_eq!(code, 3, "{told}");
    assert!(
        told.contains("faster than this computer can play it"),
        "{told}"
    );
    assert!(told.contains("hint: "), "{told}");
    assert!(!is_mounted(&point));
}

#[test]
fn what_is_asked_wrongly_is_told() {
    let scratch = scratch();
    let (code, told) = end_of(&["a1-23gb"], scratch.path());
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("perhaps a1-32gb"), "{told}");
    for size in ["0", "1000", "99999999999999"] {
        let (code, told) = end_of(&["a1-32gb", "--size", size], scratch.path());
        assert_eq!(code, 2, "{told}");
        assert!(told.contains("hint: --size takes"), "{told}");
    }
}

fn is_mounted(point: &Path) -> bool {
    let told = std::fs::read_to_string("/proc/self/mounts").unwrap();
    told.contains(&format!(" {} ", point.display()))
}

fn point_of(card: &SimCard) -> PathBuf {
    card.file().parent().unwrap().to_owned()
}

#[test]
fn it_ends_when_it_is_unmounted() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    let mut card = start("a1-32gb", &scratch);
    card.detach();
    let status = Command::new("umount").arg(point_of(&card)).status();
    assert!(status.unwrap().success());
    assert_eq!(card.wait(), 0);
}

#[test]
fn it_ends_by_a_signal_even_in_use() {
    needs!(Root, Fuse, LoopDevice);
    let _alone = alone();
    let scratch = scratch();
    for in_use in [false, true] {
        let mut card = start("a1-32gb", &scratch);
        if !in_use {
            card.detach();
        }
        card.signal(Signal::TERM);
        assert_eq!(card.wait(), 0);
        assert!(!is_mounted(&point_of(&card)));
        if in_use {
            let mut buffer = Buffer::new(4096);
            assert!(open(card.path()).read_exact_at(buffer.get(), 0).is_err());
        }
    }
}

//! A simulated card as a file, for any tool.
//!
//! `cardmark-simfs MODEL MOUNTPOINT` mounts a filesystem with one file, `card`. Data written to it is read
//! back, and space that was never written reads as zeros; but every request takes as long as it would on a card
//! of that model (`cardmark list models`). With a loop device on top,
//!
//! ```sh
//! cardmark-simfs a1-32gb /mnt/sim &      # prints `ready` on standard output once it is there
//! losetup --find --show --direct-io=on /mnt/sim/card
//! ```
//!
//! that device is the card, for `mkfs`, `dd`, `fio` and all others. `scripts/simcard` does all this around one
//! command.
//!
//! # Accuracy
//!
//! The model is the one of [`cardmark_sim::OnlineCard`]. The loop device and FUSE lie between a caller and the
//! card; they cost some 20–150 µs a request, with variations. This transit time is measured at the start and
//! reported on standard error. It is subtracted in two ways: a request that comes so soon after an answer that
//! the transit alone explains it counts as having come at once, so that closed loops run at the card's own
//! rate; any other begins one usual transit time earlier. Short work of the caller between two requests is
//! therefore not visible: up to about 0.2 ms for 4 KiB and 1 ms for 1 MiB.
//!
//! If other programs need the processors too, the transit may take milliseconds. As far as the kernel reports
//! it, that time is subtracted as well: the time its worker and our threads waited for a processor, and the
//! delay of answers. Waiting of the caller itself is not known: give it a priority as `scripts/simcard` does,
//! which starts both in sessions of their own and puts these before others.
//!
//! Models whose fastest answers are faster than the transit are refused.
//!
//! Limits: the block layer cuts requests above 1,280 KiB, or of more than 128 pieces of memory (512 KiB at
//! worst), and FUSE those above 1 MiB. Pieces that come within 0.5 ms of one another cost one setup together.
//!
//! # Needs
//!
//! FUSE, and root for loop devices. About one processor: the answers come from a thread that does not sleep
//! shortly before one is due, and if allowed the processors are kept from sleeping (`/dev/cpu_dma_latency`),
//! because waking them takes long. Content is kept in memory if the whole card fits into half of the free
//! memory, and else in a file without a name in the folder for temporary files.

mod answers;
mod card;
mod content;
mod error;
mod files;
mod print;
mod transit;
mod waits;
mod ways;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_sim::{Model, OnlineCard};
use fuser::{Config, MountOption, Session, SessionUnmounter};
use rustix::mount::UnmountFlags;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::answers::Answers;
use crate::card::Card;
use crate::content::Content;
use crate::files::Files;
use crate::transit::Ways;
use crate::ways::Through;

pub use crate::error::SimfsError;

/// Smallest part of a card.
const SECTOR_BYTES: u64 = 512;
/// Threads that take requests: one may be busy with the content of a large one.
const RECEIVERS: usize = 2;

/// Options of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// A model's name, or a file with one.
    pub model: String,
    /// The directory to mount on.
    pub mount_point: PathBuf,
    /// Draws everything that varies.
    pub seed: u64,
    /// Bytes of the card; by default the model's capacity.
    pub size_bytes: Option<u64>,
}

/// Mounts a card and serves it until it is unmounted or a signal ends it.
///
/// # Errors
/// If the model does not exist, is too fast for this computer, or the system refuses a resource.
pub fn run(options: &Options) -> Result<(), SimfsError> {
    let model = find_model(&options.model)?;
    let size_bytes = find_size(&model, options.size_bytes)?;
    let _awake = keep_awake();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])
        .map_err(SimfsError::system("cannot wait for signals"))?;
    let card = OnlineCard::new(&model, options.seed);
    let answers = Answers::start().map_err(SimfsError::system("cannot start a thread"))?;
    let content = Content::new(&model, options.seed)
        .map_err(SimfsError::system("no room for what is on the card"))?;
    let shared = Arc::new(Card::new(size_bytes, content, Arc::clone(&answers)));

    let point = &options.mount_point;
    let mut session = mount(point, &shared).map_err(SimfsError::system("cannot mount"))?;
    let mut unmounter = session.unmount_callable();
    let ending = signals.handle();
    let serving = std::thread::spawn(move || {
        let outcome = session.run();
        ending.close();
        outcome
    });

    let begun = begin(&model, card, &shared, point);
    if begun.is_ok() {
        answers.take_lateness();
        print::result("ready");
        if signals.forever().next().is_none() {
            // Unmounted by somebody else.
            tell_lateness(&answers);
            return join(serving);
        }
    }
    unmount(&mut unmounter, point);
    tell_lateness(&answers);
    begun
}

fn find_model(name: &str) -> Result<Model, SimfsError> {
    if !name.ends_with(".toml") {
        return Ok(Model::named(name)?);
    }
    let text = std::fs::read_to_string(name).map_err(|source| SimfsError::ModelFile {
        path: name.to_owned(),
        source,
    })?;
    Ok(Model::parse(&text)?)
}

fn find_size(model: &Model, asked_bytes: Option<u64>) -> Result<u64, SimfsError> {
    let capacity_bytes = model.capacity_bytes();
    let size_bytes = asked_bytes.unwrap_or(capacity_bytes / SECTOR_BYTES * SECTOR_BYTES);
    let is_possible = (1..=capacity_bytes).contains(&size_bytes);
    if is_possible && size_bytes.is_multiple_of(SECTOR_BYTES) {
        return Ok(size_bytes);
    }
    Err(SimfsError::Size {
        model: model.name().to_owned(),
        size_bytes,
        capacity_bytes,
    })
}

/// As far as we may: no processor sleeps while the file lives, and none prefers others to us.
fn keep_awake() -> Option<File> {
    let _ = rustix::process::nice(-20);
    // That holds within a session; between sessions this does, where ours is our own.
    let status = std::fs::read_to_string("/proc/self/stat");
    if status.is_ok_and(|status| leads_session(&status)) {
        let _ = std::fs::write("/proc/self/autogroup", "-20");
    }
    let mut file = OpenOptions::new()
        .write(true)
        .open("/dev/cpu_dma_latency")
        .ok()?;
    file.write_all(&0i32.to_ne_bytes()).ok()?;
    Some(file)
}

/// Returns whether a process leads its session, from its line in `/proc/PID/stat`. `getsid` is not used: it
/// returns 0 in a container whose session began outside, and `rustix` panics on that.
fn leads_session(status: &str) -> bool {
    let process = status.split(' ').next();
    // The name may hold spaces and brackets; state, parent, group and session follow it.
    let session = status
        .rsplit_once(") ")
        .and_then(|(_, rest)| rest.split(' ').nth(3));
    session.is_some() && session == process
}

fn mount(point: &Path, card: &Arc<Card>) -> io::Result<Session<Files>> {
    let mut config = Config::default();
    config.mount_options = vec![
        MountOption::FSName("cardmark-simfs".into()),
        MountOption::NoAtime,
    ];
    config.n_threads = Some(RECEIVERS);
    Session::new(Files::new(Arc::clone(card)), point, &config)
}

/// Measures the way and lets the card's time begin.
fn begin(model: &Model, card: OnlineCard, shared: &Card, point: &Path) -> Result<(), SimfsError> {
    let (ways, through) = ways::measure(shared, &point.join(files::NAME))
        .map_err(SimfsError::system("the way to the card cannot be measured"))?;
    print::notice(&told(&ways, through));
    let (fastest_ns, way_ns) = (
        card.fastest_ns(),
        ways.read.small_ns.max(ways.write.small_ns),
    );
    if fastest_ns <= way_ns {
        return Err(SimfsError::TooFast {
            model: model.name().to_owned(),
            fastest_ns,
            way_ns,
        });
    }
    shared.serve(card, ways);
    Ok(())
}

fn told(ways: &Ways, through: Through) -> String {
    let through = match through {
        Through::Loop => "through a loop device and FUSE",
        Through::FileAlone => "through FUSE, no loop device to be had",
    };
    let [small_read, large_read, small_write, large_write, flush] = [
        ways.read.small_ns,
        ways.read.large_ns,
        ways.write.small_ns,
        ways.write.large_ns,
        ways.flush_ns,
    ]
    .map(|ns| ns / 1_000);
    format!(
        "way {through}: reads {small_read} µs for 4 KiB, {large_read} µs for 1 MiB; writes \
         {small_write} µs, {large_write} µs; flushes {flush} µs"
    )
}

fn tell_lateness(answers: &Answers) {
    let lateness = answers.take_lateness();
    if lateness.count() > 0 {
        print::notice(&format!(
            "{} answers; half of them less than {:.1} µs late, 99 % less than {:.1} µs, the worst \
             {:.1} µs",
            lateness.count(),
            lateness.bound_ns(500) as f64 / 1e3,
            lateness.bound_ns(990) as f64 / 1e3,
            lateness.most_ns() as f64 / 1e3,
        ));
    }
}

/// Also if it is in use: the end of this process then ends all waiting requests with an error.
fn unmount(unmounter: &mut SessionUnmounter, point: &Path) {
    if let Err(error) = unmounter.unmount() {
        print::notice(&format!(
            "warning: the card is pulled while in use: {error}"
        ));
        let _ = rustix::mount::unmount(point, UnmountFlags::DETACH);
    }
}

fn join(serving: std::thread::JoinHandle<io::Result<()>>) -> Result<(), SimfsError> {
    let outcome = serving
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("a thread panicked")));
    outcome.map_err(SimfsError::system("FUSE failed"))
}

#[cfg(test)]
mod tests {
    use super::leads_session;

    #[test]
    fn who_leads_a_session_is_read_right() {
        assert!(leads_session("7 (simfs) S 1 7 7 0 -1"));
        assert!(leads_session("7 (a ) S 1 7 9 b) S 1 7 7 0 -1"));
        assert!(!leads_session("8 (simfs) S 7 7 7 0 -1"));
        assert!(!leads_session("8 (simfs) S 1 1 0 0 -1"));
        assert!(!leads_session(""));
        assert!(!leads_session("8 (simfs)"));
    }
}

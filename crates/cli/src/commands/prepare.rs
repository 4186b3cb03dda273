//! `cardmark prepare`.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_core::{DeviceInfo, Fill, Preparation};
use cardmark_device::{FillContent, FillError, FillPosition, Filled, Filler};
use cardmark_engine::Pulse;
use cardmark_host::{Resolution, Root, device_info};
use cardmark_report::{fill_words, text};
use serde_json::json;

use crate::args::PrepareArguments;
use crate::data::Data;
use crate::error::{CommandError, Exit};
use crate::fill_progress::FillProgress;
use crate::gate::{Consent, permit_writing};
use crate::guard;
use crate::history::CardHistory;
use crate::measure::{limit_ns, now_text};
use crate::print;
use crate::target::{Chosen, choose};
use crate::watch::{Rescue, Watch};

/// What is durable is noted at most so often: each time takes the store's own medium a moment.
const NOTE_PAUSE: Duration = Duration::from_secs(1);

/// Brings a device into a known state, and keeps in the card's history that it was.
pub(crate) fn prepare(arguments: &PrepareArguments) -> Result<Exit, CommandError> {
    let device = Device::named(&arguments.device)?;
    let data = Data::from_environment()?;
    let fill = Fill::from(arguments.fill);
    let mut history = CardHistory::of(&data, &device.info.name)?;
    // What was discarded cannot be looked at, and it takes seconds to do it again.
    let may_go_on = !arguments.restart && fill != Fill::Discard;
    let begun = match &mut history {
        Some(history) if may_go_on => history.take_up(fill)?,
        Some(_) => None,
        None => {
            print::notice(
                "warning: the device says neither a CID nor a serial number: its preparation can \
                 be neither continued nor told with later runs",
            );
            None
        }
    };
    let done_bytes = begun.as_ref().map_or(0, |begun| begun.done_bytes);
    let (what, writes) = match fill {
        Fill::Ff => ("fill all of a raw device with 0xFF", true),
        Fill::Zero => ("fill all of a raw device with zeros", true),
        Fill::Random => ("fill all of a raw device with random content", true),
        Fill::Discard => ("tell a raw device to forget all that is on it", false),
    };
    let size_bytes = device.info.size_bytes.filter(|_| writes);
    let bytes_to_write = size_bytes.map(|size| size.saturating_sub(done_bytes));
    let consent = Consent {
        yes: arguments.yes,
        device_serial: arguments.device_serial.clone(),
    };
    let target = permit_writing(
        &device.path,
        &device.resolution,
        &consent,
        bytes_to_write,
        what,
    )?;
    if target.size_bytes == 0 {
        let what = format!("`{}` has no medium", device.path.display());
        return Err(CommandError::new(Exit::Trouble, what).because("its size is 0"));
    }
    let begun = begun.filter(|begun| begun.size_bytes == target.size_bytes);
    let filler = Filler::new(target)
        .ok_or_else(|| CommandError::new(Exit::Trouble, "there is no memory for the content"))?;
    let session = Session {
        preparation: new_preparation(fill, filler.size_bytes()),
        filler,
        history,
        history_error: None,
        noted: Instant::now(),
        from_bytes: 0,
        span: Duration::ZERO,
    };
    let ended = session.watched(begun, limit_ns(arguments.timeout))?;
    ended.tell(&device.info, arguments.json)
}

/// The device that is to be prepared.
struct Device {
    path: PathBuf,
    resolution: Box<Resolution>,
    info: DeviceInfo,
}

impl Device {
    /// Makes sense of the device's name: it must be a whole device, for all cells are meant.
    fn named(name: &str) -> Result<Self, CommandError> {
        let refuse = |what: String| CommandError::new(Exit::Usage, what);
        let Chosen::Real { path, resolution } = choose(name)? else {
            let what = format!("`{name}` is a simulated card, which is new in every run");
            return Err(refuse(what).hint("name a block device, such as /dev/mmcblk0"));
        };
        if path.is_dir() {
            return Err(refuse(format!("`{name}` is a directory"))
                .because("a device as a whole is prepared; everything on it is lost")
                .hint("name the block device, such as /dev/mmcblk0"));
        }
        let layer = resolution.layers.first();
        let kind = layer.map(|layer| layer.kind.as_str()).unwrap_or_default();
        let kernel_name = layer.and_then(|layer| layer.device.clone());
        match (kind, kernel_name) {
            ("disk" | "loop", Some(kernel_name)) => Ok(Self {
                info: device_info(&Root::system(), &kernel_name),
                path,
                resolution,
            }),
            ("partition", _) => Err(refuse(format!("`{name}` is a partition"))
                .because("its cells are not its own: the device moves data among all of them")
                .hint("name the device as a whole, such as /dev/mmcblk0")),
            _ => Err(refuse(format!("`{name}` is made from other devices"))
                .hint("name one of the devices below, such as /dev/mmcblk0")),
        }
    }
}

fn new_preparation(fill: Fill, size_bytes: u64) -> Preparation {
    let seed = uuid::Uuid::new_v4().as_u64_pair().1;
    Preparation {
        fill,
        seed: (fill == Fill::Random).then(|| format!("{seed:016x}")),
        started_at: now_text(),
        finished_at: None,
        size_bytes,
        done_bytes: 0,
    }
}

fn content(preparation: &Preparation) -> Option<FillContent> {
    Some(FillContent {
        fill: preparation.fill,
        seed: preparation.seed_number()?,
    })
}

/// One session of a preparation, which may have several.
struct Session {
    filler: Filler,
    preparation: Preparation,
    history: Option<CardHistory>,
    /// Why the history could not be kept.
    history_error: Option<CommandError>,
    noted: Instant,
    /// Where this session began.
    from_bytes: u64,
    span: Duration,
}

/// A session that ended, one way or the other.
struct Ended {
    preparation: Preparation,
    can_go_on: bool,
    history_error: Option<CommandError>,
    from_bytes: u64,
    span: Duration,
    error: Option<FillError>,
    signal: Option<Exit>,
}

impl Session {
    /// Works under the eyes of a watch.
    fn watched(mut self, begun: Option<Preparation>, limit_ns: u64) -> Result<Ended, CommandError> {
        let pulse = Arc::new(Pulse::new());
        let rescue = PrepareRescue {
            can_go_on: self.history.is_some() && self.preparation.fill != Fill::Discard,
        };
        let limit = Duration::from_nanos(limit_ns);
        let watch = Watch::start(Arc::clone(&pulse), limit, rescue).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot watch over the device")
                .because(error.to_string())
        })?;
        let worked = guard(AssertUnwindSafe(|| self.work(begun, &pulse)));
        let signal = watch.end();
        let filled = worked.map_err(|exit| {
            CommandError::new(exit, "cardmark failed: this is a bug in the program")
        })??;
        self.close(&filled);
        Ok(Ended {
            can_go_on: self.history.is_some() && self.preparation.fill != Fill::Discard,
            preparation: self.preparation,
            history_error: self.history_error,
            from_bytes: self.from_bytes,
            span: self.span,
            error: filled.error,
            signal,
        })
    }

    fn work(&mut self, begun: Option<Preparation>, pulse: &Pulse) -> Result<Filled, CommandError> {
        match begun {
            None => self.begin()?,
            Some(begun) => {
                if let Err(error) = self.go_on(begun, pulse)? {
                    return Ok(Filled {
                        durable_bytes: self.preparation.done_bytes,
                        error: Some(error),
                    });
                }
            }
        }
        let Some(content) = content(&self.preparation) else {
            return Err(CommandError::new(Exit::Bug, "the seed cannot be read"));
        };
        self.from_bytes = self.preparation.done_bytes;
        let mut progress = FillProgress::for_stderr(self.from_bytes, self.filler.size_bytes());
        let started = Instant::now();
        let Self {
            filler,
            preparation,
            history,
            history_error,
            noted,
            ..
        } = self;
        let mut tell = |position: FillPosition| {
            progress.show(position.written_bytes);
            let is_more = position.durable_bytes > preparation.done_bytes;
            if is_more && noted.elapsed() >= NOTE_PAUSE {
                preparation.done_bytes = position.durable_bytes;
                note(history, history_error, preparation);
                *noted = Instant::now();
            }
        };
        let filled = filler.fill_from(content, self.from_bytes, pulse, &mut tell);
        progress.end();
        self.span = started.elapsed();
        Ok(filled)
    }

    /// A new preparation, which must be noted before anything is written.
    fn begin(&mut self) -> Result<(), CommandError> {
        match &mut self.history {
            Some(history) => history
                .begin(&self.preparation)
                .map_err(|error| error.hint("nothing was written to the device")),
            None => Ok(()),
        }
    }

    /// Goes on with a preparation where the device still has what was written.
    fn go_on(
        &mut self,
        begun: Preparation,
        pulse: &Pulse,
    ) -> Result<Result<(), FillError>, CommandError> {
        let difference = match content(&begun) {
            Some(content) => self
                .filler
                .first_difference(content, begun.done_bytes, pulse),
            None => Ok(Some(0)),
        };
        let (written, size) = (
            text::amount(begun.done_bytes),
            text::amount(begun.size_bytes),
        );
        let day = begun.started_at.split('T').next().unwrap_or_default();
        match difference {
            Ok(None) => {
                print::notice(&format!(
                    "continues at {} %: {written} of {size} were written on {day}",
                    begun.done_percent()
                ));
                self.preparation = begun;
            }
            Ok(Some(at)) => {
                print::notice(&format!(
                    "begins anew: {written} of {size} were written on {day}, but at byte {at} the \
                     device holds something else now"
                ));
                self.begin()?;
            }
            Err(error) => {
                self.preparation = begun;
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }

    /// Notes how it ended.
    fn close(&mut self, filled: &Filled) {
        let preparation = &mut self.preparation;
        preparation.done_bytes = filled.durable_bytes;
        if filled.durable_bytes == preparation.size_bytes {
            preparation.finished_at = Some(now_text());
        }
        if matches!(filled.error, Some(FillError::NoDiscard)) && filled.durable_bytes == 0 {
            if let Some(Err(error)) = self.history.as_mut().map(CardHistory::take_back) {
                self.history_error.get_or_insert(error);
            }
            return;
        }
        note(&mut self.history, &mut self.history_error, preparation);
    }
}

/// Notes how far it is; a history that failed once is left alone.
fn note(
    history: &mut Option<CardHistory>,
    history_error: &mut Option<CommandError>,
    preparation: &Preparation,
) {
    if history_error.is_none()
        && let Some(Err(error)) = history.as_mut().map(|history| history.note(preparation))
    {
        print::notice("warning: the card's history cannot be kept; the preparation goes on");
        *history_error = Some(error);
    }
}

impl Ended {
    /// Tells how it ended.
    fn tell(self, info: &DeviceInfo, as_json: bool) -> Result<Exit, CommandError> {
        let is_finished = self.preparation.finished_at.is_some();
        if as_json {
            print::result(&self.json(info)?)?;
        } else if is_finished {
            print::result(&self.line())?;
        }
        let mut exit = Exit::Done;
        let failed = (!is_finished).then(|| self.failure());
        let history = self
            .history_error
            .map(|error| error.hint("the device is as told; its history is not up to date"));
        for error in failed.into_iter().chain(history) {
            print::error(&error);
            exit = exit.or_worse(error.exit);
        }
        Ok(exit)
    }

    fn written_bytes(&self) -> u64 {
        self.preparation.done_bytes.saturating_sub(self.from_bytes)
    }

    /// Bytes per second, where anything was written.
    fn rate(&self) -> Option<f64> {
        let is_written = self.preparation.fill != Fill::Discard && self.written_bytes() > 0;
        is_written.then(|| self.written_bytes() as f64 / self.span.as_secs_f64().max(1e-9))
    }

    /// `filled with 0xFF: 64 GB in 52 min 30 s, 20.3 MB/s`
    fn line(&self) -> String {
        let mut line = format!(
            "{}: {}",
            fill_words(self.preparation.fill),
            text::amount(self.preparation.size_bytes)
        );
        if self.from_bytes > 0 {
            line += &format!(", {} of it now", text::amount(self.written_bytes()));
        }
        line += &format!(" in {}", text::span(span_ns(self.span)));
        if let Some(rate) = self.rate() {
            line += &format!(", {}", text::rate(rate));
        }
        line + "\n"
    }

    fn json(&self, info: &DeviceInfo) -> Result<String, CommandError> {
        let row = json!({
            "device": info.name,
            "sample_id": info.sample_id,
            "preparation": self.preparation,
            "from_bytes": self.from_bytes,
            "written_bytes": self.written_bytes(),
            "span_ns": span_ns(self.span),
            "rate_bytes_per_s": self.rate(),
        });
        serde_json::to_string_pretty(&row)
            .map(|text| text + "\n")
            .map_err(|error| {
                CommandError::new(Exit::Bug, "the result cannot be written")
                    .because(error.to_string())
            })
    }

    /// Why it is not finished, and how to go on.
    fn failure(&self) -> CommandError {
        let preparation = &self.preparation;
        let done = format!(
            "{} % ({} of {}) of the device",
            preparation.done_percent(),
            text::amount(preparation.done_bytes),
            text::amount(preparation.size_bytes)
        );
        let signal = self.signal.unwrap_or(Exit::Done);
        let made = match &self.error {
            None => CommandError::new(signal, "the preparation was stopped"),
            Some(error) => {
                let exit = Exit::Trouble.or_worse(signal);
                let mut made = CommandError::from_error(exit, error);
                made.causes.insert(0, made.what);
                made.what = "the preparation failed".to_owned();
                made
            }
        };
        if matches!(self.error, Some(FillError::NoDiscard)) {
            return made
                .because("many readers pass no discard on")
                .hint("`--fill ff` writes what erased flash reads as");
        }
        let made = made.because(format!("{done} is {}", fill_words(preparation.fill)));
        if self.can_go_on {
            made.hint("the same command goes on there")
        } else {
            made.hint("the same command begins anew")
        }
    }
}

fn span_ns(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// What is done when the device does not answer: everything that is durable was noted already.
struct PrepareRescue {
    can_go_on: bool,
}

impl Rescue for PrepareRescue {
    const STOPPING: &'static str = "stopping at the next block; what was written is kept";

    fn save(&self, _waited: Duration) {
        print::notice(if self.can_go_on {
            "hint: what was durable is noted; when the device answers again, the same command goes on \
             there"
        } else {
            "hint: when the device answers again, the same command begins anew"
        });
    }
}

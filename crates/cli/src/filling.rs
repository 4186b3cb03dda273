//! A filling under way: watch, progress, and what the card's history is told of it.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cardmark_core::{Fill, Preparation};
use cardmark_device::{FillContent, FillError, FillPosition, Filled, Filler};
use cardmark_engine::Pulse;
use cardmark_report::text;

use crate::error::{CommandError, Exit};
use crate::fill_progress::FillProgress;
use crate::history::CardHistory;
use crate::measure::now_text;
use crate::print;
use crate::watch::{Rescue, Watch};

/// What is durable is noted at most so often: each time takes the store's own medium a moment.
const NOTE_PAUSE: Duration = Duration::from_secs(1);

/// One session of a preparation, which may have several.
pub(crate) struct Session {
    /// Never dropped: closing a device may hang on a dying card. The end of the process does it,
    /// when everything is told.
    filler: ManuallyDrop<Filler>,
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
pub(crate) struct Ended {
    /// The preparation as far as it came, in all sessions.
    pub(crate) preparation: Preparation,
    /// Whether it can be continued where it ended.
    pub(crate) can_go_on: bool,
    /// Why the card's history could not be kept.
    pub(crate) history_error: Option<CommandError>,
    /// Where this session began.
    pub(crate) from_bytes: u64,
    /// How long it wrote.
    pub(crate) span: Duration,
    /// Why it failed.
    pub(crate) error: Option<FillError>,
    /// The signal that ended it.
    pub(crate) signal: Option<Exit>,
}

impl Session {
    /// A session that fills this device, its card having this history.
    pub(crate) fn new(filler: Filler, fill: Fill, history: Option<CardHistory>) -> Self {
        Self {
            preparation: new_preparation(fill, filler.size_bytes()),
            filler: ManuallyDrop::new(filler),
            history,
            history_error: None,
            noted: Instant::now(),
            from_bytes: 0,
            span: Duration::ZERO,
        }
    }

    /// Works under the eyes of a watch; goes on with what was begun before, where that can be.
    pub(crate) fn execute(
        mut self,
        begun: Option<Preparation>,
        limit_ns: u64,
    ) -> Result<Ended, CommandError> {
        let pulse = Arc::new(Pulse::new());
        let can_go_on = self.history.is_some() && self.preparation.fill != Fill::Discard;
        let rescue = PrepareRescue { can_go_on };
        let limit = Duration::from_nanos(limit_ns);
        let watch = Watch::start(Arc::clone(&pulse), limit, rescue).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot watch over the device")
                .because(error.to_string())
        })?;
        let worked = self.work(begun, &pulse);
        let signal = watch.end();
        let filled = worked?;
        self.close(&filled);
        Ok(Ended {
            can_go_on,
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

//! A preparation of a device: begun or continued, driven, and noted in the card's history.

pub(crate) mod filling;

use std::mem::ManuallyDrop;
use std::time::Duration;

use cardmark_core::{Fill, Preparation};
use cardmark_device::{FillError, Filler};
use cardmark_report::{fill_words, text};
use cardmark_store::{JobKind, Journal, PreparationId};

use crate::data::unfinished::{Unfinished, finish, unusable};
use crate::drive::job::Interruption;
use crate::drive::session::Session;
use crate::drive::turn::Claim;
use crate::drive::watch::Rescue;
use crate::error::{CommandError, Exit};
use crate::gate::consent::{Consent, Intent, permit_writing};
use crate::gate::whole_device::WholeDevice;
use crate::jobs::prepare::filling::{Filling, FillingEnd};
use crate::target::describe::now_text;
use crate::target::history::{CardHistory, Prepared};
use crate::voice::Voice;

/// Brings a device into a known state, and notes that in the card's history. Continues an interrupted preparation,
/// unless `restart`. `target` is the device as the user named it.
///
/// # Errors
/// If the device may not be written, or the preparation cannot begin.
pub fn prepare(
    session: &Session<'_>,
    target: &str,
    device: &WholeDevice,
    (fill, restart): (Fill, bool),
    consent: &Consent,
) -> Result<PreparationEnd, CommandError> {
    let mut history = CardHistory::of(session.data, &device.info.name)?;
    // Discarded blocks cannot be checked, and repeating it takes seconds.
    let may_go_on = !restart && fill != Fill::Discard;
    let begun = match &mut history {
        Some(history) if may_go_on => history.unfinished(session.data, fill)?,
        Some(_) => None,
        None => {
            session.voice.notice(
                "warning: the device reports neither a CID nor a serial number: its preparation can \
                 be neither continued nor told with later runs",
            );
            None
        }
    };
    let done = |begun: &Unfinished<Prepared>| begun.state.preparation.done_bytes;
    let done_bytes = begun.as_ref().map_or(0, done);
    let (what, writes) = match fill {
        Fill::Ff => ("fill all of a raw device with 0xFF", true),
        Fill::Zero => ("fill all of a raw device with zeros", true),
        Fill::Random => ("fill all of a raw device with random content", true),
        Fill::Other(_) => ("fill all of a raw device", true),
        Fill::Discard => ("discard all content of a raw device", false),
    };
    let size_bytes = device.info.size_bytes.filter(|_| writes);
    let intent = Intent {
        what,
        bytes_to_write: size_bytes.map(|size| size.saturating_sub(done_bytes)),
        puts_back: false,
    };
    let (path, resolution) = (&device.path, &device.resolution);
    let opened = permit_writing(session.voice, path, resolution, consent, &intent)?;
    if opened.size_bytes == 0 {
        let what = format!("`{}` has no medium", path.display());
        return Err(CommandError::new(Exit::Trouble, what).because("its size is 0"));
    }
    let is_usable =
        |begun: &Preparation| begun.done_bytes > 0 && begun.size_bytes == opened.size_bytes;
    let begun = begun.filter(|begun| is_usable(&begun.state.preparation));
    let filler = Filler::new(opened)
        .ok_or_else(|| CommandError::new(Exit::Trouble, "there is no memory for the content"))?;
    let work = Work {
        session,
        target,
        fill,
        claim: Claim::untimed("prepare", target, resolution),
        history,
    };
    work.execute(filler, begun)
}

/// A preparation of one device.
struct Work<'a> {
    session: &'a Session<'a>,
    target: &'a str,
    fill: Fill,
    claim: Claim,
    /// None if the card cannot be recognised.
    history: Option<CardHistory>,
}

/// A preparation that ended, one way or the other.
pub struct PreparationEnd {
    /// The preparation as far as it got, in all processes.
    pub preparation: Preparation,
    /// True if the same command continues it.
    pub can_go_on: bool,
    /// Error of the card's history.
    pub history_error: Option<CommandError>,
    /// Position at which this process began, bytes.
    pub from_bytes: u64,
    /// Time that this process spent on writing.
    pub span: Duration,
    /// Error of the device.
    pub error: Option<FillError>,
    /// The signal that ended it.
    pub signal: Option<Exit>,
    /// The device, open: closing it may hang on a dying card, and the end of the process does it.
    pub device: ManuallyDrop<Filler>,
}

impl PreparationEnd {
    /// Number of bytes that this process wrote and made durable.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        match self.preparation.fill {
            Fill::Discard => 0,
            _ => self.preparation.done_bytes.saturating_sub(self.from_bytes),
        }
    }

    /// Reason for an early end, with advice; `None` if the device is prepared.
    #[must_use]
    pub fn failure(&self) -> Option<CommandError> {
        let preparation = &self.preparation;
        preparation.finished_at.is_none().then(|| self.early_end())
    }

    fn early_end(&self) -> CommandError {
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
        let made = made.because(format!("{done} is {}", fill_words(&preparation.fill)));
        if self.can_go_on {
            made.hint("the same command goes on there")
        } else {
            made.hint("the same command begins again")
        }
    }
}

impl Work<'_> {
    /// Fills the device. Continues `begun` if the device still holds what was written.
    fn execute(
        mut self,
        filler: Filler,
        begun: Option<Unfinished<Prepared>>,
    ) -> Result<PreparationEnd, CommandError> {
        let mut filler = ManuallyDrop::new(filler);
        let can_go_on = self.history.is_some() && self.fill != Fill::Discard;
        let rescue = PrepareRescue { can_go_on };
        let session = self.session;
        let (worked, signal) =
            session.watched(rescue, || self.work(session, &mut filler, begun))?;
        let (job, journal, error) = worked?;
        let mut preparation = job.prepared().preparation.clone();
        let is_whole = preparation.done_bytes == preparation.size_bytes;
        preparation.finished_at = is_whole.then(now_text);
        let id = job.prepared().id;
        let history_error = self.close(id, &preparation, journal, error.as_ref());
        let error = match error {
            Some(FillingEnd::Failed(error)) => Some(error),
            _ => None,
        };
        Ok(PreparationEnd {
            can_go_on,
            history_error,
            from_bytes: job.from_bytes(),
            span: job.span(),
            preparation,
            error,
            signal,
            device: filler,
        })
    }

    fn work(
        &mut self,
        session: &Session<'_>,
        filler: &mut Filler,
        begun: Option<Unfinished<Prepared>>,
    ) -> Result<(Filling, Option<Journal>, Option<FillingEnd>), CommandError> {
        let (mut job, mut journal) = match begun {
            None => self.begin(session, filler.size_bytes())?,
            Some(begun) => {
                let job = filling(begun.state, session)?;
                match other_content(filler, &job, session) {
                    Err(error) => {
                        let end = FillingEnd::Failed(error);
                        return Ok((job, Some(begun.journal), Some(end)));
                    }
                    Ok(None) => {
                        self.tell_going_on(&job.prepared().preparation);
                        (job, Some(begun.journal))
                    }
                    Ok(Some(why)) => {
                        self.tell_anew(&job.prepared().preparation, &why);
                        drop(begun.journal);
                        self.begin(session, filler.size_bytes())?
                    }
                }
            }
        };
        let ended = session
            .drive(&self.claim, &mut job, filler, journal.as_mut())
            .err();
        Ok((job, journal, ended))
    }

    /// A new preparation, which must be noted before anything is written.
    fn begin(
        &mut self,
        session: &Session<'_>,
        size_bytes: u64,
    ) -> Result<(Filling, Option<Journal>), CommandError> {
        let untouched = |error: CommandError| error.hint("nothing was written to the device");
        let preparation = new_preparation(self.fill, size_bytes);
        let has_no_seed = matches!(self.fill, Fill::Ff | Fill::Zero);
        let mark = has_no_seed.then(new_seed);
        let Some(history) = &mut self.history else {
            let state = Prepared {
                id: None,
                preparation,
                mark: None,
            };
            return Ok((filling(state, session)?, None));
        };
        let id = history.begin(&preparation).map_err(untouched)?;
        let name = history.journal_name();
        let begun = session
            .data
            .begin(&name, JobKind::Prepare, self.target, None);
        let journal = begun.map_err(|error| untouched(unusable(&error)))?;
        let state = Prepared {
            id: Some(id),
            preparation,
            mark,
        };
        Ok((filling(state, session)?, Some(journal)))
    }

    /// Notes the end in the card's history; the journal goes if nothing is left to continue.
    fn close(
        &mut self,
        id: Option<PreparationId>,
        preparation: &Preparation,
        journal: Option<Journal>,
        error: Option<&FillingEnd>,
    ) -> Option<CommandError> {
        if let Some(FillingEnd::Interrupted(Interruption::NotKept(error))) = error {
            return Some(unusable(error));
        }
        let (history, id) = self.history.as_mut().zip(id)?;
        let is_refused = matches!(error, Some(FillingEnd::Failed(FillError::NoDiscard)));
        let is_untouched = is_refused && preparation.done_bytes == 0;
        let noted = match is_untouched {
            true => history.take_back(id),
            false => history.note(id, preparation),
        };
        let is_whole = preparation.finished_at.is_some();
        let is_over = is_whole || is_untouched || self.fill == Fill::Discard;
        let finished = noted.and_then(|()| match is_over {
            true => finish(journal),
            false => Ok(()),
        });
        finished.err()
    }

    fn tell_going_on(&self, begun: &Preparation) {
        self.session.voice.notice(&format!(
            "continues at {} %: {}",
            begun.done_percent(),
            written(begun)
        ));
    }

    fn tell_anew(&self, begun: &Preparation, why: &str) {
        let written = written(begun);
        let voice = self.session.voice;
        voice.notice(&format!("begins again: {written}, but {why}"));
    }
}

/// Returns why this is not the device of that filling, or was written since; `None` if it is.
fn other_content(
    filler: &mut Filler,
    job: &Filling,
    session: &Session<'_>,
) -> Result<Option<String>, FillError> {
    let prepared = job.prepared();
    let done_bytes = prepared.preparation.done_bytes;
    let pulse = &session.pulse;
    let difference = filler.first_difference(job.content(), done_bytes, pulse)?;
    if let Some(at_bytes) = difference {
        let why = format!("at byte {at_bytes} the device holds something else now");
        return Ok(Some(why));
    }
    let is_known = match (prepared.preparation.fill, prepared.mark) {
        (Fill::Random, _) => true,
        (fill, Some(id)) => filler.is_marked((id, fill), done_bytes, pulse)?,
        (_, None) => false,
    };
    let why = "nothing on the device shows that it is the one that was being filled";
    Ok((!is_known).then(|| why.to_owned()))
}

/// `20 GB of 64 GB were written on 2026-11-22`
fn written(begun: &Preparation) -> String {
    let day = begun.started_at.split('T').next().unwrap_or_default();
    format!(
        "{} of {} were written on {day}",
        text::amount(begun.done_bytes),
        text::amount(begun.size_bytes)
    )
}

fn filling(state: Prepared, session: &Session<'_>) -> Result<Filling, CommandError> {
    Filling::new(state, &session.pulse)
        .ok_or_else(|| CommandError::new(Exit::Bug, "the seed cannot be read"))
}

fn new_seed() -> u64 {
    uuid::Uuid::new_v4().as_u64_pair().1 & cardmark_core::MOST_INTEGER
}

fn new_preparation(fill: Fill, size_bytes: u64) -> Preparation {
    let seed = new_seed();
    Preparation {
        fill,
        seed: (fill == Fill::Random).then(|| format!("{seed:016x}")),
        started_at: now_text(),
        finished_at: None,
        size_bytes,
        done_bytes: 0,
    }
}

/// Advice for a device that does not answer: everything durable is in the journal.
struct PrepareRescue {
    can_go_on: bool,
}

impl Rescue for PrepareRescue {
    const STOPPING: &'static str = "stopping at the next block; what was written is kept";

    fn save(&self, voice: &dyn Voice, _waited: Duration) {
        voice.notice(if self.can_go_on {
            "hint: what was durable is noted; when the device answers again, the same command goes on \
             there"
        } else {
            "hint: when the device answers again, the same command begins again"
        });
    }
}

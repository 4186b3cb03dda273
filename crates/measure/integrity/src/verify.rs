//! Every block is written and read.

mod last;
mod loaded;
mod renewal;

use serde::{Deserialize, Serialize};

use crate::answering::still_answers;
use crate::verdict::{LEAST_TAIL_BLOCKS, of_ignored, of_once_whole, of_part};
use crate::{
    Answer, Content, Extent, Held, Medium, Part, Span, StorageVerdict, Surface, Trouble, judge,
};
pub use loaded::Load;

/// Blocks that are written or read in one step: 64 MiB, so that the moment between two steps counts
/// for nothing.
const STEP_BLOCKS: u64 = 64 << 11;
/// Number of blocks after which they are made durable: 512 MiB, the maximum lost on a power failure.
const DURABLE_BLOCKS: u64 = 512 << 11;
/// Number of consecutive refused or unreadable blocks after which the rest is assumed to be the same: 256 MiB.
/// Each try may take seconds. Before that, a few places of the rest are tried.
const GIVE_UP_BLOCKS: u64 = 256 << 11;
/// Number of places that represent all untried blocks.
const PLACES_COUNT: u64 = 8;
/// Speeds that are kept of a pass at most; then two neighbours become one.
const MOST_SPEEDS: usize = 1024;

/// Current activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// Every block is written, by rising address.
    Write,
    /// The storage is left alone.
    Wait,
    /// Every block is read.
    Read,
    /// Lost blocks are written a second time, so that a cache that holds the last ones evicts them.
    Displace,
    /// Data that may have come from such a cache is read again.
    Doubt,
    /// A half of the blocks is discarded.
    Discard,
    /// The discarded blocks are written again.
    Rewrite,
    /// Every block is read again.
    Check,
    /// Blocks that were good are written with new content: does the storage still take it?
    Renew,
    /// All is known.
    Done,
}

/// Speed at which a stretch was written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speed {
    /// The stretch.
    pub span: Span,
    /// Time taken, nanoseconds.
    pub span_ns: u64,
}

/// A place that was written last, and its state when it was read afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LastWritten {
    span: Span,
    round: u32,
    /// False on storage that loses what is written there.
    is_held: bool,
}

/// A test of every block, which can be put aside after any step and taken up again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    content: Content,
    blocks_count: u64,
    /// First block of the part of the storage that is tested; none if all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    part_start: Option<u64>,
    pass: Pass,
    /// Position at which the pass continues.
    position: u64,
    /// End of the part of the pass that is durable.
    durable: u64,
    /// Blocks in a row, up to the position, that the storage did not take or give.
    failing_blocks: u64,
    refused: Surface,
    surface: Surface,
    /// Span that may have come from a cache.
    doubtful: Option<Span>,
    written: Vec<Speed>,
    read: Vec<Speed>,
    written_blocks: u64,
    /// True if nothing is ever written.
    #[serde(default)]
    is_reading_only: bool,
    /// Load under which it writes and reads, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    load: Option<Load>,
    /// Blocks discarded so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    discarded_blocks: u64,
    /// The place that was written last, once it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<LastWritten>,
    /// Time without access between the last write and the first reading, nanoseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    wait_ns: u64,
    /// Part of it that has passed.
    #[serde(default, skip_serializing_if = "is_zero")]
    waited_ns: u64,
    /// True if the test was interrupted: the time between writing and reading is not known then.
    #[serde(default)]
    was_interrupted: bool,
    /// True if good blocks kept their content when other content was written.
    #[serde(default)]
    ignores_writes: bool,
}

impl Verify {
    /// Creates a test of storage with `blocks_count` blocks, from its beginning.
    pub fn new(blocks_count: u64, content: Content) -> Self {
        Self {
            content,
            blocks_count,
            part_start: None,
            pass: Pass::Write,
            position: 0,
            durable: 0,
            failing_blocks: 0,
            refused: Surface::default(),
            surface: Surface::default(),
            doubtful: None,
            written: Vec::new(),
            read: Vec::new(),
            written_blocks: 0,
            is_reading_only: false,
            load: None,
            discarded_blocks: 0,
            last: None,
            wait_ns: 0,
            waited_ns: 0,
            was_interrupted: false,
            ignores_writes: false,
        }
    }

    /// Returns the test that leaves the storage alone for this time before it reads, nanoseconds.
    #[must_use]
    pub fn waiting(self, wait_ns: u64) -> Self {
        Self { wait_ns, ..self }
    }

    /// Returns the test under that load.
    #[must_use]
    pub fn under(self, load: Option<Load>) -> Self {
        Self { load, ..self }
    }

    /// Creates a test of a part of storage, in whole grains. Places in its results count from the start of the part.
    pub fn of_part(part: Span, content: Content) -> Self {
        Self {
            part_start: Some(part.start),
            ..Self::new(part.count, content)
        }
    }

    /// Returns a test that only reads the data of this one.
    pub fn again(&self) -> Self {
        Self {
            pass: Pass::Read,
            part_start: self.part_start,
            refused: self.refused.clone(),
            last: self.last,
            is_reading_only: true,
            ..Self::new(self.blocks_count, self.content)
        }
    }

    /// Returns the current activity, and its position.
    pub fn place(&self) -> (Pass, u64) {
        (self.pass, self.position)
    }

    /// Returns whether the test is complete.
    pub fn is_done(&self) -> bool {
        self.pass == Pass::Done
    }

    /// Returns the content to write.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Returns the number of blocks under test.
    pub fn blocks_count(&self) -> u64 {
        self.blocks_count
    }

    /// Returns the first block of the tested part of the storage; `None` if all of it is tested.
    pub fn part_start(&self) -> Option<u64> {
        self.part_start
    }

    /// Reads blocks, by their place in the tested part.
    ///
    /// # Errors
    /// If the test cannot continue.
    pub fn look(&self, medium: &mut dyn Medium, span: Span) -> Result<Vec<Extent>, Trouble> {
        self.look_for(medium, span, self.content)
    }

    fn look_for(
        &self,
        mut medium: &mut dyn Medium,
        span: Span,
        content: Content,
    ) -> Result<Vec<Extent>, Trouble> {
        let answer = match self.part_start {
            Some(start) => {
                let all = Span::new(start, self.blocks_count);
                Part::new(&mut medium, all).read(span, content)
            }
            None => medium.read(span, content),
        };
        Ok(answer?.runs)
    }

    /// Returns the number of blocks written so far; blocks written twice count twice.
    pub fn written_blocks(&self) -> u64 {
        self.written_blocks
    }

    /// Returns the content of the blocks, as far as they were read.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Returns the speeds of stretches written, and read, by rising address.
    pub fn speeds(&self) -> (&[Speed], &[Speed]) {
        (&self.written, &self.read)
    }

    /// Returns the verdict, once the test is done.
    pub fn verdict(&self) -> Option<StorageVerdict> {
        let judged = || {
            if self.ignores_writes {
                return of_ignored(&self.surface);
            }
            let verdict = judge(&self.surface);
            if self.part_start.is_some() || self.is_random() {
                return of_part(verdict, &self.surface);
            }
            match self.discarded_blocks {
                0 => verdict,
                _ => of_once_whole(verdict, &self.surface),
            }
        };
        self.is_done().then(judged)
    }

    /// Prepares the test to be resumed: data that is not known to be durable is written again.
    pub fn take_up(&mut self) {
        self.was_interrupted = true;
        if matches!(self.pass, Pass::Write | Pass::Rewrite) {
            self.position = self.durable;
            self.failing_blocks = 0;
        }
    }

    /// Gives up the blocks from `blocks_count` on: nothing is claimed of them. Not for tests under load, whose order depends
    /// on the number of blocks.
    pub fn shorten(&mut self, blocks_count: u64) {
        if blocks_count >= self.blocks_count {
            return;
        }
        self.blocks_count = blocks_count;
        self.refused.truncate(blocks_count);
        self.surface.truncate(blocks_count);
        for speeds in [&mut self.written, &mut self.read] {
            speeds.retain(|speed| speed.span.end() <= blocks_count);
        }
        let doubtful = self.doubtful.filter(|span| span.start < blocks_count);
        self.doubtful =
            doubtful.map(|span| Span::between(span.start, span.end().min(blocks_count)));
        self.durable = self.durable.min(blocks_count);
        self.last = self.last.filter(|last| last.span.end() <= blocks_count);
        let is_at_end = self.position >= blocks_count;
        self.position = self.position.min(blocks_count);
        match self.pass {
            Pass::Write if is_at_end => self.begin(Pass::Wait),
            Pass::Read if is_at_end => self.end_read(),
            _ => {}
        }
    }

    /// Performs the next step.
    ///
    /// # Errors
    /// If the test cannot continue. It can be resumed then.
    pub fn advance(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        match self.part_start {
            Some(start) => {
                let blocks = Span::new(start, self.blocks_count);
                self.advance_on(&mut Part::new(medium, blocks))
            }
            None => self.advance_on(medium),
        }
    }

    fn advance_on(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        match (self.pass, self.load) {
            (Pass::Write | Pass::Rewrite, Some(load)) => return self.write_loaded(medium, load),
            (Pass::Read | Pass::Check, Some(load)) => return self.read_loaded(medium, load),
            _ => {}
        }
        match self.pass {
            Pass::Write => self.write_on(medium),
            Pass::Read => self.read_on(medium),
            Pass::Discard => self.discard_on(medium),
            Pass::Wait => self.wait_on(medium),
            Pass::Renew => self.renew(medium),
            // Only under load.
            Pass::Rewrite | Pass::Check => Ok(()),
            Pass::Displace => self.displace(medium),
            Pass::Doubt => self.doubt(medium),
            Pass::Done => Ok(()),
        }
    }

    fn next_span(&self) -> Span {
        let end = self.blocks_count.min(self.position + STEP_BLOCKS);
        Span::between(self.position, end)
    }

    fn write_on(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let span = self.next_span();
        let grain = medium.grain_blocks();
        let mut answer = self.try_on(span, grain, |span, content| medium.write(span, content))?;
        self.look_once_more(medium, span, &answer)?;
        self.position = span.end();
        let is_last = self.position == self.blocks_count;
        if is_last || self.position - self.durable >= DURABLE_BLOCKS {
            answer.span_ns += medium.flush()?;
            self.durable = self.position;
        }
        self.count_written(span, &answer);
        for run in answer.runs {
            // Of a step that was taken up again it may be known already.
            if run.span.start >= self.refused_end() {
                self.refused.push(run);
            }
        }
        if is_last {
            self.begin(Pass::Wait);
        }
        Ok(())
    }

    /// Counts what the storage took. A step with refused blocks shows no rate: they take no time, or that of errors.
    fn count_written(&mut self, span: Span, answer: &Answer) {
        let accepted = accepted(span, answer);
        self.written_blocks += accepted;
        if accepted == span.count {
            note(&mut self.written, span, answer.span_ns);
        }
    }

    fn refused_end(&self) -> u64 {
        self.refused.runs().last().map_or(0, |run| run.span.end())
    }

    fn read_on(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let span = self.next_span();
        let grain = medium.grain_blocks();
        let answer = self.try_on(span, grain, |span, content| medium.read(span, content))?;
        self.look_once_more(medium, span, &answer)?;
        self.position = span.end();
        note(&mut self.read, span, answer.span_ns);
        self.surface.extend(&answer.runs, &self.refused);
        self.end_read();
        Ok(())
    }

    /// Begins the next pass after the last block was read.
    fn end_read(&mut self) {
        if self.position < self.blocks_count {
            return;
        }
        // Of blocks in random order, those that a cache holds are anywhere.
        let can_be_doubted = !self.is_reading_only && !self.is_random();
        self.doubtful = doubtful(&self.surface).filter(|_| can_be_doubted);
        let discards = self.load.is_some_and(|load| load.discards);
        let next = match self.doubtful {
            Some(_) => Pass::Displace,
            // Damage that is known already would hide the effect of a discard.
            None if discards && self.surface.bad_blocks_count() == 0 => Pass::Discard,
            None => Pass::Done,
        };
        self.begin(next);
    }

    /// Overwrites lost blocks just below the doubtful ones, as many as these are.
    fn displace(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let Some(doubtful) = self.doubtful else {
            self.pass = Pass::Done;
            return Ok(());
        };
        // Their number does not exceed that of the lost ones below.
        let all = Span::between(doubtful.start - doubtful.count, doubtful.start);
        for span in all.parts(STEP_BLOCKS) {
            let answer = medium.write(span, self.content)?;
            self.look_once_more(medium, span, &answer)?;
            self.written_blocks += accepted(span, &answer);
        }
        medium.flush()?;
        self.pass = Pass::Doubt;
        Ok(())
    }

    fn doubt(&mut self, medium: &mut impl Medium) -> Result<(), Trouble> {
        let Some(doubtful) = self.doubtful else {
            self.pass = Pass::Done;
            return Ok(());
        };
        let mut surface = Surface::default();
        for run in self.surface.within(Span::new(0, doubtful.start)) {
            surface.push(run);
        }
        for span in doubtful.parts(STEP_BLOCKS) {
            let answer = medium.read(span, self.content)?;
            self.look_once_more(medium, span, &answer)?;
            surface.extend(&answer.runs, &self.refused);
        }
        self.surface = surface;
        self.begin(Pass::Done);
        Ok(())
    }

    fn begin(&mut self, pass: Pass) {
        self.pass = match pass {
            Pass::Wait if self.wait_ns == 0 => Pass::Read,
            Pass::Done if self.may_ignore_writes() => Pass::Renew,
            pass => pass,
        };
        self.position = 0;
        self.failing_blocks = 0;
    }

    /// Tries the operation, unless too many failed in a row: then it is assumed to fail, too.
    fn try_on(
        &mut self,
        span: Span,
        grain: u64,
        mut tried: impl FnMut(Span, Content) -> Result<Answer, Trouble>,
    ) -> Result<Answer, Trouble> {
        if let Some(held) = self.given_up() {
            return Ok(Answer {
                span_ns: 0,
                runs: vec![Extent::new(span, held)],
            });
        }
        let answer = tried(span, self.content)?;
        let mut failing_blocks = self.failing_with(span.count, &answer);
        if failing_blocks >= GIVE_UP_BLOCKS {
            let rest = Span::between(span.end(), self.blocks_count);
            for place in spread(rest, grain) {
                let answer = tried(place, self.content)?;
                if !answer.runs.iter().any(|run| run.has_failed()) {
                    failing_blocks = 0;
                    break;
                }
            }
        }
        self.failing_blocks = failing_blocks;
        Ok(answer)
    }

    /// Returns the state of the untried blocks, if too many failed in a row.
    fn given_up(&self) -> Option<Held> {
        let last = match self.pass {
            Pass::Write | Pass::Rewrite => &self.refused,
            _ => &self.surface,
        };
        let failed = last.runs().iter().rfind(|run| run.has_failed());
        let is_given_up = self.failing_blocks >= GIVE_UP_BLOCKS;
        failed.filter(|_| is_given_up).map(|run| run.held)
    }

    /// Returns the number of blocks in a row that failed, after a step of `count` blocks.
    fn failing_with(&self, count: u64, answer: &Answer) -> u64 {
        let failed = answer.runs.iter().filter(|run| run.has_failed());
        let failed_blocks: u64 = failed.map(|run| run.span.count).sum();
        match failed_blocks == count {
            true => self.failing_blocks + failed_blocks,
            false => 0,
        }
    }

    /// Checks after a step with errors whether the storage answers at all. If not, the errors carry no
    /// information about blocks, and the pass will continue at their beginning.
    fn look_once_more(
        &mut self,
        medium: &mut impl Medium,
        step: Span,
        answer: &Answer,
    ) -> Result<(), Trouble> {
        let is_end = |run: &Extent| run.has_failed() && run.span.end() == step.end();
        if !answer.runs.last().is_some_and(is_end) {
            return Ok(());
        }
        self.look_whether_it_answers(medium, answer)
    }

    fn look_whether_it_answers(
        &mut self,
        medium: &mut impl Medium,
        answer: &Answer,
    ) -> Result<(), Trouble> {
        let looked = still_answers(medium, self.content, &self.given_out(answer));
        if looked.is_err() {
            // Of this step nothing was noted.
            self.failing_blocks = 0;
        }
        if matches!(
            looked,
            Err(Trouble::OnlyErrors { .. } | Trouble::Gone { .. })
        ) {
            self.go_back();
        }
        looked
    }

    /// Returns the first and the last of the blocks that were read without an error in this pass; a few spread
    /// over the storage if there are none, because only the beginning may be bad.
    fn given_out(&self, answer: &Answer) -> Vec<u64> {
        let read = self.surface.runs().iter().chain(&answer.runs);
        let mut given = read.filter(|run| !run.has_failed());
        let first = given.next();
        match (first, given.next_back().or(first)) {
            (Some(first), Some(last)) => vec![first.span.start, last.span.end() - 1],
            _ => {
                let all = Span::new(0, self.blocks_count);
                spread(all, 1).map(|place| place.start).collect()
            }
        }
    }

    /// Returns to the beginning of the last errors of the pass.
    fn go_back(&mut self) {
        let known = match self.pass {
            // Refused blocks lie anywhere; all earlier steps were followed by an answer.
            Pass::Write if self.load.is_some() => return,
            Pass::Write => &mut self.refused,
            Pass::Read | Pass::Check => &mut self.surface,
            _ => return,
        };
        let mut start = self.position;
        for run in known.runs().iter().rev() {
            if !run.has_failed() || run.span.end() != start {
                break;
            }
            start = run.span.start;
        }
        self.position = start / STEP_BLOCKS * STEP_BLOCKS;
        self.durable = self.durable.min(self.position);
        known.truncate(self.position);
    }
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Returns a few evenly spread places of `blocks` blocks, the last of all among them.
fn spread(all: Span, blocks: u64) -> impl Iterator<Item = Span> {
    let whole = all.count / blocks.max(1);
    let count = PLACES_COUNT.min(whole);
    (1..=count)
        .map(move |index| Span::new(all.start + (whole * index / count - 1) * blocks, blocks))
}

/// Returns the span behind the last stretch of at least 1 MiB that lost its data, if it is no larger and has
/// good blocks: a cache may hold these only because they were written last.
fn doubtful(surface: &Surface) -> Option<Span> {
    // Where no geometry explains the blocks, content of other places is no proof of storage either.
    let lost = match judge(surface).is_irregular {
        true => last_lost(surface, |run| !run.is_there()),
        false => last_lost(surface, |run| run.is_lost()),
    }?;
    let rest = Span::between(lost.end(), surface.blocks_count());
    let has_good = surface.within(rest).any(|run| run.held == Held::Good);
    (has_good && rest.count <= lost.count).then_some(rest)
}

/// Returns the last stretch of at least 1 MiB that lost its data.
fn last_lost(surface: &Surface, is_lost: impl Fn(&Extent) -> bool) -> Option<Span> {
    let mut lost: Option<Span> = None;
    for run in surface.runs().iter().rev() {
        lost = match lost {
            Some(span) if is_lost(run) => Some(Span::between(run.span.start, span.end())),
            None if is_lost(run) => Some(run.span),
            Some(span) if span.count >= LEAST_TAIL_BLOCKS => break,
            _ => None,
        };
    }
    lost.filter(|span| span.count >= LEAST_TAIL_BLOCKS)
}

/// Number of blocks of a span that the storage did not refuse.
fn accepted(span: Span, answer: &Answer) -> u64 {
    let refused = answer.runs.iter().map(|run| run.span.count);
    span.count.saturating_sub(refused.sum())
}

/// Adds a speed; if they become too many, those that touch are merged in pairs.
fn note(speeds: &mut Vec<Speed>, span: Span, span_ns: u64) {
    // Blocks written again after an interruption count once.
    speeds.retain(|speed| speed.span.start < span.start);
    speeds.push(Speed { span, span_ns });
    if speeds.len() > MOST_SPEEDS {
        *speeds = speeds
            .chunks(2)
            .flat_map(|pair| match pair {
                [first, second] if first.span.end() == second.span.start => vec![Speed {
                    span: Span::between(first.span.start, second.span.end()),
                    span_ns: first.span_ns + second.span_ns,
                }],
                apart => apart.to_vec(),
            })
            .collect();
    }
}

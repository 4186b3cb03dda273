//! A simulated card as storage of blocks: their content is kept by name, so that cards of any size fit
//! in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::{DefaultHasher, Hash, Hasher};

use cardmark_core::{Errno, Rng};
use cardmark_engine::OpKind;
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Confirming, Content, Contents, Direction, Extent, Held, Medium, Piece,
    Raw, Span, Surface, Trouble, Unit,
};

use crate::Model;
use crate::flash::{BlockPlace, Flash};
use crate::online::{OnlineCard, Request, TransitTime};
use crate::stretches::{Origin, Stretch, Stretches};

/// Largest request, blocks: 1 MiB.
const REQUEST_BLOCKS: u64 = 2048;

/// Amount of data that a card that lies about flushes has not yet stored, blocks: 1 MiB.
const VOLATILE_BLOCKS: u64 = 2048;

/// A simulated card as storage of blocks, in virtual time.
pub struct SimMedium {
    card: OnlineCard,
    flash: Flash,
    blocks_count: u64,
    now_ns: u64,
    /// By slot.
    stored: Stretches<Content>,
    /// Content of slots before they were written, of data that is not yet stored.
    unflushed: Vec<(u64, Vec<Stretch>)>,
    /// True if a flush stores nothing: the oldest data is stored when too much of it waits.
    lies: bool,
    /// Calls until somebody asks to end, if anybody does.
    calls_left: Option<u64>,
    /// Longest time to an answer.
    limit_ns: u64,
    /// Bytes written, and read, without an error.
    moved_bytes: [u64; 2],
    power: Rng,
}

impl SimMedium {
    /// A card of this model, with nothing on it.
    pub fn new(model: &Model, seed: u64) -> Self {
        Self {
            card: OnlineCard::new(model, seed),
            flash: Flash::new(model, seed),
            blocks_count: model.capacity_bytes() / BLOCK_BYTES as u64,
            now_ns: 0,
            stored: Stretches::default(),
            unflushed: Vec::new(),
            lies: model.lies_about_flush(),
            calls_left: None,
            limit_ns: u64::MAX,
            moved_bytes: [0; 2],
            power: Rng::for_part(seed, "sim power", 0),
        }
    }

    /// Returns the card for a caller that waits `limit_ns` nanoseconds for an answer.
    #[must_use]
    pub fn with_limit(self, limit_ns: u64) -> Self {
        Self { limit_ns, ..self }
    }

    /// Returns the number of bytes that requests wrote, and read, without an error.
    pub fn moved_bytes(&self) -> [u64; 2] {
        self.moved_bytes
    }

    /// Returns the virtual time, nanoseconds.
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Sets the number of calls after which a stop is requested, in the middle of a call; `None`: never.
    pub fn stop_after(&mut self, calls: Option<u64>) {
        self.calls_left = calls;
    }

    /// Simulates a loss of power: a part of the data written since the last flush is lost, and all data that
    /// only a hidden cache had. A card that lies about flushes also loses a part of the last data that it acknowledged.
    pub fn lose_power(&mut self) {
        let unflushed = std::mem::take(&mut self.unflushed);
        for (slot, before) in unflushed.into_iter().rev() {
            if self.power.unit() < 0.5 {
                continue;
            }
            let mut at = slot;
            for (count, origin) in before {
                self.stored.put(at, count, origin);
                at += count;
            }
        }
        self.flash.lose_power();
    }

    /// The card lies about for so long, without power.
    pub fn rest(&mut self, days: f64) {
        self.lose_power();
        self.flash.rest(days);
    }

    /// Returns the origin of the content of these blocks, in no time: count and origin of each stretch.
    pub fn origins(&mut self, span: Span) -> Vec<Stretch> {
        let mut found = Vec::new();
        for part in self.flash.read(span.start, span.count) {
            match part.place {
                BlockPlace::At(slot) | BlockPlace::Changed(slot) => {
                    found.extend(self.stored.parts(slot, part.count));
                }
                BlockPlace::Nowhere | BlockPlace::Unreadable | BlockPlace::Refused => {
                    found.push((part.count, None));
                }
            }
        }
        found
    }

    /// Counts a call down. The part of `count` that is still done.
    fn begin(&mut self, count: u64) -> (u64, bool) {
        match &mut self.calls_left {
            Some(0) => (0, true),
            Some(left) => {
                *left -= 1;
                let is_last = *left == 0;
                let done = if is_last { count / 2 } else { count };
                (done, is_last)
            }
            None => (count, false),
        }
    }

    /// Notes the answer to a request, which came at `due_ns`: returns whether it failed.
    fn answered(
        &mut self,
        request: Request,
        due_ns: u64,
        outcome: Result<u32, Errno>,
    ) -> Result<bool, Trouble> {
        self.refuse_late(due_ns)?;
        match outcome {
            Ok(bytes) => {
                let is_read = request.kind == OpKind::Read;
                self.moved_bytes[usize::from(is_read)] += u64::from(bytes);
                Ok(false)
            }
            Err(Errno::IO) => Ok(true),
            Err(errno) => Err(Trouble::Gone { errno }),
        }
    }

    /// Fails if the caller gives up before an answer that comes at `due_ns` to a request of now.
    fn refuse_late(&mut self, due_ns: u64) -> Result<(), Trouble> {
        let limit_ns = self.limit_ns;
        match due_ns.saturating_sub(self.now_ns) > limit_ns {
            true => {
                self.now_ns = self.now_ns.saturating_add(limit_ns);
                Err(Trouble::NoAnswer { limit_ns })
            }
            false => Ok(()),
        }
    }

    /// Lets requests for these blocks pass: each one, and whether it failed; and the time they took.
    fn pass(&mut self, kind: OpKind, span: Span) -> Result<(Vec<(Span, bool)>, u64), Trouble> {
        let begun_ns = self.now_ns;
        let mut requests = Vec::new();
        for part in span.parts(REQUEST_BLOCKS) {
            let request = Request {
                kind,
                offset: part.offset_bytes(),
                bytes: u32::try_from(part.bytes()).unwrap_or(u32::MAX),
            };
            let (due_ns, outcome) = self
                .card
                .arrive(self.now_ns, TransitTime::default(), request);
            let has_failed = self.answered(request, due_ns, outcome)?;
            self.now_ns = due_ns;
            requests.push((part, has_failed));
        }
        Ok((requests, self.now_ns - begun_ns))
    }

    /// Lets requests pass, up to `depth` at once: what became of each, and the time they took together.
    fn queue(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<(Vec<Sent>, u64), Trouble> {
        let begun_ns = self.now_ns;
        let mut due: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        let mut last_ns = begun_ns;
        let mut sent = Vec::new();
        for unit in units {
            if due.len() as u64 >= u64::from(depth.max(1)) {
                let Reverse(first_ns) = due.pop().unwrap_or(Reverse(last_ns));
                self.now_ns = self.now_ns.max(first_ns);
            }
            while due.peek().is_some_and(|&Reverse(ns)| ns <= self.now_ns) {
                due.pop();
            }
            let request = Request {
                kind: match direction {
                    Direction::Write => OpKind::Write,
                    Direction::Read => OpKind::Read,
                },
                offset: unit.span.offset_bytes(),
                bytes: u32::try_from(unit.span.bytes()).unwrap_or(u32::MAX),
            };
            let way = TransitTime::default();
            let (due_ns, outcome) = self.card.arrive(self.now_ns, way, request);
            let has_failed = self.answered(request, due_ns, outcome)?;
            sent.push(Sent {
                has_failed,
                is_accompanied: !due.is_empty(),
            });
            due.push(Reverse(due_ns));
            last_ns = last_ns.max(due_ns);
        }
        self.now_ns = last_ns;
        Ok((sent, last_ns - begun_ns))
    }

    /// Keeps `origin` in the places of these blocks; those that were refused.
    fn keep(&mut self, span: Span, origin: Option<Origin>) -> Vec<Extent> {
        let mut refused = Vec::new();
        for part in self.flash.write(span.start, span.count) {
            let further = part.start - span.start;
            let origin = origin.map(|origin| Origin {
                block: origin.block + further,
                ..origin
            });
            match part.place {
                BlockPlace::At(slot) | BlockPlace::Changed(slot) => {
                    let before = self.stored.parts(slot, part.count);
                    self.unflushed.push((slot, before));
                    self.stored.put(slot, part.count, origin);
                }
                BlockPlace::Refused => refused.push(Extent::new(
                    Span::new(part.start, part.count),
                    Held::Refused { errno: Errno::IO },
                )),
                BlockPlace::Nowhere | BlockPlace::Unreadable => {}
            }
        }
        refused
    }

    /// Stores data that waits: all of it, unless the card lies.
    fn settle(&mut self) {
        let mut kept_blocks = if self.lies { VOLATILE_BLOCKS } else { 0 };
        let waiting = self.unflushed.iter().rev();
        let kept = waiting.take_while(|(_, before)| {
            let blocks = before.iter().map(|(count, _)| count).sum();
            let is_kept = blocks <= kept_blocks;
            kept_blocks = kept_blocks.saturating_sub(blocks);
            is_kept
        });
        let stored = self.unflushed.len() - kept.count();
        self.unflushed.drain(..stored);
    }

    /// Reads these blocks whatever they hold: good or unreadable; their content goes into the digest.
    fn take_in(&mut self, span: Span, digest: &mut DefaultHasher, surface: &mut Surface) {
        for part in self.flash.read(span.start, span.count) {
            let (is_changed, stored) = match part.place {
                BlockPlace::At(slot) => (false, self.stored.parts(slot, part.count)),
                BlockPlace::Changed(slot) => (true, self.stored.parts(slot, part.count)),
                BlockPlace::Nowhere | BlockPlace::Refused => (false, vec![(part.count, None)]),
                BlockPlace::Unreadable => {
                    let held = Held::Unreadable { errno: Errno::IO };
                    surface.push(Extent::new(Span::new(part.start, part.count), held));
                    continue;
                }
            };
            (part.start, is_changed).hash(digest);
            for (count, origin) in stored {
                let content = origin.map(|o| (o.block, o.content.seed, o.content.round));
                (count, content).hash(digest);
            }
            surface.push(Extent::new(Span::new(part.start, part.count), Held::Good));
        }
    }

    /// Compares these blocks with that content.
    fn look(&mut self, span: Span, content: Content, surface: &mut Surface) {
        for part in self.flash.read(span.start, span.count) {
            let (slot, is_changed) = match part.place {
                BlockPlace::At(slot) => (slot, false),
                BlockPlace::Changed(slot) => (slot, true),
                BlockPlace::Nowhere | BlockPlace::Refused => {
                    surface.push(Extent::new(
                        Span::new(part.start, part.count),
                        Held::Foreign,
                    ));
                    continue;
                }
                BlockPlace::Unreadable => {
                    let held = Held::Unreadable { errno: Errno::IO };
                    surface.push(Extent::new(Span::new(part.start, part.count), held));
                    continue;
                }
            };
            let mut start = part.start;
            for (count, origin) in self.stored.parts(slot, part.count) {
                let held = held(start, origin, content, is_changed);
                surface.push(Extent::new(Span::new(start, count), held));
                start += count;
            }
        }
    }
}

/// What became of a request.
struct Sent {
    has_failed: bool,
    /// True if others were in flight when it began.
    is_accompanied: bool,
}

/// Returns the state of a block that holds content of that origin.
fn held(block: u64, origin: Option<Origin>, content: Content, is_changed: bool) -> Held {
    match origin {
        Some(origin) if origin.content.seed != content.seed => Held::Foreign,
        Some(origin) if origin.block == block && origin.content == content => {
            if is_changed {
                Held::Changed
            } else {
                Held::Good
            }
        }
        // One changed bit hides neither address nor round, except in one case of thirty.
        Some(origin) => Held::Other {
            block: origin.block,
            round: origin.content.round,
        },
        None => Held::Foreign,
    }
}

impl Medium for SimMedium {
    fn blocks_count(&self) -> u64 {
        self.blocks_count
    }

    fn grain_blocks(&self) -> u64 {
        self.flash.grain_blocks()
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let (count, is_last) = self.begin(span.count);
        let span = Span::new(span.start, count);
        let (requests, span_ns) = self.pass(OpKind::Write, span)?;
        let mut refused = Surface::default();
        for (part, has_failed) in requests {
            if has_failed {
                refused.push(Extent::new(part, Held::Refused { errno: Errno::IO }));
                continue;
            }
            let origin = Origin {
                block: part.start,
                content,
            };
            self.keep(part, Some(origin))
                .into_iter()
                .for_each(|run| refused.push(run));
        }
        if is_last {
            return Err(Trouble::Stopped);
        }
        Ok(Answer {
            span_ns,
            runs: refused.runs().to_vec(),
        })
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let (_, is_last) = self.begin(span.count);
        let (requests, span_ns) = self.pass(OpKind::Read, span)?;
        if is_last {
            return Err(Trouble::Stopped);
        }
        let mut surface = Surface::default();
        for (part, has_failed) in requests {
            if has_failed {
                surface.push(Extent::new(part, Held::Unreadable { errno: Errno::IO }));
            } else {
                self.look(part, content, &mut surface);
            }
        }
        Ok(Answer {
            span_ns,
            runs: surface.runs().to_vec(),
        })
    }

    fn transfer(
        &mut self,
        direction: Direction,
        units: &[Unit],
        depth: u32,
    ) -> Result<Answer, Trouble> {
        let (count, is_last) = self.begin(units.len() as u64);
        let done = &units[..usize::try_from(count).unwrap_or(units.len())];
        let (sent, span_ns) = self.queue(direction, done, depth)?;
        let mut runs = Vec::new();
        for (number, sent) in sent.iter().enumerate() {
            let unit = units[number];
            let mut surface = Surface::default();
            match (direction, sent.has_failed) {
                (Direction::Write, true) => {
                    runs.push(Extent::new(unit.span, Held::Refused { errno: Errno::IO }));
                }
                (Direction::Read, true) => {
                    runs.push(Extent::new(
                        unit.span,
                        Held::Unreadable { errno: Errno::IO },
                    ));
                }
                (Direction::Read, false) => {
                    self.look(unit.span, unit.content, &mut surface);
                    runs.extend_from_slice(surface.runs());
                }
                (Direction::Write, false) => {
                    let is_crossed = sent.is_accompanied && self.flash.crosses();
                    let source = units[number - usize::from(is_crossed)];
                    let origin = Origin {
                        block: source.span.start,
                        content: source.content,
                    };
                    runs.extend(self.keep(unit.span, Some(origin)));
                }
            }
        }
        if is_last {
            return Err(Trouble::Stopped);
        }
        Ok(Answer {
            span_ns,
            runs: Surface::of(runs).runs().to_vec(),
        })
    }

    fn discard_grain_blocks(&self) -> Option<u64> {
        Some(self.flash.grain_blocks())
    }

    fn discard(&mut self, span: Span) -> Result<bool, Trouble> {
        if self.begin(span.count).1 {
            return Err(Trouble::Stopped);
        }
        let (due_ns, outcome) = self.card.discard(self.now_ns, TransitTime::default());
        self.refuse_late(due_ns)?;
        self.now_ns = due_ns;
        outcome.map_err(|errno| Trouble::Gone { errno })?;
        let count = self.flash.discards(span.count);
        let count = count.min(self.blocks_count - span.start);
        for part in self.flash.read(span.start, count) {
            if let BlockPlace::At(slot) | BlockPlace::Changed(slot) = part.place {
                let before = self.stored.parts(slot, part.count);
                self.unflushed.push((slot, before));
                self.stored.put(slot, part.count, None);
            }
        }
        Ok(true)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        let (_, is_last) = self.begin(0);
        if is_last {
            return Err(Trouble::Stopped);
        }
        let begun_ns = self.now_ns;
        let (due_ns, outcome) = self.card.flush(self.now_ns, TransitTime::default());
        self.refuse_late(due_ns)?;
        self.now_ns = due_ns;
        outcome.map_err(|errno| Trouble::Gone { errno })?;
        self.settle();
        Ok(due_ns - begun_ns)
    }

    fn rest(&mut self, span_ns: u64) -> Result<(), Trouble> {
        if self.begin(0).1 {
            return Err(Trouble::Stopped);
        }
        self.now_ns += span_ns;
        Ok(())
    }
}

impl Confirming for SimMedium {
    fn confirm(&mut self) -> Result<(), Trouble> {
        self.flush().map(drop)
    }
}

impl Contents for SimMedium {
    fn digest(&mut self, span: Span) -> Result<(Answer, Option<u64>), Trouble> {
        let (_, is_last) = self.begin(span.count);
        let (requests, span_ns) = self.pass(OpKind::Read, span)?;
        if is_last {
            return Err(Trouble::Stopped);
        }
        let mut surface = Surface::default();
        let mut digest = DefaultHasher::new();
        for (part, has_failed) in requests {
            if has_failed {
                surface.push(Extent::new(part, Held::Unreadable { errno: Errno::IO }));
            } else {
                self.take_in(part, &mut digest, &mut surface);
            }
        }
        let runs = surface.runs().to_vec();
        let is_whole = runs.iter().all(|run| !run.has_failed());
        Ok((Answer { span_ns, runs }, is_whole.then(|| digest.finish())))
    }
}

/// Former content of blocks of a simulated card.
#[derive(Clone, Debug)]
pub struct SimPiece {
    span: Span,
    origins: Vec<Stretch>,
}

/// Stretches may be cut differently and still have equal content.
impl PartialEq for SimPiece {
    fn eq(&self, other: &Self) -> bool {
        self.span == other.span && joined(&self.origins) == joined(&other.origins)
    }
}

/// Joins consecutive stretches.
fn joined(stretches: &[Stretch]) -> Vec<Stretch> {
    let mut joined: Vec<Stretch> = Vec::new();
    for &(count, origin) in stretches {
        match joined.last_mut() {
            Some((held, last)) if goes_on(*last, *held, origin) => *held += count,
            _ => joined.push((count, origin)),
        }
    }
    joined
}

/// Returns whether `next` is the continuation of `count` blocks that begin with `first`.
fn goes_on(first: Option<Origin>, count: u64, next: Option<Origin>) -> bool {
    let behind = first.map(|origin| Origin {
        block: origin.block + count,
        ..origin
    });
    behind == next
}

impl Piece for SimPiece {
    fn span(&self) -> Span {
        self.span
    }
}

impl Raw for SimMedium {
    type Piece = SimPiece;

    fn take(&mut self, span: Span) -> Result<Vec<SimPiece>, Trouble> {
        if self.begin(span.count).1 {
            return Err(Trouble::Stopped);
        }
        self.pass(OpKind::Read, span)?;
        let origins = self.origins(span);
        Ok(vec![SimPiece { span, origins }])
    }

    fn put(&mut self, piece: &SimPiece, over: Option<Content>) -> Result<u64, Trouble> {
        if self.begin(piece.span.count).1 {
            return Err(Trouble::Stopped);
        }
        self.pass(OpKind::Write, piece.span)?;
        let mut now = Surface::default();
        match over {
            Some(content) => self.look(piece.span, content, &mut now),
            None => now.push(Extent::new(piece.span, Held::Good)),
        }
        let mut refused = 0;
        let mut start = piece.span.start;
        for &(count, origin) in &piece.origins {
            let ours = now
                .within(Span::new(start, count))
                .filter(|run| run.is_ours());
            for run in ours {
                let origin = origin.map(|origin| Origin {
                    block: origin.block + (run.span.start - start),
                    ..origin
                });
                for part in self.keep(run.span, origin) {
                    // A block that rejects writes may still hold its content.
                    let was = origin.map(|origin| Origin {
                        block: origin.block + (part.span.start - run.span.start),
                        ..origin
                    });
                    let is_there = self.origins(part.span) == [(part.span.count, was)];
                    refused += if is_there { 0 } else { part.span.count };
                }
            }
            start += count;
        }
        Ok(refused)
    }

    fn settle(&mut self) -> Result<(), Trouble> {
        self.flush().map(drop)
    }

    fn check(&mut self, span: Span, content: Content) -> Result<Vec<Extent>, Trouble> {
        self.read(span, content).map(|answer| answer.runs)
    }

    fn residue(&self, piece: &SimPiece, content: Content) -> Option<u64> {
        let mut start = piece.span.start;
        for &(count, origin) in &piece.origins {
            let is_residue = |origin: Origin| {
                origin.content.is_borrowed() && origin.content.seed != content.seed
            };
            if origin.is_some_and(is_residue) {
                return Some(start);
            }
            start += count;
        }
        None
    }
}

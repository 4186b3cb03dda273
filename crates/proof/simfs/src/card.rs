//! The card behind the file: its content, and the times of its answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cardmark_engine::OpKind;
use cardmark_sim::{OnlineCard, Request};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};

use crate::answers::{Answer, Answers};
use crate::content::Content;
use crate::transit::Ways;
use crate::waits::Waits;

/// Card and content.
pub(crate) struct Card {
    size_bytes: u64,
    content: Content,
    answers: Arc<Answers>,
    stage: Mutex<Stage>,
}

/// Processing stage of requests.
enum Stage {
    /// Each is answered after this span: the way to the card is being measured.
    Measuring { span_ns: u64 },
    /// They are the model's.
    Serving {
        card: Box<OnlineCard>,
        from_ns: u64,
        ways: Ways,
        waits: Waits,
    },
}

impl Card {
    pub(crate) fn new(size_bytes: u64, content: Content, answers: Arc<Answers>) -> Self {
        Self {
            size_bytes,
            content,
            answers,
            stage: Mutex::new(Stage::Measuring { span_ns: 0 }),
        }
    }

    pub(crate) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    /// From now on requests are answered after this span.
    pub(crate) fn measure(&self, span_ns: u64) {
        *self.stage() = Stage::Measuring { span_ns };
    }

    /// From now on requests are the model's; its time begins.
    pub(crate) fn serve(&self, card: OnlineCard, ways: Ways) {
        self.content.begin();
        *self.stage() = Stage::Serving {
            card: Box::new(card),
            from_ns: self.answers.now_ns(),
            ways,
            waits: Waits::default(),
        };
    }

    pub(crate) fn read(&self, asker: u32, offset: u64, size: u32, reply: ReplyData) {
        let left = self.size_bytes.saturating_sub(offset);
        let size = u32::try_from(left).map_or(size, |left| size.min(left));
        let (due_ns, outcome) = self.take_on(asker, OpKind::Read, offset, size);
        let bytes = outcome.and_then(|()| {
            let mut bytes = self.answers.buffer(size as usize);
            self.content.read(offset, &mut bytes)?;
            Ok(bytes)
        });
        self.answers.add(due_ns, Answer::Read(reply, bytes));
    }

    pub(crate) fn write(&self, asker: u32, offset: u64, bytes: &[u8], reply: ReplyWrite) {
        let left = self.size_bytes.saturating_sub(offset);
        let size = match u32::try_from(bytes.len()) {
            Ok(size) if u64::from(size) <= left => size,
            _ => return reply.error(Errno::ENOSPC),
        };
        let (due_ns, outcome) = self.take_on(asker, OpKind::Write, offset, size);
        let count = outcome.and_then(|()| {
            self.content.write(offset, bytes)?;
            Ok(size)
        });
        self.answers.add(due_ns, Answer::Written(reply, count));
    }

    pub(crate) fn flush(&self, asker: u32, reply: ReplyEmpty) {
        let (due_ns, outcome) = self.timed(asker, |card, at_ns, ways, late_ns| {
            card.flush(at_ns, ways.of_flush(late_ns))
        });
        self.answers.add(due_ns, Answer::Done(reply, outcome));
    }

    pub(crate) fn discard(&self, asker: u32, offset: u64, bytes: u64, reply: ReplyEmpty) {
        let (due_ns, outcome) = self.timed(asker, |card, at_ns, ways, late_ns| {
            card.discard(at_ns, ways.of_flush(late_ns))
        });
        let outcome = outcome.and_then(|()| self.content.forget(offset, bytes));
        self.answers.add(due_ns, Answer::Done(reply, outcome));
    }

    fn take_on(
        &self,
        asker: u32,
        kind: OpKind,
        offset: u64,
        bytes: u32,
    ) -> (u64, Result<(), Errno>) {
        let request = Request {
            kind,
            offset,
            bytes,
        };
        self.timed(asker, |card, at_ns, ways, late_ns| {
            let way = ways.of(kind, bytes, late_ns);
            let (due_ns, outcome) = card.arrive(at_ns, way, request);
            (due_ns, outcome.map(|_| ()))
        })
    }

    /// When something that arrives now is due, and whether it can be done.
    fn timed(
        &self,
        asker: u32,
        ask: impl FnOnce(&mut OnlineCard, u64, &Ways, u64) -> (u64, Result<(), cardmark_core::Errno>),
    ) -> (u64, Result<(), Errno>) {
        let mut stage = self.stage();
        // In here, so that a card of several threads sees its requests by rising time.
        let now_ns = self.answers.now_ns();
        match &mut *stage {
            Stage::Measuring { span_ns } => (now_ns + *span_ns, Ok(())),
            Stage::Serving {
                card,
                from_ns,
                ways,
                waits,
            } => {
                let own = rustix::thread::gettid()
                    .as_raw_nonzero()
                    .get()
                    .unsigned_abs();
                let waited_ns = waits.take_ns(asker) + waits.take_ns(own);
                let late_ns = self.answers.take_late_ns(now_ns) + waited_ns;
                let (due_ns, outcome) = ask(card, now_ns - *from_ns, ways, late_ns);
                (
                    due_ns + *from_ns,
                    outcome.map_err(|errno| Errno::from_i32(errno.0)),
                )
            }
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

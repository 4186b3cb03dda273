//! A place in flight and its memory.

use cardmark_engine::{Op, OpKind};

use crate::buffer::Part;

/// An idle slot with its memory. Submitting an operation consumes it, and its completion gives it back: a slot
/// that is busy cannot be used twice, and its memory cannot be touched.
pub(crate) struct Idle {
    /// Index of the slot.
    pub(crate) number: u32,
    pub(crate) reads: Part,
    pub(crate) writes: Part,
    /// Start of the block in `writes` that was prepared last.
    pub(crate) start: usize,
    /// Start of the block in `writes` to prepare next.
    pub(crate) next: usize,
}

impl Idle {
    /// Slots with these memories; a slot without memory of a kind has an empty part.
    pub(crate) fn slots(reads: Vec<Part>, writes: Vec<Part>) -> Vec<Option<Box<Self>>> {
        let slot = |(number, (reads, writes))| {
            Some(Box::new(Self {
                number,
                reads,
                writes,
                start: 0,
                next: 0,
            }))
        };
        (0..).zip(reads.into_iter().zip(writes)).map(slot).collect()
    }

    /// Memory of an operation; empty if its block does not fit.
    #[inline]
    pub(crate) fn buffer(&mut self, op: &Op) -> &mut [u8] {
        let (part, start) = match op.kind {
            OpKind::Sync => return &mut [],
            OpKind::Read => (&mut self.reads, 0),
            OpKind::Write | OpKind::WriteSync => (&mut self.writes, self.start),
        };
        part.bytes_mut()
            .get_mut(start..start.saturating_add(op.bytes as usize))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::buffer::AlignedBuffer;

    fn parts(bytes: usize) -> (Arc<AlignedBuffer>, Vec<Part>) {
        let mut whole = Arc::new(AlignedBuffer::new(2 * bytes, 512).unwrap());
        let parts = Part::divide(&mut whole, bytes, 2).unwrap();
        (whole, parts)
    }

    fn op(kind: OpKind, bytes: u32, slot: u32) -> Op {
        Op {
            kind,
            offset: 0,
            bytes,
            slot,
            stream: 0,
        }
    }

    #[test]
    fn an_operation_gets_memory_of_its_kind_and_slot() {
        let (mut reads, read_parts) = parts(64);
        let (mut writes, write_parts) = parts(256);
        let mut slots = Idle::slots(read_parts, write_parts);
        let idle = slots[1].as_mut().unwrap();
        idle.start = 128;
        idle.buffer(&op(OpKind::Read, 64, 1)).fill(1);
        idle.buffer(&op(OpKind::WriteSync, 128, 1)).fill(2);
        assert!(idle.buffer(&op(OpKind::Sync, 0, 1)).is_empty());
        for (kind, bytes) in [
            (OpKind::Read, 65),
            (OpKind::Write, 129),
            (OpKind::Write, u32::MAX),
        ] {
            assert!(idle.buffer(&op(kind, bytes, 1)).is_empty(), "too long");
        }
        drop(slots);
        let reads = Arc::get_mut(&mut reads).unwrap().bytes_mut();
        assert_eq!(reads, [[0; 64], [1; 64]].as_flattened());
        let writes = Arc::get_mut(&mut writes).unwrap().bytes_mut();
        assert_eq!(
            writes,
            [[0; 128], [0; 128], [0; 128], [2; 128]].as_flattened()
        );
    }

    /// As in `Threads`, and in the kernel by the address of the memory.
    #[test]
    fn a_slot_goes_to_a_worker_and_comes_back() {
        let (whole, read_parts) = parts(64);
        let (_, write_parts) = parts(64);
        let mut slots = Idle::slots(read_parts, write_parts);
        drop(whole);
        let (sender, jobs) = sync_channel::<Box<Idle>>(2);
        let (done, completed) = sync_channel(2);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for mut idle in jobs {
                    let fill = idle.number as u8 + 1;
                    idle.buffer(&op(OpKind::Read, 64, idle.number)).fill(fill);
                    done.send(idle).unwrap();
                }
            });
            for slot in &mut slots {
                sender.send(slot.take().unwrap()).unwrap();
            }
            drop(sender);
        });
        for mut idle in completed {
            let (number, read) = (idle.number, op(OpKind::Read, 64, idle.number));
            assert_eq!(idle.buffer(&read), [number as u8 + 1; 64]);
            assert!(slots[number as usize].replace(idle).is_none());
        }
        assert!(slots.iter().all(Option::is_some));
    }
}

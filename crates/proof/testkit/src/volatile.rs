//! A volatile cache of the filesystem behind [`crate::FuseDir`], which a power cut empties.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use fuser::Errno;

/// Number of writes that stay volatile if syncs are ignored.
const MOST_WRITES: usize = 64;

/// Effect of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syncs {
    /// Everything written before is stored.
    Store,
    /// Nothing is stored; the last 64 writes are always volatile.
    Ignored,
}

/// Writes that are not stored yet, and the cut.
#[derive(Debug, Default)]
pub(crate) struct Volatile {
    /// Effect of syncs, and the number of syncs before the cut; `None`: there is no cache.
    mode: Option<(Syncs, u64)>,
    /// Former content of each write that is not stored.
    before: VecDeque<(Arc<File>, u64, Vec<u8>)>,
    is_cut: bool,
}

impl Volatile {
    /// From now on writes are volatile. After `syncs_count` syncs the next write cuts the power.
    pub(crate) fn begin(&mut self, syncs: Syncs, syncs_count: u64) {
        self.mode = Some((syncs, syncs_count));
    }

    /// The power is back.
    pub(crate) fn restore(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn check(&self) -> Result<(), Errno> {
        match self.is_cut {
            true => Err(Errno::ENODEV),
            false => Ok(()),
        }
    }

    /// Writes, or cuts the power in the middle of it: the first half of the data is stored then.
    pub(crate) fn write(
        &mut self,
        content: &Arc<File>,
        data: &[u8],
        offset: u64,
    ) -> Result<(), Errno> {
        self.check()?;
        let stored = |data: &[u8]| content.write_all_at(data, offset).map_err(|_| Errno::EIO);
        match self.mode {
            None => stored(data),
            Some((_, 0)) => {
                while let Some((file, offset, bytes)) = self.before.pop_back() {
                    file.write_all_at(&bytes, offset).unwrap();
                }
                self.is_cut = true;
                stored(&data[..data.len() / 2])?;
                Err(Errno::ENODEV)
            }
            Some((syncs, _)) => {
                let mut bytes = vec![0; data.len()];
                // What lies behind the end of the file becomes zeros.
                let mut filled = 0;
                while let Ok(count @ 1..) =
                    content.read_at(&mut bytes[filled..], offset + filled as u64)
                {
                    filled += count;
                }
                self.before.push_back((Arc::clone(content), offset, bytes));
                if syncs == Syncs::Ignored && self.before.len() > MOST_WRITES {
                    self.before.pop_front();
                }
                stored(data)
            }
        }
    }

    pub(crate) fn sync(&mut self) -> Result<(), Errno> {
        self.check()?;
        if let Some((syncs, left)) = &mut self.mode {
            *left = left.saturating_sub(1);
            if *syncs == Syncs::Store {
                self.before.clear();
            }
        }
        Ok(())
    }
}

//! Content of the card: a sparse file without a name, which holds the slots of its flash.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cardmark_sim::{BlockPlace, Flash, Model, Part};
use fuser::Errno;
use rustix::fs::{FallocateFlags, MemfdFlags};

use crate::print;

/// Bytes that are compared with zero at a time.
const CHUNK_BYTES: usize = 256;
/// Size of a block of the flash, bytes.
const BLOCK_BYTES: u64 = 512;

/// The bytes of the card; zeros if nothing was written, or nothing is kept.
pub(crate) struct Content {
    file: File,
    model: Model,
    seed: u64,
    flash: Mutex<Flash>,
}

/// A part of a request: its position in the request, and that of its first byte in the file.
struct Stretch {
    from: usize,
    to: usize,
    at: u64,
}

impl Content {
    /// Creates room for the data of a card of this model: in memory if even a full card leaves half of the free
    /// memory, and else in the folder for temporary files.
    pub(crate) fn new(model: &Model, seed: u64) -> io::Result<Self> {
        let flash = Flash::new(model, seed);
        let size_bytes = flash.slots_count() * BLOCK_BYTES;
        let file = if size_bytes <= available_bytes() / 2 {
            File::from(rustix::fs::memfd_create("card", MemfdFlags::CLOEXEC)?)
        } else {
            tempfile::tempfile()?
        };
        file.set_len(size_bytes)?;
        Ok(Self {
            file,
            model: model.clone(),
            seed,
            flash: Mutex::new(flash),
        })
    }

    /// Forgets all that was asked of the flash.
    pub(crate) fn begin(&self) {
        *self.flash() = Flash::new(&self.model, self.seed);
    }

    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Errno> {
        let parts = self.parts(offset, bytes.len(), Flash::read);
        for part in parts {
            let stretch = stretch(&part, offset, bytes.len());
            let here = &mut bytes[stretch.from..stretch.to];
            match part.place {
                BlockPlace::At(_) => kept(self.file.read_exact_at(here, stretch.at))?,
                BlockPlace::Changed(_) => {
                    kept(self.file.read_exact_at(here, stretch.at))?;
                    here.chunks_mut(512).for_each(|block| block[0] ^= 1);
                }
                BlockPlace::Nowhere => here.fill(0),
                BlockPlace::Unreadable | BlockPlace::Refused => return Err(Errno::EIO),
            }
        }
        Ok(())
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Errno> {
        let mut is_refused = false;
        for part in self.parts(offset, bytes.len(), Flash::write) {
            let stretch = stretch(&part, offset, bytes.len());
            match part.place {
                BlockPlace::At(_) | BlockPlace::Changed(_) => {
                    kept(self.store(stretch.at, &bytes[stretch.from..stretch.to]))?;
                }
                BlockPlace::Nowhere | BlockPlace::Unreadable => {}
                BlockPlace::Refused => is_refused = true,
            }
        }
        if is_refused { Err(Errno::EIO) } else { Ok(()) }
    }

    /// Zeros from now on.
    pub(crate) fn forget(&self, offset: u64, bytes: u64) -> Result<(), Errno> {
        let blocks = bytes.div_ceil(BLOCK_BYTES);
        let more = (self.flash().discards(blocks) - blocks) * BLOCK_BYTES;
        let left = self.model.capacity_bytes().saturating_sub(offset);
        let bytes = (bytes + more).min(left);
        let length = usize::try_from(bytes).map_err(|_| Errno::EINVAL)?;
        for part in self.parts(offset, length, Flash::read) {
            let stretch = stretch(&part, offset, length);
            if let BlockPlace::At(_) | BlockPlace::Changed(_) = part.place {
                let length = (stretch.to - stretch.from) as u64;
                kept(self.punch(stretch.at, length))?;
            }
        }
        Ok(())
    }

    /// Returns the destination or source of the blocks that a request touches.
    fn parts(
        &self,
        offset: u64,
        length: usize,
        ask: fn(&mut Flash, u64, u64) -> Vec<Part>,
    ) -> Vec<Part> {
        let start = offset / BLOCK_BYTES;
        let end = (offset + length as u64).div_ceil(BLOCK_BYTES);
        ask(&mut self.flash(), start, end - start)
    }

    fn flash(&self) -> MutexGuard<'_, Flash> {
        self.flash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Zeros take no space.
    fn store(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.chunks(CHUNK_BYTES).all(is_zero) {
            return self.punch(at, bytes.len() as u64);
        }
        self.file.write_all_at(bytes, at)
    }

    fn punch(&self, at: u64, length: u64) -> io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, hole, at, length)?)
    }
}

/// The bytes of a part that a request of that length from `offset` on touches.
fn stretch(part: &Part, offset: u64, length: usize) -> Stretch {
    let start = part.start * BLOCK_BYTES;
    let end = start + part.count * BLOCK_BYTES;
    let from = start.max(offset);
    let to = end.min(offset + length as u64);
    let slot = match part.place {
        BlockPlace::At(slot) | BlockPlace::Changed(slot) => slot,
        BlockPlace::Nowhere | BlockPlace::Unreadable | BlockPlace::Refused => 0,
    };
    let inside = |at: u64| usize::try_from(at.saturating_sub(offset)).unwrap_or(length);
    Stretch {
        from: inside(from),
        to: inside(to.max(from)),
        at: slot * BLOCK_BYTES + (from - start),
    }
}

/// The file below the content is ours; that it fails is not the model's doing.
fn kept<T>(outcome: io::Result<T>) -> Result<T, Errno> {
    outcome.map_err(|error| {
        print::notice(&format!(
            "warning: the content of the card cannot be stored: {error}"
        ));
        Errno::EIO
    })
}

fn is_zero(chunk: &[u8]) -> bool {
    chunk.iter().fold(0, |all, byte| all | byte) == 0
}

/// Returns the memory available to programs; 0 if unknown.
fn available_bytes() -> u64 {
    let told = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = told
        .lines()
        .find_map(|line| {
            line.strip_prefix("MemAvailable:")?
                .split_whitespace()
                .next()
        })
        .and_then(|number| number.parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn of(name: &str) -> Content {
        Content::new(&Model::named(name).unwrap(), 1).unwrap()
    }

    #[test]
    fn zeros_take_no_space_and_are_read_back() {
        let content = of("honest-1gb");
        let taken = || content.file.metadata().unwrap().blocks() * 512;
        let mut found = vec![1; 1 << 20];
        content.read((1 << 30) - (1 << 20), &mut found).unwrap();
        assert!(found.iter().all(|&byte| byte == 0));
        content.write(1 << 20, &[7; 1 << 20]).unwrap();
        assert_eq!(taken(), 1 << 20);
        content.write(1 << 20, &[0; 1 << 19]).unwrap();
        assert_eq!(taken(), 1 << 19);
        content.read(1 << 20, &mut found).unwrap();
        assert!(found[..1 << 19].iter().all(|&byte| byte == 0));
        assert!(found[1 << 19..].iter().all(|&byte| byte == 7));
        content.forget(0, 1 << 30).unwrap();
        assert_eq!(taken(), 0);
    }

    #[test]
    fn requests_need_not_fit_the_blocks() {
        let content = of("honest-1gb");
        let bytes: Vec<u8> = (1..=200).collect();
        for offset in [0, 1, 511, 512, 1000, 70_000] {
            content.write(offset, &[9; 1500]).unwrap();
            content.write(offset + 450, &bytes).unwrap();
            let mut found = vec![0; 1500];
            content.read(offset, &mut found).unwrap();
            assert!(found[..450].iter().all(|&byte| byte == 9), "{offset}");
            assert_eq!(found[450..650], bytes, "{offset}");
            assert!(found[650..].iter().all(|&byte| byte == 9), "{offset}");
        }
    }

    #[test]
    fn a_fake_gives_out_what_its_model_says() {
        let real = 1_777_645_568;
        let limbo = of("limbo-32gb");
        limbo.write(real - 512, &[7; 1024]).unwrap();
        let mut found = vec![1; 1024];
        limbo.read(real - 512, &mut found).unwrap();
        assert!(found[..512].iter().all(|&byte| byte == 7));
        assert!(found[512..].iter().all(|&byte| byte == 0));
        let wrap = of("wrap-700mb");
        wrap.write(700 << 20, &[5; 512]).unwrap();
        wrap.read(0, &mut found[..512]).unwrap();
        assert!(found[..512].iter().all(|&byte| byte == 5));
        let refusing = of("readonly-32gb");
        for offset in (0..3_000_000_000).step_by(1 << 27) {
            refusing.write(offset, &vec![0; 1 << 27]).ok();
        }
        assert_eq!(refusing.write(0, &[1; 512]), Err(Errno::EIO));
    }
}

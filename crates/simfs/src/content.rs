//! What is written on the card: a sparse file without a name.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::{FallocateFlags, MemfdFlags};

/// Bytes that are compared with zero at a time.
const CHUNK_BYTES: usize = 256;

/// The bytes of the card; zeros where nothing was written.
pub(crate) struct Content {
    file: File,
}

impl Content {
    /// Room for so many bytes: in memory where even a full card leaves half of what is free, and
    /// else in the folder for temporary files.
    pub(crate) fn new(size_bytes: u64) -> io::Result<Self> {
        let file = if size_bytes <= available_bytes() / 2 {
            File::from(rustix::fs::memfd_create("card", MemfdFlags::CLOEXEC)?)
        } else {
            tempfile::tempfile()?
        };
        file.set_len(size_bytes)?;
        Ok(Self { file })
    }

    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(bytes, offset)
    }

    /// Zeros take no space.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.chunks(CHUNK_BYTES).all(is_zero) {
            return self.forget(offset, bytes.len() as u64);
        }
        self.file.write_all_at(bytes, offset)
    }

    /// Zeros from now on.
    pub(crate) fn forget(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        Ok(rustix::fs::fallocate(&self.file, hole, offset, bytes)?)
    }
}

fn is_zero(chunk: &[u8]) -> bool {
    chunk.iter().fold(0, |all, byte| all | byte) == 0
}

/// Memory that programs can still get; none where that is not known.
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

    #[test]
    fn zeros_take_no_space_and_are_read_back() {
        let content = Content::new(1 << 30).unwrap();
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
}

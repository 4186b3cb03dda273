//! Reading of blocks whatever they hold.

use std::hash::{DefaultHasher, Hasher};
use std::time::Instant;

use cardmark_integrity::{Answer, Contents, Extent, Held, Span, Surface, Trouble};

use super::{Blocks, Storage, Work, elapsed_ns, length};

impl Contents for Blocks {
    fn digest(&mut self, span: Span) -> Result<(Answer, Option<u64>), Trouble> {
        let Some(buffer) = self.buffers.first_mut() else {
            return Err(Trouble::Stopped);
        };
        if self.storage.pulse.is_stopped() {
            return Err(Trouble::Stopped);
        }
        self.storage.pulse.set_waiting(true);
        if self.storage.is_buffered {
            self.storage.forget_cached();
        }
        let read = self.storage.digest(span, buffer.bytes_mut());
        self.storage.pulse.set_waiting(false);
        read
    }
}

impl Storage {
    fn digest(&self, span: Span, buffer: &mut [u8]) -> Result<(Answer, Option<u64>), Trouble> {
        let started = Instant::now();
        let mut surface = Surface::default();
        let read = self.read_whole(span, &mut buffer[..length(span)]);
        let digest = match read {
            Ok(()) => {
                surface.push(Extent::new(span, Held::Good));
                Some(digest_of(&buffer[..length(span)]))
            }
            Err(errno) => {
                self.search(span, Work::Look, buffer, &mut surface, errno)?;
                None
            }
        };
        let answer = Answer {
            span_ns: elapsed_ns(started),
            runs: surface.runs().to_vec(),
        };
        Ok((answer, digest))
    }
}

/// A digest that is compared only within this process.
fn digest_of(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;

    use cardmark_engine::Pulse;

    use super::*;

    fn blocks(file: &File) -> Blocks {
        let storage = Storage {
            files: vec![file.try_clone().unwrap()],
            file_blocks: u64::MAX,
            blocks_count: 2048,
            grain_blocks: 8,
            is_buffered: true,
            is_on_filesystem: false,
            shown: None,
            pulse: Arc::new(Pulse::new()),
        };
        Blocks::new(storage, 512).unwrap()
    }

    #[test]
    fn a_digest_is_that_of_the_content() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 2048 * 512], 0).unwrap();
        let span = Span::new(1024, 1024);
        let digest = || {
            let (answer, digest) = blocks(&file).digest(span).unwrap();
            assert_eq!(answer.runs, [Extent::new(span, Held::Good)]);
            digest.unwrap()
        };
        let before = digest();
        assert_eq!(digest(), before);
        file.write_all_at(&[8], 1023 * 512).unwrap();
        assert_eq!(digest(), before);
        file.write_all_at(&[8], 1024 * 512 + 77).unwrap();
        assert_ne!(digest(), before);
    }

    #[test]
    fn unreadable_blocks_are_found_and_have_no_digest() {
        // A file has no data behind its end.
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[7; 1600 * 512], 0).unwrap();
        let (answer, digest) = blocks(&file).digest(Span::new(0, 2048)).unwrap();
        assert_eq!(digest, None);
        let held = Held::Unreadable {
            errno: cardmark_core::Errno::IO,
        };
        let expected = [
            Extent::new(Span::between(0, 1600), Held::Good),
            Extent::new(Span::between(1600, 2048), held),
        ];
        assert_eq!(answer.runs, expected);
    }
}

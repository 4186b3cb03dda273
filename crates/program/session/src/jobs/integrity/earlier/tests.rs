//! Tests that are killed, on storage in memory and with logs in files: no block of any card is lost silently.

mod clones;
mod damage;

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use cardmark_core::StorageKind;
use cardmark_device::{Blocks, BlocksPiece, FileLog, free_bytes};
use cardmark_engine::Pulse;
use cardmark_integrity::{
    Answer, BLOCK_BYTES, Content, Extent, Medium, ProbeRequest, Raw, Span, Trouble, probe, rehearse,
};

use crate::jobs::integrity::loan::ThroughLog;
use crate::jobs::integrity::undo::find_log;
use crate::voice::Silent;

/// Free room that a test needs, bytes.
const ROOM_BYTES: u64 = 384 << 20;

/// Storage that ends a session after some calls, as a kill would.
struct Killed {
    blocks: Blocks,
    calls: Rc<Calls>,
}

/// Calls of a session to its storage.
struct Calls {
    left: Cell<u64>,
    count: Cell<u64>,
    was_killed: Cell<bool>,
}

impl Killed {
    fn call(&self) -> Result<(), Trouble> {
        let calls = &self.calls;
        calls.count.set(calls.count.get() + 1);
        match calls.left.get().checked_sub(1) {
            Some(left) => {
                calls.left.set(left);
                Ok(())
            }
            None => {
                calls.was_killed.set(true);
                Err(Trouble::Stopped)
            }
        }
    }
}

impl Medium for Killed {
    fn blocks_count(&self) -> u64 {
        self.blocks.blocks_count()
    }

    fn grain_blocks(&self) -> u64 {
        self.blocks.grain_blocks()
    }

    fn write(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        let was_killed = self.calls.was_killed.get();
        if let Err(trouble) = self.call() {
            if !was_killed {
                // It was under way.
                let grains = span.count / self.grain_blocks() / 2;
                let part = Span::new(span.start, grains * self.grain_blocks());
                self.blocks.write(part, content)?;
            }
            return Err(trouble);
        }
        self.blocks.write(span, content)
    }

    fn read(&mut self, span: Span, content: Content) -> Result<Answer, Trouble> {
        self.call()?;
        self.blocks.read(span, content)
    }

    fn flush(&mut self) -> Result<u64, Trouble> {
        self.call()?;
        self.blocks.flush()
    }
}

impl Raw for Killed {
    type Piece = BlocksPiece;

    fn take(&mut self, span: Span) -> Result<Vec<BlocksPiece>, Trouble> {
        self.call()?;
        self.blocks.take(span)
    }

    fn put(&mut self, piece: &BlocksPiece, over: Option<Content>) -> Result<u64, Trouble> {
        self.call()?;
        self.blocks.put(piece, over)
    }

    fn settle(&mut self) -> Result<(), Trouble> {
        self.call()?;
        self.blocks.settle()
    }

    fn check(&mut self, span: Span, content: Content) -> Result<Vec<Extent>, Trouble> {
        self.call()?;
        self.blocks.check(span, content)
    }

    fn residue(&self, piece: &BlocksPiece, content: Content) -> Option<u64> {
        self.blocks.residue(piece, content)
    }
}

/// Exit status of a session that was not killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    With(u8),
    Killed,
}

/// A card: a folder with a file of its blocks.
#[derive(Clone)]
struct Card {
    folder: PathBuf,
    /// Name of its undo log, without the ending.
    identity: &'static str,
    blocks_count: u64,
}

impl Card {
    fn image(&self) -> PathBuf {
        self.folder.join("00000.blocks")
    }

    fn write(&self, content: &[u8]) {
        fs::create_dir_all(&self.folder).unwrap();
        fs::write(self.image(), content).unwrap();
    }

    fn log(&self, store: &Path) -> PathBuf {
        store.join(format!("{}.undo", self.identity))
    }

    /// Returns the numbers of the blocks that hold something else than in `original`.
    fn changed(&self, original: &[u8]) -> Vec<u64> {
        let now = fs::read(self.image()).unwrap();
        let blocks = now.as_chunks::<BLOCK_BYTES>().0.iter();
        let pairs = (0..).zip(blocks.zip(original.as_chunks::<BLOCK_BYTES>().0));
        let changed = pairs.filter(|(_, (now, before))| now != before);
        changed.map(|(block, _)| block).collect()
    }

    /// A probe with the logs of a store, as the program runs it, which is killed after some calls to the card. Returns
    /// its end and the number of calls.
    fn probe(&self, store: &Path, request: &ProbeRequest, calls: u64) -> (Ended, u64) {
        let blocks = Blocks::in_folder(&self.folder, self.blocks_count, Arc::new(Pulse::new()));
        let calls = Rc::new(Calls {
            left: Cell::new(calls),
            count: Cell::new(0),
            was_killed: Cell::new(false),
        });
        let medium = Killed {
            blocks: blocks.unwrap(),
            calls: Rc::clone(&calls),
        };
        let code = self.exit_of_probe(store, request, medium);
        let ended = match calls.was_killed.get() {
            true => Ended::Killed,
            false => Ended::With(code),
        };
        (ended, calls.count.get())
    }

    fn exit_of_probe(&self, store: &Path, request: &ProbeRequest, medium: Killed) -> u8 {
        let path = self.log(store);
        let earlier = match find_log(&path) {
            Ok(earlier) => earlier,
            Err(error) => return error.exit.code(),
        };
        let through = ThroughLog {
            voice: &Silent,
            path: &path,
            identity: self.identity,
            keeps_residue: false,
            wanted_bytes: 0,
        };
        let plan = |blocks_count, grain_blocks| {
            rehearse(blocks_count, grain_blocks, |mut medium| {
                probe(&mut medium, request, &mut |_| ())
            })
        };
        let mut look = |mut medium: &mut dyn Medium| probe(&mut medium, request, &mut |_| ());
        match through.work(medium, earlier, &plan, &mut look) {
            Err(error) | Ok((_, Err(error), _)) => error.exit.code(),
            Ok((Err(_), Ok(_), _)) => 3,
            Ok((Ok(found), Ok(_), log)) => {
                log.remove_if_empty().unwrap();
                u8::from(found.kind != StorageKind::Confirmed)
            }
        }
    }
}

/// A folder in memory, if there is room.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let has_room = free_bytes(memory).is_ok_and(|bytes| bytes > ROOM_BYTES);
    let folder = match has_room {
        true => tempfile::tempdir_in(memory),
        false => tempfile::tempdir(),
    };
    folder.unwrap()
}

/// Paths of the logs in a store, without their maps.
fn logs(store: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(store).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_log = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "undo");
    let mut logs: Vec<PathBuf> = paths.filter(is_log).collect();
    logs.sort();
    logs
}

fn count(name: &str, default: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.map_or(default, |count| count.parse().expect("a number"))
}

/// A log at that path that can be opened.
fn opened(path: &Path) -> Option<FileLog> {
    FileLog::open(path).ok().flatten()
}

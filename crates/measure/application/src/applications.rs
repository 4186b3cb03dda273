//! The back end whose operations are steps of applications.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardmark_core::{DeviceCounters, Errno, Procedure, Workload};
use cardmark_engine::{Backend, Done, Op, Pulse};

use crate::content::Content;
use crate::database::{Database, Settings, errno_of};
use crate::files::sync_folder;
use crate::log::Log;
use crate::packages::Packages;

/// Reads the counters of the block layer.
pub type CountersSource = Box<dyn FnMut() -> Option<DeviceCounters>>;

/// An inconsistency in the files of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Name of the workload.
    pub workload: String,
    /// Description of the inconsistency.
    pub detail: String,
}

/// Runs steps of applications in a folder, one at a time.
///
/// Each workload has its own files there, created when it is first prepared. Nothing is removed: the caller
/// owns the folder.
pub struct Applications {
    folder: PathBuf,
    files: BTreeMap<String, Files>,
    current: String,
    content: Content,
    counters: CountersSource,
    pulse: Arc<Pulse>,
    done: Option<Done>,
}

/// Files of a workload.
enum Files {
    Database(Box<Database>),
    Packages(Packages),
    Log(Log),
}

impl Applications {
    /// Creates the back end in a folder, which must exist and be empty, with content from `seed`; no part of
    /// its path may be a link. The pulse beats within operations that wait for the device more than once.
    #[must_use]
    pub fn new(folder: &Path, seed: u64, counters: CountersSource, pulse: Arc<Pulse>) -> Self {
        Self {
            folder: folder.to_owned(),
            files: BTreeMap::new(),
            current: String::new(),
            content: Content::new(seed),
            counters,
            pulse,
            done: None,
        }
    }

    /// Verifies that all files are as the operations left them: databases by `PRAGMA integrity_check` and the
    /// number of their rows, packages and logs by number and size.
    pub fn damages(&self) -> Vec<Damage> {
        let damage = |(workload, files): (&String, &Files)| {
            let detail = match files {
                Files::Database(database) => database.damage(),
                Files::Packages(packages) => packages.damage(),
                Files::Log(log) => log.damage(),
            }?;
            let workload = workload.clone();
            Some(Damage { workload, detail })
        };
        self.files.iter().filter_map(damage).collect()
    }

    /// Creates the files of a workload. Returns the number of bytes that applications wrote for it.
    fn create(&mut self, workload: &Workload) -> Result<u64, Errno> {
        let procedure = workload.procedure.as_ref().ok_or(Errno::INVAL)?;
        let (path, content) = (self.folder.join(&workload.id), &mut self.content);
        let mut bytes = workload.span_bytes;
        let files = match procedure {
            Procedure::Transaction { .. } => {
                let settings = Settings::of(procedure).ok_or(Errno::INVAL)?;
                let value_bytes = usize::try_from(workload.block_bytes / 2).unwrap_or(0);
                bytes /= 2;
                let path = path.with_extension("db");
                let made = Database::create(&path, settings, value_bytes, content);
                Files::Database(Box::new(made.map_err(|error| errno_of(&error))?))
            }
            Procedure::Install {
                packages_count,
                file_sizes_bytes: sizes,
            } => {
                let made = Packages::create(&path, *packages_count, sizes, content, &self.pulse);
                Files::Packages(made.map_err(errno_of_io)?)
            }
            Procedure::Append => {
                bytes = 0;
                Files::Log(Log::create(&path.with_extension("log")).map_err(errno_of_io)?)
            }
            Procedure::Other(_) => return Err(Errno::INVAL),
        };
        self.files.insert(workload.id.clone(), files);
        Ok(bytes)
    }

    fn step(&mut self, op: Op) -> Result<u32, Errno> {
        let content = &mut self.content;
        let place = op.offset / u64::from(op.bytes.max(1));
        match self.files.get_mut(&self.current).ok_or(Errno::INVAL)? {
            Files::Database(database) => database
                .transact(place, content)
                .map_err(|error| errno_of(&error)),
            Files::Packages(packages) => {
                let number = usize::try_from(place).unwrap_or(0);
                let installed = packages.install(number, content, &self.pulse);
                installed.map_err(errno_of_io)
            }
            Files::Log(log) => log
                .append(op.offset, op.bytes, content)
                .map_err(errno_of_io),
        }?;
        Ok(op.bytes)
    }

    /// Triggers delayed work of filesystems, such as freeing a deleted journal, outside the clock.
    fn settle(&self) -> Result<(), Errno> {
        sync_folder(&self.folder).map_err(errno_of_io)
    }
}

impl Backend for Applications {
    fn prepare(&mut self, workload: &Workload) -> Result<u64, Errno> {
        let bytes = if self.files.contains_key(&workload.id) {
            0
        } else {
            self.create(workload)?
        };
        self.current.clone_from(&workload.id);
        self.settle()?;
        Ok(bytes)
    }

    fn submit(&mut self, op: Op) {
        let outcome = self.step(op);
        let slot = op.slot;
        self.done = Some(Done { slot, outcome });
    }

    fn reap(&mut self) -> Done {
        let nothing = Done {
            slot: 0,
            outcome: Err(Errno::INVAL),
        };
        self.done.take().unwrap_or(nothing)
    }

    fn flush(&mut self) -> Result<(), Errno> {
        self.settle()
    }

    fn counters(&mut self) -> Option<DeviceCounters> {
        (self.counters)()
    }
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "`map_err` passes it by value"
)]
fn errno_of_io(error: io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno)
}

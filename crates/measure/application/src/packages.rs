//! Packages installed over their previous versions, in the order of dpkg: all files are written under other
//! names, then each is made durable and renamed.

use std::fs::{File, create_dir, rename};
use std::io::{Result, Write};
use std::path::{Path, PathBuf};

use cardmark_engine::Pulse;

use crate::content::Content;
use crate::files::{open_file, sync_folder};

/// Suffix of a file until it is durable; dpkg uses `.dpkg-new`.
pub(crate) const NEW: &str = "new";
/// Prefix of folders of packages; a number follows.
pub(crate) const PACKAGE: &str = "package-";
/// Prefix of files of packages; a number follows.
pub(crate) const FILE: &str = "file-";

/// Folders of packages.
pub(crate) struct Packages {
    folders: Vec<PathBuf>,
    file_sizes_bytes: Vec<u32>,
}

impl Packages {
    /// Creates the folders and installs each package once.
    pub(crate) fn create(
        folder: &Path,
        packages_count: u32,
        file_sizes_bytes: &[u32],
        content: &mut Content,
        pulse: &Pulse,
    ) -> Result<Self> {
        create_dir(folder)?;
        let names = (0..packages_count).map(|number| folder.join(format!("{PACKAGE}{number:02}")));
        let packages = Self {
            folders: names.collect(),
            file_sizes_bytes: file_sizes_bytes.to_vec(),
        };
        for (number, folder) in packages.folders.iter().enumerate() {
            create_dir(folder)?;
            packages.install(number, content, pulse)?;
        }
        sync_folder(folder)?;
        Ok(packages)
    }

    /// Installs the package of this number, modulo the number of packages.
    pub(crate) fn install(
        &self,
        number: usize,
        content: &mut Content,
        pulse: &Pulse,
    ) -> Result<()> {
        let folder = &self.folders[number % self.folders.len()];
        for (index, &bytes) in self.file_sizes_bytes.iter().enumerate() {
            let mut file = File::create_new(name(folder, index).with_extension(NEW))?;
            file.write_all(content.next(bytes as usize))?;
        }
        for index in 0..self.file_sizes_bytes.len() {
            let (path, new) = (name(folder, index), name(folder, index).with_extension(NEW));
            open_file(&new)?.sync_all()?;
            rename(new, path)?;
            // Each flush waits for the device.
            pulse.beat();
        }
        sync_folder(folder)
    }

    /// Describes the first inconsistency of the files.
    pub(crate) fn damage(&self) -> Option<String> {
        self.folders.iter().find_map(|folder| {
            let files = std::fs::read_dir(folder).map_or(0, Iterator::count);
            let is_whole = |(index, &bytes): (usize, &u32)| {
                let held = name(folder, index).metadata();
                held.is_ok_and(|held| held.len() == u64::from(bytes))
            };
            let mut sizes = self.file_sizes_bytes.iter().enumerate();
            let is_good = files == self.file_sizes_bytes.len() && sizes.all(is_whole);
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            (!is_good).then(|| format!("files of {name} are missing, too many or of another size"))
        })
    }
}

fn name(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{FILE}{index:02}"))
}

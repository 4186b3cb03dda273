//! The browser of this desktop.

use std::fs::{DirBuilder, OpenOptions, remove_dir, remove_file};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::geteuid;

/// A file that leads the browser to an address, which must not stand in the list of processes. Only this user can read it; it is removed
/// on drop.
#[derive(Debug)]
pub struct Launch {
    folder: PathBuf,
    file: PathBuf,
}

impl Launch {
    /// Returns whether there is a desktop, and the user is not root, as whom a browser should not run.
    #[must_use]
    pub fn is_possible() -> bool {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        !geteuid().is_root() && (is_set("WAYLAND_DISPLAY") || is_set("DISPLAY"))
    }

    /// Opens the address in the browser. The file is in the user's folder of the session, else in `fallback`.
    ///
    /// # Errors
    /// If the file cannot be written, or `xdg-open` is missing.
    pub fn open(address: &str, fallback: &Path) -> std::io::Result<Self> {
        let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let session = session.filter(|path| path.is_absolute() && path.is_dir());
        let base = session.unwrap_or_else(|| fallback.to_owned());
        let folder = base.join(format!("cardmark-open-{}", std::process::id()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let launch = Self {
            file: folder.join("open.html"),
            folder,
        };
        let mut options = OpenOptions::new();
        let mut file = options
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&launch.file)?;
        file.write_all(page(address).as_bytes())?;
        let mut browser = Command::new("xdg-open")
            .arg(&launch.file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C in this terminal is not for the browser.
            .process_group(0)
            .spawn()?;
        // `xdg-open` may stay as long as the browser.
        std::thread::spawn(move || browser.wait());
        Ok(launch)
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        let _ = remove_file(&self.file);
        let _ = remove_dir(&self.folder);
    }
}

fn page(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>cardmark</title>\n<meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <a href=\"{address}\">Your runs</a>\n"
    )
}

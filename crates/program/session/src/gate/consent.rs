//! The gate that every write to a raw device goes through: the device is not in use, and
//! its owner has agreed to lose what is on it. In doubt it stays shut.

use std::path::{Path, PathBuf};

use cardmark_core::TargetKind;
use cardmark_device::{OpenError, OpenTarget, claim_device, loop_file, open_device_for_writing};
use cardmark_host::{
    DiskIdentity, LoopBacking, MadeKind, Resolution, Root, Use, disk_identity, resolve, usage,
};
use cardmark_report::text;

use crate::error::{CommandError, Exit};
use crate::gate::in_memory::is_in_memory;
use crate::target::choose::memory_error;
use crate::voice::Voice;

/// Consent to writing a raw device, given before.
#[derive(Clone, Debug, Default)]
pub struct Consent {
    /// True to write without asking, if the serial number fits.
    pub yes: bool,
    /// Serial number of the device that may be written.
    pub device_serial: Option<String>,
}

/// Refuses a raw device that somebody uses, the system above all. Commands that write to raw devices
/// call this before any other check, so that no message suggests a flag by which such a device could
/// be written. Directories pass, unless their files are in memory.
pub fn refuse_used(path: &Path, resolution: &Resolution) -> Result<(), CommandError> {
    match resolution.kind {
        TargetKind::Device => idle_device(path, resolution).map(drop),
        TargetKind::Directory if is_in_memory(path, resolution) => Err(memory_error(path)),
        _ => Ok(()),
    }
}

/// Opens a raw device for writing, exclusively, after it is clear that this does no harm: it is idle,
/// the person has agreed, and it is still the same device afterwards.
pub fn permit_writing(
    voice: &dyn Voice,
    path: &Path,
    resolution: &Resolution,
    consent: &Consent,
    intent: &Intent<'_>,
) -> Result<OpenTarget, CommandError> {
    ask(voice, path, resolution, consent, intent)?.open()
}

/// Planned work on a device.
pub struct Intent<'a> {
    /// The end of a sentence that begins "cardmark is going to".
    pub what: &'a str,
    /// Number of bytes to write, if known.
    pub bytes_to_write: Option<u64>,
    /// True if the content is restored afterwards.
    pub puts_back: bool,
}

/// Asks for leave to write to a raw device, which may then be made use of several times.
pub fn ask(
    voice: &dyn Voice,
    path: &Path,
    resolution: &Resolution,
    consent: &Consent,
    intent: &Intent<'_>,
) -> Result<Leave, CommandError> {
    let seen = idle_device(path, resolution)?;
    let question = || question(path, &seen, intent);
    agreed(voice, path, &seen, consent, question)?;
    Ok(Leave {
        path: path.to_owned(),
        resolution: resolution.clone(),
        seen,
    })
}

/// Consent to writing exactly this device, as it was seen.
pub struct Leave {
    path: PathBuf,
    resolution: Resolution,
    seen: DiskIdentity,
}

impl Leave {
    /// Opens the device exclusively, if it is still the same and not in use.
    pub fn open(&self) -> Result<OpenTarget, CommandError> {
        let (path, seen) = (&self.path, &self.seen);
        // Before it is opened, so that another device in its place is not even opened for writing.
        unchanged(path, &self.resolution, seen)?;
        let opened = open_device_for_writing(path).map_err(|error| refused_open(&error))?;
        unchanged(path, &self.resolution, seen)?;
        if (Some(opened.device_id), opened.size_bytes) != (seen.device_id, seen.size_bytes) {
            return Err(changed(path));
        }
        Ok(opened)
    }
}

/// Returns the device if it is not in use, otherwise an error that names the users.
pub(crate) fn idle_device(
    path: &Path,
    resolution: &Resolution,
) -> Result<DiskIdentity, CommandError> {
    let identity = look(path, resolution)?;
    claim(path, &identity)?;
    // The first to open a device after its medium was changed makes the kernel notice that.
    Ok(disk_identity(&Root::system(), &identity.name))
}

/// Checks that do not touch the device.
fn look(path: &Path, resolution: &Resolution) -> Result<DiskIdentity, CommandError> {
    let root = Root::system();
    let mut uses = Vec::new();
    let name = resolution
        .layers
        .first()
        .and_then(|layer| layer.device.as_ref());
    let Some(name) = name.filter(|_| resolution.kind == TargetKind::Device) else {
        let detail = "it is no block device that the kernel shows".to_owned();
        return Err(refused_use(path, &[Use::Unclear { detail }]));
    };
    let identity = disk_identity(&root, name);
    uses.extend(usage(&root, name, &loop_backing));
    let is_told = |one: &Use| matches!(one, Use::Unsuitable { .. });
    if resolution.memory_backed && !uses.iter().any(is_told) {
        uses.push(Use::Unsuitable {
            device: name.clone(),
            reason: "in memory, on no storage",
        });
    }
    if identity.device_id != Some(resolution.device_id) && uses.is_empty() {
        let detail = format!("{name} has another number than {}", path.display());
        uses.push(Use::Unclear { detail });
    }
    if uses.is_empty() {
        return Ok(identity);
    }
    // A user who may not read the device cannot see all its uses either.
    if uses.iter().all(Use::is_unclear)
        && let Err(error @ OpenError::NotReadable { .. }) = claim_device(path)
    {
        return Err(refused_open(&error));
    }
    Err(refused_use(path, &uses))
}

/// Asks the kernel what the loop device of that name stands on.
fn loop_backing(name: &str) -> Option<LoopBacking> {
    let found = loop_file(&device_path(name))?;
    (name == format!("loop{}", found.number)).then_some(LoopBacking {
        device_id: found.device_id,
        inode: found.inode,
        block_id: found.block_id,
    })
}

/// Asks the kernel whether anybody holds the device, its disk or another part of that, which goes
/// beyond what can be seen: ZFS, or a mount in a namespace that no process lives in.
fn claim(path: &Path, identity: &DiskIdentity) -> Result<(), CommandError> {
    let held = claim_device(path).map_err(|error| refused_open(&error))?;
    if Some(held) != identity.device_id {
        return Err(changed(path));
    }
    if identity.disk == identity.name {
        return Ok(());
    }
    let disk = device_path(&identity.disk);
    match claim_device(&disk) {
        Ok(held) if Some(held) == identity.disk_id => Ok(()),
        Err(error @ OpenError::Busy { .. }) => Err(refused_open(&error)),
        _ => {
            let detail = format!("{} does not stand for its disk", disk.display());
            Err(refused_use(path, &[Use::Unclear { detail }]))
        }
    }
}

/// Looks again: a card may be changed, or mounted, while a question waits for its answer.
fn unchanged(
    path: &Path,
    resolution: &Resolution,
    seen: &DiskIdentity,
) -> Result<(), CommandError> {
    let now = resolve(&Root::system(), path).map_err(|_| changed(path))?;
    if now.device_id != resolution.device_id || disk_identity(&Root::system(), &seen.name) != *seen
    {
        return Err(changed(path));
    }
    look(path, &now).map(drop)
}

/// Returns whether the person agrees: by flags that name exactly this device, or by typing its description.
fn agreed(
    voice: &dyn Voice,
    path: &Path,
    identity: &DiskIdentity,
    consent: &Consent,
    question: impl FnOnce() -> String,
) -> Result<(), CommandError> {
    if let (true, Some(given)) = (consent.yes, &consent.device_serial) {
        return serial_fits(path, identity, given);
    }
    let Some(answer) = voice.ask(&question()) else {
        return Err(nobody_to_ask(path, identity));
    };
    let answer = answer.map_err(|error| {
        refusal("cannot read the answer")
            .because(error.to_string())
            .hint(NOTHING_WRITTEN)
    })?;
    if is_confirmed(&answer, &to_type(identity)) {
        return Ok(());
    }
    let what = format!("`{}` was not confirmed", path.display());
    Err(refusal(what)
        .because("what was typed is not the model and size that are shown")
        .hint(NOTHING_WRITTEN))
}

/// Returns whether that was typed. White space may differ.
fn is_confirmed(line: &str, expected: &str) -> bool {
    line.split_whitespace().eq(expected.split_whitespace())
}

fn serial_fits(path: &Path, identity: &DiskIdentity, given: &str) -> Result<(), CommandError> {
    let shown = path.display();
    match &identity.serial {
        Some(serial) if serial == given.trim() => Ok(()),
        Some(_) => Err(refusal(format!("`{shown}` has another serial number"))
            .because("`--device-serial` names another device than the one that is there")
            .hint(where_serial(identity))
            .hint(NOTHING_WRITTEN)),
        None => Err(refusal(format!("`{shown}` reports no serial number"))
            .because("without one, flags cannot identify the device")
            .hint("confirm it on a terminal: leave `--yes` and `--device-serial` out")
            .hint(NOTHING_WRITTEN)),
    }
}

fn nobody_to_ask(path: &Path, identity: &DiskIdentity) -> CommandError {
    let what = format!(
        "there is no terminal to confirm that `{}` is written",
        path.display()
    );
    refusal(what)
        .because("standard input and standard error are not both a terminal")
        .hint("in a script: `--yes --device-serial SERIAL` instead of the question")
        .hint(where_serial(identity))
        .hint(NOTHING_WRITTEN)
}

fn where_serial(identity: &DiskIdentity) -> String {
    match &identity.serial_path {
        Some(file) => format!(
            "its serial number is in {}, and in the question that is asked on a terminal",
            file.display()
        ),
        None => {
            "this device reports no serial number: it can be confirmed on a terminal".to_owned()
        }
    }
}

/// Longest model that is to be typed, bytes.
const LONGEST_MODEL: usize = 32;

/// Text to type: model and size; the device's name in place of no model or a long one.
fn to_type(identity: &DiskIdentity) -> String {
    let model = identity.model.as_ref();
    let model = model.filter(|model| model.len() <= LONGEST_MODEL);
    let model = model.unwrap_or(&identity.name);
    format!("{model} {}", text::amount(identity.size_bytes))
}

fn question(path: &Path, identity: &DiskIdentity, intent: &Intent<'_>) -> String {
    let unknown = || "unknown".to_owned();
    let mut rows = vec![
        ("device", path.display().to_string()),
        ("model", identity.model.clone().unwrap_or_else(unknown)),
        ("serial", identity.serial.clone().unwrap_or_else(unknown)),
        ("size", text::capacity(identity.size_bytes)),
        ("partitions", partitions(identity, intent.puts_back)),
    ];
    if let Some(bytes) = intent.bytes_to_write {
        rows.push(("writes", text::capacity(bytes)));
    }
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, value)| format!("  {name:<11} {value}\n"))
        .collect();
    let (before, after) = match intent.puts_back {
        true => (
            "What it overwrites on this device is kept meanwhile. No test is without risk: copy first what \
             must not be lost.",
            "",
        ),
        false => (
            "The content of this device will be LOST:",
            "Its first bytes go as well, and with them its partition table or filesystem.\n",
        ),
    };
    format!(
        "cardmark is going to {}.\n{before}\n\n{}\n{after}\
         To confirm, type exactly: {}\n\
         Anything else ends here, with nothing written.",
        intent.what,
        rows.concat(),
        to_type(identity)
    )
}

fn partitions(identity: &DiskIdentity, stay: bool) -> String {
    if identity.name != identity.disk {
        return format!("it is one, of {}", identity.disk);
    }
    let each = identity.partitions.iter();
    let each: Vec<String> = each
        .map(|part| format!("{} {}", part.name, text::amount(part.size_bytes)))
        .collect();
    match (each.is_empty(), stay) {
        (true, _) => "none".to_owned(),
        (false, true) => each.join(", "),
        (false, false) => format!("{}: all are lost", each.join(", ")),
    }
}

const NOTHING_WRITTEN: &str = "nothing was written";

fn refusal(what: impl Into<String>) -> CommandError {
    CommandError::new(Exit::Refused, what)
}

fn changed(path: &Path) -> CommandError {
    refusal(format!(
        "`{}` changed while it was looked at",
        path.display()
    ))
    .because("another device, medium or partition table is there now, or none")
    .hint("nothing was written; look what is there, then try again")
}

/// Reason for which a device cannot be opened for writing. A missing permission endangers nothing.
fn refused_open(error: &OpenError) -> CommandError {
    let made = |exit| CommandError::from_error(exit, error);
    match error {
        OpenError::NotReadable { .. } | OpenError::DeviceNotWritable { .. } => {
            made(Exit::Trouble).hint("writing to a device needs root: use sudo")
        }
        OpenError::Busy { .. } => made(Exit::Refused)
            .because("the kernel refuses exclusive access")
            .hint("nothing was written; end the programs that use it: `lsblk` and `fuser -v DEVICE` may show them"),
        OpenError::WriteProtected { .. } => made(Exit::Refused).hint(WRITE_PROTECTED),
        _ => made(Exit::Refused).hint(NOTHING_WRITTEN),
    }
}

const WRITE_PROTECTED: &str = "nothing was written; a card that turned read-only by itself is often \
     at its end; check the lock switch of its adapter first, or `blockdev --setrw`";

/// Reason for which a used device may not be written: every use by name, with advice.
fn refused_use(path: &Path, uses: &[Use]) -> CommandError {
    let what = format!("`{}` may not be written to", path.display());
    let mut error = refusal(what);
    error.causes = uses.iter().map(ToString::to_string).collect();
    // Never advise to unmount the disk that the system runs from.
    let is_system = |one: &&Use| matches!(one, Use::System { .. });
    let gravest = uses.iter().find(is_system).map(std::slice::from_ref);
    for hint in gravest.unwrap_or(uses).iter().map(advice) {
        if !error.hints.contains(&hint) {
            error.hints.push(hint);
        }
    }
    error.hint(NOTHING_WRITTEN)
}

fn advice(one: &Use) -> String {
    match one {
        Use::System { .. } => "name another device; a directory is measured without harm: \
             `cardmark run DIRECTORY`"
            .to_owned(),
        Use::Mounted {
            directory, process, ..
        } => match process {
            None => format!("unmount it: umount {}", quoted(directory)),
            Some(id) => format!(
                "end process {id}, or unmount it there: nsenter --target {id} --mount umount {}",
                quoted(directory)
            ),
        },
        Use::Filesystem { device, .. } => format!(
            "unmount what is on {device}; an overlay, a container or an open file may need it"
        ),
        Use::Swap { device } => format!("end it: swapoff {}", quoted(&device_path(device))),
        Use::Made {
            holder,
            kind,
            title,
            ..
        } => release(holder, *kind, title.as_deref()),
        Use::SameFile { other, .. } | Use::MaySameFile { other, .. } => format!(
            "detach the other one: losetup --detach {}",
            device_path(other).display()
        ),
        Use::Opened { process, .. } | Use::Mapped { process, .. } => {
            format!("end process {process}")
        }
        Use::Served { setting, .. } => format!("end the service in {}", setting.display()),
        Use::Unsuitable { .. } => "name another device".to_owned(),
        Use::ReadOnly { .. } => WRITE_PROTECTED.to_owned(),
        Use::NoMedium { .. } => "put a card into it, or name another device".to_owned(),
        Use::Unclear { .. } => {
            "run as root, outside containers or with `--pid host --cap-add SYS_PTRACE`; end the process \
             that is named, if there is one; the image of a loop device must exist at the path that \
             losetup shows, and not on an overlay"
                .to_owned()
        }
    }
}

/// Advice for taking apart a device that is made from others.
fn release(holder: &str, kind: MadeKind, title: Option<&str>) -> String {
    let path = device_path(holder);
    let path = path.display();
    let name = title.unwrap_or(holder);
    match kind {
        MadeKind::Lvm => format!("deactivate the volume: lvchange --activate n {path}"),
        MadeKind::Crypt => format!("close it: cryptsetup close {name}"),
        MadeKind::Mapper => format!("remove it: dmsetup remove {name}"),
        MadeKind::Raid => format!("stop the array: mdadm --stop {path}"),
        MadeKind::Bcache => format!("take it out of the cache first: {holder}"),
        MadeKind::Loop => format!("detach it: losetup --detach {path}"),
        MadeKind::Other => format!("release {path} first"),
    }
}

/// The usual path of a device; sysfs writes `!` for `/`. Paths, as of swap files, stay as they are.
fn device_path(name: &str) -> PathBuf {
    if name.starts_with('/') {
        return name.into();
    }
    Path::new("/dev").join(name.replace('!', "/"))
}

/// A path as a shell takes it.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@".contains(c);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests;

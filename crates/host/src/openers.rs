//! Which processes have a block device open for writing, as a virtual machine has its disk.

use std::fs;
use std::path::PathBuf;

use crate::Root;
use crate::root::{FileKind, names_in};
use crate::stack::Stack;
use crate::usage::processes;
use crate::uses::Use;

/// Bits of the flags in `fdinfo` that tell the way a file was opened; 0 is reading alone.
const WAY_BITS: u32 = 0o3;

/// Every other process that has a member open for writing, as far as this one may see.
pub(crate) fn openers(root: &Root, stack: &Stack) -> Vec<Use> {
    let own = std::process::id();
    let others = processes(root).into_iter().filter(|id| *id != own);
    others
        .flat_map(|process| opened_by(root, stack, process))
        .collect()
}

fn opened_by(root: &Root, stack: &Stack, process: u32) -> Vec<Use> {
    let folder = PathBuf::from(format!("/proc/{process}/fd"));
    let opened = |number: String| {
        let path = folder.join(&number);
        // The name is read first: a look at a file on a server that is gone does not return.
        let named = fs::read_link(root.path(&path)).ok()?;
        let FileKind::Block(device) = named
            .starts_with("/dev")
            .then(|| root.stat(&path).ok())??
            .kind
        else {
            return None;
        };
        let device = stack.by_number(device)?.name.clone();
        writes(&root.text(format!("/proc/{process}/fdinfo/{number}"))?).then(|| Use::Opened {
            device,
            process,
            command: root
                .text(format!("/proc/{process}/comm"))
                .unwrap_or_default(),
        })
    };
    names_in(root.path(&folder))
        .into_iter()
        .filter_map(opened)
        .collect()
}

/// Whether the text of `fdinfo` tells of a file that was opened for writing.
fn writes(text: &str) -> bool {
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    flags.is_some_and(|flags| flags & WAY_BITS != 0)
}

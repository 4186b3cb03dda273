//! Checks of a program before it is packed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use super::build::Build;
use super::target::Target;
use super::tools::{Tools, output};
use crate::project::Error;

/// Processor of the first Raspberry Pi and of the Zero.
const OLDEST_ARM: &str = "arm1176jzf-s";
/// What newer ARM processors have and this one lacks, even if the program's attributes name it.
const NOT_THERE: &str = "-hwdiv-arm,-d32,-vfp3,-vfp3d16sp,-neon,-thumb2";
/// Functions with newer instructions that an older processor never reaches. musl chooses its own by the processor
/// found; LLVM's libunwind has two for frames that saved the registers d16 to d31, and no frame of an ARMv6 program has.
const NEVER_REACHED: [&str; 4] = [
    "__a_barrier_v7",
    "__a_cas_v7",
    "_ZN9libunwind13Registers_arm9saveVFPv3EPv",
    "_ZN9libunwind13Registers_arm12restoreVFPv3EPv",
];

/// Parts of names of ring's functions for processors with NEON, which it detects by `AT_HWCAP`. `qemu-arm -cpu arm1176` runs
/// its TLS without them.
const WITH_NEON: [&str; 5] = ["_neon", "_NEON", "bsaes_", "vpaes_", "_poly1305_neon2_"];

/// Places within `x25519_NEON` of ring that have names of their own.
const IN_X25519_NEON: [&str; 7] = [
    "._squaringloop",
    "._skipsquaringloop",
    "._mainloop",
    "._mainloop2",
    "._invertloop",
    "._skippostcopy",
    "._end",
];

/// Returns whether an ARMv6 processor never comes to a function.
fn is_never_reached(function: &str) -> bool {
    let is_of_ring = ["ring_core_", "_bsaes_", "_vpaes_"]
        .iter()
        .any(|beginning| function.starts_with(beginning));
    let has_neon = || WITH_NEON.iter().any(|part| function.contains(part));
    NEVER_REACHED.contains(&function)
        || IN_X25519_NEON.contains(&function)
        || is_of_ring && has_neon()
}

/// Returns the problems of a program, which is there twice: with symbols, and as packed.
pub(super) fn check(
    tools: &Tools,
    build: &Build,
    target: &Target,
    unstripped: &Path,
    program: &Path,
) -> Result<Vec<String>, Error> {
    let options = [OsStr::new("-lWdA"), program.as_os_str()];
    let headers = output("readelf", options)?;
    let mut problems = not_static(&headers);
    if target.name == "arm" {
        problems.extend(newer_attributes(&headers));
        let text = tools.disassembly(unstripped, OLDEST_ARM, NOT_THERE)?;
        problems.extend(newer_instructions(&text));
    }
    let folders = build
        .renamed
        .iter()
        .filter_map(|(folder, _)| folder.to_str());
    problems.extend(folder_names(&std::fs::read(program)?, folders));
    problems.extend(wrong_version(
        target,
        build,
        &target.run(program, &["--version"])?,
    ));
    for problem in &mut problems {
        *problem = format!("{}: {problem}", target.triple);
    }
    Ok(problems)
}

fn not_static(headers: &str) -> Vec<String> {
    let lines = headers.lines().map(str::trim);
    let needs = lines.filter(|line| line.starts_with("INTERP") || line.contains("(NEEDED)"));
    needs.map(|line| format!("not static: {line}")).collect()
}

/// Attributes of the program other than those of ARMv6 with VFPv2.
fn newer_attributes(headers: &str) -> Vec<String> {
    let attributes: BTreeMap<&str, &str> = headers
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Tag_")?.split_once(": "))
        .collect();
    let wanted = [
        ("CPU_arch", &["v6", "v6KZ"][..]),
        ("FP_arch", &["VFPv2"]),
        ("ABI_VFP_args", &["VFP registers"]),
    ];
    let mut problems = Vec::new();
    for (name, values) in wanted {
        let found = attributes.get(name).copied().unwrap_or("nothing");
        if !values.contains(&found) {
            problems.push(format!(
                "Tag_{name} is {found}, not {}",
                values.join(" or ")
            ));
        }
    }
    problems
}

/// Functions of a disassembly with instructions that the oldest processor lacks.
fn newer_instructions(disassembly: &str) -> Vec<String> {
    let mut function = "";
    let mut found = BTreeMap::<&str, BTreeSet<&str>>::new();
    let mut instructions = 0_usize;
    for line in disassembly.lines() {
        if let Some(name) = line.strip_suffix(">:") {
            function = name.split_once('<').map_or(name, |(_, name)| name);
        } else if let Some((address, code)) = line.split_once(": ") {
            instructions += 1;
            if code.contains("<unknown>") && !is_never_reached(function) {
                let code = code.split_whitespace().next().unwrap_or(address);
                found.entry(function).or_default().insert(code);
            }
        }
    }
    if instructions == 0 {
        return vec!["the disassembly is empty".to_owned()];
    }
    let problem = |(function, codes): (&str, BTreeSet<&str>)| {
        let codes: Vec<&str> = codes.into_iter().collect();
        format!("newer than ARMv6 in {function}: {}", codes.join(" "))
    };
    found.into_iter().map(problem).collect()
}

/// Folders of the building machine that are named in the program.
fn folder_names<'a>(bytes: &[u8], folders: impl Iterator<Item = &'a str>) -> Vec<String> {
    let named = |folder: &&str| {
        bytes
            .windows(folder.len())
            .any(|part| part == folder.as_bytes())
    };
    let problem = |folder| format!("names a folder of this machine: {folder}");
    folders.filter(named).map(problem).collect()
}

fn wrong_version(target: &Target, build: &Build, printed: &str) -> Option<String> {
    let begin = format!("cardmark {} (", build.version);
    let end = format!(", {}, release)", target.triple);
    let is_right = printed.starts_with(&begin) && printed.trim_end().ends_with(&end);
    (!is_right).then(|| format!("--version prints `{}`", printed.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // Output of binutils 2.40 and LLVM 21 about programs linked by Debian's compiler for armhf and by zig.
    const HEADERS_DEBIAN: &str = "
  INTERP         0x000154 0x00010154 0x00010154 0x00019 0x00019 R   0x1
      [Requesting program interpreter: /lib/ld-linux-armhf.so.3]
 0x00000001 (NEEDED)                     Shared library: [libc.so.6]
Attribute Section: aeabi
File Attributes
  Tag_CPU_name: \"7-A\"
  Tag_CPU_arch: v7
  Tag_FP_arch: VFPv3-D16
  Tag_ABI_VFP_args: VFP registers
";
    const DISASSEMBLY: &str = "
a7.o:	file format elf32-littlearm

Disassembly of section .text:

00000000 <a>:
       0: e92d4800     	push	{r11, lr}
       8: e3020345     	<unknown>
       c: e3400001     	<unknown>
      10: e8bd8800     	pop	{r11, pc}

00000044 <__a_barrier_v7>:
      4c: f57ff05b     	<unknown>

00000078 <h>:
      80: e1b00f9f     	ldrexd	r0, r1, [r0]
";

    #[test]
    fn a_dynamic_program_for_armv7_is_found_out() {
        assert_eq!(not_static(HEADERS_DEBIAN).len(), 2);
        assert_eq!(
            newer_attributes(HEADERS_DEBIAN),
            [
                "Tag_CPU_arch is v7, not v6 or v6KZ",
                "Tag_FP_arch is VFPv3-D16, not VFPv2"
            ]
        );
        assert_eq!(newer_attributes("").len(), 3);
    }

    #[test]
    fn only_functions_of_ring_for_neon_are_never_reached() {
        for name in [
            "ring_core_0_17_14__x25519_NEON",
            "ring_core_0_17_14__sha512_block_data_order_neon",
            "ring_core_0_17_14__openssl_poly1305_neon2_addmulmod",
            "ring_core_0_17_14__bsaes_ctr32_encrypt_blocks",
            "_vpaes_schedule_low_round",
        ] {
            assert!(is_never_reached(name), "{name}");
        }
        for name in [
            "ring_core_0_17_14__sha256_block_data_order_nohw",
            "my_neon",
            "main",
        ] {
            assert!(!is_never_reached(name), "{name}");
        }
    }

    #[test]
    fn instructions_of_armv7_are_found_except_where_musl_chooses() {
        assert_eq!(
            newer_instructions(DISASSEMBLY),
            ["newer than ARMv6 in a: e3020345 e3400001"]
        );
        assert_eq!(newer_instructions(""), ["the disassembly is empty"]);
    }

    #[test]
    fn folders_of_the_builder_are_found() {
        let bytes = b"\0at /home/u/p/src/a.rs\0";
        let found = folder_names(bytes, ["/home/u/p", "/home/v"].into_iter());
        assert_eq!(found, ["names a folder of this machine: /home/u/p"]);
    }
}

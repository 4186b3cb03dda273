//! Service and timer of `watch`, without a running systemd.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cardmark_testkit::{install_script, needs, run_tool};

use crate::common::{assert_error, folder, program, scratch, text};

/// Writes and removes units in a tree of mounts of its own.
const INSTALL_AND_REMOVE: &str = r#"set -e
mkdir -p /etc/systemd/system
mount -t tmpfs none /etc/systemd/system
mount -t tmpfs none /run
mkdir -p /run/systemd/system
program=$1 target=$2 copies=$3
"$program" watch "$target" --install --format prometheus --output "$copies/a b.prom"
cp /etc/systemd/system/* "$copies"
"$program" watch --uninstall
ls /etc/systemd/system >"$copies/left"
! "$program" watch --uninstall
"#;
/// Rights of the service.
const RIGHTS: &str = "-all,+syslog,+sys_admin,+sys_rawio";

fn packaged(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../packaging/systemd");
    folder.join(name)
}

fn is_hardened(service: &Path) {
    let words = [
        "security",
        "--offline=true",
        "--threshold=20",
        text(service),
    ];
    run_tool("systemd-analyze", &words);
}

#[test]
fn the_service_is_hardened() {
    needs!(SystemdAnalyze);
    is_hardened(&packaged("cardmark-watch.service"));
}

#[test]
fn units_are_written_started_and_removed() {
    needs!(Root, Unshare, SystemdAnalyze);
    let scratch = scratch();
    let target = folder(&scratch);
    let (tools, copies) = (scratch.path().join("tools"), scratch.path().join("copies"));
    std::fs::create_dir(&tools).unwrap();
    std::fs::create_dir(&copies).unwrap();
    let calls = scratch.path().join("calls");
    let script = format!("echo \"$*\" >>'{}'", calls.display());
    install_script(&script, &tools.join("systemctl"));
    let program = program(&scratch).with_path(&tools);
    let wrapper = ["unshare", "--mount", "sh", "-c", INSTALL_AND_REMOVE, "sh"];
    let output = program
        .start_under(&wrapper, &[text(&target), text(&copies)])
        .wait();
    assert_eq!(output.code, 0, "{output}");
    let read = |name: &str| std::fs::read_to_string(copies.join(name)).unwrap();
    let service = read("cardmark-watch.service");
    assert!(output.stdout.contains(&service), "{output}");
    assert!(
        output.stdout.contains(&read("cardmark-watch.timer")),
        "{output}"
    );
    let command = format!(
        "watch {} --format prometheus --output \"{}\"\nReadWritePaths={}\n",
        text(&target),
        text(&copies.join("a b.prom")),
        text(&copies)
    );
    assert!(service.contains(&command), "{service}");
    assert_eq!(read("left"), "");
    let timer = "cardmark-watch.timer";
    let expected = format!(
        "daemon-reload\nenable --now {timer}\nstart cardmark-watch.service\ndisable --now {timer}\ndaemon-reload\n"
    );
    assert_eq!(std::fs::read_to_string(&calls).unwrap(), expected);
    assert!(output.stderr.contains("error: no service"), "{output}");
    let units = ["cardmark-watch.service", timer].map(|name| copies.join(name));
    is_hardened(&units[0]);
    let words = ["verify", "--man=no", text(&units[0]), text(&units[1])];
    run_tool("systemd-analyze", &words);
}

#[test]
fn only_root_installs() {
    needs!(Root);
    let scratch = scratch();
    let program = program(&scratch).as_user(crate::common::NOBODY);
    for option in ["--install", "--uninstall"] {
        let output = program.run(&["watch", option]);
        assert_error(&output, 4, &["only root may use", "sudo cardmark watch --"]);
    }
}

/// Sets of system calls by their names, as systemd lists them.
fn call_sets() -> BTreeMap<String, Vec<String>> {
    let listed = Command::new("systemd-analyze")
        .arg("syscall-filter")
        .output();
    let listed = String::from_utf8(listed.unwrap().stdout).unwrap();
    let mut sets = BTreeMap::<String, Vec<String>>::new();
    let mut name = String::new();
    for line in listed.lines() {
        match line.trim() {
            "" => {}
            word if word.starts_with('#') => {}
            word if line.starts_with('@') => word.clone_into(&mut name),
            word => sets.entry(name.clone()).or_default().push(word.to_owned()),
        }
    }
    sets
}

/// The system calls of a set and the sets in it.
fn calls_of(sets: &BTreeMap<String, Vec<String>>, name: &str) -> BTreeSet<String> {
    let words = sets.get(name).into_iter().flatten();
    words
        .flat_map(|word| match word.starts_with('@') {
            true => calls_of(sets, word),
            false => BTreeSet::from([word.clone()]),
        })
        .collect()
}

/// A look needs no more rights and system calls than the service has.
#[test]
fn a_look_needs_what_the_service_allows() {
    needs!(Root, Strace, SystemdAnalyze);
    let scratch = scratch();
    let program = program(&scratch);
    let trace = scratch.path().join("trace");
    let strace = ["strace", "-f", "-qq", "-o", text(&trace)];
    let limited = ["setpriv", "--no-new-privs", "--bounding-set", RIGHTS];
    let arguments = ["watch", text(scratch.path()), "--format", "json"];
    let output = program
        .start_under(&[&limited[..], &strace[..]].concat(), &arguments)
        .wait();
    assert_eq!(output.code, 0, "{output}");
    let limited: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let free = program.run(&arguments);
    let free: serde_json::Value = serde_json::from_str(&free.stdout).unwrap();
    for pointer in ["/look/log/next", "/look/disks/0/health"] {
        let is_known =
            |look: &serde_json::Value| look.pointer(pointer).is_some_and(|value| !value.is_null());
        assert_eq!(is_known(&limited), is_known(&free), "{pointer}");
    }
    let sets = call_sets();
    let mut allowed = calls_of(&sets, "@system-service");
    allowed.extend(calls_of(&sets, "@default"));
    for set in ["@privileged", "@resources"] {
        let denied = calls_of(&sets, set);
        allowed.retain(|call| !denied.contains(call));
    }
    let text = std::fs::read_to_string(&trace).unwrap();
    let calls = text.lines().filter_map(|line| {
        let call = line.split_once(' ')?.1.trim_start();
        let name = call.split_once('(')?.0;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        (name.chars().all(is_name)).then(|| name.to_owned())
    });
    let calls: BTreeSet<String> = calls.collect();
    assert!(calls.contains("openat"), "{calls:?}");
    let others: Vec<&String> = calls.difference(&allowed).collect();
    assert!(others.is_empty(), "not allowed: {others:?}");
}

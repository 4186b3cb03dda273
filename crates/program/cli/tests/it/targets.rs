//! A run of a directory as a process: what it prints, and who may write. Targets of all kinds are tested in `session`.

use cardmark_testkit::Program;

use crate::common::{
    BINARY, NOBODY, QUICKEST, assert_empty, assert_error, assert_nothing_kept, folder, program,
    scratch, text,
};

#[test]
fn a_run_prints_its_progress_and_its_result() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let label = "--label=product=Test 32 GB";
    let output = program.run(&["run", text(&folder), QUICKEST, label, "--seed=0x2a"]);
    assert_eq!(output.code, 0, "{output}");
    assert!(output.stdout.contains("random read 4 KiB"), "{output}");
    for part in ["laying out the file, part 1", "1/1 random read 4 KiB"] {
        assert!(output.stderr.contains(part), "{output}");
    }
    assert_empty(&folder);
    assert!(program.journals().is_empty());
    assert_eq!(program.runs_count(), 1);
    let record = program.last();
    assert_eq!(record.labels["product"], "Test 32 GB");
    assert_eq!(record.seed.as_deref(), Some("000000000000002a"));
}

#[test]
fn a_directory_that_is_not_writable() {
    // In a place that everybody may enter.
    let scratch = tempfile::tempdir_in("/var/tmp").unwrap();
    let everybody = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(scratch.path(), everybody).unwrap();
    let folder = folder(&scratch);
    let nobody_writes = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    std::fs::set_permissions(&folder, nobody_writes).unwrap();
    let mut program = Program::new(&BINARY, scratch.path());
    if rustix::process::geteuid().is_root() {
        program = program.as_user(NOBODY);
    }
    let output = program.run(&["run", text(&folder)]);
    assert_error(
        &output,
        3,
        &[
            "no permission to write in `",
            "hint: name a directory that you may write in",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(&folder);
}

//! Words that the program does not understand, and what it writes where.

use cardmark_testkit::{Mount, needs};

use crate::common::{
    MIB, QUICKEST, assert_empty, assert_error, assert_nothing_kept, folder, program, scratch, text,
};

#[test]
fn unknown_names_are_told_with_the_known_ones() {
    let scratch = scratch();
    let program = program(&scratch);
    let cases: [(&[&str], &[&str]); 6] = [
        (
            &["run", "sim:a1-32gb", "--suite=fast"],
            &[
                "no suite `fast`; there is quick",
                "hint: `cardmark list suites`",
            ],
        ),
        (
            &["run", "sim:a1-32gb", "--only=rand_read_8k"],
            &[
                "no workload `rand_read_8k` in suite `quick`",
                "rand_read_4k",
            ],
        ),
        (
            &["run", "sim:a1-23gb"],
            &[
                "no model `a1-23gb`; perhaps a1-32gb",
                "hint: `cardmark list models`",
            ],
        ),
        (&["measure"], &["unrecognized subcommand"]),
        (&["run", "--seed=xyz"], &["expected a whole number"]),
        (&["run", "--timeout=0"], &["0"]),
    ];
    for (arguments, said) in cases {
        let output = program.run(arguments);
        assert_error(&output, 2, said);
        assert_nothing_kept(&program, &output);
    }
}

#[test]
fn a_directory_cannot_be_read_only() {
    let scratch = scratch();
    let (program, folder) = (program(&scratch), folder(&scratch));
    let output = program.run(&["run", text(&folder), "--read-only"]);
    assert_error(
        &output,
        2,
        &[
            "cannot measure a directory read-only",
            "hint: leave `--read-only` out",
        ],
    );
    assert_nothing_kept(&program, &output);
    assert_empty(&folder);
}

#[test]
fn only_some_workloads() {
    let scratch = scratch();
    let program = program(&scratch);
    let only = "--only=seq_read_1m,rand_read_4k";
    let output = program.run(&["run", "sim:a1-32gb", only, "--json=-"]);
    assert_eq!(output.code, 0, "{output}");
    let record = output.record();
    assert_eq!(
        record.suite.as_ref().unwrap().only,
        ["seq_read_1m", "rand_read_4k"]
    );
    assert!(record.metric("rand_write_4k").is_none());
    assert!(record.metric("rand_read_4k_p99").is_some());
    let output = program.run(&["run", "sim:a1-32gb", "--read-only", "--json=-"]);
    let record = output.record();
    assert_eq!((output.code, record.written_bytes), (0, 0));
    assert!(record.metric("seq_write_1m").is_none());
    assert!(record.metric("seq_read_1m").is_some());
}

#[test]
fn the_record_goes_to_a_file_or_to_standard_output() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = program.file("record.json");
    let to_file = format!("--json={}", text(&file));
    let shown = program.run(&["run", "sim:a1-32gb", &to_file]);
    assert_eq!(shown.code, 0, "{shown}");
    assert!(shown.stdout.contains("random read 4 KiB"), "{shown}");
    let printed = program.run(&["run", "sim:a1-32gb", "--json=-"]);
    assert_eq!(printed.code, 0, "{printed}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), printed.stdout);
    assert_eq!(program.run(&["show", text(&file)]).stdout, shown.stdout);
    assert_eq!(
        program.run(&["show", text(&file), "--json"]).stdout,
        printed.stdout
    );
}

#[test]
fn a_record_that_cannot_be_written_is_told_before_anything_is_measured() {
    let scratch = scratch();
    let program = program(&scratch);
    let missing = program.file("missing/record.json");
    for path in [&*missing, scratch.path()] {
        let output = program.run(&["run", "sim:a1-32gb", &format!("--json={}", text(path))]);
        assert_error(&output, 2, &["cannot write to `", "cause: it"]);
        assert_nothing_kept(&program, &output);
    }
    assert!(!missing.parent().unwrap().exists());
}

#[test]
fn a_file_that_is_no_record() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = program.file("notes.txt");
    for content in ["remember the milk", "{}", "[1, 2]", "{\"format\": 99}", ""] {
        std::fs::write(&file, content).unwrap();
        let output = program.run(&["show", text(&file)]);
        assert_error(&output, 2, &["cannot read record `", "cause: "]);
        assert_eq!(output.stdout, "", "{output}");
    }
    std::fs::write(&file, b"\xff\xfe\x00").unwrap();
    let output = program.run(&["show", text(&file)]);
    assert_error(&output, 2, &["cannot read record `"]);
}

#[test]
fn the_lists_are_tables_or_json() {
    let scratch = scratch();
    let program = program(&scratch);
    for (what, name) in [("suites", "quick"), ("models", "sim:a1-32gb")] {
        let table = program.run(&["list", what]);
        assert!(table.stdout.contains(name), "{table}");
        let json = program.run(&["list", what, "--json"]).stdout;
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        assert!(rows.iter().any(|row| row["name"] == name), "{json}");
    }
    // A list of what is built in needs no store.
    assert!(!program.data().exists());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let scratch = scratch();
    let program = program(&scratch);
    let mut child = program.command(&["list", "models"]).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// Names of the commands in the list of `--help`, without `help` itself.
fn commands(help: &str) -> Vec<&str> {
    let is_before_options = |line: &&str| *line != "Options:";
    let groups = help.lines().take_while(is_before_options);
    let list = groups.skip_while(|line| !line.starts_with("Usage:"));
    // Lines of long descriptions are indented further.
    let entries = list.filter_map(|line| line.strip_prefix("  "));
    let names = entries.filter_map(|entry| entry.split(' ').next());
    names.filter(|name| !["", "help"].contains(name)).collect()
}

#[test]
fn each_command_has_a_man_page_with_its_examples() {
    let scratch = scratch();
    let program = program(&scratch);
    let folder = scratch.path().join("generated");
    let output = program.run(&["generate", text(&folder)]);
    assert!(output.code == 0 && output.stdout.is_empty(), "{output}");
    let help = program.run(&["--help"]).stdout;
    let commands = commands(&help);
    assert!(commands.contains(&"run"), "{help}");
    let pages = commands.iter().map(|name| format!("cardmark-{name}.1"));
    let mut expected: Vec<String> = pages.chain(["cardmark.1".to_owned()]).collect();
    expected.sort();
    let pages = std::fs::read_dir(folder.join("man")).unwrap();
    let mut pages: Vec<_> = pages
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    assert_eq!(pages, expected);
    for name in &pages {
        let page = std::fs::read_to_string(folder.join("man").join(name)).unwrap();
        assert!(
            page.contains(".TH cardmark") && page.contains("\n.SH EXAMPLES\n"),
            "{name}"
        );
    }
}

#[test]
fn the_shell_completes_commands_and_options() {
    let scratch = scratch();
    let folder = scratch.path().join("generated");
    let output = program(&scratch).run(&["generate", text(&folder)]);
    assert_eq!(output.code, 0, "{output}");
    let completed = |words: &str| {
        let script = "source \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1))
            _cardmark cardmark \"${@: -1}\" \"${@: -2:1}\"; echo \"${COMPREPLY[@]}\"";
        let output = std::process::Command::new("bash")
            .args([
                "-c",
                script,
                text(&folder.join("completions/cardmark.bash")),
            ])
            .args(words.split(' '))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(completed("cardmark recov"), "recover\n");
    assert_eq!(completed("cardmark verify --read"), "--read-only\n");
    let known = |name: &str, start: &str| {
        let text = std::fs::read_to_string(folder.join("completions").join(name)).unwrap();
        assert!(text.contains(start), "{name}");
    };
    known("_cardmark", "#compdef cardmark\n");
    known("cardmark.fish", "complete -c cardmark ");
}

#[test]
fn generated_files_need_a_folder_that_can_be_written() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = program.file("file");
    std::fs::write(&file, "").unwrap();
    let output = program.run(&["generate", text(&file)]);
    assert_error(&output, 2, &["cannot write to `"]);
}

#[test]
fn a_directory_is_named_in_the_command_that_tests_its_capacity() {
    needs!(Root, LoopDevice, Ext4);
    let scratch = scratch();
    let program = program(&scratch);
    // A disk of its own: on that of the running system the command is another one.
    let card = Mount::ext4(scratch.path(), 512 * MIB);
    let directory = card.folder().join("my card");
    std::fs::create_dir(&directory).unwrap();
    let output = program
        .columns(200)
        .run(&["run", text(&directory), QUICKEST]);
    assert_eq!(output.code, 0, "{output}");
    let expected = format!("→ cardmark verify '{}'\n", directory.display());
    assert!(output.stdout.contains(&expected), "{output}");
}

#[test]
fn a_file_behind_json_is_told_with_the_sign_that_it_needs() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&["run", "sim:a1-32gb", "--json", "a.json"]);
    assert_error(
        &output,
        2,
        &[
            "unexpected argument 'a.json'",
            "hint: `--json=a.json` writes",
        ],
    );
    assert_nothing_kept(&program, &output);
}

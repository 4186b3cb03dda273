//! `cardmark` alone.

use cardmark_testkit::needs;

use crate::common::{assert_error, assert_nothing_kept, program, scratch};

#[test]
fn without_a_terminal_it_shows_what_is_there_and_how_to_go_on() {
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run(&[]);
    assert_error(
        &output,
        2,
        &[
            "What is here:",
            "the directory you are in",
            "there is no terminal to ask",
            "hint: name the target: `cardmark run DIRECTORY`",
        ],
    );
    assert_nothing_kept(&program, &output);
}

#[test]
fn on_a_terminal_enter_or_q_ends() {
    needs!(Script);
    let scratch = scratch();
    let program = program(&scratch);
    for answer in ["\n", "q\n", ".\nexit\n"] {
        let output = program.run_on_terminal(answer);
        assert_eq!(output.code, 0, "{output}");
        assert!(output.stdout.contains("q = quit"), "{output}");
        assert_eq!(program.runs_count(), 0);
    }
}

#[test]
fn on_a_terminal_it_asks_until_the_answer_makes_sense() {
    needs!(Script);
    let scratch = scratch();
    let program = program(&scratch);
    let output = program.run_on_terminal("9999\n\n");
    assert_eq!(output.code, 0, "{output}");
    assert!(
        output.stdout.contains("`9999` is not in the list"),
        "{output}"
    );
    assert_eq!(program.runs_count(), 0);
}

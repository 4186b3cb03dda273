//! `cardmark` alone: asks which card, and what to find out about it.

mod steps;
mod target;

use std::ffi::OsString;
use std::io::{BufRead, IsTerminal};

use cardmark_host::Root;
use cardmark_judge::{Promise, suites_for};
use cardmark_report::wrap;
use clap::Parser;

use crate::args::Arguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use steps::{Question, steps};
use target::{Target, targets};

/// Columns before the text of a numbered line.
const NUMBER_WIDTH: usize = 5;

/// Executes a command line.
type Execute = fn(Arguments) -> Result<Exit, CommandError>;

/// Asks which card, and what to find out about it; then executes the commands that answer it.
pub(crate) fn beginner(execute: Execute) -> Result<Exit, CommandError> {
    let targets = targets(&Root::system());
    let introduction = "cardmark measures microSD cards and other storage.";
    print::notice(&(wrap(introduction, print::width(), 0).join("\n") + "\n"));
    print::notice(&menu(&targets));
    if !std::io::stdin().is_terminal() {
        return Err(
            CommandError::new(Exit::Usage, "there is no terminal to ask what to test")
                .because("standard input is not a terminal")
                .hint("name the target: `cardmark run DIRECTORY`; `cardmark --help` shows more"),
        );
    }
    let answers = answers(&mut std::io::stdin().lock(), &targets)?;
    match answers {
        Some(steps) => follow(&steps, execute),
        None => Ok(Exit::Done),
    }
}

/// Asks until it is known what to do. `None`: the person wants to do nothing.
fn answers(
    input: &mut impl BufRead,
    targets: &[(Target, String)],
) -> Result<Option<Vec<Vec<OsString>>>, CommandError> {
    let here = Target::Directory {
        path: ".".into(),
        disk: None,
    };
    let which = format!("Which one? {}, . = here, q = quit", numbers(targets.len()));
    let chosen = ask(input, &which, |answer| {
        if answer == "." {
            return Ok(here.clone());
        }
        let found = index(answer).and_then(|index| targets.get(index));
        found
            .map(|(target, _)| target.clone())
            .ok_or_else(|| not_listed(answer))
    })?;
    let Some(target) = chosen else {
        return Ok(None);
    };
    print::notice(&questions(&target));
    let which = format!("Which one? {}, q = quit", numbers(Question::ALL.len()));
    let chosen = ask(input, &which, |answer| {
        let found = index(answer).and_then(|index| Question::ALL.get(index));
        found.copied().ok_or_else(|| not_listed(answer))
    })?;
    let Some(question) = chosen else {
        return Ok(None);
    };
    let promises = match question {
        Question::Label | Question::All => ask_for_promises(input, question)?,
        Question::Speed | Question::Capacity => Some(Vec::new()),
    };
    Ok(promises.map(|promises| steps(&target, question, &promises)))
}

/// `1` or `1-7`.
fn numbers(count: usize) -> String {
    match count {
        0 | 1 => count.to_string(),
        _ => format!("1-{count}"),
    }
}

fn index(answer: &str) -> Option<usize> {
    answer.parse::<usize>().ok()?.checked_sub(1)
}

/// Targets as a numbered list.
fn menu(targets: &[(Target, String)]) -> String {
    let mut lines = vec!["What is here:".to_owned()];
    for (index, (_, line)) in targets.iter().enumerate() {
        lines.extend(numbered(&(index + 1).to_string(), line));
    }
    lines.extend(numbered(".", "the directory you are in"));
    lines.join("\n") + "\n"
}

fn questions(target: &Target) -> String {
    let mut lines = vec![String::new(), "What do you want to know?".to_owned()];
    for (index, question) in Question::ALL.into_iter().enumerate() {
        lines.extend(numbered(&(index + 1).to_string(), question.text(target)));
    }
    if let Target::Directory {
        disk: Some(disk), ..
    } = target
    {
        let quicker = "To check the capacity within minutes, unmount the card and enter:";
        lines.extend(wrap(quicker, print::width(), 0));
        lines.push(format!("  sudo cardmark probe {disk}"));
    }
    lines.join("\n") + "\n"
}

fn numbered(number: &str, text: &str) -> Vec<String> {
    let lines = wrap(text, print::width().saturating_sub(NUMBER_WIDTH), 0);
    let numbers = std::iter::once(number).chain(std::iter::repeat(""));
    lines
        .iter()
        .zip(numbers)
        .map(|(line, number)| format!("  {number:<3}{line}"))
        .collect()
}

fn not_listed(answer: &str) -> String {
    format!("`{answer}` is not in the list")
}

/// Asks until the answer makes sense, and shows why one does not; `None` to quit.
fn ask<T>(
    input: &mut impl BufRead,
    question: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, CommandError> {
    loop {
        print::notice(question);
        let Some(answer) = line(input)? else {
            return Ok(None);
        };
        match read(&answer) {
            Ok(answer) => return Ok(Some(answer)),
            Err(reason) => print::notice(&reason),
        }
    }
}

/// A line that is not empty; `None` for nothing, or a word that quits.
fn line(input: &mut impl BufRead) -> Result<Option<String>, CommandError> {
    let mut line = String::new();
    input.read_line(&mut line).map_err(|error| {
        CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
    })?;
    let answer = line.trim();
    let quits = ["", "q", "quit", "exit"];
    Ok((!quits.contains(&answer.to_lowercase().as_str())).then(|| answer.to_owned()))
}

/// Asks for the promises on the label; of `All`, nothing is an answer too.
fn ask_for_promises(
    input: &mut impl BufRead,
    question: Question,
) -> Result<Option<Vec<Promise>>, CommandError> {
    let quits = match question {
        Question::All => "Enter = nothing",
        _ => "q = quit",
    };
    let text = format!("What does the label promise? Such as: A1 V30 U3 130MB/s; {quits}");
    let promises = ask(input, &text, promises_of)?;
    let Some(promises) = promises else {
        return Ok((question == Question::All).then(Vec::new));
    };
    for promise in suites_for(&promises).1 {
        print::notice(&match promise {
            Promise::Capacity(_) => {
                format!("{promise}: the test of capacity shows how much is real")
            }
            _ => format!(
                "{promise}: nothing here tests it; `cardmark explain {promise}` explains it"
            ),
        });
    }
    Ok(Some(promises))
}

/// The promises of an answer, in any order; rates also without a stroke, as `130MBs`.
fn promises_of(answer: &str) -> Result<Vec<Promise>, String> {
    let words = answer.split([' ', ',']).filter(|word| !word.is_empty());
    let read = |word: &str| {
        let rate = word
            .to_lowercase()
            .strip_suffix("mbs")
            .map(|number| format!("{number}MB/s"));
        let promise = Promise::parse(word).or_else(|| Promise::parse(&rate?));
        promise.ok_or_else(|| word.to_owned())
    };
    let (known, unknown): (Vec<_>, Vec<_>) = words.map(read).partition(Result::is_ok);
    let unknown: Vec<String> = unknown.into_iter().filter_map(Result::err).collect();
    match unknown.is_empty() {
        true => Ok(known.into_iter().flatten().collect()),
        false => Err(format!(
            "not understood: {}. Write classes such as C10, U3, V30 or A1, rates such as 130MB/s, capacities such as \
             64GB",
            unknown.join(", ")
        )),
    }
}

/// Executes the steps as if each had been entered; ends with the worst status.
fn follow(steps: &[Vec<OsString>], execute: Execute) -> Result<Exit, CommandError> {
    let mut exit = Exit::Done;
    for step in steps {
        let words: Vec<_> = step.iter().map(|word| word.to_string_lossy()).collect();
        print::notice(&format!("\ncardmark {}", words.join(" ")));
        let parsed = Arguments::try_parse_from([&["cardmark".into()], step.as_slice()].concat());
        let arguments = parsed.map_err(|error| {
            CommandError::new(Exit::Bug, "the target cannot be named on a command line")
                .because(error.to_string())
        })?;
        let ended = execute(arguments).unwrap_or_else(|error| {
            print::error(&error);
            error.exit
        });
        exit = exit.or_worse(ended);
        if matches!(ended, Exit::Interrupted | Exit::Terminated) {
            return Ok(exit);
        }
    }
    print::notice("\nDone. `cardmark list` shows what was measured so far.");
    Ok(exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Vec<(Target, String)> {
        let target = Target::Directory {
            path: "/media/card".into(),
            disk: Some("/dev/sda".to_owned()),
        };
        vec![(target, "/media/card: ext4 on sda1".to_owned())]
    }

    fn commands(answer: &str) -> Option<Vec<String>> {
        let steps = answers(&mut answer.as_bytes(), &card()).unwrap()?;
        let line = |words: Vec<OsString>| words.join(&OsString::from(" ")).into_string().unwrap();
        Some(steps.into_iter().map(line).collect())
    }

    #[test]
    fn the_menus_say_what_is_there_and_what_will_happen() {
        let targets = card();
        assert!(
            menu(&targets).contains("  1  /media/card: ext4 on sda1\n"),
            "{}",
            menu(&targets)
        );
        let questions = questions(&targets[0].0);
        assert!(questions.contains("256 MiB"), "{questions}");
        assert!(
            questions.contains("sudo cardmark probe /dev/sda"),
            "{questions}"
        );
    }

    #[test]
    fn answers_lead_to_commands() {
        let run = "run /media/card".to_owned();
        assert_eq!(commands("0\n7\nx\n1\n1\n"), Some(vec![run]));
        assert_eq!(commands(".\n2\n"), Some(vec!["verify .".to_owned()]));
        let label = "run /media/card --suite app-class --claim=A1".to_owned();
        assert_eq!(commands("1\n3\nA9\na1\n"), Some(vec![label]));
        let both = ["run .", "verify ."].map(str::to_owned);
        assert_eq!(commands(".\n4\n\n"), Some(both.to_vec()));
    }

    #[test]
    fn promises_are_read_as_people_write_them() {
        let read = |answer: &str| -> Result<Vec<String>, String> {
            promises_of(answer).map(|all| all.iter().map(ToString::to_string).collect())
        };
        assert_eq!(
            read("a1, V30 130MBs"),
            Ok(vec!["A1".into(), "V30".into(), "130MB/s".into()])
        );
        let said = read("A1 banana 130MB/s apple").unwrap_err();
        assert!(
            said.starts_with("not understood: banana, apple. Write classes"),
            "{said}"
        );
    }

    #[test]
    fn it_ends_at_any_question() {
        for answer in ["", "\n", "q\n", "1\nexit\n", "1\n1", "1\n3\nQ\n"] {
            let expected = (answer == "1\n1").then(|| vec!["run /media/card".to_owned()]);
            assert_eq!(commands(answer), expected, "{answer:?}");
        }
    }
}

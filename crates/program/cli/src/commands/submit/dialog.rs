//! Text for the person at the terminal, and the question for consent.

use cardmark_report::wrap;
use cardmark_session::Voice;

use crate::error::{CommandError, Exit};
use crate::terminal::TERMINAL;
use crate::terminal::print;

/// Shows a text for the person in lines that fit the terminal.
pub(super) fn say(text: &str, hang: usize) {
    print::notice(&fitted(text, hang));
}

/// The text in lines that fit the terminal, the later ones indented by `hang` more than the first one.
pub(super) fn fitted(text: &str, hang: usize) -> String {
    let rest = text.trim_start_matches('\n');
    let blank = &text[..text.len() - rest.len()];
    let words = rest.trim_start();
    let indent = &rest[..rest.len() - words.len()];
    let width = print::width().saturating_sub(indent.len());
    let lines = wrap(words, width, hang);
    format!("{blank}{indent}{}", lines.join(&format!("\n{indent}")))
}

/// Asks yes or no, unless consent was given with `--yes`. `done` is what is not done without consent.
pub(super) fn consent(question: &str, yes: bool, done: &str) -> Result<bool, CommandError> {
    if yes {
        return Ok(true);
    }
    let Some(answer) = TERMINAL.ask(&fitted(&format!("{question} [y/N]"), 0)) else {
        return Err(
            CommandError::new(Exit::Usage, format!("Nothing was {done}: cannot ask"))
                .because("input or output is not a terminal")
                .hint("`--yes` answers the question"),
        );
    };
    let answer = answer.map_err(|error| {
        CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
    })?;
    let is_yes = ["y", "yes"].contains(&answer.trim().to_lowercase().as_str());
    if !is_yes {
        print::notice(&format!("Nothing was {done}."));
    }
    Ok(is_yes)
}

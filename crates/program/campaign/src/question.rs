//! Questions to the person.

use cardmark_session::{CommandError, Exit, Voice};

/// Answer of the person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The card is in.
    Go,
    /// Another card first.
    Later,
    /// That is all for now.
    End,
}

/// Asks until the answer makes sense. Who has gone wants no more.
pub(crate) fn ask(voice: &dyn Voice) -> Result<Answer, CommandError> {
    loop {
        let question = "Enter when it is in; l: later, another card first; q: end for now.";
        let Some(line) = voice.ask(question) else {
            return Ok(Answer::End);
        };
        let line = line.map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
        })?;
        match answer(&line) {
            Some(answer) => return Ok(answer),
            None => voice.notice(&format!("`{}` is no answer", line.trim())),
        }
    }
}

fn answer(line: &str) -> Option<Answer> {
    match line.trim() {
        "" if line.is_empty() => Some(Answer::End),
        "" => Some(Answer::Go),
        "l" => Some(Answer::Later),
        "q" => Some(Answer::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_words_are_answers_and_the_end_of_input_is_an_end() {
        assert_eq!(answer("\n"), Some(Answer::Go));
        assert_eq!(answer("what?\n"), None);
        assert_eq!(answer("l\n"), Some(Answer::Later));
        assert_eq!(answer("q\n"), Some(Answer::End));
        assert_eq!(answer(""), Some(Answer::End));
    }
}

//! Questions to the person.

use std::io::BufRead;

use crate::error::{CommandError, Exit};
use crate::print;

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
pub(crate) fn ask(input: &mut impl BufRead) -> Result<Answer, CommandError> {
    loop {
        print::notice("Enter when it is in; l: later, another card first; q: end for now.");
        let mut line = String::new();
        let read = input.read_line(&mut line).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
        })?;
        match line.trim() {
            _ if read == 0 => return Ok(Answer::End),
            "" => return Ok(Answer::Go),
            "l" => return Ok(Answer::Later),
            "q" => return Ok(Answer::End),
            other => print::notice(&format!("`{other}` is no answer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_asked_for_until_it_makes_sense() {
        let answer = |text: &str| ask(&mut text.as_bytes()).unwrap();
        assert_eq!(answer("\n"), Answer::Go);
        assert_eq!(answer("what?\nl\n"), Answer::Later);
        assert_eq!(answer("q\n"), Answer::End);
        assert_eq!(answer(""), Answer::End);
    }
}

//! Words of a shell line, as far as documents use the shell.

/// Splits a line into its commands and their words. Comments, redirections, assignments before a command, and the words of loops are left out.
pub(crate) fn split(line: &str) -> Vec<Vec<String>> {
    let mut reader = Reader::default();
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                reader.begin();
                let quoted = characters.by_ref().take_while(|it| *it != '\'');
                quoted.for_each(|it| reader.push(it));
            }
            '"' => {
                reader.begin();
                while let Some(inner) = characters.next().filter(|it| *it != '"') {
                    let is_escape =
                        inner == '\\' && matches!(characters.peek(), Some('"' | '\\' | '$' | '`'));
                    let next = is_escape.then(|| characters.next()).flatten();
                    reader.push(next.unwrap_or(inner));
                }
            }
            '\\' => {
                if let Some(next) = characters.next() {
                    reader.push(next);
                }
            }
            '#' if reader.word.is_none() => break,
            '>' | '<' => {
                reader.redirect();
                while characters.next_if(|it| matches!(it, '>' | '&')).is_some() {}
            }
            '|' | '&' | ';' => reader.end_command(),
            ' ' | '\t' => reader.end_word(),
            other => reader.push(other),
        }
    }
    reader.end_command();
    reader.commands
}

#[derive(Default)]
struct Reader {
    commands: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
    /// The next word is the file of a redirection.
    is_file: bool,
}

impl Reader {
    fn begin(&mut self) {
        self.word.get_or_insert_default();
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else {
            return;
        };
        if !std::mem::take(&mut self.is_file) {
            self.words.push(word);
        }
    }

    fn redirect(&mut self) {
        // The number before it is that of the stream.
        if self
            .word
            .as_ref()
            .is_some_and(|word| word.parse::<u8>().is_ok())
        {
            self.word = None;
        }
        self.end_word();
        self.is_file = true;
    }

    fn end_command(&mut self) {
        self.end_word();
        let words = std::mem::take(&mut self.words).into_iter();
        let words: Vec<String> = words
            .skip_while(|word| word == "do" || is_assignment(word))
            .collect();
        let is_loop = |word: &String| word == "for" || word == "done";
        if words.first().is_some_and(|first| !is_loop(first)) {
            self.commands.push(words);
        }
    }
}

/// Whether a word before a command sets a variable of its environment.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|it| it.is_ascii_uppercase() || it == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_those_of_a_shell() {
        let cases: [(&str, &[&[&str]]); 9] = [
            ("", &[]),
            ("# a comment", &[]),
            ("a b#c  # d", &[&["a", "b#c"]]),
            (
                "a 'b c' \"d 'e' \\\"f\\\"\" g\\ h",
                &[&["a", "b c", "d 'e' \"f\"", "g h"]],
            ),
            ("a --b=\"c d\" \"\"", &[&["a", "--b=c d", ""]]),
            (
                "a | b && c; d || e &",
                &[&["a"], &["b"], &["c"], &["d"], &["e"]],
            ),
            ("a > b c >> d 2>&1 <e", &[&["a", "c"]]),
            ("A=1 B_C='x y' a D=2", &[&["a", "D=2"]]),
            ("for x in 1 2; do a $x; done", &[&["a", "$x"]]),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line), expected, "{line}");
        }
    }
}

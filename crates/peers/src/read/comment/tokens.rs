//! Words, numbers and signs of a line.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, and digits and slashes among them: `hdparm`, `MB/s`.
    Word,
    /// Digits, and points and commas among them: `28.4`.
    Number,
    /// Any other character.
    Sign,
}

/// A piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// Whether nothing parts it from what is before it.
    pub(super) is_close: bool,
}

impl Token<'_> {
    /// Whether it is this word, capital or not.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word)
    }

    /// Whether it is one of these words.
    pub(super) fn is_any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.is(word))
    }
}

/// The tokens of a line.
pub(super) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = line;
    let mut is_close = false;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = if first.is_ascii_digit() {
            (Kind::Number, number_length(rest))
        } else if first.is_alphabetic() {
            (Kind::Word, word_length(rest))
        } else {
            (Kind::Sign, first.len_utf8())
        };
        let (text, behind) = rest.split_at(length);
        if !first.is_whitespace() {
            tokens.push(Token {
                kind,
                text,
                is_close,
            });
        }
        is_close = !first.is_whitespace();
        rest = behind;
    }
    tokens
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut length = 0;
    while is_digit(length)
        || (matches!(bytes.get(length), Some(b'.' | b',')) && is_digit(length + 1))
    {
        length += 1;
    }
    length
}

fn word_length(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let joins = c == '/' && chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if !c.is_alphanumeric() && !joins {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<&str> {
        tokens(line).iter().map(|token| token.text).collect()
    }

    #[test]
    fn a_line_comes_apart_into_words_numbers_and_signs() {
        assert_eq!(
            texts("hdparm- 43.29 MB/s"),
            ["hdparm", "-", "43.29", "MB/s"]
        );
        assert_eq!(
            texts("4k read=7,5MB/sec."),
            ["4", "k", "read", "=", "7,5", "MB/sec", "."]
        );
        assert_eq!(texts("(in kBps)"), ["(", "in", "kBps", ")"]);
        assert_eq!(
            texts("/dev/mmcblk0: 1.2.3, 4"),
            ["/", "dev/mmcblk0", ":", "1.2.3", ",", "4"]
        );
        assert_eq!(texts("é٣→9"), ["é٣", "→", "9"]);
        assert_eq!(texts(" \t"), [""; 0]);
    }

    #[test]
    fn what_stands_close_is_known() {
        let close: Vec<bool> = tokens("24.4MB/s 4 k")
            .iter()
            .map(|token| token.is_close)
            .collect();
        assert_eq!(close, [false, true, false, false]);
    }
}

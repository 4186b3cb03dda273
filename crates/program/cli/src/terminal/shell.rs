//! Commands to copy into a shell.

use std::borrow::Cow;

/// Returns the word as a shell takes it, in quotes if it needs them.
pub(crate) fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@,=".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_other_letters_are_quoted() {
        assert_eq!(quoted("/dev/mmcblk0"), "/dev/mmcblk0");
        assert_eq!(quoted("/media/käse"), "/media/käse");
        assert_eq!(quoted("/media/my card"), "'/media/my card'");
        assert_eq!(quoted("it's; rm"), r"'it'\''s; rm'");
        assert_eq!(quoted(""), "''");
    }
}

//! Characters that must not reach a terminal, chart or table from a file.

use std::borrow::Cow;
use std::fmt::Write;

/// Returns whether a character controls a terminal, changes the direction of text or is invisible. The joiners
/// U+200C and U+200D are excluded: Persian words and emoji need them.
pub fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Text of foreign origin (a device's model, a label) on one line: `?` for hidden characters.
pub fn clean(text: &str) -> String {
    let letters = text.trim().chars();
    letters
        .map(|letter| if is_hidden(letter) { '?' } else { letter })
        .collect()
}

/// Text of several lines with hidden characters escaped as in JSON (`\u202e`), so that JSON keeps
/// its meaning. Line feeds, tabs, and carriage returns before a line feed stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text
        .chars()
        .any(|letter| is_hidden(letter) && letter != '\n')
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_line_end = letter == '\r' && letters.peek() == Some(&'\n');
        if matches!(letter, '\n' | '\t') || is_line_end || !is_hidden(letter) {
            shown.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(shown, "\\u{unit:04x}");
            }
        }
    }
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_replaced_or_escaped() {
        for letter in [
            '\0',
            '\u{7}',
            '\u{8}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{61c}',
            '\u{200b}',
            '\u{200e}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{202a}',
            '\u{202e}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{e0041}',
        ] {
            let text = format!("a{letter}b");
            assert_eq!(clean(&text), "a?b", "{letter:?}");
            let shown = visible(&text);
            assert!(
                shown.starts_with("a\\u") && !shown.contains(letter),
                "{shown}"
            );
            let read: String = serde_json::from_str(&format!("\"{shown}\"")).unwrap();
            assert_eq!(read, text);
        }
        assert_eq!(clean(" tab\tand\nline "), "tab?and?line");
    }

    #[test]
    fn lines_and_letters_stay() {
        for text in ["a\tb\r\nc\n", "ä € µ 64 GB · ± → 日本", ""] {
            assert_eq!(visible(text), text);
        }
        for text in ["می\u{200c}خواهم", "👩\u{200d}🔬"] {
            assert_eq!(clean(text), text);
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\rb\n"), "a\\u000db\n");
    }
}

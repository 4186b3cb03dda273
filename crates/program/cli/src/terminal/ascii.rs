//! Text for terminals that cannot show UTF-8, such as a serial console with `LC_ALL=C`.

use std::borrow::Cow;

use cardmark_report::wrap;

/// Characters of this program and their substitutes.
const SUBSTITUTES: [(char, &str); 31] = [
    ('±', "+-"),
    ('–', "-"),
    ('—', "-"),
    ('·', "|"),
    ('…', "..."),
    ('→', "->"),
    ('×', "x"),
    ('÷', "/"),
    ('µ', "u"),
    ('μ', "u"),
    ('°', ""),
    ('§', "section "),
    ('²', "^2"),
    ('³', "^3"),
    ('⁶', "^6"),
    ('≈', "~"),
    ('≤', "<="),
    ('≥', ">="),
    ('€', "EUR"),
    ('’', "'"),
    ('\u{a0}', " "),
    ('▶', ">"),
    ('█', "#"),
    ('▉', "#"),
    ('▊', "#"),
    ('▋', "#"),
    ('▌', "#"),
    ('▍', " "),
    ('▎', " "),
    ('▏', " "),
    ('━', "="),
];

/// Returns whether the locale of these variables has UTF-8: the first that is set and not empty decides, as POSIX has it.
pub(crate) fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut locales = names.into_iter().filter_map(variable);
    let locale = locales
        .find(|locale| !locale.is_empty())
        .unwrap_or_default();
    let charset = locale.split_once('.').map_or("", |(_, charset)| charset);
    let charset = charset.split('@').next().unwrap_or_default();
    let plain: String = charset
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    plain.eq_ignore_ascii_case("utf8")
}

/// The text in ASCII. Columns stay aligned: a longer substitute takes its room from the gap before or behind it. Lines of
/// prose that get wider than `width` are wrapped again.
pub(crate) fn ascii(text: &str, width: usize) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let lines = text.split('\n').map(|line| match line.is_ascii() {
        true => line.to_owned(),
        false => fitted(&substituted(line), width),
    });
    let lines: Vec<String> = lines.collect();
    Cow::Owned(lines.join("\n"))
}

fn substituted(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    let mut debt = 0;
    for letter in line.chars() {
        if debt > 0 && letter == ' ' && shown.ends_with(' ') {
            debt -= 1;
            continue;
        }
        match SUBSTITUTES.iter().find(|(known, _)| *known == letter) {
            Some((_, substitute)) => {
                let excess = substitute.len().saturating_sub(1);
                // The end of a cut name stands before the gap, figures behind it.
                let is_cut = letter == '…';
                debt += if is_cut {
                    excess
                } else {
                    take_from_gap(&mut shown, excess)
                };
                shown.push_str(substitute);
            }
            None if letter.is_ascii() => shown.push(letter),
            None => shown.push_str(&escaped(letter)),
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// The letter as JSON escapes it.
fn escaped(letter: char) -> String {
    let mut units = [0; 2];
    let units = letter.encode_utf16(&mut units).iter();
    units.map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Removes at most `count` spaces from the last gap between columns, and leaves one; returns how many are missing.
fn take_from_gap(shown: &mut String, count: usize) -> usize {
    let Some(gap) = shown.rfind("  ") else {
        return count;
    };
    let (before, behind) = shown.split_at(gap + 1);
    let column = before.trim_end_matches(' ').len();
    // The indent of prose stays.
    if column == 0 && !behind.trim().is_empty() {
        return count;
    }
    let taken = (before.len() - column).min(count);
    shown.replace_range(gap + 1 - taken..gap + 1, "");
    count - taken
}

/// The line, wrapped again if it is prose that is too wide.
fn fitted(line: &str, width: usize) -> String {
    let body = line.trim_start();
    let is_prose = !body.contains("  ") && !body.contains('\u{1b}');
    if line.len() <= width || !is_prose {
        return line.to_owned();
    }
    let margin = " ".repeat(line.len() - body.len());
    let lines = wrap(body, width - margin.len(), 2);
    let lines: Vec<String> = lines.iter().map(|line| format!("{margin}{line}")).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(set: &[(&str, &str)]) -> bool {
        is_utf8(|name| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_first_variable_that_is_set_decides() {
        assert!(of(&[("LANG", "en_GB.UTF-8")]));
        assert!(of(&[("LANG", "C"), ("LC_CTYPE", "de_DE.utf8@euro")]));
        assert!(of(&[("LC_ALL", ""), ("LANG", "C.UTF-8")]));
        assert!(!of(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!of(&[("LC_CTYPE", "POSIX"), ("LANG", "en_GB.UTF-8")]));
        assert!(!of(&[("LANG", "de_DE.ISO-8859-15")]));
        assert!(!of(&[("LANG", "de_DE")]));
        assert!(!of(&[]));
    }

    #[test]
    fn columns_stay_aligned() {
        let table = [
            "         MB/s    ± here  IOPS",
            "write    32.3    ±0.9 %  30.8",
            "read     89.0   ~±0.5 %     –",
            "mixed    4.28         –  1044",
            "long n…   1.0  ± 0.25 %     1",
        ];
        let expected = [
            "         MB/s   +- here  IOPS",
            "write    32.3   +-0.9 %  30.8",
            "read     89.0  ~+-0.5 %     -",
            "mixed    4.28         -  1044",
            "long n... 1.0 +- 0.25 %     1",
        ];
        assert_eq!(ascii(&table.join("\n"), 80), expected.join("\n"));
    }

    #[test]
    fn prose_keeps_to_the_width() {
        let text = "  → let the board cool, then measure …";
        assert_eq!(
            ascii(text, 39),
            " -> let the board cool, then measure\n   ..."
        );
        assert_eq!(ascii("a · b → c", 80), "a | b -> c");
    }

    #[test]
    fn other_letters_are_escaped() {
        assert_eq!(ascii("note=Käse 日", 80), "note=K\\u00e4se \\u65e5");
        assert_eq!(ascii("plain", 3), "plain");
    }
}

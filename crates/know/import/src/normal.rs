//! Texts as people get them: other encodings, HTML, mail.
//!
//! One step before all readers. It keeps the number of lines, so that lists of lines stay true, and changes no text that
//! shows none of these forms.

use std::borrow::Cow;

/// Bytes at the beginning that show an encoding without a mark.
const SAMPLE_BYTES: usize = 4096;
/// Rounds of decoding entities: a page may be escaped twice.
const MOST_ROUNDS: usize = 3;
/// Lengths of lines that mail programs have broken, in characters.
const WRAPPED: std::ops::RangeInclusive<usize> = 40..=80;

/// Returns the text of a file: UTF-16 by its mark or by its zero bytes, otherwise UTF-8, with other bytes replaced.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text = char::decode_utf16(units);
        text.map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect::<String>()
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(wide(rest, u16::from_le_bytes)),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(wide(rest, u16::from_be_bytes)),
        _ if has_zeros(bytes, 1) => Cow::Owned(wide(bytes, u16::from_le_bytes)),
        _ if has_zeros(bytes, 0) => Cow::Owned(wide(bytes, u16::from_be_bytes)),
        _ => String::from_utf8_lossy(bytes),
    }
}

/// Returns whether most bytes at odd (1) or even (0) places are zero, and no others.
fn has_zeros(bytes: &[u8], odd: usize) -> bool {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let zeros = |rest: usize| {
        sample
            .iter()
            .skip(rest)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    sample.len() >= 4 && 4 * zeros(odd) > sample.len() && zeros(1 - odd) == 0
}

/// Returns the text without quoted-printable, entities of HTML, marks of quotations, and an indentation that all lines of
/// a paragraph share.
pub(crate) fn normalised(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if let Some(plain) = printable(&text) {
        text = Cow::Owned(plain);
    }
    for _ in 0..MOST_ROUNDS {
        match entities(&text) {
            Some(plain) => text = Cow::Owned(plain),
            None => break,
        }
    }
    match unquoted(&text) {
        Some(plain) => Cow::Owned(plain),
        None => text,
    }
}

/// Decodes lines of quoted-printable; `None` without any. A soft break joins two lines; an empty line behind them keeps the
/// count.
fn printable(text: &str) -> Option<String> {
    if !text.contains("=3D") {
        return None;
    }
    let lines: Vec<&str> = text.split('\n').collect();
    let mut plain = Vec::with_capacity(lines.len());
    for joined in lines.chunk_by(|line, _| without_end(line).ends_with('=')) {
        if is_quoted_printable(joined) {
            plain.push(decoded_lines(joined));
            plain.extend(joined.iter().skip(1).map(|_| String::new()));
        } else {
            plain.extend(joined.iter().map(|&line| line.to_owned()));
        }
    }
    Some(plain.join("\n"))
}

fn without_end(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}

/// Returns whether signs of equality are escaped, as all of them must be: those of `bs=64k count=20` are not.
fn is_quoted_printable(joined: &[&str]) -> bool {
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let are_escapes = |line: &&str| {
        let line = without_end(line);
        let line = line.strip_suffix('=').unwrap_or(line);
        line.split('=').skip(1).all(is_escape)
    };
    joined.iter().any(|line| line.contains("=3D")) && joined.iter().all(are_escapes)
}

fn decoded_lines(joined: &[&str]) -> String {
    let mut bytes = Vec::new();
    for line in joined {
        let line = without_end(line);
        unescape(line.strip_suffix('=').unwrap_or(line), &mut bytes);
    }
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn unescape(line: &str, bytes: &mut Vec<u8>) {
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    let mut rest = line.as_bytes();
    while let [first, behind @ ..] = rest {
        let escaped = match behind {
            [high, low, ..] if *first == b'=' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        // A line break or another control character would change the lines.
        match escaped
            .map(|(high, low)| 16 * high + low)
            .filter(|byte| *byte >= 0x20)
        {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
}

/// Entities that a page puts in place of signs.
const ENTITIES: [(&str, char); 8] = [
    ("lt", '<'),
    ("gt", '>'),
    ("amp", '&'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", ' '),
    ("micro", 'µ'),
    ("times", '×'),
];

/// Decodes the entities of HTML; `None` without any.
fn entities(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut has_any) = (text, false);
    while let Some(at) = rest.find('&') {
        let behind = &rest[at + 1..];
        let end = behind.bytes().take(10).position(|byte| byte == b';');
        let sign = end.and_then(|end| sign(&behind[..end]));
        plain.push_str(&rest[..at]);
        if let (Some(sign), Some(end)) = (sign, end) {
            has_any = true;
            plain.push(sign);
            rest = &behind[end + 1..];
        } else {
            plain.push('&');
            rest = behind;
        }
    }
    plain.push_str(rest);
    has_any.then_some(plain)
}

/// The sign of an entity, by its name or number.
fn sign(entity: &str) -> Option<char> {
    if let Some(number) = entity.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control());
    }
    ENTITIES
        .iter()
        .find(|(name, _)| *name == entity)
        .map(|(_, sign)| *sign)
}

/// Removes the marks of quotations, and the indentation that all lines of a paragraph share; `None` without any.
fn unquoted(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let mut plain: Vec<&str> = Vec::with_capacity(lines.len());
    for paragraph in lines
        .chunk_by(|one, next| is_quote(one) == is_quote(next) && !is_blank(one) && !is_blank(next))
    {
        let bare: Vec<&str> = paragraph.iter().map(|line| without_marks(line)).collect();
        let indents = bare
            .iter()
            .filter(|line| !is_blank(line))
            .map(|line| indent(line));
        let shared = indents.min().unwrap_or(0);
        // Spaces in front of JSON alone: columns of other tools may begin with spaces.
        let is_json = bare
            .first()
            .is_some_and(|line| line.trim_start().starts_with('{'));
        let shared = if is_json { shared } else { 0 };
        plain.extend(bare.iter().map(|line| line.get(shared..).unwrap_or("")));
    }
    let plain = plain.join("\n");
    (plain != text).then_some(plain)
}

fn is_quote(line: &str) -> bool {
    line.trim_start().starts_with('>')
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The line without `> > `, each with one space, and without quotation marks around an output.
fn without_marks(line: &str) -> &str {
    let mut rest = line;
    while let Some(behind) = rest.trim_start().strip_prefix('>') {
        rest = behind.strip_prefix(' ').unwrap_or(behind);
    }
    let inner = rest
        .trim()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let is_output = |inner: &&str| !inner.contains('"') && inner.contains(" = ");
    inner.filter(is_output).unwrap_or(rest)
}

fn indent(line: &str) -> usize {
    line.bytes()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// Returns the text with lines joined that a mail program may have wrapped, and an empty line behind each pair; those at
/// even places with the next ones if `from` is 0, those at odd places if it is 1. `None` if no line has such a length, or one is longer.
pub(crate) fn unwrapped(text: &str, from: usize) -> Option<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    if lines
        .iter()
        .any(|line| line.chars().count() > *WRAPPED.end())
    {
        return None;
    }
    let mut plain = Vec::with_capacity(lines.len());
    let mut has_any = false;
    let mut place = 0;
    while let Some(line) = lines.get(place) {
        let line = line.trim_end();
        let next = lines.get(place + 1).map(|next| next.trim());
        let is_wrapped = place % 2 == from && WRAPPED.contains(&line.chars().count());
        match next.filter(|next| is_wrapped && !next.is_empty()) {
            Some(next) => {
                plain.extend([format!("{line} {next}"), String::new()]);
                has_any = true;
                place += 2;
            }
            None => {
                plain.push(line.to_owned());
                place += 1;
            }
        }
    }
    has_any.then(|| plain.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_encodings_are_known_by_mark_and_zeros() {
        let text = "Sequential read 94.171 MB/s µ";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            [vec![0xff, 0xfe], little.clone()].concat(),
            [vec![0xfe, 0xff], big.clone()].concat(),
            little,
            big,
            text.as_bytes().to_vec(),
        ] {
            assert_eq!(decoded(&bytes), text);
        }
        assert_eq!(decoded(b"a\0"), "a\0");
    }

    #[test]
    fn forms_of_mail_and_pages_are_plain_text_with_as_many_lines() {
        for (text, plain) in [
            ("a =3D 1=\n 2\nb", "a = 1 2\n\nb"),
            (
                "&lt; 5 &amp;lt; 6 &#181;s &#xb5;s &unknown; & b",
                "< 5 < 6 µs µs &unknown; & b",
            ),
            ("> > Timing: 5\n> \n>\ttab", "Timing: 5\n\n\ttab"),
            ("  {\n    \"a\": 1\n  }", "{\n  \"a\": 1\n}"),
            ("> \"Timing = 5\"", "Timing = 5"),
            ("  12 34\n   5  6", "  12 34\n   5  6"),
        ] {
            assert_eq!(normalised(text), plain, "{text:?}");
            assert_eq!(normalised(plain), plain, "{plain:?}");
            assert_eq!(text.matches('\n').count(), plain.matches('\n').count());
        }
    }

    /// Operands of commands look like escaped signs, and an assignment may end a line.
    #[test]
    fn operands_are_no_escaped_signs() {
        for text in [
            "dd if=/dev/zero of=/test bs=64k count=20\n",
            "dd if=/dev/zero of=/test bs=4Dk count=20 \\\n  conv=fsync\n",
            "seed=\r\n=20\n",
            "a=\nb=41\n",
            // One line is mail, the command below it is not.
            "Timing\ndd bs=64k count=20\n",
        ] {
            assert_eq!(normalised(text), text, "{text:?}");
        }
    }

    #[test]
    fn lines_are_joined_in_pairs() {
        let long = "Timing buffered disk reads:  62 MB in  3.07";
        let text = format!("{long}\nseconds =  20.21 MB/sec\nshort");
        let joined = format!("{long} seconds =  20.21 MB/sec\n\nshort");
        assert_eq!(unwrapped(&text, 0).as_deref(), Some(joined.as_str()));
        assert_eq!(unwrapped(&text, 1), None);
    }
}

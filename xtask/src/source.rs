//! Rust source as far as the checks need it: comments, texts and test modules blanked out, so that
//! plain searching finds code only.

/// `text` with comments, texts and characters replaced by spaces; lines stay where they are.
pub fn code_only(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = match chars[at] {
            '/' if chars.get(at + 1) == Some(&'/') => line_end(&chars, at),
            '/' if chars.get(at + 1) == Some(&'*') => comment_end(&chars, at),
            '"' => text_end(&chars, at),
            '\'' => character_end(&chars, at),
            c if is_word(c) => {
                let end = word_end(&chars, at);
                match raw_text_end(&chars, at, end) {
                    Some(end) => end,
                    None => {
                        out.extend(&chars[at..end]);
                        at = end;
                        continue;
                    }
                }
            }
            c => {
                out.push(c);
                at += 1;
                continue;
            }
        };
        out.extend(
            chars[at..end]
                .iter()
                .map(|&c| if c == '\n' { '\n' } else { ' ' }),
        );
        at = end;
    }
    out
}

/// Code with everything under `#[cfg(test)]` blanked out too.
pub fn shipped_only(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = code.to_owned();
    let mut from = 0;
    while let Some(found) = out[from..].find(MARK) {
        let start = from + found;
        let end = item_end(&out, start + MARK.len());
        let blank: String = out[start..end]
            .chars()
            .map(|c| if c == '\n' { '\n' } else { ' ' })
            .collect();
        out.replace_range(start..end, &blank);
        from = start + blank.len();
    }
    out
}

/// Names of modules under `#[cfg(test)]` that live in files of their own.
pub fn test_modules(code: &str) -> Vec<String> {
    let tidy: String = code.split_whitespace().collect::<Vec<_>>().join(" ");
    tidy.split("#[cfg(test)]")
        .skip(1)
        .filter_map(|rest| {
            let head = rest.split([';', '{']).next()?;
            let is_file = rest[head.len()..].starts_with(';');
            let name = head.trim().rsplit_once("mod ")?.1;
            is_file.then(|| name.trim().to_owned())
        })
        .collect()
}

/// Byte offset just behind the item that begins at or after `from`: at its `;`, or at the brace
/// that closes its first one.
pub fn item_end(code: &str, from: usize) -> usize {
    let mut nesting = 0_i32;
    let mut braces = 0_i32;
    for (index, c) in code[from..].char_indices() {
        match c {
            '(' | '[' => nesting += 1,
            ')' | ']' => nesting -= 1,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces <= 0 && nesting <= 0 {
                    return from + index + 1;
                }
            }
            ';' if braces == 0 && nesting == 0 => return from + index + 1,
            _ => {}
        }
    }
    code.len()
}

/// Byte offsets at which `needle` stands as a whole word or path.
pub fn find_words<'a>(code: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(needle)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let before = code[..at].chars().next_back();
            let after = code[at + needle.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

/// Line of a byte offset, from 1.
pub fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn word_end(chars: &[char], at: usize) -> usize {
    chars[at..]
        .iter()
        .position(|&c| !is_word(c))
        .map_or(chars.len(), |n| at + n)
}

fn line_end(chars: &[char], at: usize) -> usize {
    chars[at..]
        .iter()
        .position(|&c| c == '\n')
        .map_or(chars.len(), |n| at + n)
}

fn comment_end(chars: &[char], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut now = at;
    while now + 1 < chars.len() {
        match (chars[now], chars[now + 1]) {
            ('/', '*') => {
                depth += 1;
                now += 2;
            }
            ('*', '/') => {
                depth -= 1;
                now += 2;
                if depth == 0 {
                    return now;
                }
            }
            _ => now += 1,
        }
    }
    chars.len()
}

fn text_end(chars: &[char], at: usize) -> usize {
    let mut now = at + 1;
    while now < chars.len() {
        match chars[now] {
            '\\' => now += 2,
            '"' => return now + 1,
            _ => now += 1,
        }
    }
    chars.len()
}

/// End of a character literal; of a lifetime only its quote.
fn character_end(chars: &[char], at: usize) -> usize {
    match (chars.get(at + 1), chars.get(at + 2)) {
        (Some('\\'), _) => {
            let close = chars.iter().skip(at + 3).position(|&c| c == '\'');
            close.map_or(chars.len(), |n| at + 3 + n + 1)
        }
        (Some(_), Some('\'')) => at + 3,
        _ => at + 1,
    }
}

/// End of a raw text whose prefix is the word `chars[at..end]`, if it is one.
fn raw_text_end(chars: &[char], at: usize, end: usize) -> Option<usize> {
    let prefix: String = chars[at..end].iter().collect();
    if !["r", "br", "cr"].contains(&prefix.as_str()) {
        return None;
    }
    let hashes = chars[end..].iter().take_while(|&&c| c == '#').count();
    if chars.get(end + hashes) != Some(&'"') {
        return None;
    }
    let mut now = end + hashes + 1;
    while now < chars.len() {
        let closes = chars[now] == '"'
            && chars.len() - now > hashes
            && chars[now + 1..=now + hashes].iter().all(|&c| c == '#');
        if closes {
            return Some(now + hashes + 1);
        }
        now += 1;
    }
    Some(chars.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_blanked_and_code_stays() {
        let cases = [
            ("a // unsafe\nb", "a          \nb"),
            ("a /* x /* y */ z */ b", "a                   b"),
            (r#"f("un\"safe", 1)"#, "f(          , 1)"),
            (
                r###"f(r#"a "b" c"#, 'x', '\'', '{')"###,
                "f(            ,    ,     ,    )",
            ),
            ("fn f<'a>(x: &'a str) {}", "fn f< a>(x: & a str) {}"),
            ("let r#type = b\"x\";", "let r#type = b   ;"),
        ];
        for (text, expected) in cases {
            assert_eq!(code_only(text), expected, "{text}");
        }
    }

    #[test]
    fn test_modules_are_not_shipped() {
        let code = "use a;\n#[cfg(test)]\nmod tests {\n  fn f() { x }\n}\nfn g() {}\n";
        let shipped = shipped_only(code);
        assert!(!shipped.contains('x') && shipped.contains("fn g() {}"));
        assert_eq!(shipped.lines().count(), code.lines().count());
        assert_eq!(
            shipped_only("#[cfg(test)]\nmod t;\nuse b;").trim(),
            "use b;"
        );
    }

    #[test]
    fn test_modules_in_files_are_named() {
        let code = "#[cfg(test)]\npub(crate) mod tests;\nmod a;\n#[cfg(test)]\nmod inside { }";
        assert_eq!(test_modules(code), ["tests"]);
    }

    #[test]
    fn words_are_whole() {
        let found: Vec<usize> = find_words("unsafe_code unsafe not_unsafe", "unsafe").collect();
        assert_eq!(found, [12]);
    }
}

//! Rust source as tokens: lines of code and paths, without comments and inline tests.

use std::collections::BTreeSet;
use std::str::FromStr;

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// A path such as `crate::a::B`, with the line where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Line, from 1.
    pub line: usize,
    /// Segments of the path.
    pub segments: Vec<String>,
    /// Whether a `use` names it, and a `pub use` re-exports it.
    pub import: Import,
}

/// Whether a path stands in a `use`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Import {
    #[default]
    No,
    Private,
    /// `pub use` and `pub(…) use`.
    Reexport,
}

/// The shipped code of a file: no comments, no items under `#[cfg(test)]`.
#[derive(Default)]
pub(crate) struct Code {
    /// Lines that hold a token.
    pub lines: BTreeSet<usize>,
    /// All paths of one segment or more, groups in `use` expanded.
    pub paths: Vec<Named>,
    /// Names of modules under `#[cfg(test)]` in files of their own.
    pub test_modules: Vec<String>,
}

/// Parses Rust source.
///
/// # Errors
/// If `text` has no Rust tokens.
pub(crate) fn parse(text: &str) -> Result<Code, LexError> {
    let mut code = Code::default();
    let tokens = TokenStream::from_str(text)?;
    code.stream(tokens);
    Ok(code)
}

impl Code {
    fn stream(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut import = Import::No;
        while at < tokens.len() {
            if let Some(length) = attribute(&tokens[at..], |text| text.starts_with("doc")) {
                at += length;
                continue;
            }
            if let Some(length) = attribute(&tokens[at..], |text| text == "cfg (test)") {
                at += length;
                at += self.test_item(&tokens[at..]);
                continue;
            }
            if is_ident(&tokens[at], "use") || is_own_crate(&tokens[at..]) {
                import = match is_pub(&tokens[..at]) {
                    true => Import::Reexport,
                    false => Import::Private,
                };
            }
            if is_punct(&tokens[at], ';') {
                import = Import::No;
            }
            at += self.token(&tokens[at..], import);
        }
    }

    /// Notes a path or a single token, and returns the number of tokens that it has.
    fn token(&mut self, tokens: &[TokenTree], import: Import) -> usize {
        match &tokens[0] {
            TokenTree::Ident(_) => return self.path(tokens, &[], import),
            TokenTree::Group(group) => {
                self.lines.insert(group.span_open().start().line);
                self.stream(group.stream());
                self.lines.insert(group.span_close().start().line);
            }
            TokenTree::Literal(literal) => {
                let span = literal.span();
                self.lines.extend(span.start().line..=span.end().line);
                self.named_in_text(&literal.to_string(), span.start().line);
            }
            TokenTree::Punct(punct) => {
                self.lines.insert(punct.span().start().line);
            }
        }
        1
    }

    /// Notes the path that begins with this identifier below `prefix`.
    fn path(&mut self, tokens: &[TokenTree], prefix: &[String], import: Import) -> usize {
        let mut segments = prefix.to_vec();
        let line = tokens[0].span().start().line;
        let mut at = 0;
        while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
            self.lines.insert(ident.span().start().line);
            segments.push(ident.to_string());
            at += 1;
            if !is_separator(&tokens[at..]) {
                break;
            }
            for token in &tokens[at..at + 2] {
                self.lines.insert(token.span().start().line);
            }
            at += 2;
            if let Some(TokenTree::Group(group)) = tokens.get(at)
                && group.delimiter() == Delimiter::Brace
            {
                self.lines.insert(group.span_open().start().line);
                self.lines.insert(group.span_close().start().line);
                self.group(group.stream(), &segments, import);
                return at + 1;
            }
        }
        self.paths.push(Named {
            line,
            segments,
            import,
        });
        at.max(1)
    }

    /// Notes the path that is the whole text of a literal, as derives take the names of functions.
    fn named_in_text(&mut self, literal: &str, line: usize) {
        let text = literal.trim_matches('"');
        let is_path = text.starts_with("crate::") || text.starts_with("super::");
        let mut named = Self::default();
        if let Some(tokens) = is_path.then(|| TokenStream::from_str(text).ok()).flatten() {
            named.stream(tokens);
        }
        self.paths
            .extend(named.paths.into_iter().map(|path| Named { line, ..path }));
    }

    /// Notes the paths of `{a, b::c}` behind a prefix.
    fn group(&mut self, tokens: TokenStream, prefix: &[String], import: Import) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += match &tokens[at] {
                TokenTree::Ident(_) => self.path(&tokens[at..], prefix, import),
                token => {
                    self.lines.insert(token.span().start().line);
                    1
                }
            };
        }
    }

    /// Skips an item of tests and returns the number of its tokens.
    fn test_item(&mut self, tokens: &[TokenTree]) -> usize {
        let is_end = |token: &TokenTree| {
            let is_block =
                matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            is_block || is_punct(token, ';')
        };
        let end = tokens.iter().position(is_end).unwrap_or(tokens.len());
        let is_mod = |pair: &&[TokenTree]| is_ident(&pair[0], "mod");
        if tokens.get(end).is_some_and(|token| is_punct(token, ';'))
            && let Some(pair) = tokens[..end].windows(2).find(is_mod)
        {
            self.test_modules.push(pair[1].to_string());
        }
        (end + 1).min(tokens.len())
    }
}

/// Number of tokens of the attribute at the beginning if its content fits.
fn attribute(tokens: &[TokenTree], fits: impl Fn(&str) -> bool) -> Option<usize> {
    if !is_punct(tokens.first()?, '#') {
        return None;
    }
    let inner = usize::from(tokens.get(1).is_some_and(|token| is_punct(token, '!')));
    match tokens.get(1 + inner)? {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket => {
            fits(&group.stream().to_string()).then_some(2 + inner)
        }
        _ => None,
    }
}

/// Whether the tokens before `use` end in `pub` or `pub(…)`.
fn is_pub(before: &[TokenTree]) -> bool {
    match before {
        [.., token] if is_ident(token, "pub") => true,
        [.., token, TokenTree::Group(_)] => is_ident(token, "pub"),
        _ => false,
    }
}

/// Whether this is `extern crate self`, which gives the crate another name.
fn is_own_crate(tokens: &[TokenTree]) -> bool {
    let words = ["extern", "crate", "self"];
    tokens.len() >= words.len()
        && words
            .iter()
            .zip(tokens)
            .all(|(word, token)| is_ident(token, word))
}

fn is_separator(tokens: &[TokenTree]) -> bool {
    tokens.len() >= 2 && is_punct(&tokens[0], ':') && is_punct(&tokens[1], ':')
}

fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "//! Doc.
use std::{fs, io::{self, Read}};
pub(crate) use crate::a::B;

/// More doc.
#[derive(Clone)]
struct C {
    /// Field.
    field: &'static str, // comment
}
/* block
comment */
const D: &str = \"two
lines\";
#[cfg(test)]
mod outside;
#[cfg(test)]
mod tests {
    use std::env;
}
fn last() { crate::e::f(); println!() }
";

    #[test]
    fn lines_without_comments_blanks_and_tests_are_counted() {
        let code = parse(TEXT).unwrap();
        let lines: Vec<usize> = code.lines.into_iter().collect();
        assert_eq!(lines, [2, 3, 6, 7, 9, 10, 13, 14, 21]);
        assert_eq!(code.test_modules, ["outside"]);
    }

    #[test]
    fn paths_are_expanded_and_reexports_marked() {
        let code = parse(TEXT).unwrap();
        let paths: Vec<(String, Import)> = code
            .paths
            .iter()
            .filter(|path| path.segments.len() > 1)
            .map(|path| (path.segments.join("::"), path.import))
            .collect();
        let expected = [
            ("std::fs", Import::Private),
            ("std::io::self", Import::Private),
            ("std::io::Read", Import::Private),
            ("crate::a::B", Import::Reexport),
            ("crate::e::f", Import::No),
        ]
        .map(|(path, import)| (path.to_owned(), import));
        assert_eq!(paths, expected);
    }
}

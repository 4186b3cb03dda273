//! Links of documents.

use crate::Document;

/// A link to a file of the repository.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    /// Number of the line, from 1.
    pub line: usize,
    /// Path from the top of the repository.
    pub path: String,
    /// Heading that it leads to.
    pub anchor: Option<String>,
}

/// Returns the links and pictures of a document that lead to files; those to other sites are left out.
pub fn links(document: &Document) -> Vec<Link> {
    let mut found = Vec::new();
    let mut is_block = false;
    for (line, text) in (1..).zip(document.text.lines()) {
        is_block ^= text.trim_start().starts_with("```");
        if is_block {
            continue;
        }
        // What is between backquotes is no link.
        let text: String = text.split('`').step_by(2).collect();
        let after_brackets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'));
        let attributes = ["src=\"", "srcset=\"", "href=\""]
            .iter()
            .flat_map(|name| text.split(name).skip(1));
        let attributes = attributes.filter_map(|rest| rest.split_once('"'));
        for (target, _) in after_brackets.chain(attributes) {
            if !target.contains(':') {
                found.push(link(document, line, target));
            }
        }
    }
    found
}

fn link(document: &Document, line: usize, target: &str) -> Link {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor.to_owned())),
        None => (target, None),
    };
    let path = if path.is_empty() {
        document.path.clone()
    } else {
        resolved(&document.path, path)
    };
    Link { line, path, anchor }
}

/// A path beside a document, from the top of the repository.
fn resolved(document: &str, path: &str) -> String {
    let mut parts: Vec<&str> = document.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                assert!(
                    parts.pop().is_some(),
                    "{document}: {path} leads out of the repository"
                );
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Returns the anchors of a document's headings, as GitHub makes them.
pub fn anchors(document: &Document) -> Vec<String> {
    let mut is_block = false;
    let mut found = Vec::new();
    for text in document.text.lines() {
        is_block ^= text.starts_with("```");
        let title = text.trim_start_matches('#');
        if is_block || title.len() == text.len() || !title.starts_with(' ') {
            continue;
        }
        let kept = title
            .trim()
            .chars()
            .filter_map(|character| match character {
                ' ' => Some('-'),
                other if other.is_alphanumeric() || matches!(other, '-' | '_') => Some(other),
                _ => None,
            });
        found.push(kept.flat_map(char::to_lowercase).collect());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_document() {
        let document = Document {
            path: "docs/a.md".to_owned(),
            text: "[x](b.md) ![y](../c.svg) [z](#d-e) `[no](f)`\n```\n[no](g)\n```\n<img src=\"h.png\"> [w](https://i)\n# D e\n## `J` k, l!\n"
                .to_owned(),
        };
        let found = links(&document);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.line, it.path.as_str(), it.anchor.as_deref()))
            .collect();
        let expected = [
            (1, "docs/b.md", None),
            (1, "c.svg", None),
            (1, "docs/a.md", Some("d-e")),
            (5, "docs/h.png", None),
        ];
        assert_eq!(found, expected);
        assert_eq!(anchors(&document), ["d-e", "j-k-l"]);
    }
}

//! Colours, and how wide text is on a terminal.

/// Whether escape sequences for colours are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    #[default]
    Plain,
    /// With ANSI escape sequences.
    Color,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    Plain,
    Heading,
    Dim,
    Warning,
    Error,
}

impl Style {
    /// The text in that tone. Escapes take no columns.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Self::Plain, _) | (_, Tone::Plain) => return text.to_owned(),
            (Self::Color, Tone::Heading) => "1",
            (Self::Color, Tone::Dim) => "2",
            (Self::Color, Tone::Warning) => "33",
            (Self::Color, Tone::Error) => "31",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Columns of a text without escapes. Letters of two columns (Chinese, emoji) count as one.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Text of foreign origin (a device's model, a label) made harmless: `?` for control characters
/// and for those that turn or hide what stands beside them.
pub(crate) fn clean(text: &str) -> String {
    let is_hidden = |letter: char| {
        letter.is_control()
            || matches!(letter,
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}')
    };
    text.trim()
        .chars()
        .map(|letter| if is_hidden(letter) { '?' } else { letter })
        .collect()
}

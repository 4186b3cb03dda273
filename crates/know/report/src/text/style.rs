//! Colours, and how wide text is on a terminal.

pub(crate) use cardmark_core::clean;

/// Use of escape sequences for colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    #[default]
    Plain,
    /// With ANSI escape sequences.
    Color,
}

/// Role of a piece of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    Heading,
    Dim,
    Warning,
    Error,
}

impl Style {
    /// Escape sequence of this style at the start of a text. Any other one comes from elsewhere.
    pub fn escape_of(self, text: &str) -> Option<&str> {
        const OWN: [&str; 5] = [
            "\u{1b}[0m",
            "\u{1b}[1m",
            "\u{1b}[2m",
            "\u{1b}[33m",
            "\u{1b}[31m",
        ];
        let own = OWN.into_iter().find(|own| text.starts_with(own));
        own.filter(|_| self == Self::Color)
    }

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

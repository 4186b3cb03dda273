//! Colours and styles.

use super::canvas::{SERIES_COUNT, SMALL_SIZE, TEXT_SIZE, TITLE_SIZE};

/// Source of the colours of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Light or dark, as the reader's system is set.
    Auto,
    /// Light, for paper and pictures.
    Light,
    /// The page that the chart is in; see `style`.
    Page,
}

/// The colours of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    /// Background.
    pub paper: &'static str,
    /// Text.
    pub ink: &'static str,
    /// Text that matters less.
    pub dim: &'static str,
    /// Lines behind the figures.
    pub grid: &'static str,
    /// The series.
    pub series: [&'static str; SERIES_COUNT],
}

impl Palette {
    /// On white. The hues are those of Okabe and Ito (2008); lightness and saturation were searched for
    /// the largest distance between any two, see the tests.
    pub const LIGHT: Self = Self {
        paper: "#ffffff",
        ink: "#1b1b1b",
        dim: "#5c5c5c",
        grid: "#e2e2e2",
        series: [
            "#0090e0", "#7a3600", "#007a59", "#d96ea9", "#a37100", "#0c3e5a",
        ],
    };
    /// On near black.
    pub const DARK: Self = Self {
        paper: "#16181b",
        ink: "#ececec",
        dim: "#a8a8a8",
        grid: "#34383d",
        series: [
            "#0090e0", "#ff760a", "#00cc94", "#e59ec6", "#8f6300", "#2a6a8d",
        ],
    };

    /// The rules of a style sheet.
    fn rules(&self) -> String {
        let Self {
            paper,
            ink,
            dim,
            grid,
            ..
        } = self;
        let mut rules = format!(
            ".paper{{fill:{paper}}}.text{{fill:{ink};stroke:{paper}}}.dim{{fill:{dim}}}.grid,.join{{stroke:{grid}}}\
             .axis,.whisker{{stroke:{ink}}}.link,.leader{{stroke:{dim}}}.mark{{stroke:{paper}}}"
        );
        for (index, colour) in self.series.iter().enumerate() {
            rules.push_str(&format!(
                ".s{index}{{fill:{colour}}}.curve.s{index}{{fill:none;stroke:{colour}}}"
            ));
        }
        rules
    }
}

/// Widths of lines.
pub(super) struct LineWidths {
    pub(super) grid: f64,
    pub(super) axis: f64,
    pub(super) link: f64,
    pub(super) leader: f64,
    pub(super) join: f64,
    pub(super) curve: f64,
}

pub(super) const LINE_WIDTHS: LineWidths = LineWidths {
    grid: 1.0,
    axis: 1.4,
    link: 2.5,
    leader: 0.8,
    join: 2.0,
    curve: 1.8,
};
/// Width of the paper's edge around marks and letters.
pub(super) const MARK_EDGE: f64 = 1.0;
pub(super) const TEXT_EDGE: f64 = 3.0;
/// Dashes of the curves, series by series.
pub(super) const DASHES: [&str; SERIES_COUNT] =
    ["none", "7 3", "2 2.5", "10 3 2 3", "4 2", "12 2 2 2 2 2"];

/// The style of charts: classes, so that a page needs it once.
pub(crate) fn style(theme: Theme) -> String {
    let LineWidths {
        grid,
        axis,
        link,
        leader,
        join,
        curve,
    } = LINE_WIDTHS;
    let mut style = format!(
        ".text{{font:{TEXT_SIZE}px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;\
         paint-order:stroke;stroke-width:{TEXT_EDGE};stroke-linejoin:round}}\
         .title{{font-weight:600;font-size:{TITLE_SIZE}px}}.small{{font-size:{SMALL_SIZE}px}}\
         .mark{{stroke-width:{MARK_EDGE}}}.grid{{stroke-width:{grid}}}\
         .axis,.whisker{{stroke-width:{axis}}}.link{{stroke-width:{link}}}\
         .leader{{stroke-width:{leader}}}.join{{stroke-width:{join}}}\
         .curve{{stroke-width:{curve};stroke-linejoin:round}}"
    );
    for (index, dashes) in DASHES.iter().enumerate().skip(1) {
        style.push_str(&format!(".curve.s{index}{{stroke-dasharray:{dashes}}}"));
    }
    style.push_str(&Palette::LIGHT.rules());
    if theme != Theme::Light {
        style.push_str("@media screen and (prefers-color-scheme: dark){");
        style.push_str(&Palette::DARK.rules());
        style.push('}');
    }
    style
}

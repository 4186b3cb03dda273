//! Small pictures of a product or a run, for other pages: a badge, and a picture for previews of links.

use super::canvas::{Anchor, Canvas, Line, Look, TEXT_SIZE, TITLE_SIZE, Text};
use super::colours::Theme;
use super::frame::{BOLD, Heading, LINE, cut_end, lines, text_width};
use super::svg::Svg;

/// Height of a badge, and the base line of its text.
const BADGE_HEIGHT: f64 = 24.0;
const BADGE_BASE: f64 = 16.5;
/// Most room for the text of a badge.
const MOST_BADGE_WIDTH: f64 = 420.0;
const NAME: &str = "cardmark";

/// A line of text with the name of the program, as SVG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Badge {
    /// Subject, for people who cannot see it.
    pub title: String,
    /// The text; cut to fit.
    pub text: String,
}

impl Badge {
    /// Returns the badge as SVG, light or dark as the reader's system is set.
    pub fn svg(&self) -> String {
        let mut svg = Svg::default();
        let text = cut_end(&self.text, MOST_BADGE_WIDTH);
        let begin = 22.0 + text_width(NAME);
        let width = begin + text_width(&text) + 12.0;
        svg.mark(0, (12.0, 0.5 * BADGE_HEIGHT), "");
        svg.text(&Text::new(
            Look::Dim,
            (20.0, BADGE_BASE),
            Anchor::Start,
            NAME,
        ));
        svg.text(&Text::new(
            Look::Plain,
            (begin + 4.0, BADGE_BASE),
            Anchor::Start,
            &text,
        ));
        let corners = [
            (0.0, 0.0),
            (width, 0.0),
            (width, BADGE_HEIGHT),
            (0.0, BADGE_HEIGHT),
            (0.0, 0.0),
        ];
        for ends in corners.windows(2) {
            svg.line(Line::Grid, ends[0], ends[1]);
        }
        let heading = Heading {
            title: self.title.clone(),
            about: self.text.clone(),
            ..Heading::default()
        };
        svg.finish((width, BADGE_HEIGHT), &heading, Theme::Auto)
    }
}

/// Size of a preview, half of its dots.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 315.0;
const MARGIN: f64 = 28.0;
/// Most lines of the title, and most rows.
const TITLE_LINES: usize = 2;
const MOST_ROWS: usize = 6;
const ROW_HEIGHT: f64 = 28.0;

/// A picture for previews of a page, 1200 × 630 dots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preview {
    /// Title; two lines at most.
    pub title: String,
    /// Line below the title.
    pub subtitle: String,
    /// Names and figures; six at most.
    pub rows: Vec<(String, String)>,
    /// Last line.
    pub footer: String,
}

impl Preview {
    /// Returns the picture as PNG; the same bytes for the same content.
    #[cfg(feature = "png")]
    pub fn png(&self) -> Option<Vec<u8>> {
        super::png::picture(|canvas| {
            self.draw(canvas);
            (WIDTH, HEIGHT)
        })
    }

    /// Returns the picture as SVG, light.
    pub fn svg(&self) -> String {
        let mut svg = Svg::default();
        self.draw(&mut svg);
        let heading = Heading {
            title: self.title.clone(),
            about: self.subtitle.clone(),
            ..Heading::default()
        };
        svg.finish((WIDTH, HEIGHT), &heading, Theme::Light)
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let room = WIDTH - 2.0 * MARGIN;
        canvas.rectangle(0, (0.0, 0.0), (WIDTH, 8.0));
        let mut y = MARGIN + 20.0;
        for line in self.title_lines(room * TEXT_SIZE / TITLE_SIZE / BOLD) {
            canvas.text(&Text::new(Look::Title, (MARGIN, y), Anchor::Start, &line));
            y += LINE;
        }
        let subtitle = cut_end(&self.subtitle, room);
        canvas.text(&Text::new(Look::Dim, (MARGIN, y), Anchor::Start, &subtitle));
        y += 14.0;
        for (name, figure) in self.rows.iter().take(MOST_ROWS) {
            canvas.line(Line::Grid, (MARGIN, y), (WIDTH - MARGIN, y));
            let base = y + 18.5;
            let figure = cut_end(figure, 0.5 * room);
            let name = cut_end(name, room - text_width(&figure) - 12.0);
            canvas.text(&Text::new(
                Look::Plain,
                (MARGIN, base),
                Anchor::Start,
                &name,
            ));
            let end = (WIDTH - MARGIN, base);
            canvas.text(&Text::new(Look::Plain, end, Anchor::End, &figure));
            y += ROW_HEIGHT;
        }
        let footer = cut_end(&self.footer, room);
        let at = (MARGIN, HEIGHT - 16.0);
        canvas.text(&Text::new(Look::SmallDim, at, Anchor::Start, &footer));
    }

    /// The title in lines; where there are too many, the last one is cut.
    fn title_lines(&self, room: f64) -> Vec<String> {
        let mut all = lines(&self.title, room);
        if all.len() > TITLE_LINES {
            let rest = all.split_off(TITLE_LINES - 1).join(" ");
            all.push(cut_end(&rest, room));
        }
        all.into_iter().map(|line| cut_end(&line, room)).collect()
    }
}

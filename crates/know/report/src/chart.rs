//! Charts as SVG, in which text stays text, styled by classes, and as PNG: the same bytes for the same data.
//!
//! Each chart has one unit per axis, a title and a description for screen readers, and colours that can
//! be distinguished by people who see two primary colours only, together with shapes and dashes.

mod badge;
mod bars;
mod canvas;
mod colours;
mod curve;
mod dumbbells;
mod frame;
mod labels;
mod plane;
#[cfg(feature = "png")]
mod png;
mod rows;
mod scale;
mod scatter;
mod strip;
mod svg;

pub use badge::{Badge, Preview};
pub use bars::{Bar, Bars, Group};
pub(crate) use colours::style;
pub use colours::{Palette, Theme};
pub use curve::{Curve, Curves};
pub use dumbbells::{Dumbbell, Dumbbells};
pub use frame::{Heading, Size};
#[cfg(feature = "png")]
pub use png::png;
pub use rows::Mark;
pub use scatter::{Scatter, Spot};
pub use strip::{Dot, Strip};
pub(crate) use svg::escaped;

/// Content.
#[derive(Clone, Debug, PartialEq)]
pub enum Chart {
    /// Rates beside each other, with whiskers.
    Bars(Bars),
    /// One rate against another.
    Scatter(Scatter),
    /// A rate over time, or a share over latency.
    Curves(Curves),
    /// Two rates of each of several things, joined.
    Dumbbells(Dumbbells),
    /// A rate of many things, a few of them named.
    Strip(Strip),
}

impl Chart {
    /// The chart as SVG.
    pub fn svg(&self, theme: Theme, size: Size) -> String {
        let mut svg = svg::Svg::default();
        let height = self.draw(&mut svg, size);
        svg.finish((size.width(), height), self.heading(), theme)
    }

    /// Draws the chart; its height.
    fn draw(&self, canvas: &mut dyn canvas::Canvas, size: Size) -> f64 {
        let height = match self {
            Self::Bars(bars) => bars.draw(canvas, size),
            Self::Scatter(scatter) => scatter.draw(canvas, size),
            Self::Curves(curves) => curves.draw(canvas, size),
            Self::Dumbbells(dumbbells) => dumbbells.draw(canvas, size),
            Self::Strip(strip) => strip.draw(canvas, size),
        };
        frame::foot(canvas, size, self.heading(), height)
    }

    /// Heading.
    pub fn heading(&self) -> &Heading {
        match self {
            Self::Bars(bars) => &bars.heading,
            Self::Scatter(scatter) => &scatter.heading,
            Self::Curves(curves) => &curves.heading,
            Self::Dumbbells(dumbbells) => &dumbbells.heading,
            Self::Strip(strip) => &strip.heading,
        }
    }

    /// Returns the chart with a message as its title. What it shows moves into the subtitle.
    #[must_use]
    pub fn with_message(mut self, message: &str) -> Self {
        let heading = self.heading_mut();
        let shown = std::mem::replace(&mut heading.title, message.to_owned());
        let parts = [shown, std::mem::take(&mut heading.subtitle)];
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        heading.subtitle = parts.collect::<Vec<_>>().join(" · ");
        self
    }

    pub(crate) fn heading_mut(&mut self) -> &mut Heading {
        match self {
            Self::Bars(bars) => &mut bars.heading,
            Self::Scatter(scatter) => &mut scatter.heading,
            Self::Curves(curves) => &mut curves.heading,
            Self::Dumbbells(dumbbells) => &mut dumbbells.heading,
            Self::Strip(strip) => &mut strip.heading,
        }
    }
}

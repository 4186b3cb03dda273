//! Bars beside each other, with whiskers, in groups under one name.

use super::canvas::{Anchor, Canvas, Line, Look, Text};
use super::frame::{Heading, SMALL_LINE, Sample, Size, cut_end, head, text_width};
use super::rows::{Mark, RowOf, Rows, STEP};
use crate::text::figure;

/// Space for the figures behind the bars.
const FIGURE_WIDTH: f64 = 56.0;
/// Most space for the label of a bar, wide and narrow.
const MOST_LABEL_WIDTHS: (f64, f64) = (240.0, 120.0);
/// Space before a label.
const LABEL_GAP: f64 = 8.0;
/// Height of a bar.
const BAR_HEIGHT: f64 = 14.0;
/// Longest whisker that the axis makes room for, relative to the longest bar: that of two runs may be hundreds
/// of times as long.
const MOST_REACH: f64 = 1.25;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// The ends of its whisker.
    pub ends: Option<(f64, f64)>,
    /// Index of its series in the chart.
    pub series: usize,
    /// Text behind its figure, such as a board that has no colour of its own; may be empty.
    pub label: String,
}

/// Bars under one name, such as those of a card on several boards.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Name of the subject.
    pub name: String,
    /// The bars, the first at the top.
    pub bars: Vec<Bar>,
}

/// Groups of bars, the first at the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// Heading.
    pub heading: Heading,
    /// Title of the axis, with its unit.
    pub axis: String,
    /// Names of the series; none or one: there is no legend.
    pub series: Vec<String>,
    /// The bars.
    pub groups: Vec<Group>,
    /// Lines across the bars, by rising value; those beyond the axis are left out.
    pub marks: Vec<Mark>,
}

impl Bars {
    /// Gives the groups that fit a colour of their own, and both colours a name. Returns false, and changes nothing, if the colours
    /// stand for something else, or none or all of the groups fit.
    pub fn highlight(&mut self, names: [&str; 2], fits: impl Fn(&Group) -> bool) -> bool {
        let count = self.groups.iter().filter(|group| fits(group)).count();
        if self.series.len() > 1 || count == 0 || count == self.groups.len() {
            return false;
        }
        for group in &mut self.groups {
            let series = usize::from(fits(group));
            group.bars.iter_mut().for_each(|bar| bar.series = series);
        }
        self.series = names.map(str::to_owned).to_vec();
        true
    }

    /// Draws the chart; its height.
    pub(super) fn draw(&self, canvas: &mut dyn Canvas, size: Size) -> f64 {
        let top = head(canvas, size, &self.heading, &self.series, Sample::Block);
        let top = if self.marks.is_empty() {
            top
        } else {
            top + SMALL_LINE
        };
        let groups = self.groups.iter();
        let named: Vec<RowOf<'_>> = groups
            .map(|group| (group.name.as_str(), group.bars.len()))
            .collect();
        let label_width = self.label_width(size);
        let behind = FIGURE_WIDTH + LABEL_GAP + label_width;
        let rows = Rows::new(size, top, &named, self.reach(), behind);
        let height = rows.axis(canvas, &self.axis);
        rows.marks(canvas, &self.marks);
        for (index, group) in self.groups.iter().enumerate() {
            let mut middle = rows.name(canvas, index, &group.name);
            for bar in &group.bars {
                bar.draw(canvas, &rows, middle, label_width);
                middle += STEP;
            }
        }
        height
    }

    /// Space for the labels.
    fn label_width(&self, size: Size) -> f64 {
        let bars = self.groups.iter().flat_map(|group| &group.bars);
        let widest = bars.map(|bar| text_width(&bar.label)).fold(0.0, f64::max);
        widest.min(match size {
            Size::Wide => MOST_LABEL_WIDTHS.0,
            Size::Narrow => MOST_LABEL_WIDTHS.1,
        })
    }

    /// The figure up to which the axis reaches at least.
    fn reach(&self) -> f64 {
        let bars = || self.groups.iter().flat_map(|group| &group.bars);
        let longest = bars().map(|bar| bar.value).fold(0.0, f64::max);
        let reached = bars().filter_map(|bar| bar.ends).map(|(_, high)| high);
        reached.fold(longest, f64::max).min(MOST_REACH * longest)
    }
}

impl Bar {
    fn draw(&self, canvas: &mut dyn Canvas, rows: &Rows, middle: f64, label_width: f64) {
        let (zero, end) = (rows.scale.place(0.0), rows.scale.place(self.value));
        let corner = (zero, middle - 0.5 * BAR_HEIGHT);
        canvas.rectangle(self.series, corner, (end - zero, BAR_HEIGHT));
        let mut behind = end;
        if let Some((low, high)) = self.ends {
            let (from, to) = (rows.scale.place(low), rows.scale.place(high));
            canvas.line(Line::Whisker, (from, middle), (to, middle));
            // Without a cap it goes on behind the end of the axis.
            for x in [from, to]
                .into_iter()
                .take(1 + usize::from(rows.scale.holds(high)))
            {
                canvas.line(Line::Whisker, (x, middle - 4.0), (x, middle + 4.0));
            }
            behind = behind.max(to);
        }
        let at = (behind + 6.0, middle + 4.5);
        let value = figure(self.value);
        canvas.text(&Text::new(Look::Plain, at, Anchor::Start, &value));
        if !self.label.is_empty() {
            let shown = cut_end(&self.label, label_width);
            let tip = if shown == self.label { "" } else { &self.label };
            let at = (at.0 + text_width(&value) + LABEL_GAP, at.1);
            canvas.text(&Text {
                tip,
                ..Text::new(Look::Dim, at, Anchor::Start, &shown)
            });
        }
    }
}

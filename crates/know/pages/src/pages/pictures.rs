//! Badges and previews of products and runs, for other pages.

use std::collections::BTreeMap;

use cardmark_core::Record;
use cardmark_judge::ordered_metrics;
use cardmark_report::chart::Badge;
#[cfg(feature = "png")]
use cardmark_report::chart::Preview;
use cardmark_report::text::{count_of, value};
use cardmark_report::{plain_name, run_title};

use crate::pages::{figures, published_charts};
use crate::views::product::{ProductView, SummaryView};
use crate::views::published::quantity;
use crate::views::run::{ListedRun, RunState};

/// Rows of a preview.
const ROWS: usize = 6;

/// Content of a badge and of a preview.
#[derive(Debug)]
pub struct Content {
    title: String,
    #[cfg_attr(
        not(feature = "png"),
        expect(dead_code, reason = "only previews have it")
    )]
    subtitle: String,
    /// Names and figures; the first one is on the badge.
    rows: Vec<(String, String)>,
    /// Text of the badge in place of the first figure.
    instead: Option<String>,
}

impl Content {
    /// The badge, as SVG.
    pub fn badge(self) -> String {
        let first = self.rows.first();
        let first = first.map(|(name, figure)| format!("{name}: {figure}"));
        let text = self.instead.or(first);
        let badge = Badge {
            title: self.title,
            text: text.unwrap_or_else(|| "no figures yet".to_owned()),
        };
        badge.svg()
    }

    /// The preview, as PNG; `None` if it cannot be encoded.
    #[cfg(feature = "png")]
    #[must_use]
    pub fn preview(self) -> Option<Vec<u8>> {
        let preview = Preview {
            title: self.title,
            subtitle: self.subtitle,
            rows: self.rows,
            footer: "cardmark: measured memory cards, CC0 1.0".to_owned(),
        };
        preview.png()
    }
}

/// The pictures of a product: medians in the context with the most cards.
pub fn of_product(view: &ProductView) -> Content {
    let mut contexts = BTreeMap::<&BTreeMap<String, String>, Vec<&SummaryView>>::new();
    for summary in &view.summaries {
        contexts.entry(&summary.context).or_default().push(summary);
    }
    let cards = |rows: &[&SummaryView]| rows.iter().map(|row| row.cards_count).max();
    let most = contexts.into_iter().max_by_key(|(_, rows)| cards(rows));
    let (subtitle, rows) = most.map_or_else(
        || (published_subtitle(&view.entry.key), Vec::new()),
        |(context, rows)| (figures::circumstances(context), rows),
    );
    let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let row = |summary: &SummaryView| {
        let count = count_of(number(summary.cards_count), "card", "cards");
        let figure = value(&summary.metric, quantity(&summary.metric), summary.median);
        let name = plain_name(&summary.metric);
        (name, format!("{figure}, {count}"))
    };
    let rows = figures::offered_first(rows, |summary| summary.metric.as_str());
    let rows: Vec<(String, String)> = rows.into_iter().map(row).collect();
    let rows = match rows.is_empty() {
        true => published_charts::rates_of(&view.entry.key),
        false => rows,
    };
    Content {
        title: view.entry.name.clone(),
        subtitle,
        rows: rows.into_iter().take(ROWS).collect(),
        instead: None,
    }
}

fn published_subtitle(key: &str) -> String {
    match published_charts::rates_of(key).is_empty() {
        true => "No figures yet".to_owned(),
        false => "Published figures".to_owned(),
    }
}

/// The pictures of a run.
pub fn of_run(run: &ListedRun, record: &Record) -> Content {
    let metrics = figures::offered_first(ordered_metrics(record), |metric| metric.id.as_str());
    let rows = metrics.into_iter().take(ROWS).map(|metric| {
        let figure = value(&metric.id, metric.quantity, metric.value);
        (plain_name(&metric.id), figure)
    });
    let instead = match (run.state, run.decided_by) {
        (RunState::Quarantined, None) => Some("quarantined: a check failed".to_owned()),
        (RunState::Quarantined, Some(_)) => Some("quarantined by a moderator".to_owned()),
        (RunState::Shared | RunState::Withdrawn, _) => None,
    };
    let parts = [run.board.clone(), instead.clone()];
    let subtitle: Vec<String> = parts.into_iter().flatten().collect();
    Content {
        title: run
            .product_name
            .clone()
            .unwrap_or_else(|| run_title(record)),
        subtitle: subtitle.join("; "),
        rows: rows.collect(),
        instead,
    }
}

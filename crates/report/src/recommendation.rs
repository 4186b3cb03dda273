//! Products that suit a use: what is needed, what each has of it, and how little is known.

use cardmark_catalog::{Requirement, Use};

use crate::layout::wrap;
use crate::names::workload_name;
use crate::style::{Style, Tone, clean};
use crate::text::{figure, in_unit, percent, place_text, value};

/// Products that are shown where not all are asked for.
const SHOWN: usize = 10;

/// What is recommended for a use, and what is left aside.
#[derive(Clone, Debug)]
pub struct Recommended<'a> {
    /// The use.
    pub wanted: &'a Use,
    /// The best first.
    pub choices: Vec<Choice>,
    /// Those of which no price is known that the budget could be held against.
    pub price_not_known: Vec<Choice>,
    /// Those of which the capacity is not known.
    pub capacity_not_known: Vec<Choice>,
    /// What else was left out, and why, in sentences.
    pub left_out: Vec<String>,
    /// Whether all are shown.
    pub all: bool,
}

/// A product, and how it suits.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Its name.
    pub product: String,
    /// What it is, where that is known.
    pub kind: Option<&'static str>,
    /// First and last place that it may have, from 1.
    pub places: [usize; 2],
    /// How well it suits, in a word.
    pub fit: &'static str,
    /// The metric that limits it.
    pub limiting: String,
    /// Its rate, in the unit of the need.
    pub value: f64,
    /// First metrics of the needs that nothing is known of.
    pub unknown: Vec<String>,
    /// Its score, where all needs are known.
    pub score: Option<f64>,
    /// Runs.
    pub runs_count: usize,
    /// Physical cards.
    pub cards_count: usize,
    /// Whether that is little.
    pub is_sparse: bool,
    /// The computer, with what else makes a difference to the figures.
    pub place: String,
    /// Further places where it was measured.
    pub elsewhere_count: usize,
    /// Who measured.
    pub sources: Vec<String>,
    /// The price, as the user gave it.
    pub price: Option<String>,
}

/// The recommendation as a text of lines at most `width` columns wide.
#[must_use]
pub fn recommendation(of: &Recommended<'_>, width: usize, style: Style) -> String {
    let title = format!("For {}: {}", of.wanted.title, of.wanted.about);
    let mut blocks = vec![paint(wrap(&title, width, 2), style, Tone::Heading)];
    blocks.push(needs(of.wanted, width));
    blocks.push(choices(of, &of.choices, width, style));
    for (heading, apart) in [
        ("Price not known", &of.price_not_known),
        ("Capacity not known", &of.capacity_not_known),
    ] {
        if !apart.is_empty() {
            let mut lines = paint(wrap(heading, width, 2), style, Tone::Heading);
            lines.extend(choices(of, apart, width, style));
            blocks.push(lines);
        }
    }
    blocks.push(notes(of, width, style));
    blocks.retain(|lines| !lines.is_empty());
    let blocks: Vec<String> = blocks.iter().map(|lines| lines.join("\n")).collect();
    blocks.join("\n\n") + "\n"
}

fn paint(lines: Vec<String>, style: Style, tone: Tone) -> Vec<String> {
    let painted = lines.into_iter().map(|line| style.paint(tone, &line));
    painted.collect()
}

/// Each need with its floor and reason.
fn needs(wanted: &Use, width: usize) -> Vec<String> {
    let mut lines = vec!["It needs:".to_owned()];
    for need in &wanted.needs {
        let told = format!(
            "- {}: {} (weight {}: {})",
            need.name,
            enough(need),
            percent(need.weight),
            need.reason
        );
        lines.extend(wrap(&told, width, 2));
    }
    lines
}

/// The metric that the need is spoken of in.
fn need_metric(need: &Requirement) -> &str {
    need.metrics.first().map_or("", String::as_str)
}

/// The rate from which on it is met.
fn enough(need: &Requirement) -> String {
    value(need_metric(need), need.quantity, need.enough)
}

fn choices(of: &Recommended<'_>, choices: &[Choice], width: usize, style: Style) -> Vec<String> {
    if choices.is_empty() {
        let none = "No product is known that this could be said of.";
        return wrap(none, width, 2);
    }
    let shown = if of.all { choices.len() } else { SHOWN };
    let mut lines = Vec::new();
    for choice in choices.iter().take(shown) {
        let kind = choice.kind.map(|kind| format!(" ({kind})"));
        let head = format!(
            "{}. {}{}: {}{}",
            place_text(choice.places),
            clean(&choice.product),
            kind.unwrap_or_default(),
            if choice.unknown.is_empty() {
                ""
            } else {
                "at most "
            },
            choice.fit
        );
        lines.extend(paint(wrap(&head, width, 3), style, Tone::Heading));
        let indented = format!("   {}", details(of.wanted, choice));
        lines.extend(wrap_indented(&indented, width));
    }
    let more = choices.len().saturating_sub(shown);
    if more > 0 {
        lines.extend(wrap(
            &format!("… and {more} more; `--all` shows them"),
            width,
            2,
        ));
    }
    lines
}

/// `wrap` takes the spaces of the first line away.
fn wrap_indented(text: &str, width: usize) -> Vec<String> {
    let room = width.saturating_sub(3);
    let lines = wrap(text.trim_start(), room, 0);
    lines.iter().map(|line| format!("   {line}")).collect()
}

/// What limits it, from how much, where and from whom.
fn details(wanted: &Use, choice: &Choice) -> String {
    let limit = limit(wanted, choice);
    let cards = match choice.cards_count {
        0 | 1 => String::new(),
        cards => format!(" of {cards} cards"),
    };
    let runs = match choice.runs_count {
        1 => "1 run".to_owned(),
        runs => format!("{runs} runs"),
    };
    let few = if choice.is_sparse { " (few data)" } else { "" };
    let sources: Vec<String> = choice.sources.iter().map(|source| clean(source)).collect();
    let mut parts = vec![limit];
    if let Some(score) = choice.score {
        parts.push(format!("score {}", figure(score)));
    }
    parts.push(format!("{runs}{cards}{few} on {}", clean(&choice.place)));
    parts.push(format!("from {}", sources.join(", ")));
    if !choice.unknown.is_empty() {
        let names: Vec<&str> = choice.unknown.iter().map(|id| workload_name(id)).collect();
        parts.push(format!("not known: {}", names.join(", ")));
    }
    match choice.elsewhere_count {
        0 => {}
        1 => parts.push("also measured in 1 other way".to_owned()),
        count => parts.push(format!("also measured in {count} other ways")),
    }
    if let Some(price) = &choice.price {
        parts.push(format!("price {}", clean(price)));
    }
    parts.join("; ")
}

/// `limited by random write 4 KiB (iozone_random_write): 759 of 800 IOPS`.
fn limit(wanted: &Use, choice: &Choice) -> String {
    let is_it = |need: &&Requirement| need.metrics.contains(&choice.limiting);
    let Some(need) = wanted.needs.iter().find(is_it) else {
        return format!("limited by {}", choice.limiting);
    };
    // It is told by several metrics, and they are not quite the same.
    let (name, by) = (&need.name, &choice.limiting);
    format!(
        "limited by {name} ({by}): {} of {}",
        figure(in_unit(need.quantity, choice.value)),
        enough(need)
    )
}

fn notes(of: &Recommended<'_>, width: usize, style: Style) -> Vec<String> {
    let mut notes = of.left_out.clone();
    notes.push(
        "Poor: less than half of what is needed, slow: less than all, good: all, ample: twice as much. \
         Ranked by what each has least of; first those of which every need is known. Products numbered \
         like 1–3 cannot be put in order: repeats of one card differ by as much. Of each product \
         the place is taken where most products were measured: a faster board makes the same card \
         faster, and `--board` keeps to one. Score: 100 is a card of which random access just meets \
         class A1 and sequential writes speed class 10; its synced and mixed writes and sequential \
         reads are our judgement, as no class promises them. Twice as fast in everything is 200 \
         (geometric mean by the weights)."
            .to_owned(),
    );
    notes.push(format!("What the use needs is from: {}", of.wanted.source));
    let lines = notes.iter().flat_map(|note| wrap(note, width, 2)).collect();
    paint(lines, style, Tone::Dim)
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::use_of;

    use super::*;
    use crate::style::columns;

    fn choice(product: &str) -> Choice {
        Choice {
            product: product.to_owned(),
            kind: Some("microSD"),
            places: [1, 1],
            fit: "slow",
            limiting: "iozone_random_write".to_owned(),
            value: 759.0,
            unknown: Vec::new(),
            score: Some(131.7),
            runs_count: 1,
            cards_count: 1,
            is_sparse: true,
            place: "Raspberry Pi 2 Model B (reader slot)".to_owned(),
            elsewhere_count: 2,
            sources: vec!["geerling-dramble".to_owned()],
            price: Some("9.50 EUR".to_owned()),
        }
    }

    fn recommended(count: usize) -> Recommended<'static> {
        Recommended {
            wanted: use_of("boot").unwrap(),
            choices: (0..count).map(|_| choice("Samsung Evo+ 32 GB")).collect(),
            price_not_known: vec![Choice {
                unknown: vec!["seq_read_1m".to_owned()],
                price: None,
                score: None,
                ..choice("A \u{1b}[31mcard")
            }],
            capacity_not_known: Vec::new(),
            left_out: vec!["2 products cost more".to_owned()],
            all: false,
        }
    }

    #[test]
    fn it_tells_what_limits_from_how_much_and_from_whom() {
        let text = recommendation(&recommended(12), 300, Style::Plain);
        for part in [
            "1. Samsung Evo+ 32 GB (microSD): slow",
            "limited by random write 4 KiB (iozone_random_write): 759 of 800 IOPS",
            "1 run (few data) on Raspberry Pi 2 Model B (reader slot)",
            "from geerling-dramble",
            "; score 132; ",
            "price 9.50 EUR",
            "and 2 more",
            "Price not known",
            "A ?[31mcard (microSD): at most slow",
            "not known: sequential read 1 MiB",
            "2 products cost more",
            "SD Specifications",
            "synced and mixed writes and sequential reads are our judgement",
            "also measured in 2 other ways",
        ] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
        assert!(!text.contains("Capacity not known"), "{text}");
        let mut once = recommended(1);
        once.choices[0].elsewhere_count = 1;
        let text = recommendation(&once, 300, Style::Plain);
        assert!(text.contains("in 1 other way;"), "{text}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [30, 40, 80] {
            for count in [0, 3] {
                let text = recommendation(&recommended(count), width, Style::Plain);
                for line in text.lines() {
                    assert!(columns(line) <= width, "{width}: {line}");
                }
            }
        }
        let none = recommendation(&recommended(0), 80, Style::Plain);
        assert!(none.contains("No product is known"), "{none}");
    }
}

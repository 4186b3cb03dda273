//! Products that suit a use: what is needed, what each has of it, and how little is known.

use cardmark_catalog::{Availability, ProductKind, Requirement, Use};
use cardmark_judge::{Filter, Fit, Left, Price, Recommendation, Standing, Wish, comfortable};

use crate::text::layout::{joined, painted, points, wrap};
use crate::text::names::workload_name;
use crate::text::style::{Style, Tone, clean};
use crate::text::{count_of, figure, in_unit, on_boards, percent, place_text, value};

/// Products whose names are shown where not all are asked for.
const SHOWN: usize = 10;
/// Products that are described where not all are asked for.
const DESCRIBED: usize = 5;

/// Recommendation for a use.
#[derive(Clone, Debug)]
pub struct Recommended<'a> {
    /// The use.
    pub wanted: &'a Use,
    /// Further wishes.
    pub wish: &'a Wish,
    /// The products.
    pub found: &'a Recommendation,
    /// True if all are shown.
    pub all: bool,
}

/// The recommendation as a text of lines at most `width` columns wide.
pub fn recommendation(of: &Recommended<'_>, width: usize, style: Style) -> String {
    let found = of.found;
    let title = match of.all {
        true => format!("For {}: {}", of.wanted.title, of.wanted.about),
        false => {
            let boards = on_boards(found.standings.iter().map(|one| one.board.as_deref()));
            let title = format!("For {}, best first {boards}", of.wanted.title);
            title.trim_end().to_owned()
        }
    };
    let mut blocks = vec![painted(&[title], width, style, Tone::Heading)];
    if found.cannot_answer() {
        blocks.push(painted(
            &[cannot_answer(found)],
            width,
            style,
            Tone::Heading,
        ));
    } else {
        blocks.push(choices(of, &found.standings, width, style));
    }
    for (heading, apart) in [
        ("Price not known", &found.price_not_known),
        ("Capacity not known", &found.capacity_not_known),
    ] {
        if !apart.is_empty() {
            let mut lines = painted(&[heading], width, style, Tone::Heading);
            lines.extend(choices(of, apart, width, style));
            blocks.push(lines);
        }
    }
    if of.all {
        blocks.push(needs(of.wanted, width));
        blocks.push(filters(of, width));
    } else {
        blocks.push([asked(of.wanted, width), filters(of, width)].concat());
    }
    blocks.push(cannot_tell(of, width, style));
    blocks.push(notes(of, width, style));
    joined(&blocks)
}

/// The answer if no product has a rate that decides.
fn cannot_answer(found: &Recommendation) -> String {
    let needs = found.unknown_needs.join(", ");
    format!("Cannot answer: no published figures of {needs}.")
}

/// Products without a rate that decides: their names, or with `all` what is known about them.
fn cannot_tell(of: &Recommended<'_>, width: usize, style: Style) -> Vec<String> {
    let apart = &of.found.cannot_tell;
    if apart.is_empty() {
        return Vec::new();
    }
    let count = count_of(apart.len(), "product", "products");
    let heading = format!("Cannot tell: {count} without a key figure");
    let mut lines = painted(&[heading], width, style, Tone::Heading);
    if of.all {
        // They have no order: the figure that decides is missing.
        lines.extend(entries(of, apart, |_| "–".to_owned(), width, style));
        return lines;
    }
    let names: Vec<String> = apart
        .iter()
        .take(SHOWN)
        .map(|one| clean(&one.product))
        .collect();
    let more = match apart.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!("{}{more}; `--all` shows what is known", names.join(", "));
    lines.extend(wrap(&text, width, 2));
    lines
}

/// Number of products that each filter left; nothing if none were asked for.
fn filters(of: &Recommended<'_>, width: usize) -> Vec<String> {
    let is_asked = of.wish.board.is_some() || of.wish.capacity_bytes.is_some();
    let is_asked = is_asked || of.wish.budget.is_some();
    if !is_asked || of.found.left.is_empty() {
        return Vec::new();
    }
    wrap(&left_by_filters(of.wish, of.found), width, 2)
}

/// A sentence on the number of products that each filter left.
pub fn left_by_filters(wish: &Wish, found: &Recommendation) -> String {
    let is_empty = |left: &Left| left.products_count == 0;
    // Later filters have nothing to leave.
    let last = found
        .left
        .iter()
        .position(is_empty)
        .map_or(found.left.len(), |index| index + 1);
    let clauses = found.left[..last].iter().map(|left| {
        let count = left.products_count;
        match left.filter {
            Filter::Rate => format!(
                "{} with a figure for this use",
                count_of(count, "product", "products")
            ),
            Filter::Board => {
                let board = wish.board.as_deref().unwrap_or_default();
                format!("on a board called `{}`: {count}", clean(board))
            }
            Filter::Kind => {
                let kinds: Vec<&str> = wish.kinds.iter().map(|kind| kind.name()).collect();
                format!("{}: {count}", kinds.join(", "))
            }
            Filter::Capacity => {
                let gigabytes = wish.capacity_bytes.unwrap_or(0) / 1_000_000_000;
                format!("{gigabytes} GB or more: {count}")
            }
            Filter::Budget => {
                let budget = wish.budget.as_ref().map(Price::text).unwrap_or_default();
                let unpriced = found.price_not_known.len() + found.cannot_tell.len();
                match count == 0 && found.too_dear_count == 0 && unpriced > 0 {
                    true => format!("at most {budget}: 0 (none has a price)"),
                    false => format!("at most {budget}: {count}"),
                }
            }
        }
    });
    let clauses: Vec<String> = clauses.collect();
    format!("{}.", clauses.join("; "))
}

/// The needs in one sentence.
fn asked(wanted: &Use, width: usize) -> Vec<String> {
    let need = |need: &Requirement| format!("{} {}", need.name, enough(need));
    let needs: Vec<String> = wanted.needs.iter().map(need).collect();
    wrap(&format!("Asked for: {}.", needs.join(", ")), width, 2)
}

/// Each need with its floor and reason.
fn needs(wanted: &Use, width: usize) -> Vec<String> {
    let told = wanted.needs.iter().map(|need| {
        let weight = percent(need.weight);
        let (name, enough, reason) = (&need.name, enough(need), &need.reason);
        format!("{name}: {enough} (weight {weight}: {reason})")
    });
    let needs = points(&told.collect::<Vec<_>>(), width);
    [vec!["It needs:".to_owned()], needs].concat()
}

/// Metric in which the need is expressed.
fn need_metric(need: &Requirement) -> &str {
    need.metrics.first().map_or("", String::as_str)
}

/// The rate from which on it is met.
fn enough(need: &Requirement) -> String {
    value(need_metric(need), need.quantity, need.enough)
}

fn choices(
    of: &Recommended<'_>,
    standings: &[Standing],
    width: usize,
    style: Style,
) -> Vec<String> {
    if standings.is_empty() {
        let none = "No product is left.";
        return wrap(none, width, 2);
    }
    let number = |standing: &Standing| format!("{}.", place_text(standing.places));
    entries(of, standings, number, width, style)
}

/// Products with their details, the first ones or all.
fn entries(
    of: &Recommended<'_>,
    standings: &[Standing],
    number: impl Fn(&Standing) -> String,
    width: usize,
    style: Style,
) -> Vec<String> {
    let shown = if of.all { standings.len() } else { DESCRIBED };
    let mut lines = Vec::new();
    for standing in standings.iter().take(shown) {
        let head = format!("{} {}", number(standing), head(standing));
        let head = wrap(&head, width, 3);
        lines.extend(head.iter().map(|line| style.paint(Tone::Heading, line)));
        let details = match of.all {
            true => details(of.wanted, standing),
            false => in_short(of.wanted, standing),
        };
        let details = wrap(&details, width.saturating_sub(3), 0);
        lines.extend(details.iter().map(|line| format!("   {line}")));
    }
    let more = standings.len().saturating_sub(shown);
    if more > 0 {
        lines.extend(wrap(
            &format!("… and {more} more; `--all` shows them"),
            width,
            2,
        ));
    }
    lines
}

fn head(standing: &Standing) -> String {
    let kind = standing.kind.map(ProductKind::name);
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let could_be = match standing.suitability.unknown.is_empty() {
        true => "",
        false => "could be ",
    };
    let fit = match standing.suitability.fit {
        Fit::Poor => "poor",
        Fit::Slow => "slow",
        Fit::Enough => "enough",
        Fit::Good => "good",
        Fit::Ample => "ample",
    };
    let product = clean(&standing.product);
    format!("{product}{kind}: {could_be}{fit}")
}

/// Limiting figure, board, age and price.
fn in_short(wanted: &Use, standing: &Standing) -> String {
    let board = standing.board.as_deref().unwrap_or("unknown board");
    let (limit, board, time) = (limit(wanted, standing, false), clean(board), time(standing));
    let price = standing.price.as_ref();
    let price = price.map_or_else(String::new, |price| {
        format!("; price {}", clean(&price.text()))
    });
    format!("{limit}; {board}; {time}{price}")
}

/// Limiting figure with its number of runs, board and source.
fn details(wanted: &Use, standing: &Standing) -> String {
    let suitability = &standing.suitability;
    let mut parts = vec![limit(wanted, standing, true)];
    if let Some(score) = suitability.score {
        parts.push(format!("score {} (class A1: 100)", figure(score)));
    }
    let runs = count_of(standing.runs_count, "run", "runs");
    let cards = match standing.cards_count {
        0 | 1 => String::new(),
        cards => format!(" of {cards} cards"),
    };
    let few = if standing.is_sparse {
        " (few data)"
    } else {
        ""
    };
    parts.push(format!("{runs}{cards}{few} on {}", place(standing)));
    let sources: Vec<String> = standing
        .sources
        .iter()
        .map(|source| clean(source))
        .collect();
    parts.push(format!("from {}", sources.join(", ")));
    parts.push(time(standing));
    if !suitability.unknown.is_empty() {
        let unknown = suitability.unknown.iter();
        let names: Vec<&str> = unknown.map(|id| workload_name(id)).collect();
        parts.push(format!("no figure of {}", names.join(", ")));
    }
    match standing.elsewhere_count {
        0 => {}
        count => parts.push(format!(
            "also measured in {}",
            count_of(count, "other way", "other ways")
        )),
    }
    if let Some(price) = &standing.price {
        parts.push(format!("price {}", clean(&price.text())));
    }
    parts.join("; ")
}

/// Year of the test, of the first sale, and the state in the shops.
fn time(standing: &Standing) -> String {
    let tested = match standing.tested.as_slice() {
        [] => "test undated".to_owned(),
        years => format!("tested {}", years.join(", ")),
    };
    let sold = match standing.first_sold.as_slice() {
        [] => String::new(),
        years => {
            let years: Vec<String> = years.iter().map(ToString::to_string).collect();
            format!(", first sold {}", years.join(" or "))
        }
    };
    let availability = match standing.availability {
        Availability::Sold => "still sold",
        Availability::Discontinued => "no longer made",
        Availability::Unknown => "availability unknown",
    };
    clean(&format!("{tested}{sold}, {availability}"))
}

/// The computer, with what else makes a difference to the figures.
fn place(standing: &Standing) -> String {
    let board = standing.board.as_deref();
    let board = board.unwrap_or("unknown board");
    clean(&match standing.conditions.as_slice() {
        [] => board.to_owned(),
        conditions => format!("{board} ({})", conditions.join(", ")),
    })
}

/// Rates of one long series of writes; others of the same need may be those of a cache.
const LONG_WRITES: [&str; 2] = ["slowest_60s_write", "settled_write"];

/// `limited by random write 4 KiB (iozone_random_write): 759 IOPS (needs 800)`, the metric on request.
fn limit(wanted: &Use, standing: &Standing, with_metric: bool) -> String {
    let limiting = &standing.suitability.limiting;
    let is_it = |need: &&Requirement| need.metrics.contains(&limiting.metric);
    let Some(need) = wanted.needs.iter().find(is_it) else {
        return format!("limited by {}", limiting.metric);
    };
    // Several metrics have it, with slightly different values.
    let by = match with_metric {
        true => format!(" ({})", limiting.metric),
        false => String::new(),
    };
    let is_long = |id: &str| LONG_WRITES.contains(&id);
    let name = match need.metrics.iter().any(|id| is_long(id)) {
        true if is_long(&limiting.metric) => workload_name(&limiting.metric).to_owned(),
        true => format!("{} in a short test", need.name),
        false => need.name.clone(),
    };
    let in_words = |rate| figure(in_unit(need.quantity, rate));
    let asked = match (&need.class, standing.suitability.fit) {
        (Some(class), Fit::Enough) => format!(
            "{class} asks for {}; {} is comfortable",
            in_words(need.reference),
            in_words(comfortable(need))
        ),
        _ => format!("needs {}", in_words(need.enough)),
    };
    format!(
        "limited by {name}{by}: {} ({asked})",
        value(need_metric(need), need.quantity, limiting.value)
    )
}

/// Omitted products, with the reason.
fn left_out(of: &Recommended<'_>) -> Vec<String> {
    let (found, budget) = (of.found, of.wish.budget.as_ref());
    let products = |count| count_of(count, "product", "products");
    let runs = |count| count_of(count, "run", "runs");
    let mut told = Vec::new();
    if found.too_small_count > 0 {
        let products = products(found.too_small_count);
        told.push(format!("Left out: {products} of less capacity."));
    }
    if let Some(budget) = budget.filter(|_| found.too_dear_count > 0) {
        told.push(format!(
            "Left out: {} that cost more than {}.",
            products(found.too_dear_count),
            budget.text()
        ));
    }
    if found.other_kinds_count > 0 {
        let products = products(found.other_kinds_count);
        told.push(format!(
            "Left out: {products} of other kinds; `--kind all` shows them."
        ));
    }
    if budget.is_some() {
        told.push(
            "Prices are your own: `--price \"NAME=AMOUNT\"`, or `cardmark label RUN price=AMOUNT`."
                .to_owned(),
        );
    }
    if found.simulated_runs_count > 0 {
        let runs = runs(found.simulated_runs_count);
        told.push(format!("Left out: {runs} of simulated cards."));
    }
    if found.nameless_runs_count > 0 {
        told.push(format!(
            "Left out: {} without a known product; `cardmark label RUN product=NAME` sets it.",
            runs(found.nameless_runs_count)
        ));
    }
    told
}

fn notes(of: &Recommended<'_>, width: usize, style: Style) -> Vec<String> {
    let mut notes = left_out(of);
    if !of.all {
        let ranges = "Products numbered like 1–3 cannot be put in order: another card of the product, or another board, differs \
                      by that.";
        let more = "Results come from the board on which most products were measured; `--board` names one. `--all` \
                    shows reasons, scores, numbers of runs and sources.";
        notes.push(format!("{ranges} {more}"));
        return painted(&notes, width, style, Tone::Dim);
    }
    notes.push(
        "Poor: less than half of what is needed, slow: less than all, good: all, ample: double that; could be: a \
         figure is missing. Ranked by each product's weakest result; fully tested products first. Products numbered \
         like 1–3 cannot be put in order: another card of the product, another board and another method differ by that; \
         between two products on one board the board does not count. Results come from the \
         board on which most products were measured, because a faster board makes the same card faster; \
         `--board` names one. Score: 100 is a card whose random access just meets \
         class A1 and sequential writes speed class 10; its synced and mixed writes and sequential \
         reads are our judgement, as no class promises them. Twice as fast in everything is 200 \
         (geometric mean by the weights)."
            .to_owned(),
    );
    notes.push(format!("Source of these needs: {}", of.wanted.source));
    painted(&notes, width, style, Tone::Dim)
}

#[cfg(test)]
mod tests {
    use cardmark_catalog::use_of;
    use cardmark_core::Quantity;
    use cardmark_judge::{Price, Suitability, Supply};
    use cardmark_stats::Ranked;

    use super::*;
    use crate::text::style::columns;

    fn standing(product: &str) -> Standing {
        Standing {
            product: product.to_owned(),
            kind: Some(ProductKind::Microsd),
            capacity_bytes: None,
            price: Price::parse("9.50 EUR"),
            board: Some("Raspberry Pi 2 Model B".to_owned()),
            conditions: vec!["reader slot".to_owned()],
            runs_count: 1,
            cards_count: 1,
            sources: vec!["geerling-dramble".to_owned()],
            tested: vec!["2019".to_owned()],
            first_sold: vec![2015],
            availability: Availability::Sold,
            suitability: Suitability {
                use_id: "boot".to_owned(),
                fit: Fit::Slow,
                limiting: Supply {
                    metric: "iozone_random_write".to_owned(),
                    quantity: Quantity::OperationRate,
                    value: 759.0,
                    enough: 800.0,
                    reason: String::new(),
                },
                supplies: Vec::new(),
                unknown: Vec::new(),
                score: Some(131.7),
            },
            known_ratio: 1.0,
            is_sparse: true,
            elsewhere_count: 2,
            places: [1, 1],
            limit: Ranked {
                value: 0.95,
                runs_count: 1,
                cards_count: 1,
                card: None,
                place: std::sync::Arc::default(),
                spread: None,
                elsewhere: None,
                method: "",
                between_methods: 0.0,
            },
        }
    }

    fn found(count: usize) -> Recommendation {
        let mut nameless = standing("A \u{1b}[31mcard");
        nameless.suitability.unknown = vec!["seq_read_1m".to_owned()];
        nameless.suitability.score = None;
        nameless.price = None;
        Recommendation {
            standings: vec![standing("Samsung Evo+ 32 GB"); count],
            price_not_known: vec![nameless],
            too_dear_count: 2,
            ..Recommendation::default()
        }
    }

    fn text(found: &Recommendation, width: usize) -> String {
        shown(found, width, false)
    }

    fn shown(found: &Recommendation, width: usize, all: bool) -> String {
        let wish = Wish {
            budget: Price::parse("10 EUR"),
            ..Wish::default()
        };
        let recommended = Recommended {
            wanted: use_of("boot").unwrap(),
            wish: &wish,
            found,
            all,
        };
        recommendation(&recommended, width, Style::Plain)
    }

    #[test]
    fn it_tells_what_limits_from_how_much_and_from_whom() {
        let shown = self::shown(&found(12), 2000, true);
        for part in [
            "1. Samsung Evo+ 32 GB (microSD): slow",
            "limited by random write 4 KiB (iozone_random_write): 759 IOPS (needs 800)",
            "1 run (few data) on Raspberry Pi 2 Model B (reader slot)",
            "from geerling-dramble; tested 2019, first sold 2015, still sold",
            "; score 132 (class A1: 100); ",
            "price 9.50 EUR",
            "Price not known",
            "A ?[31mcard (microSD): could be slow",
            "no figure of sequential read 1 MiB",
            "Left out: 2 products that cost more than 10.00 EUR.",
            "SD Specifications",
            "synced and mixed writes and sequential reads are our judgement",
            "also measured in 2 other ways",
        ] {
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
        assert!(!shown.contains("Capacity not known"), "{shown}");
        let mut once = found(1);
        once.standings[0].elsewhere_count = 1;
        let text = self::shown(&once, 300, true);
        assert!(text.contains("in 1 other way;"), "{text}");
    }

    #[test]
    fn the_short_form_begins_with_the_products() {
        let shown = text(&found(12), 2000);
        let lines: Vec<&str> = shown.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(
            lines[..3],
            [
                "For boot and desktop, best first on a Raspberry Pi 2 Model B",
                "1. Samsung Evo+ 32 GB (microSD): slow",
                "   limited by random write 4 KiB: 759 IOPS (needs 800); Raspberry Pi 2 Model B; tested 2019, first \
                 sold 2015, still sold; price 9.50 EUR",
            ]
        );
        for part in [
            "and 7 more",
            "Asked for: random read 4 KiB 2000 IOPS, random write 4 KiB 800 IOPS, sequential read 20.0 MB/s.",
            "Left out: 2 products that cost more than 10.00 EUR.",
        ] {
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
        assert!(!shown.contains("SD Specifications"), "{shown}");
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in [30, 40, 80] {
            for count in [0, 3] {
                let shown = text(&found(count), width);
                for line in shown.lines() {
                    assert!(columns(line) <= width, "{width}: {line}");
                }
            }
        }
        let none = text(&found(0), 80);
        assert!(none.contains("No product is left"), "{none}");
    }

    #[test]
    fn without_a_key_figure_it_says_so_instead_of_a_ranking() {
        let found = Recommendation {
            unknown_needs: vec!["synced write 4 KiB".to_owned()],
            cannot_tell: vec![standing("Samsung Evo+ 32 GB"); 12],
            ..Recommendation::default()
        };
        let shown = text(&found, 200);
        for part in [
            "Cannot answer: no published figures of synced write 4 KiB.",
            "Cannot tell: 12 products without a key figure",
            "and 2 more",
        ] {
            assert!(shown.contains(part), "no `{part}` in {shown}");
        }
        assert!(!shown.contains("No product is left"), "{shown}");
    }
}

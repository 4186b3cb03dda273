//! Products to avoid, each with its reason.

use cardmark_catalog::{SampleRegisters, Use, product};
use cardmark_judge::{AvoidReason, Warned};
use serde_json::{Value, json};

use crate::answer::{AnswerBlock, Weight};
use crate::text::layout::{joined, section};
use crate::text::names::listed;
use crate::text::style::{Style, clean};
use crate::text::{amount, count_of, per_second};

/// Products that are named in a sentence where not all are asked for.
const SHOWN: usize = 3;
/// Slow products that are named there.
const SHOWN_SLOW: usize = 2;

/// The facts for an answer about products to avoid.
#[derive(Clone, Copy, Debug)]
pub struct AvoidAnswer<'a> {
    /// The use.
    pub wanted: &'a Use,
    /// The products, the gravest reason first.
    pub warned: &'a [Warned],
}

impl AvoidAnswer<'_> {
    /// Returns the answer.
    #[must_use]
    pub fn block(&self) -> AnswerBlock {
        let own = self.of(|reason| matches!(reason, AvoidReason::OwnFake { .. }));
        let fakes = self.of(|reason| matches!(reason, AvoidReason::FalseCapacity { .. }));
        let mut sentences = Vec::new();
        sentences.extend((!own.is_empty()).then(|| own_fakes(&own)));
        sentences.extend((!fakes.is_empty()).then(|| false_capacities(&fakes)));
        sentences.extend(self.false_names());
        sentences.extend(self.early_errors());
        sentences.extend(self.broken_queues());
        sentences.extend(self.too_slow());
        let mut sentences = sentences.into_iter();
        let Some(first) = sentences.next() else {
            return AnswerBlock {
                sentence: "No product to avoid is known here".to_owned(),
                ..AnswerBlock::default()
            };
        };
        AnswerBlock {
            weight: Weight::Warning,
            sentence: format!("Avoid {first}"),
            more: sentences.map(|text| format!("Also {text}")).collect(),
            open: vec![self.basis()],
            next: Some(
                "`cardmark probe DEVICE` shows a false capacity; `--all`: figures and sources"
                    .to_owned(),
            ),
            ..AnswerBlock::default()
        }
    }

    /// Returns the answer, and with `all` each product with its sources, as lines at most `width` columns wide.
    #[must_use]
    pub fn text(&self, all: bool, width: usize, style: Style) -> String {
        let mut block = self.block();
        if !all {
            return joined(&[block.lines(width, style)]);
        }
        block.next = None;
        let items: Vec<String> = self.warned.iter().map(|one| self.in_full(one)).collect();
        joined(&[
            block.lines(width, style),
            section("Each product, with its source", &items, width, style),
        ])
    }

    /// Returns the same for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({ "use": self.wanted, "answer": self.block().json(), "avoid": self.warned })
    }

    fn of(&self, is_it: fn(&AvoidReason) -> bool) -> Vec<&Warned> {
        self.warned
            .iter()
            .filter(|one| is_it(&one.reason))
            .collect()
    }

    fn false_names(&self) -> Option<String> {
        let found = self.of(|reason| *reason == AvoidReason::FalseName);
        let texts = found.iter().map(|one| {
            let registers: Vec<String> = one.registers.iter().map(register).collect();
            let registers = match registers.is_empty() {
                true => String::new(),
                false => format!(": registers {}", registers.join(" or ")),
            };
            let made = years(&one.years).map(|years| format!(" ({years})"));
            let name = clean(&one.name);
            format!(
                "{name}, {}{}{registers}",
                not_made_by(&one.name),
                made.unwrap_or_default()
            )
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    fn early_errors(&self) -> Option<String> {
        let found = self.of(|reason| matches!(reason, AvoidReason::EarlyError { .. }));
        let texts = found.iter().filter_map(|one| {
            let AvoidReason::EarlyError { early_count, .. } = one.reason else {
                return None;
            };
            let made = years(&one.years).map(|years| format!(", {years}"));
            let (name, count) = (clean(&one.name), one.cards_count);
            Some(format!(
                "{name} ({early_count} of {count}{})",
                made.unwrap_or_default()
            ))
        });
        let texts: Vec<String> = texts.collect();
        (!texts.is_empty()).then(|| {
            format!(
                "cards with errors in the first fillings: {}",
                texts.join(", ")
            )
        })
    }

    fn broken_queues(&self) -> Option<String> {
        let found = self.of(|reason| matches!(reason, AvoidReason::BrokenQueue { .. }));
        let (board, is_off) = found.iter().find_map(|one| match &one.reason {
            AvoidReason::BrokenQueue {
                board,
                is_off_by_default,
                ..
            } => Some((board, *is_off_by_default)),
            _ => None,
        })?;
        let names: Vec<String> = found.iter().map(|one| clean(&one.name)).collect();
        let off = match is_off {
            true => ", which leaves it off unless you turn it on",
            false => "",
        };
        Some(format!(
            "cards whose command queue fails on a {}{off}: {}",
            clean(board),
            shortened(&names, SHOWN)
        ))
    }

    /// The largest products first: small ones are no longer sold.
    fn too_slow(&self) -> Option<String> {
        let found = self.of(|reason| matches!(reason, AvoidReason::TooSlow { .. }));
        let size = |one: &Warned| product(&one.name).and_then(|product| product.capacity_bytes);
        let mut sized: Vec<(Option<u64>, String)> = found
            .iter()
            .map(|one| (size(one), clean(&one.name)))
            .collect();
        sized.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let names: Vec<String> = sized.into_iter().map(|(_, name)| name).collect();
        let of_all: Vec<String> = found.iter().flat_map(|one| one.years.clone()).collect();
        let published = years(&of_all).map(|years| format!(" (published {years})"));
        (!names.is_empty()).then(|| {
            format!(
                "products far too slow for {}{}: {}",
                self.wanted.title,
                published.unwrap_or_default(),
                shortened(&names, SHOWN_SLOW)
            )
        })
    }

    /// Number of cards, and dates of the facts.
    fn basis(&self) -> String {
        let read = self
            .warned
            .iter()
            .filter_map(|one| one.checked_on.as_deref())
            .max();
        let tested = |one: &&Warned| one.cards_count > 0 && one.checked_on.is_some();
        let counts = || self.warned.iter().filter(tested).map(|one| one.cards_count);
        let mut parts = Vec::new();
        if let Some((least, most)) = counts().min().zip(counts().max()) {
            parts.push(format!("{least} to {most} cards each were tested"));
        }
        parts.extend(read.map(|day| match parts.is_empty() {
            true => format!("Sources read {day}"),
            false => format!("sources read {day}"),
        }));
        parts.push("no brand as a whole".to_owned());
        parts.join("; ")
    }

    fn in_full(&self, one: &Warned) -> String {
        let mut parts = vec![reason(one, self.wanted)];
        parts.extend((one.cards_count > 0).then(|| count_of(one.cards_count, "card", "cards")));
        let tested = matches!(one.reason, AvoidReason::TooSlow { .. });
        parts.extend((!one.years.is_empty()).then(|| {
            format!(
                "{} {}",
                if tested { "published" } else { "made" },
                one.years.join(", ")
            )
        }));
        let registers = one
            .registers
            .iter()
            .map(|found| format!("registers {}", register(found)));
        parts.extend(registers);
        parts.extend(one.sources.iter().map(|source| clean(source)));
        parts.extend(one.checked_on.iter().map(|day| format!("read {day}")));
        format!("{}: {}", clean(&one.name), parts.join("; "))
    }
}

/// Years in their range: `2017`, `2022–2024`.
fn years(all: &[String]) -> Option<String> {
    let (first, last) = all.iter().min().zip(all.iter().max())?;
    Some(match first == last {
        true => clean(first),
        false => clean(&format!("{first}–{last}")),
    })
}

/// The first names, and the number of others.
fn shortened(names: &[String], shown: usize) -> String {
    match names.len().saturating_sub(shown) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..shown].join(", ")),
    }
}

fn own_fakes(found: &[&Warned]) -> String {
    let texts = found.iter().take(SHOWN).map(|one| match &one.reason {
        AvoidReason::OwnFake {
            real_bytes,
            size_bytes,
            tested_on,
        } => {
            let day = tested_on.as_deref().map(|day| format!(", {day}"));
            format!(
                "{} (yours holds {} of {}{})",
                clean(&one.name),
                amount(*real_bytes),
                amount(*size_bytes),
                day.unwrap_or_default()
            )
        }
        _ => clean(&one.name),
    });
    let more = match found.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more of your cards"),
    };
    format!("{}{more}", texts.collect::<Vec<_>>().join(", "))
}

/// False capacities by the name before the capacity: `"Lenovo" 128 GB, 256 GB and 2 TB`.
fn false_capacities(found: &[&Warned]) -> String {
    let mut makes: Vec<(String, Vec<u64>)> = Vec::new();
    for one in found {
        let AvoidReason::FalseCapacity { label_bytes, .. } = one.reason else {
            continue;
        };
        let name = clean(&one.name);
        let name = name
            .trim_end_matches(&format!(" {}", amount(label_bytes)))
            .to_owned();
        match makes.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sizes)) => sizes.push(label_bytes),
            None => makes.push((name, vec![label_bytes])),
        }
    }
    let texts = makes.iter_mut().map(|(name, sizes)| {
        sizes.sort_unstable();
        let sizes: Vec<String> = sizes.iter().map(|bytes| amount(*bytes)).collect();
        format!("{name} {}", listed(&sizes, "and"))
    });
    let texts: Vec<String> = texts.collect();
    let holds = found.iter().filter_map(|one| match one.reason {
        AvoidReason::FalseCapacity { holds_bytes, .. } => holds_bytes,
        _ => None,
    });
    let (least, most) = holds.fold((u64::MAX, 0), |(least, most), [low, high]| {
        (least.min(low), most.max(high))
    });
    let holds = match most {
        0 => "less than the label".to_owned(),
        most if amount(least) == amount(most) => amount(most),
        most => {
            let (least, most) = (rounded(least), rounded(most));
            let number = least.trim_end_matches(" GB");
            format!("{number} to {most}")
        }
    };
    let mut names: Vec<String> = Vec::new();
    for found in found.iter().flat_map(|one| &one.registers) {
        let name = clean(&found.product);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let registers = match names.as_slice() {
        [] => String::new(),
        names => format!("; register name {}", names.join(" or ")),
    };
    let made: Vec<String> = found.iter().flat_map(|one| one.years.clone()).collect();
    let made = years(&made).map(|years| format!(" ({years})"));
    format!(
        "cards sold as {}: hold {holds}{}{registers}",
        texts.join(", "),
        made.unwrap_or_default()
    )
}

/// A capacity in whole gigabytes.
fn rounded(bytes: u64) -> String {
    amount((bytes + 500_000_000) / 1_000_000_000 * 1_000_000_000)
}

/// `0x00, 0x3432, SD16G`.
fn register(found: &SampleRegisters) -> String {
    let (maker, oem, name) = (found.manufacturer_id, &found.oem, &found.product);
    clean(&format!("0x{maker:02x}, 0x{oem}, {name}"))
}

/// `not made by Sony`, from the quoted name.
fn not_made_by(name: &str) -> String {
    match name.split('"').nth(1) {
        Some(maker) => format!("not made by {}", clean(maker)),
        None => "a false name".to_owned(),
    }
}

/// The reason of one product in full.
fn reason(one: &Warned, wanted: &Use) -> String {
    match &one.reason {
        AvoidReason::OwnFake {
            real_bytes,
            size_bytes,
            tested_on,
        } => {
            let day = tested_on.as_deref().map(|day| format!(" on {day}"));
            let (real, size) = (amount(*real_bytes), amount(*size_bytes));
            format!(
                "your test{} found {real} of {size}",
                day.unwrap_or_default()
            )
        }
        AvoidReason::FalseCapacity {
            holds_bytes: None, ..
        } => "holds less than the label".to_owned(),
        AvoidReason::FalseCapacity {
            holds_bytes: Some([least, most]),
            ..
        } => match amount(*least) == amount(*most) {
            true => format!("holds {}", amount(*most)),
            false => format!("hold {} to {}", amount(*least), amount(*most)),
        },
        AvoidReason::FalseName => not_made_by(&one.name),
        AvoidReason::EarlyError {
            early_count,
            most_fillings,
        } => {
            let of = match most_fillings {
                0 => "in the first filling".to_owned(),
                most => format!("within {} fillings", most + 1),
            };
            format!("{early_count} of {} had an error {of}", one.cards_count)
        }
        AvoidReason::BrokenQueue { detail, .. } => clean(detail.trim_end_matches('.')),
        AvoidReason::TooSlow {
            plain,
            quantity,
            value,
            asked,
            board,
            runs_count,
        } => {
            let board = board
                .as_deref()
                .map(|board| format!(" on {}", clean(board)));
            format!(
                "at most {} {plain}{} in {}; {} asks for {}",
                per_second(*quantity, *value),
                board.unwrap_or_default(),
                count_of(*runs_count, "run", "runs"),
                wanted.title,
                per_second(*quantity, *asked)
            )
        }
    }
}

#[cfg(test)]
mod tests;

//! The bus between a native slot and the card: its mode, clock, cache and command queue.

use cardmark_catalog::{Quirk, QuirkEffect, quirks};
use cardmark_core::{Bus, BusMode, Finding, FindingKind, Severity};

use super::situation::Situation;

pub(super) fn findings(situation: &Situation<'_>) -> Vec<Finding> {
    let reader = situation.device.reader.as_ref();
    let Some(bus) = reader.and_then(|reader| reader.bus.as_ref()) else {
        return Vec::new();
    };
    [
        slow_bus(situation, bus),
        overclocked(situation, bus),
        no_command_queue(situation),
        no_cache(situation),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// True if the card claims a UHS speed grade and so supports at least DDR50: that mode is mandatory for
/// microSD.
fn is_uhs_card(situation: &Situation<'_>) -> bool {
    situation.claims("U1") || situation.claims("U3")
}

fn slow_bus(situation: &Situation<'_>, bus: &Bus) -> Option<Finding> {
    let mode = bus.mode?;
    if !is_uhs_card(situation) || mode.most_mb_per_s() >= BusMode::Ddr50.most_mb_per_s() {
        return None;
    }
    let most = mode.most_mb_per_s()?;
    let board = situation.board;
    let is_limit = board.is_some_and(|board| {
        board
            .bus_modes
            .iter()
            .all(|can| can.most_mb_per_s() <= Some(most))
    });
    if is_limit {
        let detail = format!(
            "the card slot of {} is limited to {most} MB/s: a UHS card is slower here than it could be",
            situation.board_name()
        );
        let advice = "the figures apply to the card in this board; its label's promises can be \
                      tested in a faster slot";
        return Some(Finding::new(FindingKind::SlowBus, Severity::Note, detail).advise(advice));
    }
    let detail = format!(
        "the bus to the card is limited to {most} MB/s, although the card supports more{}",
        if board.is_some() {
            ", and so does the board"
        } else {
            ""
        }
    );
    let advice = if board.is_some() {
        "remove the card, clean its contacts, and insert it again without an adapter; the kernel \
         falls back to a slow mode when tuning fails"
    } else {
        "check which modes this slot supports; a UHS mode needs 1.8 V signals"
    };
    let severity = if board.is_some() {
        Severity::Warning
    } else {
        Severity::Note
    };
    Some(Finding::new(FindingKind::SlowBus, severity, detail).advise(advice))
}

fn overclocked(situation: &Situation<'_>, bus: &Bus) -> Option<Finding> {
    let clock_hz = bus.overclock_hz?;
    let detail = format!(
        "the card slot is overclocked: {} MHz, above the allowed 50 MHz",
        clock_hz / 1_000_000
    );
    let advice = format!(
        "compare only with figures from slots at this clock; it may cause errors on the bus or in the \
         filesystem of {}",
        situation.board_name()
    );
    Some(Finding::new(FindingKind::Overclocked, Severity::Note, detail).advise(advice))
}

fn no_command_queue(situation: &Situation<'_>) -> Option<Finding> {
    let depth = situation.facts()?.command_queue_count?;
    let is_on = situation.queue()?.command_queue;
    if depth == 0 || is_on == Some(true) || !situation.claims("A2") {
        return None;
    }
    let detail = match is_on {
        Some(_) => {
            "this A2 card runs without command queueing, so it is slower than its class promises"
        }
        None => "it is unknown if this A2 card runs with command queueing",
    };
    let advice = match situation.board {
        Some(board) => match &board.command_queue {
            Some(how) if quirk(situation, QuirkEffect::TrustedQueue).is_some() => {
                format!("this card is known to be good; {how}")
            }
            Some(how) => format!(
                "this card is not on the kernel's list of cards known to be good; {how} Keep a \
                 backup of its data: some cards fail with it"
            ),
            None => format!(
                "no kernel for {} uses the queue of SD cards: judge the card as A1 here",
                board.name
            ),
        },
        None => "mainline kernels do not use the queue of SD cards: judge the card as A1 here"
            .to_owned(),
    };
    Some(Finding::new(FindingKind::NoCommandQueue, Severity::Note, detail).advise(advice))
}

fn no_cache(situation: &Situation<'_>) -> Option<Finding> {
    let has_cache = situation.facts()?.has_cache?;
    let mode = situation.queue()?.write_cache.as_deref()?;
    if !has_cache || mode == "write back" {
        return None;
    }
    let detail = "the card has a cache that is turned off: random writes are slower than its \
                  maker says";
    let advice = match quirk(situation, QuirkEffect::NoCache) {
        Some(quirk) => format!("leave it as it is: {}", quirk.detail),
        None => "Linux 5.14 and later turns it on automatically if the slot can warn the \
                 card before a loss of power"
            .to_owned(),
    };
    Some(Finding::new(FindingKind::NoCache, Severity::Note, detail).advise(advice))
}

/// Returns the kernels' treatment of this model that has such an effect.
fn quirk(situation: &Situation<'_>, effect: QuirkEffect) -> Option<&'static Quirk> {
    let card = situation.device.card.as_ref()?;
    quirks(card.kind, &card.decoded)
        .into_iter()
        .find(|quirk| quirk.effects.contains(&effect))
}

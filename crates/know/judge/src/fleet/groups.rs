//! Groups of boards, such as those with one product.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::{FleetBoard, Need};
use crate::attention::{board_model, label};

/// Boards that a group needs to be ranked.
pub const LEAST_BOARDS: usize = 5;

/// Boards with one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FleetGroup {
    /// The value; `None`: not known.
    pub name: Option<String>,
    /// Number of boards.
    pub boards_count: usize,
    /// Number of those whose card needs attention, or that have an open event.
    pub need_count: usize,
    /// Place by the share of these, the largest first; equal shares share it. `None` for a group that is too small, or of an unknown
    /// value.
    pub place: Option<usize>,
}

impl FleetGroup {
    /// Groups boards by `product`, `board` (its model) or a label of their last runs. Ranked groups come first.
    #[must_use]
    pub fn by(boards: &[FleetBoard<'_>], key: &str) -> Vec<Self> {
        let mut groups = BTreeMap::<Option<String>, Self>::new();
        for board in boards {
            let name = value(board, key);
            let group = groups.entry(name.clone()).or_default();
            group.name = name;
            group.boards_count += 1;
            let needs = board.need.is_some_and(|need| need < Need::Silent);
            group.need_count += usize::from(needs);
        }
        let mut groups: Vec<Self> = groups.into_values().collect();
        groups.sort_by_key(|group| match group.is_ranked() {
            true => (0, Reverse(group.share())),
            false => (1 + usize::from(group.name.is_none()), Reverse(0)),
        });
        let mut last = None;
        let ranked = groups.iter_mut().enumerate();
        for (index, group) in ranked.filter(|(_, group)| group.is_ranked()) {
            let share = group.share();
            let place = match last {
                Some((before, place)) if before == share => place,
                _ => index + 1,
            };
            group.place = Some(place);
            last = Some((share, place));
        }
        groups
    }

    fn is_ranked(&self) -> bool {
        self.boards_count >= LEAST_BOARDS && self.name.is_some()
    }

    /// Share of boards in need, in 1/10⁶.
    fn share(&self) -> usize {
        self.need_count.saturating_mul(1_000_000) / self.boards_count.max(1)
    }
}

fn value(board: &FleetBoard<'_>, key: &str) -> Option<String> {
    let last = |of: &dyn Fn(&cardmark_core::Record) -> Option<String>| {
        board.runs.iter().rev().find_map(|run| of(run))
    };
    match key {
        "product" => board.product.clone(),
        "board" => last(&|run| board_model(run).map(str::to_owned)),
        label_key => last(&|run| label(run, label_key).map(str::to_owned)),
    }
}

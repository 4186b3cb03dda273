//! In which order cards are put in, and what is left.

use cardmark_core::Rng;

use crate::folder::Done;
use crate::spec::{Campaign, CardSpec, SlotSpec};

/// A card that is put into a board once more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Visit<'a> {
    /// The card.
    pub(crate) card: &'a CardSpec,
    /// Number of the repeat, from 1.
    pub(crate) repeat: u32,
}

/// All visits to a board. Each card comes once before any comes again, each time in another order,
/// so that nothing that changes meanwhile, such as the heat of the day, favours a card. The same
/// campaign has the same order, so that it can be resumed.
pub(crate) fn visits<'a>(campaign: &'a Campaign, board: &SlotSpec) -> Vec<Visit<'a>> {
    let mut visits = Vec::new();
    for repeat in 1..=campaign.repeats {
        let name = format!("campaign {} {}", campaign.title, board.name);
        let mut rng = Rng::for_part(0, &name, u64::from(repeat));
        let mut cards: Vec<&CardSpec> = campaign.cards.iter().collect();
        for last in (1..cards.len()).rev() {
            let other = usize::try_from(rng.below(last as u64 + 1)).unwrap_or(last);
            cards.swap(last, other);
        }
        visits.extend(cards.into_iter().map(|card| Visit { card, repeat }));
    }
    visits
}

/// Progress of a board.
#[derive(Clone, Debug)]
pub(crate) struct Progress<'a> {
    /// Remaining visits, in order.
    pub(crate) left: Vec<Visit<'a>>,
    /// All visits.
    pub(crate) all_count: usize,
}

impl<'a> Progress<'a> {
    /// Remaining visits of a board after these runs.
    pub(crate) fn of(campaign: &'a Campaign, board: &SlotSpec, done: &[Done]) -> Self {
        let mut left = visits(campaign, board);
        let all_count = left.len();
        left.retain(|visit| !suites_left(campaign, board, *visit, done).is_empty());
        Self { left, all_count }
    }

    /// The next visit of that card.
    pub(crate) fn next_of(&self, card: &str) -> Option<Visit<'a>> {
        self.left
            .iter()
            .find(|visit| visit.card.name == card)
            .copied()
    }
}

/// The suites by which a card is still to be measured in a visit.
pub(crate) fn suites_left<'a>(
    campaign: &'a Campaign,
    board: &SlotSpec,
    visit: Visit<'_>,
    done: &[Done],
) -> Vec<&'a str> {
    let is_done = |suite: &str| {
        done.iter().filter(|one| one.is_whole).any(|one| {
            (
                one.card.as_str(),
                one.board.as_str(),
                one.suite.as_str(),
                one.repeat,
            ) == (
                visit.card.name.as_str(),
                board.name.as_str(),
                suite,
                visit.repeat,
            )
        })
    };
    let suites = campaign.suites.iter().map(String::as_str);
    suites.filter(|suite| !is_done(suite)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn campaign(cards_count: usize) -> Campaign {
        let card = |index: usize| CardSpec {
            name: format!("card{index}"),
            product: None,
            claims: Vec::new(),
            labels: std::collections::BTreeMap::new(),
            simulated: None,
        };
        let board = |name: &str| SlotSpec {
            name: name.to_owned(),
            model: None,
            target: Some("/mnt".to_owned()),
            runs_from_card: false,
            simulated: None,
        };
        Campaign {
            title: "test".to_owned(),
            suites: vec!["quick".to_owned(), "dramble".to_owned()],
            repeats: 3,
            cards: (0..cards_count).map(card).collect(),
            boards: vec![board("pi3"), board("pi4")],
        }
    }

    fn names(campaign: &Campaign, board: usize) -> Vec<(String, u32)> {
        let visits = visits(campaign, &campaign.boards[board]);
        let name = |visit: &Visit<'_>| (visit.card.name.clone(), visit.repeat);
        visits.iter().map(name).collect()
    }

    #[test]
    fn each_card_comes_once_before_any_comes_again() {
        let campaign = campaign(12);
        let names = names(&campaign, 0);
        assert_eq!(names.len(), 36);
        for (index, round) in names.chunks(12).enumerate() {
            let mut cards: Vec<_> = round.iter().map(|(card, _)| card.clone()).collect();
            cards.sort();
            cards.dedup();
            assert_eq!(cards.len(), 12);
            assert!(
                round
                    .iter()
                    .all(|(_, repeat)| *repeat as usize == index + 1)
            );
        }
    }

    #[test]
    fn the_order_differs_from_round_to_round_and_board_to_board_but_not_from_call_to_call() {
        let campaign = campaign(12);
        let (pi3, pi4) = (names(&campaign, 0), names(&campaign, 1));
        let cards = |part: &[(String, u32)]| -> Vec<String> {
            part.iter().map(|(card, _)| card.clone()).collect()
        };
        assert_eq!(pi3, names(&campaign, 0));
        assert_ne!(cards(&pi3[..12]), cards(&pi3[12..24]));
        assert_ne!(cards(&pi3[..12]), cards(&pi4[..12]));
    }

    #[test]
    fn no_place_in_a_round_is_a_cards_own() {
        let mut campaign = campaign(4);
        campaign.repeats = 100;
        let names = names(&campaign, 0);
        let first = |card: &str| {
            let rounds = names.chunks(4);
            rounds.filter(|round| round[0].0 == card).count()
        };
        for card in ["card0", "card1", "card2", "card3"] {
            assert!((12..=38).contains(&first(card)), "{card} {}", first(card));
        }
    }

    #[test]
    fn what_is_done_is_not_done_again() {
        let campaign = campaign(2);
        let board = &campaign.boards[0];
        let done = |suite: &str, board: &str| Done {
            card: "card1".to_owned(),
            board: board.to_owned(),
            suite: suite.to_owned(),
            repeat: 1,
            sample_id: None,
            is_whole: true,
        };
        let half = [done("quick", "pi3"), done("dramble", "pi4")];
        let progress = Progress::of(&campaign, board, &half);
        assert_eq!((progress.left.len(), progress.all_count), (6, 6));
        let visit = progress.next_of("card1").unwrap();
        assert_eq!(suites_left(&campaign, board, visit, &half), ["dramble"]);
        let whole = [done("quick", "pi3"), done("dramble", "pi3")];
        let progress = Progress::of(&campaign, board, &whole);
        assert_eq!(progress.left.len(), 5);
        assert_eq!(progress.next_of("card1").unwrap().repeat, 2);
    }
}

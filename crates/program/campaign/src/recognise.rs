//! Recognition of the inserted card.

use crate::folder::Done;
use crate::order::{Progress, Visit};

/// Known facts about the inserted card.
#[derive(Debug)]
pub(crate) enum Seen<'a> {
    /// The one that was asked for, as far as can be seen.
    Asked,
    /// Another one, which has runs left on this board.
    Other(Visit<'a>),
    /// Another one, of that name, which has none left.
    Finished(String),
    /// None of those seen so far, where the one asked for was seen before.
    Stranger,
    /// The reader does not show which card it is.
    Hidden,
}

/// Recognises a card by its earlier runs, on any board. A card that was never seen is
/// taken for the one that was asked for, if that was never seen either.
pub(crate) fn recognise<'a>(
    asked: &Visit<'a>,
    sample_id: Option<&str>,
    done: &[Done],
    progress: &Progress<'a>,
) -> Seen<'a> {
    let Some(sample_id) = sample_id else {
        return Seen::Hidden;
    };
    let is_it = |one: &&Done| one.sample_id.as_deref() == Some(sample_id);
    if let Some(known) = done.iter().find(is_it) {
        if known.card == asked.card.name {
            return Seen::Asked;
        }
        let next = progress.next_of(&known.card);
        return next.map_or_else(|| Seen::Finished(known.card.clone()), Seen::Other);
    }
    let was_seen = |one: &Done| one.card == asked.card.name && one.sample_id.is_some();
    if done.iter().any(was_seen) {
        Seen::Stranger
    } else {
        Seen::Asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Campaign;

    const TEXT: &str = r#"
        title = "t"
        repeats = 1
        cards = [{ name = "red" }, { name = "blue" }, { name = "green" }]
        boards = [{ name = "pi", target = "/mnt" }]
    "#;

    fn done(card: &str, sample_id: Option<&str>) -> Done {
        Done {
            card: card.to_owned(),
            board: "pi".to_owned(),
            suite: "quick".to_owned(),
            repeat: 1,
            sample_id: sample_id.map(str::to_owned),
            is_whole: true,
        }
    }

    fn seen(asked: &str, sample_id: Option<&str>, done: &[Done]) -> String {
        let campaign: Campaign = toml::from_str(TEXT).unwrap();
        let progress = Progress::of(&campaign, &campaign.boards[0], done);
        let card = campaign
            .cards
            .iter()
            .find(|card| card.name == asked)
            .unwrap();
        let visit = Visit { card, repeat: 1 };
        match recognise(&visit, sample_id, done, &progress) {
            Seen::Asked => "asked".to_owned(),
            Seen::Other(visit) => format!("other {}", visit.card.name),
            Seen::Finished(name) => format!("finished {name}"),
            Seen::Stranger => "stranger".to_owned(),
            Seen::Hidden => "hidden".to_owned(),
        }
    }

    #[test]
    fn a_card_is_what_it_was_before() {
        let elsewhere = Done {
            board: "other".to_owned(),
            ..done("blue", Some("b1"))
        };
        let done = [done("red", Some("a1")), elsewhere, done("green", None)];
        assert_eq!(seen("red", Some("a1"), &done), "asked");
        assert_eq!(seen("red", Some("b1"), &done), "other blue");
        assert_eq!(seen("blue", Some("a1"), &done), "finished red");
        assert_eq!(seen("red", Some("c1"), &done), "stranger");
        // Its runs so far were in a reader that hides what it is.
        assert_eq!(seen("green", Some("c1"), &done), "asked");
        assert_eq!(seen("green", None, &done), "hidden");
    }
}

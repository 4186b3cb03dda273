use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Real questions: ids of the explanations that answer it, the question, and the thread that it is from.
const ASKED: &str = include_str!("asked.tsv");

/// Explanations that a person reads; one of them has to answer the question.
const MOST_READ: usize = 3;

fn questions() -> Vec<(BTreeSet<&'static str>, &'static str)> {
    let lines = ASKED.lines().map(|line| {
        let parts: Vec<&str> = line.split('\t').collect();
        let [ids, question, thread] = parts[..] else {
            panic!("{line}");
        };
        assert!(!thread.is_empty(), "{line}");
        (ids.split(',').collect(), question)
    });
    lines.collect()
}

fn ids(question: &str) -> Vec<&'static str> {
    let found = search(question).into_iter();
    found.map(|answer| answer.explanation.id.as_str()).collect()
}

/// The question, if none of the first three explanations answers it.
fn missed(ids_of: &BTreeSet<&str>, question: &str) -> Option<String> {
    let found = ids(question);
    let first = found.iter().take(MOST_READ);
    let is_answered = first.into_iter().any(|id| ids_of.contains(id));
    (!is_answered).then(|| format!("{question}: {found:?}, not {ids_of:?}"))
}

#[test]
fn questions_of_people_are_answered() {
    let questions = questions();
    assert!(questions.len() >= 120, "{}", questions.len());
    let known: BTreeSet<&str> = explanations().iter().map(|row| row.id.as_str()).collect();
    for (ids, question) in &questions {
        assert!(ids.is_subset(&known), "{question}: {ids:?}");
    }
    let missed: Vec<String> = questions
        .iter()
        .filter_map(|(ids, question)| missed(ids, question))
        .collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let first = questions
        .iter()
        .filter(|(allowed, question)| ids(question).first().is_some_and(|id| allowed.contains(id)));
    let share = first.count() as f64 / questions.len() as f64;
    assert!(share >= 0.85, "first: {share}");
}

#[test]
fn own_questions_find_their_row() {
    let mut first = 0;
    let mut all = 0;
    for row in explanations() {
        for question in &row.questions {
            let found = ids(question);
            let place = found.iter().position(|id| *id == row.id);
            assert!(
                place < Some(MOST_READ) && place.is_some(),
                "{}: {question}: {found:?}",
                row.id
            );
            first += usize::from(place == Some(0));
            all += 1;
        }
    }
    // Two rows may answer one question.
    assert!(all > 250 && first * 100 >= all * 95, "{first} of {all}");
}

/// Swaps the letter after `at` with its neighbour, drops it, doubles it, or replaces it.
fn slip(word: &str, at: usize, kind: u8) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    // The first letter is seldom wrong.
    let at = 1 + at % (letters.len() - 2);
    match kind % 4 {
        0 => letters.swap(at, at + 1),
        1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = if letters[at] == 'e' { 'w' } else { 'e' },
    }
    letters.into_iter().collect()
}

/// The words in this order; a board keeps its number.
fn in_order(question: &str, keys: &[usize]) -> String {
    let question = question.replace("Pi ", "Pi").replace("pi ", "pi");
    let mut words: Vec<(usize, &str)> = question
        .split(' ')
        .enumerate()
        .map(|(index, word)| (keys[index % keys.len()].wrapping_mul(2 * index + 1), word))
        .collect();
    words.sort_unstable();
    let words: Vec<&str> = words.into_iter().map(|(_, word)| word).collect();
    words.join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Of questions with one slip each, nearly all find their answer; the others lost their only rare word.
    #[test]
    fn slips_are_corrected(at in 0_usize..20, kind in 0_u8..4, which in 0_usize..10) {
        let questions = questions();
        let wrong = questions.iter().filter_map(|(ids, question)| {
            let mut words: Vec<String> = question.split(' ').map(str::to_owned).collect();
            let long = |word: &String| word.len() >= 6 && word.chars().all(char::is_alphabetic);
            let places: Vec<usize> = (0..words.len()).filter(|index| long(&words[*index])).collect();
            let place = *places.get(which % places.len().max(1))?;
            words[place] = slip(&words[place], at, kind);
            missed(ids, &words.join(" "))
        });
        let wrong: Vec<String> = wrong.collect();
        prop_assert!(wrong.len() * 20 <= questions.len(), "{wrong:#?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_order_of_words_changes_nothing(
        which in 0_usize..1000,
        keys in prop::collection::vec(any::<usize>(), 1..8),
    ) {
        let questions = questions();
        let question = questions[which % questions.len()].1;
        let in_order = in_order(question, &keys);
        let expected = ids(&question.replace("Pi ", "Pi").replace("pi ", "pi"));
        prop_assert_eq!(ids(&in_order), expected, "{}", in_order);
    }

    #[test]
    fn small_words_change_nothing(
        which in 0_usize..1000,
        words in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let rows: Vec<Words> = embedded(SYNONYMS, "small");
        let small = &rows[0].words;
        let added = words.iter().map(|index| small[index % small.len()].as_str());
        let added = added.collect::<Vec<_>>().join(" ");
        let questions = questions();
        let question = questions[which % questions.len()].1;
        let longer = format!("{added} {question} {added}");
        // A small word may complete a phrase, as `not` in `not show up`.
        if INDEX.terms(&longer) == INDEX.terms(question) {
            prop_assert_eq!(ids(&longer), ids(question));
        }
    }

    /// Whatever is asked: at most five, each once, and each holds a part of the question.
    #[test]
    fn any_text_is_a_question(question in ".{0,80}") {
        let found = search(&question);
        prop_assert!(found.len() <= MOST_FOUND);
        let distinct: BTreeSet<&str> = ids(&question).into_iter().collect();
        prop_assert_eq!(distinct.len(), found.len());
        for answer in found {
            prop_assert!((LEAST_SHARE..=1.0 + 1e-9).contains(&answer.share), "{}", answer.share);
        }
        let _ = asked(&question);
    }
}

#[test]
fn what_nothing_explains_finds_nothing() {
    for question in [
        "",
        "the of",
        "zeppelin",
        "what is a zeppelin?",
        "card",
        "?!",
    ] {
        assert!(ids(question).is_empty(), "{question}: {:?}", ids(question));
    }
}

/// A name that is not known stands in the text of another row.
#[test]
fn a_word_of_a_text_is_no_topic() {
    let found = search("samsung_pro_plus_2023");
    assert!(found.iter().all(|answer| !answer.is_topic), "{found:?}");
    assert!(search("is my card a fake")[0].is_topic);
}

#[test]
fn a_choice_comes_with_its_command() {
    for (question, command) in [
        ("which card for moOde", "recommend --use media`"),
        ("which SD card for a kiosk?", "recommend --use boot`"),
        (
            "best card for Pi Zero 2 W",
            "recommend --board \"Pi Zero 2 W\"`",
        ),
        ("which card lasts longest", "recommend --use endurance`"),
        (
            "best card for Volumio on a pi4?",
            "recommend --use media --board \"pi4\"`",
        ),
    ] {
        let found = answered(question).unwrap();
        assert!(found.text.contains(command), "{question}: {}", found.text);
    }
    for (question, id) in [
        ("SanDisk vs Samsung", Some("brands")),
        ("is Lexar good?", Some("brands")),
        ("which card for Home Assistant", Some("home_assistant")),
        ("SanDisk", None),
        ("SanDisk Extreme", None),
    ] {
        let found = answered(question);
        assert_eq!(found.as_ref().map(|row| row.id.as_str()), id, "{question}");
    }
}

#[test]
fn short_questions_find_their_row() {
    for (question, id) in [
        ("is an SSD better", "ssd"),
        ("is eMMC better than microSD", "emmc"),
        ("does capacity matter for speed", "capacity"),
        ("64GB vs 128GB", "capacity"),
        ("is 32 GB enough", "capacity"),
        ("is 256 GB too big for a Pi", "sdxc"),
        ("is a bigger card faster", "capacity"),
        ("AliExpress cards", "avoiding"),
    ] {
        let found = answered(question).map(|row| row.id.clone());
        let found = found.or_else(|| ids(question).first().map(|id| (*id).to_owned()));
        assert_eq!(found.as_deref(), Some(id), "{question}");
    }
}

#[test]
fn equal_words_are_the_question_of_a_row() {
    let id = |question: &str| asked(question).map(|row| row.id.as_str());
    assert_eq!(id("Which card should I buy?"), Some("buying"));
    assert_eq!(id("which card for my Pi 5?"), Some("buying"));
    assert_eq!(id("cards for the dashcam"), Some("dash_cam"));
    assert_eq!(ids("which card for my zeppelin?")[0], "buying");
    assert_eq!(id("SanDisk Extreme 64 GB"), None);
    assert_eq!(id("Zero 2 W"), None);
    assert_eq!(id("Evo Plus"), None);
}

#[test]
fn endings_and_boards_are_one_word() {
    let stems = |text: &str| stems(text).join(" ");
    assert_eq!(stems("wear leveling"), stems("wear levelling"));
    assert_eq!(stems("corrupted cards"), stems("corrupt card"));
    assert_eq!(
        stems("batteries, boxes, classes, bus"),
        "battery box class bus"
    );
    for board in [
        "Raspberry Pi 4",
        "raspberry pi4",
        "raspberry rpi 4",
        "raspberry Pi 4B",
        "Raspberry rpi4",
    ] {
        assert_eq!(stems(board), "raspberry pi4", "{board}");
    }
    assert_eq!(stems("128GB 4k 60 2024"), "gb 4k");
}

#[test]
fn synonyms_are_in_one_row() {
    let rows: Vec<Words> = embedded(SYNONYMS, "synonyms");
    assert!(rows.len() > 30);
    let mut known = BTreeSet::new();
    for words in rows.iter().map(|row| &row.words) {
        assert!(words.len() > 1, "{words:?}");
        // Two spellings in one row may have one stem.
        let distinct: BTreeSet<Vec<String>> = words.iter().map(|words| stems(words)).collect();
        for stems in distinct {
            assert!(!stems.is_empty(), "{words:?}");
            assert!(known.insert(stems.clone()), "{stems:?} twice");
        }
    }
}

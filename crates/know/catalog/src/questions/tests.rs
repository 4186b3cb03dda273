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
    assert!(share >= 0.9, "first: {share}");
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
    assert!(all > 300 && first * 100 >= all * 95, "{first} of {all}");
}

/// Swaps the letter after `at` with its neighbour, drops it, doubles it, or replaces it.
fn slip(word: &str, at: usize, kind: usize) -> String {
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

/// The question with a hyphen between words that belong together in their order: `Pi-4`, `class-10`.
fn in_groups(question: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in question.split(' ') {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        match words.last_mut() {
            Some(last) if is_number || word.eq_ignore_ascii_case("only") => {
                last.push('-');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words.join(" ")
}

/// The words in this order, but for those that belong together.
fn in_order(question: &str, keys: &[usize]) -> String {
    let question = in_groups(question);
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
    fn slips_are_corrected(at in 0_usize..20, kind in 0_usize..4, which in 0_usize..10) {
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
        let expected = ids(&in_groups(question));
        prop_assert_eq!(ids(&in_order), expected, "{}", in_order);
    }

    #[test]
    fn small_words_change_nothing(
        which in 0_usize..1000,
        words in prop::collection::vec(0_usize..200, 0..6),
    ) {
        let rows: Vec<Words> = rows_of("small");
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
    assert!(found.iter().all(|answer| answer.fit == 0.0), "{found:?}");
    assert!(search("is my card a fake")[0].fit > 0.9);
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
        ("does SanDisk last longer than Samsung", Some("brands")),
        ("is Samsung better than SanDisk", Some("brands")),
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
    assert_eq!(stems("45 MB/s, 45MB/s, MB"), "mbp mbp mb");
    assert_eq!(stems("Class 10 or class 4"), "class10 or class4");
    assert_eq!(stems("read only, read-only"), "readonly readonly");
    assert_eq!(stems("±2 %"), "plusminus");
}

/// With an `s` more or less.
fn in_other_number(word: &str) -> String {
    match word.strip_suffix('s') {
        Some(one) => one.to_owned(),
        None => format!("{word}s"),
    }
}

/// Places of words with at least `least_count` letters and a regular plural.
fn places_of(words: &[&str], least_count: usize) -> Vec<usize> {
    let is_plain = |word: &str| {
        let is_regular = !["ss", "us", "is"].iter().any(|end| word.ends_with(end));
        word.len() >= least_count && is_regular && word.bytes().all(|c| c.is_ascii_alphabetic())
    };
    (0..words.len())
        .filter(|index| is_plain(words[*index]))
        .collect()
}

/// A question of a row as others would put it: four ways.
fn put_otherwise(question: &str, small: &[String], keys: &[usize]) -> Vec<String> {
    let filler = |key: usize| small[key % small.len()].as_str();
    let grouped = in_groups(question);
    let words: Vec<&str> = grouped.split(' ').collect();
    let with = |least_count: usize, change: &dyn Fn(&str) -> String| {
        let places = places_of(&words, least_count);
        let place = places.get(keys[0] % places.len().max(1))?;
        let mut changed: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        changed[*place] = change(words[*place]);
        Some(changed.join(" "))
    };
    let longer = format!("{} {question} {}", filler(keys[0]), filler(keys[1]));
    let is_same = INDEX.terms(&longer) == INDEX.terms(question);
    let mut others = vec![in_order(question, keys)];
    // A small word may complete a phrase, as `not` in `not show up`.
    others.extend(is_same.then_some(longer));
    others.extend(with(4, &in_other_number));
    others.extend(with(6, &|word| slip(word, keys[1], keys[0])));
    others
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    /// Each topic is found by its questions in another order, with other words between, in the other number and with a slip.
    #[test]
    fn topics_are_found_by_their_questions_as_others_put_them(
        keys in prop::collection::vec(any::<usize>(), 2..8),
    ) {
        let small = &rows_of("small")[0].words;
        let (mut count, mut missed) = (0, Vec::new());
        for row in explanations() {
            let others = row.questions.iter().flat_map(|question| put_otherwise(question, small, &keys));
            for question in others {
                count += 1;
                let found = ids(&question);
                if !found.iter().take(MOST_READ).any(|id| *id == row.id) {
                    missed.push(format!("{question}: {found:?}, not {}", row.id));
                }
            }
        }
        prop_assert!(count > 1000, "{count}");
        prop_assert!(missed.len() * 50 <= count, "{} of {count}: {missed:#?}", missed.len());
    }
}

#[test]
fn synonyms_are_in_one_row() {
    let rows: Vec<Words> = rows_of("synonyms");
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

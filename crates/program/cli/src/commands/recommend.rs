//! `cardmark recommend`.

mod durable;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use cardmark_catalog::{
    Use, board, boards_called, meant_use, product_name, products_called, use_of,
};
use cardmark_core::{Subject, clean};
use cardmark_host::{Root, read_board};
use cardmark_judge::{
    Day, Figure, Price, Question, Wish, in_catalogue, is_uneven, metrics_of_use, published_figures,
    recommend as recommended,
};
use cardmark_report::Recommended;
use cardmark_store::Store;
use serde_json::json;

use super::rank::{copies, orphan};
use crate::args::RecommendArguments;
use crate::error::{CommandError, Exit};
use crate::runs::readable_store;
use crate::terminal::{TERMINAL, print};
use cardmark_session::{Voice, store_error};

/// Use if none is named.
const USUAL_USE: &str = "boot";
/// Words before a use or a board.
const SMALL: [&str; 7] = ["on", "a", "an", "the", "my", "for", "with"];
/// Question for the board, at a terminal of a computer that is none.
const WHICH_BOARD: &str =
    "Which board is it for? Such as Pi 5, Pi 4 or Zero 2 W; Enter = any board";
/// Label of a run with the price of its product.
const PRICE_LABEL: &str = "price";

/// Names the products that suit a use best, from own runs and what others published.
pub(crate) fn recommend(arguments: &RecommendArguments) -> Result<Exit, CommandError> {
    let arguments = &sorted(arguments)?;
    let (wanted, today) = (wanted(arguments)?, today()?);
    if let Some(exit) = durable::answered(arguments, wanted, today)? {
        return Ok(exit);
    }
    let own = match readable_store() {
        Some(mut store) => Own::read(&mut store, wanted)?,
        None => Own::default(),
    };
    let question = question(arguments, wanted, &own, today)?;
    let figures = [published_figures(), &own.figures].concat();
    let choice = recommended(&figures, &question);
    let found = Recommended {
        question: &question,
        choice: &choice,
    };
    if arguments.json {
        let found = json!({ "use": wanted, "answer": found.answer().json(), "choice": choice });
        print::data(&format!("{found:#}\n"))?;
        return Ok(Exit::Done);
    }
    let (width, style) = (print::width(), print::style());
    let text = if arguments.all {
        found.all(width, style)
    } else {
        let mut answer = found.answer();
        answer.next = Some(next(arguments, &question, choice.is_board_unknown));
        answer.lines(width, style).join("\n") + "\n"
    };
    print::result(&text)?;
    Ok(Exit::Done)
}

fn wanted(arguments: &RecommendArguments) -> Result<&'static Use, CommandError> {
    let name = arguments.wanted.as_deref().unwrap_or(USUAL_USE);
    use_of(name).ok_or_else(|| {
        let what = format!("unknown use `{name}`");
        CommandError::new(Exit::Usage, what).hint(meant_use(name))
    })
}

/// The arguments with the words that name a use, a board, or one after the other in the place of the options.
fn sorted(arguments: &RecommendArguments) -> Result<RecommendArguments, CommandError> {
    let all = arguments.words.join(" ");
    let words: Vec<&str> = all.split_whitespace().collect();
    let split = |count: usize| {
        let (wanted, board) = words.split_at(count);
        [named(wanted), named(board)]
    };
    let is_found = |count: &usize| {
        let [wanted, board] = split(*count);
        wanted.is_none_or(|name| use_of(&name).is_some())
            && board.is_none_or(|name| !boards_called(&name).is_empty())
    };
    let wrong = |what: &str| {
        CommandError::new(Exit::Usage, format!("`{all}` {what}"))
            .hint("cardmark recommend --use \"Home Assistant\" --board \"Pi 4\"")
    };
    let Some(count) = (0..=words.len()).rev().find(is_found) else {
        return Err(wrong("is no known use or board"));
    };
    let [wanted, board] = split(count);
    let is_twice =
        |option: &Option<String>, word: &Option<String>| option.is_some() && word.is_some();
    if is_twice(&arguments.wanted, &wanted) || is_twice(&arguments.board, &board) {
        return Err(wrong("names a second use or board"));
    }
    let mut sorted = arguments.clone();
    sorted.wanted = sorted.wanted.or(wanted);
    sorted.board = sorted.board.or(board);
    Ok(sorted)
}

/// The name in these words, without the small ones before it.
fn named(words: &[&str]) -> Option<String> {
    let is_small = |word: &&&str| SMALL.iter().any(|small| small.eq_ignore_ascii_case(word));
    let words = &words[words.iter().take_while(is_small).count()..];
    (!words.is_empty()).then(|| words.join(" "))
}

/// The command that shows all products, or those for a board if none that is known was named.
fn next(arguments: &RecommendArguments, question: &Question, is_board_unknown: bool) -> String {
    let mut command = format!("cardmark recommend --use {}", question.wanted.id);
    if let Some(gigabytes) = arguments.capacity {
        command += &format!(" --capacity {gigabytes}");
    }
    if let Some(kinds) = &arguments.kind {
        command += &format!(" --kind {}", kinds.words());
    }
    if let Some(budget) = &arguments.budget {
        command += &format!(" --budget \"{}\"", budget.text());
    }
    for (name, price) in &arguments.prices {
        command += &format!(" --price \"{}={}\"", clean(name), price.text());
    }
    if arguments.by_value {
        command += " --by-value";
    }
    match question.board.as_ref().filter(|_| !is_board_unknown) {
        Some(board) => command + &format!(" --board \"{}\" --all", clean(board)),
        None => command + " --board \"Pi 4\"",
    }
}

fn question(
    arguments: &RecommendArguments,
    wanted: &'static Use,
    own: &Own,
    today: Day,
) -> Result<Question, CommandError> {
    let mut all_prices = own.prices.clone();
    all_prices.extend(prices(&arguments.prices, own)?);
    Ok(Question {
        wanted,
        board: board_of(arguments, |question| TERMINAL.ask(question))?,
        wish: Wish {
            capacity_bytes: arguments.capacity_bytes(),
            budget: arguments.budget.clone(),
            prices: all_prices,
            kinds: arguments.kind.as_ref().map(|kinds| kinds.0.clone()),
            is_by_value: arguments.by_value,
        },
        today,
    })
}

/// The board that is named, else this computer, else the one that its user names at a terminal; `None` for any.
fn board_of(
    arguments: &RecommendArguments,
    ask: impl FnOnce(&str) -> Option<std::io::Result<String>>,
) -> Result<Option<String>, CommandError> {
    let known = arguments.board.clone().or_else(this_board);
    if known.is_some() || arguments.json {
        return Ok(known);
    }
    let answer = match ask(WHICH_BOARD) {
        Some(answer) => answer.map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot read the answer").because(error.to_string())
        })?,
        None => return Ok(None),
    };
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

/// This computer, if the catalogue contains it.
fn this_board() -> Option<String> {
    let model = read_board(&Root::system()).model?;
    board(&model).map(|board| board.name.clone())
}

fn today() -> Result<Day, CommandError> {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    let seconds = passed
        .ok()
        .and_then(|passed| i64::try_from(passed.as_secs()).ok());
    seconds
        .and_then(Day::at_s)
        .ok_or_else(|| CommandError::new(Exit::Trouble, "the clock of this computer shows no day"))
}

/// Figures and prices of the user's own runs.
#[derive(Default)]
struct Own {
    figures: Vec<Figure>,
    /// Products of the runs.
    products: BTreeSet<String>,
    /// Prices from labels, by product.
    prices: BTreeMap<String, Price>,
}

impl Own {
    fn read(store: &mut Store, wanted: &Use) -> Result<Self, CommandError> {
        // Figures first: a run that another process stores meanwhile has no figure without a subject.
        let metrics = metrics_of_use(wanted);
        let stored = store
            .figures_of(&metrics)
            .map_err(|error| store_error(&error))?;
        let subjects = store.subjects().map_err(|error| store_error(&error))?;
        let years = store.years().map_err(|error| store_error(&error))?;
        let labels = store
            .labelled(PRICE_LABEL)
            .map_err(|error| store_error(&error))?;
        let copies = copies(store, None)?;
        let subjects: HashMap<String, Arc<Subject>> = subjects
            .into_iter()
            .map(|(run, subject)| (run, Arc::new(in_catalogue(subject))))
            .collect();
        let figures = stored
            .into_iter()
            .filter(|(_, one)| !copies.contains(&one.run));
        let figures = figures.map(|(metric, one)| {
            let subject = subjects.get(&one.run).ok_or_else(|| orphan(&one))?;
            Ok(Figure {
                subject: Arc::clone(subject),
                metric,
                quantity: one.quantity,
                value: one.value,
                runs_count: 1,
                cards_count: 1,
                year: years.get(&one.run).copied(),
                is_uneven: one.half_width_ratio.is_some_and(is_uneven),
            })
        });
        let figures = figures.collect::<Result<_, CommandError>>()?;
        // Ids of runs are in the order of time: the latest price counts.
        let price = |(run, text): (&String, &String)| {
            let product = subjects.get(run)?.product.clone()?;
            Some((product, Price::parse(text)?))
        };
        let products = subjects.values().filter_map(|one| one.product.clone());
        Ok(Self {
            products: products.collect(),
            figures,
            prices: labels.iter().filter_map(price).collect(),
        })
    }
}

/// The prices by full names of products.
fn prices(stated: &[(String, Price)], own: &Own) -> Result<BTreeMap<String, Price>, CommandError> {
    let priced = |(name, price): &(String, Price)| {
        let name = match products_called(name).as_slice() {
            [one] => one.name(),
            [] if own.products.contains(&product_name(name)) => product_name(name),
            [] => {
                let what = format!("no product is called `{}`", clean(name));
                return Err(CommandError::new(Exit::Usage, what)
                    .hint("`cardmark recommend --all` shows the names"));
            }
            several => {
                let names: Vec<String> = several.iter().map(|one| one.name()).collect();
                let what = format!("`{name}` is several products");
                return Err(CommandError::new(Exit::Usage, what)
                    .hint(format!("give the price of one of {}", names.join(", "))));
            }
        };
        Ok((name, price.clone()))
    };
    stated.iter().map(priced).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Arguments, Command};

    fn asked(words: &[&str], answer: &str) -> Option<String> {
        let words = [&["cardmark", "recommend"], words].concat();
        let Some(Command::Recommend(arguments)) = Arguments::parse_from(words).command else {
            panic!();
        };
        let answer = answer.to_owned();
        board_of(&arguments, |_| Some(Ok(answer))).unwrap()
    }

    #[test]
    fn words_name_a_use_and_a_board() {
        let sorted = |words: &[&str]| {
            let words = [&["cardmark", "recommend"], words].concat();
            let Some(Command::Recommend(arguments)) = Arguments::parse_from(words).command else {
                panic!();
            };
            let sorted = sorted(&arguments).ok()?;
            Some((
                sorted.wanted.unwrap_or_default(),
                sorted.board.unwrap_or_default(),
            ))
        };
        for (words, wanted, board) in [
            (&["Home", "Assistant"][..], "Home Assistant", ""),
            (&["Pi 4"][..], "", "Pi 4"),
            (&["Kodi", "on", "a", "Zero", "2W"][..], "Kodi", "Zero 2W"),
            (&["On the Pi 3 A+"][..], "", "Pi 3 A+"),
            (&["for", "my", "NAS"][..], "NAS", ""),
            (&["Kodi", "--board", "Amiga"][..], "Kodi", "Amiga"),
            (&[][..], "", ""),
        ] {
            let expected = Some((wanted.to_owned(), board.to_owned()));
            assert_eq!(sorted(words), expected, "{words:?}");
        }
        assert_eq!(sorted(&["zeppelin"]), None);
        assert_eq!(sorted(&["Kodi", "--use", "boot"]), None);
    }

    #[test]
    fn the_board_is_asked_for_where_nothing_names_it() {
        // This computer may be a board of the catalogue: then nothing is asked.
        let or_this = |text: &str| this_board().or_else(|| Some(text.to_owned()));
        assert_eq!(asked(&[], " Pi 4 \n"), or_this("Pi 4"));
        assert_eq!(asked(&[], "\n"), this_board());
        assert_eq!(
            asked(&["--board", "Pi 5"], "Pi 4\n"),
            Some("Pi 5".to_owned())
        );
        assert_eq!(asked(&["--json"], "Pi 4\n"), this_board());
    }
}

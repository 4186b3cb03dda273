//! The file of a campaign: cards, boards, methods.

use std::collections::BTreeMap;
use std::path::Path;

use cardmark_catalog::{class, is_board};
use cardmark_sim::Model;
use serde::Deserialize;

use cardmark_session::{CommandError, Exit, file};

/// A file to begin with.
pub const EXAMPLE: &str = include_str!("../../../../docs/campaign.toml");
/// Most times that each card is measured on each board.
const MOST_REPEATS: u32 = 100;
/// Largest campaign file, bytes.
const LARGEST_FILE_BYTES: u64 = 1 << 20;
/// Longest title and value, characters: as those of labels.
const LONGEST: usize = 200;

/// Content of the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Campaign {
    /// Heading of the report.
    pub title: String,
    /// The methods, in the order in which each card is measured by them.
    #[serde(default = "quick")]
    pub suites: Vec<String>,
    /// Number of times that each card is put into each board. Fewer than three support no claim about
    /// the cards, only of the runs.
    #[serde(default = "three")]
    pub repeats: u32,
    /// The cards.
    pub cards: Vec<CardSpec>,
    /// The boards.
    pub boards: Vec<SlotSpec>,
}

/// A card.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CardSpec {
    /// Text on its sticker.
    pub name: String,
    /// Product name.
    pub product: Option<String>,
    /// The classes that its label promises.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Further labels of its runs, such as its price.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// The model, of a simulated one.
    pub simulated: Option<String>,
}

/// A board with a slot or reader for cards.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlotSpec {
    /// Name.
    pub name: String,
    /// A part of the name by which the board knows itself, such as `Raspberry Pi 4`.
    pub model: Option<String>,
    /// Place of the card there: a directory on it, or its block device.
    pub target: Option<String>,
    /// True if the board runs from the card itself, so that changing it needs a restart.
    #[serde(default)]
    pub runs_from_card: bool,
    /// The simulated board.
    pub simulated: Option<String>,
}

fn quick() -> Vec<String> {
    vec!["quick".to_owned()]
}

fn three() -> u32 {
    3
}

impl Campaign {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, CommandError> {
        let failed = |cause: String| {
            let what = format!("cannot read campaign `{}`", path.display());
            CommandError::new(Exit::Usage, what)
                .because(cause)
                .hint("`cardmark campaign --example` prints a file to begin with")
        };
        let bytes =
            file::read(path, LARGEST_FILE_BYTES).map_err(|error| failed(error.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|error| failed(error.to_string()))?;
        Self::parse(&text).map_err(failed)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let campaign: Self =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        campaign.check()?;
        Ok(campaign)
    }

    fn check(&self) -> Result<(), String> {
        is_plain_text("title", &self.title)?;
        if !(1..=MOST_REPEATS).contains(&self.repeats) {
            return Err(format!("repeats must be 1 to {MOST_REPEATS}"));
        }
        if self.suites.is_empty() || self.cards.is_empty() || self.boards.is_empty() {
            return Err("it needs a suite, a card and a board".to_owned());
        }
        for suite in &self.suites {
            cardmark_catalog::suite(suite, None).map_err(|error| error.to_string())?;
        }
        are_names("card", self.cards.iter().map(|card| card.name.as_str()))?;
        are_names("board", self.boards.iter().map(|board| board.name.as_str()))?;
        self.cards.iter().try_for_each(CardSpec::check)?;
        self.boards
            .iter()
            .try_for_each(|board| self.check_board(board))
    }

    fn check_board(&self, board: &SlotSpec) -> Result<(), String> {
        let name = &board.name;
        if board.simulated.is_some() == board.target.is_some() {
            return Err(format!(
                "board `{name}` needs a target, where its cards are found, or is simulated"
            ));
        }
        let is_simulated = board.simulated.is_some();
        let other = self
            .cards
            .iter()
            .find(|card| card.simulated.is_some() != is_simulated);
        if let Some(card) = other {
            return Err(format!(
                "of card `{}` and board `{name}` one is simulated and the other is not",
                card.name
            ));
        }
        let models = self.cards.iter().filter_map(|card| card.simulated.as_ref());
        for (model, board) in models.zip(std::iter::repeat(board.simulated.as_ref())) {
            let made = Model::named(model)
                .and_then(|model| board.map_or(Ok(model.clone()), |board| model.on_board(board)));
            made.map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// The boards that this computer is or simulates: the one of that name, else those that are
    /// simulated, else the one whose model is part of this computer's.
    pub(crate) fn boards_here(
        &self,
        named: Option<&str>,
        computer: Option<&str>,
    ) -> Result<Vec<&SlotSpec>, CommandError> {
        if let Some(name) = named {
            let found = self.boards.iter().filter(|board| board.name == name);
            let found: Vec<&SlotSpec> = found.collect();
            return match found.is_empty() {
                false => Ok(found),
                true => Err(self.no_board(&format!("no board is called `{name}`"))),
            };
        }
        let (simulated, real): (Vec<&SlotSpec>, Vec<&SlotSpec>) = self
            .boards
            .iter()
            .partition(|board| board.simulated.is_some());
        if !simulated.is_empty() {
            return Ok(simulated);
        }
        let here = |board: &&SlotSpec| match (&board.model, computer) {
            (Some(model), Some(computer)) => is_board(computer, model),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let found: Vec<&SlotSpec> = real.into_iter().filter(here).collect();
        match found.len() {
            1 => Ok(found),
            0 => {
                let computer = computer.unwrap_or("of unknown model");
                Err(self.no_board(&format!("none of its boards is this computer ({computer})")))
            }
            _ => Err(self.no_board("several of its boards may be this computer")),
        }
    }

    fn no_board(&self, cause: &str) -> CommandError {
        let names: Vec<&str> = self
            .boards
            .iter()
            .map(|board| board.name.as_str())
            .collect();
        CommandError::new(Exit::Usage, "it is not clear which board this is")
            .because(cause)
            .hint(format!("`--board` names one: {}", names.join(", ")))
    }
}

impl CardSpec {
    fn check(&self) -> Result<(), String> {
        for text in self.product.iter().chain(self.labels.values()) {
            is_plain_text(&format!("a text of card `{}`", self.name), text)?;
        }
        if let Some(key) = self.labels.keys().find(|key| !is_name(key)) {
            return Err(format!("`{key}` cannot be the name of a label"));
        }
        let unknown = |claim: &&String| class(&claim.to_ascii_uppercase()).is_none();
        match self.claims.iter().find(unknown) {
            Some(claim) => Err(format!(
                "no class is called `{claim}` (card `{}`)",
                self.name
            )),
            None => Ok(()),
        }
    }
}

/// Names become parts of the names of files.
fn are_names<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut known = Vec::new();
    for name in names {
        if !is_name(name) {
            return Err(format!(
                "the name of a {what} may have letters, digits, `_`, `-` and `.`: `{name}`"
            ));
        }
        // On a stick with vfat, small letters and capitals are the same.
        let small = name.to_ascii_lowercase();
        if known.contains(&small) {
            return Err(format!("two {what}s are called `{name}`"));
        }
        known.push(small);
    }
    Ok(())
}

fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    !name.is_empty() && name.len() <= LONGEST && !name.starts_with('.') && name.chars().all(plain)
}

fn is_plain_text(what: &str, text: &str) -> Result<(), String> {
    let is_plain = !text.trim().is_empty()
        && text.chars().count() <= LONGEST
        && !text.chars().any(char::is_control);
    if is_plain {
        return Ok(());
    }
    Err(format!(
        "{what} must be one line of 1 to {LONGEST} characters"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"
        title = "Two cards"
        [[cards]]
        name = "red"
        simulated = "a1-32gb"
        [[cards]]
        name = "blue"
        simulated = "c10-16gb"
        [[boards]]
        name = "pi3"
        simulated = "pi3"
    "#;

    #[test]
    fn what_is_not_said_is_as_usual() {
        let campaign = Campaign::parse(SMALL).unwrap();
        assert_eq!(
            (campaign.repeats, campaign.suites),
            (3, vec!["quick".to_owned()])
        );
    }

    #[test]
    fn the_example_can_be_used() {
        Campaign::parse(EXAMPLE).unwrap();
    }

    #[test]
    fn the_board_is_recognised_by_its_model() {
        let campaign = Campaign::parse(EXAMPLE).unwrap();
        let here = |named, computer| -> Result<Vec<String>, String> {
            let boards = campaign.boards_here(named, computer);
            let names = |boards: Vec<&SlotSpec>| boards.iter().map(|b| b.name.clone()).collect();
            boards.map(names).map_err(|error| error.causes.join(" "))
        };
        let pi4 = Some("Raspberry Pi 4 Model B Rev 1.4");
        assert_eq!(here(None, pi4), Ok(vec!["pi4".to_owned()]));
        assert_eq!(
            here(Some("pi5-reader"), pi4),
            Ok(vec!["pi5-reader".to_owned()])
        );
        for other in ["Orange Pi", "Raspberry Pi 400 Rev 1.0"] {
            let error = here(None, Some(other)).unwrap_err();
            assert_eq!(
                error,
                format!("none of its boards is this computer ({other})")
            );
        }
        assert_eq!(
            here(Some("pi9"), pi4).unwrap_err(),
            "no board is called `pi9`"
        );
    }

    #[test]
    fn mistakes_are_told() {
        let mistakes = [
            (
                "title = \"Two cards\"",
                "title = \" \"",
                "title must be one line",
            ),
            (
                "name = \"blue\"",
                "name = \"red\"",
                "two cards are called `red`",
            ),
            ("name = \"blue\"", "name = \"../x\"", "may have letters"),
            (
                "name = \"blue\"",
                "name = \"b\"\nclaims = [\"A9\"]",
                "no class is called `A9`",
            ),
            (
                "simulated = \"c10-16gb\"",
                "",
                "one is simulated and the other is not",
            ),
            ("simulated = \"pi3\"", "", "needs a target"),
            (
                "simulated = \"pi3\"",
                "simulated = \"pi9\"",
                "no simulated board `pi9`",
            ),
            ("a1-32gb", "a3-32gb", "no model `a3-32gb`"),
            (
                "name = \"blue\"",
                "name = \"Red\"",
                "two cards are called `Red`",
            ),
            ("title", "repeats = 0\ntitle", "repeats must be 1 to 100"),
            ("title", "suites = [\"slow\"]\ntitle", "slow"),
            ("title", "tilte = 1\ntitle", "unknown field `tilte`"),
        ];
        for (part, instead, told) in mistakes {
            let error = Campaign::parse(&SMALL.replacen(part, instead, 1)).unwrap_err();
            assert!(error.contains(told), "{told}: {error}");
        }
    }
}

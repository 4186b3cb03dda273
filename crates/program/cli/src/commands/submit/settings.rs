//! The results site, from arguments, environment and configuration.

use std::path::{Path, PathBuf};

use cardmark_session::file;
use cardmark_share::Server;
use serde::Deserialize;

use crate::error::{CommandError, Exit};

/// The site of the project; none before the first release.
const DEFAULT_SERVER: &str = "";
/// Variable that names a site.
const SERVER: &str = "CARDMARK_SERVER";
/// Maximum size of the configuration, bytes.
const MOST_BYTES: u64 = 64 << 10;

/// The configuration file.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Configuration {
    share: Share,
}

/// Its part about results sites.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Share {
    server: Option<String>,
    submit: Submit,
}

/// Leave to send runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Submit {
    #[default]
    Ask,
    Never,
}

/// Settings about results sites.
pub(crate) struct Settings {
    share: Share,
    /// The configuration file, whether it exists or not; `None` without a home.
    path: Option<PathBuf>,
}

impl Settings {
    /// Reads the configuration: `$XDG_CONFIG_HOME/cardmark/config.toml`, else `~/.config/cardmark/config.toml`.
    pub(crate) fn read() -> Result<Self, CommandError> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
            .or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
        let path = folder.map(|folder| folder.join("cardmark/config.toml"));
        let share = path.as_deref().map_or_else(|| Ok(Share::default()), read)?;
        Ok(Self { share, path })
    }

    /// Returns the site: the given one, else that of the environment, else that of the configuration.
    pub(crate) fn server(&self, given: Option<&Server>) -> Result<Server, CommandError> {
        if let Some(server) = given {
            return Ok(server.clone());
        }
        let named = std::env::var(SERVER).ok().filter(|text| !text.is_empty());
        let (text, place) = match (named, &self.share.server) {
            (Some(text), _) => (text, SERVER.to_owned()),
            (None, Some(text)) => (text.clone(), format!("`{}`", self.place())),
            (None, None) if DEFAULT_SERVER.is_empty() => return Err(self.no_server()),
            (None, None) => (DEFAULT_SERVER.to_owned(), "the program".to_owned()),
        };
        text.parse().map_err(|error: cardmark_share::ServerError| {
            CommandError::new(
                Exit::Usage,
                format!("`{text}` in {place} is no address of a site"),
            )
            .because(error.to_string())
        })
    }

    /// Returns an error if the configuration forbids sending.
    pub(crate) fn may_send(&self) -> Result<(), CommandError> {
        match self.share.submit {
            Submit::Ask => Ok(()),
            Submit::Never => Err(CommandError::new(
                Exit::Usage,
                "Nothing was sent: the configuration forbids it",
            )
            .because(format!("`{}` has submit = \"never\"", self.place()))
            .hint("`--dry-run` still shows what would be sent")),
        }
    }

    fn place(&self) -> String {
        let path = self.path.as_deref();
        path.map_or_else(String::new, |path| path.display().to_string())
    }

    fn no_server(&self) -> CommandError {
        let error = CommandError::new(Exit::Usage, "No results site is named")
            .because("there is no site of the project yet")
            .hint("name one: --server https://cards.example, or CARDMARK_SERVER");
        match &self.path {
            None => error,
            Some(path) => error.hint(format!(
                "or in `{}`: [share], and in the next line server = \"https://cards.example\"",
                path.display()
            )),
        }
    }
}

fn read(path: &Path) -> Result<Share, CommandError> {
    let refuse = |exit, cause: String| {
        let what = format!("Cannot read the configuration `{}`", path.display());
        CommandError::new(exit, what).because(cause)
    };
    let bytes = match file::read(path, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Share::default()),
        Err(error) => return Err(refuse(Exit::Trouble, error.to_string())),
    };
    let text =
        String::from_utf8(bytes).map_err(|_| refuse(Exit::Usage, "it is not text".to_owned()))?;
    parse(&text).map_err(|cause| refuse(Exit::Usage, cause))
}

/// Parses the configuration; an error names the line.
fn parse(text: &str) -> Result<Share, String> {
    let parsed: Result<Configuration, toml::de::Error> = toml::from_str(text);
    parsed
        .map(|configuration| configuration.share)
        .map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(1, |before| before.matches('\n').count() + 1);
            format!(
                "line {line}: {}",
                error.message().trim_end().replace('\n', "; ")
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_names_site_and_leave() {
        assert_eq!(parse(""), Ok(Share::default()));
        let full = "# cards\n[share]\nserver = \"https://cards.example\"\nsubmit = \"never\"\n";
        let share = parse(full).unwrap();
        assert_eq!(share.server.as_deref(), Some("https://cards.example"));
        assert_eq!(share.submit, Submit::Never);
    }

    #[test]
    fn anything_unknown_is_an_error_with_its_line() {
        for (text, line) in [
            ("[share]\nserved = 1\n", "line 2: "),
            ("[share]\n\nsubmit = \"sometimes\"\n", "line 3: "),
            ("shared = {}\n", "line 1: "),
            ("[share]\nserver = 7\n", "line 2: "),
            ("[share\n", "line 1: "),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(line), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}

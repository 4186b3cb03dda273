//! Configuration: environment first, then a file, then defaults. Everything is checked before the site starts.

use std::net::SocketAddr;
use std::path::PathBuf;

use cardmark_share::Server;
use serde::Deserialize;
use thiserror::Error;

/// Default address.
const LISTEN: &str = "127.0.0.1:8080";
/// Fewest characters of a secret.
const LEAST_SECRET: usize = 32;

/// Configuration of the site.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address and port.
    pub listen: SocketAddr,
    /// Address of the database.
    pub database_url: String,
    /// Origin of the site for those who read it, such as `https://cards.example`.
    pub origin: Option<Server>,
    /// Folder in which the site keeps its newest dump.
    pub dumps: Option<PathBuf>,
    /// Address of a database that answers lists.
    pub replica_url: Option<String>,
    /// Text that addresses are hashed with; of this process only, unless it is configured.
    pub secret: Option<String>,
    /// True if a proxy in front names the client.
    pub behind_proxy: bool,
    /// Limits of submissions.
    pub writes: WriteLimits,
    /// Requests of one address block for reading: most at once.
    pub reads_at_once: u32,
    /// Requests of one address block for reading, per second.
    pub reads_per_s: u32,
    /// Connections at a time.
    pub connections: usize,
}

/// Submissions in a row, and per hour.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WriteLimits {
    /// Of one address block in a row.
    pub of_address: u32,
    /// Of one address block per hour.
    pub of_address_per_hour: u32,
    /// Of one submitter in a row.
    pub of_tag: u32,
    /// Of one submitter per hour.
    pub of_tag_per_hour: u32,
    /// New submitters of one address block whose runs begin to count, per day.
    pub new_submitters_per_day: u32,
}

impl Default for WriteLimits {
    fn default() -> Self {
        Self {
            of_address: 240,
            of_address_per_hour: 120,
            of_tag: 240,
            of_tag_per_hour: 60,
            new_submitters_per_day: 3,
        }
    }
}

/// Dumps that the site makes by itself.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Dumps {
    folder: Option<String>,
}

/// The file, and with it the names that the environment can set.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    listen: Option<String>,
    database_url: Option<String>,
    origin: Option<String>,
    dumps: Dumps,
    replica_url: Option<String>,
    secret: Option<String>,
    behind_proxy: Option<bool>,
    writes: WriteLimits,
    reads_at_once: Option<u32>,
    reads_per_s: Option<u32>,
    connections: Option<usize>,
}

/// Reason for which a configuration cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is not TOML, or holds an unknown name.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The error, with its line.
        source: Box<toml::de::Error>,
    },
    /// A value cannot be used.
    #[error("{name} is {value:?}: {why}")]
    Value {
        /// Its name in the environment.
        name: &'static str,
        /// Its value.
        value: String,
        /// Its required form.
        why: &'static str,
    },
    /// There is no folder for the database.
    #[error("no folder for the database: set CARDMARK_DATABASE_URL, HOME or XDG_DATA_HOME")]
    NoFolder,
}

impl Config {
    /// Reads the environment of the process, and the file that it names.
    ///
    /// # Errors
    /// If the file cannot be read, or a value cannot be used.
    pub fn from_environment() -> Result<Self, ConfigError> {
        Self::from_names(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// The origin of the site: the configured one, or that of the address it listens on.
    pub fn origin(&self) -> String {
        match &self.origin {
            Some(origin) => origin.origin(),
            None => format!("http://{}", self.listen),
        }
    }

    /// Reads the configuration from named values.
    ///
    /// # Errors
    /// As [`Config::from_environment`].
    pub fn from_names(named: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let file = match named("CARDMARK_SITE_CONFIG") {
            Some(path) => file(&path)?,
            None => File::default(),
        };
        let text = |name, in_file: &Option<String>| named(name).or_else(|| in_file.clone());
        let database_url = text("CARDMARK_DATABASE_URL", &file.database_url);
        let database_url = match database_url {
            Some(url) => url,
            None => data_folder(&named).ok_or(ConfigError::NoFolder)?,
        };
        let listen = text("CARDMARK_LISTEN", &file.listen).unwrap_or_else(|| LISTEN.to_owned());
        let behind_proxy = match named("CARDMARK_BEHIND_PROXY").as_deref() {
            None => file.behind_proxy.unwrap_or(false),
            Some("0") => false,
            Some("1") => true,
            Some(other) => {
                return Err(wrong("CARDMARK_BEHIND_PROXY", other, "it has to be 0 or 1"));
            }
        };
        let secret = text("CARDMARK_SITE_SECRET", &file.secret);
        if let Some(short) = secret
            .as_deref()
            .filter(|secret| secret.len() < LEAST_SECRET)
        {
            let shown = "…".repeat(short.len().min(1));
            return Err(wrong(
                "CARDMARK_SITE_SECRET",
                &shown,
                "it has to have 32 characters or more",
            ));
        }
        let origin = text("CARDMARK_ORIGIN", &file.origin);
        let origin = origin.map(|origin| {
            origin.parse().map_err(|_| {
                let why = "it has to be an origin without a path, such as https://cards.example";
                wrong("CARDMARK_ORIGIN", &origin, why)
            })
        });
        Ok(Self {
            origin: origin.transpose()?,
            dumps: text("CARDMARK_DUMPS", &file.dumps.folder).map(PathBuf::from),
            listen: listen.parse().map_err(|_| {
                wrong(
                    "CARDMARK_LISTEN",
                    &listen,
                    "it has to be an address and a port, such as 127.0.0.1:8080",
                )
            })?,
            database_url,
            replica_url: text("CARDMARK_REPLICA_URL", &file.replica_url),
            secret,
            behind_proxy,
            writes: file.writes,
            reads_at_once: file.reads_at_once.unwrap_or(200),
            reads_per_s: file.reads_per_s.unwrap_or(40),
            connections: match file.connections {
                Some(0) => {
                    return Err(wrong("connections", "0", "it has to be 1 or more"));
                }
                stated => stated.unwrap_or(4_096),
            },
        })
    }
}

fn wrong(name: &'static str, value: &str, why: &'static str) -> ConfigError {
    ConfigError::Value {
        name,
        value: value.to_owned(),
        why,
    }
}

fn file(path: &str) -> Result<File, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|source| ConfigError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    toml::from_str(&text).map_err(|source| ConfigError::File {
        path: path.to_owned(),
        source: Box::new(source),
    })
}

fn data_folder(named: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let home = || Some(PathBuf::from(named("HOME")?).join(".local/share"));
    let data = named("XDG_DATA_HOME").map(PathBuf::from).or_else(home)?;
    Some(format!(
        "sqlite:{}",
        data.join("cardmark-site/site.sqlite").display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn config(pairs: &[(&str, &str)]) -> Result<Config, String> {
        let named = |name: &str| {
            let found = pairs.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Config::from_names(named).map_err(|error| error.to_string())
    }

    #[test]
    fn without_anything_it_is_a_file_and_this_computer() {
        let config = config(&[("HOME", "/home/me")]).unwrap();
        assert_eq!(config.listen.to_string(), "127.0.0.1:8080");
        assert_eq!(
            config.database_url,
            "sqlite:/home/me/.local/share/cardmark-site/site.sqlite"
        );
        assert!(!config.behind_proxy);
    }

    #[test]
    fn wrong_values_are_named_and_a_secret_is_not_shown() {
        let error = |pairs: &[(&str, &str)]| {
            let mut all = vec![("HOME", "/home/me")];
            all.extend(pairs);
            config(&all).unwrap_err()
        };
        assert!(error(&[("CARDMARK_LISTEN", "here")]).contains("CARDMARK_LISTEN is \"here\""));
        assert!(error(&[("CARDMARK_ORIGIN", "cards.example")]).contains("without a path"));
        assert!(error(&[("CARDMARK_BEHIND_PROXY", "yes")]).contains("0 or 1"));
        assert!(!error(&[("CARDMARK_SITE_SECRET", "hunter2")]).contains("hunter2"));
        assert!(config(&[]).unwrap_err().contains("CARDMARK_DATABASE_URL"));
    }

    #[test]
    fn the_file_is_second_and_unknown_names_are_errors() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let text = "listen = \"127.0.0.1:1\"\nreads_per_s = 7\n[writes]\nof_tag = 3";
        writeln!(file, "{text}").unwrap();
        let path = &file.path().to_str().unwrap().to_owned();
        let home = ("HOME", "/home/me");
        let with = |more: &[(&str, &str)]| {
            let mut all = vec![home, ("CARDMARK_SITE_CONFIG", path)];
            all.extend(more);
            config(&all)
        };
        assert_eq!(with(&[]).unwrap().listen.port(), 1);
        assert_eq!(with(&[]).unwrap().reads_per_s, 7);
        assert_eq!(
            with(&[("CARDMARK_LISTEN", "127.0.0.1:2")])
                .unwrap()
                .listen
                .port(),
            2
        );
        let writes = with(&[]).unwrap().writes;
        assert_eq!((writes.of_tag, writes.of_address), (3, 240));
        assert_eq!(with(&[]).unwrap().dumps, None);
        let set = with(&[
            ("CARDMARK_DUMPS", "/d"),
            ("CARDMARK_ORIGIN", "https://Cards.example"),
        ]);
        let set = set.unwrap();
        assert_eq!(set.dumps, Some(PathBuf::from("/d")));
        assert_eq!(set.origin(), "https://cards.example");
        writeln!(file, "lisen = 1").unwrap();
        assert!(with(&[]).unwrap_err().contains("lisen"));
    }
}

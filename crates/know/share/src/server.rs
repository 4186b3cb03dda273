//! The address of a site.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A site: scheme, host and port, as it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    is_encrypted: bool,
    host: String,
    port: u16,
}

/// Reason for which a text is no address of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ServerError {
    /// Neither `https://` nor `http://` is in front.
    #[error("it does not begin with https://")]
    Scheme,
    /// Without encryption, to another computer.
    #[error(
        "http:// is for this computer only (127.0.0.1, [::1], localhost); others are reached by https://"
    )]
    Unencrypted,
    /// No host, or one with other characters than letters, digits, `.` and `-`.
    #[error("its host is not a name or an address")]
    Host,
    /// The port is not a number.
    #[error("its port is not a number from 1 to 65535")]
    Port,
    /// There is something behind host and port.
    #[error("it has a path, parameters or a user; a site is named by its host alone")]
    More,
}

impl Server {
    /// The address in its one spelling, without the usual port: secrets are derived from it.
    pub fn origin(&self) -> String {
        let scheme = if self.is_encrypted { "https" } else { "http" };
        match self.port == usual_port(self.is_encrypted) {
            true => format!("{scheme}://{}", self.host),
            false => format!("{scheme}://{}:{}", self.host, self.port),
        }
    }

    /// The address of a path there, which begins with `/`.
    pub fn url(&self, path: &str) -> String {
        self.origin() + path
    }

    /// Returns whether the connection is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

fn usual_port(is_encrypted: bool) -> u16 {
    if is_encrypted { 443 } else { 80 }
}

impl fmt::Display for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.origin())
    }
}

impl FromStr for Server {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let text = text.trim().to_ascii_lowercase();
        let (is_encrypted, rest) =
            match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
                (Some(rest), _) => (true, rest),
                (None, Some(rest)) => (false, rest),
                (None, None) => return Err(ServerError::Scheme),
            };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['/', '?', '#', '@']) {
            return Err(ServerError::More);
        }
        let (host, port) = split(rest)?;
        let is_loopback = |address: core::net::Ipv4Addr| address.is_loopback();
        let is_here = host == "localhost" || host == "[::1]" || host.parse().is_ok_and(is_loopback);
        if !is_encrypted && !is_here {
            return Err(ServerError::Unencrypted);
        }
        let port = match port {
            None => usual_port(is_encrypted),
            Some(port) => port
                .parse()
                .ok()
                .filter(|port| *port > 0)
                .ok_or(ServerError::Port)?,
        };
        let host = host.to_owned();
        Ok(Self {
            is_encrypted,
            host,
            port,
        })
    }
}

/// Host and port. An address of version 6 is in brackets.
fn split(rest: &str) -> Result<(&str, Option<&str>), ServerError> {
    if rest.starts_with('[') {
        let (host, port) = rest.split_at(rest.find(']').ok_or(ServerError::Host)? + 1);
        let address = &host[1..host.len() - 1];
        let is_address = address.parse::<core::net::Ipv6Addr>().is_ok();
        let port = match (port, port.strip_prefix(':')) {
            ("", _) => None,
            (_, Some(port)) => Some(port),
            _ => return Err(ServerError::Host),
        };
        return is_address.then_some((host, port)).ok_or(ServerError::Host);
    }
    let (host, port) = match rest.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (rest, None),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let is_host = !host.is_empty() && host.len() <= 253 && host.chars().all(is_plain);
    is_host.then_some((host, port)).ok_or(ServerError::Host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_one_spelling() {
        let origin = |text: &str| text.parse::<Server>().map(|server| server.origin());
        assert_eq!(
            origin("https://Cards.Example:443/"),
            Ok("https://cards.example".to_owned())
        );
        assert_eq!(
            origin(" https://cards.example:8443"),
            Ok("https://cards.example:8443".to_owned())
        );
        assert_eq!(
            origin("http://127.0.0.1:8080"),
            Ok("http://127.0.0.1:8080".to_owned())
        );
        assert_eq!(
            origin("http://[::1]:8080/"),
            Ok("http://[::1]:8080".to_owned())
        );
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        for (text, expected) in [
            ("cards.example", ServerError::Scheme),
            ("ftp://cards.example", ServerError::Scheme),
            ("http://cards.example", ServerError::Unencrypted),
            ("http://localhost.example", ServerError::Unencrypted),
            ("https://", ServerError::Host),
            ("https://a b", ServerError::Host),
            ("https://[::1", ServerError::Host),
            ("https://[x]", ServerError::Host),
            ("https://a:0", ServerError::Port),
            ("https://a:70000", ServerError::Port),
            ("https://a/b", ServerError::More),
            ("https://me@a", ServerError::More),
        ] {
            assert_eq!(text.parse::<Server>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_name_that_begins_like_this_computer_is_another() {
        let error = "http://127.evil.example".parse::<Server>();
        assert_eq!(error, Err(ServerError::Unencrypted));
    }
}

//! Who may ask: processes of this user, with the token of the address, and no page of another site.

mod key;
mod peer;

use std::net::{SocketAddr, TcpStream};

use crate::http::{Method, Request};
use key::Key;

/// Name of the parameter with the token.
const TOKEN: &str = "token";

/// Conditions of every request.
pub(crate) struct Guard {
    port: u16,
    /// Of the address; whoever has it receives the other key as a cookie.
    token: Key,
    session: Key,
    /// Ids of users whose processes may ask.
    users: Vec<u32>,
}

/// A request that may be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Admitted {
    /// One with the token: the value of `Set-Cookie` lets the browser in.
    First(String),
    /// One with the cookie.
    Inside,
}

impl Guard {
    /// Draws the keys of a server at this port.
    pub(crate) fn new(port: u16, users: Vec<u32>) -> std::io::Result<Self> {
        Ok(Self {
            port,
            token: Key::new()?,
            session: Key::new()?,
            users,
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The address with the token.
    pub(crate) fn address(&self) -> String {
        format!(
            "http://127.0.0.1:{}/?{TOKEN}={}",
            self.port,
            self.token.text()
        )
    }

    /// Returns whether the other end of a connection is a process that may ask. If the kernel does not show it, the keys alone decide.
    pub(crate) fn admits_peer(&self, stream: &TcpStream) -> bool {
        let (Ok(SocketAddr::V4(peer)), Ok(SocketAddr::V4(own))) =
            (stream.peer_addr(), stream.local_addr())
        else {
            return false;
        };
        match peer::of(peer, own) {
            peer::Owner::User(user) => self.users.contains(&user),
            peer::Owner::Nobody => false,
            peer::Owner::Unknown => true,
        }
    }

    /// Admits a request.
    ///
    /// # Errors
    /// The reason not to, for the person in front of the browser.
    pub(crate) fn admit(&self, request: &Request) -> Result<Admitted, &'static str> {
        let host = self.host(request).ok_or(
            "These pages have one address only: use that which `cardmark open` printed, not another name for it.",
        )?;
        let mut origins = request.values("origin");
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        match (origins.next(), origins.next()) {
            // Browsers name the origin of everything that a page sends.
            (None, _) if request.method == Method::Post => return Err(OTHER_PAGE),
            (None, _) => {}
            (Some(origin), None) if is_own(origin) => {}
            _ => return Err(OTHER_PAGE),
        }
        let token = request.parameter(TOKEN);
        let is_entry = request.method != Method::Post && request.is_of_root();
        if is_entry && token.is_some_and(|token| self.token.is(&token)) {
            return Ok(Admitted::First(self.set_cookie()));
        }
        // A page at another port is of the same site: its requests have the cookie.
        if request
            .values("sec-fetch-site")
            .any(|site| !["same-origin", "none"].contains(&site))
        {
            return Err(OTHER_PAGE);
        }
        let name = self.cookie_name();
        let cookies = request.values("cookie").flat_map(|all| all.split(';'));
        let mut own = cookies.filter_map(|one| one.trim().strip_prefix(&*name)?.strip_prefix('='));
        match own.any(|value| self.session.is(value)) {
            true => Ok(Admitted::Inside),
            false => Err(
                "The key is missing or of an earlier start: open the address that `cardmark open` printed.",
            ),
        }
    }

    /// The host that a request names, if it is this server's. A page of another site that makes its own name lead here (DNS rebinding)
    /// names that one.
    fn host<'a>(&self, request: &'a Request) -> Option<&'a str> {
        let mut hosts = request.values("host");
        let (host, None) = (hosts.next()?, hosts.next()) else {
            return None;
        };
        let names = ["127.0.0.1", "localhost"];
        let is_own = |name: &&str| host.eq_ignore_ascii_case(&format!("{name}:{}", self.port));
        names.iter().any(is_own).then_some(host)
    }

    /// Cookies are of a host, not of a port.
    fn cookie_name(&self) -> String {
        format!("cardmark-{}", self.port)
    }

    fn set_cookie(&self) -> String {
        let (name, value) = (self.cookie_name(), self.session.text());
        format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict")
    }
}

const OTHER_PAGE: &str =
    "Another page asked for this. Open the address that `cardmark open` printed.";

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "Host: 127.0.0.1:8135";

    fn guard() -> Guard {
        Guard::new(8135, vec![1000]).unwrap()
    }

    fn ask(guard: &Guard, line: &str, fields: &[&str]) -> Result<Admitted, &'static str> {
        let lines = [&[line][..], fields].concat();
        guard.admit(&Request::of(&lines).unwrap())
    }

    fn cookie(guard: &Guard) -> String {
        let set = guard.set_cookie();
        format!("Cookie: other=1; {}", set.split(';').next().unwrap())
    }

    #[test]
    fn the_token_gives_a_cookie_and_the_cookie_lets_in() {
        let guard = guard();
        let target = guard.address().replace("http://127.0.0.1:8135", "");
        let line = format!("GET {target} HTTP/1.1");
        let Ok(Admitted::First(set)) = ask(&guard, &line, &[HOST, "Sec-Fetch-Site: cross-site"])
        else {
            panic!("the token is right");
        };
        assert!(set.starts_with("cardmark-8135="), "{set}");
        assert!(set.ends_with("; HttpOnly; SameSite=Strict"), "{set}");
        assert!(!target.contains(set.split(['=', ';']).nth(1).unwrap()));
        for (host, site) in [(HOST, "same-origin"), ("Host: LocalHost:8135", "none")] {
            let site = format!("Sec-Fetch-Site: {site}");
            let cookie = cookie(&guard);
            let fields = [host, cookie.as_str(), site.as_str()];
            let asked = ask(&guard, "GET /runs HTTP/1.1", &fields);
            assert_eq!(asked, Ok(Admitted::Inside));
        }
    }

    #[test]
    fn without_a_right_key_nothing_is_answered() {
        let guard = guard();
        let key = guard.token.text().to_owned();
        let (zeros, more, large) = ("0".repeat(64), format!("{key}0"), key.to_uppercase());
        let wrong = [
            "",
            "0",
            zeros.as_str(),
            &key[1..],
            more.as_str(),
            large.as_str(),
        ]
        .map(|token| format!("GET /?token={token} HTTP/1.1"));
        for line in wrong {
            assert!(ask(&guard, &line, &[HOST]).is_err(), "{line}");
        }
        // The token opens one address, and is no cookie.
        for line in ["GET /runs?token=KEY HTTP/1.1", "POST /?token=KEY HTTP/1.1"] {
            let origin = "Origin: http://127.0.0.1:8135";
            let line = line.replace("KEY", &key);
            assert!(ask(&guard, &line, &[HOST, origin]).is_err(), "{line}");
        }
        let other = Guard::new(8136, Vec::new()).unwrap();
        for cookie in [
            format!("Cookie: cardmark-8135={key}"),
            cookie(&other),
            cookie(&other).replace("8136", "8135"),
            cookie(&guard).replace("8135", "813"),
            "Cookie: cardmark-8135=".to_owned(),
        ] {
            let fields = [HOST, cookie.as_str()];
            assert!(ask(&guard, "GET / HTTP/1.1", &fields).is_err(), "{cookie}");
        }
    }

    #[test]
    fn other_names_for_this_computer_are_refused() {
        let guard = guard();
        let cookie = cookie(&guard);
        for host in [
            &[][..],
            &["Host: evil.example:8135"],
            &["Host: 127.0.0.1.evil.example:8135"],
            &["Host: 127.0.0.1:8136"],
            &["Host: 127.0.0.1"],
            &["Host: localhost:8135@evil.example"],
            &["Host: [::1]:8135"],
            &["Host: 0.0.0.0:8135"],
            &["Host: 127.0.0.1:8135", "Host: 127.0.0.1:8135"],
        ] {
            let fields = [host, &[cookie.as_str()]].concat();
            assert!(ask(&guard, "GET / HTTP/1.1", &fields).is_err(), "{host:?}");
        }
    }

    #[test]
    fn other_pages_are_refused_even_with_the_cookie() {
        let guard = guard();
        let cookie = cookie(&guard);
        let asked = |line: &str, fields: &[&str]| {
            ask(
                &guard,
                line,
                &[&[HOST, cookie.as_str()][..], fields].concat(),
            )
        };
        let own = "Origin: http://127.0.0.1:8135";
        assert_eq!(asked("POST /x HTTP/1.1", &[own]), Ok(Admitted::Inside));
        for fields in [
            &[][..],
            &["Origin: null"],
            &["Origin: http://evil.example"],
            &["Origin: http://127.0.0.1:9999"],
            &["Origin: http://localhost:8135"],
            &["Origin: https://127.0.0.1:8135"],
            &[own, own],
            &[own, "Sec-Fetch-Site: same-site"],
        ] {
            assert!(asked("POST /x HTTP/1.1", fields).is_err(), "{fields:?}");
        }
        for fields in [
            ["Origin: http://evil.example"],
            ["Sec-Fetch-Site: cross-site"],
            ["Sec-Fetch-Site: same-site"],
        ] {
            assert!(asked("GET /runs HTTP/1.1", &fields).is_err(), "{fields:?}");
        }
    }
}

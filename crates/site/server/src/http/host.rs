//! The name under which a client asks: `Host`, or the target of the request.

use axum::extract::Request;
use axum::http::{HeaderValue, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::http::body::discard;
use crate::http::peer::Peer;
use crate::http::problem::Refusal;

/// Refuses requests without exactly one valid `Host` (RFC 9112, 3.2). The host of an absolute target replaces it (3.2.2).
pub(crate) async fn named(mut request: Request, next: Next) -> Response {
    // Requests of the program itself, as in an export, come over no connection.
    if request.extensions().get::<Peer>().is_some() {
        match host_of(&request) {
            Ok(Some(host)) => {
                request.headers_mut().insert(header::HOST, host);
            }
            Ok(None) => {}
            Err(detail) => {
                let (parts, body) = request.into_parts();
                discard(&parts.headers, body).await;
                return Refusal::bad_request(detail).into_response();
            }
        }
    }
    next.run(request).await
}

/// The host that replaces the header, if the target has one.
fn host_of(request: &Request) -> Result<Option<HeaderValue>, &'static str> {
    let mut values = request.headers().get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => return Err("there is more than one Host field"),
        (None, None) if request.version() >= Version::HTTP_11 => {
            return Err("the Host field is missing");
        }
        (Some(host), None) if host.to_str().ok().and_then(name_of).is_none() => {
            return Err("the Host field is not a host with or without a port");
        }
        _ => {}
    }
    let uri = request.uri();
    let Some(authority) = uri.authority().filter(|_| uri.scheme().is_some()) else {
        return Ok(None);
    };
    let is_host = name_of(authority.as_str()).is_some_and(|name| !name.is_empty());
    let host = HeaderValue::from_str(authority.as_str()).ok();
    match host.filter(|_| is_host) {
        Some(host) => Ok(Some(host)),
        None => Err("the target of the request has no valid host"),
    }
}

/// Name of a host with or without a port (RFC 3986, 3.2.2), in brackets if it is an address of version 6. `None` if it is none; an empty
/// name is valid.
fn name_of(host: &str) -> Option<&str> {
    let end = match host.strip_prefix('[') {
        Some(rest) => rest.find(']')? + 2,
        None => host.find(':').unwrap_or(host.len()),
    };
    let (name, port) = host.split_at(end);
    let is_name = match name.strip_prefix('[') {
        Some(address) => {
            let address = address.trim_end_matches(']');
            address.parse::<std::net::Ipv6Addr>().is_ok()
        }
        None => name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=".contains(&byte)),
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port = digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
    (is_name && is_port && (digits.is_empty() || port.len() > digits.len())).then_some(name)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn names_are_those_of_hosts() {
        for (host, name) in [
            ("localhost", "localhost"),
            ("localhost:18135", "localhost"),
            ("localhost:", "localhost"),
            ("[::1]:80", "[::1]"),
            ("[::1]", "[::1]"),
            ("a_b.c-d.example:1", "a_b.c-d.example"),
            ("192.0.2.1:65535", "192.0.2.1"),
            ("", ""),
        ] {
            assert_eq!(name_of(host), Some(name), "{host}");
        }
        for host in [
            "localhost:18135@evil",
            "user@localhost",
            "localhost/",
            "a b",
            "a:b",
            "::1",
            "[::1",
            "[::1]80",
            "[evil]",
            "[::1]]",
            "[]",
            "a:123456",
            "a:1:2",
            "http://a",
            "a\\b",
            "a?b",
            "é",
            "<a>",
        ] {
            assert_eq!(name_of(host), None, "{host}");
        }
    }

    #[test]
    fn a_request_has_one_valid_host_and_its_target_comes_first() {
        let asked = |version, target: &str, hosts: &[&str]| {
            let mut request = Request::builder().version(version).uri(target);
            for host in hosts {
                request = request.header("host", *host);
            }
            host_of(&request.body(Body::empty()).unwrap())
        };
        let (old, new) = (Version::HTTP_10, Version::HTTP_11);
        assert_eq!(asked(new, "/", &["a"]), Ok(None));
        assert_eq!(asked(old, "/", &[]), Ok(None));
        let absolute = HeaderValue::from_static("b:1");
        for hosts in [&["a"], &["b:1"]] {
            assert_eq!(
                asked(new, "http://b:1/x", hosts),
                Ok(Some(absolute.clone()))
            );
        }
        for (version, target, hosts) in [
            (new, "/", &[][..]),
            (new, "/", &["a", "a"]),
            (old, "/", &["a", "b"]),
            (new, "/", &["a@b"]),
            (old, "/", &["a@b"]),
            (new, "http://b/", &[]),
            (new, "http://b/", &["a", "b"]),
            (new, "http://localhost@evil/", &["localhost"]),
        ] {
            assert!(asked(version, target, hosts).is_err(), "{target} {hosts:?}");
        }
    }
}

//! Reading of a request.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::http::method::Method;
use crate::http::response::Response;

/// Largest head of a request, bytes. Browsers send cookies of all ports of a host, so that other programs' cookies count too.
const MOST_HEAD: usize = 32 * 1024;
/// Most fields of a head.
const MOST_FIELDS: usize = 64;
/// Largest body, bytes. No page sends more than the parts of an empty form.
const MOST_BODY: usize = 4096;
/// Time for the whole request.
const PATIENCE: Duration = Duration::from_secs(5);

/// A request. Its body means nothing, and is dropped.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Path before decoding, from its slash.
    path: String,
    query: String,
    fields: Vec<(String, String)>,
}

/// Reason why there is no request.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The other side is gone, or never asked.
    Silence,
    /// It sent something else.
    Refused(Response),
}

impl From<Response> for Unread {
    fn from(response: Response) -> Self {
        Self::Refused(response)
    }
}

impl Request {
    /// Reads a request.
    pub(crate) fn read(stream: &mut TcpStream) -> Result<Self, Unread> {
        let until = Instant::now() + PATIENCE;
        let mut bytes = Vec::new();
        let (request, head_bytes) = loop {
            if let Some(found) = parse(&bytes)? {
                break found;
            }
            if bytes.len() >= MOST_HEAD {
                return Err(Response::refused(431, "The request is too large.").into());
            }
            more(stream, &mut bytes, until)?;
        };
        let whole = head_bytes + request.body_bytes()?;
        while bytes.len() < whole {
            more(stream, &mut bytes, until)?;
        }
        Ok(request)
    }

    /// Values of a field of the head; its name is in small letters.
    pub(crate) fn values(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.fields.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Returns whether it is for the first page.
    pub(crate) fn is_of_root(&self) -> bool {
        self.path == "/"
    }

    /// The parts of the path between its slashes; `None` if one is not text.
    pub(crate) fn parts(&self) -> Option<Vec<String>> {
        let parts = self.path.split('/').skip(1);
        parts.map(|part| decoded(part).ok()).collect()
    }

    /// Value of a parameter of the query.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        match self.parameters().ok()?.remove(name)? {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// The parameters of the query.
    ///
    /// # Errors
    /// If one is unknown or has a wrong value.
    pub(crate) fn query<T: DeserializeOwned>(&self) -> Result<T, String> {
        let value = Value::Object(self.parameters()?);
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    fn parameters(&self) -> Result<Map<String, Value>, String> {
        let given = self.query.split('&').filter(|pair| !pair.is_empty());
        let pairs = given.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = |part: &str| decoded(&part.replace('+', " "));
            Ok::<_, String>((text(name)?, Value::String(text(value)?)))
        });
        pairs.collect()
    }

    fn body_bytes(&self) -> Result<usize, Response> {
        if self.values("transfer-encoding").next().is_some() {
            return Err(Response::refused(411, "The body has no length."));
        }
        let mut lengths = self.values("content-length");
        let length = match (lengths.next(), lengths.next()) {
            (None, _) => Some(0),
            (Some(length), None) => length.parse().ok(),
            _ => None,
        };
        match length {
            Some(length) if length <= MOST_BODY => Ok(length),
            Some(_) => Err(Response::refused(413, "The body is too large.")),
            None => Err(bad()),
        }
    }
}

fn bad() -> Response {
    Response::refused(400, "The request cannot be understood.")
}

fn decoded(text: &str) -> Result<String, String> {
    let text = percent_decode_str(text).decode_utf8();
    text.map(|text| text.into_owned())
        .map_err(|_| "a parameter is not text".to_owned())
}

/// Parses a head; returns it with its length once it is whole.
fn parse(bytes: &[u8]) -> Result<Option<(Request, usize)>, Response> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    let length = match head.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Response::refused(431, "The request has too many fields."));
        }
        Err(_) => return Err(bad()),
    };
    let method = match head.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        _ => return Err(Response::refused(405, "This method does nothing here.")),
    };
    let target = head.path.filter(|target| target.starts_with('/'));
    let (path, query) = target
        .map(|it| it.split_once('?').unwrap_or((it, "")))
        .ok_or_else(bad)?;
    let field = |field: &httparse::Header<'_>| {
        let value = std::str::from_utf8(field.value).ok()?;
        Some((field.name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let known: Option<Vec<_>> = head.headers.iter().map(field).collect();
    let request = Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        fields: known.ok_or_else(bad)?,
    };
    Ok(Some((request, length)))
}

/// Reads more bytes, until this time at the latest.
fn more(stream: &mut TcpStream, bytes: &mut Vec<u8>, until: Instant) -> Result<(), Unread> {
    let left = until.saturating_duration_since(Instant::now());
    let late = |bytes: &[u8]| match bytes.is_empty() {
        // Browsers open connections that they may never use.
        true => Unread::Silence,
        false => Response::refused(408, "The request took too long.").into(),
    };
    if left.is_zero() {
        return Err(late(bytes));
    }
    let mut part = [0; 4096];
    let read = stream
        .set_read_timeout(Some(left))
        .and_then(|()| stream.read(&mut part));
    match read {
        Ok(0) => Err(Unread::Silence),
        Ok(count) => {
            bytes.extend_from_slice(&part[..count]);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(late(bytes))
        }
        Err(_) => Err(Unread::Silence),
    }
}

#[cfg(test)]
impl Request {
    /// The request of these lines.
    pub(crate) fn of(lines: &[&str]) -> Result<Self, Response> {
        let text = lines.join("\r\n") + "\r\n\r\n";
        let found = parse(text.as_bytes())?;
        found.map(|(request, _)| request).ok_or_else(bad)
    }
}

#[cfg(test)]
mod tests {
    use cardmark_pages::pages::compare::ComparePageQuery;
    use cardmark_pages::views::search::SearchQuery;

    use super::*;

    fn get(target: &str) -> Request {
        Request::of(&[&format!("GET {target} HTTP/1.1")]).unwrap()
    }

    #[test]
    fn paths_and_parameters_are_decoded() {
        let request = get("/boards/Raspberry%20Pi%2F4?a=x+y%26&b");
        let parts = request.parts().unwrap();
        assert_eq!(parts, ["boards", "Raspberry Pi/4"]);
        assert_eq!(request.parameter("a").as_deref(), Some("x y&"));
        assert_eq!(request.parameter("b").as_deref(), Some(""));
        assert_eq!(request.parameter("c"), None);
        assert_eq!(get("/").parts().unwrap(), [""]);
        assert_eq!(get("/%ff").parts(), None);
    }

    #[test]
    fn queries_of_pages_are_read_from_texts() {
        let asked: SearchQuery = get("/runs?least=1.5&metric=m&limit=&simulated=true")
            .query()
            .unwrap();
        assert_eq!((asked.least, asked.limit), (Some(1.5), None));
        assert_eq!(asked.simulated, Some(true));
        let asked: ComparePageQuery = get("/compare?base=a%2Cb").query().unwrap();
        assert_eq!(asked.base, "a,b");
        for wrong in ["/runs?least=x", "/runs?unknown=1", "/runs?board=%ff"] {
            assert!(get(wrong).query::<SearchQuery>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn other_requests_are_refused() {
        for (line, status) in [
            ("GET http://127.0.0.1/ HTTP/1.1", 400),
            ("GET * HTTP/1.1", 400),
            ("PUT / HTTP/1.1", 405),
            ("CONNECT a:1 HTTP/1.1", 405),
            ("GET / HTTP/2.0", 400),
            ("nonsense", 400),
        ] {
            let refused = Request::of(&[line]).unwrap_err();
            assert_eq!(refused.status(), status, "{line}");
        }
        let many: Vec<String> = (0..70).map(|number| format!("a{number}: b")).collect();
        let mut lines = vec!["GET / HTTP/1.1"];
        lines.extend(many.iter().map(String::as_str));
        assert_eq!(Request::of(&lines).unwrap_err().status(), 431);
    }

    #[test]
    fn a_body_has_one_small_length() {
        for (fields, length) in [
            (&[][..], Ok(0)),
            (&["Content-Length: 12"], Ok(12)),
            (&["Content-Length: 5000"], Err(413)),
            (&["Content-Length: x"], Err(400)),
            (&["Content-Length: 1", "Content-Length: 1"], Err(400)),
            (&["Transfer-Encoding: chunked"], Err(411)),
        ] {
            let lines = [&["POST / HTTP/1.1"][..], fields].concat();
            let found = Request::of(&lines).unwrap().body_bytes();
            assert_eq!(
                found.map_err(|refused| refused.status()),
                length,
                "{fields:?}"
            );
        }
    }
}

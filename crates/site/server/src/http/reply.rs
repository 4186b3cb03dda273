//! Answers with their packed forms: each is packed once, when somebody first asks for it.

use std::io::Write;
use std::sync::OnceLock;

use axum::body::Bytes;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use cardmark_share::to_hexadecimal;
use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::http::problem::Refusal;

/// Smaller answers are not packed, bytes.
const LEAST_PACKED: usize = 1_024;
const ZSTD_LEVEL: i32 = 3;
const GZIP_LEVEL: flate2::Compression = flate2::Compression::new(5);
/// Browsers ask each time, so that owners and moderators see what they did; a cache in front of the site may answer for a minute.
pub(crate) const A_MINUTE: &str = "public, max-age=0, s-maxage=60";
/// Of answers whose address changes with them.
pub(crate) const FOR_LONG: &str = "public, max-age=31536000, immutable";

/// An encoding of a body (RFC 9110, 8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encoding {
    Plain,
    Gzip,
    Zstd,
}

impl Encoding {
    /// The best encoding that a client takes.
    pub(crate) fn asked(headers: &HeaderMap) -> Self {
        let accepted = headers.get_all(ACCEPT_ENCODING).iter();
        let accepted: Vec<&str> = accepted
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .collect();
        let takes = |name: &str| accepted.iter().any(|part| allows(part, name));
        match (takes("zstd"), takes("gzip")) {
            (true, _) => Self::Zstd,
            (false, true) => Self::Gzip,
            (false, false) => Self::Plain,
        }
    }

    fn name(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Gzip => Some("gzip"),
            Self::Zstd => Some("zstd"),
        }
    }
}

/// True if a part of `Accept-Encoding` names the encoding, with a quality above zero.
fn allows(part: &str, name: &str) -> bool {
    let (named, quality) = part.split_once(';').unwrap_or((part, ""));
    let quality = quality.replace(' ', "");
    let is_refused = quality
        .strip_prefix("q=")
        .and_then(|quality| quality.parse::<f64>().ok())
        .is_some_and(|quality| quality <= 0.0);
    named.trim().eq_ignore_ascii_case(name) && !is_refused
}

/// An answer that can be given many times.
#[derive(Debug)]
pub(crate) struct Reply {
    kind: &'static str,
    /// Digest of the plain body.
    tag: String,
    plain: Bytes,
    gzip: OnceLock<Option<Bytes>>,
    zstd: OnceLock<Option<Bytes>>,
}

impl Reply {
    pub(crate) fn new(kind: &'static str, body: impl Into<Bytes>) -> Self {
        let plain = body.into();
        Self {
            kind,
            tag: tag_of(&Sha256::digest(&plain).into()),
            plain,
            gzip: OnceLock::new(),
            zstd: OnceLock::new(),
        }
    }

    /// Upper bound of the memory that it takes, bytes: text shrinks to less than half in both packed forms together.
    pub(crate) fn most_bytes(&self) -> u64 {
        2 * self.plain.len() as u64 + 512
    }

    /// The answer, which caches of others may keep for a minute; 304 without a body if the client has it.
    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        self.answer_for(headers, A_MINUTE)
    }

    pub(crate) fn answer_for(&self, headers: &HeaderMap, cached: &'static str) -> Response {
        let (encoding, body) = self.body(Encoding::asked(headers));
        let form = BodyForm {
            kind: self.kind,
            tag: &self.tag,
            encoding,
        };
        form.answer(headers, body, cached)
    }

    /// The body in that encoding, or plain if it is small, holds a picture or cannot be packed.
    fn body(&self, encoding: Encoding) -> (Encoding, Bytes) {
        if self.plain.len() < LEAST_PACKED || self.kind == "image/png" {
            return (Encoding::Plain, self.plain.clone());
        }
        let packed = match encoding {
            Encoding::Plain => &None,
            Encoding::Gzip => self.gzip.get_or_init(|| gzip(&self.plain)),
            Encoding::Zstd => self.zstd.get_or_init(|| zstd_of(&self.plain)),
        };
        match packed {
            Some(packed) => (encoding, packed.clone()),
            None => (Encoding::Plain, self.plain.clone()),
        }
    }
}

/// JSON that caches of others may keep for a minute, with its tag; 304 without a body if the client has it.
pub(crate) fn json_answer(headers: &HeaderMap, answer: &impl Serialize) -> Response {
    match json(answer) {
        Ok(reply) => reply.answer(headers),
        Err(refusal) => refusal.into_response(),
    }
}

/// An answer as JSON.
pub(crate) fn json(answer: &impl Serialize) -> Result<Reply, Refusal> {
    let text = serde_json::to_string(answer).map_err(|_| Refusal::failed())?;
    Ok(Reply::new("application/json", text))
}

/// Form of a body.
pub(crate) struct BodyForm<'a> {
    /// Media type.
    pub(crate) kind: &'static str,
    /// Digest of the plain body.
    pub(crate) tag: &'a str,
    pub(crate) encoding: Encoding,
}

impl BodyForm<'_> {
    /// The body with its headers; 304 without it if the client has it.
    pub(crate) fn answer(
        &self,
        headers: &HeaderMap,
        body: Bytes,
        cached: &'static str,
    ) -> Response {
        let mut response = match self.is_known(headers) {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => {
                let mut response = body.into_response();
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.kind));
                if let Some(name) = self.encoding.name() {
                    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(name));
                }
                response
            }
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cached));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        // Bytes of another encoding are another representation, with a tag of its own.
        let tag = match self.encoding.name() {
            Some(name) => format!("\"{}-{name}\"", self.tag),
            None => format!("\"{}\"", self.tag),
        };
        if let Ok(tag) = HeaderValue::from_str(&tag) {
            headers.insert(ETAG, tag);
        }
        response
    }

    /// True if the client has the body, in any encoding.
    fn is_known(&self, headers: &HeaderMap) -> bool {
        let known = headers.get_all(IF_NONE_MATCH).iter();
        known
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == "*" || tag.trim_matches('"').split('-').next() == Some(self.tag))
    }
}

/// The tag of a body with this digest.
pub(crate) fn tag_of(digest: &[u8; 32]) -> String {
    to_hexadecimal(&digest[..12])
}

fn gzip(body: &[u8]) -> Option<Bytes> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), GZIP_LEVEL);
    packed.write_all(body).ok()?;
    Some(packed.finish().ok()?.into())
}

fn zstd_of(body: &[u8]) -> Option<Bytes> {
    Some(zstd::bulk::compress(body, ZSTD_LEVEL).ok()?.into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;

    use super::*;

    fn asking(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn encodings_are_those_that_a_client_takes() {
        for (accepted, expected) in [
            ("", Encoding::Plain),
            ("gzip, deflate, br, zstd", Encoding::Zstd),
            ("gzip;q=0.5, zstd;q=0", Encoding::Gzip),
            ("GZIP", Encoding::Gzip),
            ("identity", Encoding::Plain),
            ("gzip; q=0.000", Encoding::Plain),
            ("x-gzip", Encoding::Plain),
        ] {
            let asked = Encoding::asked(&asking("accept-encoding", accepted));
            assert_eq!(asked, expected, "{accepted}");
        }
        assert_eq!(Encoding::asked(&HeaderMap::new()), Encoding::Plain);
    }

    #[test]
    fn packed_bodies_are_the_plain_one() {
        let plain = "text ".repeat(1_000);
        let reply = Reply::new("text/plain", plain.clone());
        let (encoding, packed) = reply.body(Encoding::Gzip);
        let mut unpacked = String::new();
        let mut reader = flate2::read::GzDecoder::new(&packed[..]);
        reader.read_to_string(&mut unpacked).unwrap();
        assert_eq!((encoding, &unpacked), (Encoding::Gzip, &plain));
        let (encoding, packed) = reply.body(Encoding::Zstd);
        let unpacked = zstd::bulk::decompress(&packed, plain.len()).unwrap();
        assert_eq!((encoding, unpacked), (Encoding::Zstd, plain.into_bytes()));
        assert_eq!(
            Reply::new("text/plain", "short").body(Encoding::Zstd).0,
            Encoding::Plain
        );
    }

    #[test]
    fn each_encoding_has_its_tag_and_all_are_known() {
        let reply = Reply::new("text/plain", "text ".repeat(1_000));
        let tags = ["identity", "gzip", "zstd"].map(|encoding| {
            let answer = reply.answer(&asking("accept-encoding", encoding));
            assert_eq!(answer.headers()[VARY], "accept-encoding");
            answer.headers()[ETAG].to_str().unwrap().to_owned()
        });
        assert!(tags[0] != tags[1] && tags[1] != tags[2], "{tags:?}");
        for tag in tags {
            let known = reply.answer(&asking("if-none-match", &format!("\"other\", W/{tag}")));
            assert_eq!(known.status(), StatusCode::NOT_MODIFIED, "{tag}");
        }
        let other = reply.answer(&asking("if-none-match", "\"other\""));
        assert_eq!(other.status(), StatusCode::OK);
    }

    #[test]
    fn what_the_client_has_is_not_sent_again() {
        let first = json_answer(&HeaderMap::new(), &"text");
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[ETAG].clone();
        let mut asked = HeaderMap::new();
        asked.insert(
            IF_NONE_MATCH,
            format!("\"other\", W/{}", tag.to_str().unwrap())
                .parse()
                .unwrap(),
        );
        assert_eq!(
            json_answer(&asked, &"text").status(),
            StatusCode::NOT_MODIFIED
        );
        assert_eq!(json_answer(&asked, &"changed").status(), StatusCode::OK);
    }

    #[test]
    fn what_cannot_be_written_as_json_is_a_failure() {
        // A key of an object is a text.
        let unwritable = BTreeMap::from([((1, 2), 3)]);
        let answer = json_answer(&HeaderMap::new(), &unwritable);
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}

//! Files as answers, in parts if a client asks for them (RFC 9110, 14).

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt, SeekFrom};

use crate::http::problem::Refusal;

/// Time for which caches may keep a file.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=3600");
/// Bytes of a file that are read at a time.
const STEP: u64 = 64 << 10;

/// Answers with a file, a part of it, or nothing if the client has it.
pub(crate) async fn part_of(
    mut file: File,
    length: u64,
    tag: &str,
    kind: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let has = |list: &str| {
        let mut known = list
            .split(',')
            .map(|known| known.trim().trim_start_matches("W/"));
        known.any(|known| known == tag || known == "*")
    };
    let asked = text(header::RANGE).filter(|_| {
        let same = text(header::IF_RANGE);
        same.is_none_or(|same| same == tag)
    });
    let (status, range) = match asked.and_then(|asked| range_of(asked, length)) {
        _ if text(header::IF_NONE_MATCH).is_some_and(has) => {
            (StatusCode::NOT_MODIFIED, Some((0, 0)))
        }
        Some(Some(range)) => (StatusCode::PARTIAL_CONTENT, Some(range)),
        Some(None) => (StatusCode::RANGE_NOT_SATISFIABLE, Some((0, 0))),
        None => (StatusCode::OK, None),
    };
    let (begin, end) = range.unwrap_or((0, length));
    let failed = |_| Refusal::failed();
    file.seek(SeekFrom::Start(begin)).await.map_err(failed)?;
    let body = match end - begin {
        0 => Body::empty(),
        count => Body::from_stream(stream::try_unfold((file, count), step)),
    };
    let mut response = (status, body).into_response();
    let headers = response.headers_mut();
    let value = |text: String| HeaderValue::from_str(&text).map_err(|_| Refusal::failed());
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, KEPT);
    headers.insert(header::ETAG, value(tag.to_owned())?);
    if status != StatusCode::NOT_MODIFIED {
        headers.insert(header::CONTENT_LENGTH, value((end - begin).to_string())?);
    }
    let named = match status {
        StatusCode::PARTIAL_CONTENT => format!("bytes {begin}-{}/{length}", end - 1),
        StatusCode::RANGE_NOT_SATISFIABLE => format!("bytes */{length}"),
        _ => return Ok(response),
    };
    headers.insert(header::CONTENT_RANGE, value(named)?);
    Ok(response)
}

/// Reads the next bytes of a file.
async fn step((mut file, left): (File, u64)) -> std::io::Result<Option<(Bytes, (File, u64))>> {
    if left == 0 {
        return Ok(None);
    }
    let count = usize::try_from(left.min(STEP)).unwrap_or(0);
    let mut bytes = vec![0; count];
    let read = file.read(&mut bytes).await?;
    if read == 0 {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    bytes.truncate(read);
    Ok(Some((bytes.into(), (file, left - read as u64))))
}

/// The bytes that a `Range` asks for: begin and end. The outer `None` is a header that is not answered with a part, such as one with
/// several ranges; the inner one a range outside of the file.
fn range_of(text: &str, length: u64) -> Option<Option<(u64, u64)>> {
    let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let (begin, end) = match (first.trim(), last.trim()) {
        ("", last) => (length.saturating_sub(number(last)?), length),
        (first, "") => (number(first)?, length),
        (first, last) => {
            let last = number(last)?;
            let first = number(first).filter(|first| *first <= last)?;
            (first, last.saturating_add(1).min(length))
        }
    };
    Some((begin < end).then_some((begin, end)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_those_of_the_rfc() {
        for (text, range) in [
            ("bytes=0-0", Some(Some((0, 1)))),
            ("bytes=0-", Some(Some((0, 10)))),
            ("bytes=3-5", Some(Some((3, 6)))),
            ("bytes=3-99", Some(Some((3, 10)))),
            ("bytes=-4", Some(Some((6, 10)))),
            ("bytes=-99", Some(Some((0, 10)))),
            ("bytes=10-", Some(None)),
            ("bytes=-0", Some(None)),
            ("bytes=5-3", None),
            ("bytes=0-1,3-4", None),
            ("bytes=a-b", None),
            ("lines=0-1", None),
            ("bytes=-", None),
        ] {
            assert_eq!(range_of(text, 10), range, "{text}");
        }
        assert_eq!(range_of("bytes=0-", 0), Some(None));
        let most = format!("bytes=0-{}", u64::MAX);
        assert_eq!(range_of(&most, 10), Some(Some((0, 10))));
    }
}

//! Bodies of requests: counted while they arrive, and while they are unpacked.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use cardmark_import::decoded;
use cardmark_share::{MOST_PACKED_BYTES, MOST_SENT_BYTES};
use http_body_util::BodyExt;

use crate::http::problem::Refusal;
use crate::http::quota::{Charge, Quota};

/// Time in which a body has to arrive.
const TIME: Duration = Duration::from_secs(60);
/// Time for a body that is dropped.
const DISCARD_TIME: Duration = Duration::from_secs(5);
/// Memory that is taken at a time, bytes: a usual submission.
const STEP: usize = 64 << 10;
/// Memory for bodies that arrive, in steps: 64 MiB.
const MOST_STEPS: usize = 1_024;
/// Part of the memory that one address block may have: a quarter.
const BLOCK_SHARE: usize = 4;

/// Memory for all bodies that arrive at a time.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory(Arc<Quota>);

/// A body and the memory that it is charged to.
#[derive(Debug)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    encoding: Encoding,
    _memory: Charge,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    Gzip,
    Zstd,
}

impl BodyMemory {
    /// Takes a body of an address block in, up to `most` bytes.
    pub(crate) async fn receive(
        &self,
        block: [u8; 16],
        headers: &HeaderMap,
        mut body: Body,
        most: usize,
    ) -> Result<Received, Refusal> {
        let encoding = match acceptable(headers, most) {
            Ok(encoding) => encoding,
            Err(refusal) => {
                discard(headers, body).await;
                return Err(refusal);
            }
        };
        let received = tokio::time::timeout(TIME, self.take(block, &mut body, most)).await;
        match received {
            Ok(Ok((bytes, memory))) => Ok(Received {
                bytes,
                encoding,
                _memory: memory,
            }),
            Ok(Err(refusal)) => {
                drain(body).await;
                Err(refusal)
            }
            Err(_) => Err(Refusal::slow()),
        }
    }

    async fn take(
        &self,
        block: [u8; 16],
        body: &mut Body,
        most: usize,
    ) -> Result<(Vec<u8>, Charge), Refusal> {
        let (mut bytes, mut memory) = (Vec::new(), Charge::of(&self.0, block));
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| Refusal::bad_request(format!("the body broke off: {error}")))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > most {
                return Err(Refusal::too_large(most, "the body"));
            }
            if !grow(&mut memory, bytes.len() + data.len()) {
                return Err(Refusal::busy());
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, memory))
    }
}

/// The encoding of a body, unless its head states that it cannot be received.
fn acceptable(headers: &HeaderMap, most: usize) -> Result<Encoding, Refusal> {
    let encoding = Encoding::of(headers)?;
    let stated = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse().ok());
    match stated.is_some_and(|bytes: usize| bytes > most) {
        true => Err(Refusal::too_large(most, "the body")),
        false => Ok(encoding),
    }
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self(Quota::new(MOST_STEPS))
    }
}

/// Takes memory for a body of this many bytes; false if there is none.
fn grow(memory: &mut Charge, bytes: usize) -> bool {
    let missing = bytes.div_ceil(STEP).saturating_sub(memory.count());
    missing == 0 || memory.take(missing, MOST_STEPS / BLOCK_SHARE)
}

/// Drops a body that was not read yet. A sender that waits for a word to go on (RFC 9110, 10.1.1) gets the answer at once.
pub(crate) async fn discard(headers: &HeaderMap, body: Body) {
    if !headers.contains_key(header::EXPECT) {
        drain(body).await;
    }
}

/// Reads a body and drops it, so that its sender sees the answer: one that still sends loses it when the connection is closed.
async fn drain(mut body: Body) {
    let all = async {
        let mut left = MOST_PACKED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            left = left.saturating_sub(frame.data_ref().map_or(0, |data| data.len()));
            if left == 0 {
                return;
            }
        }
    };
    // A slow sender gets no answer.
    let _ = tokio::time::timeout(DISCARD_TIME, all).await;
}

impl Encoding {
    fn of(headers: &HeaderMap) -> Result<Self, Refusal> {
        let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
        let (first, more) = (values.next(), values.next());
        let name = first.map(|value| value.to_str().unwrap_or("?").trim().to_ascii_lowercase());
        match (name.as_deref(), more) {
            (None | Some("identity"), None) => Ok(Self::Plain),
            (Some("gzip" | "x-gzip"), None) => Ok(Self::Gzip),
            (Some("zstd"), None) => Ok(Self::Zstd),
            _ => Err(Refusal::new(
                axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "encoding",
                "The encoding is not supported",
                "a body is plain, or packed once with gzip or zstd",
            )),
        }
    }
}

impl Received {
    /// A body that has arrived; `None` if the encoding is not supported.
    pub(crate) fn for_fuzzing(encoding: &str, bytes: Vec<u8>) -> Option<Self> {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_ENCODING, encoding.parse().ok()?);
        Some(Self {
            bytes,
            encoding: Encoding::of(&headers).ok()?,
            _memory: Charge::of(&Quota::new(0), [0; 16]),
        })
    }

    /// Unpacks the body; blocks.
    pub(crate) fn unpack(self) -> Result<String, Refusal> {
        text_of(self.bytes, self.encoding)
    }
}

fn bytes_of(bytes: Vec<u8>, encoding: Encoding) -> Result<Vec<u8>, Refusal> {
    Ok(match encoding {
        Encoding::Plain => bytes,
        Encoding::Gzip => limited(flate2::read::MultiGzDecoder::new(bytes.as_slice()))?,
        Encoding::Zstd => {
            let decoder = zstd::stream::read::Decoder::new(bytes.as_slice());
            let mut decoder = decoder.map_err(|_| not_packed())?;
            // 8 MiB, the usual limit of receivers (RFC 8878, 3.1.1.1.2).
            decoder.window_log_max(23).map_err(|_| not_packed())?;
            limited(decoder)?
        }
    })
}

fn text_of(bytes: Vec<u8>, encoding: Encoding) -> Result<String, Refusal> {
    String::from_utf8(bytes_of(bytes, encoding)?).map_err(|_| {
        let detail = "the document is not UTF-8";
        Refusal::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            "not-text",
            "The document is not text",
            detail,
        )
    })
}

impl Received {
    /// The bytes of a body that is not packed.
    pub(crate) fn plain(self) -> Result<Vec<u8>, Refusal> {
        match self.encoding {
            Encoding::Plain => Ok(self.bytes),
            Encoding::Gzip | Encoding::Zstd => Err(Refusal::bad_request("a form is not packed")),
        }
    }
}

/// The text of a file in any encoding that `import` knows; it may be packed with gzip or zstd.
pub(crate) fn unpacked(bytes: Vec<u8>) -> Result<String, Refusal> {
    let encoding = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => Encoding::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Encoding::Zstd,
        _ => Encoding::Plain,
    };
    Ok(decoded(&bytes_of(bytes, encoding)?).into_owned())
}

fn not_packed() -> Refusal {
    Refusal::bad_request("the body is not packed as its header says, or is incomplete")
}

fn limited(reader: impl Read) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    let read = reader
        .take(MOST_SENT_BYTES as u64 + 1)
        .read_to_end(&mut bytes);
    read.map_err(|_| not_packed())?;
    match bytes.len() > MOST_SENT_BYTES {
        true => Err(Refusal::too_large(MOST_SENT_BYTES, "the unpacked document")),
        false => Ok(bytes),
    }
}

/// Most bytes of a submission as it arrives.
pub(crate) const MOST_BODY: usize = MOST_PACKED_BYTES;

//! Bodies of requests: counted while they arrive, and while they are unpacked.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use cardmark_share::{MOST_PACKED_BYTES, MOST_SENT_BYTES};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Refusal;

/// Time in which a body has to arrive.
const TIME: Duration = Duration::from_secs(60);
/// Time for a body that is dropped.
const DISCARD_TIME: Duration = Duration::from_secs(5);
/// Memory for bodies that arrive, KiB.
const MEMORY_KIB: usize = 64 << 10;
/// Memory that is taken at a time, KiB: a usual submission.
const STEP_KIB: u32 = 64;

/// Memory for all bodies that arrive at a time.
#[derive(Clone, Debug)]
pub(crate) struct BodyMemory(Arc<Semaphore>);

/// A body and the memory that it is charged to.
#[derive(Debug)]
pub(crate) struct Received {
    bytes: Vec<u8>,
    encoding: Encoding,
    _memory: Vec<OwnedSemaphorePermit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Plain,
    Gzip,
    Zstd,
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MEMORY_KIB)))
    }
}

impl BodyMemory {
    /// Takes a body in, up to `most` bytes.
    pub(crate) async fn receive(
        &self,
        headers: &HeaderMap,
        body: Body,
        most: usize,
    ) -> Result<Received, Refusal> {
        let encoding = Encoding::of(headers)?;
        let stated = headers
            .get(header::CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        if stated.is_some_and(|bytes: usize| bytes > most) {
            return Err(Refusal::too_large(most, "the body"));
        }
        match tokio::time::timeout(TIME, self.collect(body, most)).await {
            Ok(collected) => collected.map(|(bytes, memory)| Received {
                bytes,
                encoding,
                _memory: memory,
            }),
            Err(_) => Err(Refusal::slow()),
        }
    }

    async fn collect(
        &self,
        mut body: Body,
        most: usize,
    ) -> Result<(Vec<u8>, Vec<OwnedSemaphorePermit>), Refusal> {
        let (mut bytes, mut memory) = (Vec::new(), Vec::new());
        while let Some(frame) = body.frame().await {
            let frame = frame
                .map_err(|error| Refusal::bad_request(format!("the body broke off: {error}")))?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > most {
                return Err(Refusal::too_large(most, "the body"));
            }
            let has_room = |bytes: usize, steps: usize| bytes <= (steps * STEP_KIB as usize) << 10;
            while !has_room(bytes.len() + data.len(), memory.len()) {
                let step = Arc::clone(&self.0).try_acquire_many_owned(STEP_KIB);
                memory.push(step.map_err(|_| Refusal::busy())?);
            }
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, memory))
    }
}

/// Reads a body and drops it, so that its sender sees the answer: one that still sends loses it when the connection is
/// closed.
pub(crate) async fn discard(mut body: Body) {
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
    /// Unpacks the body; blocks.
    pub(crate) fn unpack(self) -> Result<String, Refusal> {
        let bytes = match self.encoding {
            Encoding::Plain => self.bytes,
            Encoding::Gzip => limited(flate2::read::MultiGzDecoder::new(self.bytes.as_slice()))?,
            Encoding::Zstd => {
                let decoder = zstd::stream::read::Decoder::new(self.bytes.as_slice());
                let mut decoder = decoder.map_err(|_| not_packed())?;
                // 8 MiB, the usual limit of receivers (RFC 8878, 3.1.1.1.2).
                decoder.window_log_max(23).map_err(|_| not_packed())?;
                limited(decoder)?
            }
        };
        String::from_utf8(bytes).map_err(|_| {
            let detail = "the document is not UTF-8";
            Refusal::new(
                axum::http::StatusCode::UNPROCESSABLE_ENTITY,
                "not-text",
                "The document is not text",
                detail,
            )
        })
    }
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

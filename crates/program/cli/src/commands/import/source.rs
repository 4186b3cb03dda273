//! Files to import, unpacked while they are read.

use std::borrow::Cow;
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Error, Read};
use std::path::Path;
use std::rc::Rc;

use cardmark_core::{MOST_RECORD_BYTES, is_statement};
use cardmark_import::decoded;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::error::{CommandError, Exit};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Beginning of the format of a look, whatever its version.
const LOOK: &str = "cardmark look ";

/// What a file holds.
pub(super) enum Source {
    /// Output of a tool, or a table.
    Text(String),
    /// Documents of records, statements and looks.
    Records(Documents),
}

/// Documents of records, statements and looks, one after the other.
pub(super) struct Documents {
    /// The document that showed what the file is.
    first: Option<String>,
    rest: Box<dyn BufRead>,
    position: Position,
}

/// How far a file was read. Its size is 0 if it is unknown.
#[derive(Clone, Default)]
pub(super) struct Position {
    passed_bytes: Rc<Cell<u64>>,
    size_bytes: u64,
}

/// A file whose bytes are counted.
struct Counted {
    file: File,
    passed_bytes: Rc<Cell<u64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let count = self.file.read(buffer)?;
        self.passed_bytes
            .set(self.passed_bytes.get() + count as u64);
        Ok(count)
    }
}

impl Documents {
    /// Returns the bytes of the file that were read and its size; `None` if the size is unknown.
    pub(super) fn position(&self) -> Option<(u64, u64)> {
        let Position {
            passed_bytes,
            size_bytes,
        } = &self.position;
        (*size_bytes > 0).then(|| (passed_bytes.get(), *size_bytes))
    }

    /// Returns the next document; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<String>, Error> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        loop {
            match line(&mut self.rest)? {
                Some(line) if line.trim_ascii().is_empty() => {}
                Some(line) => return Ok(Some(String::from_utf8_lossy(&line).into_owned())),
                None => return Ok(None),
            }
        }
    }
}

/// Opens a file, or standard input as `-`.
pub(super) fn open(file: &Path) -> Result<Source, CommandError> {
    let refuse = |error: Error| {
        let shown = match file == Path::new("-") {
            true => "standard input".to_owned(),
            false => format!("`{}`", file.display()),
        };
        let made = CommandError::new(Exit::Trouble, format!("cannot read {shown}"))
            .because(error.to_string());
        match error.kind() {
            std::io::ErrorKind::NotFound => CommandError {
                exit: Exit::Usage,
                ..made
            }
            .hint(
                "name a file with records or with what a tool printed, or `-` for standard input",
            ),
            std::io::ErrorKind::FileTooLarge => {
                made.hint("cut out what the tool printed at its end")
            }
            _ => made,
        }
    };
    let (packed, position) = match file == Path::new("-") {
        true => (
            Box::new(std::io::stdin().lock()) as Box<dyn BufRead>,
            Position::default(),
        ),
        false => counted(file).map_err(refuse)?,
    };
    let unpacked = unpacked(packed).map_err(refuse)?;
    read(unpacked, position).map_err(refuse)
}

fn counted(path: &Path) -> Result<(Box<dyn BufRead>, Position), Error> {
    let file = File::open(path)?;
    let position = Position {
        passed_bytes: Rc::default(),
        size_bytes: file.metadata()?.len(),
    };
    let passed_bytes = Rc::clone(&position.passed_bytes);
    let counted = Counted { file, passed_bytes };
    Ok((Box::new(BufReader::new(counted)), position))
}

fn unpacked(mut packed: Box<dyn BufRead>) -> Result<Box<dyn BufRead>, Error> {
    let head = packed.fill_buf()?;
    if head.starts_with(&GZIP) {
        return Ok(Box::new(BufReader::new(MultiGzDecoder::new(packed))));
    }
    if head.starts_with(&ZSTD) {
        return Ok(Box::new(BufReader::new(Frames {
            decoder: Some(frame(packed)?),
        })));
    }
    Ok(packed)
}

type Frame = StreamingDecoder<Box<dyn BufRead>, ruzstd::decoding::FrameDecoder>;

fn frame(packed: Box<dyn BufRead>) -> Result<Frame, Error> {
    StreamingDecoder::new(packed).map_err(Error::other)
}

/// All frames of a file packed with zstd.
struct Frames {
    decoder: Option<Frame>,
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        while let Some(decoder) = &mut self.decoder {
            let count = decoder.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let mut packed = self.decoder.take().map(Frame::into_inner);
            if let Some(packed) = packed.take_if(|packed| !matches!(packed.fill_buf(), Ok([]))) {
                self.decoder = Some(frame(packed)?);
            }
        }
        Ok(0)
    }
}

/// Separates records, one in each line or one in all of a file, from everything else.
fn read(mut unpacked: Box<dyn BufRead>, position: Position) -> Result<Source, Error> {
    // An export of a store without runs.
    let Some(begin) = line(&mut unpacked)? else {
        return Ok(Source::Records(Documents {
            first: None,
            rest: unpacked,
            position,
        }));
    };
    let first = String::from_utf8_lossy(&begin);
    if is_record(&first) {
        return Ok(Source::Records(Documents {
            first: Some(first.into_owned()),
            rest: unpacked,
            position,
        }));
    }
    let mut bytes = begin;
    let room = (MOST_RECORD_BYTES + 1).saturating_sub(bytes.len());
    (&mut unpacked).take(room as u64).read_to_end(&mut bytes)?;
    let bytes = within_limit(bytes)?;
    let text = decoded(&bytes).into_owned();
    Ok(match is_record(&text) {
        true => Source::Records(Documents {
            first: Some(text),
            rest: unpacked,
            position,
        }),
        false => Source::Text(text),
    })
}

/// Reads a line; `None` at the end.
fn line(from: &mut Box<dyn BufRead>) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::new();
    from.take(MOST_RECORD_BYTES as u64 + 1)
        .read_until(b'\n', &mut bytes)?;
    match bytes.is_empty() {
        true => Ok(None),
        false => within_limit(bytes).map(Some),
    }
}

fn within_limit(bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    if bytes.len() > MOST_RECORD_BYTES {
        let why = format!("it has more than {MOST_RECORD_BYTES} bytes");
        return Err(Error::new(std::io::ErrorKind::FileTooLarge, why));
    }
    Ok(bytes)
}

fn is_record(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        format: Option<IgnoredAny>,
        origin: Option<IgnoredAny>,
    }
    let text = text.trim_start_matches('\u{feff}');
    let head = serde_json::from_str::<Head>(text);
    let is_record = head.is_ok_and(|head| head.format.is_some() && head.origin.is_some());
    is_record || is_statement(text) || is_look(text)
}

/// Returns whether this is a look of a board, as `export --since` writes it.
pub(super) fn is_look(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head<'a> {
        #[serde(borrow)]
        format: Cow<'a, str>,
    }
    let head = serde_json::from_str::<Head<'_>>(text);
    head.is_ok_and(|head| head.format.starts_with(LOOK))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_position_in_a_file_is_that_of_its_packed_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl.gz");
        let line = r#"{"format":1,"origin":{"kind":"published"}}"#;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        for _ in 0..3 {
            std::io::Write::write_all(&mut packer, format!("{line}\n").as_bytes()).unwrap();
        }
        let packed = packer.finish().unwrap();
        std::fs::write(&path, &packed).unwrap();
        let Source::Records(mut documents) = open(&path).unwrap() else {
            panic!("these are records");
        };
        let size_bytes = packed.len() as u64;
        while documents.next().unwrap().is_some() {}
        assert_eq!(documents.position(), Some((size_bytes, size_bytes)));
    }
}

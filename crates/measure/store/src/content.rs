//! Content of a journal: its lines, and what they add up to.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cardmark_core::{Record, parse_record};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::JournalError;
use crate::checksum::crc32;
use crate::files::failed;

/// Command that unfinished work belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JobKind {
    /// `cardmark run`.
    Run,
    /// `cardmark prepare`.
    Prepare,
    /// `cardmark probe`.
    Probe,
    /// `cardmark verify`.
    Verify,
    /// `cardmark endure`.
    Endure,
    /// `cardmark anatomy`.
    Anatomy,
    /// The program `cardmark-crosscheck`.
    Crosscheck,
    /// `cardmark campaign`.
    Campaign,
}

impl JobKind {
    /// Name of the command, or of the part after `cardmark-` of a program of its own.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Prepare => "prepare",
            Self::Probe => "probe",
            Self::Verify => "verify",
            Self::Endure => "endure",
            Self::Anatomy => "anatomy",
            Self::Crosscheck => "crosscheck",
            Self::Campaign => "campaign",
        }
    }
}

/// First line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHead {
    /// The command.
    pub job: JobKind,
    /// Target of the command as the user named it.
    pub target: String,
    /// What the user states of the run, as labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// Kind of content of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Head,
    Record,
    State,
    Trial,
    Finding,
}

impl LineKind {
    pub(crate) const ALL: [Self; 5] = [
        Self::Head,
        Self::Record,
        Self::State,
        Self::Trial,
        Self::Finding,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Record => "record",
            Self::State => "state",
            Self::Trial => "trial",
            Self::Finding => "finding",
        }
    }
}

/// Content of one journal.
#[derive(Debug)]
pub struct Content {
    /// Command and target.
    pub head: JournalHead,
    /// The record with all whole trials and findings and the bytes these trials wrote, if the work results in
    /// one. Metrics are not derived and the finding that the work was interrupted is not added.
    pub record: Option<Record>,
    /// Last intact state, JSON.
    pub state: Option<String>,
    /// The journal; to be given to [`discard`](crate::discard) once the result is stored.
    pub path: PathBuf,
    /// Dropped content, if it was more than a torn last line.
    pub note: Option<String>,
    /// Length of the intact lines, bytes.
    pub(crate) whole_bytes: u64,
    /// Intact lines without states, each with its line feed.
    pub(crate) lines: Vec<u8>,
    /// True if the last intact line ends without its line feed.
    pub(crate) lacks_line_feed: bool,
}

/// A line with its checksum and its line feed.
pub(crate) fn encode(
    kind: LineKind,
    content: &impl Serialize,
) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = format!("00000000 {} ", kind.name()).into_bytes();
    serde_json::to_writer(&mut line, content)?;
    let sum = format!("{:08x}", crc32(&line[9..]));
    line[..8].copy_from_slice(sum.as_bytes());
    line.push(b'\n');
    Ok(line)
}

/// The kind and the JSON of a line without its end, when it is whole.
pub(crate) fn decode(line: &[u8]) -> Option<(LineKind, &str)> {
    let (sum, rest) = line.split_at_checked(8)?;
    let body = rest.strip_prefix(b" ")?;
    let sum = std::str::from_utf8(sum).ok()?;
    if u32::from_str_radix(sum, 16).ok()? != crc32(body) {
        return None;
    }
    let (kind, json) = std::str::from_utf8(body).ok()?.split_once(' ')?;
    let kind = LineKind::ALL.into_iter().find(|each| each.name() == kind)?;
    Some((kind, json))
}

/// Reads the intact lines of a journal.
pub(crate) fn read(path: &Path) -> Result<Content, JournalError> {
    let bytes = fs::read(path).map_err(failed("read", path))?;
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let mut content = Content {
        head: head(first, path)?,
        record: None,
        state: None,
        path: path.to_owned(),
        note: None,
        whole_bytes: 0,
        lines: Vec::new(),
        lacks_line_feed: false,
    };
    content.count(LineKind::Head, first);
    let mut number = 1;
    for line in &mut lines {
        number += 1;
        if !content.add(line, path)? {
            break;
        }
    }
    let behind = lines.count();
    if behind > 0 {
        content.note = Some(format!(
            "line {number} of the journal is damaged; it and {behind} behind it were dropped"
        ));
    }
    if let Some(record) = &mut content.record {
        let written = record.trials.iter().map(|trial| trial.written_bytes);
        let written = written.fold(0, u64::saturating_add);
        record.written_bytes = record.written_bytes.max(written);
    }
    Ok(content)
}

fn head(line: &[u8], path: &Path) -> Result<JournalHead, JournalError> {
    let head = match decode(line.strip_suffix(b"\n").unwrap_or(line)) {
        Some((LineKind::Head, json)) => serde_json::from_str(json).ok(),
        _ => None,
    };
    head.ok_or_else(|| JournalError::Unusable {
        path: path.to_owned(),
        source: None,
    })
}

impl Content {
    /// Adds the content of a line; returns whether the line is intact.
    fn add(&mut self, line: &[u8], path: &Path) -> Result<bool, JournalError> {
        let Some((kind, json)) = decode(line.strip_suffix(b"\n").unwrap_or(line)) else {
            return Ok(false);
        };
        let is_intact = match (kind, &mut self.record) {
            (LineKind::Record, none @ None) => {
                let mut record = parse_record(json).map_err(|error| JournalError::Unusable {
                    path: path.to_owned(),
                    source: Some(error),
                })?;
                record.labels.extend(self.head.labels.clone());
                *none = Some(record);
                true
            }
            (LineKind::Trial, Some(record)) => push(&mut record.trials, json),
            (LineKind::Finding, Some(record)) => push(&mut record.findings, json),
            (LineKind::State, _) => {
                self.state = Some(json.to_owned());
                true
            }
            _ => false,
        };
        if is_intact {
            self.count(kind, line);
        }
        Ok(is_intact)
    }

    /// Counts an intact line.
    fn count(&mut self, kind: LineKind, line: &[u8]) {
        self.whole_bytes += line.len() as u64;
        self.lacks_line_feed = !line.ends_with(b"\n");
        if kind != LineKind::State {
            self.lines.extend(line.strip_suffix(b"\n").unwrap_or(line));
            self.lines.push(b'\n');
        }
    }
}

/// Adds a parsed element; returns whether the text could be parsed.
fn push<T: DeserializeOwned>(list: &mut Vec<T>, json: &str) -> bool {
    serde_json::from_str(json).is_ok_and(|element| {
        list.push(element);
        true
    })
}

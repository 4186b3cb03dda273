//! The JSON of fio and its terse lines, version 3.

use cardmark_core::KIB;
use serde_json::{Deserializer, Value};

use super::number::{self, LARGEST};
use super::{Line, Parts, Rate, ReadError, lines, sift, whole};

const TOOL: &str = "fio";
const NS_PER_MS: u64 = 1_000_000;

/// Whether a job's figures are of its reads or its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioDirection {
    /// Reads.
    Read,
    /// Writes.
    Write,
}

/// What one job did in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct FioReading {
    /// Number of its line, or of the first of the JSON document that it stands in, from 1.
    pub line: usize,
    /// Name of the job.
    pub job: String,
    /// Reads or writes.
    pub direction: FioDirection,
    /// Bytes moved; terse lines cut them to KiB.
    pub bytes: u64,
    /// The span, nanoseconds; fio keeps whole milliseconds.
    pub span_ns: u64,
    /// The rate. Terse lines cut it to KiB a second.
    pub rate: Rate,
    /// Operations a second. Terse lines cut them to whole ones.
    pub operations_per_s: f64,
    /// Operations, where they are told.
    pub operations_count: Option<u64>,
    /// The system's number of the error that ended the job, or 0.
    pub errno: i64,
}

/// Reads what each job did, in order; a job that read and wrote yields two readings.
///
/// # Errors
/// When the text is neither JSON nor terse output of fio, or something is missing in it.
pub fn read_fio(text: &str) -> Result<Vec<FioReading>, ReadError> {
    let expected = "a JSON document or terse lines `3;fio-…` of jobs that read or wrote";
    whole(fio_parts(text), TOOL, expected)
}

/// The jobs that are whole; of each document and line with others, what is missing.
pub(crate) fn fio_parts(text: &str) -> Parts<Vec<FioReading>> {
    let (mut readings, mut errors) = (Vec::new(), Vec::new());
    let mut is_broken = false;
    // What comes before and between documents are warnings and terse lines.
    let mut document_end = 0;
    let mut at = 0;
    for line in lines(text) {
        let start = at;
        at += text[at..]
            .find('\n')
            .map_or(text.len() - at, |length| length + 1);
        if start < document_end {
            continue;
        }
        let (found, wrong) = if line.text.starts_with('{') {
            // What a broken one holds is no document of its own.
            if is_broken && !begins_run(&text[start..]) {
                continue;
            }
            let mut documents = Deserializer::from_str(&text[start..]).into_iter::<Value>();
            let document = documents.next().and_then(Result::ok);
            is_broken = document.is_none();
            if let Some(document) = document {
                document_end = start + documents.byte_offset();
                of_document(line, &document)
            } else {
                (Vec::new(), vec![line.error(TOOL, "a whole JSON document")])
            }
        } else {
            of_line(line).map_or_else(|error| (Vec::new(), vec![error]), |it| (it, Vec::new()))
        };
        readings.extend(found);
        errors.extend(wrong);
    }
    (readings, errors)
}

/// Whether a document begins like that of a run.
fn begins_run(text: &str) -> bool {
    let rest = text.strip_prefix('{').unwrap_or(text);
    rest.trim_start().starts_with("\"fio version\"")
}

fn of_document(line: Line, document: &Value) -> Parts<Vec<FioReading>> {
    let Some(jobs) = document.get("jobs").and_then(Value::as_array) else {
        let expected = "`jobs` in the JSON document that begins here";
        return (Vec::new(), vec![line.error(TOOL, expected)]);
    };
    let expected =
        "io_bytes, bw, iops and runtime of each job in the JSON document that begins here";
    let directions = [("read", FioDirection::Read), ("write", FioDirection::Write)];
    let parts = jobs.iter().flat_map(|job| {
        directions.map(|(key, direction)| {
            of_job(line, job, key, direction).ok_or_else(|| line.error(TOOL, expected))
        })
    });
    let (mut readings, mut errors) = sift(parts);
    readings.retain(|reading| reading.bytes > 0);
    errors.dedup();
    (readings, errors)
}

fn of_job(line: Line, job: &Value, key: &str, direction: FioDirection) -> Option<FioReading> {
    let figures = job.get(key)?;
    let number = |key: &str| {
        figures
            .get(key)?
            .as_f64()
            .filter(|value| (0.0..LARGEST).contains(value))
    };
    // Before version 3, bytes were kept in KiB and there was no rate in bytes.
    let bytes = if figures.get("io_kbytes").is_some() {
        number("io_bytes")?
    } else {
        number("io_bytes")? * KIB as f64
    };
    let (bytes_per_s, printed) = match figures.get("bw_bytes") {
        Some(rate) => (number("bw_bytes")?, format!("{rate} B/s")),
        None => {
            let rate = figures.get("bw")?;
            (number("bw")? * KIB as f64, format!("{rate} KiB/s"))
        }
    };
    Some(FioReading {
        line: line.number,
        job: job.get("jobname")?.as_str()?.to_owned(),
        direction,
        bytes: number::whole(bytes)?,
        span_ns: number::whole(number("runtime")? * NS_PER_MS as f64)?,
        rate: Rate {
            bytes_per_s,
            printed,
        },
        operations_per_s: number("iops")?,
        operations_count: figures.get("total_ios").and_then(Value::as_u64),
        errno: job.get("error").and_then(Value::as_i64).unwrap_or(0),
    })
}

/// The fields of a terse line of version 3; none where the line is something else.
fn terse_fields(line: Line<'_>) -> Result<Option<Vec<&str>>, ReadError> {
    let text = line.text.trim_start_matches(['>', '|', ' ', '\t']);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || !text[digits..].starts_with(";fio-") {
        return Ok(None);
    }
    if &text[..digits] != "3" {
        return Err(line.error(TOOL, "version 3 of the terse output"));
    }
    Ok(Some(text.split(';').collect()))
}

/// A line outside of documents.
fn of_line(line: Line) -> Result<Vec<FioReading>, ReadError> {
    let fields = terse_fields(line)?;
    fields.map_or(Ok(Vec::new()), |fields| of_terse(line, &fields))
}

/// Places of the first figure of reads and of writes.
const TERSE_STARTS: [(usize, FioDirection); 2] =
    [(5, FioDirection::Read), (46, FioDirection::Write)];

fn of_terse(line: Line, fields: &[&str]) -> Result<Vec<FioReading>, ReadError> {
    let number = |at: usize| {
        let number = fields.get(at).and_then(|field| field.parse::<u64>().ok());
        number.ok_or_else(|| line.error(TOOL, "whole numbers in fields 5, 6 to 9 and 47 to 50"))
    };
    let mut readings = Vec::new();
    for (start, direction) in TERSE_STARTS {
        let (kib, rate) = (number(start)?, number(start + 1)?);
        let (iops, milliseconds) = (number(start + 2)?, number(start + 3)?);
        if kib == 0 {
            continue;
        }
        let too_large = || line.error(TOOL, "numbers that fit into 64 bits");
        readings.push(FioReading {
            line: line.number,
            job: fields.get(2).copied().unwrap_or_default().to_owned(),
            direction,
            bytes: kib.checked_mul(KIB).ok_or_else(too_large)?,
            span_ns: milliseconds.checked_mul(NS_PER_MS).ok_or_else(too_large)?,
            rate: Rate {
                bytes_per_s: rate as f64 * KIB as f64,
                printed: format!("{rate} KiB/s"),
            },
            operations_per_s: iops as f64,
            operations_count: None,
            errno: i64::try_from(number(4)?).map_err(|_| too_large())?,
        });
    }
    Ok(readings)
}

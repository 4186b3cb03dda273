//! The JSON of fio and its terse lines, version 3.

use cardmark_core::KIB;
use serde_json::{Deserializer, Value};

use super::job::{Direction, Job, TOOL};
use crate::form::{Role, Span};
use crate::number::{self, LARGEST};
use crate::reading::Found;
use crate::text::{Damage, Line};

/// Documents that are tried before the line at which one breaks.
const MOST_WITHIN: usize = 2;

/// Reads the jobs of JSON documents and terse lines, in order.
pub(crate) fn jobs(text: &str, lines: &[Line], found: &mut Found) -> Vec<Job> {
    let mut jobs = Vec::new();
    // The line at which a document breaks.
    let mut broken = None;
    let mut within_count = 0;
    let (mut at, mut document_end) = (0, 0);
    for line in lines {
        let start = at;
        let length = text[at..].find('\n');
        at += length.map_or(text.len() - at, |length| length + 1);
        if start < document_end {
            found.take(*line, of_document_line(line.text, document_end - start));
            continue;
        }
        if !line.text.starts_with('{') {
            match of_line(*line) {
                Ok(of_line) if of_line.is_empty() => {}
                Ok(of_line) => {
                    found.take(*line, terse_spans(line.text));
                    jobs.extend(of_line);
                }
                Err(damage) => found.damaged(damage),
            }
            if broken.is_some_and(|at| at != line.number) && is_in_document(line.text) {
                found.understand(*line, &BROKEN);
            }
            continue;
        }
        // Parts of a broken document are no separate documents.
        if let Some(at) = broken {
            // A run within it may follow one that was cut, but hardly another within that.
            within_count = if line.number < at {
                within_count + 1
            } else {
                0
            };
            if within_count > MOST_WITHIN || !begins_run(&text[start..]) {
                found.understand(*line, &BROKEN);
                continue;
            }
        }
        let mut documents = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let document = match documents.next() {
            Some(Ok(document)) => document,
            other => {
                let error = other.and_then(Result::err);
                let at = line.number + error.map_or(1, |error| error.line()) - 1;
                let expected = format!("a whole JSON document, which breaks at line {at}");
                found.damaged(line.damage(TOOL, expected));
                broken = Some(at);
                continue;
            }
        };
        broken = None;
        document_end = start + documents.byte_offset();
        found.take(*line, of_document_line(line.text, document_end - start));
        jobs.extend(of_document(*line, &document, found));
    }
    jobs
}

/// The part of a line in a JSON document, which ends behind `length` bytes. A document is read as a whole: what is in
/// no record is fio's own.
fn of_document_line(line: &str, length: usize) -> Vec<Span> {
    vec![Span::new(0..line.len().min(length), Role::Known)]
}

/// The rates of a terse line, and its other fields.
fn terse_spans(line: &str) -> Vec<Span> {
    let rates = TERSE_STARTS.map(|(start, _)| start + 1);
    let fields = line.split(';').enumerate();
    let spans = fields.map(|(place, field)| {
        let role = if rates.contains(&place) {
            Role::Figure
        } else {
            Role::Text
        };
        Span::of(line, field, role)
    });
    spans.collect()
}

/// Forms of lines in a document that cannot be read: its rates are listed.
const BROKEN: [&str; 4] = ["\"bw_bytes\" :", "\"bw\" :", "\"iops\" :", "{*}"];

fn is_in_document(line: &str) -> bool {
    line.trim_start().starts_with(['"', '{', '}', ']'])
}

/// Returns whether a document begins like that of a run.
fn begins_run(text: &str) -> bool {
    let rest = text.strip_prefix('{').unwrap_or(text);
    rest.trim_start().starts_with("\"fio version\"")
}

fn of_document(line: Line, document: &Value, found: &mut Found) -> Vec<Job> {
    // From clients of a server too, whose last entry is their sum.
    let jobs = ["jobs", "client_stats"]
        .iter()
        .find_map(|key| document.get(*key)?.as_array());
    let Some(jobs) = jobs else {
        found.damaged(line.damage(TOOL, "`jobs` in the JSON document that begins here"));
        return Vec::new();
    };
    // Sums of both directions are there if they were asked for, then perhaps alone.
    let directions = [
        ("read", Direction::Read),
        ("write", Direction::Write),
        ("mixed", Direction::Mixed),
    ];
    let is_there = |job: &Value, key: &str| match key {
        "mixed" => job.get(key).is_some(),
        _ => job.get(key).is_some() || job.get("mixed").is_none(),
    };
    let is_sum = |job: &&Value| job.get("jobname").and_then(Value::as_str) == Some("All clients");
    let is_alone = jobs.len() == 1;
    let jobs = jobs.iter().filter(|job| is_alone || !is_sum(job));
    let results = jobs.flat_map(|job| {
        let there = directions.into_iter().filter(|(key, _)| is_there(job, key));
        there.map(|(key, direction)| of_job(line, job, key, direction))
    });
    let results: Vec<Option<Option<Job>>> = results.collect();
    if results.iter().any(Option::is_none) {
        let expected =
            "io_bytes, bw, iops and runtime of each job in the JSON document that begins here";
        found.damaged(line.damage(TOOL, expected));
    }
    results.into_iter().flatten().flatten().collect()
}

/// Returns the results of a job in a direction; `Some(None)` if it moved nothing.
fn of_job(line: Line, job: &Value, key: &str, direction: Direction) -> Option<Option<Job>> {
    let figures = job.get(key)?;
    let number = |key: &str| {
        let value = figures.get(key)?.as_f64();
        value.filter(|value| (0.0..LARGEST).contains(value))
    };
    // Before version 3, rates were in KiB.
    let (bytes_per_s, printed) = match figures.get("bw_bytes") {
        Some(rate) => (number("bw_bytes")?, format!("{rate} B/s")),
        None => {
            let rate = figures.get("bw")?;
            (number("bw")? * KIB as f64, format!("{rate} KiB/s"))
        }
    };
    number("runtime")?;
    let name = job.get("jobname")?.as_str()?.to_owned();
    let result = Job {
        line: line.number,
        run: line.number,
        name: Some(name),
        direction,
        bytes_per_s,
        least_bytes_per_s: bytes_per_s,
        printed,
        operations_per_s: number("iops")?,
        errno: job.get("error").and_then(Value::as_i64).unwrap_or(0),
        percentiles_ns: [None; 2],
    };
    Some((number("io_bytes")? > 0.0).then_some(result))
}

/// Returns the fields of a terse line of version 3, if the line is one.
fn terse_fields(line: Line<'_>) -> Result<Option<Vec<&str>>, Damage> {
    let text = line.unquoted();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || !text[digits..].starts_with(";fio-") {
        return Ok(None);
    }
    if &text[..digits] != "3" {
        return Err(line.damage(TOOL, "version 3 of the terse output"));
    }
    Ok(Some(text.split(';').collect()))
}

fn of_line(line: Line) -> Result<Vec<Job>, Damage> {
    let fields = terse_fields(line)?;
    fields.map_or(Ok(Vec::new()), |fields| of_terse(line, &fields))
}

/// First field of reads and of writes.
const TERSE_STARTS: [(usize, Direction); 2] = [(5, Direction::Read), (46, Direction::Write)];

fn of_terse(line: Line, fields: &[&str]) -> Result<Vec<Job>, Damage> {
    let number = |at: usize| {
        let number = fields.get(at).and_then(|field| number::digits(field));
        number.ok_or_else(|| line.damage(TOOL, "whole numbers in fields 5, 6 to 9 and 47 to 50"))
    };
    let mut jobs = Vec::new();
    for (start, direction) in TERSE_STARTS {
        let (kib, rate) = (number(start)?, number(start + 1)?);
        let (iops, _) = (number(start + 2)?, number(start + 3)?);
        if kib == 0 {
            continue;
        }
        let too_large = || line.damage(TOOL, "numbers that fit into 64 bits");
        jobs.push(Job {
            line: line.number,
            run: 0,
            name: fields.get(2).map(|name| (*name).to_owned()),
            direction,
            bytes_per_s: rate as f64 * KIB as f64,
            least_bytes_per_s: rate as f64 * KIB as f64,
            printed: format!("{rate} KiB/s"),
            operations_per_s: iops as f64,
            errno: i64::try_from(number(4)?).map_err(|_| too_large())?,
            percentiles_ns: [None; 2],
        });
    }
    Ok(jobs)
}

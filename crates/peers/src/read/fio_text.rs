//! The human output of fio, versions 2 and 3.
//!
//! Job by job; the sums over groups at its end are not read. Numbers are shortened to four
//! characters, by version 2 to six. A rate stands beside bytes and span, and mostly beside the
//! number of operations and the block size too: all must agree.

mod figures;
mod latency;
mod setup;

use super::{FioDirection, Line, Parts, Rate, ReadError, lines, whole};
use figures::{Figures, Shown};
use latency::Latencies;
use setup::{Job, Setups};

pub use latency::{FioLatency, FioPercentile};
pub use setup::FioSetup;

const TOOL: &str = "fio";
/// How lines begin that come behind those of a job's directions.
const LAST: [&str; 3] = ["cpu ", "IO depths", "Run status group"];

/// What one job, or a group of them, did in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct FioTextReading {
    /// Number of the line with its rate, from 1.
    pub line: usize,
    /// Name of the job, or of the first of several whose figures are summed; none where the line
    /// with the name is missing.
    pub job: Option<String>,
    /// Number of its group, with the name.
    pub group: Option<u32>,
    /// Number of jobs whose figures are summed, with the name.
    pub jobs_count: Option<u32>,
    /// The system's number of the error that ended the job, or 0, with the name.
    pub errno: Option<i64>,
    /// What the job was told to do; none where that is missing or not the same for all summed.
    pub setup: Option<FioSetup>,
    /// Reads or writes.
    pub direction: FioDirection,
    /// The rate, as printed in the one of its two units that says more. For decimals version 2
    /// prints the remainder of its division: they are left out here.
    pub rate: Rate,
    /// Whether the unit of the rate says how many bytes its K or M are. That of version 2 does not:
    /// 1024 and 1024², unless fio was told otherwise.
    pub unit_stated: bool,
    /// Operations a second: their number over the span where it is told, which says more than the
    /// print, cut to whole ones and above 9999 shortened.
    pub operations_per_s: f64,
    /// Operations, where they are told.
    pub operations_count: Option<u64>,
    /// Bytes moved, as good as printed.
    pub bytes: u64,
    /// The span, nanoseconds; fio keeps whole milliseconds.
    pub span_ns: u64,
    /// Percentiles of latencies, where they are printed.
    pub percentiles: Vec<FioPercentile>,
}

/// Reads what each job did, in order; a job that read and wrote yields two readings.
///
/// # Errors
/// When the text has no human output of fio, or a part of it is not whole or contradicts another.
pub fn read_fio_text(text: &str) -> Result<Vec<FioTextReading>, ReadError> {
    let expected = "lines such as `read: IOPS=3110, BW=12.1MiB/s (12.7MB/s)(16.0MiB/1317msec)`";
    whole(fio_text_parts(text), TOOL, expected)
}

/// The jobs that are whole, and of each other one its first line that is not.
pub(crate) fn fio_text_parts(text: &str) -> Parts<Vec<FioTextReading>> {
    let mut output = Output::default();
    let mut errors = Vec::new();
    for line in lines(text) {
        if let Err(error) = output.read(line) {
            errors.push(error);
            output.lose();
        }
    }
    (output.readings, errors)
}

#[derive(Default)]
struct Output<'a> {
    readings: Vec<FioTextReading>,
    setups: Setups<'a>,
    /// The job whose lines these are.
    job: Option<Job<'a>>,
    /// Place of its first reading.
    first: usize,
    /// The IOPS of its readings.
    operations: Vec<Shown>,
    /// Whether the lines of its directions are over.
    is_over: bool,
    /// Whether lines of latencies are those of the last reading.
    is_open: bool,
    /// Whether a line could not be read: nobody knows whose the next ones are, up to one that names
    /// a job.
    is_lost: bool,
    latencies: Latencies,
}

impl<'a> Output<'a> {
    fn read(&mut self, line: Line<'a>) -> Result<(), ReadError> {
        let text = line
            .text
            .trim_start_matches(['>', '|', ' ', '\t'])
            .trim_end();
        if text.is_empty() {
            return Ok(());
        }
        if self.is_lost {
            if let Some(job) = Job::parse(line, text)? {
                self.start(Some(job));
            }
            return Ok(());
        }
        let open = self.readings.last_mut().filter(|_| self.is_open);
        if text.contains("th=[") {
            return self.latencies.row(line, text, open);
        }
        self.latencies.end_rows();
        if self.setups.read(line, text)? {
            return Ok(());
        }
        if let Some(job) = Job::parse(line, text)? {
            self.start(Some(job));
        } else if let Some((direction, figures)) = figures::direction(text) {
            self.is_open = false;
            match direction {
                Some(direction) => self.direction(line, direction, figures)?,
                // Trims and sums of both directions.
                None => self.latencies = Latencies::default(),
            }
        } else if let Some(rest) = text.strip_prefix("issued") {
            self.issued(line, rest)?;
            self.end();
        } else if LAST.iter().any(|start| text.starts_with(*start)) {
            self.end();
        } else {
            self.latencies.read(line, text, open)?;
        }
        Ok(())
    }

    fn start(&mut self, job: Option<Job<'a>>) {
        self.job = job;
        self.first = self.readings.len();
        self.operations.clear();
        self.is_over = false;
        self.is_open = false;
        self.is_lost = false;
        self.latencies = Latencies::default();
    }

    /// Forgets a job whose lines are not over: one of them contradicts it, or is not known.
    fn lose(&mut self) {
        if !self.is_over {
            self.readings.truncate(self.first);
        }
        self.is_lost = true;
    }

    fn end(&mut self) {
        self.is_over = true;
        self.is_open = false;
    }

    /// A line of figures. Where the job's lines are over, or it has that direction already, the
    /// line that names another job is missing, unless the text names none.
    fn direction(
        &mut self,
        line: Line,
        direction: FioDirection,
        figures: &str,
    ) -> Result<(), ReadError> {
        let mut of_job = self.readings.iter().skip(self.first);
        let is_next = self.is_over || of_job.any(|reading| reading.direction == direction);
        if is_next && self.job.is_some() {
            return Err(line.error(TOOL, "`NAME: (groupid=0, jobs=1): …` before this"));
        }
        if is_next {
            self.start(None);
        }
        let figures = Figures::parse(line, figures)?;
        let setup = self.setups.of(self.job.as_ref(), direction);
        let jobs_count = self.job.as_ref().map(|job| job.jobs_count);
        if let Some(setup) = &setup
            && !figures.agrees(setup, jobs_count.unwrap_or(1))
        {
            let expected = "IOPS and a rate that agree with the block size told above";
            return Err(line.error(TOOL, expected));
        }
        self.operations.push(figures.operations);
        self.readings.push(FioTextReading {
            line: line.number,
            job: self.job.as_ref().map(|job| job.name.to_owned()),
            group: self.job.as_ref().map(|job| job.group),
            jobs_count,
            errno: self.job.as_ref().map(|job| job.errno),
            setup,
            direction,
            rate: figures.rate,
            unit_stated: figures.unit_stated,
            operations_per_s: figures.operations.value,
            operations_count: None,
            bytes: figures.bytes,
            span_ns: figures.span_ns,
            percentiles: Vec::new(),
        });
        self.latencies = Latencies::default();
        self.is_open = true;
        Ok(())
    }

    /// Operations issued: `rwts: total=1992,2104,0,0 short=…`, by version 2
    /// `: total=r=1992/w=2104/d=0, short=…`.
    fn issued(&mut self, line: Line, text: &str) -> Result<(), ReadError> {
        let Some((_, totals)) = text.split_once("total=") else {
            return Ok(());
        };
        let mut counts = totals.split([',', '/', ' ']).map(|count| {
            let count = count.trim_start_matches(['r', 'w', '=']);
            count.parse::<u64>().ok()
        });
        let (Some(Some(reads)), Some(Some(writes))) = (counts.next(), counts.next()) else {
            return Err(line.error(TOOL, "numbers of reads and writes behind `total=`"));
        };
        let of_job = self.readings.iter_mut().skip(self.first);
        for (reading, shown) in of_job.zip(&self.operations) {
            let count = match reading.direction {
                FioDirection::Read => reads,
                FioDirection::Write => writes,
            };
            let per_s = figures::per_s(count as f64, reading.span_ns);
            if !shown.may_be(per_s) {
                let expected = "numbers of operations that agree with the IOPS above";
                return Err(line.error(TOOL, expected));
            }
            reading.operations_count = Some(count);
            reading.operations_per_s = per_s;
        }
        Ok(())
    }
}

//! Results of fio, from any form of its output.

mod data;
mod figures;
mod job;
mod latency;
mod text;

use std::collections::BTreeMap;

use crate::form::{Role, Span};
use crate::reading::Found;
use crate::text::Line;
use job::{Direction, Job, TOOL};

/// Longest name of a job in an id, in characters.
const MOST_NAME: usize = 40;
/// Largest difference of a shortened figure of the human output, relative to the exact one.
const MOST_SHORTENED: f64 = 0.01;

/// Exact results of a name and direction that are compared with a job of the human output.
const MOST_ALIKE: usize = 16;

/// Reads the jobs, each direction by itself. Of jobs that the JSON of a run has, the human output
/// is left out: it holds the same figures, rounded. With others it is of another run.
pub(crate) fn read(text: &str, lines: &[Line], found: &mut Found) {
    let mut names = Names::default();
    let exact = data::jobs(text, lines, found);
    for job in &exact {
        found.add(job.reading(&names.id(job)));
    }
    let key = |job: &Job| (job.name.clone(), job.direction);
    let mut alike = BTreeMap::<_, Vec<Job>>::new();
    for job in exact.into_iter().rev() {
        alike.entry(key(&job)).or_default().push(job);
    }
    for job in text::jobs(lines, found) {
        let of_name = alike.entry(key(&job)).or_default();
        let first = of_name.len().saturating_sub(MOST_ALIKE);
        let same = (first..of_name.len()).rfind(|&at| job.is_shortened(&of_name[at]));
        if let Some(same) = same {
            of_name.remove(same);
            if let Some(line) = lines.get(job.line.wrapping_sub(1)) {
                let all = Span::new(0..line.text.len(), Role::Known);
                found.take(*line, vec![all]);
            }
        } else {
            found.add(job.reading(&names.id(&job)));
        }
    }
}

impl Job {
    /// Returns whether this is the human output of an exact result of the same name and direction.
    fn is_shortened(&self, exact: &Self) -> bool {
        let is_near = |shown: f64, exact: f64| (shown - exact).abs() <= MOST_SHORTENED * exact;
        is_near(self.bytes_per_s, exact.bytes_per_s)
            && is_near(self.operations_per_s, exact.operations_per_s)
    }
}

/// Ids in use, by run.
#[derive(Default)]
struct Names {
    counts: BTreeMap<(usize, String), u32>,
}

impl Names {
    /// Returns an id made of the job's name; a second job of that name in a run gets a number.
    fn id(&mut self, job: &Job) -> String {
        let direction = match job.direction {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Mixed => "mixed",
        };
        let name = job.name.as_deref().and_then(plain_name);
        let base = name.map_or_else(|| TOOL.to_owned(), |name| format!("{TOOL}_{name}"));
        let key = (job.run, format!("{base}_{direction}"));
        let count = self.counts.entry(key).or_default();
        *count += 1;
        match *count {
            1 => format!("{base}_{direction}"),
            number => format!("{base}_{number}_{direction}"),
        }
    }
}

/// A job's name in lower-case letters, digits and `_`; none if it is a path.
fn plain_name(job: &str) -> Option<String> {
    let parts = job.split(|c: char| !c.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let name: String = parts.join("_").to_ascii_lowercase();
    let name: String = name.chars().take(MOST_NAME).collect();
    (!job.contains(['/', '\\']) && !name.is_empty()).then_some(name)
}

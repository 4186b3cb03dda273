//! Reads what other tools printed and returns what a record needs.
//!
//! Pure. Each tool has one reader, from text to metrics in bytes, nanoseconds and operations per
//! second. Whole reports (PiBenchmarks, Raspberry Pi Diagnostics, CrystalDiskMark, KDiskMark) and
//! rows of tables are one record each. Results of single tools belong to one record until a test
//! comes a second time: then the next record begins.
//!
//! A metric has the id of our suites if the workload is the same, otherwise one that names tool and
//! workload. A record keeps numbers with their units, never lines of the text.

mod agnostics;
mod dd;
mod ddrescue;
mod diskmark;
mod disks;
mod f3;
mod figure;
mod fio;
mod form;
mod h2testw;
mod hdparm;
mod heading;
mod imported;
mod iozone;
mod metrics;
mod normal;
mod number;
mod pibenchmarks;
#[cfg(test)]
mod properties;
mod quiet;
mod reading;
mod records;
mod section;
mod spaced;
mod table;
mod text;
mod trouble;
mod yabs;

use std::collections::BTreeMap;

pub use figure::{FigureError, figures};
pub use imported::Imported;
pub use metrics::{KnownMetric, tool_metrics};
pub use normal::decoded;
pub use quiet::NotUnderstood;

use heading::Names;
use reading::Found;
use text::{Line, lines, plain};

/// Content of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// Parts of each record, in the order of the text.
    pub records: Vec<Imported>,
    /// Lines with numbers that are in no record.
    pub not_understood: Vec<NotUnderstood>,
}

/// Bytes of the longest text in which lines that a mail program wrapped are joined.
const MOST_WRAPPED_BYTES: usize = 64 << 10;

/// Reads what other tools printed. Tables are read if their headings name some of the `known`
/// metrics.
pub fn import(text: &str, known: &[KnownMetric]) -> Import {
    let text = plain(&normal::normalised(text));
    let found = read(&text, known);
    if !found.records.is_empty() || text.len() > MOST_WRAPPED_BYTES {
        return found;
    }
    // Lines that a mail program wrapped are joined only if nothing can be read as it is.
    let unwrapped = [0, 1].map(|from| normal::unwrapped(&text, from));
    let others = unwrapped.iter().flatten().map(|text| read(text, known));
    let figures = |one: &Import| {
        one.records
            .iter()
            .map(|record| record.metrics.len())
            .sum::<usize>()
    };
    let best = others.max_by_key(figures).filter(|one| figures(one) > 0);
    best.unwrap_or(found)
}

fn read(text: &str, known: &[KnownMetric]) -> Import {
    let lines: Vec<Line> = lines(text).collect();
    let mut found = found(text, &lines, known);
    let understood = std::mem::take(&mut found.understood);
    let reasons = reasons(&found);
    let records = records::records(found);
    let not_understood = quiet::not_understood(&lines, &understood, reasons, &records);
    Import {
        records,
        not_understood,
    }
}

/// Bytes of the shortest line that most tools print.
const SHORTEST: usize = 4;

/// Everything that the readers find.
fn found(text: &str, lines: &[Line], known: &[KnownMetric]) -> Found {
    let mut found = Found::default();
    section::read(lines, &mut found);
    pibenchmarks::read(lines, &mut found);
    let has_table = !found.reports.is_empty();
    let long = lines.iter().filter(|line| line.text.len() >= SHORTEST);
    let long: Vec<Line> = long.copied().collect();
    agnostics::read(&long, &mut found);
    diskmark::read(&long, &mut found);
    hdparm::read(&long, has_table, &mut found);
    dd::read(lines, has_table, &mut found);
    iozone::read(lines, &mut found);
    fio::read(text, lines, &mut found);
    ddrescue::read(&long, &mut found);
    f3::read(&long, &mut found);
    h2testw::read(&long, &mut found);
    yabs::read(&long, &mut found);
    disks::read(&long, &mut found);
    let names = Names::of(known);
    table::read(lines, &names, &mut found);
    spaced::read(lines, &names, &mut found);
    trouble::read(&long, &mut found);
    found.count_damaged();
    found
}

/// Reasons for lines that were not understood, by line.
fn reasons(found: &Found) -> BTreeMap<usize, String> {
    let mut reasons = BTreeMap::new();
    for damage in &found.damages {
        let reason = match damage.tool {
            table::TABLE => format!("expected {}", damage.expected),
            tool => format!("not as {tool} prints it: expected {}", damage.expected),
        };
        reasons.entry(damage.line).or_insert(reason);
    }
    for (line, detail) in &found.troubles {
        reasons.entry(*line).or_insert(detail.clone());
    }
    reasons
}

#[cfg(test)]
mod tests {
    use cardmark_core::Quantity;

    use super::{KnownMetric, import};
    use crate::text::work;

    /// Bytes that the readers look at for each byte of a text.
    const MOST_WORK: u64 = 250;

    #[test]
    fn work_grows_as_the_text_does() {
        let ids = ["hdparm_t", "dd_write", "iozone_read", "iozone_random_read"];
        let known = ids.map(|id| KnownMetric::new(id, Quantity::ByteRate));
        let patterns = [
            "xx;1\n",
            "xx;1\ty|2\n",
            "a|1|2\nb|3\n",
            "x | 21.5 MB/s | 3\n",
            "hdparm_t;x\n",
            "One sentence of plain prose about a card that reads 20 MB/s and writes less.\n",
            "read write read write read write read write read write read write read write\n",
            "4k read 4k write 1k read 2k read 3k read 5k read 6k read 7k read 8k random read\n",
            "hdparm dd write 16m seq. read 4k random read 4k read 1k read 2k read 3k read\n",
            "hdparm_t;",
            "4k read|",
        ];
        for pattern in patterns {
            for count in [40, 160] {
                let text = pattern.repeat(count);
                work::take();
                let _ = import(&text, &known);
                let most = MOST_WORK * text.len() as u64;
                let looked_at = work::take();
                assert!(
                    looked_at < most,
                    "{pattern:?} × {count}: {looked_at} of {most}"
                );
            }
        }
    }
}

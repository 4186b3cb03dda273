//! Programs that write to a card, in words.

use cardmark_judge::{ProgramWrites, Writing};

use crate::answer::{AnswerBlock, KeyFigure};
use crate::text::amount;
use crate::text::style::clean;

/// Programs that are shown.
const MOST_PROGRAMS: usize = 5;
/// Characters of the name of a file; its end says most.
const MOST_CHARACTERS: usize = 36;
const DAY_S: u64 = 86_400;

/// Returns what writes to a card, as amounts of a day if it goes on like this.
#[must_use]
pub fn answer_of_writers(writing: &Writing) -> AnswerBlock {
    let disks = writing.disks.join(", ");
    let span_s = writing.span_s.max(1);
    let a_day = |bytes: u64| {
        let bytes = u128::from(bytes) * u128::from(DAY_S) / u128::from(span_s);
        format!("{} a day", amount(u64::try_from(bytes).unwrap_or(u64::MAX)))
    };
    let sentence = match writing.disk_bytes {
        Some(0) => format!("Nothing was written to `{disks}` in {span_s} s"),
        Some(bytes) => format!(
            "`{disks}` is written {} if it goes on as in these {span_s} s",
            a_day(bytes)
        ),
        None => format!("`{disks}` does not count what is written to it"),
    };
    let figure = |program: &ProgramWrites| KeyFigure {
        id: "program".to_owned(),
        name: clean(&program.program),
        cells: vec![a_day(program.bytes)],
        word: program
            .files
            .first()
            .map_or_else(String::new, |file| tail(file)),
    };
    let mut open = Vec::new();
    let left = writing.programs.len().saturating_sub(MOST_PROGRAMS);
    if left > 0 {
        open.push(format!("{left} more programs write less"));
    }
    if !writing.sees_all {
        open.push("Not seen: programs of other users, which only root may see".to_owned());
    }
    if !writing.has_files {
        open.push("Not seen: names of files".to_owned());
    }
    if !writing.programs.is_empty() {
        open.push(
            "Amounts of programs include other disks, and each change of the same data".to_owned(),
        );
    }
    AnswerBlock {
        sentence,
        sides: vec![String::new()],
        figures: writing
            .programs
            .iter()
            .take(MOST_PROGRAMS)
            .map(figure)
            .collect(),
        open,
        ..AnswerBlock::default()
    }
}

/// The end of a path.
fn tail(path: &str) -> String {
    let path = clean(path);
    let excess = path.chars().count().saturating_sub(MOST_CHARACTERS);
    match excess {
        0 => path,
        _ => format!("…{}", path.chars().skip(excess + 1).collect::<String>()),
    }
}

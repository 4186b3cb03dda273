//! `cardmark explain`.

use cardmark_catalog::{
    Answer, Explanation, Group, Known, answered, explanation, explanations, look_up, nearest_terms,
    product, search,
};
use cardmark_report::{name_table, vocabulary, wrap};
use serde_json::{Value, json};

use crate::args::ExplainArguments;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Share of a question that an explanation holds, all of it and its best title or question, if it is shown at once.
const MOST_OF_IT: f64 = 0.5;
const FIT: f64 = 0.4;

/// Explains a word, or lists what can be explained.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Exit, CommandError> {
    let text = if arguments.words.is_empty() {
        list(arguments.json)
    } else {
        explained(&arguments.words.join(" "), arguments.json)?
    };
    print::output(arguments.json, &text)?;
    Ok(Exit::Done)
}

/// Explanation of a term; the terms of a group; the explanation with this question; or else a product or board, or
/// what a search finds.
fn explained(word: &str, as_json_text: bool) -> Result<String, CommandError> {
    if let Some(found) = explanation(word) {
        return Ok(one(&found, as_json_text));
    }
    if let Some(group) = Group::of(word) {
        return Ok(match as_json_text {
            true => all_as_json(group.rows()),
            false => titles(group.title(), group.rows()),
        });
    }
    // `Kingston SSD` is a product, not a question about SSDs.
    let is_question = product(word).is_none();
    if let Some(found) = answered(word).filter(|_| is_question) {
        return Ok(one(&found, as_json_text));
    }
    let found = look_up(word);
    if found.found.is_empty() {
        return searched(word, as_json_text);
    }
    Ok(match as_json_text {
        true => format!("{:#}\n", rows_as_json(&found.found)),
        false => vocabulary(word, &found, print::width()),
    })
}

fn one(found: &Explanation, as_json_text: bool) -> String {
    match as_json_text {
        true => format!("{:#}\n", as_json(found)),
        false => page(found, print::width()),
    }
}

fn searched(word: &str, as_json_text: bool) -> Result<String, CommandError> {
    let found = search(word);
    let rows = |answers: &[Answer]| -> Vec<&'static Explanation> {
        answers.iter().map(|answer| answer.explanation).collect()
    };
    Ok(match found.as_slice() {
        [] => return Err(unknown(word)),
        all if as_json_text => all_as_json(rows(all).into_iter()),
        [best, others @ ..] if best.share >= MOST_OF_IT && best.fit >= FIT => {
            let page = page(best.explanation, print::width());
            match others {
                [] => page,
                _ => format!("{page}\n{}", titles("See also", rows(others).into_iter())),
            }
        }
        all => titles(
            &format!("`{word}` is explained under"),
            rows(all).into_iter(),
        ),
    })
}

/// A heading, and terms with their titles.
fn titles<'a>(heading: &str, rows: impl Iterator<Item = &'a Explanation>) -> String {
    let rows = rows
        .map(|row| (row.id.clone(), row.title.clone()))
        .collect();
    format!("{heading}:\n{}", name_table(rows, print::width()))
}

fn all_as_json<'a>(rows: impl Iterator<Item = &'a Explanation>) -> String {
    let all: Vec<_> = rows.map(as_json).collect();
    format!("{:#}\n", json!(all))
}

fn unknown(word: &str) -> CommandError {
    let made = CommandError::new(Exit::Usage, format!("no explanation of `{word}`"));
    match nearest_terms(word).as_slice() {
        [] => made.hint(
            "`cardmark explain` alone lists what can be explained; products and boards are found by a \
             part of their name",
        ),
        near => made.hint(format!("perhaps: {}", near.join(", "))),
    }
}

fn page(explanation: &Explanation, width: usize) -> String {
    let width = width.min(100);
    let mut lines = wrap(&explanation.title, width, 0);
    lines.push(String::new());
    lines.extend(wrap(explanation.text.trim(), width, 0));
    lines.push(String::new());
    lines.extend(wrap(&format!("source: {}", explanation.source), width, 2));
    lines.join("\n") + "\n"
}

fn list(as_json_text: bool) -> String {
    if as_json_text {
        return all_as_json(explanations().iter());
    }
    let width = print::width();
    let group = |group: Group| {
        let terms: Vec<&str> = group.rows().map(|row| row.id.as_str()).collect();
        let heading = format!("{} (`cardmark explain {}`)", group.title(), group.name());
        let mut lines = wrap(&heading, width, 2);
        let terms = wrap(&terms.join(", "), width.saturating_sub(2), 0);
        lines.extend(terms.iter().map(|line| format!("  {line}")));
        lines
    };
    let others = "Also explained: each field of the registers CID, CSD, SCR and SSR, such as ERASE_TIMEOUT; \
                  products and boards by name, part of a name, model number or revision code, such as \
                  `Evo Plus`, `Zero 2 W`, `MB-MC64KA`, `902120`. Or ask: `cardmark explain why is my card slow`.";
    let groups = Group::ALL.into_iter().flat_map(group);
    let lines = groups.chain(wrap(others, width, 0));
    lines.map(|line| line + "\n").collect()
}

fn as_json(explanation: &Explanation) -> Value {
    json!({
        "id": explanation.id,
        "group": explanation.group,
        "aliases": explanation.aliases,
        "title": explanation.title,
        "text": explanation.text,
        "source": explanation.source,
    })
}

/// One row as an object, several as a list.
fn rows_as_json(rows: &[Known]) -> Value {
    match rows {
        [one] => row_as_json(*one),
        _ => rows.iter().map(|row| row_as_json(*row)).collect(),
    }
}

fn row_as_json(row: Known) -> Value {
    match row {
        Known::Line(line) => json!({
            "kind": "product_line",
            "id": line.id,
            "name": line.name(),
            "aliases": line.aliases,
            "model_numbers": line.model_numbers,
            "year": line.year,
            "availability": line.availability,
            "known_sold": line.known_sold,
            "successor": line.successor,
            "command_queue": line.command_queue,
            "claims": line.claims,
            "registers": line.registers,
            "note": line.note,
            "source": line.source,
            "sources": line.sources,
        }),
        Known::Product(product) => json!({
            "kind": "product",
            "id": product.id,
            "name": product.name(),
            "model_numbers": product.model_numbers,
            "capacity_bytes": product.capacity_bytes,
            "claims": product.claims,
            "note": product.note,
            "source": product.source,
        }),
        Known::Board(board) => json!({
            "kind": "board",
            "id": board.id,
            "name": board.name,
            "aliases": board.aliases,
            "models": board.models,
            "revision_codes": board.revision_codes,
            "year": board.year,
            "availability": board.availability,
            "production_until": board.production_until,
            "bus_modes": board.bus_modes,
            "most_clock_hz": board.most_clock_hz,
            "lines_count": board.lines_count,
            "most_slot_bytes_per_s": board.most_slot_bytes_per_s(),
            "command_queue": board.command_queue,
            "overclock": board.overclock,
            "notes": board.notes,
            "source": board.source,
            "sources": board.sources,
        }),
    }
}

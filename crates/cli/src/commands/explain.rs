//! `cardmark explain`.

use cardmark_catalog::{Explanation, Known, explanation, explanations, look_up, nearest};
use cardmark_report::{vocabulary, wrap};
use serde_json::{Value, json};

use crate::args::ExplainArguments;
use crate::error::{CommandError, Exit};
use crate::print;

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

/// Explanation of a term, or else of a product or board.
fn explained(word: &str, as_json_text: bool) -> Result<String, CommandError> {
    if let Some(found) = explanation(word) {
        return Ok(match as_json_text {
            true => format!("{:#}\n", as_json(&found)),
            false => page(&found, print::width()),
        });
    }
    let found = look_up(word);
    if found.found.is_empty() {
        return Err(unknown(word));
    }
    Ok(match as_json_text {
        true => format!("{:#}\n", rows_as_json(&found.found)),
        false => vocabulary(word, &found, print::width()),
    })
}

fn unknown(word: &str) -> CommandError {
    let made = CommandError::new(Exit::Usage, format!("no explanation of `{word}`"));
    match nearest(word).as_slice() {
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
        let all: Vec<_> = explanations().iter().map(as_json).collect();
        return format!("{:#}\n", json!(all));
    }
    let width = print::width();
    let lines = explanations().iter().flat_map(|explanation| {
        wrap(
            &format!("{}: {}", explanation.id, explanation.title),
            width,
            2,
        )
    });
    let fields =
        "and each field of the registers CID, CSD, SCR and SSR by its name, such as ERASE_TIMEOUT";
    let names = "and products and boards by name, part of a name, model number or revision code, such as \
                 `Evo Plus`, `Zero 2 W`, `MB-MC64KA`, `902120`";
    lines
        .chain(wrap(fields, width, 2))
        .chain(wrap(names, width, 2))
        .map(|line| line + "\n")
        .collect()
}

fn as_json(explanation: &Explanation) -> Value {
    json!({
        "id": explanation.id,
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

//! `cardmark explain`.

use cardmark_catalog::{Explanation, explanation, explanations, nearest};
use cardmark_report::wrap;
use serde_json::json;

use crate::args::ExplainArguments;
use crate::error::{CommandError, Exit};
use crate::print;

/// Explains a word, or lists what can be explained.
pub(crate) fn explain(arguments: &ExplainArguments) -> Result<Exit, CommandError> {
    let text = if arguments.words.is_empty() {
        list(arguments.json)
    } else {
        let word = arguments.words.join(" ");
        let found = explanation(&word).ok_or_else(|| unknown(&word))?;
        if arguments.json {
            format!("{:#}\n", as_json(&found))
        } else {
            page(&found, print::width())
        }
    };
    print::result(&text)?;
    Ok(Exit::Done)
}

fn unknown(word: &str) -> CommandError {
    let made = CommandError::new(Exit::Usage, format!("no explanation of `{word}`"));
    match nearest(word).as_slice() {
        [] => made.hint("`cardmark explain` alone lists what can be explained"),
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
    lines
        .chain(wrap(fields, width, 2))
        .map(|line| line + "\n")
        .collect()
}

fn as_json(explanation: &Explanation) -> serde_json::Value {
    json!({
        "id": explanation.id,
        "aliases": explanation.aliases,
        "title": explanation.title,
        "text": explanation.text,
        "source": explanation.source,
    })
}

//! `cardmark watch`.

use cardmark_report::{answer_of_look, look_json};
use cardmark_session::{LookRequest, States, watch as look_at};
use serde_json::Value;

use crate::args::{WatchArguments, WatchFormat};
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Looks once at each target, and shows what happened since the last look.
pub(crate) fn watch(arguments: &WatchArguments) -> Result<Exit, CommandError> {
    let states = States::from_environment().ok_or_else(|| {
        CommandError::new(
            Exit::Trouble,
            "there is no place for the state between looks",
        )
        .hint("set HOME or XDG_STATE_HOME")
    })?;
    let targets: Vec<Option<String>> = match arguments.targets.as_slice() {
        [] => vec![None],
        named => named.iter().cloned().map(Some).collect(),
    };
    let mut documents = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let looked = look_at(
            &states,
            &LookRequest {
                target: target.clone(),
                acknowledged: arguments.acknowledge.map(|acknowledged| acknowledged.0),
                product: arguments.product.clone(),
            },
        )?;
        for note in &looked.notes {
            print::notice(&format!("note: {note}"));
        }
        if arguments.acknowledge.is_some() {
            let count = looked.acknowledged_count;
            print::notice(&format!("{} acknowledged", count_of(count)));
        }
        let name = looked.target.display().to_string();
        if arguments.format == WatchFormat::Json {
            documents.push(look_json(&name, &looked.look, &looked.seen));
            continue;
        }
        let mut lines =
            answer_of_look(&looked.look, &looked.seen).lines(print::width(), print::style());
        if targets.len() > 1 {
            lines.insert(0, format!("{name}:"));
            if index > 0 {
                lines.insert(0, String::new());
            }
        }
        print::result(&(lines.join("\n") + "\n"))?;
    }
    match arguments.format {
        WatchFormat::Json => print::data(&print::pretty(&of_targets(documents))?)?,
        WatchFormat::Text => {}
    }
    Ok(Exit::Done)
}

fn count_of(count: usize) -> String {
    match count {
        1 => "1 event".to_owned(),
        _ => format!("{count} events"),
    }
}

/// One document, or a list of several.
fn of_targets(mut documents: Vec<Value>) -> Value {
    match documents.len() {
        1 => documents.remove(0),
        _ => Value::Array(documents),
    }
}

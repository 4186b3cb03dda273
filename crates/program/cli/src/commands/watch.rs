//! `cardmark watch`.

mod units;

use std::time::Duration;

use cardmark_judge::Gravity;
use cardmark_report::{
    ShownLook, Style, answer_of_look, answer_of_writers, gravity_of_looks, login_line, look_json,
    look_nagios, look_prometheus,
};
use cardmark_session::{LookRequest, Looked, States, watch as look_at, writers};
use serde_json::Value;

use crate::args::{WatchArguments, WatchFormat};
use crate::error::{CommandError, Exit};
use crate::terminal::{TERMINAL, print};

/// Looks once at each target, and shows what happened since the last look; or installs what repeats that.
pub(crate) fn watch(arguments: &WatchArguments) -> Result<Exit, CommandError> {
    if arguments.uninstall {
        return units::uninstall();
    }
    if arguments.install {
        return units::install(arguments);
    }
    if let Some(span) = arguments.writers {
        return show_writers(&arguments.targets, span);
    }
    match look_and_show(arguments) {
        Err(error) if arguments.format == WatchFormat::Nagios => {
            let causes = error.causes.iter().map(|cause| format!(": {cause}"));
            let causes: String = causes.collect();
            print::data(&format!("CARDMARK UNKNOWN: {}{causes}\n", error.what))?;
            Ok(Exit::Trouble)
        }
        other => other,
    }
}

fn show_writers(targets: &[String], span: Duration) -> Result<Exit, CommandError> {
    let [_, _, ..] = targets else {
        let writing = writers(&TERMINAL, targets.first().map(String::as_str), span)?;
        let lines = answer_of_writers(&writing).lines(print::width(), print::style());
        print::result(&(lines.join("\n") + "\n"))?;
        return Ok(Exit::Done);
    };
    Err(CommandError::new(
        Exit::Usage,
        "`--writers` observes one target",
    ))
}

fn look_and_show(arguments: &WatchArguments) -> Result<Exit, CommandError> {
    let output = arguments.output.as_ref();
    let output = output.map(|file| file.destination()).transpose()?;
    let (looked, mut failed) = look_at_all(arguments)?;
    let names: Vec<String> = looked
        .iter()
        .map(|looked| looked.target.display().to_string())
        .collect();
    let shown: Vec<ShownLook<'_>> = looked
        .iter()
        .zip(&names)
        .map(|(looked, target)| ShownLook {
            target,
            look: &looked.look,
            seen: &looked.seen,
        })
        .collect();
    if arguments.login {
        let line = login_line(&shown).map(|line| line + "\n");
        print::result(&line.unwrap_or_default())?;
        return failed.map_or(Ok(Exit::Done), Err);
    }
    // A target without a look hides no alarm of another one, but an older file and an error show it otherwise.
    let gravity = gravity_of_looks(&shown);
    let is_hidden = [WatchFormat::Prometheus, WatchFormat::Nagios].contains(&arguments.format)
        && gravity != Some(Gravity::Alarm);
    if let Some(error) = failed.take_if(|_| is_hidden) {
        return Err(error);
    }
    let text = match arguments.format {
        WatchFormat::Text => text(&shown, output.is_some()),
        WatchFormat::Json => print::pretty(&of_targets(&shown, arguments.targets.len() > 1))?,
        WatchFormat::Prometheus => look_prometheus(&shown, env!("CARGO_PKG_VERSION")),
        WatchFormat::Nagios => look_nagios(&shown),
    };
    match &output {
        Some(destination) => print::to(destination, text.as_bytes())?,
        None => print::output(arguments.format != WatchFormat::Text, &text)?,
    }
    match (arguments.format, failed) {
        (WatchFormat::Nagios, _) => Ok(exit_of_plugin(gravity)),
        (_, Some(error)) => Err(error),
        (_, None) => Ok(Exit::Done),
    }
}

/// The exit whose code monitoring gives another meaning: 0 is good, 1 a warning, 2 critical.
fn exit_of_plugin(gravity: Option<Gravity>) -> Exit {
    match gravity {
        Some(Gravity::Alarm) => Exit::Usage,
        Some(Gravity::Warning) => Exit::Bad,
        Some(Gravity::Note) | None => Exit::Done,
    }
}

/// Looks at all targets. One that cannot be looked at does not keep the others from it; its error is returned beside them.
fn look_at_all(
    arguments: &WatchArguments,
) -> Result<(Vec<Looked>, Option<CommandError>), CommandError> {
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
    let look = |target: Option<String>| -> Result<Looked, CommandError> {
        let looked = look_at(
            &states,
            &LookRequest {
                target,
                acknowledged: arguments.acknowledge.map(|acknowledged| acknowledged.0),
                product: arguments.product.clone(),
            },
        )?;
        if !arguments.login {
            for note in &looked.notes {
                print::notice(&format!("note: {note}"));
            }
        }
        if arguments.acknowledge.is_some() {
            let count = looked.acknowledged_count;
            print::notice(&format!("{} acknowledged", count_of(count)));
        }
        Ok(looked)
    };
    let (mut looked, mut failed) = (Vec::new(), None);
    for result in targets.into_iter().map(look) {
        match result {
            Ok(one) => looked.push(one),
            Err(error) => {
                if let Some(before) = failed.replace(error) {
                    print::error(&before);
                }
            }
        }
    }
    match failed {
        Some(error) if looked.is_empty() => Err(error),
        failed => Ok((looked, failed)),
    }
}

fn count_of(count: usize) -> String {
    match count {
        1 => "1 event".to_owned(),
        _ => format!("{count} events"),
    }
}

/// The answer of each target, with its name if there are several.
fn text(looks: &[ShownLook<'_>], is_file: bool) -> String {
    let style = match is_file {
        true => Style::Plain,
        false => print::style(),
    };
    let texts = looks.iter().map(|shown| {
        let lines = answer_of_look(shown.look, shown.seen).lines(print::width(), style);
        let text = lines.join("\n") + "\n";
        match looks.len() {
            1 => text,
            _ => format!("{}:\n{text}", shown.target),
        }
    });
    let texts: Vec<String> = texts.collect();
    texts.join("\n")
}

/// One document, or a list if several targets were named.
fn of_targets(looks: &[ShownLook<'_>], is_list: bool) -> Value {
    let documents = looks
        .iter()
        .map(|shown| look_json(shown.target, shown.look, shown.seen));
    let mut documents: Vec<Value> = documents.collect();
    match is_list {
        false => documents.remove(0),
        true => Value::Array(documents),
    }
}

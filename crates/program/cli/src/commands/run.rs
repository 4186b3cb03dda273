//! `cardmark run`.

use cardmark_core::{
    CAPACITY_RULE, CLAIMS_LABEL, Record, SECOND_NS, Severity, Suite, TargetKind, VerdictOutcome,
};
use cardmark_engine::Request;
use cardmark_host::{Root, holds_system};
use cardmark_judge::{Promise, REQUIRED_LABEL, families, standing_among};
use cardmark_report::{Beside, place_line, terminal_with};

use crate::args::RunArguments;
use crate::commands::submit::fresh_seed;
use crate::error::{CommandError, Exit};
use crate::runs::again::rates_again;
use crate::runs::labels::{class_label, labels};
use crate::runs::published_records;
use crate::terminal::TERMINAL;
use crate::terminal::print;
use crate::terminal::shell::quoted;
use cardmark_session::file::Destination;
use cardmark_session::{
    Chosen, Data, Measured, Measurement, Session, choose, measure, refuse_used, seed,
};

/// Measures a target, keeps the record, shows it.
pub(crate) fn run(arguments: &RunArguments) -> Result<Exit, CommandError> {
    let json = json_destination(arguments)?;
    let suite = cardmark_catalog::suite(&arguments.suite, None).map_err(|error| {
        CommandError::from_error(Exit::Usage, &error).hint("`cardmark list suites` shows them")
    })?;
    let chosen = choose(&arguments.target)?;
    let mut request = Request {
        only: arguments.only.clone(),
        read_only: arguments.read_only,
        seed: seed(arguments.seed, chosen.kind() == TargetKind::Sim),
        limit_ns: arguments.timeout * SECOND_NS,
        passes_count: arguments.rounds,
        tier: arguments.tier.clone(),
        most_bytes: arguments.bytes,
        until_settled: arguments.until_settled,
    };
    if let Chosen::Real { path, resolution } = &chosen
        && request.writes(&suite)
    {
        refuse_used(path, resolution)?;
    }
    can_be_judged(&suite, &arguments.require)?;
    let data = Data::from_environment()?;
    // Opened before anything is measured: a broken store is reported at once, not after a minute.
    data.open()?;
    if arguments.fresh {
        request.seed = fresh(arguments, &chosen)?;
    }
    let mut labels = labels(&arguments.label, &arguments.claim);
    labels.extend(class_label(REQUIRED_LABEL, &arguments.require));
    let session = Session::new(&TERMINAL, &data, arguments.timeout);
    let job = Measurement {
        session: &session,
        target: &arguments.target,
        suite: &suite,
        request: &request,
        consent: &arguments.consent.given(),
        labels: &labels,
        leave: None,
    };
    let measured = measure(&job, &chosen)?;
    let kept = measured.keep(&data);
    let beside = Beside {
        next: capacity_test(&arguments.target, &chosen, &measured.record),
        all: arguments.all,
        place: place(&measured.record),
        ..Beside::default()
    };
    let shown = show(&measured.record, json.as_ref(), beside, kept.is_ok());
    if kept.is_ok() {
        print::owner(&data);
    }
    let mut exit = measured.exit;
    let missed = unmet(&measured.record, &arguments.require);
    let broken = broken(&measured.record);
    let errors = [
        kept.err(),
        shown.err(),
        incomplete(&measured),
        missed,
        broken,
    ];
    for error in errors.into_iter().flatten() {
        print::error(&error);
        exit = exit.or_worse(error.exit);
    }
    if let Some(error) = measured.keeper.journal_error() {
        print::notice(&format!("warning: the journal could not be kept: {error}"));
    }
    Ok(exit)
}

/// A seed from a results site; simulated cards have none.
fn fresh(arguments: &RunArguments, chosen: &Chosen) -> Result<u64, CommandError> {
    if chosen.kind() == TargetKind::Sim {
        return Err(CommandError::new(
            Exit::Usage,
            "`--fresh` is for storage, not for simulated cards",
        )
        .hint("`--seed N` chooses the seed of a simulated run"));
    }
    fresh_seed(arguments.server.as_ref())
}

/// Refuses classes that the suite does not measure.
fn can_be_judged(suite: &Suite, required: &[String]) -> Result<(), CommandError> {
    let families = families(suite);
    let is_measured = |name: &&String| {
        let class = cardmark_catalog::class(name);
        class.is_some_and(|class| families.contains(&class.family))
    };
    let Some(name) = required.iter().find(|name| !is_measured(name)) else {
        return Ok(());
    };
    let what = format!("suite `{}` does not judge {name}", suite.name);
    Err(CommandError::new(Exit::Usage, what)
        .hint("`--suite app-class` judges A1 and A2, `--suite speed-class` C, U and V"))
}

/// Required classes that are not met or could not be tested. Borderline and likely met count as met.
fn unmet(record: &Record, required: &[String]) -> Option<CommandError> {
    let verdicts = record.derived.as_ref().map(|derived| &derived.verdicts);
    let mut exit = Exit::Done;
    let mut causes = Vec::new();
    for class in required {
        let verdict = verdicts.and_then(|all| all.iter().find(|v| v.rule == *class));
        let (ends, word) = match verdict.map(|verdict| verdict.outcome) {
            Some(
                VerdictOutcome::Pass | VerdictOutcome::LikelyPass | VerdictOutcome::Borderline,
            ) => continue,
            Some(VerdictOutcome::Fail) => (Exit::Bad, "is not met"),
            Some(_) => (Exit::Trouble, "could not be tested here"),
            None => (Exit::Trouble, "was not judged"),
        };
        exit = exit.or_worse(ends);
        let cause = format!("{class} {word}");
        if !causes.contains(&cause) {
            causes.push(cause);
        }
    }
    let mut error = CommandError::new(exit, "required class not met");
    error.causes = causes;
    (exit != Exit::Done).then_some(error)
}

/// Promises on the package that the run contradicts.
fn broken(record: &Record) -> Option<CommandError> {
    let claims = record.labels.get(CLAIMS_LABEL)?;
    let verdicts = record.derived.iter().flat_map(|derived| &derived.verdicts);
    let failed: Vec<&str> = verdicts
        .filter(|verdict| verdict.outcome == VerdictOutcome::Fail)
        .map(|verdict| verdict.rule.as_str())
        .collect();
    let is_broken = |claim: &&str| match Promise::parse(claim) {
        Some(Promise::Capacity(_)) => failed.contains(&CAPACITY_RULE),
        _ => failed.contains(claim),
    };
    let broken: Vec<&str> = claims.split_whitespace().filter(is_broken).collect();
    let what = format!(
        "the card is not what its label claims: {}",
        broken.join(", ")
    );
    (!broken.is_empty()).then(|| CommandError::new(Exit::Bad, what))
}

/// The place of a run of real storage among published cards.
fn place(record: &Record) -> Option<String> {
    let among = standing_among(record, &published_records())?;
    Some(place_line(&among))
}

/// Error of a run that lacks a part, in addition to the table.
fn incomplete(measured: &Measured) -> Option<CommandError> {
    let errors = measured
        .record
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error);
    let mut causes: Vec<String> = errors.map(|finding| finding.detail.clone()).collect();
    causes.dedup();
    if causes.is_empty() {
        return None;
    }
    let is_whole = measured.exit == Exit::Bad;
    let what = if is_whole {
        "the device does not keep what is written to it"
    } else {
        "the run is not complete"
    };
    let mut error = CommandError::new(measured.exit, what);
    error.causes = causes;
    Some(error.hint("what was measured is kept; `cardmark show last` shows it"))
}

/// The command that tests the capacity of the target of this run.
fn capacity_test(target: &str, chosen: &Chosen, record: &Record) -> Option<String> {
    let command = match (chosen, &record.devices[..]) {
        (Chosen::Simulated(_), _) => format!("cardmark probe {target}"),
        // Filling the filesystem of the running system would starve it.
        (Chosen::Real { resolution, .. }, _) if holds_system(&Root::system(), resolution) => {
            "from another computer: sudo cardmark probe DEVICE".to_owned()
        }
        // A mounted device cannot be probed; its free space can be tested.
        (Chosen::Real { resolution, .. }, _) if resolution.kind == TargetKind::Directory => {
            format!("cardmark verify {}", quoted(target))
        }
        // A partition is on a disk that is tested as a whole.
        (Chosen::Real { .. }, [disk]) => {
            format!(
                "sudo cardmark probe {}",
                quoted(&format!("/dev/{}", disk.name))
            )
        }
        (Chosen::Real { .. }, _) => return None,
    };
    Some(command)
}

/// Shows the record; what the store knows of the card only where the store could be written.
fn show(
    record: &Record,
    json: Option<&Destination>,
    beside: Beside<'_>,
    is_kept: bool,
) -> Result<(), CommandError> {
    match json {
        Some(Destination::Output) => return print::data(&print::run_file(record)?),
        Some(other) => print::to(other, print::lines(record)?.as_bytes()).map_err(|error| {
            error.hint("the run is kept: `cardmark show last --json` prints it")
        })?,
        None => {}
    }
    let again = if is_kept && beside.all {
        rates_again(record)
    } else {
        Ok(Vec::new())
    };
    let beside = Beside {
        again: again.as_deref().unwrap_or_default(),
        ..beside
    };
    let text = terminal_with(record, &beside, print::width(), print::style());
    print::result(&text)?;
    // The record is shown nevertheless.
    again.map(|_| ())
}

/// Destination of `--json`: standard output, in the table's place, or one beside the table.
fn json_destination(arguments: &RunArguments) -> Result<Option<Destination>, CommandError> {
    match &arguments.json {
        None => Ok(None),
        Some(None) => Ok(Some(Destination::Output)),
        Some(Some(file)) => file.destination().map(Some),
    }
}

#[cfg(test)]
mod tests {
    use cardmark_core::{Derived, Origin, OriginKind, Verdict, simulated_run_id};

    use super::*;

    fn record(outcomes: &[(&str, VerdictOutcome)]) -> Record {
        let verdict = |&(rule, outcome): &(&str, VerdictOutcome)| Verdict {
            rule: rule.to_owned(),
            outcome,
            score: None,
            reasons: Vec::new(),
            metrics: Vec::new(),
        };
        let origin = Origin::of(OriginKind::Simulated);
        let mut record = Record::new(simulated_run_id(&["unmet"]), origin);
        record.derived = Some(Derived {
            judge_version: 1,
            verdicts: outcomes.iter().map(verdict).collect(),
            deviations: Vec::new(),
        });
        record
    }

    #[test]
    fn a_claim_that_the_run_contradicts_is_a_negative_verdict() {
        let of = |claims: &str, outcomes: &[(&str, VerdictOutcome)]| {
            let mut record = record(outcomes);
            let label = (CLAIMS_LABEL.to_owned(), claims.to_owned());
            record.labels.extend([label]);
            broken(&record).map(|error| (error.exit, error.what))
        };
        let told = |claims: &str| {
            let what = format!("the card is not what its label claims: {claims}");
            Some((Exit::Bad, what))
        };
        let fail = VerdictOutcome::Fail;
        assert_eq!(
            of(
                "A1 64GB",
                &[("capacity", fail), ("A1", VerdictOutcome::Pass)]
            ),
            told("64GB")
        );
        assert_eq!(
            of("130MB/s A1", &[("130MB/s", fail), ("A1", fail)]),
            told("130MB/s, A1")
        );
        // Not claimed, or not decided.
        assert_eq!(
            of("A1", &[("A2", fail), ("A1", VerdictOutcome::NotTestable)]),
            None
        );
        assert!(broken(&record(&[("A1", fail)])).is_none());
    }

    #[test]
    fn a_required_class_without_a_verdict_is_trouble() {
        let ends = |record: &Record, required: &[&str]| {
            let required: Vec<String> = required.iter().map(|&name| name.to_owned()).collect();
            unmet(record, &required).map(|error| (error.exit, error.causes))
        };
        let told = |cause: &str| Some((Exit::Trouble, vec![cause.to_owned()]));
        let mut passed = record(&[("C10", VerdictOutcome::Pass)]);
        assert_eq!(ends(&passed, &["C10"]), None);
        assert_eq!(ends(&passed, &[]), None);
        assert_eq!(
            ends(&passed, &["C10", "V30", "V30"]),
            told("V30 was not judged")
        );
        passed.derived = None;
        assert_eq!(ends(&passed, &["C10"]), told("C10 was not judged"));
        let border = record(&[("C10", VerdictOutcome::Borderline)]);
        assert_eq!(ends(&border, &["C10"]), None);
        let hidden = record(&[("C10", VerdictOutcome::NotTestable)]);
        assert_eq!(
            ends(&hidden, &["C10"]),
            told("C10 could not be tested here")
        );
        let failed = record(&[("C10", VerdictOutcome::Fail)]);
        assert_eq!(ends(&failed, &["C10"]).unwrap().0, Exit::Bad);
    }
}

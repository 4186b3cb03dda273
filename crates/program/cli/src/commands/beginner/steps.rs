//! The commands that answer a question about a target.

use std::ffi::OsString;

use cardmark_judge::{Promise, suites_for};

use super::target::Target;

/// What a person wants to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// How fast is it?
    Speed,
    /// Is its capacity real?
    Capacity,
    /// Does it keep the promises on its label?
    Label,
    /// All of them.
    All,
}

impl Question {
    pub(super) const ALL: [Self; 4] = [Self::Speed, Self::Capacity, Self::Label, Self::All];

    /// The question, and what answering it takes.
    pub(super) fn text(self, target: &Target) -> &'static str {
        match (self, target) {
            (Self::Speed, Target::Directory { .. }) => {
                "Is it fast? About 1.5 minutes; uses a file of 256 MiB, which it deletes"
            }
            (Self::Speed, Target::Disk(_)) => {
                "How fast does it read? About a minute; nothing is written"
            }
            (Self::Capacity, Target::Directory { .. }) => {
                "Is its capacity real? Fills the free room and deletes that again; may take hours"
            }
            (Self::Capacity, Target::Disk(_)) => {
                "Is its capacity real? Some minutes; what it overwrites is put back"
            }
            (Self::Label, _) => "Does it keep what its label promises (A1, V30, 130 MB/s …)?",
            (Self::All, _) => "All of these",
        }
    }
}

/// The command lines, without the program's name, in the order in which they run.
pub(super) fn steps(
    target: &Target,
    question: Question,
    promises: &[Promise],
) -> Vec<Vec<OsString>> {
    let named = |words: &[&str]| -> Vec<OsString> {
        let command = words.first().map(OsString::from);
        let options = words.iter().skip(1).map(OsString::from);
        command
            .into_iter()
            .chain([target.argument()])
            .chain(options)
            .collect()
    };
    let speed = || match target {
        Target::Directory { .. } => named(&["run"]),
        Target::Disk(_) => named(&["run", "--read-only"]),
    };
    let capacity = || match target {
        Target::Directory { .. } => named(&["verify"]),
        Target::Disk(_) => named(&["probe"]),
    };
    let label = || {
        let claims = promises.iter().map(|promise| format!("--claim={promise}"));
        let claims: Vec<OsString> = claims.map(OsString::from).collect();
        let with_claims = |suite: String| {
            let mut step = named(&["run", "--suite", &suite]);
            step.extend(claims.iter().cloned());
            step
        };
        suites_for(promises)
            .0
            .into_iter()
            .map(with_claims)
            .collect::<Vec<_>>()
    };
    match question {
        Question::Speed => vec![speed()],
        Question::Capacity => vec![capacity()],
        Question::Label => label(),
        Question::All => [vec![speed()], label(), vec![capacity()]].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(target: &Target, question: Question, promises: &[&str]) -> Vec<String> {
        let promises: Vec<Promise> = promises
            .iter()
            .map(|p| Promise::parse(p).unwrap())
            .collect();
        let steps = steps(target, question, &promises).into_iter();
        let line = |words: Vec<OsString>| words.join(&OsString::from(" ")).into_string().unwrap();
        steps.map(line).collect()
    }

    #[test]
    fn each_question_leads_to_the_commands_that_answer_it() {
        let card = Target::Directory {
            path: "/media/card".into(),
            disk: None,
        };
        let disk = Target::Disk("/dev/sda".to_owned());
        assert_eq!(lines(&card, Question::Speed, &[]), ["run /media/card"]);
        assert_eq!(
            lines(&disk, Question::Speed, &[]),
            ["run /dev/sda --read-only"]
        );
        assert_eq!(
            lines(&card, Question::Capacity, &[]),
            ["verify /media/card"]
        );
        assert_eq!(lines(&disk, Question::Capacity, &[]), ["probe /dev/sda"]);
        assert_eq!(
            lines(&card, Question::Label, &["A1", "V30", "U3"]),
            [
                "run /media/card --suite app-class --claim=A1 --claim=V30 --claim=U3",
                "run /media/card --suite speed-class --claim=A1 --claim=V30 --claim=U3",
            ]
        );
        assert_eq!(
            lines(&disk, Question::All, &["130MB/s"]),
            [
                "run /dev/sda --read-only",
                "run /dev/sda --suite quick --claim=130MB/s",
                "probe /dev/sda",
            ]
        );
    }
}

//! Work under way on a computer, from its journals.

use cardmark_core::Record;
use cardmark_judge::derive_again;
use cardmark_report::document::Block;
use cardmark_report::survey;
use cardmark_report::text::{count_of, span};

use crate::frame::{Form, Page, Section};

/// Unfinished work.
#[derive(Debug)]
pub struct Work {
    /// Name of the command.
    pub job: &'static str,
    /// Target as the user named it.
    pub target: String,
    /// The record so far, if the work results in one.
    pub record: Option<Record>,
    /// State of its process.
    pub state: WorkState,
}

/// State of the process that works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkState {
    /// It works.
    Working {
        /// Time so far, if known.
        worked_ns: Option<u64>,
        /// Expected time left, if known.
        left_ns: Option<u64>,
        /// Address that stops it; `None` if that is not possible from here.
        stop: Option<String>,
    },
    /// It was asked to stop.
    Stopping,
    /// It is gone.
    Interrupted,
}

/// The page of all work under way.
pub fn page(works: Vec<Work>) -> Page {
    let blocks = match works.is_empty() {
        true => vec![Block::Text(
            "Nothing is under way or unfinished. This page looks again every three seconds."
                .to_owned(),
        )],
        false => Vec::new(),
    };
    let page = Page::new("Under way", "Work under way on this computer.", blocks);
    works
        .into_iter()
        .fold(page, |page, work| page.section(section(work)))
}

fn section(work: Work) -> Section {
    let title = format!("cardmark {} {}", work.job, work.target);
    let stop = match &work.state {
        WorkState::Working { stop, .. } => stop.clone(),
        _ => None,
    };
    let mut blocks = vec![Block::Text(standing(&work))];
    if let Some(mut record) = work.record.filter(|record| !record.trials.is_empty()) {
        let _ = derive_again(&mut record);
        blocks.extend(survey("", std::slice::from_ref(&record)).blocks);
    }
    let section = Section::new(title, blocks);
    match stop {
        Some(address) => section.form(Form::sending(address, "Stop", Vec::new())),
        None => section,
    }
}

/// Progress, in sentences.
fn standing(work: &Work) -> String {
    let trials = work.record.as_ref().map(|record| {
        let trials = count_of(record.trials.len() as u64, "trial", "trials");
        format!("{trials} so far. ")
    });
    let now = match &work.state {
        WorkState::Working {
            worked_ns, left_ns, ..
        } => match (worked_ns, left_ns) {
            (Some(worked), Some(left)) => {
                let done = 100.0 * *worked as f64 / (*worked as f64 + *left as f64).max(1.0);
                format!("About {done:.0} % done, {} left.", span(*left))
            }
            (_, Some(left)) => format!("About {} left.", span(*left)),
            (Some(worked), None) => format!("It has worked for {}.", span(*worked)),
            (None, None) => "It works.".to_owned(),
        },
        WorkState::Stopping => {
            "Stopping at the next operation; what was measured is kept.".to_owned()
        }
        WorkState::Interrupted if work.job == "run" => {
            "Interrupted: `cardmark recover` keeps what was measured.".to_owned()
        }
        WorkState::Interrupted => "Interrupted: the same command continues it.".to_owned(),
    };
    trials.unwrap_or_default() + &now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;

    fn work(state: WorkState) -> Work {
        Work {
            job: "verify",
            target: "/mnt/<card>".to_owned(),
            record: None,
            state,
        }
    }

    #[test]
    fn only_work_that_can_be_stopped_has_a_button() {
        let working = |stop: Option<&str>| WorkState::Working {
            worked_ns: Some(30_000_000_000),
            left_ns: Some(90_000_000_000),
            stop: stop.map(str::to_owned),
        };
        for (state, text, has_button) in [
            (
                working(Some("/under-way/stop?work=a")),
                "About 25 % done, 1 min 30 s left.",
                true,
            ),
            (working(None), "About 25 % done", false),
            (WorkState::Stopping, "Stopping at the next operation", false),
            (
                WorkState::Interrupted,
                "the same command continues it",
                false,
            ),
        ] {
            let html = page(vec![work(state)]).html(Frame::Computer);
            assert!(html.contains(text), "{html}");
            assert!(
                html.contains("cardmark verify /mnt/&#60;card&#62;"),
                "{html}"
            );
            assert_eq!(html.contains("<button>Stop</button>"), has_button, "{html}");
        }
        let html = page(Vec::new()).html(Frame::Computer);
        assert!(html.contains("Nothing is under way"), "{html}");
    }
}

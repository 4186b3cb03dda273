//! The way through the cards of a campaign on one board.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use cardmark_core::{DeviceInfo, Finding, MOST_INTEGER, Record, Severity, simulated_run_id};
use cardmark_host::{Resolution, Root, resolve};
use cardmark_report::{headline, text};
use cardmark_session::{Chosen, CommandError, Data, Exit, Voice, choose, devices};

use crate::child::Runs;
use crate::folder::{CAMPAIGN, Done, Folder, REPEAT, SAMPLE, SETTING};
use crate::order::{Progress, Visit, suites_left};
use crate::question::{Answer, ask};
use crate::recognise::{Seen, recognise};
use crate::request::CampaignRequest;
use crate::spec::{Campaign, SlotSpec};

/// Refuses a directory on the disk that the system runs from: no card is mounted there.
fn refuse_own_disk(target: &str, resolution: &Resolution) -> Result<(), CommandError> {
    let names = |resolution: &Resolution| -> Vec<String> {
        let disks = resolution.disks.iter();
        disks.map(|disk| disk.name.clone()).collect()
    };
    let Ok(own) = resolve(&Root::system(), Path::new("/")) else {
        return Ok(());
    };
    let own = names(&own);
    if !names(resolution).iter().any(|name| own.contains(name)) {
        return Ok(());
    }
    let what = format!("`{target}` lies on the disk that the system runs from");
    Err(CommandError::new(Exit::Refused, what)
        .because("no card is mounted there")
        .hint("mount it; where the board runs from the card itself: `runs_from_card = true`"))
}

/// The way through the cards on one board.
pub(crate) struct Tour<'a> {
    campaign: &'a Campaign,
    board: &'a SlotSpec,
    folder: &'a Folder,
    data: &'a Data,
    runs: &'a dyn Runs,
    voice: &'static dyn Voice,
    /// Consent to writing the block device with that serial number.
    device_serial: Option<&'a str>,
    timeout_s: u64,
    /// Cards that the person wants later.
    put_off: BTreeSet<String>,
    /// Visits, by card and time, in which something failed: not again before the next time.
    failed: BTreeSet<(String, u32)>,
    /// Duration of the runs.
    spent: Duration,
    spent_count: u32,
}

impl<'a> Tour<'a> {
    pub(crate) fn new(
        campaign: &'a Campaign,
        board: &'a SlotSpec,
        folder: &'a Folder,
        data: &'a Data,
        runs: &'a dyn Runs,
        request: &'a CampaignRequest<'a>,
    ) -> Self {
        Self {
            campaign,
            board,
            folder,
            data,
            runs,
            voice: request.voice,
            device_serial: request.device_serial.as_deref(),
            timeout_s: request.timeout_s,
            put_off: BTreeSet::new(),
            failed: BTreeSet::new(),
            spent: Duration::ZERO,
            spent_count: 0,
        }
    }

    /// Measures simulated cards, one after the other.
    pub(crate) fn simulate(&mut self) -> Result<Exit, CommandError> {
        let mut exit = Exit::Done;
        let done = self.folder.done(&self.campaign.title)?;
        for visit in Progress::of(self.campaign, self.board, &done).left {
            let (Some(model), Some(board)) = (&visit.card.simulated, &self.board.simulated) else {
                continue;
            };
            let target = format!("sim:{model}@{board}");
            exit = exit.or_worse(self.visit(visit, &target, &done)?);
            if matches!(exit, Exit::Interrupted | Exit::Terminated) {
                break;
            }
        }
        Ok(exit)
    }

    /// Leads the person through the cards.
    pub(crate) fn lead(&mut self) -> Result<Exit, CommandError> {
        if !std::io::stdin().is_terminal() {
            return Err(CommandError::new(
                Exit::Usage,
                "there is no terminal to lead through the cards",
            )
            .because("standard input is not a terminal")
            .hint("`--plan` shows what is left, `--report` reports on what there is"));
        }
        let mut exit = Exit::Done;
        loop {
            let done = self.folder.done(&self.campaign.title)?;
            let progress = Progress::of(self.campaign, self.board, &done);
            let Some(next) = self.next(&progress) else {
                if !self.failed.is_empty() {
                    self.voice
                        .notice("what failed is tried again by the same command");
                }
                return Ok(exit);
            };
            self.tell(&next, &progress, &done);
            match ask(self.voice)? {
                Answer::End => return Ok(exit),
                Answer::Later => {
                    self.put_off.insert(next.card.name.clone());
                    continue;
                }
                Answer::Go => {}
            }
            let Some(visit) = self.look(next, &done, &progress) else {
                continue;
            };
            self.put_off.remove(&visit.card.name);
            let target = self.board.target.as_deref().unwrap_or_default();
            exit = exit.or_worse(self.visit(visit, target, &done)?);
            if matches!(exit, Exit::Interrupted | Exit::Terminated) {
                return Ok(exit);
            }
        }
    }

    /// The next visit of a card that is not put off; of any, where all are.
    fn next<'b>(&mut self, progress: &Progress<'b>) -> Option<Visit<'b>> {
        let has_failed = |visit: &Visit<'_>| {
            let visit = (visit.card.name.clone(), visit.repeat);
            self.failed.contains(&visit)
        };
        let mut left = progress.left.clone();
        left.retain(|visit| !has_failed(visit));
        let is_wanted = |visit: &&Visit<'b>| !self.put_off.contains(&visit.card.name);
        let wanted = left.iter().find(is_wanted).copied();
        if wanted.is_none() {
            self.put_off.clear();
        }
        wanted.or_else(|| left.first().copied())
    }

    fn tell(&self, next: &Visit<'_>, progress: &Progress<'_>, done: &[Done]) {
        let number = progress.all_count - progress.left.len() + 1;
        let product = next
            .card
            .product
            .as_ref()
            .map(|product| format!(", {product}"));
        let left = self.spent.checked_div(self.spent_count).map(|each| {
            let left_ns = each.as_nanos() * u128::from(self.runs_left(progress, done));
            let left_ns = u64::try_from(left_ns).unwrap_or(u64::MAX);
            format!("; about {} of measuring left", text::span(left_ns))
        });
        self.voice.notice(&format!(
            "\n{number} of {} on {}{}\nPut in card \"{}\"{} (time {} of {}).",
            progress.all_count,
            self.board.name,
            left.unwrap_or_default(),
            next.card.name,
            product.unwrap_or_default(),
            next.repeat,
            self.campaign.repeats
        ));
    }

    fn runs_left(&self, progress: &Progress<'_>, done: &[Done]) -> u32 {
        let left = progress.left.iter();
        let runs = left.map(|visit| suites_left(self.campaign, self.board, *visit, done).len());
        u32::try_from(runs.sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Finds the inserted card. `None`: it is not to be measured now, which is reported.
    fn look<'b>(
        &self,
        asked: Visit<'b>,
        done: &[Done],
        progress: &Progress<'b>,
    ) -> Option<Visit<'b>> {
        let sample_id = self
            .sample_id()
            .inspect_err(|error| self.voice.error(error))
            .ok()?;
        let name = &asked.card.name;
        let visit = match recognise(&asked, sample_id.as_deref(), done, progress) {
            Seen::Asked => asked,
            Seen::Hidden => {
                self.voice
                    .notice("this reader does not show which card it is: taken on trust");
                asked
            }
            Seen::Other(other) => {
                self.voice.notice(&format!(
                    "this is \"{}\": measured now instead",
                    other.card.name
                ));
                other
            }
            Seen::Finished(other) => {
                self.voice
                    .notice(&format!("this is \"{other}\", which is complete here"));
                return None;
            }
            Seen::Stranger => {
                self.voice.notice(&format!(
                    "this is not the card measured as \"{name}\" before"
                ));
                return None;
            }
        };
        Some(visit)
    }

    /// By which the card is recognised that is in the slot now.
    fn sample_id(&self) -> Result<Option<String>, CommandError> {
        let target = self.board.target.as_deref().unwrap_or_default();
        match choose(target)? {
            Chosen::Real { resolution, .. } => {
                if !self.board.runs_from_card {
                    refuse_own_disk(target, &resolution)?;
                }
                let devices = devices(&resolution, self.data)?;
                let card = devices.last().and_then(DeviceInfo::card_id);
                Ok(card.map(str::to_owned))
            }
            Chosen::Simulated(_) => Ok(None),
        }
    }

    /// Measures a card by all suites that are left, and keeps the runs.
    fn visit(
        &mut self,
        visit: Visit<'_>,
        target: &str,
        done: &[Done],
    ) -> Result<Exit, CommandError> {
        let mut exit = Exit::Done;
        for suite in suites_left(self.campaign, self.board, visit, done) {
            let began = Instant::now();
            let draft = self.folder.draft();
            // One that was left behind is not of this run.
            self.folder.drop_draft();
            exit = exit.or_worse(self.runs.run(&self.words(visit, suite, target, &draft))?);
            if matches!(exit, Exit::Interrupted | Exit::Terminated) {
                self.folder.drop_draft();
                break;
            }
            self.spent += began.elapsed();
            self.spent_count += 1;
            let kept = self.folder.keep_draft()?;
            if let Some(record) = &kept {
                self.say(visit, suite, record);
            }
            // A signal may have come after the run's last operation.
            if let Some(asked) = self.runs.asked_to_end() {
                return Ok(exit.or_worse(asked));
            }
            if kept.is_none() {
                // The reason was shown.
                break;
            }
        }
        if exit == Exit::Trouble {
            let failed = (visit.card.name.clone(), visit.repeat);
            self.failed.insert(failed);
        }
        Ok(exit)
    }

    /// The command line of one run.
    fn words(&self, visit: Visit<'_>, suite: &str, target: &str, draft: &Path) -> Vec<OsString> {
        let mut json = OsString::from("--json=");
        json.push(draft);
        let mut words: Vec<OsString> = ["run", target, "--suite", suite].map(OsString::from).into();
        words.push(json);
        let timeout = self.timeout_s.to_string();
        words.extend(["--timeout", &timeout].map(OsString::from));
        for (key, value) in self.labels(visit) {
            words.push("--label".into());
            words.push(format!("{key}={value}").into());
        }
        for claim in &visit.card.claims {
            words.extend(["--claim", claim].map(OsString::from));
        }
        if let Some(serial) = self.device_serial {
            words.extend(["--yes", "--device-serial", serial].map(OsString::from));
        }
        if self.board.simulated.is_some() {
            // From what it is, so that the campaign can be repeated.
            let repeat = visit.repeat.to_string();
            let parts = [
                &self.campaign.title,
                &visit.card.name,
                &self.board.name,
                &repeat,
            ];
            let seed = simulated_run_id(&parts.map(String::as_str)).as_u64_pair().1 & MOST_INTEGER;
            words.extend(["--seed", &seed.to_string()].map(OsString::from));
        }
        words
    }

    fn labels(&self, visit: Visit<'_>) -> Vec<(String, String)> {
        let card = visit.card;
        let mut labels: Vec<(String, String)> = card.labels.clone().into_iter().collect();
        if let Some(product) = &card.product {
            labels.push(("product".to_owned(), product.clone()));
        }
        let own = [
            (CAMPAIGN, self.campaign.title.clone()),
            (SAMPLE, card.name.clone()),
            (SETTING, self.board.name.clone()),
            (REPEAT, visit.repeat.to_string()),
        ];
        labels.extend(own.map(|(key, value)| (key.to_owned(), value)));
        labels
    }

    /// One line on a run, and what is wrong with it.
    fn say(&self, visit: Visit<'_>, suite: &str, record: &Record) {
        let rates: Vec<_> = record
            .metrics
            .iter()
            .filter(|metric| metric.rate_bytes_per_s.is_some() || metric.operations_per_s.is_some())
            .map(|metric| (metric.id.clone(), metric.value, metric.quantity))
            .collect();
        self.voice.notice(&format!(
            "{} on {}, {suite}, {} of {}: {}",
            visit.card.name,
            self.board.name,
            visit.repeat,
            self.campaign.repeats,
            headline(&rates)
        ));
        let told = |finding: &&Finding| finding.severity >= Severity::Warning;
        for finding in record.findings.iter().filter(told) {
            self.voice
                .notice(&format!("  {}: {}", finding.kind.name(), finding.detail));
        }
    }
}

#[cfg(test)]
mod tests;

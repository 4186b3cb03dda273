//! A world for jobs: results in a folder of their own, a voice that records, and people who answer or interrupt.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cardmark_core::Record;
use cardmark_engine::{Event, Observer, Pulse};
use cardmark_session::{
    CommandError, Consent, Data, Exit, Progress, Session, TestResult, Trials, Voice, Waits,
};
use cardmark_store::{Places, Store};
use cardmark_testkit::{LoopDevice, NoStarts};
use tempfile::TempDir;

pub(crate) const MIB: u64 = 1 << 20;

/// A text that was not heard by then never comes; far longer than any job of these tests.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// A folder with the results of jobs.
pub(crate) struct World {
    pub(crate) data: Data,
    pub(crate) scratch: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let folder = scratch.path().join("results");
        let data = Data {
            places: Places {
                database: folder.join("cardmark.db"),
                journals: folder.join("journals"),
                tests: folder.join("tests"),
            },
            lock_file: Some(scratch.path().join("cardmark.lock")),
        };
        Self { data, scratch }
    }

    /// A place in the scratch folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// An empty folder in the scratch folder.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    /// Does a job without anyone to answer.
    pub(crate) fn job<T: Into<Outcome>>(
        &self,
        job: impl FnOnce(&Session<'_>) -> Result<T, CommandError>,
    ) -> Ended {
        self.job_with(Person::absent(), job)
    }

    /// Does a job that this person attends.
    pub(crate) fn job_with<T: Into<Outcome>>(
        &self,
        person: &'static Person,
        job: impl FnOnce(&Session<'_>) -> Result<T, CommandError>,
    ) -> Ended {
        let session = self.session(person);
        let _ended = Ends(person);
        person.end(job(&session).map(Into::into))
    }

    /// Surroundings of a job that this person attends.
    pub(crate) fn session(&self, person: &'static Person) -> Session<'_> {
        let session = Session::new(person, &self.data, 600);
        person.let_it_look();
        *lock(&person.plan.pulse) = Some(Arc::clone(&session.pulse));
        session
    }

    /// Does a job that unwinds at the `n`-th progress, before it can end anything in order; returns whether it got that far. Unlike
    /// after a real kill, values are dropped: what a `Drop` puts back is proven by the kills of the program alone.
    pub(crate) fn kill<T: Into<Outcome>>(
        &self,
        n: usize,
        job: impl FnOnce(&Session<'_>) -> Result<T, CommandError>,
    ) -> bool {
        let person = Person::absent().at(n, Act::Kill);
        let session = self.session(person);
        let _ended = Ends(person);
        match catch_unwind(AssertUnwindSafe(|| job(&session).map(Into::into))) {
            Ok(_) => false,
            Err(panic) if panic.is::<Killed>() => true,
            Err(panic) => resume_unwind(panic),
        }
    }

    pub(crate) fn store(&self) -> Store {
        self.data.open().unwrap()
    }

    /// The stored runs, the newest first.
    pub(crate) fn runs(&self) -> Vec<Record> {
        let mut runs = self.store().select(&[]).unwrap();
        runs.reverse();
        runs
    }

    /// Names of the journals and undo logs that jobs left.
    pub(crate) fn remembered(&self) -> Vec<String> {
        let folders = [&self.data.journals, &self.data.tests];
        let paths = folders.iter().flat_map(|folder| files(folder));
        let name = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<String> = paths.map(name).collect();
        names.sort();
        names
    }

    /// Checks that no job was begun: no journal, and no run.
    #[track_caller]
    pub(crate) fn assert_nothing_kept(&self) {
        assert_eq!(self.remembered(), <[&str; 0]>::default());
        if self.data.database.exists() {
            assert_eq!(self.runs().len(), 0);
        }
    }
}

/// The files in a folder, sorted; none if there is no folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Consent to writing this device.
pub(crate) fn consent(device: &LoopDevice) -> Consent {
    consent_of(device.file())
}

/// Consent to writing a device with this serial number.
pub(crate) fn consent_of(serial: &Path) -> Consent {
    Consent {
        yes: true,
        device_serial: Some(text(serial).to_owned()),
    }
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// What a job returned.
pub(crate) struct Outcome {
    exit: Exit,
    record: Option<Record>,
    details: Vec<String>,
    errors: Vec<CommandError>,
}

impl From<TestResult> for Outcome {
    fn from(result: TestResult) -> Self {
        Self {
            exit: result.exit,
            record: Some(result.record),
            details: result.details,
            errors: result.errors,
        }
    }
}

impl From<Record> for Outcome {
    fn from(record: Record) -> Self {
        Self {
            exit: Exit::Done,
            record: Some(record),
            details: Vec::new(),
            errors: Vec::new(),
        }
    }
}

impl From<(Exit, Record)> for Outcome {
    fn from((exit, record): (Exit, Record)) -> Self {
        Self {
            exit,
            ..Self::from(record)
        }
    }
}

impl From<Exit> for Outcome {
    fn from(exit: Exit) -> Self {
        Self {
            exit,
            record: None,
            details: Vec::new(),
            errors: Vec::new(),
        }
    }
}

/// A job that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) exit: Exit,
    pub(crate) record: Option<Record>,
    /// Everything that the person was shown, and the errors as they are printed.
    pub(crate) heard: String,
}

impl Ended {
    /// The record of a job that reached its end.
    #[track_caller]
    pub(crate) fn record(&self) -> &Record {
        self.record.as_ref().unwrap_or_else(|| panic!("{self:?}"))
    }

    #[track_caller]
    pub(crate) fn assert_exit(&self, exit: Exit) -> &Self {
        assert_eq!(self.exit, exit, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn assert_heard(&self, parts: &[&str]) -> &Self {
        for part in parts {
            assert!(self.heard.contains(part), "no `{part}` in {}", self.heard);
        }
        self
    }

    /// Checks that the job failed, and that the errors have these parts.
    #[track_caller]
    pub(crate) fn assert_error(&self, exit: Exit, parts: &[&str]) -> &Self {
        assert!(self.record.is_none(), "{self:?}");
        assert!(self.heard.contains("error: "), "{self:?}");
        self.assert_exit(exit).assert_heard(parts)
    }
}

/// A person who attends a job: hears all of it, answers its questions, and acts at some moment.
pub(crate) struct Person {
    heard: Arc<Heard>,
    answer: Answer,
    plan: Arc<Plan>,
    /// Held while the job looks for users of its device.
    looks: Mutex<Option<NoStarts>>,
}

/// What a person is going to do.
#[derive(Default)]
struct Plan {
    /// The act, and the number of steps until then.
    act: Mutex<Option<(usize, Act)>>,
    pulse: Mutex<Option<Arc<Pulse>>>,
    count: Mutex<Option<Arc<AtomicUsize>>>,
}

impl Plan {
    fn pulse(&self) -> Arc<Pulse> {
        Arc::clone(lock(&self.pulse).as_ref().unwrap())
    }

    fn step(&self) {
        if let Some(count) = &*lock(&self.count) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let mut act = lock(&self.act);
        let is_time = match &mut *act {
            Some((left, _)) => {
                *left -= 1;
                *left == 0
            }
            None => false,
        };
        let now = if is_time { act.take() } else { None };
        drop(act);
        match now.map(|(_, act)| act) {
            Some(Act::Do(something)) => something(&self.pulse()),
            Some(Act::Stop) => self.pulse().stop(),
            Some(Act::Kill) => resume_unwind(Box::new(Killed)),
            None => {}
        }
    }
}

/// Everything that a person was shown.
#[derive(Default)]
struct Heard {
    /// Lines, and whether the job has ended.
    lines: Mutex<(String, bool)>,
    more: Condvar,
}

impl Heard {
    fn line(&self, text: &str) {
        let mut lines = lock(&self.lines);
        lines.0.push_str(text);
        lines.0.push('\n');
        self.more.notify_all();
    }

    fn end(&self) {
        lock(&self.lines).1 = true;
        self.more.notify_all();
    }

    fn text(&self) -> String {
        lock(&self.lines).0.clone()
    }
}

/// Progress of a job: each change is a step of the plan.
struct Steps {
    plan: Arc<Plan>,
    heard: Arc<Heard>,
}

impl Waits for Steps {
    fn wait(&mut self, text: &str) {
        self.heard.line(text);
    }

    fn waited(&mut self, _span: Duration) {}
}

impl Progress for Steps {
    fn show(&mut self, _done: u64) {
        self.plan.step();
    }

    fn expect(&mut self, _all: u64) {}

    fn stage(&mut self, _name: &'static str) {}
}

impl Observer for Steps {
    fn event(&mut self, _event: &Event<'_>) {
        self.plan.step();
    }
}

enum Answer {
    /// There is no terminal.
    Absent,
    /// Types this, whatever is asked.
    Fixed(String),
    /// Lets another thread answer, until the job is over.
    Other(Mutex<Option<(Sender<String>, Receiver<String>)>>),
}

/// What happens at a step of a job.
pub(crate) enum Act {
    /// The person does something while the job waits; the pulse can stop it.
    Do(Box<dyn FnOnce(&Pulse) + Send>),
    /// It is asked to stop, as by Ctrl-C.
    Stop,
    /// Its process ends there.
    Kill,
}

/// The end of a job, also by a panic: its person leaves, and a test that waits for a question fails then.
struct Ends(&'static Person);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.has_looked();
        self.0.heard.end();
        // An act that never came may hold the end of a channel.
        lock(&self.0.plan.act).take();
        if let Answer::Other(other) = &self.0.answer {
            lock(other).take();
        }
    }
}

/// The payload with which a job ends that is killed.
struct Killed;

/// The other end of the questions of a job.
pub(crate) struct Dialog {
    questions: Receiver<String>,
    answers: Sender<String>,
}

impl Dialog {
    /// Waits for the question.
    ///
    /// # Panics
    /// If the job ends without one.
    pub(crate) fn question(&self) -> String {
        let question = self.questions.recv();
        question.expect("the job ended without a question")
    }

    pub(crate) fn answer(&self, typed: &str) {
        self.answers.send(typed.to_owned()).unwrap();
    }
}

impl Act {
    /// The person does something while the job waits.
    pub(crate) fn of(something: impl FnOnce() + Send + 'static) -> Self {
        Self::Do(Box::new(|_| something()))
    }
}

impl Person {
    fn new(answer: Answer) -> &'static Self {
        Box::leak(Box::new(Self {
            heard: Arc::default(),
            answer,
            plan: Arc::default(),
            looks: Mutex::default(),
        }))
    }

    /// No process is started until the job begins to work, asks a question or ends.
    fn let_it_look(&self) {
        self.has_looked();
        let looks = NoStarts::begin();
        *lock(&self.looks) = Some(looks);
    }

    fn has_looked(&self) {
        lock(&self.looks).take();
    }

    /// Progress of a job that has begun to work.
    fn begins(&self) -> Steps {
        self.has_looked();
        Steps {
            plan: Arc::clone(&self.plan),
            heard: Arc::clone(&self.heard),
        }
    }

    /// No one is there to answer.
    pub(crate) fn absent() -> &'static Self {
        Self::new(Answer::Absent)
    }

    /// Somebody types this.
    pub(crate) fn who_types(text: &str) -> &'static Self {
        Self::new(Answer::Fixed(text.to_owned()))
    }

    /// Somebody whose answer the test decides when the question is asked.
    pub(crate) fn with_dialog() -> (&'static Self, Dialog) {
        let (questions, heard) = channel();
        let (answers, typed) = channel();
        let person = Self::new(Answer::Other(Mutex::new(Some((questions, typed)))));
        let dialog = Dialog {
            questions: heard,
            answers,
        };
        (person, dialog)
    }

    /// Does that at the `n`-th step.
    pub(crate) fn at(&'static self, n: usize, act: Act) -> &'static Self {
        *lock(&self.plan.act) = Some((n, act));
        self
    }

    /// No one is there to answer; all steps are counted.
    pub(crate) fn who_counts(count: &Arc<AtomicUsize>) -> &'static Self {
        let person = Self::absent();
        *lock(&person.plan.count) = Some(Arc::clone(count));
        person
    }

    /// Stops the job, as by Ctrl-C.
    pub(crate) fn stop(&self) {
        self.plan.pulse().stop();
    }

    /// Waits until the job has shown this.
    ///
    /// # Panics
    /// If the job ends without it.
    #[track_caller]
    pub(crate) fn await_heard(&self, part: &str) {
        let mut lines = lock(&self.heard.lines);
        while !lines.0.contains(part) {
            assert!(!lines.1, "no `{part}` in {}", lines.0);
            let more = self.heard.more.wait_timeout(lines, LONGEST_WAIT);
            let (heard, timeout) = more.unwrap_or_else(PoisonError::into_inner);
            assert!(!timeout.timed_out(), "no `{part}` in {}", heard.0);
            lines = heard;
        }
    }

    fn hear(&self, text: &str) {
        self.heard.line(text);
    }

    /// The end of a job.
    pub(crate) fn end(&self, result: Result<Outcome, CommandError>) -> Ended {
        let outcome = result.unwrap_or_else(|error| Outcome {
            exit: error.exit,
            record: None,
            details: Vec::new(),
            errors: vec![error],
        });
        let mut exit = outcome.exit;
        for detail in &outcome.details {
            self.hear(detail);
        }
        for error in &outcome.errors {
            self.error(error);
            exit = exit.or_worse(error.exit);
        }
        Ended {
            exit,
            record: outcome.record,
            heard: self.heard.text(),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Voice for Person {
    fn notice(&self, text: &str) {
        self.hear(text);
    }

    fn error(&self, error: &CommandError) {
        self.hear(&format!("error: {}", error.what));
        for cause in &error.causes {
            self.hear(&format!("cause: {cause}"));
        }
        for hint in &error.hints {
            self.hear(&format!("hint: {hint}"));
        }
    }

    fn progress(&self, _done_bytes: u64, _all_bytes: u64) -> Box<dyn Progress> {
        Box::new(self.begins())
    }

    fn steps(&self) -> Box<dyn Progress> {
        Box::new(self.begins())
    }

    fn trials(&self, _pulse: &Arc<Pulse>) -> Box<dyn Trials> {
        Box::new(self.begins())
    }

    fn ask(&self, question: &str) -> Option<std::io::Result<String>> {
        self.hear(question);
        match &self.answer {
            Answer::Absent => None,
            Answer::Fixed(typed) => Some(Ok(typed.clone())),
            Answer::Other(other) => {
                self.has_looked();
                let other = lock(other);
                let (questions, typed) = other.as_ref().unwrap();
                let asked = questions.send(question.to_owned());
                let typed = asked.ok().and_then(|()| typed.recv().ok());
                self.let_it_look();
                // A test that failed types no more.
                Some(typed.ok_or_else(|| std::io::Error::other("the test is over")))
            }
        }
    }
}

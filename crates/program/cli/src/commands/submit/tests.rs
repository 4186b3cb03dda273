//! Runs that wait, with a site that answers as a test wants.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Read;

use cardmark_core::{parse_record, parse_statement};
use cardmark_samples::{full_record, record};
use cardmark_store::{HOST_LABEL, Incoming};
use serde_json::json;
use tempfile::TempDir;

use super::change::{amend_one, withdraw_one};
use super::client::{Answer, Request, Site, Unanswered};
use super::*;

/// A site that accepts what it is sent, unless a script demands another answer, and remembers the requests.
#[derive(Default)]
struct Scripted {
    script: RefCell<VecDeque<Result<Answer, Unanswered>>>,
    seen: RefCell<Vec<Seen>>,
}

/// A request: method, path, headers, body.
type Seen = (String, String, Vec<(&'static str, String)>, Vec<u8>);

impl Scripted {
    fn answers(&self, status: u16) {
        let answer = Answer {
            status,
            ..Answer::default()
        };
        self.script.borrow_mut().push_back(Ok(answer));
    }

    /// The request arrives, and its answer does not.
    fn loses_the_answer(&self) {
        let lost = Unanswered {
            cause: "connection reset".to_owned(),
            hint: None,
        };
        self.script.borrow_mut().push_back(Err(lost));
    }
}

impl Site for Scripted {
    fn ask(&self, request: &Request) -> Result<Answer, Unanswered> {
        let method = request.method.to_string();
        let seen = (
            method,
            request.path.clone(),
            request.headers.clone(),
            request.body.clone(),
        );
        self.seen.borrow_mut().push(seen);
        let run = run().to_string();
        let usual = json!({"id": run, "state": "shared", "path": format!("/runs/{run}")});
        let usual = || {
            Ok(Answer {
                status: 200,
                retry_after: None,
                body: usual.to_string().into_bytes(),
            })
        };
        self.script.borrow_mut().pop_front().unwrap_or_else(usual)
    }
}

fn run() -> Uuid {
    record("probe-sim-limbo-32gb").id
}

/// A store with one run, and a site.
struct Rig {
    site: Scripted,
    server: Server,
    store: Store,
    _folder: TempDir,
}

impl Rig {
    fn new() -> Self {
        let mut rig = Self::empty();
        let mut record = record("probe-sim-limbo-32gb");
        record
            .labels
            .insert("product".to_owned(), "Demo 32".to_owned());
        rig.store.insert(&record).unwrap();
        rig
    }

    fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("records.sqlite")).unwrap();
        Self {
            site: Scripted::default(),
            server: "https://cards.example".parse().unwrap(),
            store,
            _folder: folder,
        }
    }

    /// Puts the run into the queue.
    fn enqueue(&mut self) {
        let parcel = Parcel::of(&mut self.store, &run().to_string(), &[]).unwrap();
        enqueue(&mut self.store, &self.server, vec![parcel], &[]).unwrap();
    }

    /// Does something with site and store.
    fn with<T>(&mut self, act: impl FnOnce(&There<'_>, &mut Store) -> T) -> T {
        let there = There {
            site: &self.site,
            server: &self.server,
            secrets: Secrets::new([7; 32]),
            as_json: false,
        };
        act(&there, &mut self.store)
    }

    fn send(&mut self) -> Exit {
        self.with(|there, store| send(there, store).unwrap())
    }

    fn state(&mut self) -> Option<SubmissionState> {
        let found = queued(&mut self.store, &self.server, run()).unwrap();
        found.map(|found| found.state)
    }
}

#[test]
fn a_lost_answer_costs_nothing() {
    let mut rig = Rig::new();
    rig.enqueue();
    rig.site.loses_the_answer();
    assert_eq!(rig.send(), Exit::Trouble);
    assert_eq!(rig.state(), Some(SubmissionState::Waiting));
    // Changed labels do not change the request.
    rig.store
        .label(run(), [("product", Some("Other"))])
        .unwrap();
    assert_eq!(rig.send(), Exit::Done);
    assert_eq!(rig.state(), Some(SubmissionState::Sent));
    let seen = rig.site.seen.take();
    assert_eq!((seen.len(), &seen[0]), (2, &seen[1]));
    assert_eq!((&*seen[0].0, &*seen[0].1), ("POST", "/api/v1/records"));
    // Nothing waits any longer.
    assert_eq!(rig.send(), Exit::Done);
    assert_eq!(rig.site.seen.take(), []);
}

#[test]
fn a_run_waits_while_the_site_cannot_take_it() {
    let mut rig = Rig::new();
    rig.enqueue();
    for status in [429, 503, 502] {
        rig.site.answers(status);
        assert_eq!(rig.send(), Exit::Trouble, "{status}");
        assert_eq!(rig.state(), Some(SubmissionState::Waiting), "{status}");
    }
    // For that site alone.
    let other: Server = "https://other.example".parse().unwrap();
    assert_eq!(waiting(&mut rig.store, &other).unwrap(), []);
    assert_eq!(rig.send(), Exit::Done);
    let bodies: BTreeSet<Vec<u8>> = rig
        .site
        .seen
        .take()
        .into_iter()
        .map(|seen| seen.3)
        .collect();
    assert_eq!(bodies.len(), 1);
}

#[test]
fn a_refused_run_does_not_wait() {
    for (status, state) in [
        (422, None),
        (409, None),
        (410, Some(SubmissionState::Withdrawn)),
        (301, None),
    ] {
        let mut rig = Rig::new();
        rig.enqueue();
        rig.site.answers(status);
        assert_eq!(rig.send(), Exit::Bad, "{status}");
        assert_eq!(rig.state(), state, "{status}");
        // No redirection is followed, and nothing waits.
        assert_eq!(rig.send(), Exit::Done);
        assert_eq!(rig.site.seen.take().len(), 1, "{status}");
    }
}

#[test]
fn a_run_that_was_sent_is_sent_again_only_if_the_site_lost_it() {
    let mut rig = Rig::new();
    rig.enqueue();
    assert_eq!(rig.send(), Exit::Done);
    let asked =
        |rig: &mut Rig| rig.with(|there, store| is_to_be_sent(there, store, run()).unwrap());
    assert!(!asked(&mut rig));
    rig.site.answers(404);
    assert!(asked(&mut rig));
    let path = format!("/api/v1/records/{}/state", run());
    let seen = rig.site.seen.take();
    assert!(
        seen[1..]
            .iter()
            .all(|seen| seen.0 == "GET" && seen.1 == path),
        "{seen:?}"
    );
}

#[test]
fn a_run_that_waits_is_withdrawn_too() {
    let mut rig = Rig::new();
    rig.enqueue();
    rig.site.loses_the_answer();
    let failed = rig
        .with(|there, store| withdraw_one(there, store, run()))
        .unwrap_err();
    assert_eq!(failed.exit, Exit::Trouble);
    assert!(failed.what.starts_with("Cannot withdraw run"), "{failed:?}");
    // It waits no longer.
    assert_eq!(rig.state(), Some(SubmissionState::Withdrawn));
    rig.site.answers(404);
    rig.with(|there, store| withdraw_one(there, store, run()))
        .unwrap();
    let seen = rig.site.seen.take();
    let path = format!("/api/v1/records/{}", run());
    assert!(
        seen.iter().all(|seen| seen.0 == "DELETE" && seen.1 == path),
        "{seen:?}"
    );
}

#[test]
fn an_amendment_has_the_present_labels_or_none() {
    let mut rig = Rig::new();
    rig.enqueue();
    assert_eq!(rig.send(), Exit::Done);
    for (product, revision) in [(Some("Demo 64"), 2), (None, 3)] {
        rig.site.seen.take();
        rig.store.label(run(), [("product", product)]).unwrap();
        let name = run().to_string();
        rig.with(|there, store| amend_one(there, store, &name, &[]))
            .unwrap();
        let seen = rig.site.seen.take().remove(0);
        assert_eq!(
            (&*seen.0, seen.1),
            ("PUT", format!("/api/v1/records/{name}/statement"))
        );
        let stated = parse_statement(str::from_utf8(&seen.3).unwrap()).unwrap();
        assert_eq!(
            (stated.revision, stated.product.as_deref()),
            (revision, product)
        );
    }
}

/// The document of a request.
fn unpacked(seen: &Seen) -> String {
    let mut text = String::new();
    let mut decoder = flate2::read::GzDecoder::new(&seen.3[..]);
    decoder.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn two_sites_cannot_link_a_person() {
    let [one, other] = ["https://cards.example", "https://other.example"].map(|server| {
        let mut rig = Rig::new();
        rig.server = server.parse().unwrap();
        rig.enqueue();
        assert_eq!(rig.send(), Exit::Done);
        rig.site.seen.take().remove(0)
    });
    assert_eq!(one.3, other.3);
    for (one, other) in one.2.iter().zip(&other.2) {
        let is_own = ["cardmark-token-hash", "cardmark-tag"].contains(&one.0);
        assert_eq!(one.0, other.0);
        assert_eq!(one.1 != other.1, is_own, "{}", one.0);
    }
}

#[test]
fn nothing_private_leaves() {
    const PLANTED: &str = "Ada-7f3c";
    let mut record: serde_json::Value = serde_json::from_str(&full_record()).unwrap();
    record["id"] = json!(run());
    record["labels"] = json!({});
    record["host"]["kernel"] = json!(format!("6.12.25-{PLANTED}"));
    record["devices"][0]["name"] = json!(PLANTED);
    record["findings"][0]["detail"] = json!(format!("on {PLANTED}"));
    record["target"]["layers"][0]["device"] = json!(PLANTED);
    let document = record.to_string();
    assert_eq!(document.matches(PLANTED).count(), 4);
    let parsed = Box::new(parse_record(&document).unwrap());
    let mut rig = Rig::empty();
    let taken = rig.store.take_in(&[Incoming::Record(parsed, document)]);
    assert!(taken.unwrap().remove(0).is_ok());
    let note = format!("of {PLANTED}");
    rig.store
        .label(run(), [("note", Some(&*note)), (HOST_LABEL, Some(PLANTED))])
        .unwrap();
    rig.enqueue();
    assert_eq!(rig.send(), Exit::Done);
    let seen = rig.site.seen.take().remove(0);
    let text = unpacked(&seen);
    assert!(!text.contains("Ada"), "{text}");
    assert!(!format!("{:?}{}", seen.2, seen.1).contains("Ada"));
    // Only on request.
    let keep = ["labels.note".to_owned()];
    let kept = Parcel::of(&mut rig.store, &run().to_string(), &keep).unwrap();
    assert_eq!(kept.text.matches(PLANTED).count(), 1);
}

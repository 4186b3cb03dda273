//! The personal instance: the program over the store of a computer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cardmark_core::Record;
use cardmark_store::{JobKind, Journal, JournalHead, Store};
use serde_json::Value;
use tempfile::TempDir;

use crate::rig::{corpus, measured};

const PATIENCE: Duration = Duration::from_secs(120);

struct Mine {
    child: Child,
    address: SocketAddr,
}

impl Drop for Mine {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(home: &Path, listen: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardmark-site"));
    command
        .arg("--mine")
        .env_clear()
        .env("HOME", home)
        .env("CARDMARK_LISTEN", listen)
        .stderr(Stdio::piped());
    command
}

impl Mine {
    fn start(home: &Path) -> Self {
        let mut child = command(home, "127.0.0.1:0").spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let address = lines.find_map(|line| {
            let address = line["fields"]["address"].as_str()?;
            Some(address.parse().unwrap())
        });
        // The log has to be read, or the process would wait.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.unwrap();
        Self { child, address }
    }

    fn ask(&self, method: &str, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn get(&self, path: &str) -> String {
        self.ask("GET", path, "localhost")
    }

    /// Asks until the page holds the text.
    #[track_caller]
    fn until(&self, path: &str, text: &str) -> String {
        let begin = Instant::now();
        loop {
            let page = self.get(path);
            if page.contains(text) {
                return page;
            }
            assert!(begin.elapsed() < PATIENCE, "no {text:?} in {page}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

fn labelled(mut record: Record, product: &str) -> Record {
    record
        .labels
        .insert("product".to_owned(), product.to_owned());
    record
        .labels
        .insert("note".to_owned(), "for me alone".to_owned());
    record
}

fn documents(store: &mut Store) -> Vec<String> {
    let mut all = Vec::new();
    store
        .documents(|document, _| {
            all.push(document.to_owned());
            Ok::<_, cardmark_store::StoreError>(())
        })
        .unwrap();
    all
}

#[test]
fn the_runs_of_this_computer_are_shown_to_it_alone() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join(".local/share/cardmark");
    std::fs::create_dir_all(&folder).unwrap();
    let mut store = Store::open(&folder.join("records.sqlite")).unwrap();
    let first = labelled(measured(), "First 32");
    store.insert(&first).unwrap();
    let mine = Mine::start(home.path());
    mine.until("/", "First 32");
    let page = mine.get(&format!("/runs/{}", first.id));
    for part in ["First 32", "for me alone", "random read 4 KiB"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("access-control-allow-origin"), "{page}");

    // Later runs and labels come by themselves.
    let simulated = labelled(corpus("run-sim-a1-32gb-quick"), "Second 64");
    store.insert(&simulated).unwrap();
    mine.until("/", "Second 64");
    store
        .label(first.id, [("product", Some("Third 128"))])
        .unwrap();
    mine.until("/products", "Third 128");
    assert!(!mine.get("/products").contains("First 32"));

    // A run under way.
    let head = JournalHead {
        job: JobKind::Run,
        target: "/media/card".to_owned(),
        labels: std::collections::BTreeMap::new(),
    };
    assert!(mine.get("/under-way").contains("Nothing is under way"));
    let bare = Record {
        trials: Vec::new(),
        metrics: Vec::new(),
        ..measured()
    };
    let mut journal = Journal::create(&folder.join("journals"), "run", &head, Some(&bare)).unwrap();
    for trial in &measured().trials {
        journal.append(trial).unwrap();
    }
    let page = mine.get("/under-way");
    let trials = format!("{} trials so far", measured().trials.len());
    for part in [
        "cardmark run /media/card",
        &trials,
        "random read 4 KiB",
        "refresh: 3",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }

    // A page of another site cannot ask under a name of its own, and nothing is changed.
    for host in ["evil.example", "127.0.0.1.evil.example", ""] {
        assert!(
            mine.ask("GET", "/", host).contains("403 Forbidden"),
            "{host}"
        );
    }
    for method in ["POST", "PUT", "DELETE"] {
        let answer = mine.ask(method, "/api/v1/records", "localhost:8080");
        assert!(answer.contains("403 Forbidden"), "{answer}");
    }
    let expected = [&first, &simulated].map(|record| record.id.to_string());
    let kept = documents(&mut store);
    assert!(
        kept.iter()
            .zip(expected)
            .all(|(document, id)| document.contains(&id))
    );
}

#[test]
fn other_computers_and_missing_stores_are_errors() {
    let home = TempDir::new().unwrap();
    for (listen, said) in [
        ("0.0.0.0:0", "not an address of this computer alone"),
        ("127.0.0.1:0", "`cardmark run` makes the store"),
    ] {
        let output = command(home.path(), listen).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(said), "{text}");
    }
}

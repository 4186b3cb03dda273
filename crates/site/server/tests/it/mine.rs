//! The personal instance: the program over the store of a computer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use cardmark_core::{Record, record_id};
use cardmark_store::{JobKind, Journal, JournalHead, Store};
use serde_json::Value;
use tempfile::TempDir;
use uuid::Uuid;

use crate::rig::{corpus, measured};

const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Mine {
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
    pub(crate) fn start(home: &Path) -> Self {
        Self::spawn(command(home, "127.0.0.1:0"))
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
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

    pub(crate) fn get(&self, path: &str) -> String {
        self.ask("GET", path, "localhost")
    }

    /// Asks until the page holds the text.
    #[track_caller]
    pub(crate) fn until(&self, path: &str, text: &str) -> String {
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

fn ids(store: &mut Store) -> Vec<Uuid> {
    let mut all = Vec::new();
    store
        .documents(|document, _| {
            all.push(record_id(document).unwrap());
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

    // No page claims that something was shared, or leads to one that is not there.
    let (mut waiting, mut seen) = (vec!["/".to_owned()], BTreeSet::new());
    while let Some(path) = waiting.pop() {
        // Pages of what others published are many, and stand on a site too.
        let is_of_others = ["/published/", "/for/"]
            .iter()
            .any(|begin| path.starts_with(begin));
        if !path.starts_with('/') || is_of_others || !seen.insert(path.clone()) {
            continue;
        }
        let page = mine.get(&path.replace("&amp;", "&").replace("&#38;", "&"));
        assert!(page.starts_with("HTTP/1.1 200 "), "{path}: {page}");
        for claim in ["CC0", "Withdraw", "Badge", "received", "shared", "/upload"] {
            let is_data = ["/api/", "/script.js"]
                .iter()
                .any(|begin| path.starts_with(begin));
            assert!(is_data || !page.contains(claim), "{path}: {claim}: {page}");
        }
        let found = page.split("href=\"").skip(1);
        waiting.extend(found.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
    }
    assert!(seen.len() > 20, "{seen:?}");
    let gone = mine.get("/data");
    assert!(gone.starts_with("HTTP/1.1 404 "), "{gone}");

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
    for host in ["localhost:18135@evil", "localhost\r\nhost: localhost"] {
        let answer = mine.ask("GET", "/", host);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{host}: {answer}");
    }
    let answer = mine.ask("GET", "http://evil.example/", "localhost");
    assert!(answer.contains("403 Forbidden"), "{answer}");
    for host in ["LocalHost:8080", "[::1]:8080"] {
        let answer = mine.ask("GET", "/", host);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{host}: {answer}");
    }
    for method in ["POST", "PUT", "DELETE"] {
        let answer = mine.ask(method, "/api/v1/records", "localhost:8080");
        assert!(answer.contains("403 Forbidden"), "{answer}");
    }
    assert_eq!(ids(&mut store), [first.id, simulated.id]);
}

/// Bytes, mode and time of each file of a folder, and mode and time of the folder: a file that was made and deleted again changes them.
fn state(folder: &Path) -> Vec<(PathBuf, Vec<u8>, u32, SystemTime)> {
    let of = |path: PathBuf| {
        let found = path.metadata().unwrap();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let mode = found.permissions().mode();
        (path, bytes, mode, found.modified().unwrap())
    };
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.push(folder.to_owned());
    paths.sort();
    paths.into_iter().map(of).collect()
}

#[test]
fn stores_of_other_boards_stay_as_they_are() {
    let home = TempDir::new().unwrap();
    let folders = [(); 2].map(|()| TempDir::new().unwrap());
    let files = folders
        .each_ref()
        .map(|folder| folder.path().join("records.sqlite"));
    let runs = [
        labelled(measured(), "First 32"),
        corpus("run-sim-a1-32gb-quick"),
    ];
    for (file, run) in files.iter().zip(&runs) {
        Store::open(file).unwrap().insert(run).unwrap();
    }
    for folder in &folders {
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o500)).unwrap();
    }
    let before = folders.each_ref().map(|folder| state(folder.path()));
    let stores = files
        .iter()
        .flat_map(|file| [OsStr::new("--store"), file.as_os_str()]);
    let mut command = command(home.path(), "127.0.0.1:0");
    command.args(stores);
    let mine = Mine::spawn(command);
    for run in &runs {
        mine.until(&format!("/runs/{}", run.id), "random read 4 KiB");
    }
    drop(mine);
    let after = folders.each_ref().map(|folder| state(folder.path()));
    assert_eq!(after, before);
    for folder in &folders {
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_shown() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("records.sqlite");
    let damaged = labelled(measured(), "First 32");
    let misstated = labelled(corpus("run-sim-v30-64gb-quick"), "Misstated 64");
    let whole = labelled(corpus("run-sim-a1-32gb-quick"), "Second 64");
    let mut store = Store::open(&file).unwrap();
    for run in [&damaged, &misstated, &whole] {
        store.insert(run).unwrap();
    }
    drop(store);
    let mut bytes = std::fs::read(&file).unwrap();
    for text in [
        format!("\"id\":\"{}\"", damaged.id),
        format!("\"record_id\":\"{}\"", misstated.id),
    ] {
        let found = bytes
            .windows(text.len())
            .position(|window| window == text.as_bytes());
        bytes[found.unwrap()] = 0;
    }
    std::fs::write(&file, &bytes).unwrap();
    let mut command = command(home.path(), "127.0.0.1:0");
    command.arg("--store").arg(&file);
    let mine = Mine::spawn(command);
    mine.until("/", "Second 64");
    let page = mine.until("/", "Not everything can be shown");
    assert!(
        page.contains(&format!(
            "{}: record <code>{}</code> cannot be used",
            file.display(),
            damaged.id
        )),
        "{page}"
    );
    for hidden in ["First 32", "Misstated 64"] {
        assert!(!page.contains(hidden), "{page}");
    }
}

#[test]
fn a_run_that_is_replaced_meanwhile_is_named() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("records.sqlite");
    // A simulated run has the same id each time.
    let run = corpus("run-sim-a1-32gb-quick");
    let mut store = Store::open(&file).unwrap();
    store.insert(&run).unwrap();
    let mut command = command(home.path(), "127.0.0.1:0");
    command.arg("--store").arg(&file);
    let mine = Mine::spawn(command);
    mine.until(&format!("/runs/{}", run.id), "random read 4 KiB");
    let mut again = run.clone();
    again.tool.as_mut().unwrap().version = "9.9.9".to_owned();
    store.insert(&again).unwrap();
    mine.until("/", &format!("run {}: its record was replaced", run.id));
}

#[test]
fn a_newer_store_is_an_error() {
    let home = TempDir::new().unwrap();
    let file = home.path().join("records.sqlite");
    drop(Store::open(&file).unwrap());
    // `PRAGMA user_version`, in the header of the file (SQLite's file format, 1.3).
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, &bytes).unwrap();
    let mut command = command(home.path(), "127.0.0.1:0");
    let output = command.arg("--store").arg(&file).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("made by a newer cardmark"), "{text}");
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
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

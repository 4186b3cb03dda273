//! The program itself: a withdrawn run is in no log, no dump and no page that the program writes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use cardmark_core::Record;
use cardmark_share::to_hexadecimal;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::rig::{another, bearer, owner_headers, secrets, server, text_in, text_of};

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardmark-site"));
    let database = format!("sqlite:{}", folder.join("site.sqlite").display());
    command
        .env_clear()
        .env("CARDMARK_DATABASE_URL", database)
        .env("CARDMARK_LISTEN", "127.0.0.1:0")
        .env("CARDMARK_DUMPS", folder.join("dumps"))
        .env("CARDMARK_LOG", "trace,sqlx=info");
    command
}

/// A site, whose log is collected.
struct Running {
    child: Child,
    address: SocketAddr,
    log: JoinHandle<String>,
}

/// Starts the site, and waits until its log names its address.
fn start(folder: &Path) -> Running {
    let child = command(folder).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut log = String::new();
    let address = loop {
        let line = lines.next().unwrap_or_else(|| panic!("it ended: {log}"));
        log += &(line.unwrap() + "\n");
        let address = log.split("\"address\":\"").nth(1);
        if let Some((address, _)) = address.and_then(|rest| rest.split_once('"')) {
            break address.parse().unwrap();
        }
    };
    let log = std::thread::spawn(move || lines.fold(log, |log, line| log + &line.unwrap() + "\n"));
    Running {
        child,
        address,
        log,
    }
}

fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, String)],
    body: &str,
) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n"
    );
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream
        .write_all(format!("{head}\r\n{body}").as_bytes())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn submit(address: SocketAddr, owner: u8, record: &Record) {
    let headers = owner_headers(owner, record.id);
    let answer = ask(
        address,
        "POST",
        "/api/v1/records",
        &headers,
        &text_of(record),
    );
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// Names of the files that hold a text, in what is packed in them too.
fn holders(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holders(&path, text));
            continue;
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        if text_in(name, std::fs::read(&path).unwrap()).contains(text) {
            found.push(name.to_owned());
        }
    }
    found
}

#[test]
fn a_withdrawn_run_is_in_no_log_and_in_nothing_that_is_written_later() {
    let folder = TempDir::new().unwrap();
    let mut site = start(folder.path());
    let address = site.address;
    let mut record = another(1);
    let product = ("product".to_owned(), "Quokkaproduct".to_owned());
    record.labels.extend([product]);
    submit(address, 1, &record);
    submit(address, 2, &another(2));
    let page = ask(address, "GET", &format!("/runs/{}", record.id), &[], "");
    assert!(page.contains("Quokkaproduct"), "{page}");
    let search = ask(address, "GET", "/runs?product=quokkaproduct", &[], "");
    assert!(search.contains(&record.id.to_string()), "{search}");
    let token = [("authorization", bearer(1, record.id))];
    let path = format!("/api/v1/records/{}", record.id);
    let withdrawn = ask(address, "DELETE", &path, &token, "");
    assert!(withdrawn.starts_with("HTTP/1.1 200"), "{withdrawn}");
    for path in ["/", "/runs", "/products", "/feed.atom", "/boards", "/data"] {
        let page = ask(address, "GET", path, &[], "").to_lowercase();
        assert!(!page.contains("quokkaproduct"), "{path}");
        assert!(!page.contains(&record.id.to_string()), "{path}");
    }
    kill_process(Pid::from_child(&site.child), Signal::TERM).unwrap();
    assert!(site.child.wait().unwrap().success());

    for arguments in [["dump"].as_slice(), &["export", "--static"]] {
        let place = folder.path().join(arguments[0]);
        let written = command(folder.path())
            .args(arguments)
            .arg(&place)
            .output()
            .unwrap();
        assert!(written.status.success(), "{written:?}");
    }
    let id = record.id.to_string();
    for part in ["dump", "export"] {
        let part = folder.path().join(part);
        assert_eq!(holders(&part, "quokkaproduct"), Vec::<String>::new());
        assert_eq!(holders(&part, &id), ["tombstones.jsonl"]);
        // Documents, and the tables of runs and figures.
        let of_other = holders(&part, &another(2).id.to_string());
        for (end, count) in [(".jsonl.zst", 1), (".parquet", 2)] {
            let found = of_other.iter().filter(|name| name.ends_with(end));
            assert_eq!(found.count(), count, "{end} in {of_other:?}");
        }
    }
    let log = site.log.join().unwrap();
    assert!(log.contains("\"route\":\"/runs/{id}\""), "{log}");
    let log = log.to_lowercase();
    let tag = to_hexadecimal(&secrets(1).tag(&server()));
    for secret in ["quokkaproduct", &id, &record.id.simple().to_string(), &tag] {
        assert!(!log.contains(secret), "{secret}");
    }
}

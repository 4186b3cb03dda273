//! A results site that answers as a test tells it, and remembers the requests.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use cardmark_core::{documents_of, parse_record};
use flate2::read::GzDecoder;
use serde_json::{Value, json};

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// The body, unpacked if it is packed.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        if self.headers.get("content-encoding").map(String::as_str) == Some("gzip") {
            GzDecoder::new(&self.body[..])
                .read_to_string(&mut text)
                .unwrap();
        } else {
            text = String::from_utf8(self.body.clone()).unwrap();
        }
        text
    }

    /// The id of the run that it is about.
    fn run(&self) -> String {
        let mut parts = self.path.split('/').skip(4);
        match parts.next() {
            Some(id) => id.to_owned(),
            None => {
                let text = self.text();
                let record = parse_record(documents_of(&text).0).unwrap();
                record.id.to_string()
            }
        }
    }
}

/// An answer in place of the usual one.
pub(crate) enum Instead {
    /// Status, a header, and a document.
    Answer(u16, &'static str, Value),
    /// The state in an otherwise usual answer, and its checks.
    State(&'static str, Value),
}

#[derive(Default)]
struct State {
    seen: Vec<Seen>,
    script: VecDeque<Instead>,
}

/// The site. It accepts everything, unless a test wants something else.
pub(crate) struct Site {
    pub(crate) origin: String,
    state: Arc<Mutex<State>>,
}

impl Site {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let shared = Arc::clone(&state);
        // Ends with the process of the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(&stream.unwrap(), &shared);
            }
        });
        Self { origin, state }
    }

    /// Answers the next requests in these ways, later ones as usual.
    pub(crate) fn answer(&self, script: impl IntoIterator<Item = Instead>) {
        self.state.lock().unwrap().script.extend(script);
    }

    /// The requests so far, which are forgotten.
    pub(crate) fn take(&self) -> Vec<Seen> {
        std::mem::take(&mut self.state.lock().unwrap().seen)
    }

    /// The one request so far, which is forgotten.
    #[track_caller]
    pub(crate) fn take_one(&self) -> Seen {
        let mut seen = self.take();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen.remove(0)
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) {
    // A connection that closes without a request.
    let Some(seen) = read(stream) else {
        return;
    };
    let mut state = state.lock().unwrap();
    let (status, header, document) = match state.script.pop_front() {
        Some(Instead::Answer(status, header, document)) => (status, header, document),
        Some(Instead::State(word, checks)) => (201, "", usual(&seen, word, &checks)),
        None if seen.path == "/api/v1/seeds" => {
            let seed = json!({"seed": "f000000000c0ffee", "valid_until": "2026-12-02"});
            (201, "", seed)
        }
        None => {
            let word = match seen.method.as_str() {
                "DELETE" => "withdrawn",
                _ => "shared",
            };
            let status = if seen.method == "POST" { 201 } else { 200 };
            (status, "", usual(&seen, word, &json!([])))
        }
    };
    state.seen.push(seen);
    drop(state);
    let body = document.to_string();
    let header = match header {
        "" => String::new(),
        header => format!("{header}\r\n"),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{header}connection: close\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    // The program may have ended.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body.as_bytes());
}

fn usual(seen: &Seen, state: &str, checks: &Value) -> Value {
    let run = seen.run();
    json!({
        "id": run, "state": state, "level": "measured", "received_on": "2026-11-25", "revision": 1,
        "path": format!("/runs/{run}"), "checks": checks,
    })
}

fn read(stream: &TcpStream) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
    let length = headers.get("content-length");
    let mut body = vec![0; length.map_or(0, |text| text.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    Some(Seen {
        method,
        path,
        headers,
        body,
    })
}

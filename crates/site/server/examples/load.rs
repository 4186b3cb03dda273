//! Load for a site at a fixed rate: `load ADDRESS KIND RATE SECONDS [CONNECTIONS]`, KIND is `submit` or a file of paths.
//! `load document` prints the document of a submission.
//!
//! Latency counts from the moment at which the request was to be sent, not from the one at which a connection was free:
//! otherwise a slow answer would hide those that waited behind it. Submissions are one run of `quick`, measured
//! at the rates of a usual card (`benchmarks/site/card-run`), each with another id, card, and one time changed where no check sees it; all
//! are made before the clock starts.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program for the hand"
)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cardmark_core::{Record, Sample, parse_record, record_to_json};
use cardmark_samples::in_a_reader;
use cardmark_share::{
    Secrets, Server, TAG_HEADER, TOKEN_HASH_HEADER, to_hexadecimal, write_submission,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::sleep_until;
use uuid::Uuid;

/// Products; the first takes half of all submissions.
const PRODUCTS: [&str; 4] = [
    "SanDisk Ultra 32 GB",
    "Samsung EVO Plus 64 GB",
    "Kingston Canvas Select Plus 32 GB",
    "Lexar 633x 32 GB",
];
/// Submitters.
const SUBMITTERS: u8 = 200;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["document"] {
        let (document, _) = write_submission(&another(&measured(), 1, 0), 1, &[]).unwrap();
        print!("{document}");
        return;
    }
    let [address, kind, rate, seconds, rest @ ..] = words.as_slice() else {
        println!(
            "usage: load ADDRESS submit|FILE-OF-PATHS RATE SECONDS [CONNECTIONS] | load document"
        );
        return;
    };
    let (rate, seconds): (f64, f64) = (rate.parse().unwrap(), seconds.parse().unwrap());
    let connections = rest.first().map_or(64, |text| text.parse().unwrap());
    let count = (rate * seconds) as usize;
    let requests = match kind.as_str() {
        "submit" => {
            let made = submissions(address, count);
            eprintln!("{count} submissions made");
            made
        }
        file => reads(address, file, count),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(load(address, Arc::new(requests), rate, connections));
}

fn reads(address: &str, file: &str, count: usize) -> Vec<Vec<u8>> {
    let paths = std::fs::read_to_string(file).unwrap();
    let paths: Vec<&str> = paths.lines().collect();
    let request = |index: usize| {
        let path = paths[index % paths.len()];
        format!("GET {path} HTTP/1.1\r\nhost: {address}\r\n\r\n").into_bytes()
    };
    (0..count).map(request).collect()
}

fn measured() -> Record {
    let path = format!("{}/fixtures/run-quick.json.zst", env!("CARGO_MANIFEST_DIR"));
    let packed = std::fs::read(path).unwrap();
    let text = String::from_utf8(zstd::bulk::decompress(&packed, 16 << 20).unwrap()).unwrap();
    let mut record = in_a_reader(&parse_record(&text).unwrap());
    // It is sent under the names of products of several sizes.
    record.devices[0].size_bytes = None;
    record
}

fn submissions(address: &str, count: usize) -> Vec<Vec<u8>> {
    let base = measured();
    let server: Server = format!("http://{address}").parse().unwrap();
    let first = Uuid::new_v4().as_u128();
    (0..count)
        .map(|index| {
            let record = another(&base, first, index);
            request(address, &server, &record, index)
        })
        .collect()
}

fn another(base: &Record, first: u128, index: usize) -> Record {
    let mut record = base.clone();
    record.id = Uuid::from_u128(first.wrapping_add(index as u128));
    let product = if index.is_multiple_of(2) {
        0
    } else {
        1 + index / 2 % (PRODUCTS.len() - 1)
    };
    record
        .labels
        .insert("product".to_owned(), PRODUCTS[product].to_owned());
    if let Some(device) = record.devices.first_mut() {
        device.sample = Some(Sample::of_card(format!("{:06x}", index / 3 % (1 << 24))));
    }
    let last = record.trials.last_mut().unwrap();
    last.started_ns += index as u64 + (first as u64 & 0xffff) * 1_000_000;
    record
}

fn request(address: &str, server: &Server, record: &Record, index: usize) -> Vec<u8> {
    assert!(record_to_json(record).is_ok());
    let (text, _) = write_submission(record, 1, &[]).unwrap();
    let body = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
    let secrets = Secrets::new([(index % SUBMITTERS as usize) as u8; 32]);
    let tag = to_hexadecimal(&secrets.tag(server));
    let hash = to_hexadecimal(&secrets.edit_token(server, record.id).hash());
    let head = format!(
        "POST /api/v1/records HTTP/1.1\r\nhost: {address}\r\ncontent-encoding: zstd\r\ncontent-length: {}\r\n{TAG_HEADER}: {tag}\r\n{TOKEN_HASH_HEADER}: {hash}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

async fn load(address: &str, requests: Arc<Vec<Vec<u8>>>, rate: f64, connections: usize) {
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let mut workers = Vec::new();
    for _ in 0..connections {
        let (next, requests, address) =
            (Arc::clone(&next), Arc::clone(&requests), address.to_owned());
        workers.push(tokio::spawn(async move {
            let mut stream = BufReader::new(TcpStream::connect(&address).await.unwrap());
            let mut done = Vec::new();
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(request) = requests.get(index) else {
                    return done;
                };
                let due = began + Duration::from_secs_f64(index as f64 / rate);
                sleep_until(due.into()).await;
                let status = match exchange(&mut stream, request).await {
                    Ok(status) => status,
                    Err(_) => {
                        stream = BufReader::new(TcpStream::connect(&address).await.unwrap());
                        0
                    }
                };
                done.push((status, due.elapsed()));
            }
        }));
    }
    let mut all = Vec::new();
    for worker in workers {
        all.extend(worker.await.unwrap());
    }
    report(&all, began.elapsed());
}

/// Sends a request and reads the whole answer; returns its status.
async fn exchange(stream: &mut BufReader<TcpStream>, request: &[u8]) -> std::io::Result<u16> {
    stream.get_mut().write_all(request).await?;
    let (mut status, mut length) = (0, 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(rest) = line.strip_prefix("http/1.1 ") {
            status = rest
                .get(..3)
                .and_then(|text| text.parse().ok())
                .unwrap_or(0);
        }
        if let Some(rest) = line.strip_prefix("content-length: ") {
            length = rest.parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(status)
}

fn report(all: &[(u16, Duration)], took: Duration) {
    let mut by_status = BTreeMap::<u16, usize>::new();
    for (status, _) in all {
        *by_status.entry(*status).or_default() += 1;
    }
    let mut times: Vec<Duration> = all
        .iter()
        .filter(|(status, _)| (200..300).contains(status))
        .map(|one| one.1)
        .collect();
    times.sort();
    let at = |share: f64| {
        let index = (share * times.len().saturating_sub(1) as f64) as usize;
        times
            .get(index)
            .map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    let good = times.len() as f64 / took.as_secs_f64();
    println!(
        "statuses {by_status:?}; {good:.0} accepted/s; ms: p50 {:.1}, p99 {:.1}, max {:.1}",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

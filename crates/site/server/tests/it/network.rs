//! Connections: slow ones, idle ones, and the end of the process.

use std::net::SocketAddr;
use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::rig::{Rig, config, measured, shell, text_of};

struct Up {
    address: SocketAddr,
    end: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn up(rig: &Rig, head_time: Duration, connections: usize) -> Up {
    let served = cardmark_site::listen("127.0.0.1:0".parse().unwrap(), connections, false).unwrap();
    let address = served.address().unwrap();
    let (end, wait) = oneshot::channel();
    let router = rig.router.clone();
    // A busy machine may need long.
    let served = served
        .with_head_time(head_time)
        .with_end_time(Duration::from_secs(3_600));
    let ended = tokio::spawn(served.run(router, async move {
        let _ = wait.await;
    }));
    Up {
        address,
        end,
        ended,
    }
}

/// More than any socket buffers, and not read.
#[tokio::test]
async fn a_client_that_does_not_read_is_closed() {
    let rig = Rig::new().await;
    let served = cardmark_site::listen("127.0.0.1:0".parse().unwrap(), 64, false).unwrap();
    let address = served.address().unwrap();
    let served = served.with_stall_time(Duration::from_millis(200));
    tokio::spawn(served.run(rig.router.clone(), std::future::pending()));
    let (_reader, mut writer) = TcpStream::connect(address).await.unwrap().into_split();
    let request = b"GET /api/v1/openapi.json HTTP/1.1\r\nhost: x\r\n\r\n";
    let closed = async { while writer.write_all(request).await.is_ok() {} };
    let patience = Duration::from_secs(60);
    assert!(tokio::time::timeout(patience, closed).await.is_ok());
    assert!(ask(address).await.contains("200 OK"));
}

#[tokio::test]
async fn slow_bodies_take_no_place_from_others() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 256).await;
    let mut slow = Vec::new();
    for _ in 0..100 {
        let mut stream = TcpStream::connect(up.address).await.unwrap();
        let head = "POST /api/v1/records HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
        slow.push(stream);
    }
    assert!(ask(up.address).await.contains("200 OK"));
    let answer = rig.submit(1, &text_of(&measured())).await;
    assert_eq!(answer.status, StatusCode::CREATED);
}

async fn ask(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// Reads until the site closes the connection; a reset is an end too.
async fn until_closed(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    bytes
}

#[tokio::test]
async fn connections_that_send_nothing_or_half_a_head_are_closed() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_millis(200), 64).await;
    let silent = TcpStream::connect(up.address).await.unwrap();
    let mut half = TcpStream::connect(up.address).await.unwrap();
    half.write_all(b"GET /health HT").await.unwrap();
    assert!(until_closed(silent).await.is_empty());
    until_closed(half).await;
    // A busy machine may send a head too late.
    let mut is_answered = false;
    for _ in 0..100 {
        let mut idle = TcpStream::connect(up.address).await.unwrap();
        let sent = idle
            .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n")
            .await;
        if sent.is_ok() && until_closed(idle).await.starts_with(b"HTTP/1.1 200 OK") {
            is_answered = true;
            break;
        }
    }
    assert!(is_answered);
}

/// Begins a request and sends no body: it is under way.
async fn begun(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = "POST /api/v1/records HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut word = [0; 25];
    stream.read_exact(&mut word).await.unwrap();
    stream
}

#[tokio::test]
async fn more_requests_than_connections_are_turned_away_and_places_become_free() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 8).await;
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(begun(up.address).await);
    }
    let turned_away = TcpStream::connect(up.address).await.unwrap();
    assert!(until_closed(turned_away).await.is_empty());
    open.clear();
    // The places become free when the site has seen the ends.
    loop {
        let mut stream = TcpStream::connect(up.address).await.unwrap();
        let sent = stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await;
        if sent.is_ok() && until_closed(stream).await.starts_with(b"HTTP/1.1 200") {
            break;
        }
    }
}

/// Asks on an open connection; returns the beginning of the answer.
async fn ask_on(stream: &mut TcpStream) -> String {
    let request = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n";
    stream.write_all(request).await.unwrap();
    let mut answer = [0; 4096];
    let count = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

/// Connects from an address of this computer.
async fn connect_from(source: String, address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind(format!("{source}:0").parse().unwrap()).unwrap();
    socket.connect(address).await.unwrap()
}

#[tokio::test]
async fn idle_connections_of_many_blocks_push_nobody_out() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 64).await;
    let mut kept = connect_from("127.0.9.1".to_owned(), up.address).await;
    let mut idle = Vec::new();
    for number in 0..200 {
        let mut stream = connect_from(format!("127.1.{}.1", number % 40), up.address).await;
        // Some are idle after a request.
        if number % 3 == 0 {
            assert!(ask_on(&mut stream).await.starts_with("HTTP/1.1 200"));
        }
        idle.push(stream);
        assert!(ask_on(&mut kept).await.starts_with("HTTP/1.1 200"));
        assert!(ask(up.address).await.contains("200 OK"));
    }
    // The first ones made room.
    for stream in idle.drain(..100) {
        until_closed(stream).await;
    }
    drop(idle);
}

#[tokio::test]
async fn a_request_names_exactly_one_host() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 64).await;
    for (request, status) in [
        ("GET /health HTTP/1.1\r\n", 400),
        ("GET /health HTTP/1.1\r\nhost: a\r\nhost: a\r\n", 400),
        ("GET /health HTTP/1.1\r\nhost: a\r\nHost: b\r\n", 400),
        ("GET /health HTTP/1.1\r\nhost: a@b\r\n", 400),
        ("GET /health HTTP/1.1\r\nhost: a b\r\n", 400),
        ("GET /health HTTP/1.1\r\nhost: a/b\r\n", 400),
        ("GET http://a/health HTTP/1.1\r\n", 400),
        ("GET http://a@b/health HTTP/1.1\r\nhost: b\r\n", 400),
        ("GET http://a/health HTTP/1.1\r\nhost: b\r\n", 200),
        ("GET /health HTTP/1.1\r\nhost: [::1]:80\r\n", 200),
        ("GET /health HTTP/1.0\r\n", 200),
        ("GET /health HTTP/1.0\r\nhost: a\r\nhost: a\r\n", 400),
        (
            "POST /api/v1/records HTTP/1.1\r\ncontent-length: 2\r\n",
            400,
        ),
    ] {
        let mut stream = TcpStream::connect(up.address).await.unwrap();
        let text = format!("{request}connection: close\r\n\r\n{{}}");
        stream.write_all(text.as_bytes()).await.unwrap();
        let answer = String::from_utf8(until_closed(stream).await).unwrap();
        let expected = format!(
            "HTTP/1.{} {status} ",
            if request.contains("HTTP/1.0") { 0 } else { 1 }
        );
        assert!(answer.starts_with(&expected), "{request}: {answer}");
        if status == 400 {
            assert!(answer.contains("application/problem+json"), "{answer}");
        }
    }
    // The target comes first.
    let mut stream = TcpStream::connect(up.address).await.unwrap();
    let text =
        "GET http://b.example/feed.atom HTTP/1.1\r\nhost: a.example\r\nconnection: close\r\n\r\n";
    stream.write_all(text.as_bytes()).await.unwrap();
    let feed = String::from_utf8(until_closed(stream).await).unwrap();
    assert!(
        feed.contains("http://b.example") && !feed.contains("a.example"),
        "{feed}"
    );
}

#[tokio::test]
async fn idle_connections_do_not_delay_the_end() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 64).await;
    let silent = TcpStream::connect(up.address).await.unwrap();
    let mut half = TcpStream::connect(up.address).await.unwrap();
    half.write_all(b"GET /health HT").await.unwrap();
    let mut kept = TcpStream::connect(up.address).await.unwrap();
    assert!(ask_on(&mut kept).await.starts_with("HTTP/1.1 200"));
    up.end.send(()).unwrap();
    up.ended.await.unwrap();
    for stream in [silent, half, kept] {
        until_closed(stream).await;
    }
}

/// The test ends, since the process is killed with the request that waits for it.
#[test]
fn a_reader_that_never_ends_does_not_outlive_the_site() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("process");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let process: u32 = runtime.block_on(async {
        let reader = shell(r#"echo $$ > "$0"; while :; do :; done"#, &path, 60);
        let rig = Rig::reading(config(), reader).await;
        let served = cardmark_site::listen("127.0.0.1:0".parse().unwrap(), 64, false).unwrap();
        let address = served.address().unwrap();
        let (end, wait) = oneshot::channel::<()>();
        let served = served.with_end_time(Duration::ZERO);
        let ended = tokio::spawn(served.run(rig.router.clone(), async move {
            let _ = wait.await;
        }));
        let form = "--b\r\ncontent-disposition: form-data; name=\"text\"\r\n\r\nx\r\n--b--\r\n";
        let request = format!(
            "POST /upload HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let process = loop {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(process) = text.strip_suffix('\n') {
                break process.parse().unwrap();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        };
        end.send(()).unwrap();
        ended.await.unwrap();
        process
    });
    runtime.shutdown_background();
    while std::path::Path::new(&format!("/proc/{process}")).exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[tokio::test]
async fn oversized_heads_are_refused() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 64).await;
    let mut stream = TcpStream::connect(up.address).await.unwrap();
    let long = "a".repeat(64 << 10);
    let _ = stream
        .write_all(format!("GET /{long} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes())
        .await;
    let answer = String::from_utf8_lossy(&until_closed(stream).await).into_owned();
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
    assert!(ask(up.address).await.contains("200 OK"));
}

/// A client that asks before it sends a body of this length.
async fn asking_first(rig: &Rig, length: &str) -> (Up, TcpStream) {
    let up = up(rig, Duration::from_secs(3_600), 64).await;
    let mut stream = TcpStream::connect(up.address).await.unwrap();
    let head = format!(
        "POST /api/v1/records HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    (up, stream)
}

/// A client that asks first whether to send a body that is too large gets no word to go on.
#[tokio::test]
async fn a_body_that_is_refused_is_not_asked_for() {
    let rig = Rig::new().await;
    let (_up, stream) = asking_first(&rig, "content-length: 9000000").await;
    let answer = String::from_utf8_lossy(&until_closed(stream).await).into_owned();
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
}

/// Once it sends, it gets the reason for the refusal all the same.
#[tokio::test]
async fn a_body_that_grows_too_large_is_read_to_the_answer() {
    let rig = Rig::new().await;
    let (_up, mut stream) = asking_first(&rig, "transfer-encoding: chunked").await;
    let mut word = [0; 25];
    stream.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    let chunk = [b"100000\r\n".as_slice(), &[b' '; 1 << 20], b"\r\n"].concat();
    for _ in 0..9 {
        stream.write_all(&chunk).await.unwrap();
    }
    stream.write_all(b"0\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
}

#[tokio::test]
async fn a_request_under_way_is_answered_before_the_end() {
    let rig = Rig::new().await;
    let up = up(&rig, Duration::from_secs(3_600), 64).await;
    let mut stream = TcpStream::connect(up.address).await.unwrap();
    stream
        .write_all(b"POST /api/v1/records HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{")
        .await
        .unwrap();
    // The head has arrived: the second request is answered after it.
    assert!(ask(up.address).await.contains("200 OK"));
    up.end.send(()).unwrap();
    while TcpStream::connect(up.address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    stream.write_all(b"}").await.unwrap();
    let answer = String::from_utf8(until_closed(stream).await).unwrap();
    assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
    up.ended.await.unwrap();
}

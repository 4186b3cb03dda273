//! `cardmark open`: who gets in, and who does not.

mod pages;
mod server;
mod work;

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cardmark_testkit::{install_script, needs};
use rustix::process::Signal;
use tempfile::TempDir;

use crate::common::{NOBODY, assert_error, program, scratch, text};
use server::{Server, status};

/// A request with this status, and no page in its answer.
#[track_caller]
fn assert_refused(answer: &str, expected: u16) {
    assert_eq!(status(answer), expected, "{answer}");
    assert!(!answer.contains("<html"), "{answer}");
}

/// A folder that everybody may enter.
fn for_everybody() -> std::io::Result<TempDir> {
    let folder = tempfile::tempdir_in("/var/tmp")?;
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    Ok(folder)
}

#[test]
fn the_key_is_needed() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let (host, key) = (server.host(), server.token.as_str());
    assert_eq!(key.len(), 64);
    let page = server.get("/").unwrap();
    assert!(status(&page) == 200 && page.contains("Your runs"), "{page}");
    for field in [
        "Cache-Control: no-store",
        "Cross-Origin-Resource-Policy: same-origin",
        "X-Frame-Options: DENY",
        "frame-ancestors 'none'",
    ] {
        assert!(page.contains(field), "{field}: {page}");
    }
    assert!(!page.to_lowercase().contains("access-control"), "{page}");
    for target in [
        "/".to_owned(),
        "/runs".to_owned(),
        "/style.css".to_owned(),
        format!("/?token={}", "0".repeat(64)),
        format!("/?token={}", &key[..63]),
        format!("/runs?token={key}"),
    ] {
        assert_refused(&server.ask("GET", &target, &[&host]).unwrap(), 403);
    }
    let of_key = format!("Cookie: cardmark-{}={key}", server.port);
    assert_refused(&server.ask("GET", "/", &[&host, &of_key]).unwrap(), 403);
    // Another start has other keys.
    let other = Server::entered(&home, &[]).unwrap();
    assert_ne!(other.token, server.token);
    let foreign = server
        .cookie
        .replace(&server.port.to_string(), &other.port.to_string());
    let answer = other.ask("GET", "/", &[&other.host(), &foreign]).unwrap();
    assert_refused(&answer, 403);
}

/// DNS rebinding: a page asks under its own name, which leads here.
#[test]
fn other_names_for_this_computer_are_refused() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let port = server.port;
    for host in [
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost:{port}@evil.example"),
        "127.0.0.1".to_owned(),
        format!("[::1]:{port}"),
        format!("0.0.0.0:{port}"),
        String::new(),
        format!("127.0.0.1:{port}\r\nHost: 127.0.0.1:{port}"),
    ] {
        let host = format!("Host: {host}");
        let entry = format!("/?token={}", server.token);
        for target in ["/", "/runs", "/script.js", entry.as_str()] {
            let answer = server.ask("GET", target, &[&host, &server.cookie]).unwrap();
            assert_refused(&answer, 403);
        }
    }
    let none = server.ask("GET", "/", &[&server.cookie]).unwrap();
    assert_refused(&none, 403);
    let absolute = format!("http://evil.example:{port}/");
    let answer = server
        .ask("GET", &absolute, &[&server.host(), &server.cookie])
        .unwrap();
    assert_refused(&answer, 400);
    let host = format!("Host: localhost:{port}");
    let page = server.ask("GET", "/", &[&host, &server.cookie]).unwrap();
    assert_eq!(status(&page), 200, "{page}");
}

#[test]
fn requests_of_other_pages_are_refused() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let (host, own, port) = (server.host(), server.origin(), server.port);
    let other_port = "Origin: http://127.0.0.1:1".to_owned();
    let other_name = format!("Origin: http://localhost:{port}");
    for origin in [
        "Origin: http://evil.example",
        "Origin: null",
        other_port.as_str(),
        other_name.as_str(),
    ] {
        for (method, target) in [("POST", "/under-way/stop?work=a"), ("GET", "/runs")] {
            let answer = server
                .ask(method, target, &[&host, &server.cookie, origin])
                .unwrap();
            assert_refused(&answer, 403);
        }
    }
    for site in ["cross-site", "same-site"] {
        let site = format!("Sec-Fetch-Site: {site}");
        for fields in [
            vec![&host, &server.cookie, &site],
            vec![&host, &server.cookie, &own, &site],
        ] {
            let fields: Vec<&str> = fields.into_iter().map(String::as_str).collect();
            assert_refused(&server.ask("GET", "/runs", &fields).unwrap(), 403);
        }
    }
    let bare = server
        .ask("POST", "/under-way/stop?work=a", &[&host, &server.cookie])
        .unwrap();
    assert_refused(&bare, 403);
    // What its own pages may send is one address.
    let sent = |method: &str, target: &str| {
        server
            .ask(method, target, &[&host, &server.cookie, &own])
            .unwrap()
    };
    let none = sent("POST", "/under-way/stop?work=a");
    assert!(
        status(&none) == 422 && none.contains("here is no such work"),
        "{none}"
    );
    assert_refused(&sent("POST", "/"), 405);
    for method in ["PUT", "DELETE", "OPTIONS", "CONNECT"] {
        assert_refused(&sent(method, "/"), 405);
    }
}

/// A shell of another user that connects to the port `$1`, sends `$2`, and prints the answer.
const CONNECT: &str = "exec 3<>\"/dev/tcp/127.0.0.1/$1\" && printf \"$2\" >&3 && cat <&3";
/// The same that connects 200 times, holds all, and waits.
const CONNECT_OFTEN: &str =
    "for i in {1..200}; do exec {held}<>\"/dev/tcp/127.0.0.1/$1\"; done; echo held; exec sleep 60";

/// The shell of this user with that script.
fn shell(user: u32, script: &str, server: &Server, request: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .args(["-c", script, "bash", &server.port.to_string(), request])
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .uid(user)
        .gid(user);
    command
}

#[test]
fn other_users_get_no_answer_even_with_the_key() {
    needs!(Root);
    let (scratch, open) = (scratch(), for_everybody().unwrap());
    let asked = |user: u32, server: &Server, target: &str, field: &str| {
        let host = server.host();
        let request = format!("GET {target} HTTP/1.1\\r\\n{host}\\r\\n{field}\\r\\n\\r\\n");
        let output = shell(user, CONNECT, server, &request).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let entry = |server: &Server| format!("/?token={}", server.token);
    // That of root, asked by nobody.
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    for (target, field) in [
        ("/".to_owned(), "Accept: text/html"),
        ("/".to_owned(), server.cookie.as_str()),
        (entry(&server), "Accept: text/html"),
    ] {
        assert_eq!(asked(NOBODY, &server, &target, field), "", "{target}");
    }
    assert_eq!(status(&server.get("/").unwrap()), 200);

    // That of nobody, asked by another ordinary user, by nobody, and by root.
    let theirs = program(&open).as_user(NOBODY);
    let server = Server::start(&theirs, &[]).unwrap();
    let target = entry(&server);
    assert_eq!(asked(NOBODY - 1, &server, &target, "A: b"), "");
    let answer = asked(NOBODY, &server, &target, "A: b");
    assert!(answer.contains("Set-Cookie: "), "{answer}");
    let answer = asked(NOBODY, &server, "/", "A: b");
    assert_refused(&answer, 403);
    assert_refused(&server.ask("GET", "/", &[&server.host()]).unwrap(), 403);
    let answer = server.ask("GET", &target, &[&server.host()]).unwrap();
    assert!(answer.contains("Set-Cookie: "), "{answer}");
}

#[test]
fn connections_of_other_users_take_no_place() {
    needs!(Root);
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let mut other = shell(NOBODY, CONNECT_OFTEN, &server, "").spawn().unwrap();
    let mut word = [0; 4];
    let held = other.stdout.as_mut().unwrap().read_exact(&mut word);
    let answer = server.get("/");
    other.kill().unwrap();
    other.wait().unwrap();
    held.unwrap();
    assert_eq!((&word, status(&answer.unwrap())), (b"held", 200));
}

#[test]
fn the_browser_learns_the_key_from_a_file_of_the_user_alone() {
    needs!(Root);
    let (scratch, tools) = (for_everybody().unwrap(), for_everybody().unwrap());
    let script = "printf '%s\\n' \"$@\" > \"$HOME/words\"\n\
                  stat -c '%a %u' \"$1\" \"$(dirname \"$1\")\" > \"$HOME/modes\"\n\
                  cp \"$1\" \"$HOME/page.part\" && mv \"$HOME/page.part\" \"$HOME/page\"\n\
                  exec sleep 60";
    install_script(script, &tools.path().join("xdg-open"));
    let theirs = program(&scratch).as_user(NOBODY).with_path(tools.path());
    let mut command = theirs.command(&["open"]);
    command.env("DISPLAY", ":77");
    let server = Server::spawn(command).unwrap();
    let page = theirs.file("page");
    let begin = Instant::now();
    while !page.exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no browser");
        std::thread::sleep(Duration::from_millis(20));
    }
    let page = std::fs::read_to_string(page).unwrap();
    let address = format!("http://127.0.0.1:{}/?token={}", server.port, server.token);
    assert!(page.contains(&format!("url={address}")), "{page}");
    let modes = std::fs::read_to_string(theirs.file("modes")).unwrap();
    assert_eq!(modes, format!("600 {NOBODY}\n700 {NOBODY}\n"));
    let words = std::fs::read_to_string(theirs.file("words")).unwrap();
    let file = words.trim_end();
    assert!(Path::new(file).exists(), "{words}");
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        for name in ["cmdline", "environ"] {
            let bytes = std::fs::read(entry.path().join(name)).unwrap_or_default();
            let shown = String::from_utf8_lossy(&bytes);
            assert!(
                !shown.contains(&server.token),
                "{}: {shown}",
                entry.path().display()
            );
        }
    }
    let output = server.end(Signal::INT).unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!Path::new(file).exists(), "{words}");
    assert!(!Path::new(file).parent().unwrap().exists(), "{words}");
}

#[test]
fn root_opens_no_browser() {
    needs!(Root);
    let (scratch, tools) = (scratch(), scratch());
    install_script("touch \"$HOME/opened\"", &tools.path().join("xdg-open"));
    let program = program(&scratch).with_path(tools.path());
    let mut command = program.command(&["open"]);
    command.env("DISPLAY", ":77");
    let server = Server::spawn(command).unwrap();
    let output = server.end(Signal::TERM).unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!program.file("opened").exists());
}

#[test]
fn paths_outside_are_nothing() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    for path in [
        "/etc/passwd",
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "//etc/passwd",
        "/style.css/../../etc/passwd",
        "/runs/..%2f..%2fetc%2fpasswd/record",
        "/published/..%2f..%2fCargo.toml",
        "/runs/%00",
        "/%ff",
        "/api/v1/records",
        "/moderation",
        "/upload",
    ] {
        let page = server.get(path).unwrap();
        assert_eq!(status(&page), 404, "{path}: {page}");
        assert!(!page.contains("root:"), "{path}: {page}");
    }
    for path in ["", "etc/passwd", "*", "file:///etc/passwd"] {
        assert_refused(&server.get(path).unwrap(), 400);
    }
}

#[test]
fn large_requests_are_refused() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let (host, own) = (server.host(), server.origin());
    let large = format!("X: {}", "x".repeat(40_000));
    assert_refused(&server.ask("GET", "/", &[&host, &large]).unwrap(), 431);
    let many: Vec<String> = (0..100).map(|number| format!("X{number}: x")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_refused(&server.ask("GET", "/", &many).unwrap(), 431);
    let long = format!("/{}", "x".repeat(40_000));
    assert_refused(&server.ask("GET", &long, &[&host]).unwrap(), 431);
    for (field, expected) in [
        ("Content-Length: 1000000", 413),
        ("Content-Length: -1", 400),
        ("Transfer-Encoding: chunked", 411),
    ] {
        let fields = [host.as_str(), &server.cookie, &own, field];
        assert_refused(
            &server.ask("POST", "/under-way/stop", &fields).unwrap(),
            expected,
        );
    }
    assert_refused(&server.send("\u{1}\r\n\r\n").unwrap(), 400);
    assert_eq!(status(&server.get("/").unwrap()), 200);
}

/// Slow requests end after some seconds; others are answered meanwhile, and after them.
#[test]
fn slow_and_many_connections_take_no_place_for_long() {
    let scratch = scratch();
    let home = program(&scratch);
    let server = Server::entered(&home, &[]).unwrap();
    let slow = || {
        let mut stream = server.connect()?;
        stream.write_all(b"GET / HTTP/1.1\r\nHost: 127")?;
        Ok::<_, std::io::Error>(stream)
    };
    let few: Vec<_> = (0..8).map(|_| slow().unwrap()).collect();
    assert_eq!(status(&server.get("/").unwrap()), 200);
    let many: Vec<_> = (0..60).map(|_| slow().unwrap()).collect();
    assert_eq!(status(&server.get("/").unwrap()), 200);
    for mut stream in few.into_iter().chain(many) {
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        assert_refused(&answer, 408);
    }
}

#[test]
fn signals_end_it_at_once() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let scratch = scratch();
        let home = program(&scratch);
        let server = Server::entered(&home, &[]).unwrap();
        let port = server.port;
        let held = server.connect().unwrap();
        let output = server.end(signal).unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        drop(held);
        TcpListener::bind(("127.0.0.1", port)).unwrap();
    }
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let scratch = scratch();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = program(&scratch).run(&["open", "--port", &port]);
    assert_error(&output, 3, &["cannot use port", "any free port"]);
}

#[test]
fn missing_and_newer_stores_are_errors() {
    let scratch = scratch();
    let program = program(&scratch);
    let file = scratch.path().join("copy.sqlite");
    let output = program.run(&["open", "--store", text(&file)]);
    assert_error(&output, 3, &["copy.sqlite"]);
    assert!(!file.exists());
    drop(cardmark_store::Store::open(&file).unwrap());
    // `PRAGMA user_version`, in the header of the file (SQLite's file format, 1.3).
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, &bytes).unwrap();
    let output = program.run(&["open", "--store", text(&file)]);
    assert_error(&output, 3, &["made by a newer cardmark"]);
    assert_eq!(std::fs::read(&file).unwrap(), bytes);
}

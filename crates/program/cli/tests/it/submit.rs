//! Runs sent to a results site, amended and withdrawn there.

mod site;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cardmark_core::parse_statement;
use cardmark_share::{from_hexadecimal, token_hash};
use cardmark_testkit::{Output, Program, needs};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{QUICKEST, assert_error, folder, program, scratch, text};
use site::{Instead, Seen, Site};

/// A program with one simulated run, which has a label, and its id.
fn with_run(scratch: &TempDir) -> (Program, String) {
    let program = program(scratch);
    let run = ["run", "sim:a1-32gb", QUICKEST, "--label=product=Demo 32"];
    let output = program.run(&run);
    assert_eq!(output.code, 0, "{output}");
    let id = program.last().id.to_string();
    (program, id)
}

fn submit(program: &Program, site: &Site, arguments: &[&str]) -> Output {
    let server = ["submit", "--server", &site.origin];
    program.run(&[&server, arguments].concat())
}

#[track_caller]
fn assert_done(output: &Output) {
    assert_eq!(output.code, 0, "{output}");
    assert!(!output.stderr.contains("error"), "{output}");
}

/// Digits of the token of a request, and those of the hash of the token.
fn token(seen: &Seen) -> (String, String) {
    let given = seen.headers["authorization"].strip_prefix("Bearer ");
    let given = given.unwrap().to_owned();
    let bytes: [u8; 32] = from_hexadecimal(&given).unwrap();
    let hash = token_hash(&bytes).map(|byte| format!("{byte:02x}"));
    (given, hash.concat())
}

/// Neither simulated runs nor those that were sent.
#[test]
fn new_runs_are_the_measured_ones_that_were_not_sent() {
    let scratch = scratch();
    let (program, _) = with_run(&scratch);
    let folder = folder(&scratch);
    let measure = || {
        let run = program.run(&["run", text(&folder), QUICKEST]);
        assert_eq!(run.code, 0, "{run}");
        program.last().id.to_string()
    };
    let site = Site::start();
    let first = measure();
    assert_done(&submit(&program, &site, &["--new", "--yes"]));
    assert!(site.take_one().text().contains(&first));
    let second = measure();
    assert_done(&submit(&program, &site, &["--new", "--yes"]));
    assert!(site.take_one().text().contains(&second));
    let none = submit(&program, &site, &["--new", "--yes"]);
    assert!(none.stderr.contains("No new runs"), "{none}");
}

#[test]
fn a_run_is_sent_once_and_its_link_is_shown() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    let sent = submit(&program, &site, &["last", "--yes"]);
    assert_done(&sent);
    let seen = site.take_one();
    assert_eq!((&*seen.method, &*seen.path), ("POST", "/api/v1/records"));
    assert_eq!(seen.headers["content-type"], "application/x-ndjson");
    assert_eq!(seen.headers["cardmark-token-hash"].len(), 64);
    assert_eq!(seen.headers["cardmark-tag"].len(), 32);
    let link = format!("{}/runs/{id}\n", site.origin);
    assert!(sent.stdout.contains("shared, measured"), "{sent}");
    assert!(sent.stdout.contains(&link), "{sent}");
    for said in [
        "Demo 32",
        "Withheld or shortened: ",
        "CC0",
        "--dry-run",
        "simulated a1-32gb",
    ] {
        assert!(sent.stderr.contains(said), "no `{said}` in {sent}");
    }
    // Sent again, the site is asked for the state.
    let again = submit(&program, &site, &["last", "--yes"]);
    assert_done(&again);
    assert!(again.stdout.contains(&link), "{again}");
    let seen = site.take_one();
    assert_eq!(seen.path, format!("/api/v1/records/{id}/state"));
    // A site that lost it gets it again.
    site.answer([Instead::Answer(404, "", json!({"title": "no such run"}))]);
    assert_done(&submit(&program, &site, &[&id, "--yes"]));
    let methods: Vec<String> = site.take().into_iter().map(|seen| seen.method).collect();
    assert_eq!(methods, ["GET", "POST"]);
}

#[test]
fn what_is_sent_is_what_a_dry_run_writes() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    // Without any site.
    let dry = program.run(&["submit", "--dry-run", "last"]);
    assert_done(&dry);
    assert!(dry.stderr.contains("Withheld or shortened: "), "{dry}");
    let kept = program.run(&["submit", "--dry-run", "last", "--keep=host.system"]);
    assert_ne!(kept.stdout, dry.stdout);
    assert_eq!(site.take(), []);
    assert_done(&submit(&program, &site, &["last", "--yes"]));
    assert_eq!(site.take_one().text(), dry.stdout);
    assert!(dry.stdout.ends_with("}\n") && dry.stdout.contains(&id));
    assert_eq!(dry.stdout.lines().count(), 2);
}

/// What waits, and for how long, is tested without the program.
#[test]
fn a_run_waits_for_a_busy_site_and_is_refused_with_its_place() {
    let scratch = scratch();
    let (program, _) = with_run(&scratch);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}", free.local_addr().unwrap());
    drop(free);
    let refused = program.run(&["submit", "--server", &nobody, "last", "--yes"]);
    assert_error(
        &refused,
        3,
        &["Cannot send 1 run", "refused", "it waits here"],
    );
    let site = Site::start();
    site.answer([Instead::Answer(503, "retry-after: 2", json!({}))]);
    let later = submit(&program, &site, &["last", "--yes"]);
    assert_error(&later, 3, &["the site is busy", "it waits here"]);
    let first = site.take_one();
    site.answer([Instead::Answer(404, "", json!({}))]);
    let status = submit(&program, &site, &["--status"]);
    assert!(status.stdout.contains("waits here"), "{status}");
    site.take();
    let sent = submit(&program, &site, &["--new"]);
    assert_done(&sent);
    assert!(sent.stderr.contains("1 run that waited"), "{sent}");
    assert_eq!(site.take_one(), first);
    // For that site alone; another one refuses it.
    let other = Site::start();
    let none = submit(&program, &other, &["--new"]);
    assert_done(&none);
    assert!(none.stderr.contains("No new runs"), "{none}");
    assert_eq!(other.take(), []);
    let problem = json!({
        "type": "/problems/not-a-record", "title": "not a record", "status": 422,
        "detail": "mend it", "errors": [{"pointer": "/trials/0/id", "detail": "is no number"}],
    });
    other.answer([Instead::Answer(422, "", problem)]);
    let refused = submit(&program, &other, &["last", "--yes"]);
    let said = [
        "refused run",
        "not a record: mend it",
        "/trials/0/id: is no number",
    ];
    assert_error(&refused, 1, &said);
    let elsewhere = "location: https://elsewhere.example/";
    other.answer([Instead::Answer(301, elsewhere, json!({}))]);
    let moved = submit(&program, &other, &["last", "--yes"]);
    assert_error(&moved, 1, &["the site has moved"]);
    assert_eq!(other.take().len(), 2, "no redirection is followed");
}

#[test]
fn states_are_lines_of_json() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    let line = |output: &Output| -> Value {
        assert_eq!(output.stdout.lines().count(), 1, "{output}");
        let line: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(
            (&line["id"], &line["server"]),
            (&json!(id), &json!(site.origin))
        );
        line
    };
    site.answer([Instead::Answer(503, "retry-after: 2", json!({}))]);
    let waits = submit(&program, &site, &["last", "--yes", "--json"]);
    assert_eq!((waits.code, &line(&waits)["state"]), (3, &json!("waiting")));
    let problem = json!({"title": "not a record", "status": 422, "detail": "mend it"});
    site.answer([Instead::Answer(422, "", problem)]);
    let refused = submit(&program, &site, &["last", "--yes", "--json"]);
    assert_eq!(
        (refused.code, &line(&refused)["state"]),
        (1, &json!("refused"))
    );
    assert_eq!(line(&refused)["problem"]["detail"], "mend it");
    let sent = line(&submit(&program, &site, &["last", "--yes", "--json"]));
    assert_eq!(sent["url"], format!("{}/runs/{id}", site.origin));
    assert_eq!(
        (&sent["state"], &sent["labels_changed"]),
        (&json!("shared"), &json!(false))
    );
    assert_eq!(program.run(&["label", "last", "product=Other 64"]).code, 0);
    let status = line(&submit(&program, &site, &["--status", "--json"]));
    assert_eq!(status["labels_changed"], true);
    let withdrawn = submit(&program, &site, &["last", "--withdraw", "--yes", "--json"]);
    assert_eq!(line(&withdrawn)["state"], "withdrawn");
}

fn configure(program: &Program, text: &str) -> String {
    let path = program.file(".config/cardmark/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_configuration_names_the_site_or_forbids_to_send() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    let none = program.run(&["submit", "last", "--yes"]);
    assert_error(
        &none,
        2,
        &["No results site is named", "--server", "CARDMARK_SERVER"],
    );
    let share = format!("[share]\nserver = \"{}\"\n", site.origin);
    configure(&program, &share);
    assert_done(&program.run(&["submit", "last", "--yes"]));
    assert_eq!(site.take().len(), 1);
    let path = configure(&program, &(share + "submit = \"never\"\n"));
    for arguments in [
        &["submit", "last", "--yes"][..],
        &["submit", "--amend", "last"],
    ] {
        let never = program.run(arguments);
        assert_error(&never, 2, &["forbids it", &path, "\"never\""]);
    }
    assert_eq!(site.take(), []);
    assert_done(&program.run(&["submit", "last", "--dry-run"]));
    assert_done(&program.run(&["submit", "--withdraw", &id, "--yes"]));
    configure(&program, "[share]\nserver = \"http://a.example\"\n");
    let plain = program.run(&["submit", "last", "--yes"]);
    assert_error(&plain, 2, &["http://a.example", "https://"]);
}

#[test]
fn nothing_is_sent_without_consent() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    let silent = submit(&program, &site, &["last"]);
    assert_error(&silent, 2, &["Nothing was sent", "--yes"]);
    let silent = submit(&program, &site, &["--withdraw", &id]);
    assert_error(&silent, 2, &["Nothing was withdrawn", "--yes"]);
    assert_eq!(site.take(), []);
    assert_done(&submit(&program, &site, &["--new"]));
    assert_eq!(site.take(), [], "nothing waits");
    needs!(Script);
    for (typed, count) in [("n\n", 0), ("\n", 0), ("yes\n", 1)] {
        let arguments = ["submit", "--server", &site.origin, "last"];
        let mut running = program.start_on_terminal(&arguments);
        running.hear("[y/N]");
        running.write(typed);
        let output = running.wait();
        assert_eq!(output.code, 0, "{output}");
        assert_eq!(site.take().len(), count, "{typed}");
    }
}

#[test]
fn the_owner_amends_and_withdraws_with_the_token_of_the_submission() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    assert_done(&submit(&program, &site, &["last", "--yes"]));
    let hash = site.take_one().headers["cardmark-token-hash"].clone();
    let label = ["label", "last", "product=Demo 64", "note=Ada"];
    assert_eq!(program.run(&label).code, 0);
    let amended = submit(&program, &site, &["--amend", &id[..8]]);
    assert_done(&amended);
    let seen = site.take_one();
    assert_eq!(seen.method, "PUT");
    assert_eq!(seen.path, format!("/api/v1/records/{id}/statement"));
    assert_eq!(token(&seen).1, hash);
    let stated = parse_statement(&seen.text()).unwrap();
    assert_eq!(
        (stated.revision, stated.product.as_deref()),
        (2, Some("Demo 64"))
    );
    assert!(!seen.text().contains("Ada"));
    let withdrawn = submit(&program, &site, &["--withdraw", "last", "--yes"]);
    assert_done(&withdrawn);
    assert!(withdrawn.stdout.contains("withdrawn"), "{withdrawn}");
    let seen = site.take_one();
    assert_eq!(
        (&*seen.method, &*seen.path),
        ("DELETE", &*format!("/api/v1/records/{id}"))
    );
    assert_eq!(token(&seen).1, hash);
    // No output ever holds the token.
    site.answer([Instead::Answer(403, "", json!({"title": "not yours"}))]);
    let refused = submit(&program, &site, &["--withdraw", "last", "--yes"]);
    assert_error(&refused, 1, &["not yours", "--import-secret"]);
    let (digits, _) = token(&site.take_one());
    for output in [&amended, &withdrawn, &refused] {
        assert!(!output.to_string().contains(&digits), "{output}");
    }
}

#[test]
fn the_secret_survives_the_store() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    assert_done(&submit(&program, &site, &["last", "--yes"]));
    let hash = site.take_one().headers["cardmark-token-hash"].clone();
    let file = program.file("secret.txt");
    let exported = program.run(&["submit", "--export-secret", text(&file)]);
    assert_done(&exported);
    let kept = fs::read_to_string(&file).unwrap();
    assert_eq!(
        fs::metadata(&file).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let digits = kept.lines().last().unwrap().split(' ').nth(1).unwrap();
    assert!(kept.starts_with("# Secret of a cardmark store"), "{kept}");
    assert!(!exported.to_string().contains(digits));
    let again = program.run(&["submit", "--export-secret", text(&file)]);
    assert_error(&again, 2, &["name a new file"]);
    let printed = program.run(&["submit", "--export-secret", "-"]);
    assert_eq!(printed.stdout, kept);

    fs::remove_file(program.database()).unwrap();
    let import = ["submit", "--import-secret", text(&file)];
    assert_done(&program.run(&import));
    let withdrawn = submit(&program, &site, &["--withdraw", &id, "--yes"]);
    assert_done(&withdrawn);
    assert_eq!(token(&site.take_one()).1, hash);
    // The store has this secret; another one would take that run's token away.
    assert_done(&program.run(&import));
    let (other, _) = with_run(&scratch);
    let file = other.file("other.txt");
    assert_done(&other.run(&["submit", "--export-secret", text(&file)]));
    let import = ["submit", "--import-secret", text(&file)];
    let in_use = program.run(&import);
    assert_error(&in_use, 2, &["in use", "1 submission", "--force"]);
    assert_done(&program.run(&[&import[..], &["--force"]].concat()));
}

#[test]
fn a_fresh_seed_is_that_of_the_site() {
    let scratch = scratch();
    let program = program(&scratch);
    let site = Site::start();
    let card = folder(&scratch);
    let fresh = [
        "run",
        text(&card),
        QUICKEST,
        "--fresh",
        "--server",
        &site.origin,
    ];
    let run = program.run(&fresh);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("until 2026-12-02"), "{run}");
    assert_eq!(program.last().seed.as_deref(), Some("f000000000c0ffee"));
    let seen = site.take_one();
    assert_eq!((&*seen.method, &*seen.path), ("POST", "/api/v1/seeds"));
    assert_eq!(seen.body, b"");
    let runs = program.runs_count();
    site.answer([Instead::Answer(429, "retry-after: 60", json!({}))]);
    let refused = program.run(&fresh);
    assert_error(&refused, 3, &["nothing was measured", "try again in 60 s"]);
    assert_eq!(program.runs_count(), runs);
    let simulated = ["run", "sim:a1-32gb", "--fresh", "--server", &site.origin];
    assert_error(&program.run(&simulated), 2, &["not for simulated cards"]);
    let both = program.run(&[&fresh[..], &["--seed=1"]].concat());
    assert_error(&both, 2, &["--seed"]);
}

/// A server with TLS that answers with files; ended on drop.
struct TlsServer(Child);

impl Drop for TlsServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn openssl(folder: &std::path::Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("openssl");
    command.current_dir(folder).args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

#[test]
fn only_a_trusted_certificate_is_accepted() {
    needs!(Openssl);
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let folder = folder(&scratch);
    let made = openssl(
        &folder,
        &[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-keyout",
            "key.pem",
            "-out",
            "certificate.pem",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ],
    )
    .status();
    assert!(made.unwrap().success());
    let state = folder.join(format!("api/v1/records/{id}/state"));
    fs::create_dir_all(state.parent().unwrap()).unwrap();
    let body = json!({"id": id, "state": "shared", "path": "/runs/1"}).to_string();
    let answer = format!(
        "HTTP/1.0 200 OK\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    fs::write(&state, answer).unwrap();
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let accept = format!("127.0.0.1:{port}");
    let arguments = [
        "s_server",
        "-quiet",
        "-HTTP",
        "-accept",
        &accept,
        "-cert",
        "certificate.pem",
        "-key",
        "key.pem",
    ];
    let _server = TlsServer(openssl(&folder, &arguments).spawn().unwrap());
    let is_up = || TcpStream::connect(&accept).is_ok();
    for _ in 0..500 {
        if is_up() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let server = format!("https://localhost:{port}");
    let status = ["submit", "--server", &server, "--status", &id];
    let unknown = program.run(&status);
    assert_error(
        &unknown,
        3,
        &[
            "no secure connection: invalid peer certificate",
            "CARDMARK_CA_FILE",
        ],
    );
    let with = |name: &str| {
        let roots = format!("CARDMARK_CA_FILE={}", text(&folder.join(name)));
        program.start_under(&["env", &roots], &status).wait()
    };
    let trusted = with("certificate.pem");
    assert_done(&trusted);
    assert!(trusted.stdout.contains("shared"), "{trusted}");
    // Its name counts too.
    let other = format!("https://127.0.0.1:{port}");
    let roots = format!("CARDMARK_CA_FILE={}", text(&folder.join("certificate.pem")));
    let named = program
        .start_under(
            &["env", &roots],
            &["submit", "--server", &other, "--status", &id],
        )
        .wait();
    assert_error(
        &named,
        3,
        &["no secure connection: invalid peer certificate"],
    );
    assert_error(&with("key.pem"), 2, &["it holds no certificate"]);
    assert_error(&with("none.pem"), 2, &["Cannot read root certificates"]);
}

#[test]
fn the_owner_answers_to_a_quarantine() {
    let scratch = scratch();
    let (program, id) = with_run(&scratch);
    let site = Site::start();
    assert_done(&submit(&program, &site, &["last", "--yes"]));
    let sent = site.take_one();
    let text = "the clock was wrong; see \u{2713}";
    let checks = json!([
        {"name": "dates", "outcome": "failed", "reason": "it began \u{1b}[31mtomorrow"},
        {"name": "fresh_seed", "outcome": "marked", "reason": "another run has used the seed"},
        {"name": "seed", "outcome": "passed"},
    ]);
    site.answer([Instead::State("quarantined", checks)]);
    let answered = submit(&program, &site, &["last", "--answer", text]);
    assert_done(&answered);
    for said in [
        "quarantined, measured\n",
        "failed: dates: it began \\u001b[31mtomorrow\n",
        "marked: seed from the site: another run has used the seed\n",
    ] {
        assert!(answered.stdout.contains(said), "no `{said}` in {answered}");
    }
    assert!(!answered.stdout.contains("draws"), "{answered}");
    let seen = site.take_one();
    let path = format!("/api/v1/records/{id}/answer");
    assert_eq!((&*seen.method, &*seen.path), ("PUT", &*path));
    assert_eq!(seen.text(), text);
    assert_eq!(token(&seen).1, sent.headers["cardmark-token-hash"]);
    let refusal = json!({"title": "The run is not quarantined", "detail": "nothing to decide"});
    site.answer([Instead::Answer(409, "", refusal)]);
    let refused = submit(&program, &site, &["last", "--answer", text]);
    assert_error(&refused, 1, &["not quarantined", "nothing to decide"]);
    let empty = submit(&program, &site, &["last", "--answer", ""]);
    assert_eq!(empty.code, 2, "{empty}");
    let both = submit(&program, &site, &["last", "--answer", "x", "--withdraw"]);
    assert_eq!(both.code, 2, "{both}");
}

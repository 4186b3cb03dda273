//! Work under way on a page, and its end from there.

use cardmark_core::FindingKind;
use rustix::process::Signal;

use crate::common::{assert_empty, assert_partial, folder, program, scratch, text};
use crate::open::server::{Server, status};

/// Address of the form that stops work.
fn address_in(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once("<form action=\"/under-way/stop")?;
    let (query, _) = rest.split_once('"')?;
    Some(query)
}

#[test]
fn a_run_under_way_is_shown_and_stopped() {
    let scratch = scratch();
    let (program, card) = (program(&scratch), folder(&scratch));
    let server = Server::entered(&program, &[]).unwrap();
    assert!(
        server
            .get("/under-way")
            .unwrap()
            .contains("Nothing is under way")
    );
    // All workloads, so that the run goes on for long.
    let run = program.start(&["run", text(&card)]);
    let page = server.until("/under-way", " left.").unwrap();
    for part in ["cardmark run ", text(&card), " so far.", "Refresh: 3"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let stop = format!("/under-way/stop{}", address_in(&page).unwrap());

    let (host, own) = (server.host(), server.origin());
    for fields in [
        vec![host.as_str(), &own],
        vec![host.as_str(), &server.cookie],
        vec![host.as_str(), &server.cookie, "Origin: http://evil.example"],
    ] {
        let refused = server.ask("POST", &stop, &fields).unwrap();
        assert_eq!(status(&refused), 403, "{refused}");
    }
    assert!(!run.heard().contains("stopping"), "{}", run.heard());
    // Twice, as a double click: a second signal would end it in the middle.
    let fields = [host.as_str(), &server.cookie, &own, "Content-Length: 0"];
    for _ in 0..2 {
        let answer = server.ask("POST", &stop, &fields).unwrap();
        let is_gone = answer.contains("no such work") || answer.contains("o process works");
        assert!(status(&answer) == 303 || is_gone, "{answer}");
    }
    let output = run.wait();
    assert_eq!(output.code, 130, "{output}");
    assert!(
        output.stderr.contains("what was measured is kept"),
        "{output}"
    );
    let record = assert_partial(&program, FindingKind::Interrupted);
    assert_empty(&card);
    let path = format!("/runs/{}", record.id);
    assert_eq!(status(&server.get(&path).unwrap()), 200);
    assert!(
        server
            .get("/under-way")
            .unwrap()
            .contains("Nothing is under way")
    );
}

#[test]
fn interrupted_work_has_no_button() {
    let scratch = scratch();
    let (program, card) = (program(&scratch), folder(&scratch));
    let run = program.start(&["run", text(&card)]);
    run.hear("part 2");
    run.signal(Signal::KILL);
    let _ = run.wait();
    let server = Server::entered(&program, &[]).unwrap();
    let page = server.get("/under-way").unwrap();
    assert!(
        page.contains("Interrupted: <code>cardmark recover</code>"),
        "{page}"
    );
    assert_eq!(address_in(&page), None, "{page}");
}

//! Writing of an answer.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::http::method::Method;

/// Media type of pages.
pub(crate) const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

/// Time in which the other side has to take a part of an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time for which the rest of a request is read that was refused: closing before would take the answer back.
const LINGER: Duration = Duration::from_millis(500);

/// Fields of every answer. A page loads its own style, script and pictures only, is shown in no frame, is kept nowhere, and no other
/// page can read it. Not `no-referrer`: browsers would hide the origin of its own forms.
const ALWAYS: &str = "Connection: close\r\n\
    Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'\r\n\
    Cross-Origin-Opener-Policy: same-origin\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\n\
    Referrer-Policy: same-origin\r\n\
    X-Content-Type-Options: nosniff\r\n\
    X-Frame-Options: DENY\r\n";

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    status: u16,
    media_type: &'static str,
    body: String,
    fields: Vec<(&'static str, String)>,
}

impl Response {
    /// An answer with content.
    pub(crate) fn new(status: u16, media_type: &'static str, body: impl Into<String>) -> Self {
        Self {
            status,
            media_type,
            body: body.into(),
            fields: Vec::new(),
        }
    }

    /// An answer to something that is not asked by a page of this server.
    pub(crate) fn refused(status: u16, reason: &str) -> Self {
        Self::new(status, TEXT, format!("{reason}\n"))
    }

    /// Sends the browser to another page.
    pub(crate) fn see(address: &str) -> Self {
        Self::new(303, TEXT, "").with("Location", address.to_owned())
    }

    /// Adds a field. Its value is not from outside.
    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.fields.push((name, value));
        self
    }

    /// The status.
    #[cfg(test)]
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Writes it, and ends the connection. An other side that does not read it has no answer.
    pub(crate) fn write(&self, stream: &mut TcpStream, method: Method) {
        let mut text = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{ALWAYS}",
            self.status,
            reason(self.status),
            self.media_type,
            self.body.len()
        );
        for (name, value) in &self.fields {
            text += &format!("{name}: {value}\r\n");
        }
        text += "\r\n";
        if method != Method::Head {
            text += &self.body;
        }
        let _ = stream
            .set_write_timeout(Some(PATIENCE))
            .and_then(|()| stream.write_all(text.as_bytes()));
        let _ = stream.shutdown(Shutdown::Write);
        if self.status >= 400 {
            linger(stream);
        }
    }
}

/// Drops what still arrives, for a moment.
fn linger(stream: &mut TcpStream) {
    let until = Instant::now() + LINGER;
    let mut part = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || stream.set_read_timeout(Some(left)).is_err() {
            return;
        }
        if !matches!(stream.read(&mut part), Ok(1..)) {
            return;
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        303 => "See Other",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        411 => "Length Required",
        413 => "Content Too Large",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

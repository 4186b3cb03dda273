//! The server: one address of this computer, a thread for each connection.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cardmark_session::{CommandError, Data, Exit, Signals};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{geteuid, getuid};

use crate::guard::{Admitted, Guard};
use crate::http::{HTML, Method, Request, Response, Unread};
use crate::own::Library;
use crate::routes::Routes;

/// Connections that are answered at once; others wait.
const MOST_CONNECTIONS: usize = 32;
/// Interval of looking for signals.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Pause before a connection is accepted if all places are taken, or the system has none.
const PAUSE: Duration = Duration::from_millis(20);

/// Id of root.
const ROOT: u32 = 0;

/// A server of own runs.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
}

struct Shared {
    guard: Guard,
    routes: Routes,
}

impl Server {
    /// Takes a port of this computer alone, 0 for any, for the runs of the own store or else of these files.
    ///
    /// # Errors
    /// If the port is taken, or a store cannot be read.
    pub fn start(data: Data, stores: Vec<PathBuf>, port: u16) -> Result<Self, CommandError> {
        let library = Library::new(data, stores)?;
        let failed = |error: std::io::Error| {
            CommandError::new(Exit::Trouble, format!("cannot use port {port}"))
                .because(error.to_string())
                .hint("without `--port` any free port is used")
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let guard = Guard::new(port, users()).map_err(|error| {
            CommandError::new(Exit::Trouble, "cannot draw a key").because(error.to_string())
        })?;
        let shared = Shared {
            guard,
            routes: Routes::new(library),
        };
        Ok(Self {
            listener,
            shared: Arc::new(shared),
        })
    }

    /// The address of the first page. It contains the key, so that it is for this user alone.
    #[must_use]
    pub fn address(&self) -> String {
        self.shared.guard.address()
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.shared.guard.port()
    }

    /// Answers requests until a signal arrives.
    pub fn serve(&self, signals: &Signals) {
        while signals.exit().is_none() {
            let mut waits = [PollFd::new(&self.listener, PollFlags::IN)];
            // A signal ends the wait early.
            let _ = poll(&mut waits, Some(&LOOK));
            if Arc::strong_count(&self.shared) > MOST_CONNECTIONS {
                std::thread::sleep(PAUSE);
                continue;
            }
            match self.listener.accept() {
                Ok((stream, _)) => self.take(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    /// Answers a connection of this user. Others take no place.
    fn take(&self, mut stream: TcpStream) {
        if !self.shared.guard.admits_peer(&stream) {
            return;
        }
        let shared = Arc::clone(&self.shared);
        // Without a thread the connection ends; the browser tries again.
        let _ = std::thread::Builder::new()
            .name("page".into())
            .spawn(move || shared.answer(&mut stream));
    }
}

impl Shared {
    fn answer(&self, stream: &mut TcpStream) {
        let request = match Request::read(stream) {
            Ok(request) => request,
            Err(Unread::Silence) => return,
            Err(Unread::Refused(response)) => return response.write(stream, Method::Get),
        };
        let response = match self.guard.admit(&request) {
            Err(reason) => Response::refused(403, reason),
            Ok(Admitted::First(cookie)) => entry(cookie),
            Ok(Admitted::Inside) => self.routes.answer(&request),
        };
        response.write(stream, request.method);
    }
}

/// Leads to the first page. Not by a redirect: after an address from elsewhere, browsers would not send the new cookie with it.
fn entry(cookie: String) -> Response {
    // Without the icon, browsers would ask for /favicon.ico.
    let page = "<!doctype html>\n<title>cardmark</title>\n<link rel=\"icon\" href=\"/icon.svg\">\n\
                <a href=\"/\">Your runs</a>\n";
    Response::new(200, HTML, page)
        .with("Set-Cookie", cookie)
        .with("Refresh", "0; url=/".to_owned())
}

/// This user and root, who can read everything anyway: through it comes what a relay of a container or of `ssh` sends. Of `sudo`, also
/// who called it.
fn users() -> Vec<u32> {
    let caller = std::env::var("SUDO_UID").ok();
    let caller = caller.filter(|_| geteuid().is_root());
    let caller = caller.and_then(|id| id.parse().ok());
    let all = [Some(getuid().as_raw()), Some(ROOT), caller];
    all.into_iter().flatten().collect()
}

//! `cardmark open`, and a browser that says what it is told to say.

use std::io::{self, BufRead, BufReader, Error, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output};
use std::time::{Duration, Instant};

use cardmark_testkit::Program;
use rustix::process::{Pid, Signal, kill_process};

/// Time for what the server does by itself.
const PATIENCE: Duration = Duration::from_secs(120);

/// The program under way; killed on drop.
pub(super) struct Server {
    child: Option<Child>,
    pub(super) port: u16,
    /// The key in its address.
    pub(super) token: String,
    /// The field that lets in.
    pub(super) cookie: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Server {
    /// Starts it, and reads its address.
    pub(super) fn start(program: &Program, arguments: &[&str]) -> io::Result<Self> {
        Self::spawn(program.command(&[&["open"], arguments].concat()))
    }

    pub(super) fn spawn(mut command: Command) -> io::Result<Self> {
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        let mut server = Self {
            child: Some(child),
            port: 0,
            token: String::new(),
            cookie: String::new(),
        };
        let mut line = String::new();
        let output = output.ok_or_else(|| Error::other("no output"))?;
        BufReader::new(output).read_line(&mut line)?;
        let found = line.trim_end().strip_prefix("http://127.0.0.1:");
        let found = found.and_then(|rest| rest.split_once("/?token="));
        let (port, token) = found.ok_or_else(|| Error::other(format!("no address: {line:?}")))?;
        server.port = port.parse().map_err(Error::other)?;
        token.clone_into(&mut server.token);
        Ok(server)
    }

    /// Starts it, and enters as a browser does.
    pub(super) fn entered(program: &Program, arguments: &[&str]) -> io::Result<Self> {
        let mut server = Self::start(program, arguments)?;
        let target = format!("/?token={}", server.token);
        let answer = server.ask("GET", &target, &[&server.host()])?;
        let cookie = answer
            .lines()
            .find_map(|line| line.strip_prefix("Set-Cookie: "));
        let cookie = cookie.and_then(|set| set.split(';').next());
        server.cookie = format!("Cookie: {}", cookie.unwrap_or_default());
        Ok(server)
    }

    /// The field that names it.
    pub(super) fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}", self.port)
    }

    /// The field of a request that its own page sends.
    pub(super) fn origin(&self) -> String {
        format!("Origin: http://127.0.0.1:{}", self.port)
    }

    pub(super) fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// Sends this head, and returns the answer; empty if the connection ended without one.
    pub(super) fn ask(&self, method: &str, target: &str, fields: &[&str]) -> io::Result<String> {
        let mut lines = vec![format!("{method} {target} HTTP/1.1")];
        lines.extend(fields.iter().map(|field| (*field).to_owned()));
        self.send(&(lines.join("\r\n") + "\r\n\r\n"))
    }

    /// Sends these bytes, and returns the answer.
    pub(super) fn send(&self, text: &str) -> io::Result<String> {
        let mut stream = self.connect()?;
        // An end before the answer is one too.
        let _ = stream.write_all(text.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// Asks for a page as its own pages do.
    pub(super) fn get(&self, target: &str) -> io::Result<String> {
        self.ask("GET", target, &[&self.host(), &self.cookie])
    }

    /// Asks until the page holds the text.
    pub(super) fn until(&self, target: &str, text: &str) -> io::Result<String> {
        let begin = Instant::now();
        loop {
            let page = self.get(target)?;
            if page.contains(text) {
                return Ok(page);
            }
            if begin.elapsed() > PATIENCE {
                return Err(Error::other(format!("no {text:?} in {page}")));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Sends a signal, and waits for the end.
    pub(super) fn end(mut self, signal: Signal) -> io::Result<Output> {
        let child = self
            .child
            .take()
            .ok_or_else(|| Error::other("it has ended"))?;
        let process = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let process = process.ok_or_else(|| Error::other("no process"))?;
        kill_process(process, signal)?;
        child.wait_with_output()
    }
}

/// Status of an answer; 0 of none.
pub(super) fn status(answer: &str) -> u16 {
    let word = answer.split(' ').nth(1);
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

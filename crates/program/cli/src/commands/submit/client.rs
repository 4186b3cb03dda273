//! Requests to a results site over HTTP.

use std::sync::Arc;
use std::time::Duration;

use cardmark_session::file;
use cardmark_share::Server;
use ureq::http::{self, HeaderMap};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};
use ureq::{Agent, Error, Timeout};

use crate::build::VERSION;
use crate::error::{CommandError, Exit};

/// Time limit for the connection, TLS included.
const CONNECT: Duration = Duration::from_secs(10);
/// Time limit for a request and its answer.
const WHOLE: Duration = Duration::from_secs(60);
/// Maximum size of an answer, bytes.
const MOST_ANSWER_BYTES: u64 = 1 << 20;
/// Maximum size of a file of root certificates, bytes.
const MOST_ROOTS_BYTES: u64 = 1 << 20;
/// Variable that names a file with root certificates of a private site.
const ROOTS: &str = "CARDMARK_CA_FILE";

/// A request to a site.
pub(crate) struct Request {
    pub(crate) method: http::Method,
    /// Path with the leading `/`.
    pub(crate) path: String,
    /// Headers by name. Values may be secret.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(method: http::Method, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Answer of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Value of the header `retry-after`.
    pub(crate) retry_after: Option<String>,
    pub(crate) body: Vec<u8>,
}

/// Reason for which there is no answer. The site may have received the request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered {
    pub(crate) cause: String,
    pub(crate) hint: Option<&'static str>,
}

/// A results site.
pub(crate) trait Site {
    /// Sends a request and returns the answer.
    fn ask(&self, request: &Request) -> Result<Answer, Unanswered>;
}

/// A results site over HTTP.
pub(crate) struct Client {
    server: Server,
    /// One for each set of root certificates, tried in this order.
    agents: Vec<Agent>,
}

impl Client {
    /// Prepares requests to a site; connects to nothing.
    pub(crate) fn new(server: &Server) -> Result<Self, CommandError> {
        let mut roots = vec![RootCerts::WebPki];
        if server.is_encrypted()
            && let Some(own) = own_roots()?
        {
            roots.insert(0, own);
        }
        Ok(Self {
            server: server.clone(),
            agents: roots.into_iter().map(|it| agent(server, it)).collect(),
        })
    }

    fn ask_with(&self, agent: &Agent, request: &Request) -> Result<Answer, Error> {
        let mut made = http::Request::builder()
            .method(&request.method)
            .uri(self.server.url(&request.path));
        for (name, value) in &request.headers {
            made = made.header(*name, value);
        }
        let has_body = [http::Method::POST, http::Method::PUT].contains(&request.method);
        let response = match has_body {
            true => agent.run(made.body(&request.body[..])?),
            false => agent.run(made.body(())?),
        };
        let (head, mut body) = response?.into_parts();
        let limited = body.with_config().limit(MOST_ANSWER_BYTES);
        Ok(Answer {
            status: head.status.as_u16(),
            retry_after: text_of(&head.headers, "retry-after"),
            body: limited.read_to_vec()?,
        })
    }
}

impl Site for Client {
    fn ask(&self, request: &Request) -> Result<Answer, Unanswered> {
        let mut failed = None;
        for agent in &self.agents {
            match self.ask_with(agent, request) {
                Ok(answer) => return Ok(answer),
                // Nothing was sent: the certificate of the site has none of these roots.
                Err(error) if is_of_tls(&error) => failed = failed.or(Some(error)),
                Err(error) => return Err(unanswered(&error)),
            }
        }
        Err(failed.map_or_else(
            || unanswered(&Error::ConnectionFailed),
            |it| unanswered(&it),
        ))
    }
}

fn agent(server: &Server, roots: RootCerts) -> Agent {
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(roots);
    let mut config = Agent::config_builder()
        .tls_config(tls.build())
        .https_only(server.is_encrypted())
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(WHOLE))
        .user_agent(format!("cardmark/{VERSION}"))
        .accept("application/json");
    if !server.is_encrypted() {
        // This computer: no proxy may see the tokens.
        config = config.proxy(None);
    }
    config.build().new_agent()
}

/// The root certificates that the environment names.
fn own_roots() -> Result<Option<RootCerts>, CommandError> {
    let Some(path) = std::env::var_os(ROOTS).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let path = std::path::PathBuf::from(path);
    let refuse = |cause: String| {
        let what = format!("Cannot read root certificates from `{}`", path.display());
        CommandError::new(Exit::Usage, what)
            .because(cause)
            .hint(format!("{ROOTS} names a file with certificates in PEM"))
    };
    let bytes = file::read(&path, MOST_ROOTS_BYTES).map_err(|error| refuse(error.to_string()))?;
    let mut roots: Vec<Certificate<'static>> = Vec::new();
    for item in parse_pem(&bytes) {
        if let PemItem::Certificate(root) = item.map_err(|error| refuse(error.to_string()))? {
            roots.push(root);
        }
    }
    match roots.is_empty() {
        true => Err(refuse("it holds no certificate".to_owned())),
        false => Ok(Some(RootCerts::Specific(Arc::new(roots)))),
    }
}

fn text_of(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

fn is_of_tls(error: &Error) -> bool {
    match error {
        Error::Tls(_) | Error::Rustls(_) => true,
        // As rustls reports a certificate that it does not trust.
        Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
        _ => false,
    }
}

fn unanswered(error: &Error) -> Unanswered {
    let (cause, hint) = match error {
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => (
            format!("no connection within {} s", CONNECT.as_secs()),
            None,
        ),
        Error::Timeout(_) => (format!("no answer within {} s", WHOLE.as_secs()), None),
        Error::HostNotFound => (
            "the name of the site is unknown".to_owned(),
            Some("check the address and the network"),
        ),
        Error::BodyExceedsLimit(_) => ("the answer is longer than 1 MiB".to_owned(), None),
        Error::Io(error) if is_of_tls(&Error::Io(std::io::Error::from(error.kind()))) => (
            format!("no secure connection: {error}"),
            Some(
                "check the date of this computer; CARDMARK_CA_FILE=PEM adds the roots of a private site",
            ),
        ),
        Error::Io(error) => (error.to_string(), None),
        other => (other.to_string(), None),
    };
    Unanswered { cause, hint }
}

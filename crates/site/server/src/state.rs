//! The site's state.

mod contexts;
mod figures;

use std::sync::Arc;

use axum::extract::FromRef;
use axum::http::{HeaderMap, header};
use cardmark_site_store::SiteStore;
use uuid::Uuid;

use self::contexts::ContextCache;
use self::figures::FigureCache;
use crate::config::Config;
use crate::http::body::BodyMemory;
use crate::http::cache::ReplyCache;
use crate::http::limits::ReadLimits;
use crate::http::metrics::Metrics;
use crate::http::peer::Clients;
use crate::http::processors::Processors;
use crate::http::quota::Quota;
use crate::http::requests::Requests;
use crate::uploads::queue::{UploadReader, Uploads};

/// Submissions that are checked or wait for it.
const MOST_CHECKING: usize = 64;
/// Part of them that one address block may have: a quarter.
pub(crate) const MOST_CHECKING_OF_BLOCK: usize = MOST_CHECKING / 4;

/// Seeds for one address block, at once and per second.
const SEEDS_AT_ONCE: u32 = 60;
const SEEDS_PER_S: f64 = 1.0 / 60.0;

/// State of the site.
#[derive(Debug)]
pub struct Site {
    pub(crate) store: SiteStore,
    pub(crate) config: Config,
    /// Text that addresses are hashed with.
    pub(crate) secret: Arc<[u8]>,
    pub(crate) requests: Arc<Requests>,
    pub(crate) bodies: BodyMemory,
    /// Places for submissions that are checked or wait for it.
    pub(crate) checking: Arc<Quota>,
    /// Turns of submissions.
    pub(crate) writers: Processors,
    /// Turns of whoever signs in, so that no flood locks moderators out.
    pub(crate) sign_ins: Processors,
    /// Turns of whoever reads, so that no page waits behind submissions.
    pub(crate) readers: Processors,
    pub(crate) uploads: Uploads,
    pub(crate) seeds: ReadLimits,
    pub(crate) replies: ReplyCache,
    pub(crate) contexts: ContextCache,
    pub(crate) figures: FigureCache,
}

impl Site {
    /// Replaces the program that reads uploads, and its limits.
    #[must_use]
    pub fn with_upload_reader(self, reader: UploadReader) -> Self {
        Self {
            uploads: Uploads::new(reader),
            ..self
        }
    }

    /// Creates the state over an open database.
    #[must_use]
    pub fn new(store: SiteStore, config: Config) -> Self {
        let random = Uuid::new_v4().simple().to_string();
        let secret = config
            .secret
            .clone()
            .unwrap_or_else(|| Uuid::new_v4().simple().to_string() + &random);
        let secret: Arc<[u8]> = secret.into_bytes().into();
        let requests = Requests {
            instance: random[..6].to_owned(),
            clients: Clients {
                secret: Arc::clone(&secret),
                behind_proxy: config.behind_proxy,
            },
            reads: ReadLimits::new(config.reads_at_once, f64::from(config.reads_per_s.max(1))),
            metrics: Metrics::default(),
        };
        Self {
            store,
            secret,
            requests: Arc::new(requests),
            bodies: BodyMemory::default(),
            checking: Quota::new(MOST_CHECKING),
            writers: Processors::default(),
            sign_ins: Processors::default(),
            readers: Processors::default(),
            uploads: Uploads::new(UploadReader::default()),
            seeds: ReadLimits::new(SEEDS_AT_ONCE, SEEDS_PER_S),
            replies: ReplyCache::default(),
            contexts: ContextCache::default(),
            figures: FigureCache::default(),
            config,
        }
    }

    /// Scheme and host of the site: those configured, or as the reader asked it.
    pub(crate) fn origin(&self, headers: &HeaderMap) -> String {
        if let Some(origin) = &self.config.origin {
            return origin.origin();
        }
        let host = headers.get(header::HOST);
        let host = host.and_then(|host| host.to_str().ok());
        let host = host.filter(|host| !host.is_empty());
        let scheme = match self.config.behind_proxy {
            true => "https",
            false => "http",
        };
        format!("{scheme}://{}", host.unwrap_or("localhost"))
    }
}

impl FromRef<Arc<Site>> for Clients {
    fn from_ref(site: &Arc<Site>) -> Self {
        site.requests.clients.clone()
    }
}

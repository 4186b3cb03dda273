//! The site's state.

use std::path::PathBuf;
use std::sync::Arc;

use cardmark_site_store::SiteStore;
use uuid::Uuid;

use crate::body::BodyMemory;
use crate::cache::Answers;
use crate::config::Config;
use crate::contexts::KeptContexts;
use crate::limits::ReadLimits;
use crate::metrics::Metrics;
use crate::processors::Processors;
use crate::reading::{UploadReader, Uploads};
use crate::shares::Shares;
use crate::unshown::Unshown;

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
    pub(crate) secret: Vec<u8>,
    /// Distinguishes instances in ids of requests.
    pub(crate) instance: String,
    pub(crate) bodies: BodyMemory,
    /// Places for submissions that are checked or wait for it.
    pub(crate) checking: Arc<Shares>,
    /// Turns of submissions.
    pub(crate) writers: Processors,
    /// Turns of whoever signs in, so that no flood locks moderators out.
    pub(crate) sign_ins: Processors,
    /// Turns of whoever reads, so that no page waits behind submissions.
    pub(crate) readers: Processors,
    pub(crate) uploads: Uploads,
    pub(crate) reads: ReadLimits,
    pub(crate) seeds: ReadLimits,
    pub(crate) metrics: Metrics,
    pub(crate) answers: Answers,
    pub(crate) contexts: KeptContexts,
    /// Places of this computer, if this is the personal instance.
    pub(crate) mine: Option<Personal>,
}

/// Places of a computer that the personal instance shows.
#[derive(Clone, Debug)]
pub(crate) struct Personal {
    /// Directory of the journals.
    pub(crate) journals: PathBuf,
    /// Stores of runs.
    pub(crate) stores: Vec<PathBuf>,
    pub(crate) unshown: Unshown,
}

impl Site {
    /// Makes it the personal instance of a computer: nothing can be sent to it, and pages of other sites cannot read it.
    #[must_use]
    pub(crate) fn personal(self, mine: Personal) -> Self {
        let config = Config {
            dumps: None,
            ..self.config
        };
        Self {
            mine: Some(mine),
            config,
            ..self
        }
    }

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
        Self {
            store,
            secret: secret.into_bytes(),
            instance: random[..6].to_owned(),
            bodies: BodyMemory::default(),
            checking: Shares::new(MOST_CHECKING),
            writers: Processors::default(),
            sign_ins: Processors::default(),
            readers: Processors::default(),
            uploads: Uploads::new(UploadReader::default()),
            reads: ReadLimits::new(config.reads_at_once, f64::from(config.reads_per_s.max(1))),
            seeds: ReadLimits::new(SEEDS_AT_ONCE, SEEDS_PER_S),
            metrics: Metrics::default(),
            answers: Answers::default(),
            contexts: KeptContexts::default(),
            mine: None,
            config,
        }
    }
}

//! A site over a database of its own, asked without a network.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use cardmark_core::{Record, Statement, parse_record};
use cardmark_samples::in_a_reader;
use cardmark_share::{
    Secrets, Server, TAG_HEADER, TOKEN_HASH_HEADER, to_hexadecimal, write_submission,
};
use cardmark_site::{Config, Site, UploadReader, WriteLimits, router};
use cardmark_site_store::SiteStore;
use http_body_util::BodyExt;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt;
use uuid::Uuid;

pub(crate) struct Rig {
    pub(crate) router: Router,
    pub(crate) site: Arc<Site>,
    pub(crate) store: SiteStore,
    _folder: TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

pub(crate) fn config() -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        database_url: String::new(),
        origin: None,
        dumps: None,
        replica_url: None,
        secret: Some("of this test, with 32 characters".to_owned()),
        behind_proxy: false,
        writes: WriteLimits {
            of_address: 1_000_000,
            of_address_per_hour: 1,
            of_tag: 1_000_000,
            of_tag_per_hour: 1,
            new_submitters_per_day: 1_000_000,
        },
        reads_at_once: 1_000_000,
        reads_per_s: 1_000_000,
        connections: 64,
    }
}

/// The program as the reader of uploads; time has no limit here.
pub(crate) fn reader() -> UploadReader {
    UploadReader {
        program: env!("CARGO_BIN_EXE_cardmark-site").into(),
        patience: Duration::from_hours(1),
        ..UploadReader::default()
    }
}

/// A shell as the reader of uploads, with a path as `$0`.
pub(crate) fn shell(script: &str, path: &Path, processor_s: u64) -> UploadReader {
    let path = path.to_str().unwrap();
    UploadReader {
        program: "/bin/sh".into(),
        arguments: ["-c", script, path].map(str::to_owned).to_vec(),
        processor_s,
        ..reader()
    }
}

impl Rig {
    pub(crate) async fn new() -> Self {
        Self::with(config()).await
    }

    pub(crate) async fn with(config: Config) -> Self {
        Self::reading(config, reader()).await
    }

    /// A site with a reader of uploads of its own.
    pub(crate) async fn reading(config: Config, reader: UploadReader) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let address = format!("sqlite:{}", folder.path().join("site.sqlite").display());
        let store = SiteStore::open(&address).await.unwrap();
        let site = Site::new(store.clone(), config).with_upload_reader(reader);
        Self::over(folder, store, site)
    }

    /// A site whose database is in the folder.
    pub(crate) fn over(folder: TempDir, store: SiteStore, site: Site) -> Self {
        let site = Arc::new(site);
        Self {
            router: router(Arc::clone(&site)),
            site,
            store,
            _folder: folder,
        }
    }

    pub(crate) async fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Body>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = self
            .router
            .clone()
            .oneshot(request.body(body.into()).unwrap())
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], Body::empty()).await
    }

    /// Sends a submission as its owner.
    pub(crate) async fn submit(&self, owner: u8, text: &str) -> Answer {
        let id = id_of(text);
        let headers = owner_headers(owner, id);
        let headers: Vec<(&str, &str)> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        self.ask("POST", "/api/v1/records", &headers, text.to_owned())
            .await
    }
}

pub(crate) fn server() -> Server {
    "http://127.0.0.1:8080".parse().unwrap()
}

pub(crate) fn secrets(owner: u8) -> Secrets {
    Secrets::new([owner; 32])
}

pub(crate) fn owner_headers(owner: u8, id: Uuid) -> [(&'static str, String); 2] {
    let secrets = secrets(owner);
    [
        (TAG_HEADER, to_hexadecimal(&secrets.tag(&server()))),
        (
            TOKEN_HASH_HEADER,
            to_hexadecimal(&secrets.edit_token(&server(), id).hash()),
        ),
    ]
}

pub(crate) fn bearer(owner: u8, id: Uuid) -> String {
    format!(
        "Bearer {}",
        secrets(owner).edit_token(&server(), id).to_text()
    )
}

pub(crate) fn id_of(text: &str) -> Uuid {
    let (record, _) = cardmark_core::documents_of(text);
    cardmark_core::record_id(record).unwrap_or(Uuid::nil())
}

/// A record of the corpus.
pub(crate) fn corpus(name: &str) -> Record {
    let path = format!(
        "{}/../../proof/samples/records/method-2/{name}.json.zst",
        env!("CARGO_MANIFEST_DIR")
    );
    let packed = std::fs::read(path).unwrap();
    let text = zstd::bulk::decompress(&packed, 16 << 20).unwrap();
    parse_record(&String::from_utf8(text).unwrap()).unwrap()
}

pub(crate) fn measured() -> Record {
    corpus("run-measured-quick")
}

/// The measured record as one of many that count: another id, a card of its own. Its latencies are those of one run, and so is its
/// evidence: one time is a little longer, which no check can see.
pub(crate) fn another(number: u128) -> Record {
    let mut record = in_a_reader(&measured());
    record.id = Uuid::from_u128(0x1000_0000_0000_4000_8000_0000_0000_0000 + number);
    record
        .labels
        .insert("product".to_owned(), "SanDisk Ultra 32 GB".to_owned());
    let last = record.trials.last_mut().unwrap();
    last.started_ns += u64::try_from(number).unwrap() * 1_000;
    let _ = cardmark_judge::derive_again(&mut record);
    record
}

pub(crate) fn text_of(record: &Record) -> String {
    write_submission(record, 1, &[]).unwrap().0
}

/// The text of a file of a dump or an export, in small letters: unpacked, and of a table its rows.
pub(crate) fn text_in(path: &str, bytes: Vec<u8>) -> String {
    let text = match path.rsplit_once('.').map(|(_, end)| end) {
        Some("zst") => zstd::decode_all(bytes.as_slice()).unwrap(),
        Some("parquet") => {
            let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
            let rows = reader.get_row_iter(None).unwrap();
            let rows: Vec<String> = rows.map(|row| row.unwrap().to_string()).collect();
            rows.join("\n").into_bytes()
        }
        _ => bytes,
    };
    String::from_utf8_lossy(&text).to_lowercase()
}

pub(crate) fn statement(id: Uuid, revision: u64, labels: &[(&str, &str)]) -> String {
    let labels = labels
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    serde_json::to_string(&Statement::of(id, revision, &labels)).unwrap()
}

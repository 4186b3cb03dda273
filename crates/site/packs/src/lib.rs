//! Storage of packs of a results site: a folder, or a bucket of S3-compatible storage.
//!
//! A pack is an object `packs/ABCD/SHA-256.pack` below the address; ABCD are the first digits of the SHA-256 of its bytes. The name
//! proves the content, so that a pack is never changed, only written and deleted.

mod left;
mod name;

use std::future::Future;
use std::ops::Range;
use std::path::{Path as FilePath, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;

use cardmark_share::to_hexadecimal;
use futures_util::TryStreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, ClientConfigKey, ObjectStore, ObjectStoreExt as _, PutMode, PutPayload,
    RetryConfig,
};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::name::{SUFFIX, name_of};

pub use crate::name::PackName;

/// Folder of packs below the address.
const FOLDER: &str = "packs";
/// Time for a request with its body.
const REQUEST_TIME: &str = "120s";
/// Time to connect.
const CONNECT_TIME: &str = "5s";
/// Time after which a failed request is not tried again.
const RETRY_TIME: Duration = Duration::from_secs(10);

/// Reason for which the storage of packs cannot be used.
#[derive(Debug, Error)]
pub enum PacksError {
    /// The address is of no known kind, or incomplete.
    #[error("the address of packs {url:?} cannot be used: {why}")]
    Address {
        /// The address.
        url: String,
        /// Reason.
        why: String,
    },
    /// There is no pack of this name.
    #[error("there is no pack {0} in the storage")]
    Missing(String),
    /// The bytes are not those that the name proves.
    #[error("pack {0} is damaged: its SHA-256 differs from its name")]
    Damaged(String),
    /// The storage failed, or cannot be reached.
    #[error("the storage of packs failed")]
    Storage(#[from] object_store::Error),
    /// A file of the folder cannot be found or deleted.
    #[error("the folder of packs cannot be used")]
    Folder(#[from] std::io::Error),
    /// A thread for the folder or for hashing ended early.
    #[error("a thread ended early")]
    Thread(#[from] tokio::task::JoinError),
}

/// Storage of packs, as the job that writes them uses it.
pub trait Packs: Send + Sync {
    /// Stores a pack, unless it is there, and returns its name.
    fn put(&self, pack: Vec<u8>) -> impl Future<Output = Result<PackName, PacksError>> + Send;
    /// Reads a pack and compares it with its name.
    fn get(&self, name: PackName) -> impl Future<Output = Result<Vec<u8>, PacksError>> + Send;
    /// Deletes a pack, if it is there.
    fn delete(&self, name: PackName) -> impl Future<Output = Result<(), PacksError>> + Send;
    /// Names of all packs.
    fn list(&self) -> impl Future<Output = Result<Vec<PackName>, PacksError>> + Send;
    /// Deletes files that a killed process left of a pack, if they were last written at least `age` ago; returns their number.
    fn delete_left(&self, age: Duration) -> impl Future<Output = Result<u64, PacksError>> + Send;
}

/// A folder, or a bucket. Cheap to clone.
#[derive(Clone, Debug)]
pub struct PackStorage {
    objects: Arc<dyn ObjectStore>,
    root: Path,
    /// The folder of packs; `None` for a bucket, in which an object is there as a whole or not at all.
    local: Option<PathBuf>,
}

impl PackStorage {
    /// Opens a folder, `file:///FOLDER`, which is created if it is not there, or a bucket, `s3://BUCKET/PREFIX`, whose endpoint,
    /// region and keys are in the usual variables (`AWS_ENDPOINT_URL`, `AWS_REGION`, `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY`, …). An endpoint without TLS has to be on this computer, or `AWS_ALLOW_HTTP` has to be `true`.
    /// Nothing is asked before the first use.
    ///
    /// # Errors
    /// If the address is of neither kind, the folder cannot be created, or a variable cannot be used.
    pub fn open(url: &str) -> Result<Self, PacksError> {
        if let Some(folder) = url.strip_prefix("file://") {
            return open_folder(url, folder);
        }
        match url.strip_prefix("s3://") {
            Some(bucket) => open_bucket(url, bucket),
            None => Err(address(
                url,
                "it is neither file:///FOLDER nor s3://BUCKET/PREFIX",
            )),
        }
    }

    /// Reads bytes of a pack.
    ///
    /// # Errors
    /// If the pack is not there, or the storage fails.
    pub async fn get_range(
        &self,
        name: PackName,
        range: Range<u64>,
    ) -> Result<Vec<u8>, PacksError> {
        let bytes = self.objects.get_range(&self.path(name), range).await;
        Ok(bytes.map_err(|error| of_pack(error, name))?.to_vec())
    }

    fn path(&self, name: PackName) -> Path {
        let digits = to_hexadecimal(&name);
        self.folder()
            .join(digits.get(..4).unwrap_or_default())
            .join(digits + SUFFIX)
    }

    fn folder(&self) -> Path {
        self.root.clone().join(FOLDER)
    }
}

impl Packs for PackStorage {
    async fn put(&self, pack: Vec<u8>) -> Result<PackName, PacksError> {
        let hashed = tokio::task::spawn_blocking(move || (Sha256::digest(&pack).into(), pack));
        let (name, pack): (PackName, Vec<u8>) = hashed.await?;
        let (path, pack) = (self.path(name), PutPayload::from(pack));
        let put = self
            .objects
            .put_opts(&path, pack.clone(), PutMode::Create.into());
        match put.await {
            Ok(_) => Ok(name),
            // Equal bytes have equal names: a damaged pack is replaced.
            Err(object_store::Error::AlreadyExists { .. }) if self.get(name).await.is_ok() => {
                Ok(name)
            }
            // Storage without conditions: whoever writes this name writes the same bytes.
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::NotImplemented { .. }
                | object_store::Error::NotSupported { .. },
            ) => {
                self.objects.put(&path, pack).await?;
                Ok(name)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn get(&self, name: PackName) -> Result<Vec<u8>, PacksError> {
        let found = self.objects.get(&self.path(name)).await;
        let bytes = found.map_err(|error| of_pack(error, name))?.bytes().await?;
        tokio::task::spawn_blocking(move || {
            if Sha256::digest(&bytes)[..] == name {
                Ok(bytes.to_vec())
            } else {
                Err(PacksError::Damaged(to_hexadecimal(&name)))
            }
        })
        .await?
    }

    async fn delete(&self, name: PackName) -> Result<(), PacksError> {
        match self.objects.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    async fn list(&self) -> Result<Vec<PackName>, PacksError> {
        let folder = self.folder();
        let names = self.objects.list(Some(&folder)).try_filter_map(|found| {
            let name = found.location.filename().and_then(name_of);
            std::future::ready(Ok(name))
        });
        Ok(names.try_collect().await?)
    }

    async fn delete_left(&self, age: Duration) -> Result<u64, PacksError> {
        let Some(folder) = self.local.clone() else {
            return Ok(0);
        };
        Ok(tokio::task::spawn_blocking(move || left::delete(&folder, age)).await??)
    }
}

fn of_pack(error: object_store::Error, name: PackName) -> PacksError {
    match error {
        object_store::Error::NotFound { .. } => PacksError::Missing(to_hexadecimal(&name)),
        error => error.into(),
    }
}

fn address(url: &str, why: impl Into<String>) -> PacksError {
    PacksError::Address {
        url: url.to_owned(),
        why: why.into(),
    }
}

fn open_folder(url: &str, folder: &str) -> Result<PackStorage, PacksError> {
    if !folder.starts_with('/') {
        return Err(address(
            url,
            "the folder has to begin with /, such as file:///srv/packs",
        ));
    }
    let folder = FilePath::new(folder);
    std::fs::create_dir_all(folder).map_err(|error| address(url, error.to_string()))?;
    let objects = LocalFileSystem::new_with_prefix(folder)?.with_fsync(true);
    Ok(PackStorage {
        objects: Arc::new(objects),
        root: Path::default(),
        local: Some(folder.join(FOLDER)),
    })
}

fn open_bucket(url: &str, bucket: &str) -> Result<PackStorage, PacksError> {
    let (bucket, prefix) = bucket.split_once('/').unwrap_or((bucket, ""));
    if bucket.is_empty() {
        return Err(address(
            url,
            "it has to name a bucket, such as s3://cards/site",
        ));
    }
    let root = Path::parse(prefix).map_err(|error| address(url, error.to_string()))?;
    use_ring();
    let mut builder = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        // Not all compatible servers have requests that delete several objects.
        .with_disable_bulk_delete(true)
        .with_retry(RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: 3,
            retry_timeout: RETRY_TIME,
        });
    let option = AmazonS3ConfigKey::Client;
    if builder
        .get_config_value(&AmazonS3ConfigKey::Endpoint)
        .is_some_and(|endpoint| is_local(&endpoint))
    {
        builder = builder.with_allow_http(true);
    }
    builder = builder
        .with_config(option(ClientConfigKey::Timeout), REQUEST_TIME)
        .with_config(option(ClientConfigKey::ConnectTimeout), CONNECT_TIME);
    let bucket = builder
        .build()
        .map_err(|error| address(url, error.to_string()))?;
    Ok(PackStorage {
        objects: Arc::new(bucket),
        root,
        local: None,
    })
}

/// Returns whether an endpoint is on this computer.
fn is_local(endpoint: &str) -> bool {
    let Some(rest) = endpoint.strip_prefix("http://") else {
        return false;
    };
    let host = rest.split('/').next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

/// The cryptography of TLS: the library that the rest of the project uses.
fn use_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that there is one already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

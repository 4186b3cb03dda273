//! All pages as files that need no server.
//!
//! The pages are those of the router, found by following their links. Memory: the addresses that were seen, 16 bytes each, and
//! those that wait.

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use cardmark_share::{Server, to_hexadecimal};
use cardmark_site_data::{DumpAbout, NewFolder, write_dump};
use cardmark_site_store::SiteStore;
use http_body_util::BodyExt;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};
use tower::ServiceExt;

use crate::app::router;
use crate::clock::now_ms;
use crate::config::Config;
use crate::error::SiteError;
use crate::jobs::dumps::dump_name;
use crate::state::Site;

/// Addresses that the export begins with; all others are reached by links.
const BEGIN: [&str; 3] = ["/", "/runs?simulated=true", "/feed.atom"];
/// Origin under which the site is asked without a host.
const LOCAL: &str = "http://localhost";
/// Where the site has its dumps.
const DUMPS: &str = "/data/dumps/";
/// Pages that are nothing but a form: one of each is enough.
const FORMS: [&str; 3] = ["/submission", "/upload", "/compare"];
/// Shown in place of a form.
const NO_FORM: &str =
    "<p>This is a copy without a server: nothing can be searched or sent here.</p>";
/// Times that an export is begun again because a run was withdrawn meanwhile.
const ATTEMPTS: usize = 3;

/// Writes all pages and a dump as a new folder; returns the number of pages. It is written beside its place and then renamed, and holds
/// no run that was withdrawn before that.
///
/// # Errors
/// If the folder is there already, a file cannot be written, or the database fails.
pub async fn export_pages(
    store: &SiteStore,
    config: Config,
    folder: &Path,
) -> Result<u64, SiteError> {
    for _ in 0..ATTEMPTS {
        let new = NewFolder::begin(folder)?;
        let begun = store.last_change().await?;
        let begun = begun.map_or(0, |change| change.sequence);
        let count = write_all(store, &config, new.path()).await?;
        if store.withdrawn_after(begun).await?.is_empty() {
            make_durable(new.path())?;
            new.finish()?;
            return Ok(count);
        }
    }
    Err(SiteError::Withdrawals)
}

async fn write_all(store: &SiteStore, config: &Config, folder: &Path) -> Result<u64, SiteError> {
    let dumps = folder.join(DUMPS.trim_matches('/'));
    std::fs::create_dir_all(&dumps).map_err(SiteError::Folder)?;
    let about = DumpAbout {
        site: config.origin(),
        now_ms: now_ms(),
    };
    write_dump(store, &dumps.join(dump_name(about.now_ms)), about).await?;
    let server = config.origin().parse::<Server>().ok();
    let origin = server.as_ref().map_or(LOCAL.to_owned(), Server::origin);
    let config = Config {
        origin: server,
        behind_proxy: false,
        dumps: Some(dumps),
        // Only the export waits for the answers.
        reads_at_once: u32::MAX,
        reads_per_s: u32::MAX,
        ..config.clone()
    };
    let mut export = Export {
        router: router(Arc::new(Site::new(store.clone(), config))),
        folder: folder.to_owned(),
        origin,
        seen: BTreeSet::new(),
        waiting: VecDeque::new(),
    };
    for address in BEGIN {
        export.file_for(address);
    }
    let mut count = 0;
    while let Some(address) = export.waiting.pop_front() {
        export.write_page(&address).await?;
        count += 1;
    }
    Ok(count)
}

/// All files of the filesystem at once: there may be millions.
fn make_durable(folder: &Path) -> Result<(), SiteError> {
    let opened = File::open(folder).map_err(SiteError::Folder)?;
    rustix::fs::syncfs(opened).map_err(|error| SiteError::Folder(error.into()))
}

struct Export {
    router: Router,
    folder: PathBuf,
    origin: String,
    /// Beginnings of the SHA-256 of addresses.
    seen: BTreeSet<[u8; 16]>,
    waiting: VecDeque<String>,
}

impl Export {
    /// The file of an address, which is written if it was not yet.
    fn file_for(&mut self, address: &str) -> String {
        let address = match address.split_once('?') {
            Some((path, query)) if FORMS.contains(&path) && !query.contains("other=") => path,
            _ => address,
        };
        if self.seen.insert(digest_of(address)) {
            self.waiting.push_back(address.to_owned());
        }
        file_of(address)
    }

    async fn write_page(&mut self, address: &str) -> Result<(), SiteError> {
        let name = file_of(address);
        let failed = || SiteError::Page(address.to_owned());
        let request = Request::get(address).body(Body::empty());
        let request = request.map_err(|_| failed())?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (parts, body) = response.into_parts();
        if parts.status.is_server_error() || parts.status == StatusCode::TOO_MANY_REQUESTS {
            return Err(failed());
        }
        let body = body.collect().await.map_err(|_| failed())?.to_bytes();
        let text = |name| {
            parts
                .headers
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        let body = match (text(header::LOCATION), text(header::CONTENT_TYPE)) {
            (Some(to), _) if parts.status.is_redirection() => self.redirect(&name, to).into_bytes(),
            (_, Some(kind)) if kind.starts_with("text/html") || kind.contains("xml") => {
                let text = String::from_utf8_lossy(&body);
                self.with_links(&name, &without_forms(&text)).into_bytes()
            }
            _ => body.to_vec(),
        };
        let path = self.folder.join(name);
        let write = || {
            std::fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
            std::fs::write(&path, &body)
        };
        write().map_err(|source| SiteError::Export {
            path: path.clone(),
            source,
        })
    }

    fn redirect(&mut self, from: &str, to: &str) -> String {
        let to = self.link(from, to);
        format!(
            "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={to}\">\
             <title>Moved</title><a href=\"{to}\">Moved</a>"
        )
    }

    /// The page with links to files.
    fn with_links(&mut self, name: &str, page: &str) -> String {
        let mut written = String::with_capacity(page.len());
        let mut rest = page;
        while let Some((before, quote)) = next_attribute(rest) {
            written += before;
            let (value, behind) = quote.split_once('"').unwrap_or((quote, ""));
            written += &self.link(name, value);
            written.push('"');
            rest = behind;
        }
        written + rest
    }

    /// A link of the site as one to a file, seen from another file; others stay.
    fn link(&mut self, from: &str, value: &str) -> String {
        let address = value.replace("&amp;", "&").replace("&#38;", "&");
        let address = match address.strip_prefix(&self.origin) {
            Some("") => "/".to_owned(),
            Some(rest) => rest.to_owned(),
            None => address,
        };
        if !address.starts_with('/') || address.starts_with("//") {
            return value.to_owned();
        }
        let (address, fragment) = match address.split_once('#') {
            Some((address, fragment)) => (address.to_owned(), format!("#{fragment}")),
            None => (address, String::new()),
        };
        let to = match address.strip_prefix(DUMPS) {
            Some(file) => format!("{}{file}", DUMPS.trim_start_matches('/')),
            // The dump has everything that the API answers from.
            None if address.starts_with("/api/") => self.file_for("/data"),
            None => self.file_for(&address),
        };
        "../".repeat(from.matches('/').count()) + &to + &fragment
    }
}

/// Splits behind the next `href="` or `src="` of a tag.
fn next_attribute(page: &str) -> Option<(&str, &str)> {
    let places = ["href=\"", "src=\""].into_iter();
    let end = places.filter_map(|name| Some(page.find(name)? + name.len()));
    page.split_at_checked(end.min()?)
}

fn without_forms(page: &str) -> String {
    let mut written = String::with_capacity(page.len());
    let mut rest = page;
    while let Some((before, form)) = rest.split_once("<form ") {
        written += before;
        written += NO_FORM;
        rest = form.split_once("</form>").map_or("", |(_, behind)| behind);
    }
    written + rest
}

fn digest_of(address: &str) -> [u8; 16] {
    let mut digest = [0; 16];
    digest.copy_from_slice(&Sha256::digest(address)[..16]);
    digest
}

/// Name of the file of an address: its path, and where that is no plain name or has a query, readable letters and a digest. Small
/// letters only, since not every filesystem distinguishes others.
fn file_of(address: &str) -> String {
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (address, None),
    };
    let path = path.trim_matches('/');
    let (stem, end) = match path.rsplit_once('.') {
        Some((stem, end)) if ENDS.contains(&end) => (stem, end),
        _ => (path, "html"),
    };
    let is_plain = |part: &&str| {
        let mut bytes = part.bytes();
        part.len() <= MOST_NAME
            && !part.is_empty()
            && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let parts: Vec<&str> = stem.split('/').collect();
    let name = match stem {
        "" => "index".to_owned(),
        _ => parts
            .iter()
            .map(|part| slug(part))
            .collect::<Vec<_>>()
            .join("/"),
    };
    let is_plain = query.is_none() && (stem.is_empty() || parts.iter().all(is_plain));
    match is_plain {
        true => format!("{name}.{end}"),
        false => {
            let digest = to_hexadecimal(&digest_of(address)[..6]);
            format!("{name}_{digest}.{end}")
        }
    }
}

/// Endings that files keep; all other files are pages.
const ENDS: [&str; 8] = ["atom", "css", "js", "json", "png", "svg", "txt", "xml"];
/// Longest readable part of a name, bytes.
const MOST_NAME: usize = 60;

/// Letters, digits and hyphens of a part of a path.
fn slug(part: &str) -> String {
    let text = percent_decode_str(part).decode_utf8_lossy().to_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut slug = words.join("-");
    slug.truncate(MOST_NAME);
    match slug.is_empty() {
        true => "page".to_owned(),
        false => slug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_readable_and_each_address_has_its_own() {
        assert_eq!(file_of("/"), "index.html");
        assert_eq!(file_of("/runs"), "runs.html");
        assert_eq!(file_of("/feed.atom"), "feed.atom");
        let style = file_of("/style.css?0a1b");
        assert!(
            style.starts_with("style_") && style.ends_with(".css"),
            "{style}"
        );
        let product = file_of("/products/%7Esandisk%20ultra%2032%20gb");
        assert!(
            product.starts_with("products/sandisk-ultra-32-gb_"),
            "{product}"
        );
        let addresses = [
            "/products/%7Eab",
            "/products/%7Ea%2Fb",
            "/products/%7Ea%20b",
            "/products/%7EA%20b",
            "/products/ab",
            "/products/..%2F..%2Fetc",
            "/products/%E5%8D%A1",
            "/runs?board=a",
            "/runs?board=A",
        ];
        let files: BTreeSet<String> = addresses.iter().map(|one| file_of(one)).collect();
        assert_eq!(files.len(), addresses.len(), "{files:?}");
        for file in files {
            let is_safe =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_./".contains(c);
            assert!(file.chars().all(is_safe) && !file.contains(".."), "{file}");
        }
        let long = file_of(&format!("/products/{}", "a".repeat(4_000)));
        assert!(long.len() < 120, "{long}");
    }

    #[test]
    fn forms_are_left_out() {
        let page = "<h1>A</h1><form action=\"/x\"><a href=\"/y\"></a></form><p>B</p>";
        assert_eq!(without_forms(page), format!("<h1>A</h1>{NO_FORM}<p>B</p>"));
    }
}

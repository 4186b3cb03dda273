//! The frame of every page: navigation, a form, the document, and the address of the next page.

use std::sync::{LazyLock, OnceLock};

use askama::Template;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use cardmark_report::document::{Block, Document, html_content, style_sheet};
use cardmark_share::to_hexadecimal;
use sha2::{Digest, Sha256};

use super::addresses;
use crate::kept::{A_MINUTE, FOR_LONG, Kept};
use crate::problem::Refusal;
use crate::state::Site;

/// Set in the process of the personal instance before its first page. A process is a site or that, and pages that never change are made
/// once for it.
static IS_PERSONAL: OnceLock<()> = OnceLock::new();

/// Gives all pages of this process the frame of the personal instance.
pub(crate) fn make_personal() {
    let _ = IS_PERSONAL.set(());
}

/// A name and an address.
type Named = (&'static str, &'static str);

/// Links at the top of every page.
const NAVIGATION: [Named; 9] = [
    ("cardmark", "/"),
    ("Products", "/products"),
    ("Rankings", "/rankings"),
    ("Runs", "/runs"),
    ("Boards", "/boards"),
    ("Published", "/published"),
    ("Checks", "/checks"),
    ("Data", "/data"),
    ("Upload", "/upload"),
];
const NAVIGATION_OF_A_COMPUTER: [Named; 8] = [
    ("cardmark", "/"),
    ("Runs", "/runs"),
    ("Cards", "/history"),
    ("Under way", "/under-way"),
    ("Products", "/products"),
    ("Boards", "/boards"),
    ("Published", "/published"),
    ("Checks", "/checks"),
];

static STYLE: LazyLock<String> =
    LazyLock::new(|| style_sheet() + include_str!("../../templates/site.css"));
/// Sorting and tooltips; all pages are complete without it.
const SCRIPT: &str = include_str!("../../templates/site.js");
/// Icon of the site: a card with bars.
const ICON: &str = include_str!("../../templates/icon.svg");
static STYLE_ADDRESS: LazyLock<String> = LazyLock::new(|| address_of("/style.css", &STYLE));
static SCRIPT_ADDRESS: LazyLock<String> = LazyLock::new(|| address_of("/script.js", SCRIPT));
static ICON_ADDRESS: LazyLock<String> = LazyLock::new(|| address_of("/icon.svg", ICON));

/// Address of a text that never changes under it.
fn address_of(path: &str, text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    format!("{path}?{}", to_hexadecimal(&digest[..6]))
}

/// A page.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Page {
    navigation: &'static [Named],
    is_personal: bool,
    document: Document,
    about: String,
    links: Vec<Link>,
    form: Option<Form>,
    sections: Vec<Section>,
    last: Option<Form>,
    next: Option<String>,
    picture: Option<Picture>,
    content: String,
    style: &'static str,
    script: &'static str,
    icon: &'static str,
}

/// A picture of the page for previews of links to it, with the page's own address; both absolute.
struct Picture {
    page: String,
    address: String,
}

/// A link below the title.
pub(crate) struct Link {
    name: String,
    address: String,
}

/// Part of a page with a form of its own.
pub(crate) struct Section {
    title: String,
    links: Vec<Link>,
    content: String,
    form: Option<Form>,
}

impl Section {
    pub(crate) fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            links: Vec::new(),
            content: html_content(&Document {
                title: String::new(),
                blocks,
            }),
            form: None,
        }
    }

    pub(crate) fn link(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link {
            name: name.into(),
            address: address.into(),
        });
        self
    }

    pub(crate) fn form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }
}

/// A form that asks for another page, or sends something.
pub(crate) struct Form {
    action: &'static str,
    button: &'static str,
    fields: Vec<Field>,
    /// True if it changes something; it is sent in parts, since it may hold a file.
    sends: bool,
}

impl Form {
    /// A form that asks for another page.
    pub(crate) fn asking(action: &'static str, button: &'static str, fields: Vec<Field>) -> Self {
        Self {
            action,
            button,
            fields,
            sends: false,
        }
    }

    /// A form that sends something.
    pub(crate) fn sending(action: &'static str, button: &'static str, fields: Vec<Field>) -> Self {
        Self {
            sends: true,
            ..Self::asking(action, button, fields)
        }
    }
}

/// A field of a form.
pub(crate) struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
    kind: FieldKind,
}

/// Kind of a field.
#[derive(PartialEq)]
pub(crate) enum FieldKind {
    Text,
    Date,
    /// One of these values, with their names.
    Choice(Vec<(String, String)>),
    Lines,
    File,
    Secret,
    Hidden,
}

impl Field {
    pub(crate) fn of(kind: FieldKind, name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            value: String::new(),
            kind,
        }
    }

    pub(crate) fn text(name: &'static str, label: &'static str, value: Option<&str>) -> Self {
        Self::of(FieldKind::Text, name, label).with(value)
    }

    pub(crate) fn date(name: &'static str, label: &'static str, value: Option<&str>) -> Self {
        Self::of(FieldKind::Date, name, label).with(value)
    }

    pub(crate) fn choice(
        name: &'static str,
        label: &'static str,
        value: Option<&str>,
        choices: Vec<(String, String)>,
    ) -> Self {
        Self::of(FieldKind::Choice(choices), name, label).with(value)
    }

    pub(crate) fn hidden(name: &'static str, value: &str) -> Self {
        Self::of(FieldKind::Hidden, name, "").with(Some(value))
    }

    fn with(self, value: Option<&str>) -> Self {
        Self {
            value: value.unwrap_or_default().to_owned(),
            ..self
        }
    }
}

impl Page {
    /// A page with this content. `about` is its description for search engines and previews.
    pub(crate) fn new(
        title: impl Into<String>,
        about: impl Into<String>,
        blocks: Vec<Block>,
    ) -> Self {
        let document = Document {
            title: title.into(),
            blocks,
        };
        let is_personal = IS_PERSONAL.get().is_some();
        Self {
            navigation: match is_personal {
                true => &NAVIGATION_OF_A_COMPUTER,
                false => &NAVIGATION,
            },
            is_personal,
            content: html_content(&document),
            document,
            about: about.into(),
            links: Vec::new(),
            form: None,
            sections: Vec::new(),
            last: None,
            next: None,
            picture: None,
            style: STYLE_ADDRESS.as_str(),
            script: SCRIPT_ADDRESS.as_str(),
            icon: ICON_ADDRESS.as_str(),
        }
    }

    pub(crate) fn link(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link {
            name: name.into(),
            address: address.into(),
        });
        self
    }

    pub(crate) fn form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }

    /// A section behind the content, with a form of its own.
    pub(crate) fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// A form behind the content.
    pub(crate) fn last(self, form: Form) -> Self {
        Self {
            last: Some(form),
            ..self
        }
    }

    /// The page with a picture for previews. Readers of Open Graph need absolute addresses.
    pub(crate) fn pictured(self, origin: &str, path: &str) -> Self {
        let picture = Picture {
            page: format!("{origin}{path}"),
            address: format!("{origin}{}", addresses::preview(path)),
        };
        Self {
            picture: Some(picture),
            ..self
        }
    }

    pub(crate) fn next(self, next: Option<String>) -> Self {
        Self { next, ..self }
    }

    /// The page as the answer to something that was sent: it is kept nowhere.
    pub(crate) fn answer_once(&self, status: StatusCode) -> Response {
        answer_once(status, self.to_string())
    }

    pub(crate) fn answer(&self, headers: &HeaderMap) -> Response {
        self.kept().answer(headers)
    }

    pub(crate) fn kept(&self) -> Kept {
        Kept::new(HTML, self.to_string())
    }
}

/// A page as the answer to something that was sent: it is kept nowhere.
pub(crate) fn answer_once(status: StatusCode, page: String) -> Response {
    let headers = [("content-type", HTML), ("cache-control", "no-store")];
    (status, headers, page).into_response()
}

/// Scheme and host of the site: those configured, or as the reader asked it.
pub(crate) fn origin(site: &Site, headers: &HeaderMap) -> String {
    if let Some(origin) = &site.config.origin {
        return origin.origin();
    }
    let host = headers.get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let host = host.filter(|host| !host.is_empty());
    let scheme = match site.config.behind_proxy {
        true => "https",
        false => "http",
    };
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

const HTML: &str = "text/html; charset=utf-8";

/// An error as a page.
pub(crate) struct PageRefusal(Refusal);

impl From<Refusal> for PageRefusal {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<cardmark_site_store::SiteStoreError> for PageRefusal {
    fn from(error: cardmark_site_store::SiteStoreError) -> Self {
        Self(error.into())
    }
}

impl IntoResponse for PageRefusal {
    fn into_response(self) -> Response {
        let problem = self.0.problem();
        let blocks = vec![Block::Text(sentence(&problem.detail))];
        let page = Page::new(problem.title.clone(), problem.title.clone(), blocks).to_string();
        let mut response = self.0.into_response();
        *response.body_mut() = page.into();
        let headers = response.headers_mut();
        headers.remove("content-length");
        headers.insert("content-type", axum::http::HeaderValue::from_static(HTML));
        response
    }
}

/// There is nothing at this address.
pub(crate) fn no_page() -> Refusal {
    let detail = "there is nothing at this address";
    Refusal::new(
        StatusCode::NOT_FOUND,
        "unknown-path",
        "Nothing here",
        detail,
    )
}

/// The text with a capital letter and a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

/// Time for which a text may be kept. Another instance may have another one: under the address of that, not for long.
fn time_of(asked: &Uri, own: &str) -> &'static str {
    match asked.path_and_query().is_some_and(|asked| asked == own) {
        true => FOR_LONG,
        false => A_MINUTE,
    }
}

pub(crate) async fn style(asked: Uri, headers: HeaderMap) -> Response {
    static KEPT: LazyLock<Kept> =
        LazyLock::new(|| Kept::new("text/css; charset=utf-8", STYLE.as_str()));
    KEPT.answer_for(&headers, time_of(&asked, &STYLE_ADDRESS))
}

pub(crate) async fn icon(asked: Uri, headers: HeaderMap) -> Response {
    static KEPT: LazyLock<Kept> = LazyLock::new(|| Kept::new("image/svg+xml", ICON));
    KEPT.answer_for(&headers, time_of(&asked, &ICON_ADDRESS))
}

pub(crate) async fn script(asked: Uri, headers: HeaderMap) -> Response {
    static KEPT: LazyLock<Kept> =
        LazyLock::new(|| Kept::new("text/javascript; charset=utf-8", SCRIPT));
    KEPT.answer_for(&headers, time_of(&asked, &SCRIPT_ADDRESS))
}

//! The frame of every page: navigation, a form, the document, and the address of the next page.

use askama::Template;
use cardmark_report::document::{Block, Document, html_content};

use crate::addresses;
use crate::assets::{ICON, SCRIPT, STYLE};

/// What surrounds the content of every page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Frame {
    /// That of a site.
    #[default]
    Site,
    /// That of a computer's own runs.
    Computer,
}

/// A name and an address.
type Named = (&'static str, &'static str);

/// Links at the top of every page.
const NAVIGATION: [Named; 7] = [
    ("cardmark", "/"),
    ("Products", "/products"),
    ("Boards", "/boards"),
    ("Compare", "/compare"),
    ("Rankings", "/rankings"),
    ("Runs", "/runs"),
    ("Upload", "/upload"),
];
const NAVIGATION_OF_A_COMPUTER: [Named; 10] = [
    ("cardmark", "/"),
    ("Runs", "/runs"),
    ("Worst first", "/attention"),
    ("Fleet", "/fleet"),
    ("Cards", "/history"),
    ("Under way", "/under-way"),
    ("Compare", "/compare"),
    ("Products", "/products"),
    ("Boards", "/boards"),
    ("Published", "/published"),
];
/// Beginning of the addresses of the API, which only a site has.
const API: &str = "/api/";

/// A page.
#[derive(Debug, Default)]
pub struct Page {
    title: String,
    about: String,
    links: Vec<Link>,
    form: Option<Form>,
    sections: Vec<Section>,
    last: Option<Form>,
    next: Option<String>,
    picture: Option<Picture>,
    /// Answer, beside the form and the cards.
    head: String,
    cards: Vec<Section>,
    /// Charts beside the head.
    beside: String,
    content: String,
}

/// A page in its frame.
#[derive(Template)]
#[template(path = "page.html")]
struct Framed<'a> {
    page: &'a Page,
    links: Vec<&'a Link>,
    navigation: &'static [Named],
    is_personal: bool,
    style: &'static str,
    script: &'static str,
    icon: &'static str,
}

/// A picture of the page for previews of links to it, with the page's own address; both absolute.
#[derive(Debug)]
struct Picture {
    page: String,
    address: String,
}

/// A link below the title.
#[derive(Debug)]
pub struct Link {
    name: String,
    address: String,
}

/// Part of a page with a form of its own.
#[derive(Debug, Default)]
pub struct Section {
    title: String,
    links: Vec<Link>,
    content: String,
    form: Option<Form>,
}

impl Section {
    /// A section with this content.
    pub fn new(title: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            title: title.into(),
            content: html_of(blocks),
            ..Self::default()
        }
    }

    /// Adds a link below the title.
    #[must_use]
    pub fn link(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link {
            name: name.into(),
            address: address.into(),
        });
        self
    }

    /// Sets the form.
    #[must_use]
    pub fn form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }
}

/// A form that asks for another page, or sends something.
#[derive(Debug)]
pub struct Form {
    action: String,
    button: &'static str,
    fields: Vec<Field>,
    /// True if it changes something; it is sent in parts, since it may hold a file.
    sends: bool,
}

impl Form {
    /// A form that asks for another page.
    pub fn asking(action: impl Into<String>, button: &'static str, fields: Vec<Field>) -> Self {
        Self {
            action: action.into(),
            button,
            fields,
            sends: false,
        }
    }

    /// A form that sends something.
    pub fn sending(action: impl Into<String>, button: &'static str, fields: Vec<Field>) -> Self {
        Self {
            sends: true,
            ..Self::asking(action, button, fields)
        }
    }
}

/// A field of a form.
#[derive(Debug)]
pub struct Field {
    name: &'static str,
    label: &'static str,
    value: String,
    kind: FieldKind,
}

/// Kind of a field.
#[derive(Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// A line of text.
    Text,
    /// A day.
    Date,
    /// One of these values, with their names.
    Choice(Vec<(String, String)>),
    /// Lines of text.
    Lines,
    /// A file.
    File,
    /// A password or phrase.
    Secret,
    /// A value that is sent without being shown.
    Hidden,
}

impl Field {
    /// An empty field.
    pub fn of(kind: FieldKind, name: &'static str, label: &'static str) -> Self {
        Self {
            name,
            label,
            value: String::new(),
            kind,
        }
    }

    /// A field of one line.
    pub fn text(name: &'static str, label: &'static str, value: Option<&str>) -> Self {
        Self::of(FieldKind::Text, name, label).with(value)
    }

    /// A field for a day.
    pub fn date(name: &'static str, label: &'static str, value: Option<&str>) -> Self {
        Self::of(FieldKind::Date, name, label).with(value)
    }

    /// A field with a list of values and their names.
    pub fn choice(
        name: &'static str,
        label: &'static str,
        value: Option<&str>,
        choices: Vec<(String, String)>,
    ) -> Self {
        Self::of(FieldKind::Choice(choices), name, label).with(value)
    }

    /// A field that is not shown.
    pub fn hidden(name: &'static str, value: &str) -> Self {
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
    pub fn new(title: impl Into<String>, about: impl Into<String>, blocks: Vec<Block>) -> Self {
        Self {
            content: html_of(blocks),
            title: title.into(),
            about: about.into(),
            ..Self::default()
        }
    }

    /// Puts the answer before the content, with charts beside it where the screen is wide enough.
    #[must_use]
    pub fn answered(self, answer: Vec<Block>, beside: Vec<Block>) -> Self {
        Self {
            head: self.head + &html_of(answer),
            beside: self.beside + &html_of(beside),
            ..self
        }
    }

    /// Adds a card with a question below the answer.
    #[must_use]
    pub fn card(mut self, card: Section) -> Self {
        self.cards.push(card);
        self
    }

    /// Adds charts behind the content, beside each other where the screen is wide enough.
    #[must_use]
    pub fn gallery(self, charts: Vec<Block>) -> Self {
        let wrapped = match charts.is_empty() {
            true => String::new(),
            false => format!("<div class=\"gallery\">{}</div>", html_of(charts)),
        };
        self.with(&wrapped)
    }

    /// Adds content.
    #[must_use]
    pub fn more(self, blocks: Vec<Block>) -> Self {
        self.with(&html_of(blocks))
    }

    fn with(self, html: &str) -> Self {
        Self {
            content: self.content + html,
            ..self
        }
    }

    /// Adds a link below the title.
    #[must_use]
    pub fn link(mut self, name: impl Into<String>, address: impl Into<String>) -> Self {
        self.links.push(Link {
            name: name.into(),
            address: address.into(),
        });
        self
    }

    /// Sets the form.
    #[must_use]
    pub fn form(self, form: Form) -> Self {
        Self {
            form: Some(form),
            ..self
        }
    }

    /// A section behind the content, with a form of its own.
    #[must_use]
    pub fn section(mut self, section: Section) -> Self {
        self.sections.push(section);
        self
    }

    /// A form behind the content.
    #[must_use]
    pub fn last(self, form: Form) -> Self {
        Self {
            last: Some(form),
            ..self
        }
    }

    /// The page with a picture for previews. Readers of Open Graph need absolute addresses.
    #[must_use]
    pub fn pictured(self, origin: &str, path: &str) -> Self {
        let picture = Picture {
            page: format!("{origin}{path}"),
            address: format!("{origin}{}", addresses::preview(path)),
        };
        Self {
            picture: Some(picture),
            ..self
        }
    }

    /// Sets the address of the next page.
    #[must_use]
    pub fn next(self, next: Option<String>) -> Self {
        Self { next, ..self }
    }

    /// Returns the page as HTML.
    pub fn html(&self, frame: Frame) -> String {
        let is_personal = frame == Frame::Computer;
        let is_there = |link: &&Link| !is_personal || !link.address.starts_with(API);
        let framed = Framed {
            page: self,
            links: self.links.iter().filter(is_there).collect(),
            navigation: match frame {
                Frame::Site => &NAVIGATION,
                Frame::Computer => &NAVIGATION_OF_A_COMPUTER,
            },
            is_personal,
            style: STYLE.address.as_str(),
            script: SCRIPT.address.as_str(),
            icon: ICON.address.as_str(),
        };
        framed.to_string()
    }
}

fn html_of(blocks: Vec<Block>) -> String {
    html_content(&Document {
        title: String::new(),
        blocks,
    })
}

/// The text with a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

//! Runs named in a command: by id, as files, or by common properties.

pub(crate) mod again;
pub(crate) mod defaults;
pub(crate) mod labels;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;
use std::path::Path;

use cardmark_catalog::{
    is_board, is_part_of_name, product_name, products_called, publications, split_capacity,
};
use cardmark_core::{
    Context, FindingKind, MOST_RECORD_BYTES, OriginKind, Record, Tool, documents_of,
    evidence_digest, is_sold_as, parse_record, parse_run_file,
};
use cardmark_judge::derive_again;
use cardmark_stats::discrepancies;
use cardmark_store::{Condition, Labels, Places, Store};
use serde_json::Value;
use uuid::Uuid;

use crate::args::parse_size;
use crate::error::{CommandError, Exit};
use crate::terminal::print;
use cardmark_session::file;
use cardmark_session::{Data, store_error};

/// Names of differences in a warning.
const MOST_NAMES: usize = 5;
/// Runs that a notice names.
const MOST_NAMED: usize = 3;
/// Digits of the shortest beginning of an id.
const LEAST_ID: usize = 4;
/// Digits of an id that are shown.
const SHORT_ID: usize = 8;
/// Contradictions of a record in a warning.
const MOST_SENTENCES: usize = 2;

/// A run that was found, and where.
pub(crate) struct Found {
    pub(crate) record: Record,
    /// Argument that names it.
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// Source of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A record file.
    File,
    /// The store, whole.
    Store,
    /// The store, without trials and sensor readings; or a publication.
    Head,
}

impl Found {
    /// Returns whether two runs of one id have the same content. In the store labels may have changed.
    fn is_same_as(&self, other: &Self) -> bool {
        let sources = [self.source, other.source];
        let content = |one: &Self| {
            let mut record = one.record.clone();
            if sources.contains(&Source::Head) {
                record.trials.clear();
                record.workloads.clear();
                record.sensors.clear();
            }
            if sources != [Source::File; 2] {
                record.labels.clear();
            }
            record
        };
        content(self) == content(other)
    }
}

/// One run.
pub(crate) struct One {
    pub(crate) record: Record,
    /// Its document, with what this version does not know.
    pub(crate) document: String,
    /// The document of what the user states of it, if anything.
    pub(crate) statement: Option<String>,
}

impl One {
    /// With figures, findings and verdicts derived again, then with these labels and what follows from them.
    fn derived(
        mut self,
        name: &str,
        labels: BTreeMap<String, String>,
    ) -> Result<Self, CommandError> {
        let differing = derive_again(&mut self.record);
        warn_of(name, &self.record, &differing);
        if !differing.is_empty() {
            self.document = with_derived(&self.document, &self.record)
                .map_err(|error| CommandError::from_error(Exit::Bug, &error))?;
        }
        if self.record.labels != labels {
            self.record.labels = labels;
            let _ = derive_again(&mut self.record);
        }
        Ok(self)
    }
}

/// Side of a comparison.
pub(crate) struct Side {
    pub(crate) records: Vec<Record>,
    /// True if it is all runs of a product, wherever they were measured.
    pub(crate) is_of_product: bool,
    /// True if it names a board.
    pub(crate) names_board: bool,
}

/// Finds runs; opens the store when it is needed first.
#[derive(Default)]
pub(crate) struct Runs {
    store: Option<Store>,
    /// True if published results answer alone.
    is_without_store: bool,
    /// True if names of products are sides, and published results are found without their publication.
    with_published: bool,
    /// Board of all runs that are not named one by one.
    board: Option<String>,
}

impl Runs {
    /// Also finds published results, by product or by conditions, and on this board only.
    pub(crate) fn with_published(board: Option<&String>) -> Self {
        Self {
            with_published: true,
            board: board.cloned(),
            ..Self::default()
        }
    }

    /// The run of an id, a unique beginning of one, `last`, or in a record file.
    pub(crate) fn one(&mut self, run: &str) -> Result<One, CommandError> {
        let path = Path::new(run);
        if path.is_file() {
            return read_file(path);
        }
        let store = self.store()?;
        let found = store.find(run).map_err(|error| store_error(&error))?;
        let stated = store.statement(found.record.id);
        let statement = stated.map_err(|error| store_error(&error))?;
        let name = format!("run {}", found.record.id);
        One {
            record: found.record,
            document: found.document,
            statement,
        }
        .derived(&name, found.labels)
    }

    /// All runs of a side: `RUN,RUN…`, or those that fulfil `KEY=VALUE,KEY=VALUE…`, each once. Labels
    /// are as they stand now.
    pub(crate) fn side(&mut self, side: &str) -> Result<Vec<Record>, CommandError> {
        let found = distinct(self.named(side)?)?;
        let found = self.without_copies(found)?;
        Ok(found.into_iter().map(|found| found.record).collect())
    }

    /// The runs of a side, and what names them.
    pub(crate) fn compared(&mut self, side: &str) -> Result<Side, CommandError> {
        let query = self.query(side)?;
        let names = |name: &str| {
            let mut conditions = query.iter().flat_map(|query| &query.conditions);
            conditions.any(|condition| condition.name == name)
        };
        let is_of_product = query.as_ref().is_some_and(|query| query.product.is_some());
        Ok(Side {
            is_of_product: is_of_product && !names("publication"),
            names_board: names("board"),
            records: self.side(side)?,
        })
    }

    /// All runs of several sides, each once.
    pub(crate) fn sides(&mut self, sides: &[String]) -> Result<Vec<Found>, CommandError> {
        let mut found = Vec::new();
        for side in sides {
            found.extend(self.named(side)?);
        }
        let found = distinct(found)?;
        self.without_copies(found)
    }

    /// Drops runs with the measurements of one before them, under another id: they are no further runs.
    fn without_copies(&mut self, mut found: Vec<Found>) -> Result<Vec<Found>, CommandError> {
        let mut stored = BTreeMap::new();
        if found.len() > 1
            && found.iter().any(|one| one.source == Source::Head)
            && let Some(store) = self.own()
        {
            stored.extend(store.digests()?);
        }
        let mut digests = BTreeSet::new();
        let all = found.len();
        found.retain(|one| {
            let digest = match one.source {
                Source::Head => stored.remove(&one.record.id.to_string()),
                Source::File | Source::Store => evidence_digest(&one.record),
            };
            digest.is_none_or(|digest| digests.insert(digest))
        });
        match all - found.len() {
            0 => {}
            1 => print::notice("a copy of another run is not counted"),
            count => print::notice(&format!("{count} copies of other runs are not counted")),
        }
        Ok(found)
    }

    /// The runs that a side names; one named twice is there twice.
    fn named(&mut self, side: &str) -> Result<Vec<Found>, CommandError> {
        if let Some(query) = self.query(side)? {
            let records = self.selected(side, query)?.into_iter();
            let found = records.map(|record| Found {
                record,
                name: side.to_owned(),
                source: Source::Head,
            });
            return Ok(found.collect());
        }
        let runs = side.split(',').map(str::trim).filter(|run| !run.is_empty());
        let mut found = Vec::new();
        for run in runs {
            if self.with_published && !is_run_name(run) {
                let what = format!("no run, record file or product is called `{run}`");
                let near = match near_names(run).as_slice() {
                    [] => String::new(),
                    near => format!("perhaps {}; ", near.join(", ")),
                };
                return Err(CommandError::new(Exit::Usage, what).hint(format!(
                    "{near}`cardmark list runs` shows your runs, `cardmark rank --board \"Pi 4\"` published products",
                )));
            }
            found.push(Found {
                record: self.one(run)?.record,
                name: run.to_owned(),
                source: match Path::new(run).is_file() {
                    true => Source::File,
                    false => Source::Store,
                },
            });
        }
        if found.is_empty() {
            let what = format!("`{side}` names no run");
            return Err(CommandError::new(Exit::Usage, what).hint(
                "`last`, an id, a record file, a product, or conditions such as product=\"…\"",
            ));
        }
        Ok(found)
    }

    /// The query of a side that does not name runs one by one.
    fn query(&mut self, side: &str) -> Result<Option<Query>, CommandError> {
        if Path::new(side).exists() {
            return Ok(None);
        }
        let first = side.split(',').next().unwrap_or_default();
        let is_name = self.with_published && !first.contains('=') && !is_run_name(first);
        let is_query = side.contains('=') || (is_name && self.is_product(side)?);
        if !is_query {
            return Ok(None);
        }
        let (name, conditions) = match side.split_once(',') {
            _ if !is_name => (None, conditions(side)?),
            Some((name, rest)) if rest.contains('=') => (Some(name), conditions(rest)?),
            _ => (Some(side), Vec::new()),
        };
        let mut query = Query {
            product: name.map(|name| Product::called(name.trim())),
            conditions,
        };
        if self.with_published && query.product.is_none() {
            let mut conditions = query.conditions.iter();
            let product = conditions.position(|condition| condition.name == "product");
            let product = product.map(|index| query.conditions.remove(index).value);
            query.product = product.map(Product::Is);
        }
        let board = self.board.as_ref().map(|board| condition("board", board));
        query.conditions.extend(board.transpose()?);
        Ok(Some(query))
    }

    /// True if a product of the catalogue or of own runs has this name, or this part in its name.
    fn is_product(&mut self, name: &str) -> Result<bool, CommandError> {
        if !products_called(name).is_empty() {
            return Ok(true);
        }
        let Some(store) = self.own() else {
            return Ok(false);
        };
        let subjects = store.subjects()?;
        let mut labels = subjects
            .values()
            .filter_map(|subject| subject.product.as_ref());
        Ok(labels.any(|label| is_part_of_name(label, name)))
    }

    fn selected(&mut self, side: &str, query: Query) -> Result<Vec<Record>, CommandError> {
        let Query {
            product,
            conditions,
        } = query;
        let mut known = HashMap::new();
        let mut is_of_product = |labels: &Labels| {
            let mut product = product.iter();
            product.all(|one| one.is_of(labels, &mut known))
        };
        let mut names = conditions.iter().map(|condition| condition.name.as_str());
        let is_public = names.any(|name| name == "publication") || product.is_some();
        let store = match is_public {
            true => self.own(),
            false => Some(self.store()?),
        };
        let mut records = match store {
            Some(store) => store.select_by(&conditions, is_board, &mut is_of_product)?,
            None => Vec::new(),
        };
        if is_public || (self.with_published && records.is_empty()) {
            let published = published(&conditions).into_iter();
            records.extend(published.filter(|record| is_of_product(&record.labels)));
        }
        if records.is_empty() {
            let error = CommandError::new(Exit::Usage, format!("no runs match `{side}`"));
            let error = match elsewhere(self.own(), product.as_ref())?.as_slice() {
                [] => error,
                boards => error.because(format!(
                    "this product was measured on {}",
                    boards.join(", ")
                )),
            };
            return Err(error.hint(
                "`cardmark list runs` shows your runs, `cardmark list published` those of others",
            ));
        }
        Ok(records)
    }

    /// The ids of the other runs in the store with the measurements of this one.
    pub(crate) fn copies(&mut self, id: Uuid) -> Result<Vec<String>, CommandError> {
        let copies = self.store()?.copies(id);
        copies.map_err(|error| store_error(&error))
    }

    fn store(&mut self) -> Result<&mut Store, CommandError> {
        match &mut self.store {
            Some(store) => Ok(store),
            empty => Ok(empty.insert(Data::from_environment()?.open()?)),
        }
    }

    /// The store for a question that published results can answer alone ([`readable_store`]).
    fn own(&mut self) -> Option<&mut Store> {
        if self.store.is_none() && !self.is_without_store {
            self.store = readable_store();
            self.is_without_store = self.store.is_none();
        }
        self.store.as_mut()
    }
}

/// Conditions for runs.
struct Query {
    product: Option<Product>,
    conditions: Vec<Condition>,
}

/// Condition for the product of a run.
enum Product {
    /// The product of this name.
    Is(String),
    /// A product with this name, or this part of a name; the known ones.
    Called(String, Vec<String>),
}

impl Product {
    fn called(name: &str) -> Self {
        let known = products_called(name).into_iter();
        Self::Called(
            name.to_owned(),
            known.map(|product| product.name()).collect(),
        )
    }

    /// Returns whether a run with these labels is of it. `known` keeps the answers by label.
    fn is_of(&self, labels: &Labels, known: &mut HashMap<String, bool>) -> bool {
        let Some(label) = labels.get("product") else {
            return false;
        };
        match known.get(label) {
            Some(is_of) => *is_of,
            None => *known.entry(label.clone()).or_insert(self.is_called(label)),
        }
    }

    fn is_called(&self, label: &str) -> bool {
        let name = product_name(label);
        match self {
            Self::Is(wanted) => name == product_name(wanted),
            Self::Called(wanted, known) if known.is_empty() => is_part_of_name(&name, wanted),
            Self::Called(_, known) => known.contains(&name),
        }
    }
}

/// Products with this name and another capacity.
fn near_names(name: &str) -> Vec<String> {
    let near = products_called(split_capacity(name).0).into_iter();
    near.take(MOST_NAMES)
        .map(|product| product.name())
        .collect()
}

/// The boards that a product was measured on.
fn elsewhere(
    store: Option<&mut Store>,
    product: Option<&Product>,
) -> Result<Vec<String>, CommandError> {
    let Some(product) = product else {
        return Ok(Vec::new());
    };
    let mut records = published_records();
    if let Some(store) = store {
        records.extend(store.select(&[])?);
    }
    let mut known = HashMap::new();
    records.retain(|record| product.is_of(&record.labels, &mut known));
    let boards: BTreeSet<String> = records
        .into_iter()
        .map(|record| record.board.and_then(|board| board.model))
        .map(|board| board.unwrap_or_else(|| "an unknown board".to_owned()))
        .collect();
    Ok(boards.into_iter().collect())
}

/// Opens the store of the user's runs; `None` if there is none: none is made.
pub(crate) fn own_store() -> Result<Option<Store>, CommandError> {
    let Some(places) = Places::from_environment()? else {
        return Ok(None);
    };
    match places.database.try_exists() {
        Ok(false) => Ok(None),
        // Opening it shows why it cannot be seen.
        _ => Ok(Some(Store::open(&places.database)?)),
    }
}

/// Opens the store for a question that published results can answer alone: a store that cannot be opened is a notice.
pub(crate) fn readable_store() -> Option<Store> {
    own_store().unwrap_or_else(|error| {
        let reasons = [vec![error.what], error.causes].concat();
        print::notice(&format!("your runs are left out: {}", reasons.join(": ")));
        None
    })
}

/// The user's runs, each measurement once, for a question that published results can answer alone.
pub(crate) fn own_records() -> Result<Vec<Record>, CommandError> {
    match readable_store() {
        Some(mut store) => Ok(store.select_distinct(&[])?),
        None => Ok(Vec::new()),
    }
}

/// The beginning of an id that is shown.
pub(crate) fn short(id: &str) -> &str {
    id.get(..SHORT_ID).unwrap_or(id)
}

/// True for `last`, a file, and the beginning of an id.
fn is_run_name(name: &str) -> bool {
    let name = name.trim();
    let is_digit = |letter: char| letter.is_ascii_hexdigit() || letter == '-';
    let is_id = name.len() >= LEAST_ID && name.chars().all(is_digit);
    name.is_empty() || name == "last" || is_id || Path::new(name).exists()
}

/// Drops runs that are named again; refuses two contents under one id.
fn distinct(all: Vec<Found>) -> Result<Vec<Found>, CommandError> {
    let mut places = HashMap::new();
    let mut kept: Vec<Found> = Vec::new();
    let mut again = BTreeSet::new();
    for found in all {
        match places.entry(found.record.id) {
            Entry::Vacant(place) => {
                place.insert(kept.len());
                kept.push(found);
            }
            Entry::Occupied(place) => {
                let known = &mut kept[*place.get()];
                if !known.is_same_as(&found) {
                    return Err(two_contents(known, &found));
                }
                again.insert(found.record.id);
                // The whole record has more.
                if known.source == Source::Head {
                    *known = found;
                }
            }
        }
    }
    if again.len() > MOST_NAMED {
        let count = again.len();
        print::notice(&format!(
            "{count} runs are named more than once, counted once"
        ));
    } else if !again.is_empty() {
        let ids: Vec<String> = again.iter().map(ToString::to_string).collect();
        let ids = ids.join(", ");
        print::notice(&format!("named more than once, counted once: {ids}"));
    }
    Ok(kept)
}

fn two_contents(one: &Found, other: &Found) -> CommandError {
    let what = format!("`{}` and `{}` differ under one id", one.name, other.name);
    let refused = CommandError::new(Exit::Usage, what);
    let run = one.record.id;
    match two_programs(&one.record, &other.record) {
        Some(programs) => refused
            .because(format!("both are run {run}, simulated by {programs}"))
            .hint("leave one of them out; versions may simulate the same run differently"),
        None => refused
            .because(format!("both are run {run}"))
            .hint("leave one of them out; a record never changes, so one was edited"),
    }
}

/// The two builds of the program that simulated a run; `None` if one build did, or a record is not
/// simulated.
fn two_programs(one: &Record, other: &Record) -> Option<String> {
    let is_simulated = |record: &Record| record.origin.kind == OriginKind::Simulated;
    let (Some(first), Some(second)) = (&one.tool, &other.tool) else {
        return None;
    };
    if first == second || !is_simulated(one) || !is_simulated(other) {
        return None;
    }
    let build = |tool: &Tool| match &tool.commit {
        Some(commit) if first.version == second.version => format!("{} ({commit})", tool.version),
        _ => tool.version.clone(),
    };
    let name = &first.name;
    Some(format!("{name} {} and {}", build(first), build(second)))
}

/// `KEY=VALUE,KEY=VALUE…`. What has no `=` belongs to the value before: there may be commas in it.
fn conditions(side: &str) -> Result<Vec<Condition>, CommandError> {
    let mut conditions: Vec<Condition> = Vec::new();
    for part in side.split(',') {
        match (part.split_once('='), conditions.last_mut()) {
            (Some((name, value)), _) => conditions.push(condition(name.trim(), value.trim())?),
            (None, Some(last)) => {
                last.value.push(',');
                last.value.push_str(part.trim_end());
            }
            (None, None) => {
                return Err(
                    CommandError::new(Exit::Usage, format!("`{part}` is no condition"))
                        .hint("conditions are of the form KEY=VALUE, with commas between"),
                );
            }
        }
    }
    Ok(conditions)
}

fn condition(name: &str, value: &str) -> Result<Condition, CommandError> {
    let value = match name {
        "capacity" => parse_size(value)
            .map_err(|why| {
                CommandError::new(Exit::Usage, format!("`{value}` is no capacity")).because(why)
            })?
            .to_string(),
        _ => value.to_owned(),
    };
    Ok(Condition {
        name: name.to_owned(),
        value,
    })
}

/// All published records.
pub(crate) fn published_records() -> Vec<Record> {
    let all = publications().iter();
    all.flat_map(|publication| publication.records()).collect()
}

/// The published records that fulfil all conditions.
fn published(conditions: &[Condition]) -> Vec<Record> {
    let holds = |record: &Record, condition: &Condition| {
        if condition.name == "capacity" {
            let size_bytes = record.devices.first().and_then(|device| device.size_bytes);
            let capacity_bytes = condition.value.parse().unwrap_or(0);
            return size_bytes.is_some_and(|bytes| is_sold_as(bytes, capacity_bytes));
        }
        if condition.name == "board" {
            let model = record.board.as_ref().and_then(|board| board.model.as_ref());
            return model.is_some_and(|model| is_board(model, &condition.value))
                || record.labels.get("setting") == Some(&condition.value);
        }
        let value = match condition.name.as_str() {
            "suite" => record.suite.as_ref().map(|suite| suite.name.clone()),
            "source" => record.origin.source.clone(),
            name @ ("command_queue" | "bus") => Context::of(record).must.get(name).cloned(),
            name => record.labels.get(name).cloned(),
        };
        value.as_ref() == Some(&condition.value)
    };
    let mut records = published_records();
    records.retain(|record| conditions.iter().all(|condition| holds(record, condition)));
    records
}

fn read_file(path: &Path) -> Result<One, CommandError> {
    let shown = path.display();
    let trouble = |cause: String| {
        CommandError::new(Exit::Trouble, format!("cannot read record `{shown}`")).because(cause)
    };
    let bytes =
        file::read(path, MOST_RECORD_BYTES as u64).map_err(|error| trouble(error.to_string()))?;
    let refuse = |error: &dyn Error| {
        let mut made = CommandError::from_error(Exit::Usage, error);
        made.what = format!("cannot read record `{shown}`");
        made.because(error.to_string())
    };
    let text = String::from_utf8(bytes).map_err(|error| refuse(&error))?;
    // Editors on Windows begin text with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let stated = parse_run_file(text).map_err(|error| refuse(&error))?;
    let (document, statement) = documents_of(text);
    One {
        record: parse_record(document).map_err(|error| refuse(&error))?,
        document: document.to_owned(),
        statement: statement.map(str::to_owned),
    }
    .derived(&format!("`{shown}`"), stated.labels)
}

/// The document with what the record derives in place of what it states.
fn with_derived(document: &str, record: &Record) -> Result<String, serde_json::Error> {
    let mut stated: serde_json::Map<String, Value> = serde_json::from_str(document)?;
    let Value::Object(mut derived) = serde_json::to_value(record)? else {
        return Ok(document.to_owned());
    };
    for part in ["metrics", "findings", "derived"] {
        stated.remove(part);
        stated.extend(derived.remove_entry(part));
    }
    if let (Some(Value::Object(stated)), Some(Value::Object(mut derived))) =
        (stated.get_mut("integrity"), derived.remove("integrity"))
    {
        for part in ["kind", "real_bytes", "wrap_bytes", "blocks"] {
            stated.remove(part);
            stated.extend(derived.remove_entry(part));
        }
    }
    serde_json::to_string(&stated)
}

/// Warns of what a record states although it does not follow from its measurements, and of trials that contradict each other.
pub(crate) fn warn_of(name: &str, record: &Record, differing: &[String]) {
    let contradictions = discrepancies(record);
    // The contradictions themselves are shown.
    let is_shown = |name: &&String| **name != FindingKind::ContradictingTrials.name();
    let differing: Vec<String> = differing.iter().filter(is_shown).cloned().collect();
    if !differing.is_empty() {
        print::notice(&format!(
            "warning: {name} does not match its measurements in {}; shown as calculated from them",
            shortened(&differing, MOST_NAMES, ", ")
        ));
    }
    if !contradictions.is_empty() {
        let sentences: Vec<String> = contradictions.iter().map(ToString::to_string).collect();
        print::notice(&format!(
            "warning: {name} contradicts itself: {}; its figures do not count",
            shortened(&sentences, MOST_SENTENCES, "; ")
        ));
    }
}

/// The first entries of a list, and the number of the others.
fn shortened(entries: &[String], most: usize, between: &str) -> String {
    let told = entries[..entries.len().min(most)].join(between);
    match entries.len().saturating_sub(most) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}

#[cfg(test)]
mod tests;

//! Searching records, the last arrivals first.
//!
//! A page is merged from one or more streams, which indexes hold in the order of the page: the combination of all
//! equal values ([`crate::facets`]), or the months of a range of days, or the quarters of octaves of a range of figures. What
//! the stream does not know is tested on each of its records.

use sqlx::AnyConnection;

use crate::facets::Facet;
use crate::record::{HEAD, area_number, head_of, month_of, quarter_of};
use crate::sql::{Result, Value, rows, values};
use crate::store::SiteStore;
use crate::types::{Head, Search};

/// Most records of a page.
const MOST_RECORDS: u32 = 100;
/// Most streams of a page; a range that needs more is tested on each record.
const MOST_STREAMS: i64 = 64;

impl SiteStore {
    /// Searches records that meet all conditions, the last arrivals first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn search(&self, search: &Search) -> Result<Vec<Head>> {
        let mut connection = self.lists().await?;
        let mut page = Vec::new();
        for stream in streams(search) {
            page.extend(read(&mut connection, search, stream).await?);
        }
        page.sort_by(|one, other| {
            let key = |head: &Head| (head.received_ms, *head.id.as_bytes());
            key(other).cmp(&key(one))
        });
        page.truncate(limit(search) as usize);
        Ok(page)
    }
}

fn limit(search: &Search) -> u32 {
    search.limit.min(MOST_RECORDS)
}

/// Table with the columns of the order.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Facets,
    Figures,
    Records,
}

impl Source {
    /// The table, joined with `records`, which are called `r`.
    fn joined(self) -> &'static str {
        match self {
            Self::Facets => "facets d join records r on r.id = d.id",
            Self::Figures => "figures d join records r on r.id = d.id",
            Self::Records => "records r",
        }
    }

    /// Alias of the table.
    fn name(self) -> &'static str {
        match self {
            Self::Facets | Self::Figures => "d",
            Self::Records => "r",
        }
    }
}

/// Part of an index.
struct Stream {
    source: Source,
    /// Equal columns.
    equal: Vec<(&'static str, Value)>,
}

fn streams(search: &Search) -> Vec<Stream> {
    by_metric(search)
        .or_else(|| by_month(search))
        .unwrap_or_else(|| vec![by_facet(search)])
}

fn by_facet(search: &Search) -> Stream {
    let facet = Facet {
        is_simulated: search.is_simulated,
        product: search.product.as_deref(),
        board: search.board.as_deref(),
        bus: search.bus.as_deref(),
        command_queue: search.command_queue.as_deref(),
        suite: search.suite.as_deref(),
    };
    Stream {
        source: Source::Facets,
        equal: vec![("facet", facet.key().into())],
    }
}

fn by_metric(search: &Search) -> Option<Vec<Stream>> {
    let range = search.metric.as_ref()?;
    if !(range.least <= range.most && range.most > 0.0) {
        return Some(Vec::new());
    }
    // Figures are positive.
    let least = range.least.max(f64::from_bits(1));
    let (first, last) = (quarter_of(least), quarter_of(range.most));
    let quarters = numbers(first, last)?;
    Some(
        quarters
            .map(|quarter| {
                let mut equal = vec![
                    ("area", area_number(search.is_simulated).into()),
                    ("metric", text(&range.metric)),
                    ("quarter", quarter.into()),
                ];
                if let Some(product) = &search.product {
                    equal.push(("product", text(product)));
                }
                Stream {
                    source: Source::Figures,
                    equal,
                }
            })
            .collect(),
    )
}

fn by_month(search: &Search) -> Option<Vec<Stream>> {
    let (first, last) = search.days.as_ref()?;
    let months = numbers(month_of(first)?, month_of(last)?)?;
    Some(
        months
            .map(|month| {
                let mut equal = vec![
                    ("area", area_number(search.is_simulated).into()),
                    ("month", month.into()),
                ];
                if let Some(product) = &search.product {
                    equal.push(("product_key", text(product)));
                }
                Stream {
                    source: Source::Records,
                    equal,
                }
            })
            .collect(),
    )
}

/// All numbers of a range, unless they are too many.
fn numbers(first: i64, last: i64) -> Option<std::ops::RangeInclusive<i64>> {
    (last.saturating_sub(first) < MOST_STREAMS).then_some(first..=last)
}

/// No stored text holds a NUL, and PostgreSQL refuses one.
fn text(text: &str) -> Value {
    text.replace('\0', "\u{1}").into()
}

async fn read(
    connection: &mut AnyConnection,
    search: &Search,
    stream: Stream,
) -> Result<Vec<Head>> {
    let (source, mut statement) = (stream.source, Statement::default());
    let name = source.name();
    for (column, value) in stream.equal {
        statement.and(&format!("{name}.{column} = "), value, "");
    }
    if let Some(after) = search.after {
        let before = format!("({name}.received_ms, {name}.id) < (");
        statement.and(&before, after.received_ms.into(), "");
        statement.continue_with(", ", after.id.into(), ")");
    }
    conditions(search, source, &mut statement);
    let limit = values![i64::from(limit(search))];
    let (place, conditions) = (statement.values.len() + 1, &statement.text);
    let text = format!(
        "select {HEAD} from {} where {conditions} \
         order by {name}.received_ms desc, {name}.id desc limit ${place}",
        source.joined()
    );
    let found = rows(connection, text, [statement.values, limit].concat()).await?;
    found.iter().map(head_of).collect()
}

#[derive(Default)]
struct Statement {
    text: String,
    values: Vec<Value>,
}

impl Statement {
    fn and(&mut self, before: &str, value: Value, behind: &str) {
        let and = if self.text.is_empty() { "" } else { " and " };
        self.continue_with(&format!("{and}{before}"), value, behind);
    }

    fn continue_with(&mut self, before: &str, value: Value, behind: &str) {
        self.values.push(value);
        let place = self.values.len();
        self.text += &format!("{before}${place}{behind}");
    }
}

/// All conditions; some of them the stream meets by itself.
fn conditions(search: &Search, source: Source, statement: &mut Statement) {
    let equal = [
        ("product_key", &search.product),
        ("board", &search.board),
        ("bus", &search.bus),
        ("command_queue", &search.command_queue),
        ("suite", &search.suite),
    ];
    for (column, value) in equal {
        if let Some(value) = value {
            statement.and(&format!("r.{column} = "), text(value), "");
        }
    }
    if let Some((first, last)) = &search.days {
        statement.and("r.day >= ", text(first), "");
        statement.and("r.day <= ", text(last), "");
    }
    let Some(range) = &search.metric else {
        return;
    };
    let (least, most) = (range.least.into(), range.most.into());
    if source == Source::Figures {
        statement.and("d.value >= ", least, "");
        statement.and("d.value <= ", most, "");
    } else {
        let before = "exists (select 1 from figures f where f.id = r.id and f.metric = ";
        statement.and(before, text(&range.metric), "");
        statement.and("f.value >= ", least, "");
        statement.and("f.value <= ", most, ")");
    }
}

//! Searching records, the last arrivals first.
//!
//! A page is merged from one or more streams, which indexes hold in the order of the page: the combination of the usual
//! conditions ([`crate::tables::facets`]), or the quarters of octaves of a range of figures, or the months of a range of days. All
//! other conditions are tested on the records of the streams. A page reads a limited number of them, so that no search costs
//! more than that: one that finds few among many goes on at the next page.

use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, Value, rows, values};
use crate::store::SiteStore;
use crate::tables::facets::Facet;
use crate::tables::record::{
    HEAD, HEAD_COLUMNS, Kept, area_number, figures_of, head_of, month_of, quarter_of,
};
use crate::types::{Cursor, Head, Page, Search};

/// Most records of a page.
const MOST_RECORDS: u32 = 100;
/// Most streams of a page; a range that needs more is tested on each record.
const MOST_STREAMS: i64 = 64;
/// Records of all streams that a page tests, when few of them meet the conditions.
const MOST_TESTED: usize = 250;

impl SiteStore {
    /// Searches records that meet all conditions, the last arrivals first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn search(&self, search: &Search) -> Result<Page> {
        let mut connection = self.lists().await?;
        let streams = streams(search);
        let most_tested = (MOST_TESTED / streams.len().max(1)).max(limit(search) + 1);
        let (mut heads, mut ends) = (Vec::new(), Vec::new());
        for stream in streams {
            let (found, end) = read(&mut connection, search, &stream, most_tested).await?;
            heads.extend(found);
            ends.extend(end);
        }
        Ok(merged(heads, &ends, limit(search)))
    }
}

fn limit(search: &Search) -> usize {
    search.limit.clamp(1, MOST_RECORDS) as usize
}

/// Place in the order of a page.
fn place(cursor: Cursor) -> (i64, [u8; 16]) {
    (cursor.received_ms, *cursor.id.as_bytes())
}

fn cursor_of(head: &Head) -> Cursor {
    Cursor {
        received_ms: head.received_ms,
        id: head.id,
    }
}

/// The page of these streams. Nothing is known beyond the first place at which one of them was left.
fn merged(mut heads: Vec<Head>, ends: &[Cursor], limit: usize) -> Page {
    let mut next = ends.iter().copied().max_by_key(|end| place(*end));
    heads.sort_by_key(|head| std::cmp::Reverse(place(cursor_of(head))));
    if let Some(end) = next {
        heads.retain(|head| place(cursor_of(head)) >= place(end));
    }
    if heads.len() > limit {
        heads.truncate(limit);
        next = heads.last().map(cursor_of);
    }
    Page { heads, next }
}

/// Part of an index.
struct Stream {
    /// The table, joined with `records`, which are called `r`.
    joined: &'static str,
    /// Alias of the table with the columns of the order.
    name: &'static str,
    /// Equal columns.
    equal: Vec<(&'static str, Value)>,
}

fn streams(search: &Search) -> Vec<Stream> {
    let facet = by_facet(search);
    if search.product.is_some() || search.board.is_some() || search.suite.is_some() {
        return vec![facet];
    }
    by_metric(search)
        .or_else(|| by_month(search))
        .unwrap_or_else(|| vec![facet])
}

fn by_facet(search: &Search) -> Stream {
    let facet = Facet {
        is_simulated: search.is_simulated,
        product: search.product.as_deref(),
        board: search.board.as_deref(),
        suite: search.suite.as_deref(),
    };
    Stream {
        joined: "facets d join records r on r.id = d.id",
        name: "d",
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
    let quarters = numbers(quarter_of(least), quarter_of(range.most))?;
    let stream = |quarter: i64| Stream {
        joined: "figures d join records r on r.id = d.id",
        name: "d",
        equal: vec![
            ("area", area_number(search.is_simulated).into()),
            ("metric", text(&range.metric)),
            ("quarter", quarter.into()),
        ],
    };
    Some(quarters.map(stream).collect())
}

fn by_month(search: &Search) -> Option<Vec<Stream>> {
    let (first, last) = search.days.as_ref()?;
    let months = numbers(month_of(first)?, month_of(last)?)?;
    let stream = |month: i64| Stream {
        joined: "records r",
        name: "r",
        equal: vec![
            ("area", area_number(search.is_simulated).into()),
            ("month", month.into()),
        ],
    };
    Some(months.map(stream).collect())
}

/// All numbers of a range, unless they are too many.
fn numbers(first: i64, last: i64) -> Option<std::ops::RangeInclusive<i64>> {
    (last.saturating_sub(first) < MOST_STREAMS).then_some(first..=last)
}

/// No stored text holds a NUL, and PostgreSQL refuses one.
fn text(text: &str) -> Value {
    text.replace('\0', "\u{1}").into()
}

/// Reads a stream until one record more than a page has meets the conditions. The second value is the last place that was read; `None` at the end
/// of the stream.
async fn read(
    connection: &mut AnyConnection,
    search: &Search,
    stream: &Stream,
    most_tested: usize,
) -> Result<(Vec<Head>, Option<Cursor>)> {
    let (enough, mut found, mut tested) = (limit(search) + 1, Vec::new(), 0);
    let mut after = search.after;
    loop {
        // Larger parts save statements if few records meet the conditions.
        let part = if tested == 0 {
            enough
        } else {
            MOST_RECORDS as usize
        };
        let part = part.min(most_tested - tested);
        let all = part_of(connection, search, stream, after, part).await?;
        tested += all.len();
        let is_whole = all.len() < part;
        for candidate in all {
            after = Some(cursor_of(&candidate.head));
            if candidate.meets(search) {
                found.push(candidate.head);
            }
            if found.len() == enough {
                return Ok((found, after));
            }
        }
        if is_whole {
            return Ok((found, None));
        }
        if tested >= most_tested {
            return Ok((found, after));
        }
    }
}

/// The next records of a stream.
async fn part_of(
    connection: &mut AnyConnection,
    search: &Search,
    stream: &Stream,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let Stream { joined, name, .. } = stream;
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    for (column, value) in &stream.equal {
        values.push(value.clone());
        conditions.push(format!("{name}.{column} = ${}", values.len()));
    }
    if let Some(after) = after {
        values.extend(values![after.received_ms, after.id]);
        let place = values.len();
        conditions.push(format!(
            "({name}.received_ms, {name}.id) < (${}, ${place})",
            place - 1
        ));
    }
    values.extend(values![i64::try_from(limit).unwrap_or(i64::MAX)]);
    let figures = search.metric.as_ref().map_or("", |_| ", r.figures");
    let statement = format!(
        "select {HEAD}, r.command_queue{figures} from {joined} where {} \
         order by {name}.received_ms desc, {name}.id desc limit ${}",
        conditions.join(" and "),
        values.len()
    );
    let found = rows(connection, statement, values).await?;
    let candidate = |row| {
        Ok(Candidate {
            head: head_of(row)?,
            command_queue: row.text_or_none(HEAD_COLUMNS)?,
            figures: match search.metric {
                Some(_) => figures_of(&row.text(HEAD_COLUMNS + 1)?)?,
                None => Vec::new(),
            },
        })
    };
    found.iter().map(candidate).collect()
}

/// A record of a stream.
struct Candidate {
    head: Head,
    command_queue: Option<String>,
    /// Read only for a range of figures.
    figures: Vec<Kept>,
}

impl Candidate {
    fn meets(&self, search: &Search) -> bool {
        let head = &self.head;
        let equal = [
            (&search.product, &head.product),
            (&search.board, &head.board),
            (&search.bus, &head.bus),
            (&search.command_queue, &self.command_queue),
            (&search.suite, &head.suite),
        ];
        let is_equal = equal
            .iter()
            .all(|(wanted, value)| wanted.is_none() || wanted == value);
        let is_in_days = search.days.as_ref().is_none_or(|(first, last)| {
            let day = head.day.as_ref();
            day.is_some_and(|day| first <= day && day <= last)
        });
        let is_in_range = search.metric.as_ref().is_none_or(|range| {
            let figure = self.figures.iter().find(|figure| figure.0 == range.metric);
            figure.is_some_and(|figure| range.least <= figure.1 && figure.1 <= range.most)
        });
        is_equal && is_in_days && is_in_range
    }
}

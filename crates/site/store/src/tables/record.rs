//! Rows of one record: head, bytes, figures, facets.

use cardmark_core::{Quantity, StorageKind, name_of};
use cardmark_share::{
    Area, Check, Extract, Figure, Level, TAG_BYTES, context_key, counts, fits_product,
};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, Value, insert, row, run, signed, values};
use crate::decisions::{Named, Standing, Subject};
use crate::tables::facets::{Facet, facets};
use crate::types::{Head, SiteStoreError, State};

/// Columns of a [`Head`], in the order in which [`head_of`] reads them.
pub(crate) const HEAD: &str = "r.id, r.state, r.level, r.checks, r.received_ms, r.revision, r.tag, \
    r.product_key, r.product_name, r.model, r.board, r.suite, r.bus, r.size_bytes, r.day, r.storage, \
    r.decided_by, r.result";
/// Columns of a [`Stored`] after those of its head, in the order in which [`stored`] reads them.
const MORE: &str = "r.token_hash, r.record_digest, r.card, r.context_key, r.context, r.is_fake, \
    r.shared_product, r.counted_card, r.area, r.figures, r.origin, r.own_product, r.own_product_name, \
    r.quarantined_by";
/// Number of columns of [`HEAD`].
pub(crate) const HEAD_COLUMNS: usize = 18;
/// Longest text that an index holds, characters.
const MOST_CHARACTERS: usize = 120;
/// Origin of runs that summaries count.
pub(crate) const MEASURED: &str = "measured";
/// Most figures of a record that are kept.
const MOST_FIGURES: usize = 256;
/// Parts of a doubling by which figures are searched.
const QUARTERS: f64 = 4.0;

/// A stored record.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) head: Head,
    pub(crate) token_hash: Option<[u8; 32]>,
    pub(crate) record_digest: [u8; 32],
    pub(crate) card: [u8; 16],
    pub(crate) placed: Placed,
    pub(crate) standing: Standing,
    /// Its part in summaries if it is shared under a product.
    pub(crate) countable: Option<Counted>,
    /// Numbers of the combinations that it meets.
    pub(crate) facets: Vec<i64>,
    pub(crate) is_simulated: bool,
    pub(crate) figures: Vec<Kept>,
}

/// A figure as a row keeps it: metric, value, and flags: 1 if low figures are better, 2 if it is too uneven to be compared.
pub(crate) type Kept = (String, f64, u8);

/// Low figures are better.
const LOWEST_FIRST: u8 = 1;
/// Too uneven to be compared: no summary counts it.
const UNEVEN: u8 = 2;

pub(crate) fn is_lowest_first((_, _, flags): &Kept) -> bool {
    flags & LOWEST_FIRST != 0
}

pub(crate) fn is_counted((_, _, flags): &Kept) -> bool {
    flags & UNEVEN == 0
}

/// Places in which a record counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Placed {
    pub(crate) is_quarantined: bool,
    /// Board of shared storage.
    pub(crate) board: Option<String>,
    /// Product of shared storage.
    pub(crate) product: Option<String>,
    pub(crate) product_name: Option<String>,
    /// Its part in summaries; only with a product.
    pub(crate) counted: Option<Counted>,
}

/// Part of a record in summaries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Counted {
    pub(crate) context_key: i64,
    pub(crate) context: String,
    pub(crate) tag: [u8; TAG_BYTES],
    pub(crate) card: [u8; 16],
    pub(crate) is_fake: bool,
    pub(crate) received_ms: i64,
}

/// Source of a record's rows.
pub(crate) struct Written<'a> {
    pub(crate) extract: &'a Extract,
    pub(crate) checks: &'a [Check],
    pub(crate) standing: Standing,
    pub(crate) level: Level,
    pub(crate) card: [u8; 16],
    pub(crate) tag: Option<[u8; TAG_BYTES]>,
    pub(crate) token_hash: Option<[u8; 32]>,
    pub(crate) record_digest: [u8; 32],
    pub(crate) revision: u64,
    pub(crate) received_ms: i64,
}

impl Stored {
    /// The product that the record itself names.
    pub(crate) fn own(&self) -> Option<&Named> {
        self.standing
            .own
            .as_ref()
            .or(self.standing.product.as_ref())
    }

    /// Facts that decisions depend on.
    pub(crate) fn subject(&self) -> Subject<'_> {
        Subject {
            id: self.head.id,
            tag: self.head.tag,
            quarantined_by: self.standing.quarantined_by,
            own: self.own(),
            model: self.head.model.as_deref(),
            is_simulated: self.is_simulated,
        }
    }
}

impl Placed {
    /// Places of a record. `countable` is its part in summaries if it is shared under a product.
    fn of(
        standing: &Standing,
        is_simulated: bool,
        fits_product: bool,
        board: Option<&String>,
        countable: Option<Counted>,
    ) -> Self {
        let is_shared = standing.state == State::Shared && !is_simulated;
        let product = standing
            .product
            .as_ref()
            .filter(|_| is_shared && fits_product);
        Self {
            is_quarantined: standing.state == State::Quarantined,
            board: board.filter(|_| is_shared).cloned(),
            product: product.map(|product| product.key.clone()),
            product_name: product.map(|product| product.name.clone()),
            counted: countable.filter(|_| product.is_some()),
        }
    }
}

impl Written<'_> {
    pub(crate) fn head(&self) -> Head {
        let (extract, standing) = (self.extract, &self.standing);
        let (product, product_name) = columns_of(standing.product.as_ref());
        Head {
            id: extract.id,
            state: standing.state,
            level: self.level,
            checks: self.checks.to_vec(),
            received_ms: self.received_ms,
            revision: self.revision,
            tag: self.tag,
            product,
            product_name,
            model: extract.model.clone(),
            board: extract.board.clone(),
            suite: extract.suite.clone(),
            bus: extract.bus.clone(),
            size_bytes: extract.size_bytes,
            day: extract.day.clone(),
            storage: extract.storage.map(|kind| name_of(&kind)),
            result: extract.result.clone(),
            decided_by: standing.decided_by,
        }
    }

    pub(crate) fn placed(&self) -> Placed {
        let extract = self.extract;
        let is_counted = extract.origin == MEASURED && counts(self.checks);
        let tag = self.tag.filter(|_| is_counted);
        let countable = tag.map(|tag| Counted {
            context_key: context_key(&extract.context),
            context: context_text(extract),
            tag,
            card: self.card,
            is_fake: extract.storage.is_some_and(is_fake),
            received_ms: self.received_ms,
        });
        Placed::of(
            &self.standing,
            is_simulated(extract),
            fits_product(self.checks),
            extract.board.as_ref(),
            countable,
        )
    }
}

/// The product that a record itself names.
pub(crate) fn own(extract: &Extract) -> Option<Named> {
    Some(Named {
        key: extract.product_key()?,
        name: extract.product_name.clone()?,
    })
}

/// Returns whether storage has less than the capacity that it reports.
fn is_fake(storage: StorageKind) -> bool {
    matches!(
        storage,
        StorageKind::Limbo | StorageKind::Wraparound | StorageKind::Chain
    )
}

fn context_text(extract: &Extract) -> String {
    serde_json::json!(extract.context).to_string()
}

/// Makes an extract storable: no text holds a NUL, which PostgreSQL refuses, or is too long for an index; each metric is
/// there once.
#[must_use]
pub fn storable(mut extract: Extract) -> Extract {
    let texts = [
        &mut extract.product,
        &mut extract.product_name,
        &mut extract.model,
        &mut extract.board,
        &mut extract.suite,
        &mut extract.bus,
        &mut extract.command_queue,
        &mut extract.day,
        &mut extract.evidence,
        &mut extract.seed,
    ];
    for text in texts.into_iter().flatten() {
        *text = storable_text(text);
    }
    extract.origin = storable_text(&extract.origin);
    extract.result = storable_text(&extract.result);
    for figure in &mut extract.figures {
        figure.metric = storable_text(&figure.metric);
    }
    let mut seen = std::collections::BTreeSet::new();
    extract.figures.retain(|figure| {
        let is_usable = figure.value.is_finite() && figure.value > 0.0;
        is_usable && seen.len() < MOST_FIGURES && seen.insert(figure.metric.clone())
    });
    extract
}

pub(crate) fn storable_text(text: &str) -> String {
    let characters = text.chars().take(MOST_CHARACTERS);
    characters
        .map(|c| {
            if c == '\0' {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect()
}

/// The number of a month, from a day such as `2026-11-25`.
pub(crate) fn month_of(day: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| day.get(range)?.parse::<i64>().ok();
    Some(number(0..4)? * 12 + number(5..7)? - 1)
}

/// Quarter of an octave in which a figure lies.
pub(crate) fn quarter_of(value: f64) -> i64 {
    let quarter = (value.log2() * QUARTERS).floor();
    // Figures are finite and positive; the range of f64 is ±1,074 octaves.
    #[expect(clippy::cast_possible_truncation, reason = "at most ±4,296")]
    let quarter = quarter as i64;
    quarter
}

pub(crate) fn area_number(is_simulated: bool) -> i64 {
    i64::from(is_simulated)
}

fn is_simulated(extract: &Extract) -> bool {
    extract.area == Area::Simulated
}

/// Reads a record that is not withdrawn.
pub(crate) async fn stored(connection: &mut AnyConnection, id: Uuid) -> Result<Option<Stored>> {
    let text = format!("select {HEAD}, {MORE} from records r where r.id = $1");
    let Some(row) = row(connection, text, values![id]).await? else {
        return Ok(None);
    };
    let head = head_of(&row)?;
    let column = |more: usize| HEAD_COLUMNS + more;
    let card = row.fixed(column(2))?;
    let is_simulated = row.flag(column(8))?;
    let is_countable = row.text(column(10))? == MEASURED && counts(&head.checks);
    let countable = match head.tag.filter(|_| is_countable) {
        Some(tag) => Some(Counted {
            context_key: row.integer(column(3))?,
            context: row.text(column(4))?,
            tag,
            card,
            is_fake: row.flag(column(5))?,
            received_ms: head.received_ms,
        }),
        None => None,
    };
    let named = |key: Option<String>, name: Option<String>| {
        key.zip(name).map(|(key, name)| Named { key, name })
    };
    let standing = Standing {
        state: head.state,
        decided_by: head.decided_by,
        quarantined_by: row.integer_or_none(column(13))?,
        product: named(head.product.clone(), head.product_name.clone()),
        own: named(row.text_or_none(column(11))?, row.text_or_none(column(12))?),
    };
    let is_counted = row.bytes_or_none(column(7))?.is_some();
    let is_shared = head.state == State::Shared && !is_simulated;
    let product = row.text_or_none(column(6))?;
    let placed = Placed {
        is_quarantined: head.state == State::Quarantined,
        board: head.board.clone().filter(|_| is_shared),
        product_name: head.product_name.clone().filter(|_| product.is_some()),
        product,
        counted: countable.clone().filter(|_| is_counted),
    };
    Ok(Some(Stored {
        token_hash: row.fixed_or_none(column(0))?,
        record_digest: row.fixed(column(1))?,
        card,
        placed,
        standing,
        countable,
        facets: facets_of(&head, is_simulated, head.product.as_deref()),
        is_simulated,
        figures: figures_of(&row.text(column(9))?)?,
        head,
    }))
}

/// Numbers of the combinations that a record meets under a product.
fn facets_of(head: &Head, is_simulated: bool, product: Option<&str>) -> Vec<i64> {
    let facet = Facet {
        is_simulated,
        product,
        board: head.board.as_deref(),
        suite: head.suite.as_deref(),
    };
    facet.keys()
}

/// Reads figures of a row.
pub(crate) fn figures_of(text: &str) -> Result<Vec<Kept>> {
    serde_json::from_str(text).map_err(|_| SiteStoreError::Damaged("figures cannot be read"))
}

/// Time at which a record was withdrawn.
pub(crate) async fn tombstone(connection: &mut AnyConnection, id: Uuid) -> Result<Option<i64>> {
    let text = "select at_ms from tombstones where id = $1";
    let row = row(connection, text, values![id]).await?;
    row.map(|row| row.integer(0)).transpose()
}

/// Reads the columns [`HEAD`].
pub(crate) fn head_of(row: &AnyRow) -> Result<Head> {
    let damaged = |_| SiteStoreError::Damaged("checks or level cannot be read");
    Ok(Head {
        id: row.uuid(0)?,
        state: match row.integer(1)? {
            0 => State::Shared,
            1 => State::Quarantined,
            _ => return Err(SiteStoreError::Damaged("unknown state")),
        },
        level: serde_json::from_value(row.text(2)?.into()).map_err(damaged)?,
        checks: serde_json::from_str(&row.text(3)?).map_err(damaged)?,
        received_ms: row.integer(4)?,
        revision: row.count(5)?,
        tag: row.fixed_or_none(6)?,
        product: row.text_or_none(7)?,
        product_name: row.text_or_none(8)?,
        model: row.text_or_none(9)?,
        board: row.text_or_none(10)?,
        suite: row.text_or_none(11)?,
        bus: row.text_or_none(12)?,
        size_bytes: sqlx::Row::try_get::<Option<i64>, _>(row, 13)?
            .map(crate::database::sql::unsigned),
        day: row.text_or_none(14)?,
        storage: row.text_or_none(15)?,
        decided_by: row.integer_or_none(16)?,
        result: row.text(17)?,
    })
}

const RECORD_COLUMNS: &str = "records (id, state, level, area, origin, revision, received_ms, tag, card, \
    token_hash, record_digest, evidence, seed, product_key, product_name, model, board, suite, bus, \
    command_queue, size_bytes, day, month, storage, result, context_key, context, checks, figures, is_fake, \
    shared_product, counted_card, own_product, own_product_name, decided_by, quarantined_by)";
/// A record that is there already keeps its seed, and the act by which it was quarantined when it arrived.
const RECORD_CHANGE: &str = "on conflict (id) do update set state = excluded.state, level = excluded.level, \
    area = excluded.area, origin = excluded.origin, revision = excluded.revision, card = excluded.card, \
    evidence = excluded.evidence, seed = excluded.seed, product_key = excluded.product_key, \
    product_name = excluded.product_name, model = excluded.model, board = excluded.board, \
    suite = excluded.suite, bus = excluded.bus, command_queue = excluded.command_queue, \
    size_bytes = excluded.size_bytes, day = excluded.day, month = excluded.month, \
    storage = excluded.storage, result = excluded.result, context_key = excluded.context_key, context = excluded.context, \
    checks = excluded.checks, figures = excluded.figures, is_fake = excluded.is_fake, shared_product = excluded.shared_product, \
    counted_card = excluded.counted_card, own_product = excluded.own_product, \
    own_product_name = excluded.own_product_name, decided_by = excluded.decided_by";

const BODY_CHANGE: &str =
    "on conflict (id) do update set packed = excluded.packed, digest = excluded.digest";

/// Rows of records.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    records: Vec<Vec<Value>>,
    figures: Vec<Vec<Value>>,
    facets: Vec<Vec<Value>>,
    bodies: Vec<Vec<Value>>,
}

impl Rows {
    /// Adds head, figures and facets of a record.
    pub(crate) fn add(&mut self, written: &Written<'_>) -> Result<()> {
        let (extract, received_ms) = (written.extract, written.received_ms);
        let figures: Vec<Kept> = extract.figures.iter().map(kept).collect();
        self.records.push(head_values(written, &figures)?);
        let key = |figure| figure_key(is_simulated(extract), figure, received_ms, extract.id);
        self.figures.extend(figures.iter().map(key));
        let facet = |facet: i64| values![facet, received_ms, extract.id];
        let product = written.standing.product.as_ref();
        let facets = facets(extract, product.map(|product| product.key.as_str()));
        self.facets.extend(facets.into_iter().map(facet));
        Ok(())
    }

    /// Adds the bytes of a record.
    pub(crate) fn add_body(&mut self, id: Uuid, packed: Vec<u8>, digest: &[u8; 32]) {
        self.bodies.push(values![id, packed, digest]);
    }

    pub(crate) fn append(&mut self, more: &mut Self) {
        self.records.append(&mut more.records);
        self.figures.append(&mut more.figures);
        self.facets.append(&mut more.facets);
        self.bodies.append(&mut more.bodies);
    }

    /// Inserts those of `records`.
    pub(crate) async fn insert_records(&mut self, connection: &mut AnyConnection) -> Result<()> {
        let records = std::mem::take(&mut self.records);
        insert(connection, RECORD_COLUMNS, RECORD_CHANGE, records).await
    }

    /// Inserts them; a record whose row is there must have no figures and facets.
    pub(crate) async fn insert(mut self, connection: &mut AnyConnection) -> Result<()> {
        self.insert_records(connection).await?;
        let into = "bodies (id, packed, digest)";
        insert(connection, into, BODY_CHANGE, self.bodies).await?;
        let into = "figures (area, metric, quarter, received_ms, id)";
        insert(connection, into, "", self.figures).await?;
        insert(
            connection,
            "facets (facet, received_ms, id)",
            "",
            self.facets,
        )
        .await
    }
}

/// Writes head, figures and facets of a record that has none.
pub(crate) async fn write(connection: &mut AnyConnection, written: &Written<'_>) -> Result<()> {
    let mut rows = Rows::default();
    rows.add(written)?;
    rows.insert(connection).await
}

fn head_values(written: &Written<'_>, figures: &[Kept]) -> Result<Vec<Value>> {
    let (extract, placed) = (written.extract, written.placed());
    let standing = &written.standing;
    let (product, product_name) = columns_of(standing.product.as_ref());
    let (own, own_name) = columns_of(standing.own.as_ref());
    let cannot = |_| SiteStoreError::Damaged("checks or figures cannot be written");
    let checks = serde_json::to_string(written.checks).map_err(cannot)?;
    let figures = serde_json::to_string(figures).map_err(cannot)?;
    Ok(values![
        extract.id,
        standing.state == State::Quarantined,
        name_of(&written.level),
        area_number(is_simulated(extract)),
        &extract.origin,
        signed(written.revision),
        written.received_ms,
        written.tag,
        &written.card,
        written.token_hash,
        &written.record_digest,
        &extract.evidence,
        &extract.seed,
        product,
        product_name,
        &extract.model,
        &extract.board,
        &extract.suite,
        &extract.bus,
        &extract.command_queue,
        extract.size_bytes.map(signed),
        &extract.day,
        extract.day.as_deref().and_then(month_of),
        extract.storage.map(|kind| name_of(&kind)),
        &extract.result,
        context_key(&extract.context),
        context_text(extract),
        checks,
        figures,
        extract.storage.is_some_and(is_fake),
        placed.product,
        placed.counted.map(|counted| counted.card.to_vec()),
        own,
        own_name,
        standing.decided_by,
        standing.quarantined_by,
    ])
}

fn columns_of(product: Option<&Named>) -> (Option<String>, Option<String>) {
    product
        .map(|product| (product.key.clone(), product.name.clone()))
        .unzip()
}

fn kept(figure: &Figure) -> Kept {
    let lowest_first = match figure.quantity {
        Quantity::Span => LOWEST_FIRST,
        _ => 0,
    };
    let uneven = if figure.is_uneven { UNEVEN } else { 0 };
    (figure.metric.clone(), figure.value, lowest_first | uneven)
}

/// Columns of the key of a figure's row.
fn figure_key(is_simulated: bool, figure: &Kept, received_ms: i64, id: Uuid) -> Vec<Value> {
    let (metric, value, _) = figure;
    values![
        area_number(is_simulated),
        metric,
        quarter_of(*value),
        received_ms,
        id
    ]
}

/// Deletes figures and facets of a record, and lets it count nowhere.
pub(crate) async fn unwrite(connection: &mut AnyConnection, stored: &Stored) -> Result<()> {
    let (id, received_ms) = (stored.head.id, stored.head.received_ms);
    for figure in &stored.figures {
        let text = "delete from figures where area = $1 and metric = $2 and quarter = $3 \
                    and received_ms = $4 and id = $5";
        let key = figure_key(stored.is_simulated, figure, received_ms, id);
        run(connection, text, key).await?;
    }
    delete_facets(connection, stored).await?;
    let text = "update records set shared_product = null, counted_card = null where id = $1";
    run(connection, text, values![id]).await?;
    Ok(())
}

async fn delete_facets(connection: &mut AnyConnection, stored: &Stored) -> Result<()> {
    let (id, received_ms) = (stored.head.id, stored.head.received_ms);
    for facet in &stored.facets {
        let text = "delete from facets where facet = $1 and received_ms = $2 and id = $3";
        run(connection, text, values![*facet, received_ms, id]).await?;
    }
    Ok(())
}

/// Gives a record another state or product; returns the places where it is to count.
pub(crate) async fn stand(
    connection: &mut AnyConnection,
    stored: Stored,
    standing: Standing,
) -> Result<Placed> {
    let (id, received_ms) = (stored.head.id, stored.head.received_ms);
    let product = standing.product.as_ref().map(|product| &*product.key);
    if product != stored.head.product.as_deref() {
        delete_facets(connection, &stored).await?;
        let facets = facets_of(&stored.head, stored.is_simulated, product);
        let facets = facets.into_iter();
        let facets = facets.map(|facet| values![facet, received_ms, id]);
        let into = "facets (facet, received_ms, id)";
        insert(connection, into, "", facets.collect()).await?;
    }
    let board = stored.head.board.as_ref();
    let fits_product = fits_product(&stored.head.checks);
    let placed = Placed::of(
        &standing,
        stored.is_simulated,
        fits_product,
        board,
        stored.countable,
    );
    let (product, product_name) = columns_of(standing.product.as_ref());
    let (own, own_name) = columns_of(standing.own.as_ref());
    let text = "update records set state = $2, product_key = $3, product_name = $4, own_product = $5, \
                own_product_name = $6, decided_by = $7, shared_product = $8, counted_card = $9 where id = $1";
    let counted = placed.counted.as_ref();
    let values = values![
        id,
        standing.state == State::Quarantined,
        product,
        product_name,
        own,
        own_name,
        standing.decided_by,
        &placed.product,
        counted.map(|counted| counted.card.to_vec()),
    ];
    run(connection, text, values).await?;
    Ok(placed)
}

//! Figures of products.
//!
//! A card's figure is the median of its runs, a submitter's figure the median of that submitter's cards, so that each submitter has one
//! voice. For a product in a context, those cards of a submitter count whose keys are smallest: which they are does not
//! depend on the order of arrival.

use std::collections::{BTreeMap, BTreeSet};

use cardmark_share::{
    LEAST_SUBMITTERS, MOST_CARDS_OF_A_SUBMITTER, Older, Summary, TAG_BYTES, Voice,
};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::database::sql::{Columns as _, Result, Value, insert, row, rows, run, signed, values};
use crate::tables::record::{Counted, figures_of, is_counted, is_lowest_first};
use crate::tables::submitters::{self, Place};
use crate::types::SiteStoreError;

/// Most runs of a card that its figure is the median of: the last to arrive.
const MOST_RUNS: i64 = 101;
/// Cards that are read at a time while a product is counted from nothing.
const CARDS_TOGETHER: u64 = 256;

/// Figures of a card or of a submitter by metric.
type Figures = BTreeMap<String, f64>;
/// Figures of a submitter's cards.
type Cards = BTreeMap<Vec<u8>, Figures>;

/// Summaries of one product in one context.
#[derive(Clone, Debug, Default)]
struct OfContext {
    context: Option<String>,
    metrics: BTreeMap<String, OfMetric>,
    changed: BTreeSet<String>,
}

#[derive(Clone, Debug, Default)]
struct OfMetric {
    is_lowest_first: bool,
    /// Cards that count.
    cards: i64,
    /// Figures of the submitters.
    submitters: Summary,
}

/// Summaries that a transaction reads or changes. They are written at its end: a product that many write to at once costs
/// hardly more than one that a few write to.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    known: BTreeMap<Place, OfContext>,
    /// Those that the present write has touched.
    touched: BTreeMap<Place, OfContext>,
}

impl Summaries {
    /// Begins the next write: what the last one did stays.
    pub(crate) fn begin(&mut self) {
        self.known.append(&mut self.touched);
    }

    /// Undoes the present write.
    pub(crate) fn undo(&mut self) {
        self.touched.clear();
    }

    /// Summaries of a product in a context, by metric.
    pub(crate) async fn read(
        &mut self,
        connection: &mut AnyConnection,
        product: &str,
        context_key: i64,
    ) -> Result<BTreeMap<String, Summary>> {
        let of_context = self.load(connection, product, context_key).await?;
        let metrics = of_context.metrics.iter();
        Ok(metrics
            .map(|(metric, of_metric)| (metric.clone(), of_metric.submitters.clone()))
            .collect())
    }

    async fn load(
        &mut self,
        connection: &mut AnyConnection,
        product: &str,
        context_key: i64,
    ) -> Result<&mut OfContext> {
        let place = (product.to_owned(), context_key);
        if !self.touched.contains_key(&place) {
            let of_context = match self.known.get(&place) {
                Some(known) => known.clone(),
                None => load(connection, product, context_key).await?,
            };
            self.touched.insert(place.clone(), of_context);
        }
        Ok(self.touched.entry(place).or_default())
    }

    /// Forgets a product, whose rows were deleted.
    pub(crate) fn forget(&mut self, product: &str) {
        self.known.retain(|(other, _), _| other != product);
        self.touched.retain(|(other, _), _| other != product);
    }

    /// Writes the summaries of a product in contexts with smaller keys, and keeps them no longer.
    async fn write_below(
        &mut self,
        connection: &mut AnyConnection,
        product: &str,
        context_key: i64,
    ) -> Result<()> {
        let places = (product.to_owned(), i64::MIN)..(product.to_owned(), context_key);
        let places: Vec<Place> = self
            .touched
            .range(places)
            .map(|(place, _)| place.clone())
            .collect();
        for (product, context_key) in places {
            if let Some(of_context) = self.touched.remove(&(product.clone(), context_key)) {
                of_context.write(connection, &product, context_key).await?;
            }
        }
        Ok(())
    }

    /// Writes all that changed.
    pub(crate) async fn write(&mut self, connection: &mut AnyConnection) -> Result<()> {
        self.begin();
        for ((product, context_key), of_context) in std::mem::take(&mut self.known) {
            if !of_context.changed.is_empty() {
                of_context.write(connection, &product, context_key).await?;
            }
        }
        Ok(())
    }
}

async fn load(
    connection: &mut AnyConnection,
    product: &str,
    context_key: i64,
) -> Result<OfContext> {
    let text = "select metric, lowest_first, cards, buckets, older, older_submitters, older_squares \
                from summaries where product = $1 and context_key = $2";
    let mut metrics = BTreeMap::new();
    for row in rows(connection, text, values![product, context_key]).await? {
        let of_metric = OfMetric {
            is_lowest_first: row.flag(1)?,
            cards: row.integer(2)?,
            submitters: summary_of(&row, 3)?,
        };
        metrics.insert(row.text(0)?, of_metric);
    }
    Ok(OfContext {
        metrics,
        ..OfContext::default()
    })
}

impl OfContext {
    fn of_metric(&mut self, metric: &str) -> &mut OfMetric {
        self.changed.insert(metric.to_owned());
        self.metrics.entry(metric.to_owned()).or_default()
    }

    async fn write(
        &self,
        connection: &mut AnyConnection,
        product: &str,
        context_key: i64,
    ) -> Result<()> {
        let mut changed = Vec::new();
        for metric in &self.changed {
            let row = self
                .metrics
                .get(metric)
                .and_then(|of_metric| of_metric.row(product, context_key, metric));
            match row {
                Some(row) => changed.push(row),
                None => {
                    let text = "delete from summaries \
                                where product = $1 and context_key = $2 and metric = $3";
                    run(connection, text, values![product, context_key, metric]).await?;
                }
            }
        }
        let into = "summaries (product, context_key, metric, lowest_first, cards, submitters, median, \
                    is_ranked, place, buckets, older, older_submitters, older_squares)";
        let change = "on conflict (product, context_key, metric) do update set cards = excluded.cards, \
                      lowest_first = excluded.lowest_first, submitters = excluded.submitters, \
                      median = excluded.median, is_ranked = excluded.is_ranked, \
                      place = excluded.place, buckets = excluded.buckets, older = excluded.older, \
                      older_submitters = excluded.older_submitters, older_squares = excluded.older_squares";
        insert(connection, into, change, changed).await?;
        self.write_context(connection, product, context_key).await
    }

    async fn write_context(
        &self,
        connection: &mut AnyConnection,
        product: &str,
        context_key: i64,
    ) -> Result<()> {
        if self
            .metrics
            .values()
            .all(|of_metric| of_metric.submitters.count() == 0)
        {
            let text = "delete from product_contexts where product = $1 and context_key = $2";
            run(connection, text, values![product, context_key]).await?;
        } else if let Some(context) = &self.context {
            let into = "product_contexts (product, context_key, context)";
            let row = values![product, context_key, context];
            insert(connection, into, "on conflict do nothing", vec![row]).await?;
        }
        Ok(())
    }
}

impl OfMetric {
    /// `None` without any submitter.
    fn row(&self, product: &str, context_key: i64, metric: &str) -> Option<Vec<Value>> {
        let (median, _) = self.submitters.median()?;
        let submitters = self.submitters.count();
        let older = self.submitters.older();
        let place = if self.is_lowest_first {
            median
        } else {
            -median
        };
        Some(values![
            product,
            context_key,
            metric,
            self.is_lowest_first,
            self.cards,
            signed(submitters),
            median,
            submitters >= LEAST_SUBMITTERS,
            place,
            bytes_of(self.submitters.newer()),
            bytes_of(
                older
                    .weights
                    .iter()
                    .map(|(bucket, weight)| (*bucket, *weight))
            ),
            signed(older.count),
            signed(older.squares),
        ])
    }
}

fn bytes_of(weights: impl Iterator<Item = (i32, u64)>) -> Vec<u8> {
    let pair = |(bucket, count): (i32, u64)| {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        bucket.to_le_bytes().into_iter().chain(count.to_le_bytes())
    };
    weights.flat_map(pair).collect()
}

/// A product's summary, from the columns of `summaries` from `buckets` to `older_squares`.
pub(crate) fn summary_of(row: &AnyRow, first: usize) -> Result<Summary> {
    let older = Older {
        weights: weights_of(&row.bytes(first + 1)?)?.into_iter().collect(),
        count: row.count(first + 2)?,
        squares: row.count(first + 3)?,
    };
    Ok(Summary::of(weights_of(&row.bytes(first)?)?, older))
}

fn weights_of(bytes: &[u8]) -> Result<Vec<(i32, u64)>> {
    let (pairs, []) = bytes.as_chunks::<8>() else {
        return Err(SiteStoreError::Damaged("a summary has another length"));
    };
    let pair = |&[a, b, c, d, e, f, g, h]: &[u8; 8]| {
        (
            i32::from_le_bytes([a, b, c, d]),
            u64::from(u32::from_le_bytes([e, f, g, h])),
        )
    };
    Ok(pairs.iter().map(pair).collect())
}

/// Changes the number of runs of a card by one.
pub(crate) async fn count_run(
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
    times: i64,
) -> Result<()> {
    let change = "on conflict (product, context_key, tag, card) do update \
                  set runs = tag_cards.runs + excluded.runs";
    let (tag, card) = (&counted.tag, &counted.card);
    let row = values![product, counted.context_key, tag, card, times];
    let into = "tag_cards (product, context_key, tag, card, runs)";
    insert(connection, into, change, vec![row]).await
}

/// Brings what a submitter adds to the summaries of a product in a context up to date, after runs of the card came or went.
pub(crate) async fn recount(
    summaries: &mut Summaries,
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
) -> Result<()> {
    let due_ms = submitters::older_at_ms(counted.received_ms);
    let voice = submitters::voice(connection, &counted.tag, due_ms).await?;
    let (cards, before) = first_cards(connection, product, counted).await?;
    let mut after = Cards::new();
    let mut lowest_first = BTreeSet::new();
    for card in cards {
        let figures = match before.get(&card) {
            Some(before) if card != counted.card => before.clone(),
            _ => {
                let place = (product, counted.context_key, card.as_slice());
                medians(connection, place, &mut lowest_first).await?
            }
        };
        after.insert(card, figures);
    }
    let of_context = summaries
        .load(connection, product, counted.context_key)
        .await?;
    of_context.context = Some(counted.context.clone());
    of_context.replace(&before, &after, &lowest_first, voice);
    write_figures(connection, product, counted, &before, &after).await
}

/// Gives the figures of a submitter in the summaries of a product in a context another voice.
pub(crate) async fn reweigh(
    summaries: &mut Summaries,
    connection: &mut AnyConnection,
    (product, context_key): &Place,
    tag: &[u8; TAG_BYTES],
    (before, after): (Voice, Voice),
) -> Result<()> {
    let text = "select card, figures from tag_cards where product = $1 and context_key = $2 \
                and tag = $3 and figures is not null";
    let mut cards = Cards::new();
    for row in rows(connection, text, values![product, *context_key, tag]).await? {
        cards.insert(row.bytes(0)?, card_figures(&row.text(1)?)?);
    }
    let of_context = summaries.load(connection, product, *context_key).await?;
    for (metric, value) in of_submitter(&cards) {
        let of_metric = of_context.of_metric(&metric);
        of_metric.submitters.remove(value, before);
        of_metric.submitters.add(value, after);
    }
    Ok(())
}

fn card_figures(text: &str) -> Result<Figures> {
    serde_json::from_str(text)
        .map_err(|_| SiteStoreError::Damaged("figures of a card cannot be read"))
}

/// Deletes a card without any run.
pub(crate) async fn forget_card(
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
) -> Result<()> {
    let text = "delete from tag_cards where product = $1 and context_key = $2 and tag = $3 \
                and card = $4 and runs <= 0";
    let key = values![product, counted.context_key, &counted.tag, &counted.card];
    run(connection, text, key).await?;
    Ok(())
}

/// A row of `tag_cards`.
struct Card {
    context_key: i64,
    tag: Vec<u8>,
    card: Vec<u8>,
    runs: i64,
}

impl Card {
    fn submitter(&self) -> (i64, &[u8]) {
        (self.context_key, &self.tag)
    }
}

/// Computes the summaries of a product, which has none, from the runs of its cards.
pub(crate) async fn count_all(
    summaries: &mut Summaries,
    connection: &mut AnyConnection,
    product: &str,
) -> Result<()> {
    let most = usize::try_from(MOST_CARDS_OF_A_SUBMITTER).unwrap_or(usize::MAX);
    let mut after = (i64::MIN, Vec::new());
    loop {
        let cards = next_cards(connection, product, &after).await?;
        let Some(last) = cards.last() else {
            return Ok(());
        };
        after = (last.context_key, last.tag.clone());
        let mut written = Vec::new();
        for cards in cards.chunk_by(|one, next| one.submitter() == next.submitter()) {
            let counted = cards.get(..most).unwrap_or(cards);
            written.extend(count_submitter(summaries, connection, product, counted).await?);
        }
        let into = "tag_cards (product, context_key, tag, card, runs, figures)";
        let change = "on conflict (product, context_key, tag, card) do update set figures = excluded.figures";
        insert(connection, into, change, written).await?;
        summaries.write_below(connection, product, after.0).await?;
    }
}

/// Cards of the next submitters: of each one all, or more than count.
async fn next_cards(
    connection: &mut AnyConnection,
    product: &str,
    after: &(i64, Vec<u8>),
) -> Result<Vec<Card>> {
    let text = "select context_key, tag, card, runs from tag_cards \
                where product = $1 and (context_key, tag) > ($2, $3) \
                order by context_key, tag, card limit $4";
    let values = values![product, after.0, &after.1, signed(CARDS_TOGETHER)];
    let mut cards = Vec::new();
    for row in rows(connection, text, values).await? {
        cards.push(Card {
            context_key: row.integer(0)?,
            tag: row.bytes(1)?,
            card: row.bytes(2)?,
            runs: row.integer(3)?,
        });
    }
    if cards.len() as u64 == CARDS_TOGETHER {
        let last = cards.last().map(Card::submitter);
        match cards.iter().position(|card| Some(card.submitter()) == last) {
            // The last submitter may have more cards.
            Some(begin) if begin > 0 => cards.truncate(begin),
            _ => {}
        }
    }
    Ok(cards)
}

/// Adds a submitter's cards to the summaries; returns their rows in `tag_cards`.
async fn count_submitter(
    summaries: &mut Summaries,
    connection: &mut AnyConnection,
    product: &str,
    cards: &[Card],
) -> Result<Vec<Vec<Value>>> {
    let Some(first) = cards.first() else {
        return Ok(Vec::new());
    };
    // A submitter that the table does not have is looked at next.
    let voice = submitters::voice(connection, &first.tag, 0).await?;
    let (mut after, mut lowest_first) = (Cards::new(), BTreeSet::new());
    let mut written = Vec::new();
    for card in cards {
        let place = (product, first.context_key, card.card.as_slice());
        let figures = medians(connection, place, &mut lowest_first).await?;
        let (key, runs) = (first.context_key, card.runs);
        written.push(values![
            product,
            key,
            &card.tag,
            &card.card,
            runs,
            text_of(&figures)?
        ]);
        after.insert(card.card.clone(), figures);
    }
    let of_context = summaries
        .load(connection, product, first.context_key)
        .await?;
    if of_context.context.is_none() {
        let place = (product, first.context_key, first.card.as_slice());
        of_context.context = Some(context_of(connection, place).await?);
    }
    of_context.replace(&Cards::new(), &after, &lowest_first, voice);
    Ok(written)
}

/// The context of a card's runs, from one of them.
async fn context_of(connection: &mut AnyConnection, place: CardPlace<'_>) -> Result<String> {
    let text = "select context from records where shared_product = $1 and context_key = $2 \
                and counted_card = $3 limit 1";
    let row = row(connection, text, values![place.0, place.1, place.2]).await?;
    row.map_or_else(|| Ok(String::new()), |row| row.text(0))
}

/// Cards of the submitter that count now, and the figures of those that counted before. Only one card has changed since, so that
/// both are among the first cards: one more is read than can count.
async fn first_cards(
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
) -> Result<(Vec<Vec<u8>>, Cards)> {
    let text = "select card, runs, figures from tag_cards where product = $1 and context_key = $2 \
                and tag = $3 order by card limit $4";
    let first = signed(MOST_CARDS_OF_A_SUBMITTER + 1);
    let values = values![product, counted.context_key, &counted.tag, first];
    let (mut cards, mut before) = (Vec::new(), Cards::new());
    for row in rows(connection, text, values).await? {
        let card = row.bytes(0)?;
        if let Some(figures) = row.text_or_none(2)? {
            before.insert(card.clone(), card_figures(&figures)?);
        }
        if row.integer(1)? > 0 && (cards.len() as u64) < MOST_CARDS_OF_A_SUBMITTER {
            cards.push(card);
        }
    }
    Ok((cards, before))
}

/// Product, context and card.
type CardPlace<'a> = (&'a str, i64, &'a [u8]);

/// Medians of the last runs of a card, by metric.
async fn medians(
    connection: &mut AnyConnection,
    (product, context_key, card): CardPlace<'_>,
    lowest_first: &mut BTreeSet<String>,
) -> Result<Figures> {
    let text = "select figures from records where counted_card = $1 and shared_product = $2 \
                and context_key = $3 order by received_ms desc, id desc limit $4";
    let values = values![card, product, context_key, MOST_RUNS];
    let mut runs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows(connection, text, values).await? {
        let figures = figures_of(&row.text(0)?)?.into_iter();
        for figure in figures.filter(is_counted) {
            let is_lowest_first = is_lowest_first(&figure);
            let (metric, value, _) = figure;
            if is_lowest_first {
                lowest_first.insert(metric.clone());
            }
            runs.entry(metric).or_default().push(value);
        }
    }
    let median = |(metric, mut values): (String, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        Some((metric, cardmark_stats::median(&values)?))
    };
    Ok(runs.into_iter().filter_map(median).collect())
}

impl OfContext {
    /// Replaces what the cards of a submitter with this voice add.
    fn replace(
        &mut self,
        before: &Cards,
        after: &Cards,
        lowest_first: &BTreeSet<String>,
        voice: Voice,
    ) {
        let (then, now) = (of_submitter(before), of_submitter(after));
        let metrics: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
        for metric in metrics {
            let (then, now) = (then.get(metric), now.get(metric));
            let more = cards_with(after, metric) - cards_with(before, metric);
            if then == now && more == 0 {
                continue;
            }
            let of_metric = self.of_metric(metric);
            of_metric.cards += more;
            if let Some(value) = then {
                of_metric.submitters.remove(*value, voice);
            }
            if let Some(value) = now {
                of_metric.submitters.add(*value, voice);
                of_metric.is_lowest_first |= lowest_first.contains(metric);
            }
        }
    }
}

fn cards_with(cards: &Cards, metric: &str) -> i64 {
    let with = cards
        .values()
        .filter(|figures| figures.contains_key(metric));
    signed(with.count() as u64)
}

/// Figures of a submitter: the medians of the cards.
fn of_submitter(cards: &Cards) -> Figures {
    let mut values: BTreeMap<&String, Vec<f64>> = BTreeMap::new();
    for (metric, value) in cards.values().flatten() {
        values.entry(metric).or_default().push(*value);
    }
    let medians = values.into_iter().filter_map(|(metric, mut values)| {
        values.sort_by(f64::total_cmp);
        Some((metric.clone(), cardmark_stats::median(&values)?))
    });
    medians.collect()
}

async fn write_figures(
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
    before: &Cards,
    after: &Cards,
) -> Result<()> {
    let cards: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    for card in cards {
        let now = after.get(card);
        if before.get(card) == now {
            continue;
        }
        let figures = now.map(text_of).transpose()?;
        let text = "update tag_cards set figures = $1 where product = $2 and context_key = $3 \
                    and tag = $4 and card = $5";
        let key = values![product, counted.context_key, &counted.tag, card];
        run(connection, text, [values![figures], key].concat()).await?;
    }
    Ok(())
}

fn text_of(figures: &Figures) -> Result<String> {
    serde_json::to_string(figures)
        .map_err(|_| SiteStoreError::Damaged("figures of a card cannot be written"))
}

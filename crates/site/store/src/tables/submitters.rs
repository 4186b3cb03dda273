//! Voices of submitters.
//!
//! All figures of a submitter in summaries have the voice of its row. It changes with all of them, in `writes::reweigh`.

use std::collections::BTreeSet;

use cardmark_share::{Activity, OLDER_DAYS, TAG_BYTES, Voice};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::database::sql::{Columns as _, Result, row, rows, run, signed, unsigned, values};

const DAY_MS: i64 = 86_400_000;
/// Counted records of a submitter that are looked at, the first to arrive.
const MOST_RECORDS: i64 = 256;

/// A submitter's place in summaries.
pub(crate) type Place = (String, i64);

pub(crate) async fn is_known(
    connection: &mut AnyConnection,
    tag: &[u8; TAG_BYTES],
) -> Result<bool> {
    Ok(stored(connection, tag).await?.is_some())
}

/// The voice of a submitter; a new one gets a row.
pub(crate) async fn voice(
    connection: &mut AnyConnection,
    tag: &[u8],
    due_ms: i64,
) -> Result<Voice> {
    if let Some(voice) = stored(connection, tag).await? {
        return Ok(voice);
    }
    let text = "insert into submitters (tag, weight, is_older, due_ms) values ($1, $2, $3, $4) \
                on conflict (tag) do nothing";
    let new = Voice::NEW;
    let values = values![tag, signed(new.weight), new.is_older, due_ms];
    run(connection, text, values).await?;
    Ok(new)
}

pub(crate) async fn stored(connection: &mut AnyConnection, tag: &[u8]) -> Result<Option<Voice>> {
    let text = "select weight, is_older from submitters where tag = $1";
    let found = row(connection, text, values![tag]).await?;
    found.map(|row| voice_of(&row)).transpose()
}

fn voice_of(row: &AnyRow) -> Result<Voice> {
    Ok(Voice {
        weight: row.count(0)?,
        is_older: row.flag(1)?,
    })
}

/// Time at which a submitter whose first record arrived then is an older one.
pub(crate) fn older_at_ms(received_ms: i64) -> i64 {
    received_ms.saturating_add(signed(OLDER_DAYS).saturating_mul(DAY_MS))
}

/// Makes an older submitter due, whose records changed.
pub(crate) async fn look_again(
    connection: &mut AnyConnection,
    tag: &[u8; TAG_BYTES],
) -> Result<()> {
    let text = "update submitters set due_ms = 0 where tag = $1 and is_older = 1 and due_ms > 0";
    run(connection, text, values![tag]).await?;
    Ok(())
}

/// Deletes a submitter without any counted record.
pub(crate) async fn forget(connection: &mut AnyConnection, tag: &[u8; TAG_BYTES]) -> Result<()> {
    let text = "delete from submitters where tag = $1 \
                and not exists (select 1 from tag_cards where tag_cards.tag = $1)";
    run(connection, text, values![tag]).await?;
    Ok(())
}

/// Deletes all submitters without any counted record.
pub(crate) async fn forget_all(connection: &mut AnyConnection) -> Result<()> {
    let text = "delete from submitters where not exists \
                (select 1 from tag_cards where tag_cards.tag = submitters.tag)";
    run(connection, text, values![]).await?;
    Ok(())
}

/// Submitters that are due, those that have waited longest first.
pub(crate) async fn due(
    connection: &mut AnyConnection,
    now_ms: i64,
    limit: i64,
) -> Result<Vec<[u8; TAG_BYTES]>> {
    let text = "select tag from submitters where due_ms <= $1 order by due_ms, tag limit $2";
    let found = rows(connection, text, values![now_ms, limit]).await?;
    found.iter().map(|row| row.fixed(0)).collect()
}

/// Products and contexts in whose summaries a submitter is.
pub(crate) async fn places(
    connection: &mut AnyConnection,
    tag: &[u8; TAG_BYTES],
) -> Result<BTreeSet<Place>> {
    let text = "select distinct product, context_key from tag_cards where tag = $1";
    let found = rows(connection, text, values![tag]).await?;
    found
        .iter()
        .map(|row| Ok((row.text(0)?, row.integer(1)?)))
        .collect()
}

/// The voice that follows from the records of a submitter now, and the time at which it is to be looked at again; `None` without any
/// counted record.
pub(crate) async fn voice_now(
    connection: &mut AnyConnection,
    tag: &[u8; TAG_BYTES],
    now_ms: i64,
) -> Result<Option<(Voice, i64)>> {
    let text = "select received_ms, shared_product from records where tag = $1 and counted_card is not null \
                order by received_ms, id limit $2";
    let (mut days, mut products, mut first_ms) = (BTreeSet::new(), BTreeSet::new(), None);
    for row in rows(connection, text, values![tag, MOST_RECORDS]).await? {
        let received_ms = row.integer(0)?;
        first_ms.get_or_insert(received_ms);
        days.insert(received_ms.div_euclid(DAY_MS));
        products.insert(row.text_or_none(1)?);
    }
    let Some(first_ms) = first_ms else {
        return Ok(None);
    };
    let age_days = unsigned(now_ms.saturating_sub(first_ms).max(0) / DAY_MS);
    let voice = Voice::of(&Activity {
        age_days,
        days_count: days.len() as u64,
        products_count: products.len() as u64,
    });
    let due_ms = Voice::next_day(age_days).map_or(i64::MAX, |days| {
        first_ms.saturating_add(signed(days).saturating_mul(DAY_MS))
    });
    Ok(Some((voice, due_ms)))
}

pub(crate) async fn store(
    connection: &mut AnyConnection,
    tag: &[u8; TAG_BYTES],
    voice: Voice,
    due_ms: i64,
) -> Result<()> {
    let text = "update submitters set weight = $2, is_older = $3, due_ms = $4 where tag = $1";
    let values = values![tag, signed(voice.weight), voice.is_older, due_ms];
    run(connection, text, values).await?;
    Ok(())
}

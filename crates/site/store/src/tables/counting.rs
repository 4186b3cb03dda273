//! All that changes when a record begins or ceases to count.

use std::collections::BTreeMap;

use cardmark_share::{MOST_CARDS_OF_A_SUBMITTER, TAG_BYTES};
use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, insert, row, rows, run, signed, values};
use crate::tables::batch::Batch;
use crate::tables::numbers::{Numbers, change_product};
use crate::tables::record::{Counted, Placed};
use crate::tables::submitters;
use crate::tables::summaries::{count_all, count_run, forget_card, recount};

/// Lets a record count, whose rows were written.
pub(crate) async fn add(batch: &mut Batch<'_>, placed: &Placed) -> Result<()> {
    shift(batch, placed, 1).await
}

/// Lets a record count no longer, whose rows were deleted or unwritten.
pub(crate) async fn remove(batch: &mut Batch<'_>, placed: &Placed) -> Result<()> {
    shift(batch, placed, -1).await
}

async fn shift(batch: &mut Batch<'_>, placed: &Placed, times: i64) -> Result<()> {
    batch.count(placed.is_quarantined, times);
    if let Some(board) = &placed.board {
        batch.count_board(board, times);
    }
    let Some(product) = &placed.product else {
        return Ok(());
    };
    let mut change = Numbers {
        members: times,
        ..Numbers::default()
    };
    if let Some(counted) = &placed.counted {
        count_run(batch.connection, product, counted, times).await?;
        recount(&mut batch.summaries, batch.connection, product, counted).await?;
        if times < 0 {
            forget_card(batch.connection, product, counted).await?;
            submitters::forget(batch.connection, &counted.tag).await?;
        }
        submitters::look_again(batch.connection, &counted.tag).await?;
        change.runs = times;
        (change.cards, change.fakes) =
            count_card(batch.connection, product, counted, times).await?;
    }
    batch.change_product(product, &change);
    Ok(())
}

/// Counts a run of a card. Returns the changes of the number of its submitter's cards that count, and of the fakes among them.
async fn count_card(
    connection: &mut AnyConnection,
    product: &str,
    counted: &Counted,
    times: i64,
) -> Result<(i64, i64)> {
    let fakes = if counted.is_fake { times } else { 0 };
    let mut cards = first_cards(connection, product, &counted.tag).await?;
    let before = cards_and_fakes(&cards);
    let of_card = cards.entry(counted.card.to_vec()).or_default();
    *of_card = (of_card.0 + times, of_card.1 + fakes);
    cards.retain(|_, (runs, _)| *runs > 0);
    let after = cards_and_fakes(&cards);
    let row = values![product, &counted.tag, &counted.card, times, fakes];
    let into = "product_cards (product, tag, card, runs, fakes)";
    let change = "on conflict (product, tag, card) do update set \
                  runs = product_cards.runs + excluded.runs, fakes = product_cards.fakes + excluded.fakes";
    insert(connection, into, change, vec![row]).await?;
    if times < 0 {
        let text =
            "delete from product_cards where product = $1 and tag = $2 and card = $3 and runs <= 0";
        let values = values![product, &counted.tag, &counted.card];
        run(connection, text, values).await?;
    }
    Ok((after.0 - before.0, after.1 - before.1))
}

/// Runs and fake runs of a submitter's first cards: as many as count, and the one that counts if another loses its last run.
async fn first_cards(
    connection: &mut AnyConnection,
    product: &str,
    tag: &[u8; TAG_BYTES],
) -> Result<BTreeMap<Vec<u8>, (i64, i64)>> {
    let text = "select card, runs, fakes from product_cards where product = $1 and tag = $2 \
                order by card limit $3";
    let values = values![product, tag, signed(MOST_CARDS_OF_A_SUBMITTER + 1)];
    let mut cards = BTreeMap::new();
    for row in rows(connection, text, values).await? {
        cards.insert(row.bytes(0)?, (row.integer(1)?, row.integer(2)?));
    }
    Ok(cards)
}

/// Numbers of those cards that count, and of the fakes among them.
fn cards_and_fakes(cards: &BTreeMap<Vec<u8>, (i64, i64)>) -> (i64, i64) {
    let mut numbers = (0, 0);
    let most = usize::try_from(MOST_CARDS_OF_A_SUBMITTER).unwrap_or(usize::MAX);
    for (_, fakes) in cards.values().take(most) {
        numbers = (numbers.0 + 1, numbers.1 + i64::from(*fakes > 0));
    }
    numbers
}

/// Computes all rows of a product from its records.
pub(crate) async fn rebuild(batch: &mut Batch<'_>, product: &str) -> Result<()> {
    let connection = &mut *batch.connection;
    batch.summaries.forget(product);
    for table in [
        "summaries",
        "product_contexts",
        "tag_cards",
        "product_cards",
    ] {
        let text = format!("delete from {table} where product = $1");
        run(connection, text, values![product]).await?;
    }
    run(
        connection,
        "delete from products where key = $1",
        values![product],
    )
    .await?;
    fill_cards(connection, product).await?;
    rebuild_numbers(connection, product).await?;
    count_all(&mut batch.summaries, connection, product).await
}

async fn fill_cards(connection: &mut AnyConnection, product: &str) -> Result<()> {
    let text = "insert into tag_cards (product, context_key, tag, card, runs) \
                select shared_product, context_key, tag, counted_card, count(*) from records \
                where shared_product = $1 and counted_card is not null and tag is not null \
                group by shared_product, context_key, tag, counted_card";
    run(connection, text, values![product]).await?;
    let text = "insert into product_cards (product, tag, card, runs, fakes) \
                select shared_product, tag, counted_card, count(*), cast(sum(is_fake) as bigint) from records \
                where shared_product = $1 and counted_card is not null and tag is not null \
                group by shared_product, tag, counted_card";
    run(connection, text, values![product]).await?;
    Ok(())
}

async fn rebuild_numbers(connection: &mut AnyConnection, product: &str) -> Result<()> {
    let text = "select count(*), count(counted_card) from records where shared_product = $1";
    let Some(row) = row(connection, text, values![product]).await? else {
        return Ok(());
    };
    let mut numbers = Numbers {
        members: row.integer(0)?,
        runs: row.integer(1)?,
        ..Numbers::default()
    };
    let text = "select count(*), count(case when fakes > 0 then 1 end) from (\
                select fakes, row_number() over (partition by tag order by card) as place \
                from product_cards where product = $1) c where place <= $2";
    let values = values![product, signed(MOST_CARDS_OF_A_SUBMITTER)];
    if let Some(row) = self::row(connection, text, values).await? {
        (numbers.cards, numbers.fakes) = (row.integer(0)?, row.integer(1)?);
    }
    change_product(connection, product, &numbers).await
}

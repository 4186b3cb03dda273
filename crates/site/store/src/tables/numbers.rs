//! Numbers of products and boards.

use std::collections::BTreeMap;

use sqlx::AnyConnection;

use crate::database::sql::{Columns as _, Result, insert, row, run, values};

/// Changes of the row of a product.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) members: i64,
    pub(crate) runs: i64,
    pub(crate) cards: i64,
    pub(crate) fakes: i64,
}

impl Numbers {
    pub(crate) fn add(&mut self, more: &Self) {
        self.members += more.members;
        self.runs += more.runs;
        self.cards += more.cards;
        self.fakes += more.fakes;
    }
}

/// Changes the numbers of records of boards.
pub(crate) async fn write_boards(
    connection: &mut AnyConnection,
    boards: BTreeMap<String, i64>,
) -> Result<()> {
    let rows = boards.iter().map(|(board, times)| values![board, *times]);
    let change = "on conflict (board) do update set records = boards.records + excluded.records";
    let into = "boards (board, records)";
    insert(connection, into, change, rows.collect()).await?;
    for (board, _) in boards.iter().filter(|(_, times)| **times < 0) {
        let text = "delete from boards where board = $1 and records <= 0";
        run(connection, text, values![board]).await?;
    }
    Ok(())
}

/// Changes the row of a product, or deletes it without any record.
pub(crate) async fn change_product(
    connection: &mut AnyConnection,
    product: &str,
    change: &Numbers,
) -> Result<()> {
    let Some(name) = name_of_product(connection, product).await? else {
        run(
            connection,
            "delete from products where key = $1",
            values![product],
        )
        .await?;
        return Ok(());
    };
    let row = values![
        product,
        &name,
        name.to_lowercase(),
        change.members,
        change.runs,
        change.cards,
        change.fakes,
    ];
    let into = "products (key, name, name_small, members, runs, cards, fakes)";
    let update = "on conflict (key) do update set name = excluded.name, name_small = excluded.name_small, \
                  members = products.members + excluded.members, runs = products.runs + excluded.runs, \
                  cards = products.cards + excluded.cards, fakes = products.fakes + excluded.fakes";
    insert(connection, into, update, vec![row]).await
}

/// The name that the first record gives the product; `None` without any record.
async fn name_of_product(connection: &mut AnyConnection, product: &str) -> Result<Option<String>> {
    let text = "select product_name from records where shared_product = $1 order by received_ms, id limit 1";
    match row(connection, text, values![product]).await? {
        Some(row) => Ok(Some(
            row.text_or_none(0)?.unwrap_or_else(|| product.to_owned()),
        )),
        None => Ok(None),
    }
}

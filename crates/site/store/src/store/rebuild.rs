//! Deriving everything again from the kept bytes.

use cardmark_share::{TAG_BYTES, to_hexadecimal};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, row, rows, values};
use crate::queue::work::{Outcome, Work};
use crate::store::SiteStore;
use crate::tables::record::storable;
use crate::types::{Rebuilt, Rederived};

/// Products of a transaction.
const PRODUCTS_TOGETHER: usize = 32;
/// Records whose bytes are in memory at once.
const TOGETHER: i64 = 16;

impl SiteStore {
    /// Derives all records again from their bytes, in the order of their ids, and computes all summaries from nothing.
    /// `derive` gets id, packed bytes, tag and time of arrival; it returns `None` if the bytes cannot be read.
    ///
    /// Each record and each group of products is a transaction: a rebuild that was interrupted is begun again.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn rebuild(
        &self,
        derive: impl Fn(Uuid, &[u8], Option<[u8; TAG_BYTES]>, i64) -> Option<Rederived>,
    ) -> Result<Rebuilt> {
        let mut rebuilt = Rebuilt::default();
        let mut after = Vec::new();
        let text = "select r.id, r.tag, r.received_ms, b.packed, b.digest \
                    from records r join bodies b on b.id = r.id where r.id > $1 order by r.id limit $2";
        loop {
            let page = rows(&mut *self.main().await?, text, values![&after, TOGETHER]).await?;
            if page.is_empty() {
                break;
            }
            for row in page {
                let (id, tag, received_ms) = (row.uuid(0)?, row.fixed_or_none(1)?, row.integer(2)?);
                after = id.as_bytes().to_vec();
                rebuilt.records_count += 1;
                match derive(id, &row.bytes(3)?, tag, received_ms) {
                    Some(derived) => {
                        let document = (derived, row.fixed(4)?);
                        self.rederive(id, document, &mut rebuilt).await?;
                    }
                    None => rebuilt.unreadable_count += 1,
                }
            }
        }
        rebuilt.products_count = self.rebuild_summaries().await?;
        Ok(rebuilt)
    }

    /// Computes all summaries, products, boards and totals from the rows of the records; returns the number of products.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn rebuild_summaries(&self) -> Result<u64> {
        let count = self.rebuild_products().await?;
        self.write_patiently(Work::RebuildTotals).await?;
        Ok(count)
    }

    async fn rederive(
        &self,
        id: Uuid,
        (derived, digest): (Rederived, [u8; 32]),
        rebuilt: &mut Rebuilt,
    ) -> Result<()> {
        let mut extract = storable(derived.extract);
        extract.id = id;
        let derived = Box::new(Rederived { extract, ..derived });
        let work = Work::Rederive {
            id,
            digest,
            derived,
        };
        if let Outcome::Done(true) = self.write_patiently(work).await? {
            rebuilt.changed_count += 1;
        }
        Ok(())
    }

    async fn rebuild_products(&self) -> Result<u64> {
        let (mut after, mut count) = (String::new(), 0);
        loop {
            let products = next_products(&mut *self.main().await?, &after).await?;
            let Some(last) = products.last() else {
                return Ok(count);
            };
            after.clone_from(last);
            count += products.len() as u64;
            self.write_patiently(Work::RebuildProducts(products))
                .await?;
        }
    }

    /// All rows of summaries, products, boards and totals as texts, in order, to compare them before and after a rebuild.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn summaries_dump(&self) -> Result<Vec<String>> {
        let mut connection = self.main().await?;
        let mut dump = Vec::new();
        for (table, columns, kinds) in DUMPED {
            let text = format!("select {columns} from {table} order by {columns}");
            for row in rows(&mut connection, text, vec![]).await? {
                dump.push(dumped(table, kinds, &row)?);
            }
        }
        // The number of changes does not follow from the records; a total that never changed has no row.
        let is_total = |line: &String| line.starts_with("totals ");
        dump.retain(|line| !is_total(line) || !(line.contains("changes") || line.ends_with(" 0")));
        Ok(dump)
    }
}

/// Tables that follow from records, each with its columns and their kinds (`t`ext, `b`ytes, `i`nteger, `r`eal); rows are in the
/// order of the columns.
const DUMPED: [(&str, &str, &str); 8] = [
    (
        "tag_cards",
        "product, context_key, tag, card, runs, coalesce(figures, '')",
        "tibbit",
    ),
    (
        "summaries",
        "product, context_key, metric, lowest_first, cards, submitters, median, is_ranked, place, buckets, \
         older, older_submitters, older_squares",
        "titiiirirbbii",
    ),
    ("submitters", "tag, weight, is_older", "bii"),
    ("product_contexts", "product, context_key, context", "tit"),
    ("product_cards", "product, tag, card, runs, fakes", "tbbii"),
    (
        "products",
        "key, name, name_small, members, runs, cards, fakes",
        "tttiiii",
    ),
    ("boards", "board, records", "ti"),
    ("totals", "name, count", "ti"),
];

fn dumped(table: &str, kinds: &str, row: &AnyRow) -> Result<String> {
    let mut text = table.to_owned();
    for (column, kind) in kinds.chars().enumerate() {
        text.push(' ');
        text += &match kind {
            't' => format!("{:?}", row.text(column)?),
            'b' => to_hexadecimal(&row.bytes(column)?),
            'r' => row.real(column)?.to_string(),
            _ => row.integer(column)?.to_string(),
        };
    }
    Ok(text)
}

/// The next products that have rows, or records, in the order of their keys.
async fn next_products(connection: &mut AnyConnection, after: &str) -> Result<Vec<String>> {
    let mut next = Vec::new();
    while next.len() < PRODUCTS_TOGETHER {
        let after = next.last().map_or(after, String::as_str);
        let Some(product) = next_product(connection, after).await? else {
            break;
        };
        next.push(product);
    }
    Ok(next)
}

/// The next product that has rows, or records.
async fn next_product(connection: &mut AnyConnection, after: &str) -> Result<Option<String>> {
    let mut next: Option<String> = None;
    for (table, column) in [
        ("records", "shared_product"),
        ("products", "key"),
        ("summaries", "product"),
    ] {
        let text =
            format!("select {column} from {table} where {column} > $1 order by {column} limit 1");
        if let Some(row) = row(connection, text, values![after]).await? {
            let found = row.text(0)?;
            next = Some(next.map_or(found.clone(), |next| next.min(found)));
        }
    }
    Ok(next)
}

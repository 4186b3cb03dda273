//! Products, boards, rankings, changes.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;

use crate::database::sql::{Columns as _, Result, row, rows, rows_of, values};
use crate::store::SiteStore;
use crate::tables::summaries;
use crate::types::{
    Change, ChangeKind, ProductRow, RankedContext, RankedProduct, SiteStoreError, SummaryPlace,
    SummaryRow,
};

const PRODUCT: &str = "p.key, p.name, p.runs, p.cards, p.fakes";
/// Columns of a [`SummaryRow`], in the order in which [`summary_of`] reads them.
const SUMMARY: &str = "s.metric, c.context, s.cards, s.context_key, s.buckets, s.older, \
    s.older_submitters, s.older_squares";
/// Products among which a search looks for a name, from its place in the list on.
const MOST_SEARCHED: i64 = 20_000;

impl SiteStore {
    /// Lists products whose name has the words of a text in their order, as parts of words too, in the order of their names: those among
    /// the next 20,000 products. `after` is the key of the last one shown.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn products(
        &self,
        text: &str,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ProductRow>> {
        let mut connection = self.lists().await?;
        let after = after.map(|after| after.replace('\0', ""));
        let (name, key) = match &after {
            Some(after) => {
                let text = "select name_small from products where key = $1";
                let name = row(&mut connection, text, values![after]).await?;
                // The key of a product that is gone holds its name, unless the catalogue has it.
                let otherwise = || Ok(after.trim_start_matches('~').to_owned());
                (
                    name.map_or_else(otherwise, |row| row.text(0))?,
                    after.as_str(),
                )
            }
            None => (String::new(), ""),
        };
        let pattern = pattern_of(text);
        let text = format!(
            "select {PRODUCT} from (select * from products where (name_small, key) > ($1, $2) \
             order by name_small, key limit $3) p \
             where p.name_small like $4 escape '\\' order by p.name_small, p.key limit $5"
        );
        let values = values![name, key, MOST_SEARCHED, pattern, i64::from(limit)];
        let found = rows(&mut connection, text, values).await?;
        found.iter().map(product_of).collect()
    }

    /// Returns the products of these keys that have runs.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn products_of(&self, keys: &[&str]) -> Result<Vec<ProductRow>> {
        let text = format!("select {PRODUCT} from products p where p.key in");
        let found = rows_of(&mut *self.lists().await?, &text, keys).await?;
        found.iter().map(product_of).collect()
    }

    /// Finds a product, with its figures in metrics and contexts: up to `limit`, those of most submitters first. `after` is the last
    /// one that was read.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn product(
        &self,
        key: &str,
        after: Option<&SummaryPlace>,
        limit: u32,
    ) -> Result<Option<(ProductRow, Vec<SummaryRow>)>> {
        let mut connection = self.lists().await?;
        let key = key.replace('\0', "");
        let text = format!("select {PRODUCT} from products p where p.key = $1");
        let Some(product) = row(&mut connection, text, values![&key]).await? else {
            return Ok(None);
        };
        let text = format!(
            "select {SUMMARY} from summaries s join product_contexts c \
             on c.product = s.product and c.context_key = s.context_key \
             where s.product = $1 and (s.submitters, s.context_key, s.metric) < ($2, $3, $4) \
             order by s.submitters desc, s.context_key desc, s.metric desc limit $5"
        );
        let first = SummaryPlace::default();
        let after = after.unwrap_or(&first);
        let submitters = i64::try_from(after.submitters_count).unwrap_or(i64::MAX);
        let metric = after.metric.replace('\0', "");
        let values = values![
            &key,
            submitters,
            after.context_key,
            metric,
            i64::from(limit)
        ];
        let found = rows(&mut connection, text, values).await?;
        let summaries = found
            .iter()
            .map(|row| summary_of(row, 0))
            .collect::<Result<_>>()?;
        Ok(Some((product_of(&product)?, summaries)))
    }

    /// Lists boards with their numbers of shared records, in the order of their names. `after` is the last one shown.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn boards(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, u64)>> {
        let text = "select board, records from boards where board > $1 order by board limit $2";
        let after = after.unwrap_or_default().replace('\0', "");
        let values = values![after, i64::from(limit)];
        let found = rows(&mut *self.lists().await?, text, values).await?;
        found
            .iter()
            .map(|row| Ok((row.text(0)?, row.count(1)?)))
            .collect()
    }

    /// Lists products with enough submitters by their medians, the best first. `after` are place and key of the last one that was read.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn ranking(
        &self,
        metric: &str,
        context_key: i64,
        after: Option<(f64, &str)>,
        limit: u32,
    ) -> Result<Vec<RankedProduct>> {
        let text = format!(
            "select p.key, p.name, s.place, {SUMMARY} from summaries s join products p on p.key = s.product \
             join product_contexts c on c.product = s.product and c.context_key = s.context_key \
             where s.metric = $1 and s.is_ranked = 1 and s.context_key = $2 \
             and (s.place, s.product) > ($3, $4) order by s.place, s.product limit $5"
        );
        let (place, key) = after.unwrap_or((f64::MIN, ""));
        let (metric, key) = (metric.replace('\0', ""), key.replace('\0', ""));
        let values = values![metric, context_key, place, key, i64::from(limit)];
        let found = rows(&mut *self.lists().await?, text, values).await?;
        let ranked = |row: &AnyRow| {
            Ok(RankedProduct {
                key: row.text(0)?,
                name: row.text(1)?,
                place: row.real(2)?,
                row: summary_of(row, 3)?,
            })
        };
        found.iter().map(ranked).collect()
    }

    /// Lists contexts in which products are ranked by a metric. Those with most products are first. `after` is the number of products
    /// and the key of the last one that was read.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn contexts(
        &self,
        metric: &str,
        after: Option<(u64, i64)>,
        limit: u32,
    ) -> Result<Vec<RankedContext>> {
        let text = "select s.context_key, (select c.context from product_contexts c \
                    where c.context_key = s.context_key limit 1), s.products from (\
                    select context_key, count(*) as products from summaries \
                    where metric = $1 and is_ranked = 1 group by context_key) s \
                    where s.products < $2 or (s.products = $2 and s.context_key > $3) \
                    order by s.products desc, s.context_key limit $4";
        let (count, key) = after.unwrap_or((u64::MAX, 0));
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let values = values![metric.replace('\0', ""), count, key, i64::from(limit)];
        let found = rows(&mut *self.lists().await?, text, values).await?;
        let context = |row: &AnyRow| {
            Ok(RankedContext {
                key: row.integer(0)?,
                context: context_of(&row.text(1)?)?,
                products_count: row.count(2)?,
            })
        };
        found.iter().map(context).collect()
    }

    /// Lists changes in the order in which they became visible. `after` is the sequence of the last one that was read, or 0.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn changes(&self, after: i64, limit: u32) -> Result<Vec<Change>> {
        let text = "select sequence, id, kind, at_ms from changes where sequence > $1 \
                    order by sequence limit $2";
        let values = values![after, i64::from(limit)];
        let found = rows(&mut *self.lists().await?, text, values).await?;
        found.iter().map(change_of).collect()
    }
}

pub(crate) fn product_of(row: &AnyRow) -> Result<ProductRow> {
    Ok(ProductRow {
        key: row.text(0)?,
        name: row.text(1)?,
        runs_count: row.count(2)?,
        cards_count: row.count(3)?,
        fakes_count: row.count(4)?,
    })
}

/// Pattern of names with these words in their order.
fn pattern_of(text: &str) -> String {
    let text = text.replace('\0', "").to_lowercase();
    let words = text.split_whitespace().map(|word| {
        let letters = word.chars().flat_map(|letter| {
            let before = matches!(letter, '%' | '_' | '\\').then_some('\\');
            before.into_iter().chain([letter])
        });
        letters.collect::<String>() + "%"
    });
    format!("%{}", words.collect::<String>())
}

/// Reads the columns [`SUMMARY`], which begin at a column.
fn summary_of(row: &AnyRow, first: usize) -> Result<SummaryRow> {
    Ok(SummaryRow {
        metric: row.text(first)?,
        context: context_of(&row.text(first + 1)?)?,
        cards_count: row.count(first + 2)?,
        context_key: row.integer(first + 3)?,
        submitters: summaries::summary_of(row, first + 4)?,
    })
}

fn context_of(text: &str) -> Result<BTreeMap<String, String>> {
    serde_json::from_str(text).map_err(|_| SiteStoreError::Damaged("a context cannot be read"))
}

pub(crate) fn change_of(row: &AnyRow) -> Result<Change> {
    Ok(Change {
        sequence: row.integer(0)?,
        id: row.uuid(1)?,
        kind: match row.integer(2)? {
            0 => ChangeKind::Arrived,
            1 => ChangeKind::Amended,
            2 => ChangeKind::Withdrawn,
            _ => return Err(SiteStoreError::Damaged("unknown kind of change")),
        },
        at_ms: row.integer(3)?,
    })
}

//! Records for moderators.

use cardmark_share::CheckOutcome;

use crate::database::sql::{Result, rows, values};
use crate::decisions::Decisions;
use crate::decisions::types::{QueuePage, QueueSearch};
use crate::store::SiteStore;
use crate::tables::record::{HEAD, head_of};
use crate::types::{Cursor, Head, ProductRow};

/// Records that a page tests, when few of them meet the conditions.
const MOST_TESTED: usize = 500;
/// Records that are read at once.
const TOGETHER: usize = 100;
/// The conditions of the indexes `records_waiting` and `records_decided`, as they are there.
const WAITING: &str = "(r.state = 1 or r.checks like '%\"marked\"%') \
    and (r.decided_by is null or r.decided_by = r.quarantined_by)";
const DECIDED: &str = "r.decided_by is not null";

impl SiteStore {
    /// Lists quarantined and marked records that wait for a moderator, or those that an act decides on.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn queue(&self, search: &QueueSearch) -> Result<QueuePage> {
        let limit = search.limit.clamp(1, 100) as usize;
        let (mut page, mut tested) = (QueuePage::default(), 0);
        page.next = search.after;
        loop {
            let found = self.queued(search, page.next).await?;
            let is_whole = found.len() < TOGETHER;
            tested += found.len();
            for head in found {
                let is_listed = meets(&head, search);
                if is_listed && page.heads.len() == limit {
                    return Ok(page);
                }
                page.next = Some(Cursor {
                    received_ms: head.received_ms,
                    id: head.id,
                });
                if is_listed {
                    page.heads.push(head);
                }
            }
            if is_whole {
                page.next = None;
            }
            if is_whole || tested >= MOST_TESTED {
                return Ok(page);
            }
        }
    }

    async fn queued(&self, search: &QueueSearch, after: Option<Cursor>) -> Result<Vec<Head>> {
        let condition = if search.is_decided { DECIDED } else { WAITING };
        let (received_ms, id) = after.map_or((i64::MAX, vec![u8::MAX; 17]), |after| {
            (after.received_ms, after.id.as_bytes().to_vec())
        });
        let mut values = values![received_ms, id];
        let of_tag = search.tag.map_or("", |tag| {
            values.extend(values![tag.to_vec()]);
            "and r.tag = $3"
        });
        let text = format!(
            "select {HEAD} from records r where {condition} and (r.received_ms, r.id) < ($1, $2) {of_tag} \
             order by r.received_ms desc, r.id desc limit {TOGETHER}"
        );
        let found = rows(&mut *self.main().await?, text, values).await?;
        found.iter().map(head_of).collect()
    }

    /// Lists products that neither the catalogue nor an act knows, in the order of their keys. `after` is the key of the last
    /// one shown; the second value is that of the next page.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn new_products(
        &self,
        decisions: &Decisions,
        after: Option<&str>,
        limit: u32,
    ) -> Result<(Vec<ProductRow>, Option<String>)> {
        let text = "select key, name, runs, cards, fakes from products where key >= '~' and key > $1 \
                    order by key limit $2";
        let values = values![after.unwrap_or_default(), i64::from(limit) + 1];
        let found = rows(&mut *self.lists().await?, text, values).await?;
        let all = found.iter().map(crate::store::products::product_of);
        let mut all: Vec<ProductRow> = all.collect::<Result<_>>()?;
        let is_more = all.len() > limit as usize;
        all.truncate(limit as usize);
        let next = all.last().filter(|_| is_more).map(|row| row.key.clone());
        all.retain(|row| decisions.accepted(&row.key).is_none());
        Ok((all, next))
    }
}

fn meets(head: &Head, search: &QueueSearch) -> bool {
    let is_raised = |outcome| matches!(outcome, CheckOutcome::Failed | CheckOutcome::Marked);
    search.check.is_none_or(|name| {
        let mut checks = head.checks.iter();
        checks.any(|check| check.name == name && is_raised(check.outcome))
    })
}

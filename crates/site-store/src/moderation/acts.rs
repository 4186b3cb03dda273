//! Recording acts, and reading them.

use sqlx::any::AnyRow;

use crate::batch::Batch;
use crate::moderation::decisions::{Decisions, deed_of};
use crate::moderation::types::{Act, Deed, Moderated, NewAct, Objection, Scope, Switch};
use crate::record;
use crate::sql::{Columns as _, Result, insert, row, rows, run, values};
use crate::store::SiteStore;
use crate::types::SiteStoreError;
use crate::work::{Outcome, Work};

/// Columns of an [`Act`], in the order in which [`act_of`] reads them.
const ACT: &str = "a.number, a.at_ms, a.account, a.deed, a.reason, \
    (select u.number from acts u where u.undoes = a.number), \
    (select count(*) from tasks t where t.act = a.number)";

/// Records an act. It has a transaction of its own, beside which no other one decides on records.
pub(crate) async fn record(batch: &mut Batch<'_>, new: NewAct) -> Result<Moderated> {
    let decisions = batch.decisions();
    if let Some(objection) = objection(batch, &decisions, &new.deed).await? {
        return Ok(Moderated::Refused(objection));
    }
    let number = decisions.next();
    let deed = serde_json::to_string(&new.deed)
        .map_err(|_| SiteStoreError::Damaged("an act cannot be written"))?;
    let undoes = match new.deed {
        Deed::Undo { act } => Some(act),
        _ => None,
    };
    let text = "insert into acts (number, at_ms, account, deed, reason, undoes) \
                values ($1, $2, $3, $4, $5, $6)";
    let values = values![number, new.at_ms, new.account, deed, new.reason, undoes];
    run(batch.connection, text, values).await?;
    let places = decisions.places(number, &new.deed).into_iter();
    let tasks = places.map(|place| values![number, place, i64::MAX, vec![u8::MAX; 17]]);
    let into = "tasks (act, place, received_ms, record)";
    insert(batch.connection, into, "", tasks.collect()).await?;
    Ok(Moderated::Done(number))
}

async fn objection(
    batch: &mut Batch<'_>,
    decisions: &Decisions,
    deed: &Deed,
) -> Result<Option<Objection>> {
    let change = |switch: Switch, is_on: bool| {
        (decisions.switched_on(switch).is_some() == is_on).then_some(Objection::NoChange)
    };
    Ok(match deed {
        Deed::Hold(Scope::Record(id)) | Deed::Release(Scope::Record(id)) => {
            let there = record::stored(batch.connection, *id).await?;
            there.is_none().then_some(Objection::UnknownRecord)
        }
        Deed::SwitchOn { switch } => change(*switch, true),
        Deed::SwitchOff { switch } => change(*switch, false),
        Deed::Undo { act } => match decisions.act(*act) {
            None => Some(Objection::UnknownAct),
            Some((_, Some(number))) => Some(Objection::UndoneBefore(number)),
            // Undoing an undoing brings the act back.
            Some((Deed::Undo { .. }, None)) => {
                let base = decisions.act(decisions.base(*act));
                base.and_then(|(deed, _)| circle(decisions, deed))
            }
            Some(_) => None,
        },
        other => circle(decisions, other),
    })
}

fn circle(decisions: &Decisions, deed: &Deed) -> Option<Objection> {
    match deed {
        Deed::Merge { product, into, .. } | Deed::Split { product, into, .. } => {
            let is_circle = decisions.reach(into).contains(product);
            is_circle.then_some(Objection::Circle)
        }
        _ => None,
    }
}

impl SiteStore {
    /// Records an act. [`Self::apply`] applies it to the records that are there; those that arrive later follow it at once.
    ///
    /// # Errors
    /// If too many writes wait, or the database fails.
    pub async fn moderate(&self, act: NewAct) -> Result<Moderated> {
        match self.write(Work::Act(Box::new(act))).await? {
            Outcome::Moderated(moderated) => Ok(moderated),
            _ => Err(SiteStoreError::Damaged("an act had another outcome")),
        }
    }

    /// Lists acts, the last first. `before` is the number of the last one shown.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn acts(&self, before: Option<i64>, limit: u32) -> Result<Vec<Act>> {
        let text =
            format!("select {ACT} from acts a where a.number < $1 order by a.number desc limit $2");
        let values = values![before.unwrap_or(i64::MAX), i64::from(limit)];
        let found = rows(&mut *self.main().await?, text, values).await?;
        found.iter().map(act_of).collect()
    }

    /// Finds an act.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn act(&self, number: i64) -> Result<Option<Act>> {
        let text = format!("select {ACT} from acts a where a.number = $1");
        let found = row(&mut *self.main().await?, text, values![number]).await?;
        found.as_ref().map(act_of).transpose()
    }
}

fn act_of(row: &AnyRow) -> Result<Act> {
    Ok(Act {
        number: row.integer(0)?,
        at_ms: row.integer(1)?,
        account: row.text(2)?,
        deed: deed_of(&row.text(3)?)?,
        reason: row.text(4)?,
        undone_by: row.integer_or_none(5)?,
        is_applied: row.integer(6)? == 0,
    })
}

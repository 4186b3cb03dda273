//! Recording acts, and reading them.

use crate::database::sql::{Result, insert, run, values};
use crate::decisions::Decisions;
use crate::decisions::types::{Deed, Moderated, NewAct, Objection, Scope, Switch};
use crate::tables::batch::Batch;
use crate::tables::record;
use crate::types::SiteStoreError;

/// Records an act. It has a transaction of its own, beside which no other one decides on records.
pub(crate) async fn record(batch: &mut Batch<'_>, new: NewAct) -> Result<Moderated> {
    let decisions = batch.decisions();
    if let Some(objection) = objection(batch, &decisions, &new.deed).await? {
        return Ok(Moderated::Refused(objection));
    }
    let number = decisions.next();
    insert_act(batch, number, &new).await?;
    let places = decisions.places(number, &new.deed).into_iter();
    let tasks = places.map(|place| values![number, place, i64::MAX, vec![u8::MAX; 17]]);
    let into = "tasks (act, place, received_ms, record)";
    insert(batch.connection, into, "", tasks.collect()).await?;
    Ok(Moderated::Done(number))
}

/// Stores acts under the next numbers. Records that are loaded later follow them at once, so that there is nothing to apply.
pub(crate) async fn load(batch: &mut Batch<'_>, acts: &[NewAct]) -> Result<()> {
    for (number, act) in (batch.decisions().next()..).zip(acts) {
        insert_act(batch, number, act).await?;
    }
    Ok(())
}

async fn insert_act(batch: &mut Batch<'_>, number: i64, new: &NewAct) -> Result<()> {
    let undoes = match new.deed {
        Deed::Undo { act } => Some(act),
        _ => None,
    };
    let deed = serde_json::to_string(&new.deed)
        .map_err(|_| SiteStoreError::Damaged("an act cannot be written"))?;
    let text = "insert into acts (number, at_ms, account, deed, reason, undoes) \
                values ($1, $2, $3, $4, $5, $6)";
    let values = values![number, new.at_ms, &new.account, deed, &new.reason, undoes];
    run(batch.connection, text, values).await?;
    Ok(())
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
            // An earlier act may be in force again.
            Some(_) => decisions
                .with(deed)
                .has_circle()
                .then_some(Objection::Circle),
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

//! Acts in words.

use axum::http::StatusCode;
use cardmark_pages::addresses;
use cardmark_share::to_hexadecimal;
use cardmark_site_store::{Act, Deed, Objection, Scope, Switch};
use jiff::Timestamp;

use super::short_tag;
use crate::http::problem::Refusal;

/// An act in words, such as "merge A into B".
pub(crate) fn deed(deed: &Deed) -> String {
    match deed {
        Deed::Hold(scope) => format!("hold {}", self::scope(scope)),
        Deed::Release(scope) => format!("release {}", self::scope(scope)),
        Deed::Accept { name, .. } => format!("confirm the name {name}"),
        Deed::Merge {
            product, into_name, ..
        } => format!("merge {} into {into_name}", product_name(product)),
        Deed::Split {
            product,
            model,
            into_name,
            ..
        } => format!(
            "count {} with model {model} as {into_name}",
            product_name(product)
        ),
        Deed::SwitchOn { switch } => match switch {
            Switch::QuarantineNew => "quarantine all new runs".to_owned(),
            Switch::ReadOnly => "take nothing in".to_owned(),
        },
        Deed::SwitchOff { switch } => match switch {
            Switch::QuarantineNew => "quarantine new runs no longer".to_owned(),
            Switch::ReadOnly => "take runs in again".to_owned(),
        },
        Deed::Undo { act } => format!("undo act {act}"),
    }
}

fn scope(scope: &Scope) -> String {
    match scope {
        Scope::Record(id) => format!("run {id}"),
        Scope::Tag(tag) => format!("all runs of submitter {}", short_tag(tag)),
    }
}

/// Key of a product as people read it.
pub(crate) fn product_name(key: &str) -> &str {
    key.trim_start_matches('~')
}

/// Address of the page of an act's target, if it has one.
pub(crate) fn address(deed: &Deed) -> Option<(&'static str, String)> {
    let product = |key: &str| ("Product", addresses::product(key));
    Some(match deed {
        Deed::Hold(Scope::Record(id)) | Deed::Release(Scope::Record(id)) => {
            ("Run", format!("/runs/{id}"))
        }
        Deed::Accept { product: key, .. } => product(key),
        Deed::Merge { into, .. } | Deed::Split { into, .. } => product(into),
        Deed::Undo { act } => ("Undone act", addresses::act(*act)),
        Deed::Hold(_) | Deed::Release(_) | Deed::SwitchOn { .. } | Deed::SwitchOff { .. } => {
            return None;
        }
    })
}

/// The tag of an act on one.
pub(crate) fn tag(deed: &Deed) -> Option<String> {
    match deed {
        Deed::Hold(Scope::Tag(tag)) | Deed::Release(Scope::Tag(tag)) => Some(to_hexadecimal(tag)),
        _ => None,
    }
}

/// State of an act. One whose undoing was undone is in force again.
pub(crate) fn state(act: &Act, is_in_force: bool) -> String {
    match (act.undone_by, is_in_force) {
        (Some(number), false) => format!("undone by act {number}"),
        (Some(_), true) => "undone and in force again".to_owned(),
        (None, _) if !act.is_applied => "being applied to the runs that are there".to_owned(),
        (None, _) => "in force".to_owned(),
    }
}

/// A time to the second, in UTC.
pub(crate) fn time(at_ms: i64) -> String {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("{at:.0}")
}

/// The answer to an act that is not possible.
pub(crate) fn refusal(objection: Objection) -> Refusal {
    let detail = match objection {
        Objection::UnknownRecord => "there is no such run, or it was withdrawn".to_owned(),
        Objection::UnknownAct => "there is no such act".to_owned(),
        Objection::UndoneBefore(number) => format!("act {number} undid it already"),
        Objection::Circle => {
            "the products would count under each other in a circle: undo the other act first"
                .to_owned()
        }
        Objection::NoChange => "the switch is in this position already".to_owned(),
    };
    let title = "The act is not possible";
    Refusal::new(StatusCode::CONFLICT, "impossible-act", title, detail)
}

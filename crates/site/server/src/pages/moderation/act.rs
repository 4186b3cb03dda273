//! An act, as a form of a moderator sends it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use cardmark_catalog::product as known_product;
use cardmark_core::{name_of, visible};
use cardmark_share::{from_hexadecimal, product_key};
use cardmark_site_store::{Deed, Moderated, NewAct, Scope, Switch};

use crate::clock::now_ms;
use crate::http::page::PageRefusal;
use crate::http::peer::Block as AddressBlock;
use crate::http::problem::Refusal;
use crate::moderation::session::Moderator;
use crate::moderation::words;
use crate::pages::desk::sent;
use crate::pages::parts::Parts;
use crate::state::Site;

/// Most characters of a reason.
const MOST_REASON: usize = 500;
/// Most characters of a name or a model.
const MOST_NAME: usize = 120;
/// Pages to which an act leads back.
const BACK: &str = "/moderation";

pub(super) async fn act(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    AddressBlock(block): AddressBlock,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, PageRefusal> {
    let mut parts = sent(&site, &moderator, block, &headers, body).await?;
    let back = parts.line("back")?;
    let act = NewAct {
        account: moderator.account,
        deed: deed(&mut parts)?,
        reason: text(&mut parts, "reason", MOST_REASON)?,
        at_ms: now_ms(),
    };
    let is_on_one = matches!(
        act.deed,
        Deed::Hold(Scope::Record(_)) | Deed::Release(Scope::Record(_))
    );
    let number = match site.store.moderate(act).await? {
        Moderated::Done(number) => number,
        Moderated::Refused(objection) => return Err(words::refusal(objection).into()),
    };
    if is_on_one {
        site.store.apply(number).await?;
    } else {
        // It may take long; what is left when the process ends is applied by the next one.
        tokio::spawn(async move {
            if let Err(error) = site.store.apply(number).await {
                tracing::warn!(?error, number, "an act could not be applied yet");
            }
        });
    }
    let back = back.filter(|back| is_own(back));
    let mut response = Redirect::to(back.as_deref().unwrap_or(BACK)).into_response();
    let no_store = HeaderValue::from_static("no-store");
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, no_store);
    Ok(response)
}

/// Returns whether an address is one of the pages of moderators.
fn is_own(address: &str) -> bool {
    address
        .strip_prefix(BACK)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
}

fn deed(parts: &mut Parts) -> Result<Deed, Refusal> {
    let kind = parts.line("kind")?.unwrap_or_default();
    Ok(match kind.as_str() {
        "hold_record" => Deed::Hold(record(parts)?),
        "release_record" => Deed::Release(record(parts)?),
        "hold_tag" => Deed::Hold(tag(parts)?),
        "release_tag" => Deed::Release(tag(parts)?),
        "accept" => {
            let (product, name) = product(parts, "product")?;
            Deed::Accept { product, name }
        }
        "merge" => {
            let (product, _) = product(parts, "product")?;
            let (into, into_name) = self::product(parts, "into")?;
            Deed::Merge {
                product,
                into,
                into_name,
            }
        }
        "split" => {
            let (product, _) = product(parts, "product")?;
            let model = text(parts, "model", MOST_NAME)?;
            let (into, into_name) = self::product(parts, "into")?;
            Deed::Split {
                product,
                model,
                into,
                into_name,
            }
        }
        "switch_on" => Deed::SwitchOn {
            switch: switch(parts)?,
        },
        "switch_off" => Deed::SwitchOff {
            switch: switch(parts)?,
        },
        "undo" => {
            let act = parts.line("act")?.and_then(|act| act.parse().ok());
            let act = act.ok_or_else(|| Refusal::bad_request("act has to be a number"))?;
            Deed::Undo { act }
        }
        _ => return Err(Refusal::bad_request("kind is unknown")),
    })
}

fn record(parts: &mut Parts) -> Result<Scope, Refusal> {
    let id = parts.line("record")?.and_then(|id| id.parse().ok());
    id.map(Scope::Record).ok_or_else(Refusal::unknown_run)
}

fn tag(parts: &mut Parts) -> Result<Scope, Refusal> {
    let tag = parts.line("tag")?.and_then(|tag| from_hexadecimal(&tag));
    let tag = tag.ok_or_else(|| Refusal::bad_request("tag has to be 32 hexadecimal digits"))?;
    Ok(Scope::Tag(tag))
}

fn switch(parts: &mut Parts) -> Result<Switch, Refusal> {
    let name = parts.line("switch")?.unwrap_or_default();
    let found = Switch::ALL.into_iter();
    let mut found = found.filter(|switch| name_of(switch) == name);
    found
        .next()
        .ok_or_else(|| Refusal::bad_request("switch is unknown"))
}

/// Key and name of a product.
fn product(parts: &mut Parts, field: &str) -> Result<(String, String), Refusal> {
    let name = text(parts, field, MOST_NAME)?;
    let known = known_product(&name).map(cardmark_catalog::Product::name);
    let key = product_key(&name);
    let name = name.trim_start_matches('~').to_owned();
    Ok((key, known.unwrap_or(name)))
}

/// A text that is not empty, without characters that change how others are shown.
fn text(parts: &mut Parts, field: &str, most: usize) -> Result<String, Refusal> {
    let text = parts.line(field)?.unwrap_or_default();
    match text.chars().count() {
        0 => Err(Refusal::bad_request(format!("{field} is empty"))),
        count if count > most => Err(Refusal::bad_request(format!(
            "{field} has {count} characters; {most} are possible"
        ))),
        _ => Ok(visible(&text).into_owned()),
    }
}

//! Switches of the whole site.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cardmark_core::name_of;
use cardmark_pages::addresses;
use cardmark_pages::frame::{Field, Section};
use cardmark_report::document::Block;
use cardmark_site_store::{Decisions, Switch};

use crate::http::page::{PageRefusal, shown_once};
use crate::moderation::session::Moderator;
use crate::pages::desk::Desk;
use crate::state::Site;

pub(super) async fn switches(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
) -> Result<Response, PageRefusal> {
    let decisions = site.store.decisions().await?;
    let desk = Desk {
        site: &site,
        moderator: &moderator,
        address: "/moderation/switches".to_owned(),
    };
    let mut page = desk.page("Switches", Vec::new());
    for switch in Switch::ALL {
        page = page.section(section(&desk, &decisions, switch));
    }
    Ok(shown_once(&page))
}

fn section(desk: &Desk<'_>, decisions: &Decisions, switch: Switch) -> Section {
    let (title, text) = match switch {
        Switch::QuarantineNew => (
            "Quarantine new runs",
            "New runs are quarantined until they are released. Switching it off changes nothing about those that arrived: release them, \
             or undo the act that switched it on.",
        ),
        Switch::ReadOnly => (
            "Take nothing in",
            "Submissions, amendments, uploads and answers get status 503. Withdrawing stays possible.",
        ),
    };
    let on = decisions.switched_on(switch);
    let state = match on {
        Some(number) => format!("On, by act {number}."),
        None => "Off.".to_owned(),
    };
    let (kind, button) = match on {
        Some(_) => ("switch_off", "Switch off"),
        None => ("switch_on", "Switch on"),
    };
    let fields = vec![
        Field::hidden("kind", kind),
        Field::hidden("switch", &name_of(&switch)),
    ];
    let blocks = vec![Block::Text(text.to_owned()), Block::Text(state)];
    let mut section = Section::new(title, blocks);
    if let Some(number) = on {
        section = section.link(format!("Act {number}"), addresses::act(number));
    }
    section.form(desk.form(button, fields))
}

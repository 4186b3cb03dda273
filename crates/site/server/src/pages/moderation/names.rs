//! Names of products: confirmed, merged, split.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cardmark_pages::addresses;
use cardmark_pages::frame::{Field, Section};
use cardmark_report::document::{Block, Column, Row, Table};

use crate::http::page::{PageRefusal, shown_once};
use crate::http::parameters::{Parameters, optional};
use crate::http::problem::Refusal;
use crate::moderation::session::Moderator;
use crate::pages::desk::Desk;
use crate::pages::read::PlaceQuery;
use crate::state::Site;

/// Names of a page.
const NAMES: u32 = 50;

pub(super) async fn products(
    State(site): State<Arc<Site>>,
    moderator: Moderator,
    query: Result<Parameters<PlaceQuery>, Refusal>,
) -> Result<Response, PageRefusal> {
    let Parameters(query) = query?;
    let after = optional("cursor", query.cursor)?;
    let decisions = site.store.decisions().await?;
    let found = site.store.new_products(&decisions, after.as_deref(), NAMES);
    let (products, next) = found.await?;
    let row = |product: &cardmark_site_store::ProductRow| {
        let counts = [product.cards_count, product.runs_count];
        let mut cells = vec![product.name.clone()];
        cells.extend(counts.map(|count| count.to_string()));
        Row::new(cells).linked(addresses::product(&product.key))
    };
    let blocks = match products.is_empty() {
        true => vec![Block::Text(
            "All names of this page are in the catalogue or confirmed.".to_owned(),
        )],
        false => vec![Block::Table {
            caption: "Names that are neither in the catalogue nor confirmed".to_owned(),
            table: Table {
                columns: vec![
                    Column::left("name"),
                    Column::right("cards"),
                    Column::right("runs"),
                ],
                rows: products.iter().map(row).collect(),
            },
        }],
    };
    let desk = Desk {
        site: &site,
        moderator: &moderator,
        address: "/moderation/products".to_owned(),
    };
    let page = desk
        .page("Names of products", blocks)
        .section(accept(&desk))
        .section(merge(&desk))
        .section(split(&desk));
    let next = next.map(|cursor| {
        addresses::with("/moderation/products", &[("cursor", Some(cursor.as_str()))])
    });
    Ok(shown_once(&page.next(next)))
}

fn accept(desk: &Desk<'_>) -> Section {
    let text = "The name is right; the page of the product shows that it was confirmed.";
    let fields = vec![
        Field::hidden("kind", "accept"),
        Field::text("product", "Name", None),
    ];
    let blocks = vec![Block::Text(text.to_owned())];
    Section::new("Confirm a name", blocks).form(desk.form("Confirm", fields))
}

fn merge(desk: &Desk<'_>) -> Section {
    let text = "Runs of the first name count under the second, future ones too. The page of the first leads to the second.";
    let fields = vec![
        Field::hidden("kind", "merge"),
        Field::text("product", "Name", None),
        Field::text("into", "Into", None),
    ];
    let blocks = vec![Block::Text(text.to_owned())];
    Section::new("Merge two names", blocks).form(desk.form("Merge", fields))
}

fn split(desk: &Desk<'_>) -> Section {
    let text = "Runs of the name on devices that report this model count under another name, future ones too.";
    let fields = vec![
        Field::hidden("kind", "split"),
        Field::text("product", "Name", None),
        Field::text("model", "Model that the device reports", None),
        Field::text("into", "Other name", None),
    ];
    let blocks = vec![Block::Text(text.to_owned())];
    Section::new("Split a name", blocks).form(desk.form("Split", fields))
}

//! Work under way on this computer, from its journals.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use cardmark_judge::derive_again;
use cardmark_pages::frame::Page;
use cardmark_report::document::Block;
use cardmark_report::survey;
use cardmark_report::text::count_of;
use cardmark_store::{Content, unfinished};

use crate::http::page::{PageRefusal, no_page, shown};
use crate::state::Site;

pub(crate) async fn under_way(
    State(site): State<Arc<Site>>,
    headers: HeaderMap,
) -> Result<Response, PageRefusal> {
    let mine = site.mine.clone().ok_or_else(no_page)?;
    let read = move || blocks(unfinished(&mine.journals));
    let blocks = site.readers.run(read).await?;
    let page = Page::new("Under way", "Work under way on this computer.", blocks);
    let mut response = shown(&page, &headers);
    // The page reads itself again, without a script.
    response
        .headers_mut()
        .insert("refresh", HeaderValue::from_static("3"));
    Ok(response)
}

fn blocks<E: std::fmt::Display>(found: Result<Vec<Content>, E>) -> Vec<Block> {
    let contents = match found {
        Ok(contents) => contents,
        Err(error) => {
            return vec![Block::Text(format!(
                "The journals cannot be read: {error}."
            ))];
        }
    };
    if contents.is_empty() {
        return vec![Block::Text(
            "Nothing is under way or unfinished. This page looks again every three seconds."
                .to_owned(),
        )];
    }
    contents.into_iter().flat_map(one).collect()
}

fn one(content: Content) -> Vec<Block> {
    let (job, target) = (content.head.job.name(), content.head.target);
    let mut blocks = vec![Block::Heading(format!("cardmark {job} {target}"))];
    let Some(mut record) = content.record else {
        blocks.push(Block::Text("No figures yet.".to_owned()));
        return blocks;
    };
    let trials = count_of(record.trials.len() as u64, "trial", "trials");
    blocks.push(Block::Text(format!(
        "{trials} so far. If no program works on it any more, the same command goes on."
    )));
    if !record.trials.is_empty() {
        let _ = derive_again(&mut record);
        blocks.extend(survey("", std::slice::from_ref(&record)).blocks);
    }
    blocks
}

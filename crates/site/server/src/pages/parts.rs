//! Parts of a form: fields and files in parts (RFC 7578).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::{HeaderMap, header};

use crate::http::body::MOST_BODY;
use crate::http::problem::Refusal;
use crate::state::Site;

/// Most parts of a form.
const MOST_PARTS: usize = 16;

/// The parts of a form by name.
pub(super) struct Parts(BTreeMap<String, Vec<u8>>);

impl Parts {
    /// Reads a form within the limits of a submission.
    pub(super) async fn receive(
        site: &Arc<Site>,
        block: [u8; 16],
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Self, Refusal> {
        let received = site.bodies.receive(block, headers, body, MOST_BODY).await?;
        let mut request = Request::new(Body::from(received.plain()?));
        if let Some(kind) = headers.get(header::CONTENT_TYPE) {
            request
                .headers_mut()
                .insert(header::CONTENT_TYPE, kind.clone());
        }
        let wrong =
            |detail: String| Refusal::bad_request(format!("the form cannot be read: {detail}"));
        let mut parts = Multipart::from_request(request, &())
            .await
            .map_err(|error| wrong(error.body_text()))?;
        let (mut found, mut count) = (BTreeMap::new(), 0);
        while let Some(part) = parts
            .next_field()
            .await
            .map_err(|error| wrong(error.body_text()))?
        {
            count += 1;
            if count > MOST_PARTS {
                return Err(Refusal::bad_request("the form has too many parts"));
            }
            let Some(name) = part.name().map(str::to_owned) else {
                continue;
            };
            let bytes = part.bytes().await;
            let bytes = bytes.map_err(|error| wrong(error.body_text()))?;
            if !bytes.is_empty() {
                found.insert(name, bytes.to_vec());
            }
        }
        Ok(Self(found))
    }

    /// The bytes of a part; `None` if it is empty or not there.
    pub(super) fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        self.0.remove(name)
    }

    /// The text of a part.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let text = self.bytes(name).map(String::from_utf8).transpose();
        text.map_err(|_| Refusal::bad_request(format!("{name} is not text")))
    }

    /// The text of a field of one line, without spaces around it; `None` if nothing is left.
    pub(super) fn line(&mut self, name: &str) -> Result<Option<String>, Refusal> {
        let line = self.text(name)?.map(|text| text.trim().to_owned());
        let line = line.filter(|line| !line.is_empty());
        crate::http::parameters::optional(name, line)
    }
}

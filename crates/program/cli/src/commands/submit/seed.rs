//! A seed from a results site, for `cardmark run --fresh`.

use cardmark_share::{IssuedSeed, Server, from_hexadecimal};
use ureq::http::Method;

use super::client::{Answer, Client, Request, Site, Unanswered};
use super::reply::{Trouble, trouble_of};
use super::settings::Settings;
use crate::error::{CommandError, Exit};
use crate::terminal::print;

/// Gets a seed from the site, and shows its last day.
pub(crate) fn fresh_seed(given: Option<&Server>) -> Result<u64, CommandError> {
    let server = Settings::read()?.server(given)?;
    let client = Client::new(&server)?;
    let request = Request::new(Method::POST, "/api/v1/seeds");
    let issued = client
        .ask(&request)
        .map_err(trouble)
        .and_then(|it| seed(&it));
    let (seed, valid_until) = issued.map_err(|trouble| {
        let what = format!("Cannot get a seed from {server}; nothing was measured");
        let error = CommandError::new(Exit::Trouble, what).because(trouble.cause);
        let error = match trouble.hint {
            None => error,
            Some(hint) => error.hint(hint),
        };
        error.hint("without `--fresh` the run makes a seed of its own")
    })?;
    print::notice(&format!(
        "Seed from {server}: submit this run until {valid_until} with `cardmark submit last`."
    ));
    Ok(seed)
}

fn trouble(unanswered: Unanswered) -> Trouble {
    Trouble {
        cause: unanswered.cause,
        hint: unanswered.hint.map(str::to_owned),
    }
}

/// The seed of an answer and its last day.
fn seed(answer: &Answer) -> Result<(u64, String), Trouble> {
    if answer.status != 201 {
        return Err(trouble_of(answer));
    }
    let issued = serde_json::from_slice::<IssuedSeed>(&answer.body).ok();
    let parsed = issued.and_then(|issued| {
        let bytes: [u8; 8] = from_hexadecimal(&issued.seed)?;
        Some((u64::from_be_bytes(bytes), issued.valid_until))
    });
    parsed.ok_or_else(|| Trouble {
        cause: "its answer holds no seed that a run can use".to_owned(),
        hint: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, body: &str) -> Result<u64, String> {
        let answer = Answer {
            status,
            retry_after: None,
            body: body.into(),
        };
        seed(&answer)
            .map(|(seed, _)| seed)
            .map_err(|trouble| trouble.cause)
    }

    #[test]
    fn a_seed_has_sixteen_digits() {
        let body = |seed: &str| format!("{{\"seed\":\"{seed}\",\"valid_until\":\"2026-12-02\"}}");
        assert_eq!(of(201, &body("000000000000002a")), Ok(42));
        assert_eq!(of(201, &body("ffffffffffffffff")), Ok(u64::MAX));
        for bad in ["2a", "+00000000000002a", "zz00000000000000", ""] {
            assert!(of(201, &body(bad)).is_err(), "{bad}");
        }
        assert!(of(200, &body("000000000000002a")).is_err());
        assert_eq!(of(503, "").unwrap_err(), "the site is busy");
    }
}

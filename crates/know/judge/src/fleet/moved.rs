//! Cards that were seen in more than one board.

use std::collections::BTreeMap;

use cardmark_core::Record;

use crate::history::started_at_s;
use crate::watch::LastLook;

/// A card that was seen in more than one board. Two cards of one product share an id by chance very rarely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedCard<'a> {
    /// Id of the card.
    pub id: &'a str,
    /// Model that it reports.
    pub model: Option<&'a str>,
    /// The boards, each with the last time there, seconds since 1970, the earliest first.
    pub boards: Vec<(&'a str, Option<u64>)>,
}

/// Id and size of a card.
type Key<'a> = (&'a str, Option<u64>);
/// Model of a card, and the last time in each board.
type Places<'a> = (Option<&'a str>, BTreeMap<&'a str, Option<u64>>);

/// Returns the cards of several boards, from the name, runs and looks of each board.
pub(super) fn moved<'a: 'b, 'b>(
    boards: impl Iterator<Item = (&'a str, &'b [&'a Record], &'b [&'a LastLook])>,
) -> Vec<MovedCard<'a>> {
    let mut cards = BTreeMap::<Key<'a>, Places<'a>>::new();
    let mut add = |key, model: Option<&'a str>, host, at_s: Option<u64>| {
        let (known, places) = cards.entry(key).or_default();
        *known = known.or(model);
        let last = places.entry(host).or_default();
        *last = at_s.max(*last);
    };
    for (host, runs, looks) in boards {
        for run in runs {
            let device = run.devices.first();
            let Some((device, id)) = device.and_then(|device| Some((device, device.card_id()?)))
            else {
                continue;
            };
            let at_s = started_at_s(run).and_then(|at_s| at_s.try_into().ok());
            add((id, device.size_bytes), device.model.as_deref(), host, at_s);
        }
        for look in looks {
            for identity in look.disks.iter().map(|disk| &disk.identity) {
                let id = identity.id.as_deref().filter(|_| identity.is_own_id);
                if let Some(id) = id {
                    add(
                        (id, identity.size_bytes),
                        identity.model.as_deref(),
                        host,
                        look.at_s,
                    );
                }
            }
        }
    }
    let several = cards
        .into_iter()
        .filter(|(_, (_, places))| places.len() > 1);
    several
        .map(|((id, _), (model, places))| {
            let mut boards: Vec<_> = places.into_iter().collect();
            boards.sort_by_key(|(_, at_s)| *at_s);
            MovedCard { id, model, boards }
        })
        .collect()
}

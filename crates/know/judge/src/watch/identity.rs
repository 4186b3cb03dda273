//! Is it the same card or disk as at the last look?

use cardmark_core::DiskLook;
use serde::{Deserialize, Serialize};

/// Data that distinguishes a card or disk from others, without its serial number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Id that does not reveal the serial number.
    pub id: Option<String>,
    /// True if the id is that of the card or disk itself.
    pub is_own_id: bool,
    /// Model that it reports.
    pub model: Option<String>,
    /// Size, bytes.
    pub size_bytes: Option<u64>,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sameness {
    /// Nothing speaks against it.
    Same,
    /// Certainly another one.
    Other,
    /// It reports another model or size, or stands behind another reader; it may be the same one.
    Unclear,
}

impl Identity {
    pub(super) fn of(disk: &DiskLook) -> Self {
        Self {
            id: disk.id.clone(),
            is_own_id: disk.is_own_id,
            model: disk.model.clone(),
            size_bytes: disk.size_bytes,
        }
    }

    /// Compares with a later look. Only numbers of cards and disks themselves can prove that it is another one: a reader or an
    /// enclosure can be changed, a virtual disk can grow.
    pub(super) fn compare(&self, later: &Self) -> Sameness {
        let ids = self.id.as_ref().zip(later.id.as_ref());
        let are_equal = ids.map(|(one, other)| one == other);
        if let Some(are_equal) = are_equal.filter(|_| self.is_own_id && later.is_own_id) {
            return if are_equal {
                Sameness::Same
            } else {
                Sameness::Other
            };
        }
        let is_like = |same: Option<bool>| same != Some(false);
        let models = self.model.as_ref().zip(later.model.as_ref());
        let sizes = self.size_bytes.zip(later.size_bytes);
        let is_same = is_like(are_equal)
            && is_like(models.map(|(one, other)| one == other))
            && is_like(sizes.map(|(one, other)| one == other));
        if is_same {
            Sameness::Same
        } else {
            Sameness::Unclear
        }
    }

    /// The identity after a later look at the same card. What it does not report any more is kept.
    pub(super) fn refreshed(&self, later: &Self) -> Self {
        let has_id = later.id.is_some();
        Self {
            id: later.id.clone().or_else(|| self.id.clone()),
            is_own_id: if has_id {
                later.is_own_id
            } else {
                self.is_own_id
            },
            model: later.model.clone().or_else(|| self.model.clone()),
            size_bytes: later.size_bytes.or(self.size_bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, is_own_id: bool, size_bytes: u64) -> Identity {
        Identity {
            id: Some(id.to_owned()),
            is_own_id,
            model: Some("SN32G".to_owned()),
            size_bytes: Some(size_bytes),
        }
    }

    #[test]
    fn only_an_own_number_proves_another_card() {
        let own = card("a1b2c3", true, 32);
        let nameless = Identity {
            id: None,
            is_own_id: false,
            ..own.clone()
        };
        for (later, expected) in [
            (card("a1b2c3", true, 32), Sameness::Same),
            (card("ffffff", true, 32), Sameness::Other),
            // A failing controller reports another size.
            (card("a1b2c3", true, 1), Sameness::Same),
            (card("ffffff", false, 32), Sameness::Unclear),
            (card("ffffff", false, 64), Sameness::Unclear),
            (nameless.clone(), Sameness::Same),
        ] {
            assert_eq!(own.compare(&later), expected, "{later:?}");
        }
        let larger = Identity {
            size_bytes: Some(64),
            ..nameless.clone()
        };
        assert_eq!(nameless.compare(&larger), Sameness::Unclear);
        assert_eq!(nameless.compare(&nameless), Sameness::Same);
        let reader = card("0123ab", false, 32);
        assert_eq!(reader.compare(&reader), Sameness::Same);
    }

    #[test]
    fn what_is_not_reported_any_more_is_kept() {
        let own = card("a1b2c3", true, 32);
        assert_eq!(own.refreshed(&Identity::default()), own);
    }
}

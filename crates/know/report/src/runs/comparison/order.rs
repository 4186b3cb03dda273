//! Order of three or more sides.

use cardmark_judge::{Compared, ROLES, RateVerdict, key_rates};

use super::answer::{BETWEEN_STALLS, cells};
use crate::text::names::capitalised;
use crate::text::place_text;
use crate::text::style::clean;

/// One of several sides.
struct Side<'a> {
    name: &'a str,
    value: String,
    /// Geometric mean between stalls, for the order of shared places.
    rate: f64,
    faster_count: usize,
    slower_count: usize,
}

/// Returns the order of all sides by the first of the four rates that every pair of them has: `Random writes, fastest first: 1 A
/// (993/s), 2–3 B (860/s), 2–3 C (850/s)`. A side shares its places with those that no difference is shown to. `pairs` holds the
/// indices of two sides with their results, for all pairs; `None` without such a rate, or for fewer than three sides.
#[must_use]
pub fn order_of_sides(names: &[String], pairs: &[([usize; 2], Compared)]) -> Option<String> {
    let count = names.len();
    if count < 3 || pairs.len() != count * (count - 1) / 2 {
        return None;
    }
    let role = ROLES.iter().find(|role| {
        pairs.iter().all(|(_, results)| {
            let rates = key_rates(&[results]);
            rates.main.iter().any(|one| one.role == Some(*role))
        })
    })?;
    let names = names.iter().map(|name| Side {
        name: name.as_str(),
        value: String::new(),
        rate: 0.0,
        faster_count: 0,
        slower_count: 0,
    });
    let mut sides: Vec<Side<'_>> = names.collect();
    let mut is_between_stalls = false;
    let mut metric = None;
    for ([base, other], results) in pairs {
        let sources = [results];
        let rates = key_rates(&sources);
        let found = rates.main.iter().find(|one| one.role == Some(role))?;
        let difference = found.differences.first()?;
        if **metric.get_or_insert(&difference.metric) != difference.metric {
            return None;
        }
        is_between_stalls |= found.is_between_stalls();
        let [of_base, of_other] = cells(found);
        let (better, worse) = match found.verdict {
            RateVerdict::OtherFaster => (Some(*other), Some(*base)),
            RateVerdict::BaseFaster => (Some(*base), Some(*other)),
            _ => (None, None),
        };
        for (index, rate, value) in [
            (*base, difference.base_value, of_base),
            (*other, difference.other_value, of_other),
        ] {
            let side = sides.get_mut(index)?;
            side.rate = rate;
            side.value = value;
            side.slower_count += usize::from(better == Some(index));
            side.faster_count += usize::from(worse == Some(index));
        }
    }
    sides.sort_by(|one, other| other.rate.total_cmp(&one.rate));
    let places = sides.iter().map(|side| {
        let place = place_text([1 + side.faster_count, count - side.slower_count]);
        format!("{place} {} ({})", clean(side.name), side.value)
    });
    let stalls = match is_between_stalls {
        true => format!(" {BETWEEN_STALLS}"),
        false => String::new(),
    };
    Some(format!(
        "{}, fastest{stalls} first: {}",
        capitalised(role.name),
        places.collect::<Vec<_>>().join(", ")
    ))
}

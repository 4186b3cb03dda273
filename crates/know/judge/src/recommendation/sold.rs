//! Sale of products, as far as sources show it.

use cardmark_catalog::{Product, ProductLine, QueueState, lines_of};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

/// Days for which a product counts as sold after a source showed it.
const FRESH_DAYS: i64 = 365;
/// Year from which on a line is a recent one.
const RECENT_YEAR: u16 = 2021;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(Date);

impl Day {
    /// Parses `2026-11-28`, `2026-11` or `2026`; a month or year alone is its first day.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-').map(str::parse::<i16>);
        let mut next = || parts.next().unwrap_or(Ok(1)).ok();
        let (year, month, day) = (next()?, next()?, next()?);
        let date = Date::new(year, month.try_into().ok()?, day.try_into().ok()?);
        date.ok().map(Self)
    }

    /// Returns the day in universal time at this number of seconds since 1970; `None` outside the calendar.
    #[must_use]
    pub fn at_s(seconds: i64) -> Option<Self> {
        let at = Timestamp::from_second(seconds).ok()?;
        Some(Self(at.to_zoned(TimeZone::UTC).date()))
    }

    /// Returns the days from another day to this one.
    fn days_since(self, other: Self) -> i64 {
        self.0.duration_since(other.0).as_hours() / 24
    }
}

/// Group by which products are ordered before their speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// A source showed it in shops within a year.
    Sold,
    /// Its line was first sold in 2021 or later.
    Recent,
    /// Any other; products with figures by the year of their last test.
    Older,
}

/// Sale of a product, as far as known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sold {
    /// The group.
    pub tier: Tier,
    /// Last day, month or year at which a source showed it in shops; absent if that is more than a year ago.
    pub known_sold: Option<String>,
    /// Years in which the lines with this name were first sold, as far as known.
    pub first_sold: Vec<u16>,
    /// Year of its last test, if known.
    pub tested: Option<u16>,
}

impl From<Date> for Day {
    fn from(date: Date) -> Self {
        Self(date)
    }
}

/// Returns the group of a line on this day.
#[must_use]
pub fn tier(line: &ProductLine, today: Day) -> Tier {
    let seen = line.known_sold.as_deref().and_then(Day::parse);
    match seen.is_some_and(|seen| (0..=FRESH_DAYS).contains(&today.days_since(seen))) {
        true => Tier::Sold,
        false => by_age(line),
    }
}

fn by_age(line: &ProductLine) -> Tier {
    match line.year >= Some(RECENT_YEAR) {
        true => Tier::Recent,
        false => Tier::Older,
    }
}

/// Returns the sale of a product of these lines. A name that its maker used again is in the group that all
/// its lines share.
pub(super) fn sold(lines: &[&ProductLine], tested: Option<u16>, today: Day) -> Sold {
    let tier = |line: &&ProductLine| {
        // A card that is sold may be of a later generation than the one that was tested.
        let is_tested = |year| tested.is_some_and(|tested| year <= tested);
        match line.year.is_none_or(is_tested) {
            true => tier(line, today),
            false => by_age(line),
        }
    };
    let tier = lines.iter().map(tier).max().unwrap_or(Tier::Older);
    let mut first_sold: Vec<u16> = lines.iter().filter_map(|line| line.year).collect();
    first_sold.sort_unstable();
    first_sold.dedup();
    Sold {
        tier,
        known_sold: (tier == Tier::Sold)
            .then(|| lines.first()?.known_sold.clone())
            .flatten(),
        first_sold,
        tested,
    }
}

/// State of the command queue of all lines that a product may be of.
pub(super) fn queue_state(product: Option<&Product>) -> Option<QueueState> {
    let lines = product.map(lines_of).unwrap_or_default();
    let state = |line: &&ProductLine| line.command_queue.as_ref().map(|queue| queue.state);
    let states: Vec<Option<QueueState>> = lines.iter().map(state).collect();
    let first = states.first().copied().flatten();
    if states.iter().all(|state| *state == first) {
        return first;
    }
    let has = |wanted| states.contains(&Some(wanted));
    [QueueState::Broken, QueueState::Works]
        .into_iter()
        .find(|state| has(*state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardmark_catalog::{lines, product};

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn line(known_sold: Option<&str>, year: Option<u16>) -> ProductLine {
        ProductLine {
            known_sold: known_sold.map(str::to_owned),
            year,
            ..lines()[0].clone()
        }
    }

    #[test]
    fn a_bare_year_is_its_first_day() {
        assert_eq!(day("2026"), day("2026-01-01"));
        assert_eq!(day("2026-02"), day("2026-02-01"));
        assert_eq!(Day::at_s(1_795_824_000), Day::parse("2026-11-28"));
        for text in ["", "today", "2026-13", "2026-02-30"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_product_counts_as_sold_for_a_year() {
        for (seen, today, is) in [
            ("2026", "2026-11-28", true),
            ("2026-01-16", "2027-01-16", true),
            ("2026-01-16", "2027-01-17", false),
            ("2025", "2026-11-28", false),
            // A day to come is no evidence.
            ("2027-01-01", "2026-11-28", false),
        ] {
            let found = tier(&line(Some(seen), None), day(today));
            assert_eq!(found == Tier::Sold, is, "{seen}");
        }
    }

    #[test]
    fn a_name_that_was_used_again_is_in_the_group_that_its_lines_share() {
        let tier = |lines: &[ProductLine], tested| {
            let lines: Vec<&ProductLine> = lines.iter().collect();
            sold(&lines, tested, day("2026-11-28")).tier
        };
        let now = line(Some("2026-05"), Some(2022));
        let old = line(None, Some(2018));
        assert_eq!(tier(std::slice::from_ref(&now), Some(2024)), Tier::Sold);
        assert_eq!(tier(std::slice::from_ref(&now), Some(2019)), Tier::Recent);
        assert_eq!(tier(&[now, old], Some(2024)), Tier::Older);
        assert_eq!(tier(&[], Some(2024)), Tier::Older);
    }

    #[test]
    fn the_state_of_a_queue_is_that_of_all_lines_or_the_graver_one() {
        let state = |id: &str| queue_state(product(id));
        assert_eq!(state("raspberry_pi_64gb"), Some(QueueState::Trusted));
        assert_eq!(state("amazon_basics_64gb"), Some(QueueState::None));
        assert_eq!(state("sandisk_extreme_64gb"), Some(QueueState::Works));
        assert_eq!(state("samsung_pro_plus_128gb"), Some(QueueState::Broken));
        assert_eq!(state("samsung_evo_16gb"), None);
    }
}

//! The weight of a submitter among those of a product.
//!
//! A tag costs nothing, but time cannot be bought: a submitter weighs more some days after the first run that counts, and more again
//! after runs of several products on several days.

/// Days after its first counted run from which a submitter is an older one.
pub const OLDER_DAYS: u64 = 7;
/// Days after its first counted run from which a submitter weighs one more.
pub const SETTLED_DAYS: u64 = 30;
/// Most weight of a submitter.
pub const MOST_WEIGHT: u64 = 4;
/// Days with counted runs, and products of these, from which a submitter weighs one more.
const SEVERAL: u64 = 2;

/// Facts about a submitter, from the counted runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Whole days since the first one arrived.
    pub age_days: u64,
    /// Days on which some arrived.
    pub days_count: u64,
    /// Products.
    pub products_count: u64,
}

/// The voice of a submitter in the figures of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Voice {
    /// True from [`OLDER_DAYS`] on.
    pub is_older: bool,
    /// 1 for a new submitter, 2 to [`MOST_WEIGHT`] for an older one.
    pub weight: u64,
}

impl Voice {
    /// That of a new submitter.
    pub const NEW: Self = Self {
        is_older: false,
        weight: 1,
    };

    /// The voice that follows from the runs of a submitter.
    #[must_use]
    pub fn of(activity: &Activity) -> Self {
        let is_older = activity.age_days >= OLDER_DAYS;
        if !is_older {
            return Self::NEW;
        }
        let is_settled = activity.age_days >= SETTLED_DAYS;
        let is_active = activity.days_count.min(activity.products_count) >= SEVERAL;
        Self {
            is_older,
            weight: 2 + u64::from(is_settled) + u64::from(is_active),
        }
    }

    /// Days after the first run at which the weight of a submitter of this age grows by age alone; `None` if it does not any more.
    #[must_use]
    pub fn next_day(age_days: u64) -> Option<u64> {
        [OLDER_DAYS, SETTLED_DAYS]
            .into_iter()
            .find(|days| *days > age_days)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn an_activity() -> impl Strategy<Value = Activity> {
        (0..60_u64, 1..4_u64, 1..4_u64).prop_map(|(age_days, days_count, products_count)| {
            Activity {
                age_days,
                days_count,
                products_count,
            }
        })
    }

    proptest! {
        #[test]
        fn more_of_anything_never_weighs_less(one in an_activity(), more in an_activity()) {
            let sum = Activity {
                age_days: one.age_days + more.age_days,
                days_count: one.days_count + more.days_count,
                products_count: one.products_count + more.products_count,
            };
            let (before, after) = (Voice::of(&one), Voice::of(&sum));
            prop_assert!(before.weight <= after.weight && before.is_older <= after.is_older);
            prop_assert!((1..=MOST_WEIGHT).contains(&after.weight));
        }

        /// Nothing but time makes a new submitter an older one.
        #[test]
        fn a_flood_on_the_first_days_weighs_as_one(activity in an_activity()) {
            let early = Activity { age_days: activity.age_days % OLDER_DAYS, ..activity };
            prop_assert_eq!(Voice::of(&early), Voice::NEW);
        }

        #[test]
        fn the_weight_by_age_changes_on_the_days_that_are_announced(activity in an_activity()) {
            let next = Activity { age_days: activity.age_days + 1, ..activity };
            let is_changed = Voice::of(&activity) != Voice::of(&next);
            prop_assert_eq!(is_changed, Voice::next_day(activity.age_days) == Some(next.age_days));
        }
    }
}

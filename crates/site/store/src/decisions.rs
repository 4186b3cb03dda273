//! Decisions on records and products that follow from the acts in force.

pub(crate) mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use cardmark_share::{Check, TAG_BYTES, to_hexadecimal};
use sqlx::AnyConnection;
use uuid::Uuid;

use crate::database::sql::{Columns as _, Result, rows, values};
use crate::decisions::types::{Deed, Scope, Switch};
use crate::types::{SiteStoreError, State};

/// Most products that a record passes on its way to the one that it counts under.
const MOST_STEPS: usize = 64;

/// All acts, by number and by target.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    acts: BTreeMap<i64, Known>,
    about: BTreeMap<Target, Vec<i64>>,
}

#[derive(Clone, Debug)]
struct Known {
    deed: Deed,
    undone_by: Option<i64>,
}

/// Target of acts. The last one in force counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Record(Uuid),
    Tag([u8; TAG_BYTES]),
    Name(String),
    Product(String),
    Model(String, String),
    Switch(Switch),
}

/// A product of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) key: String,
    pub(crate) name: String,
}

/// Facts about a record that decisions depend on.
#[derive(Clone, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) id: Uuid,
    pub(crate) tag: Option<[u8; TAG_BYTES]>,
    /// The act by which new records were quarantined when it arrived.
    pub(crate) quarantined_by: Option<i64>,
    /// The product that the record itself names.
    pub(crate) own: Option<&'a Named>,
    pub(crate) model: Option<&'a str>,
    /// Acts move no record of a simulated card.
    pub(crate) is_simulated: bool,
}

/// State and product of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) state: State,
    pub(crate) decided_by: Option<i64>,
    pub(crate) quarantined_by: Option<i64>,
    /// The product that it counts under.
    pub(crate) product: Option<Named>,
    /// The product that the record itself names, if an act moved it.
    pub(crate) own: Option<Named>,
}

impl Decisions {
    fn last(&self) -> i64 {
        self.acts.last_key_value().map_or(0, |(number, _)| *number)
    }

    /// Number of the next act.
    pub(crate) fn next(&self) -> i64 {
        self.last() + 1
    }

    /// Decisions with one act more.
    pub(crate) fn with(&self, deed: &Deed) -> Self {
        let mut with = self.clone();
        with.add(with.next(), deed.clone());
        with
    }

    /// Returns whether a product leads to itself.
    pub(crate) fn has_circle(&self) -> bool {
        let leads_back = |target: &Target| match (target, self.latest(target)) {
            (
                Target::Product(product) | Target::Model(product, _),
                Some((_, Deed::Merge { into, .. } | Deed::Split { into, .. })),
            ) => self.reach(into).contains(product),
            _ => false,
        };
        self.about.keys().any(leads_back)
    }

    fn add(&mut self, number: i64, deed: Deed) {
        if let Deed::Undo { act } = deed
            && let Some(undone) = self.acts.get_mut(&act)
        {
            undone.undone_by = Some(number);
        }
        if let Some(target) = target(&deed) {
            self.about.entry(target).or_default().push(number);
        }
        let known = Known {
            deed,
            undone_by: None,
        };
        self.acts.insert(number, known);
    }

    /// The act, and the act that undoes it.
    pub(crate) fn act(&self, number: i64) -> Option<(&Deed, Option<i64>)> {
        let known = self.acts.get(&number)?;
        Some((&known.deed, known.undone_by))
    }

    /// The act that undoing this one concerns in the end: an undoing can be undone too.
    pub(crate) fn base(&self, mut number: i64) -> i64 {
        while let Some((Deed::Undo { act }, _)) = self.act(number) {
            number = *act;
        }
        number
    }

    /// Returns whether an act is not undone. One whose undoing is undone is in force again.
    pub fn is_in_force(&self, number: i64) -> bool {
        let mut is_in_force = self.acts.contains_key(&number);
        let mut next = self.act(number).and_then(|(_, undone_by)| undone_by);
        while let Some(undoing) = next {
            is_in_force = !is_in_force;
            next = self.act(undoing).and_then(|(_, undone_by)| undone_by);
        }
        is_in_force
    }

    fn latest(&self, target: &Target) -> Option<(i64, &Deed)> {
        let mut numbers = self.about.get(target)?.iter().rev();
        let number = *numbers.find(|number| self.is_in_force(**number))?;
        Some((number, &self.acts.get(&number)?.deed))
    }

    /// The act that switched something on, if it is on.
    #[must_use]
    pub fn switched_on(&self, switch: Switch) -> Option<i64> {
        match self.latest(&Target::Switch(switch)) {
            Some((number, Deed::SwitchOn { .. })) => Some(number),
            _ => None,
        }
    }

    /// The act that confirms the name of a product.
    #[must_use]
    pub fn accepted(&self, product: &str) -> Option<i64> {
        let found = self.latest(&Target::Name(product.to_owned()));
        found.map(|(number, _)| number)
    }

    /// Numbers of all acts on a record or its tag, the last first.
    pub fn acts_on(&self, record: Uuid, tag: Option<[u8; TAG_BYTES]>) -> Vec<i64> {
        let targets = [Some(Target::Record(record)), tag.map(Target::Tag)];
        let found = targets.iter().flatten();
        let found = found.filter_map(|target| self.about.get(target));
        let mut numbers: Vec<i64> = found.flatten().copied().collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        numbers
    }

    /// The key under which a product counts, if acts count it under another one.
    pub fn moved(&self, product: &str) -> Option<&str> {
        self.place(product, None).map(|(key, _)| key)
    }

    /// Key and name of the product under which records of a product with a model count, if it is another one.
    fn place(&self, product: &str, model: Option<&str>) -> Option<(&str, &str)> {
        let mut place = None;
        for _ in 0..MOST_STEPS {
            let now = match place {
                Some((key, _)) => key,
                None => product,
            };
            match self.step(now, model) {
                Some(next) => place = Some(next),
                None => break,
            }
        }
        place.filter(|(key, _)| *key != product)
    }

    fn step(&self, product: &str, model: Option<&str>) -> Option<(&str, &str)> {
        let split = model.map(|model| Target::Model(product.to_owned(), model.to_owned()));
        let split = split.and_then(|target| self.latest(&target));
        let found = split.or_else(|| self.latest(&Target::Product(product.to_owned())));
        match found?.1 {
            Deed::Merge {
                into, into_name, ..
            }
            | Deed::Split {
                into, into_name, ..
            } => Some((into, into_name)),
            _ => None,
        }
    }

    /// All products under which records of a product may count, with it.
    pub(crate) fn reach(&self, product: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![product.to_owned()];
        while let Some(product) = waiting.pop() {
            if found.contains(&product) {
                continue;
            }
            let from = Target::Model(product.clone(), String::new());
            let models = self.about.range(from..).map(|(target, _)| target);
            let models = models.take_while(
                |target| matches!(target, Target::Model(other, _) if *other == product),
            );
            for target in models.chain([&Target::Product(product.clone())]) {
                if let Some((_, Deed::Merge { into, .. } | Deed::Split { into, .. })) =
                    self.latest(target)
                {
                    waiting.push(into.clone());
                }
            }
            found.insert(product);
        }
        found
    }

    /// The product under which a record counts.
    pub(crate) fn product(&self, subject: &Subject<'_>) -> Option<Named> {
        let own = subject.own?;
        let moved = match subject.is_simulated {
            true => None,
            false => self.place(&own.key, subject.model),
        };
        Some(moved.map_or_else(
            || own.clone(),
            |(key, name)| Named {
                key: key.to_owned(),
                name: name.to_owned(),
            },
        ))
    }

    /// The last act in force about a record or its tag, or the one that quarantined all new records when it arrived, and whether
    /// it quarantines the record.
    #[must_use]
    pub fn decided(
        &self,
        record: Uuid,
        tag: Option<[u8; TAG_BYTES]>,
        quarantined_by: Option<i64>,
    ) -> Option<(i64, bool)> {
        let targets = [Some(Target::Record(record)), tag.map(Target::Tag)];
        let by_act = targets.iter().flatten();
        let by_act = by_act.filter_map(|target| self.latest(target));
        let by_act = by_act.map(|(number, deed)| (number, matches!(deed, Deed::Hold(_))));
        let by_switch = quarantined_by.filter(|number| self.is_in_force(*number));
        by_act.chain(by_switch.map(|number| (number, true))).max()
    }

    /// State and product of a record. The last act in force about it or its tag, or that quarantined all new records when it
    /// arrived, decides; without one its checks do.
    pub(crate) fn standing(&self, subject: &Subject<'_>, checks: &[Check]) -> Standing {
        let decided = self.decided(subject.id, subject.tag, subject.quarantined_by);
        let product = self.product(subject);
        Standing {
            state: match decided {
                Some((_, true)) => State::Quarantined,
                Some((_, false)) => State::Shared,
                None => State::of(checks),
            },
            decided_by: decided.map(|(number, _)| number),
            quarantined_by: subject.quarantined_by,
            own: subject
                .own
                .filter(|own| product.as_ref().is_some_and(|now| now.key != own.key))
                .cloned(),
            product,
        }
    }

    /// Places of the records whose standing an act changes, given the acts before it.
    pub(crate) fn places(&self, number: i64, deed: &Deed) -> Vec<String> {
        match deed {
            Deed::Hold(Scope::Record(id)) | Deed::Release(Scope::Record(id)) => {
                vec![format!("record:{id}")]
            }
            Deed::Hold(Scope::Tag(tag)) | Deed::Release(Scope::Tag(tag)) => {
                vec![format!("tag:{}", to_hexadecimal(tag))]
            }
            Deed::Merge { product, .. } | Deed::Split { product, .. } => {
                let reached = self.reach(product).into_iter();
                reached.map(|key| format!("product:{key}")).collect()
            }
            Deed::SwitchOn {
                switch: Switch::QuarantineNew,
            } if self.acts.contains_key(&number) => vec![format!("switch:{number}")],
            Deed::Undo { act } => {
                let base = self.base(*act);
                let deed = self.act(base).map(|(deed, _)| deed);
                deed.map_or_else(Vec::new, |deed| self.places(base, deed))
            }
            Deed::Accept { .. } | Deed::SwitchOn { .. } | Deed::SwitchOff { .. } => Vec::new(),
        }
    }
}

fn target(deed: &Deed) -> Option<Target> {
    Some(match deed {
        Deed::Hold(Scope::Record(id)) | Deed::Release(Scope::Record(id)) => Target::Record(*id),
        Deed::Hold(Scope::Tag(tag)) | Deed::Release(Scope::Tag(tag)) => Target::Tag(*tag),
        Deed::Accept { product, .. } => Target::Name(product.clone()),
        Deed::Merge { product, .. } => Target::Product(product.clone()),
        Deed::Split { product, model, .. } => Target::Model(product.clone(), model.clone()),
        Deed::SwitchOn { switch } | Deed::SwitchOff { switch } => Target::Switch(*switch),
        Deed::Undo { .. } => return None,
    })
}

/// Decisions as far as this process has read them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache(Arc<Mutex<Arc<Decisions>>>);

impl Cache {
    /// Decisions as they were last read.
    pub(crate) fn last_read(&self) -> Arc<Decisions> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads the acts that were recorded since the last time. Only committed acts may be visible to the connection.
    pub(crate) async fn read(&self, connection: &mut AnyConnection) -> Result<Arc<Decisions>> {
        let last = self.last_read().last();
        let text = "select number, deed from acts where number > $1 order by number";
        let found = rows(connection, text, values![last]).await?;
        let found: Vec<(i64, Deed)> = found
            .iter()
            .map(|row| Ok((row.integer(0)?, deed_of(&row.text(1)?)?)))
            .collect::<Result<_>>()?;
        let mut shared = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (number, deed) in found {
            // Another reader may have been faster.
            if number > shared.last() {
                Arc::make_mut(&mut shared).add(number, deed);
            }
        }
        Ok(Arc::clone(&shared))
    }
}

pub(crate) fn deed_of(text: &str) -> Result<Deed> {
    serde_json::from_str(text).map_err(|_| SiteStoreError::Damaged("an act cannot be read"))
}

//! Which metrics a report is about: the four that choose a card, by the method that measured them.

use cardmark_core::Quantity;
use cardmark_judge::ROLES;

use super::subjects::Subject;

/// A rate: id and quantity.
pub(super) type Rate = (String, Quantity);

/// Subjects whose main figures come from one method.
#[derive(Clone, Debug)]
pub(super) struct Method<'a> {
    /// Random write, random read, sequential write, sequential read, as far as measured.
    main: [Option<Rate>; ROLES.len()],
    /// The first other rates, where none of the four was measured.
    others: Vec<Rate>,
    /// The subjects.
    pub(super) subjects: Vec<Subject<'a>>,
}

impl Method<'_> {
    /// The metrics to show, at most four, the most important first.
    pub(super) fn rates(&self) -> Vec<&Rate> {
        self.main.iter().flatten().chain(&self.others).collect()
    }

    /// Random write.
    pub(super) fn random_write(&self) -> Option<&Rate> {
        self.main.first()?.as_ref()
    }

    /// Random read.
    pub(super) fn random_read(&self) -> Option<&Rate> {
        self.main.get(1)?.as_ref()
    }
}

/// The methods of these subjects, that of most subjects first. Each subject with a rate belongs to one.
pub(super) fn methods<'a>(subjects: &[Subject<'a>], rates: &[Rate]) -> Vec<Method<'a>> {
    let has_rate = |subject: &&Subject<'_>| rates.iter().any(|(id, _)| has(subject, id));
    let mut left: Vec<Subject<'a>> = subjects.iter().filter(has_rate).cloned().collect();
    let mut methods = Vec::new();
    while !left.is_empty() {
        let method = method_of(&left, rates);
        left.retain(|subject| !method.subjects.contains(subject));
        methods.push(method);
    }
    methods
}

/// The method that most of these subjects have.
fn method_of<'a>(subjects: &[Subject<'a>], rates: &[Rate]) -> Method<'a> {
    let mut main = [const { None }; ROLES.len()];
    let mut chosen: Vec<Subject<'a>> = Vec::new();
    for (role, slot) in ROLES.iter().zip(&mut main) {
        // After the first, of the same subjects.
        let of = if chosen.is_empty() { subjects } else { &chosen };
        let Some(rate) = most_common(role.metrics, of, rates) else {
            continue;
        };
        if chosen.is_empty() {
            let measured = subjects.iter().filter(|subject| has(subject, &rate.0));
            chosen = measured.cloned().collect();
        }
        *slot = Some(rate);
    }
    if let [first, ..] = subjects
        && chosen.is_empty()
    {
        let first_rates = rates.iter().filter(|(id, _)| has(first, id));
        let others: Vec<Rate> = first_rates.take(ROLES.len()).cloned().collect();
        let is_of = |subject: &&Subject<'_>| others.iter().any(|(id, _)| has(subject, id));
        return Method {
            main,
            subjects: subjects.iter().filter(is_of).cloned().collect(),
            others,
        };
    }
    Method {
        main,
        others: Vec::new(),
        subjects: chosen,
    }
}

/// The metric of a role that most subjects have; of equals the first.
fn most_common(role: &[&str], subjects: &[Subject<'_>], rates: &[Rate]) -> Option<Rate> {
    let count = |id: &str| subjects.iter().filter(|subject| has(subject, id)).count();
    let mut best: Option<(&Rate, usize)> = None;
    for id in role {
        let rate = rates.iter().find(|(known, _)| known == id);
        let found = rate.map(|rate| (rate, count(id)));
        best = match (best, found) {
            (Some(best), Some(found)) if best.1 >= found.1 => Some(best),
            (best, found) => found.filter(|(_, count)| *count > 0).or(best),
        };
    }
    best.map(|(rate, _)| rate.clone())
}

fn has(subject: &Subject<'_>, metric: &str) -> bool {
    subject.measuring(metric).next().is_some()
}

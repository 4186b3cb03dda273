//! The order of trials: rounds, looks, budget.

use cardmark_core::StopReason;

/// One workload's place in the schedule.
#[derive(Clone, Debug)]
struct WorkloadState {
    rounds_count: u32,
    stopped_by: Option<StopReason>,
    /// Duration of a trial from ramp to flush, nanoseconds.
    expected_ns: u64,
}

/// The schedule of a run. Workloads are named by their index in the plan.
#[derive(Debug)]
pub(crate) struct Schedule {
    looks: Vec<u32>,
    budget_ns: u64,
    longest_ns: u64,
    places: Vec<WorkloadState>,
    /// Trials of the current round, in reverse order.
    round: Vec<usize>,
    round_index: u32,
}

impl Schedule {
    /// Creates a schedule from the expected duration of a trial of each workload.
    pub(crate) fn new(looks: &[u32], budget_ns: u64, longest_ns: u64, expected_ns: &[u64]) -> Self {
        let place = |&expected_ns| WorkloadState {
            rounds_count: 0,
            stopped_by: None,
            expected_ns,
        };
        let places = expected_ns.iter().map(place).collect();
        Self {
            looks: looks.to_vec(),
            budget_ns,
            longest_ns,
            places,
            round: Vec::new(),
            round_index: 0,
        }
    }

    /// Returns the next workload and its round; `None` when all have ended.
    ///
    /// Round `r` begins with workload `r`, so that drift does not favour one. A workload that was
    /// measured before (the layout's trials) waits until the others have caught up.
    pub(crate) fn next(&mut self, elapsed_ns: u64) -> Option<(usize, u32)> {
        if elapsed_ns >= self.budget_ns {
            let least = self.looks.first().copied().unwrap_or(0);
            self.stop_from(least);
        }
        if elapsed_ns >= self.longest_ns {
            self.stop_from(0);
        }
        loop {
            while let Some(index) = self.round.pop() {
                if self.places[index].stopped_by.is_none() {
                    return Some((index, self.places[index].rounds_count));
                }
            }
            self.round = self.next_round()?;
        }
    }

    /// Returns a workload to the schedule, so that [`Self::next`] returns it again.
    pub(crate) fn put_back(&mut self, index: usize) {
        self.round.push(index);
    }

    fn next_round(&mut self) -> Option<Vec<usize>> {
        let running = |place: &&WorkloadState| place.stopped_by.is_none();
        let least = self
            .places
            .iter()
            .filter(running)
            .map(|place| place.rounds_count)
            .min()?;
        let count = self.places.len();
        let first = self.round_index as usize % count;
        self.round_index += 1;
        let order = (0..count).map(|step| (first + step) % count);
        let due = |&index: &usize| {
            let place = &self.places[index];
            place.stopped_by.is_none() && place.rounds_count == least
        };
        let mut round: Vec<usize> = order.filter(due).collect();
        round.reverse();
        Some(round)
    }

    /// Records a trial that took `span_ns` in all. Returns true if it is time for a look at its workload.
    pub(crate) fn note(&mut self, index: usize, span_ns: u64) -> bool {
        let place = &mut self.places[index];
        place.rounds_count += 1;
        place.expected_ns = span_ns;
        self.looks.contains(&place.rounds_count)
    }

    /// Excludes a workload from the rounds.
    pub(crate) fn leave_out(&mut self, index: usize) {
        self.places[index].stopped_by = Some(StopReason::Rounds);
    }

    /// Ends a workload whose bytes are used up.
    pub(crate) fn end_for_bytes(&mut self, index: usize) {
        self.places[index].stopped_by = Some(StopReason::Budget);
    }

    /// Records the outcome of a look at a workload.
    pub(crate) fn look(&mut self, index: usize, is_enough: bool) {
        let last = self.looks.last().copied().unwrap_or(0);
        let place = &mut self.places[index];
        if is_enough {
            place.stopped_by = Some(StopReason::Goal);
        } else if place.rounds_count >= last {
            place.stopped_by = Some(StopReason::Rounds);
        }
    }

    /// Ends a workload after an error.
    pub(crate) fn drop_workload(&mut self, index: usize) {
        self.places[index].stopped_by = Some(StopReason::Error);
    }

    /// Ends all workloads that had at least `least` rounds. When the budget is used up, `least` is the
    /// minimum number of rounds: a slow card gets the time that it needs.
    fn stop_from(&mut self, least: u32) {
        for place in &mut self.places {
            if place.stopped_by.is_none() && place.rounds_count >= least {
                place.stopped_by = Some(StopReason::Budget);
            }
        }
    }

    /// Expected duration of a trial of this workload, nanoseconds.
    pub(crate) fn expected_ns(&self, index: usize) -> u64 {
        self.places[index].expected_ns
    }

    /// Expected time until every workload has reached its next look or the budget, nanoseconds.
    pub(crate) fn remaining_ns(&self, elapsed_ns: u64) -> u64 {
        let least = self.looks.first().copied().unwrap_or(0);
        let mut must = 0u64;
        let mut may = 0u64;
        for place in self
            .places
            .iter()
            .filter(|place| place.stopped_by.is_none())
        {
            let next = self.looks.iter().find(|&&look| look > place.rounds_count);
            let rounds = u64::from(next.map_or(0, |look| look - place.rounds_count));
            let span = rounds * place.expected_ns;
            if place.rounds_count < least {
                must += span;
            } else {
                may += span;
            }
        }
        let budget = self
            .budget_ns
            .saturating_sub(elapsed_ns)
            .saturating_sub(must);
        (must + may.min(budget)).min(self.longest_ns.saturating_sub(elapsed_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(schedule: &mut Schedule, trials: usize) -> Vec<(usize, u32)> {
        (0..trials)
            .map_while(|_| {
                let next = schedule.next(0)?;
                if schedule.note(next.0, 1) {
                    schedule.look(next.0, false);
                }
                Some(next)
            })
            .collect()
    }

    #[test]
    fn each_round_begins_with_another_workload() {
        let mut schedule = Schedule::new(&[3, 6], 100, u64::MAX, &[1, 1, 1]);
        let seen: Vec<usize> = order(&mut schedule, 9)
            .into_iter()
            .map(|(index, _)| index)
            .collect();
        assert_eq!(seen, [0, 1, 2, 1, 2, 0, 2, 0, 1]);
    }

    #[test]
    fn a_workload_that_was_measured_before_waits_for_the_others() {
        let mut schedule = Schedule::new(&[3], 100, u64::MAX, &[1, 1]);
        schedule.note(0, 1);
        schedule.note(0, 1);
        assert_eq!(order(&mut schedule, 9), [(1, 0), (1, 1), (0, 2), (1, 2)]);
    }

    #[test]
    fn rounds_end_at_the_goal_at_the_last_look_or_with_the_budget() {
        let mut schedule = Schedule::new(&[3, 6], 100, u64::MAX, &[1, 1]);
        for _ in 0..3 {
            for _ in 0..2 {
                let (index, _) = schedule.next(0).unwrap();
                if schedule.note(index, 1) {
                    schedule.look(index, index == 0);
                }
            }
        }
        assert_eq!(
            schedule.next(0),
            Some((1, 3)),
            "only the imprecise one goes on"
        );
        schedule.note(1, 1);
        assert_eq!(schedule.next(100), None, "the budget ends it between looks");
    }

    #[test]
    fn the_budget_never_cuts_the_least_number_of_rounds() {
        let mut schedule = Schedule::new(&[3], 0, u64::MAX, &[1]);
        let mut trials = 0;
        while let Some((index, _)) = schedule.next(1_000) {
            if schedule.note(index, 1) {
                schedule.look(index, false);
            }
            trials += 1;
        }
        assert_eq!(trials, 3);
    }

    #[test]
    fn what_lasts_too_long_is_cut_below_the_least_number_of_rounds() {
        let mut schedule = Schedule::new(&[6], 10, 20, &[8, 8]);
        let mut elapsed_ns = 0;
        let mut trials = 0;
        while let Some((index, _)) = schedule.next(elapsed_ns) {
            schedule.note(index, 8);
            elapsed_ns += 8;
            trials += 1;
        }
        assert_eq!(trials, 3, "begun at 0, 8 and 16");
    }

    #[test]
    fn what_remains_is_what_the_next_look_needs_but_not_beyond_the_budget() {
        let mut schedule = Schedule::new(&[3, 12], 10, u64::MAX, &[2]);
        assert_eq!(schedule.remaining_ns(0), 6);
        for _ in 0..3 {
            schedule.next(0);
            if schedule.note(0, 2) {
                schedule.look(0, false);
            }
        }
        assert_eq!(schedule.remaining_ns(6), 4);
    }
}

//! Workloads outside the rounds: reference reads at intervals, and workloads that run once at the end.

use cardmark_core::Workload;

/// A workload outside the rounds.
struct One {
    index: usize,
    /// Interval between trials in nanoseconds; 0 for a single trial at the end.
    every_ns: u64,
    /// Time of the next trial in nanoseconds since the end of the layout.
    due_ns: u64,
    trials_count: u32,
    /// True if the trial after the rounds has begun.
    is_last_begun: bool,
}

/// Workloads of a plan outside its rounds, by their index in the plan.
pub(crate) struct Apart(Vec<One>);

impl Apart {
    pub(crate) fn of(workloads: &[Workload]) -> Self {
        let is_apart = |workload: &Workload| workload.rounds.once || workload.rounds.every_ns > 0;
        let apart = workloads.iter().enumerate().filter(|(_, w)| is_apart(w));
        let mut all: Vec<One> = apart
            .map(|(index, workload)| One {
                index,
                every_ns: workload.rounds.every_ns,
                due_ns: 0,
                trials_count: 0,
                is_last_begun: false,
            })
            .collect();
        // At the end, single trials come before the last reference reads.
        all.sort_by_key(|one| one.every_ns);
        Self(all)
    }

    pub(crate) fn indices(&self) -> Vec<usize> {
        self.0.iter().map(|one| one.index).collect()
    }

    /// Returns a workload that is due `elapsed_ns` after the end of the layout.
    pub(crate) fn due(&mut self, elapsed_ns: u64) -> Option<usize> {
        let is_due = |one: &&mut One| one.every_ns > 0 && elapsed_ns >= one.due_ns;
        let one = self.0.iter_mut().find(is_due)?;
        one.due_ns = elapsed_ns + one.every_ns;
        Some(one.index)
    }

    /// Returns the next workload to run after the rounds.
    pub(crate) fn last(&mut self) -> Option<usize> {
        let one = self.0.iter_mut().find(|one| !one.is_last_begun)?;
        one.is_last_begun = true;
        Some(one.index)
    }

    /// Counts a trial and returns its number, from 0.
    pub(crate) fn note(&mut self, index: usize) -> u32 {
        let Some(one) = self.0.iter_mut().find(|one| one.index == index) else {
            return 0;
        };
        one.trials_count += 1;
        one.trials_count - 1
    }

    /// Removes a workload.
    pub(crate) fn drop_workload(&mut self, index: usize) {
        self.0.retain(|one| one.index != index);
    }

    /// Expected time of the trials after the rounds in nanoseconds.
    pub(crate) fn remaining_ns(&self, expected_ns: &[u64]) -> u64 {
        let left = self.0.iter().filter(|one| !one.is_last_begun);
        left.map(|one| expected_ns[one.index]).sum()
    }
}

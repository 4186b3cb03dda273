//! Workloads that are no part of the rounds: reference reads now and then, and what is done once at the end.

use cardmark_core::Workload;

/// One of them.
struct One {
    index: usize,
    /// 0: once, at the end.
    every_ns: u64,
    /// When it is due again, after the layout's end, nanoseconds.
    due_ns: u64,
    trials_count: u32,
    /// Trials still to be done after the rounds.
    last_count: u32,
}

/// The workloads of a plan that are no part of its rounds, by their index in it.
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
                last_count: 1,
            })
            .collect();
        // At the end, what is done once comes before the last of those that are done again and again.
        all.sort_by_key(|one| one.every_ns);
        Self(all)
    }

    pub(crate) fn indices(&self) -> Vec<usize> {
        self.0.iter().map(|one| one.index).collect()
    }

    /// What is to be done now, so long after the layout's end.
    pub(crate) fn due(&mut self, elapsed_ns: u64) -> Option<usize> {
        let is_due = |one: &&mut One| one.every_ns > 0 && elapsed_ns >= one.due_ns;
        let one = self.0.iter_mut().find(is_due)?;
        one.due_ns = elapsed_ns + one.every_ns;
        Some(one.index)
    }

    /// What is to be done next once the rounds are over.
    pub(crate) fn last(&mut self) -> Option<usize> {
        let one = self.0.iter_mut().find(|one| one.last_count > 0)?;
        one.last_count -= 1;
        Some(one.index)
    }

    /// Notes a trial, and tells its number.
    pub(crate) fn note(&mut self, index: usize) -> u32 {
        let Some(one) = self.0.iter_mut().find(|one| one.index == index) else {
            return 0;
        };
        one.trials_count += 1;
        one.trials_count - 1
    }

    /// Takes a workload out.
    pub(crate) fn drop_workload(&mut self, index: usize) {
        self.0.retain(|one| one.index != index);
    }

    /// What they will take after the rounds, nanoseconds, where each trial takes what is expected.
    pub(crate) fn remaining_ns(&self, expected_ns: &[u64]) -> u64 {
        let each = |one: &One| u64::from(one.last_count) * expected_ns[one.index];
        self.0.iter().map(each).sum()
    }
}

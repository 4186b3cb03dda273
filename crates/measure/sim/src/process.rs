//! Processes of a card beyond its ordinary spans: stalls, freezes, regimes, housekeeping.
//!
//! Each is data of a model (`[[process]]`) and one struct. Most change the work of an operation,
//! one after the other in the order of the file. At most one is driven by the clock: it decides
//! when that work is done. All draw from generators of their own, so that a process changes no
//! draw of a model without it.

mod call;
mod clocked;
mod data;
mod pauses;
mod work;

use cardmark_core::{Flush, Rng, Workload};

use crate::Model;
use crate::service::to_ns;
use call::Process;
pub use call::StallTruth;
pub(crate) use call::{Call, call_of};
use clocked::Clocked;
pub(crate) use data::{ProcessData, process_rules};

/// All processes of one card.
pub(crate) struct Processes {
    works: Vec<Box<dyn Process>>,
    clocked: Option<Clocked>,
    trials: Option<(f64, f64, Rng)>,
}

impl Processes {
    /// The processes of a run. Without a seed: of a run whose own factors are one.
    pub(crate) fn new(model: &Model, seed: Option<u64>) -> Self {
        let mut all = Self {
            works: Vec::new(),
            clocked: None,
            trials: None,
        };
        for (index, data) in (0..).zip(model.processes()) {
            let rng = Rng::for_part(seed.unwrap_or(0), "sim process", index);
            if let ProcessData::SlowTrials { share, rate } = *data {
                all.trials = Some((share, rate, rng));
            } else if let Some(clocked) = Clocked::of(data, &rng) {
                all.clocked = Some(clocked);
            } else if let Some(pauses) = pauses::of(data, &rng) {
                all.works.push(pauses);
            } else if let Some(work) = work::of(data, rng, seed.is_some()) {
                all.works.push(work);
            }
        }
        all
    }

    /// Returns the factor on the rate of the trial that begins.
    pub(crate) fn trial_factor(&mut self) -> f64 {
        let Some((share, rate, rng)) = &mut self.trials else {
            return 1.0;
        };
        if rng.unit() < *share { *rate } else { 1.0 }
    }

    /// Returns the work of an operation, nanoseconds, given its ordinary work.
    #[inline]
    pub(crate) fn work_ns(&mut self, call: &Call, ordinary_ns: f64) -> f64 {
        let works = self.works.iter_mut();
        works.fold(ordinary_ns, |work_ns, work| work.work_ns(call, work_ns))
    }

    /// Returns the completion time of work begun at `start_ns`.
    #[inline]
    pub(crate) fn finish(&mut self, start_ns: u64, work_ns: f64) -> u64 {
        match &mut self.clocked {
            Some(clocked) => clocked.finish(start_ns, work_ns),
            None => start_ns + to_ns(work_ns),
        }
    }

    /// Returns the mean work of an operation of an endless workload, given its ordinary mean.
    pub(crate) fn mean_ns(&self, call: &Call, ordinary_ns: f64, read_share: f64) -> Option<f64> {
        let mut works = self.works.iter();
        works.try_fold(ordinary_ns, |work_ns, work| {
            work.mean_ns(call, work_ns, read_share)
        })
    }

    /// Returns the factor on the rate that the clock and slow trials leave in the long run.
    /// `None` if the rate has no long run.
    pub(crate) fn long_run_factor(&self) -> Option<f64> {
        let clocked = match &self.clocked {
            Some(clocked) => clocked.long_run_factor()?,
            None => 1.0,
        };
        let trials = match &self.trials {
            Some((share, rate, _)) => 1.0 - share * (1.0 - rate),
            None => 1.0,
        };
        Some(clocked * trials)
    }

    /// Returns the factor on the rate in the long run, freezes left out.
    pub(crate) fn body_factor(&self) -> Option<f64> {
        let factor = self.long_run_factor()?;
        let clocked = self.clocked.as_ref();
        Some(match clocked.filter(|clocked| clocked.stalls().is_some()) {
            Some(freezes) => factor / freezes.long_run_factor()?,
            None => factor,
        })
    }

    /// Returns the mean time that an operation spends in its own stalls, nanoseconds.
    pub(crate) fn stalls_ns(&self, call: &Call) -> f64 {
        self.stalls(call)
            .map_or(0.0, |stalls| stalls.per_operation * stalls.mean_ns)
    }

    fn stalls(&self, call: &Call) -> Option<StallTruth> {
        let works = self.works.iter().filter_map(|work| work.stalls(call));
        let clocked = self.clocked.as_ref().and_then(Clocked::stalls);
        works.reduce(StallTruth::with).or(clocked)
    }
}

impl Model {
    /// Returns whether a workload tends to a single rate in an endless measurement, so that a single truth
    /// exists.
    pub fn is_stationary(&self) -> bool {
        let data = self.data();
        let is_even = data.weak.is_none() && data.units.is_none() && data.ftl.is_none();
        let is_whole = data.cache.is_none() && data.heat.is_none() && data.fault.is_none();
        is_even && is_whole && Processes::new(self, None).long_run_factor().is_some()
    }

    /// Returns the stalls of 100 ms and longer that its processes add to a workload of reads or of writes.
    /// `None` if there are none, or the workload is mixed.
    pub fn stalls(&self, workload: &Workload) -> Option<StallTruth> {
        if workload.reads() == workload.writes() || workload.flush == Flush::InSpan {
            return None;
        }
        Processes::new(self, None).stalls(&call_of(workload, workload.reads()))
    }
}

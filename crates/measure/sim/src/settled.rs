//! Truth of a model once it has settled: its cache full, its board at its highest temperature. From its data
//! alone, for the verdicts on classes.

use cardmark_core::Workload;
use cardmark_engine::OpKind;

use crate::Model;
use crate::body::inverse_normal;
use crate::service::Service;
use crate::state::service_of;

/// Cells in which the spans of a window are counted.
const CELLS: usize = 8_192;
/// Nodes at which the swaying is sampled.
const SWAY_NODES: u32 = 64;
/// Share of all runs whose slowest window lies beyond either of the reported ends.
const BEYOND: f64 = 0.001;

/// Ends of the range of a figure in a run whose factor is one, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
}

impl Model {
    /// Operations a second of one kind (all reads or all writes) once the card has settled, in a run
    /// whose factor is one. `None` for models that break
    /// or have processes.
    pub fn settled_operations_per_s(&self, workload: &Workload) -> Option<f64> {
        let busy_count = self.busy_count(workload)?;
        let service = self.service_for(workload);
        let mean_ns = service.mean_ns(workload.block_bytes, busy_count) * self.slowdown(workload);
        Some(busy_count as f64 / mean_ns * 1e9)
    }

    /// Returns the range of the slowest of `windows_count` windows, bytes a second, in all but one of 500 runs,
    /// once the card has settled. Windows are written or read one block at a time.
    pub fn slowest_window(
        &self,
        workload: &Workload,
        window_bytes: u64,
        windows_count: u64,
    ) -> Option<Ends> {
        self.busy_count(workload)?;
        let service = self.service_for(workload);
        let blocks = usize::try_from(window_bytes / workload.block_bytes).ok()?;
        let spans = WindowSpans::new(service, workload.block_bytes, blocks);
        let slowdown = self.slowdown(workload);
        // A window may lie in a slow time as a whole, or sway within it: the truth is between.
        let quantile = |share: f64, rates: &[f64]| {
            let of_one = libm::pow(share, 1.0 / windows_count.max(1) as f64);
            window_bytes as f64 * 1e9 / (slowdown * spans.quantile(of_one, rates))
        };
        let steady = quantile(BEYOND, &[1.0]);
        let swayed = quantile(1.0 - BEYOND, &self.sway_rates());
        Some(Ends {
            low: swayed,
            high: steady,
        })
    }

    /// Returns the number of channels at work; `None` if the model breaks, or the workload is mixed.
    fn busy_count(&self, workload: &Workload) -> Option<usize> {
        let is_plain =
            self.fault().is_none() && self.processes().is_empty() && self.ftl().is_none();
        let is_whole = is_plain && workload.reads() != workload.writes();
        let depth = usize::try_from(workload.queue_depth).ok()?;
        is_whole.then(|| depth.min(self.channels_count()))
    }

    fn service_for(&self, workload: &Workload) -> &Service {
        let kind = if workload.reads() {
            OpKind::Read
        } else {
            OpKind::Write
        };
        service_of(self, kind, workload.order)
    }

    /// Returns the factor by which everything takes longer in the end.
    fn slowdown(&self, workload: &Workload) -> f64 {
        let heat = self.heat();
        let by_heat = if heat.busy_c > heat.limit_c {
            heat.slowdown
        } else {
            1.0
        };
        let by_cache = match self.cache() {
            Some(cache) if workload.writes() => cache.slowdown,
            _ => 1.0,
        };
        by_heat * by_cache
    }

    fn sway_rates(&self) -> Vec<f64> {
        let Some(sway) = self.sway() else {
            return vec![1.0];
        };
        let rate = |node: u32| {
            let share = (f64::from(node) + 0.5) / f64::from(SWAY_NODES);
            libm::exp(sway.deviation * (inverse_normal(share) - 0.5 * sway.deviation))
        };
        (0..SWAY_NODES).map(rate).collect()
    }
}

/// The distribution of the span of a window: that of the sum of its blocks'.
struct WindowSpans {
    cell_ns: f64,
    /// Share of the windows in each cell.
    shares: Vec<f64>,
}

impl WindowSpans {
    fn new(service: &Service, block_bytes: u64, blocks: usize) -> Self {
        let ordinary_ns = service.ordinary_ns(block_bytes, 1);
        let pause_ns = service.stall.map_or(0.0, |stall| stall.longest_ns);
        let longest_ns = ordinary_ns * service.body.largest() + pause_ns;
        let cell_ns = longest_ns * blocks as f64 / CELLS as f64;
        let cells = CELLS / blocks + 2;
        // Cell i holds the values nearest to i times its width, so that sums stay in place.
        let one: Vec<f64> = (0..cells)
            .map(|cell| {
                let (from, to) = (cell as f64 - 0.5, cell as f64 + 0.5);
                let at = |edge: f64| {
                    if edge <= 0.0 {
                        0.0
                    } else {
                        service.share_up_to(ordinary_ns, edge * cell_ns)
                    }
                };
                at(to) - at(from)
            })
            .collect();
        Self {
            cell_ns,
            shares: (1..blocks).fold(one.clone(), |sum, _| convolved(&sum, &one)),
        }
    }

    /// The span that this share of windows does not exceed, nanoseconds, where each rate is met equally
    /// often.
    fn quantile(&self, share: f64, rates: &[f64]) -> f64 {
        let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let (mut low_ns, mut high_ns) = (0.0, self.cell_ns * self.shares.len() as f64 / slowest);
        while high_ns - low_ns > 1_000.0 {
            let middle_ns = 0.5 * (low_ns + high_ns);
            let beyond: f64 = rates.iter().map(|rate| self.beyond(middle_ns * rate)).sum();
            if beyond / rates.len() as f64 > 1.0 - share {
                low_ns = middle_ns;
            } else {
                high_ns = middle_ns;
            }
        }
        0.5 * (low_ns + high_ns)
    }

    /// Share of windows whose span is longer. Summed from the far end, where shares are tiny.
    fn beyond(&self, span_ns: f64) -> f64 {
        let cell = span_ns / self.cell_ns + 0.5;
        let mut shares = self.shares.iter().enumerate().rev();
        let inside =
            |(index, share): (usize, &f64)| share * (index as f64 + 1.0 - cell).clamp(0.0, 1.0);
        let mut sum = 0.0;
        for part in shares.by_ref() {
            if part.0 as f64 + 1.0 <= cell {
                break;
            }
            sum += inside(part);
        }
        sum
    }
}

fn convolved(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; one.len() + other.len() - 1];
    for (at, share) in one.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        for (further, more) in other.iter().enumerate() {
            sum[at + further] += share * more;
        }
    }
    sum
}

//! Truth of a stationary model, from its data alone.
//!
//! The engine refills the queue in no virtual time, so that `k = min(depth, channels)` channels are always at
//! work and each is a renewal process: the long-run rate is `k ÷ mean span`. Sway and trial factors have mean
//! one in the rate and leave it unchanged.

use cardmark_core::{Access, Flush, Workload};
use cardmark_engine::OpKind;

use crate::Model;
use crate::body::inverse_normal;
use crate::process::{Processes, call_of};
use crate::service::Service;
use crate::state::service_of;

/// Nodes at which the swaying is sampled for quantiles.
const SWAY_NODES: u32 = 64;

/// Result of an endless measurement of a workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Bytes per second.
    pub rate_bytes_per_s: f64,
    /// Operations per second.
    pub operations_per_s: f64,
    /// Operations per second between stalls of 100 ms and longer.
    pub body_operations_per_s: f64,
    /// Median latency, nanoseconds; absent where operations wait for one another. It is that of a
    /// trial whose own factor is one.
    pub p50_ns: Option<f64>,
    /// Latency that 99 % of operations stay below, nanoseconds; absent as above.
    pub p99_ns: Option<f64>,
}

impl Truth {
    /// The truth of a run that is faster by this factor.
    #[must_use]
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            rate_bytes_per_s: self.rate_bytes_per_s * factor,
            operations_per_s: self.operations_per_s * factor,
            body_operations_per_s: self.body_operations_per_s * factor,
            p50_ns: self.p50_ns.map(|ns| ns / factor),
            p99_ns: self.p99_ns.map(|ns| ns / factor),
        }
    }
}

/// One kind of operation of a workload.
struct Part<'a> {
    is_read: bool,
    share: f64,
    ordinary_ns: f64,
    service: &'a Service,
}

/// Of a run with that seed; without one, of a run whose factors are one.
pub(crate) fn truth_of(model: &Model, workload: &Workload, seed: Option<u64>) -> Option<Truth> {
    let depth = usize::try_from(workload.queue_depth).ok()?;
    let is_plain = workload.manner.access == Access::Direct
        && workload.flush != Flush::InSpan
        && workload.manner.streams_count == 1;
    if !is_plain
        || !model.is_stationary()
        || depth == 0
        || workload.span_bytes > model.capacity_bytes()
    {
        return None;
    }
    let busy_count = depth.min(model.channels_count());
    let parts = parts_of(model, workload, busy_count);
    let processes = Processes::new(model, seed);
    let read_share = f64::from(workload.read_share_percent) / 100.0;
    let (mut mean_ns, mut stalls_ns) = (0.0, 0.0);
    for part in &parts {
        let ordinary_ns = part.service.mean_ns(workload.block_bytes, busy_count);
        let call = call_of(workload, part.is_read);
        mean_ns += part.share * processes.mean_ns(&call, ordinary_ns, read_share)?;
        stalls_ns += part.share * processes.stalls_ns(&call);
    }
    let per_s = |span_ns: f64| busy_count as f64 / span_ns * 1e9;
    let operations_per_s = per_s(mean_ns) * processes.long_run_factor()?;
    // Quantiles are not worked out for processes.
    let has_quantiles = depth <= model.channels_count() && model.processes().is_empty();
    let latencies = has_quantiles.then(|| Latencies::new(model, &parts));
    Some(Truth {
        rate_bytes_per_s: operations_per_s * workload.block_bytes as f64,
        operations_per_s,
        body_operations_per_s: per_s(mean_ns - stalls_ns) * processes.body_factor()?,
        p50_ns: latencies.as_ref().map(|l| l.quantile(0.5)),
        p99_ns: latencies.as_ref().map(|l| l.quantile(0.99)),
    })
}

fn parts_of<'a>(model: &'a Model, workload: &Workload, busy_count: usize) -> Vec<Part<'a>> {
    let read_share = f64::from(workload.read_share_percent) / 100.0;
    let write = match workload.flush {
        Flush::AfterTrial | Flush::InSpan | Flush::Other(_) => OpKind::Write,
        Flush::EachOperation => OpKind::WriteSync,
    };
    [(OpKind::Read, read_share), (write, 1.0 - read_share)]
        .into_iter()
        .filter(|&(_, share)| share > 0.0)
        .map(|(kind, share)| {
            let service = service_of(model, kind, workload.order);
            let ordinary_ns = service.ordinary_ns(workload.block_bytes, busy_count);
            Part {
                is_read: kind == OpKind::Read,
                share,
                ordinary_ns,
                service,
            }
        })
        .collect()
}

/// The distribution of latencies if no operation waits.
struct Latencies<'a> {
    parts: &'a [Part<'a>],
    /// Rates as the operations meet them, all equally often.
    rates: Vec<f64>,
}

impl<'a> Latencies<'a> {
    fn new(model: &Model, parts: &'a [Part<'a>]) -> Self {
        let Some(sway) = model.sway() else {
            return Self {
                parts,
                rates: vec![1.0],
            };
        };
        // More operations fall into fast times: weighted by the rate, the mean of its logarithm
        // is +σ²/2 where it is -σ²/2 over time.
        let rate = |node: u32| {
            let share = (f64::from(node) + 0.5) / f64::from(SWAY_NODES);
            libm::exp(sway.deviation * (inverse_normal(share) + 0.5 * sway.deviation))
        };
        Self {
            parts,
            rates: (0..SWAY_NODES).map(rate).collect(),
        }
    }

    /// Bisection: the share rises with the span.
    fn quantile(&self, share: f64) -> f64 {
        let (mut low_ns, mut high_ns) = (0.0, self.largest_ns());
        while high_ns - low_ns > 0.01 {
            let middle_ns = 0.5 * (low_ns + high_ns);
            if self.share_up_to(middle_ns) < share {
                low_ns = middle_ns;
            } else {
                high_ns = middle_ns;
            }
        }
        0.5 * (low_ns + high_ns)
    }

    fn largest_ns(&self) -> f64 {
        let slowest = self.rates.iter().copied().fold(f64::INFINITY, f64::min);
        let spans = self.parts.iter().map(|part| {
            let pause_ns = part.service.stall.map_or(0.0, |stall| stall.longest_ns);
            part.ordinary_ns * part.service.body.largest() + pause_ns
        });
        spans.fold(0.0, f64::max) / slowest
    }

    fn share_up_to(&self, span_ns: f64) -> f64 {
        let over_parts = |work_ns: f64| -> f64 {
            self.parts
                .iter()
                .map(|part| part.share * part.share_up_to(work_ns))
                .sum()
        };
        let sum: f64 = self
            .rates
            .iter()
            .map(|rate| over_parts(span_ns * rate))
            .sum();
        sum / self.rates.len() as f64
    }
}

impl Part<'_> {
    /// Share of these operations with at most this much work.
    fn share_up_to(&self, work_ns: f64) -> f64 {
        self.service.share_up_to(self.ordinary_ns, work_ns)
    }
}

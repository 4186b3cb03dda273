//! Stalls that become more frequent with recent writes.

use cardmark_core::{Finding, FindingKind, Order, SECOND_NS, Severity, Trial};

use crate::course::stops::{Stop, ramp_stop, stops_in};
use crate::derivation::derive::Derived;

/// Quantile of the normal distribution above which stalls depend on recent writes: one-sided 10 % for each of two
/// exposures, which must agree. Together they find what is not there in less than 5 % of runs ("Growing stalls").
pub(crate) const GROWTH_QUANTILE: f64 = 1.282;
/// Minimum growth of the share of time in stalls, from the rounds to the continuous block, for a finding.
pub(crate) const LEAST_GROWTH: f64 = 0.04;
/// Time after which a write counts 1/e as recent, nanoseconds.
pub(crate) const RECENT_NS: f64 = 4_000_000_000.0;
/// Length of the pieces of a trial that are taken as independent, nanoseconds.
pub(crate) const PIECE_NS: u64 = 2_500_000_000;

/// Writes whose stalls have one rate if they do not depend on what was written before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stratum {
    /// The layout of the file.
    Layout,
    /// Small random writes in rounds.
    Rounds,
    /// Small random writes without a break.
    Block,
}

impl Stratum {
    /// True if stalls of both are compared with each other. The layout allocates, so that it may stall at a rate of its own.
    fn is_comparable(self, other: Self) -> bool {
        (self == Self::Layout) == (other == Self::Layout)
    }

    /// Returns the stratum of a trial; `None` if its stalls do not count.
    fn of(one: &Derived<'_>, trial: &Trial) -> Option<Self> {
        match (is_small_write(one), one.workload.rounds.once) {
            _ if trial.layout => is_single_write(one).then_some(Self::Layout),
            (true, true) => Some(Self::Block),
            (true, false) => Some(Self::Rounds),
            (false, _) => None,
        }
    }
}

/// A slice of writes, or a ramp.
#[derive(Clone, Copy, Debug)]
struct Cell {
    stratum: Stratum,
    /// Share of recent time in which the storage was written to, at its begin.
    recent: f64,
    /// Stalls that began in it.
    count: f64,
    /// Time without stalls, nanoseconds.
    body_ns: f64,
    /// Number of writes.
    writes: f64,
    /// Time in stalls, nanoseconds.
    stalled_ns: f64,
    /// Number of the piece that it belongs to.
    piece: u64,
}

/// Returns a finding if the small random writes of the run stalled the more often the more was written just before, and
/// the continuous block was in stalls for clearly more of its time than the rounds.
///
/// A score test for a rate of stalls that rises with the share of recent time spent writing, over the slices of these
/// writes and those of the layout, each with a rate of its own. It is done per time and per write, so that neither a card
/// that stalls by the clock nor one that stalls by the amount is found. A stall counts at its begin: it is writing itself,
/// so that it would seem to follow recent writes if it counted at its end.
/// Its variance is that of a Poisson process, or that between pieces of 2.5 s if it is larger: stalls may come in bursts.
pub(crate) fn growing_stalls(derived: &[Derived<'_>]) -> Option<Finding> {
    let block = derived
        .iter()
        .find(|one| one.workload.rounds.once && is_small_write(one))?;
    let cells = cells(derived);
    let part = |stratum: Stratum| {
        let cells = cells.iter().filter(move |cell| cell.stratum == stratum);
        cells.fold((0.0, 0.0, 0.0), |(count, body_ns, stalled_ns), cell| {
            (
                count + cell.count,
                body_ns + cell.body_ns,
                stalled_ns + cell.stalled_ns,
            )
        })
    };
    let [separate, continuous] = [part(Stratum::Rounds), part(Stratum::Block)];
    let stalled_ratio =
        |(_, body_ns, stalled_ns): (f64, f64, f64)| stalled_ns / (body_ns + stalled_ns).max(1.0);
    let growth = stalled_ratio(continuous) - stalled_ratio(separate);
    let depends = |exposure: fn(&Cell) -> f64| score(&cells, exposure) > GROWTH_QUANTILE;
    let grows =
        growth >= LEAST_GROWTH && depends(|cell| cell.body_ns) && depends(|cell| cell.writes);
    grows.then(|| {
        let per_minute = |(count, body_ns, stalled_ns): (f64, f64, f64)| {
            60.0 * SECOND_NS as f64 * count / (body_ns + stalled_ns).max(1.0)
        };
        let detail = format!(
            "stalls became more frequent while it was written to without a break: {:.0} a minute of writing, after {:.0} \
             in separate trials",
            per_minute(continuous),
            per_minute(separate)
        );
        let mut finding = Finding::new(FindingKind::NotSettled, Severity::Warning, detail);
        finding.workloads = touched(derived, block);
        finding.advise("these rates hold for writes with breaks; a card that is written to all the time is slower")
    })
}

fn is_small_write(one: &Derived<'_>) -> bool {
    one.workload.order == Order::Random && is_single_write(one)
}

/// True if it writes in one stream of plain operations.
fn is_single_write(one: &Derived<'_>) -> bool {
    let workload = one.workload;
    workload.writes() && workload.manner.streams_count == 1 && workload.procedure.is_none()
}

/// Workloads whose rates are too high: separate writes with the block's pattern, and others that stalled.
fn touched(derived: &[Derived<'_>], block: &Derived<'_>) -> Vec<String> {
    let is_touched = |one: &&Derived<'_>| {
        let stalls = one.trials.iter().map(|trial| in_trial(trial).len());
        let is_alike = is_small_write(one)
            && one.workload.queue_depth == block.workload.queue_depth
            && one.workload.flush == block.workload.flush
            && one.workload.read_share_percent == block.workload.read_share_percent;
        let is_written = one.workload.writes() && !one.workload.rounds.once;
        is_written && (is_alike || stalls.sum::<usize>() > 0)
    };
    let touched = derived.iter().filter(is_touched);
    touched.map(|one| one.workload.id.clone()).collect()
}

/// Stalls within the timed span of a trial; those that overlap count once, as in a deep queue.
fn in_trial(trial: &Trial) -> Vec<Stop> {
    let mut all: Vec<Stop> = Vec::new();
    for stop in stops_in(trial) {
        match all.last_mut() {
            Some(last) if stop.begin_ns() < last.end_ns => {
                let begin_ns = last.begin_ns().min(stop.begin_ns());
                last.end_ns = stop.end_ns;
                last.length_ns = stop.end_ns.saturating_sub(begin_ns);
            }
            _ => all.push(stop),
        }
    }
    all
}

/// Share of recent time in which the storage was written to, over the run.
#[derive(Default)]
struct Recent {
    share: f64,
    at_ns: u64,
}

impl Recent {
    /// Moves on to a time; `writing` is the share of writes since the last one.
    fn pass(&mut self, to_ns: u64, writing: f64) {
        let span_ns = to_ns.saturating_sub(self.at_ns) as f64;
        self.share = writing + (self.share - writing) * libm::exp(-span_ns / RECENT_NS);
        self.at_ns = self.at_ns.max(to_ns);
    }
}

/// The slices of the layout and of all small random writes, with what was written before them by any workload.
fn cells(derived: &[Derived<'_>]) -> Vec<Cell> {
    let trials = derived
        .iter()
        .flat_map(|one| one.trials.iter().map(move |trial| (one, *trial)));
    let mut trials: Vec<(&Derived<'_>, &Trial)> = trials.collect();
    trials.sort_by_key(|(_, trial)| trial.started_ns);
    let (mut recent, mut cells, mut piece) = (Recent::default(), Vec::new(), 0);
    for (one, trial) in trials {
        let writing = 1.0 - f64::from(trial.workload.read_share_percent) / 100.0;
        let ramp_ns = trial.untimed.unwrap_or_default().ramp_span_ns;
        recent.pass(trial.started_ns.saturating_sub(ramp_ns), 0.0);
        if let Some(stratum) = Stratum::of(one, trial) {
            let mut place = Place {
                stratum,
                writing,
                piece: piece + 1,
            };
            cells.extend(ramp(trial, place, recent.share));
            recent.pass(trial.started_ns, writing);
            cells.extend(of_trial(trial, &mut place, &mut recent));
            piece = place.piece;
        }
        recent.pass(trial.started_ns, writing);
        recent.pass(trial.started_ns.saturating_add(trial.span_ns), writing);
    }
    cells
}

/// Place of a trial's cells among those of the run.
#[derive(Clone, Copy)]
struct Place {
    stratum: Stratum,
    /// Share of writes among the operations.
    writing: f64,
    /// Number of the piece.
    piece: u64,
}

/// The ramp of a trial, with at most one stall. It begins after other work.
fn ramp(trial: &Trial, place: Place, recent: f64) -> Option<Cell> {
    let untimed = trial.untimed.filter(|untimed| untimed.ramp_span_ns > 0)?;
    let stop = ramp_stop(trial);
    let stalled_ns = stop
        .map_or(0, |stop| stop.length_ns)
        .min(untimed.ramp_span_ns) as f64;
    Some(Cell {
        stratum: place.stratum,
        recent,
        count: f64::from(u8::from(stop.is_some())),
        body_ns: untimed.ramp_span_ns as f64 - stalled_ns,
        writes: untimed.ramp_operations_count as f64 * place.writing,
        stalled_ns,
        piece: place.piece,
    })
}

fn of_trial(trial: &Trial, place: &mut Place, recent: &mut Recent) -> Vec<Cell> {
    let slice_ns = trial.slice_span_ns.max(1);
    let ended_ns = trial.started_ns.saturating_add(trial.span_ns);
    let stops = in_trial(trial);
    let first_piece = place.piece;
    let each = (0_u64..).zip(&trial.slices);
    each.map(|(number, slice)| {
        let after_ns = number.saturating_mul(slice_ns);
        let from_ns = trial.started_ns.saturating_add(after_ns);
        let to_ns = from_ns.saturating_add(slice_ns).min(ended_ns);
        // A stop takes the time of all slices between its ends.
        let within = |stop: &Stop| {
            stop.end_ns
                .min(to_ns)
                .saturating_sub(stop.begin_ns().max(from_ns)) as f64
        };
        let stalled_ns = stops.iter().map(within).sum::<f64>();
        let begins = stops
            .iter()
            .map(|stop| stop.begin_ns().max(trial.started_ns))
            .filter(|begin_ns| (from_ns..to_ns).contains(begin_ns));
        place.piece = first_piece + after_ns / PIECE_NS;
        let cell = Cell {
            stratum: place.stratum,
            recent: recent.share,
            count: begins.count() as f64,
            body_ns: (to_ns.saturating_sub(from_ns) as f64 - stalled_ns).max(0.0),
            writes: slice.1 as f64 * place.writing,
            stalled_ns,
            piece: place.piece,
        };
        recent.pass(to_ns, place.writing);
        cell
    })
    .collect()
}

/// Score of a rate of stalls that rises with recent writes, in standard deviations; 0 without stalls.
fn score(cells: &[Cell], exposure: fn(&Cell) -> f64) -> f64 {
    let [layout, small] = [Stratum::Layout, Stratum::Block].map(|stratum| {
        let comparable = cells
            .iter()
            .filter(|cell| cell.stratum.is_comparable(stratum));
        Expected::of(comparable, exposure)
    });
    let (mut score, mut poisson, mut between) = (0.0, 0.0, 0.0);
    for piece in cells.chunk_by(|one, next| one.piece == next.piece) {
        let mut of_piece = 0.0;
        for cell in piece {
            let expected = match cell.stratum {
                Stratum::Layout => layout,
                Stratum::Rounds | Stratum::Block => small,
            };
            let count = expected.rate * exposure(cell);
            let off = cell.recent - expected.recent;
            of_piece += (cell.count - count) * off;
            poisson += count * off * off;
        }
        score += of_piece;
        between += of_piece * of_piece;
    }
    let variance = f64::max(poisson, between);
    if variance > 0.0 {
        score / libm::sqrt(variance)
    } else {
        0.0
    }
}

/// Stalls of comparable cells, if they do not depend on recent writes.
#[derive(Clone, Copy, Default)]
struct Expected {
    /// Stalls per unit of exposure.
    rate: f64,
    /// Mean recent share, weighted with the exposure.
    recent: f64,
}

impl Expected {
    fn of<'a>(cells: impl Iterator<Item = &'a Cell>, exposure: fn(&Cell) -> f64) -> Self {
        let (mut count, mut all, mut recent) = (0.0, 0.0, 0.0);
        for cell in cells {
            let exposure = exposure(cell);
            count += cell.count;
            all += exposure;
            recent += exposure * cell.recent;
        }
        if all <= 0.0 {
            return Self::default();
        }
        Self {
            rate: count / all,
            recent: recent / all,
        }
    }
}

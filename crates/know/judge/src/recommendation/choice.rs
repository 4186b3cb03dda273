//! The choice: products with their grade, in order.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use cardmark_catalog::{
    PackageClaim, Product, ProductKind, ProductLine, QueueGain, QueueState, Requirement, Use,
    endurance_promises, lines, lines_of, queue_gains,
};
use cardmark_stats::{Ranked, possible_places};
use serde::Serialize;

use super::asked::{AskedBoard, slots};
use super::evidence::{Evidence, Figure, Gathered, Set, gather};
use super::met::{Basis, Case, Met, classes_of, classes_of_line, met, scarcest};
use super::sold::{Sold, Tier, queue_state, sold, tier};
use super::{Band, Question};
use crate::price::Price;
use crate::suitability::USABLE_RATIO;

/// Minimum share of the wanted capacity: devices report less than their label promises.
const CAPACITY_RATIO: f64 = 0.9;
/// The use for which a board must start from the product.
const BOOT: &str = "boot";
/// Weight from which on a need decides about a use.
const DECIDING_WEIGHT: f64 = 0.4;
/// Part of a rate that rounding of a mean may take away.
const ROUNDING: f64 = 1e-9;

/// Suitability of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// The low end of each rate that decides is enough.
    Suits,
    /// The high end of each is, but not each low end.
    MaySuit,
    /// A high end is too low.
    TooSlow,
    /// A rate that decides is unknown.
    Unknown,
}

/// Reason for which a product is beside the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Beside {
    /// A rate that decides is unknown.
    Rate,
    /// Its kind is unknown.
    Kind,
    /// Its capacity is unknown, and one is asked for.
    Capacity,
}

/// Reason for which a product cannot be used on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unfit {
    /// The board cannot boot from it.
    Boot,
    /// An eMMC without a socket on the board, or soldered to another one.
    Socket,
}

/// A product.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Name of the product, or of the line if only its label is known.
    pub product: String,
    /// Kind of product, if the catalogue contains it.
    pub kind: Option<ProductKind>,
    /// Capacity on its label.
    pub capacity_bytes: Option<u64>,
    /// Price entered by the user.
    pub price: Option<Price>,
    /// Its suitability.
    pub grade: Grade,
    /// Reason for which it is beside the order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
    /// True if it has no price, and a budget is asked for.
    #[serde(skip)]
    pub is_unpriced: bool,
    #[serde(skip)]
    unfit: Option<Unfit>,
    /// Its sale, as far as known.
    pub sold: Sold,
    /// The least direct basis among the rates that decide.
    pub basis: Basis,
    /// The needs with a known rate, in the order of the use.
    pub needs: Vec<Met>,
    /// First and last possible place by the scarcest rate, from 1, for another card of the product and, between figures of two
    /// boards, on other boards; absent without an order.
    pub places: Option<[usize; 2]>,
    /// Slots of the boards for which that holds, if no board is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<Band>,
    /// State of its command queue, if known.
    pub queue: Option<QueueState>,
    /// Factor by which the queue raises the random writes on this board, if it is off as installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_gain: Option<f64>,
}

impl Candidate {
    /// Returns the need whose rate is the smallest share of what is enough, among those that decide.
    #[must_use]
    pub fn scarcest(&self) -> Option<&Met> {
        scarcest(&self.needs)
    }

    /// Returns the most runs and the most cards behind one of its figures.
    #[must_use]
    pub fn counts(&self) -> [usize; 2] {
        let most = |of: fn(&Met) -> usize| self.needs.iter().map(of).max().unwrap_or(0);
        [most(|met| met.runs_count), most(|met| met.cards_count)]
    }

    /// Returns the sources of its figures.
    #[must_use]
    pub fn sources(&self) -> Vec<&str> {
        let sources = self.needs.iter().flat_map(|met| &met.sources);
        let sources: BTreeSet<&str> = sources.map(String::as_str).collect();
        sources.into_iter().collect()
    }

    /// True if a figure that decides is of uneven runs.
    #[must_use]
    pub fn is_rough(&self) -> bool {
        self.needs
            .iter()
            .any(|met| met.is_deciding && met.is_uneven)
    }

    /// True if speed can put the two in order: figures of different methods, or with and without a queue, cannot.
    #[must_use]
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.group().cmp(&other.group()).is_eq()
    }

    /// Sale, basis and methods, by which products are ordered before their speed.
    fn standing(&self) -> impl Ord {
        let year = match self.sold.tier {
            Tier::Older => Reverse(self.sold.tested),
            _ => Reverse(None),
        };
        let deciding = self.needs.iter().filter(|met| met.is_deciding);
        let ways: Vec<Option<&str>> = deciding.map(|met| met.stand_in).collect();
        let (tier, basis) = (self.sold.tier, self.basis);
        // Of those that may suit, one that is known to miss a rate does not lead.
        let is_short = |met: &Met| met.high.is_some_and(|high| high < met.asked);
        let is_short = self.grade == Grade::MaySuit && self.needs.iter().any(is_short);
        let wished = (self.family(), is_short, self.is_unpriced);
        (self.grade, wished, tier, year, basis, self.band, ways)
    }

    /// Kinds that are in one order: sale and speed of others are not compared.
    fn family(&self) -> Option<ProductKind> {
        self.kind.map(|kind| match kind {
            ProductKind::Sd => ProductKind::Microsd,
            ProductKind::SataSsd | ProductKind::Nvme => ProductKind::UsbSsd,
            kind => kind,
        })
    }

    /// True if both are cards, SSDs or of another kind that is in one order.
    #[must_use]
    pub fn is_of_kind(&self, other: &Self) -> bool {
        self.family() == other.family()
    }

    fn group(&self) -> impl Ord {
        let mut deciding = self.needs.iter().filter(|met| met.is_deciding);
        (self.standing(), deciding.any(|met| met.is_queued))
    }
}

/// A line that is sold, but without published figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SoldLine {
    /// Id of the line.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Last day, month or year at which a source showed it in shops.
    pub known_sold: String,
}

/// A rate that decides, without a published figure as the use needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lack {
    /// Name of the need.
    pub need: String,
    /// The operations in plain words.
    pub plain: String,
    /// True if there is no figure of it on any board.
    pub is_anywhere: bool,
}

/// Numbers of products and runs that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Products of other kinds.
    pub other_kinds_count: usize,
    /// Products below the wanted capacity.
    pub too_small_count: usize,
    /// Products from which the board cannot boot.
    pub no_boot_count: usize,
    /// eMMC that is not for the board.
    pub no_socket_count: usize,
    /// Products above the budget.
    pub too_dear_count: usize,
    /// Runs of unknown products.
    pub nameless_runs_count: usize,
    /// Runs of simulated cards, which cannot be bought.
    pub simulated_runs_count: usize,
}

/// The cheapest product that is enough.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestValue {
    /// Index of it among those that suit.
    pub cheapest: usize,
    /// Index of the cheapest of those before it.
    pub next_better: Option<usize>,
    /// Number of products that suit and have no price.
    pub unpriced_count: usize,
}

/// Products for a use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The board; absent if none was asked for, or it is unknown.
    pub board: Option<AskedBoard>,
    /// True if the board that was asked for is unknown.
    pub is_board_unknown: bool,
    /// Products that suit, the best first.
    pub first: Vec<Candidate>,
    /// Products that may suit, the best first.
    pub may_suit: Vec<Candidate>,
    /// Products that are too slow, the fastest first.
    pub too_slow: Vec<Candidate>,
    /// Products beside the order, by name.
    pub beside: Vec<Candidate>,
    /// Lines that are sold, without published figures.
    pub sold_untested: Vec<SoldLine>,
    /// Rates without published figures.
    pub lacks: Vec<Lack>,
    /// The cheapest that is enough, if that is asked for and a product has a price.
    pub value: Option<BestValue>,
    /// Numbers of products and runs without a place in the lists.
    pub left_out: LeftOut,
}

impl Choice {
    /// True if no product can be recommended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.first.is_empty() && self.may_suit.is_empty()
    }

    /// Returns those that suit, or else those that may.
    #[must_use]
    pub fn best(&self) -> &[Candidate] {
        match self.first.is_empty() {
            true => &self.may_suit,
            false => &self.first,
        }
    }

    /// Returns the product of this name; `None` if it was left out.
    #[must_use]
    pub fn of(&self, product: &str) -> Option<&Candidate> {
        let lists = [&self.first, &self.may_suit, &self.too_slow, &self.beside];
        let mut all = lists.into_iter().flatten();
        all.find(|one| one.product == product)
    }
}

/// Chooses products for a use.
#[must_use]
pub fn recommend(figures: &[Figure], question: &Question) -> Choice {
    let gathered = gather(figures, question.wanted);
    let measured = gathered.boards.iter().map(String::as_str);
    let board = question.board.as_deref();
    let board = board.and_then(|name| AskedBoard::find(name, measured));
    let mut left_out = LeftOut {
        nameless_runs_count: gathered.nameless_count,
        simulated_runs_count: gathered.simulated_count,
        ..LeftOut::default()
    };
    let products = gathered.products.iter();
    let mut all: Vec<Candidate> = products
        .map(|evidence| of_product(evidence, board.as_ref(), question))
        .collect();
    let (labelled, sold_untested) = untested(&gathered, board.as_ref(), question);
    all.extend(labelled);
    all.retain(|one| left_out.keeps(one, question));
    let lacks = lacks(&all, question.wanted);
    let (beside, graded): (Vec<_>, Vec<_>) = all.into_iter().partition(|it| it.beside.is_some());
    let of_grade = |grade| {
        let graded = graded.iter().filter(|one| one.grade == grade);
        in_order(graded.cloned().collect())
    };
    let mut first = of_grade(Grade::Suits);
    let mut may_suit = of_grade(Grade::MaySuit);
    if board.is_some() {
        share_places(&mut first);
        share_places(&mut may_suit);
    }
    Choice {
        is_board_unknown: board.is_none() && question.board.is_some(),
        board,
        value: value(&first, question),
        first,
        may_suit,
        too_slow: of_grade(Grade::TooSlow),
        beside: in_order(beside),
        sold_untested,
        lacks,
        left_out,
    }
}

impl LeftOut {
    /// True if a product fits the wishes; counts it otherwise.
    fn keeps(&mut self, one: &Candidate, question: &Question) -> bool {
        let kinds = question.kinds();
        if !kinds.is_empty() && one.kind.is_some_and(|kind| !kinds.contains(&kind)) {
            self.other_kinds_count += 1;
            return false;
        }
        if let Some(reason) = one.unfit {
            match reason {
                Unfit::Boot => self.no_boot_count += 1,
                Unfit::Socket => self.no_socket_count += 1,
            }
            return false;
        }
        let least = question
            .wish
            .capacity_bytes
            .map(|it| CAPACITY_RATIO * it as f64);
        let capacity = one.capacity_bytes.map(|bytes| bytes as f64);
        if least.zip(capacity).is_some_and(|(least, own)| own < least) {
            self.too_small_count += 1;
            return false;
        }
        let budget = question.wish.budget.as_ref();
        let is_within = budget.zip(one.price.as_ref());
        if is_within.and_then(|(budget, price)| price.is_within(budget)) == Some(false) {
            self.too_dear_count += 1;
            return false;
        }
        true
    }
}

/// Returns the needs without which a use cannot be judged: those of the largest weight, and of at least 40 %.
fn is_deciding(wanted: &Use, need: &Requirement) -> bool {
    let weights = wanted.needs.iter().map(|need| need.weight);
    need.weight >= weights.fold(0.0, f64::max).min(DECIDING_WEIGHT)
}

/// The product on the board that is asked for, or in the slowest slot that it suits.
fn of_product(evidence: &Evidence, board: Option<&AskedBoard>, question: &Question) -> Candidate {
    let known = evidence.known;
    let queue = queue_state(known);
    let lines = known.map(lines_of).unwrap_or_default();
    let classes = known.map(classes_of).unwrap_or_default();
    let kind = known.map(|product| product.kind);
    let (needs, band) = on_board(board, question.wanted, |asked| {
        let case = Case {
            asked,
            kind,
            queue,
            lines: &lines,
        };
        needs(&case, &evidence.sets, question.wanted, &classes)
    });
    let tested = needs.iter().filter_map(|met| met.year).max();
    let sold = sold(&lines, tested, question.today);
    let mut candidate = candidate(evidence.product.clone(), needs, sold, question);
    candidate.kind = kind;
    candidate.unfit = match known.filter(|one| one.kind == ProductKind::EmbeddedMmc) {
        Some(known) => (!has_place(known, evidence, board)).then_some(Unfit::Socket),
        None => kind.and_then(|kind| unfit(kind, board, question)),
    };
    candidate.capacity_bytes = known.and_then(|product| product.capacity_bytes);
    candidate.band = band;
    candidate.queue = queue;
    candidate.queue_gain = board
        .filter(|board| board.has_trusted_queues && queue != Some(QueueState::Trusted))
        .and_then(|board| gain(known.map(queue_gains)?, board));
    candidate.beside = beside(&candidate, question);
    candidate
}

/// The reason for which no product of a kind can be used on the board.
fn unfit(kind: ProductKind, board: Option<&AskedBoard>, question: &Question) -> Option<Unfit> {
    let board = board?;
    let has_socket = || board.known.iter().any(|one| one.has_emmc_socket());
    if kind == ProductKind::EmbeddedMmc {
        return (!has_socket()).then_some(Unfit::Socket);
    }
    let is_boot = question.wanted.id == BOOT;
    (is_boot && board.has_no_usb_boot() && board.is_at_usb(kind)).then_some(Unfit::Boot)
}

/// True if the board has a place for this eMMC, or is the one to which it is soldered.
fn has_place(known: &Product, evidence: &Evidence, board: Option<&AskedBoard>) -> bool {
    let Some(board) = board else {
        return known.part_of.is_none();
    };
    let mut places = evidence
        .sets
        .iter()
        .filter_map(|set| set.place.board.as_deref());
    match &known.part_of {
        Some(id) => board.known.iter().any(|one| one.id == *id),
        None => {
            let has_socket = board.known.iter().any(|one| one.has_emmc_socket());
            has_socket || places.any(|model| board.is_it(model))
        }
    }
}

/// Factor of the random writes with the queue on, on this board.
fn gain(gains: Vec<QueueGain>, board: &AskedBoard) -> Option<f64> {
    let is_here = |gain: &QueueGain| gain.board.is_some_and(|model| board.is_it(model));
    let writes = |gain: &QueueGain| gain.metric == "agnostics_rand_write";
    let mut gains = gains.into_iter();
    let gain = gains.find(|gain| is_here(gain) && writes(gain))?;
    Some(gain.factor())
}

/// The needs on the board that is asked for, or else the worst of all slots from the slowest one on from which no
/// faster slot is graded worse than the fastest.
fn on_board(
    board: Option<&AskedBoard>,
    wanted: &Use,
    needs_on: impl Fn(&AskedBoard) -> Vec<Met>,
) -> (Vec<Met>, Option<Band>) {
    if let Some(asked) = board {
        return (needs_on(asked), None);
    }
    let slots = slots();
    let in_slot = |slot: &u64| {
        let needs = needs_on(&AskedBoard::slot(Some(*slot)));
        (grade(&needs, wanted), needs)
    };
    let mut graded: Vec<(Grade, Vec<Met>)> = slots.iter().map(in_slot).collect();
    let best = graded.last().map_or(Grade::Unknown, |(grade, _)| *grade);
    let is_worse = graded.iter().rposition(|(grade, _)| *grade > best);
    let start = is_worse.map_or(0, |index| index + 1);
    let least = |needs: &[Met]| {
        let deciding = needs.iter().filter(|met| met.is_deciding);
        let shares = deciding.map(|met| met.low.unwrap_or(0.0) / met.enough);
        shares.fold(f64::INFINITY, f64::min)
    };
    let worst = graded
        .drain(start..)
        // Of equals the first: the slowest slot.
        .min_by(|(one, needs), (other, others)| {
            let by_rate = || least(needs).total_cmp(&least(others));
            other.cmp(one).then_with(by_rate)
        });
    let band = slots.get(start).map(|slot| Band {
        slot_bytes_per_s: *slot,
        is_any: start == 0,
    });
    (worst.map(|(_, needs)| needs).unwrap_or_default(), band)
}

/// The needs with a known rate.
fn needs(case: &Case<'_>, sets: &[Set], wanted: &Use, classes: &[String]) -> Vec<Met> {
    let of_need = |(index, need): (usize, &Requirement)| {
        let sets: Vec<&Set> = sets.iter().filter(|set| set.way.need == index).collect();
        met(case, &sets, need, is_deciding(wanted, need), classes)
    };
    wanted
        .needs
        .iter()
        .enumerate()
        .filter_map(of_need)
        .collect()
}

fn candidate(product: String, needs: Vec<Met>, sold: Sold, question: &Question) -> Candidate {
    let deciding = needs.iter().filter(|met| met.is_deciding);
    let basis = deciding.map(|met| met.basis).max();
    let basis = basis.or_else(|| needs.iter().map(|met| met.basis).max());
    Candidate {
        is_unpriced: question.wish.budget.is_some() && !question.wish.prices.contains_key(&product),
        unfit: None,
        price: question.wish.prices.get(&product).cloned(),
        product,
        kind: None,
        capacity_bytes: None,
        grade: grade(&needs, question.wanted),
        beside: None,
        sold,
        basis: basis.unwrap_or(Basis::Elsewhere),
        needs,
        places: None,
        band: None,
        queue: None,
        queue_gain: None,
    }
}

fn beside(candidate: &Candidate, question: &Question) -> Option<Beside> {
    if candidate.grade == Grade::Unknown {
        Some(Beside::Rate)
    } else if candidate.kind.is_none() && !question.kinds().is_empty() {
        Some(Beside::Kind)
    } else if candidate.capacity_bytes.is_none() && question.wish.capacity_bytes.is_some() {
        Some(Beside::Capacity)
    } else {
        None
    }
}

/// Grade of a product with these needs.
fn grade(needs: &[Met], wanted: &Use) -> Grade {
    let deciding = || needs.iter().filter(|met| met.is_deciding);
    let all = wanted.needs.iter();
    let count = all.filter(|need| is_deciding(wanted, need)).count();
    if deciding().count() < count || deciding().any(|met| met.low.is_none()) {
        return Grade::Unknown;
    }
    let least = |met: &Met| match met.is_deciding {
        true => met.asked * (1.0 - ROUNDING),
        false => met.asked * USABLE_RATIO * (1.0 - ROUNDING),
    };
    let reaches = |rate: Option<f64>, met: &Met| rate.is_none_or(|rate| rate >= least(met));
    let is_low_enough = |met: &Met| reaches(met.low, met);
    if needs.iter().all(is_low_enough) {
        Grade::Suits
    } else if needs.iter().all(|met| reaches(met.high, met)) {
        Grade::MaySuit
    } else {
        Grade::TooSlow
    }
}

/// Lines that are sold and have no product with a figure: those whose label is enough, and the others.
fn untested(
    gathered: &Gathered,
    board: Option<&AskedBoard>,
    question: &Question,
) -> (Vec<Candidate>, Vec<SoldLine>) {
    let tested = gathered.products.iter().filter_map(|one| one.known);
    let tested: BTreeSet<&str> = tested
        .flat_map(lines_of)
        .map(|line| line.id.as_str())
        .collect();
    let kinds = question.kinds();
    let is_wanted = |line: &&ProductLine| {
        let is_of_kind = kinds.is_empty() || kinds.contains(&line.kind);
        is_of_kind
            && unfit(line.kind, board, question).is_none()
            && tier(line, question.today) == Tier::Sold
            && !tested.contains(line.id.as_str())
    };
    let (mut labelled, mut others) = (Vec::new(), Vec::new());
    let least = question.wish.capacity_bytes;
    let is_too_small =
        |line| least.is_some_and(|least| has_capacity(line, 0) && !has_capacity(line, least));
    for line in lines().iter().filter(is_wanted) {
        match by_label(line, board, question) {
            Some(candidate) => labelled.push(candidate),
            None if is_too_small(line) => {}
            None => others.push(SoldLine {
                id: line.id.clone(),
                name: line.name(),
                known_sold: line.known_sold.clone().unwrap_or_default(),
            }),
        }
    }
    (labelled, others)
}

/// A line whose label promises all that decides.
fn by_label(
    line: &'static ProductLine,
    board: Option<&AskedBoard>,
    question: &Question,
) -> Option<Candidate> {
    let classes = classes_of_line(line);
    let (needs, band) = on_board(board, question.wanted, |asked| {
        let case = Case {
            asked,
            kind: Some(line.kind),
            queue: None,
            lines: &[line],
        };
        needs(&case, &[], question.wanted, &classes)
    });
    let sold = sold(&[line], None, question.today);
    let mut candidate = candidate(line.name(), needs, sold, question);
    candidate.kind = Some(line.kind);
    candidate.band = band;
    // Its year is no later than that of a test, because there is none.
    candidate.sold.tier = Tier::Sold;
    candidate.sold.known_sold.clone_from(&line.known_sold);
    let least = question.wish.capacity_bytes;
    candidate.beside = least
        .filter(|least| !has_capacity(line, *least))
        .map(|_| Beside::Capacity);
    (candidate.grade == Grade::Suits).then_some(candidate)
}

/// True if a source names a card of the line with at least this capacity.
fn has_capacity(line: &ProductLine, least_bytes: u64) -> bool {
    let promises = endurance_promises().iter();
    let promises = promises.filter(|one| one.line.as_ref() == Some(&line.id));
    let labels = line.claims.iter().flat_map(PackageClaim::capacities_bytes);
    let mut all = promises.filter_map(|one| one.capacity_bytes).chain(labels);
    all.any(|bytes| bytes >= least_bytes)
}

/// Sorts by group, then by the scarcest rate. Of groups with and without a queue, the one with the fastest product is first;
/// of kinds, the one whose first product is best known, then fastest.
fn in_order(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let share = |one: &Candidate| one.scarcest().map_or(0.0, Met::share);
    candidates.sort_by(|a, b| {
        let by_group: Ordering = a.group().cmp(&b.group());
        by_group
            .then_with(|| share(b).total_cmp(&share(a)))
            .then_with(|| a.product.cmp(&b.product))
    });
    let mut groups: Vec<&[Candidate]> = candidates.chunk_by(Candidate::is_comparable).collect();
    groups.sort_by(|a, b| {
        let by_standing = a[0].standing().cmp(&b[0].standing());
        by_standing.then_with(|| share(&b[0]).total_cmp(&share(&a[0])))
    });
    let candidates = groups.concat();
    let mut kinds: Vec<&[Candidate]> = candidates.chunk_by(Candidate::is_of_kind).collect();
    kinds.sort_by(|a, b| {
        let key = |one: &Candidate| (one.grade, one.is_unpriced, one.basis);
        let by_basis = key(&a[0]).cmp(&key(&b[0]));
        by_basis.then_with(|| share(&b[0]).total_cmp(&share(&a[0])))
    });
    kinds.concat()
}

/// Sets the possible places of each kind, group by group.
fn share_places(candidates: &mut [Candidate]) {
    for kind in candidates.chunk_by_mut(|a, b| a.is_of_kind(b)) {
        share_places_of_kind(kind);
    }
}

fn share_places_of_kind(candidates: &mut [Candidate]) {
    let mut before = 0;
    for alike in candidates.chunk_by_mut(|a, b| a.is_comparable(b)) {
        let ranked: Option<Vec<Ranked>> = alike
            .iter()
            .map(|one| one.scarcest()?.ranked.clone())
            .collect();
        let count = alike.len();
        let ranges = ranked.map(|ranked| possible_places(&ranked));
        for (index, one) in alike.iter_mut().enumerate() {
            // Promises have no order.
            let range = ranges.as_ref().and_then(|ranges| ranges.get(index));
            let (start, end) = range.map_or((1, count), |range| (*range.start(), *range.end()));
            one.places = Some([before + start, before + end]);
        }
        before += count;
    }
}

/// The rates that decide and that no product has as the use needs them.
fn lacks(candidates: &[Candidate], wanted: &Use) -> Vec<Lack> {
    if candidates.is_empty() {
        return Vec::new();
    }
    let deciding = wanted.needs.iter().filter(|need| is_deciding(wanted, need));
    let lack = |need: &Requirement| {
        let mets = || {
            let all = candidates.iter().flat_map(|one| &one.needs);
            all.filter(|met| met.name == need.name)
        };
        let is_own = |met: &Met| met.metric.is_some() && met.stand_in.is_none();
        let is_here = mets().any(|met| met.basis == Basis::Here);
        (!is_here).then(|| Lack {
            need: need.name.clone(),
            plain: need.plain.clone(),
            is_anywhere: !mets().any(is_own),
        })
    };
    deciding.filter_map(lack).collect()
}

/// The cheapest of those that suit, and the cheapest of those before it.
fn value(first: &[Candidate], question: &Question) -> Option<BestValue> {
    if !question.wish.is_by_value {
        return None;
    }
    let amount = |index: &usize| first[*index].price.as_ref().map(|price| price.amount);
    let cheapest_of = |range: std::ops::Range<usize>| {
        let priced = range.filter(|index| amount(index).is_some());
        // The first of several with the same price: it comes before the others.
        priced.min_by(|a, b| amount(a).partial_cmp(&amount(b)).unwrap_or(Ordering::Equal))
    };
    let cheapest = cheapest_of(0..first.len())?;
    let is_unpriced = |one: &&Candidate| one.price.is_none();
    Some(BestValue {
        cheapest,
        next_better: cheapest_of(0..cheapest),
        unpriced_count: first.iter().filter(is_unpriced).count(),
    })
}

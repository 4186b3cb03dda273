//! `cardmark compare`.

use std::collections::BTreeSet;

use cardmark_catalog::{
    endurance_promises, endurance_samples, product, product_name, split_capacity,
};
use cardmark_core::{ContextRow, OriginKind, Record};
use cardmark_judge::{
    CommonPlace, Compared, NotComparable, Queues, common_places, compare_in, compare_sides,
    stated_pair, tested_pair,
};
use cardmark_report::{
    EnduranceOfBoth, Place, Versus, answer_of_comparison, circumstances, comparison,
    comparison_json, order_of_sides, side_names, wrap,
};
use serde_json::{Value, json};

use crate::args::CompareArguments;
use crate::error::{CommandError, Exit};
use crate::runs::{Runs, Side};
use crate::terminal::print;

/// Compares each further side with the first.
pub(crate) fn compare(arguments: &CompareArguments) -> Result<Exit, CommandError> {
    let mut runs = Runs::with_published(arguments.board.as_ref());
    let base = runs.compared(&arguments.base);
    let (mut texts, mut all) = (Vec::new(), Vec::new());
    let mut others: Vec<Side> = Vec::new();
    for name in &arguments.others {
        let given = [arguments.base.as_str(), name];
        let endurance = endurance_of(given);
        let alone = |texts: &mut Vec<String>, all: &mut Vec<Value>| {
            let text = endurance.text(print::width(), print::style());
            let is_known = text.is_some();
            texts.extend(text);
            all.extend(endurance.json(given));
            is_known
        };
        let found = match &base {
            Ok(_) => runs.compared(name).map(Some),
            Err(_) => Ok(None),
        };
        let (Ok(base), Ok(Some(other))) = (&base, &found) else {
            if alone(&mut texts, &mut all) {
                continue;
            }
            base?;
            return found.map(|_| Exit::Done);
        };
        let apart = apart(given, [base, other]);
        let [base, other] = match &apart {
            Some([base, other]) => [base, other],
            None => [base, other],
        };
        let narrowed = narrowed(given, [base, other])?;
        let sides = match &narrowed {
            Some([base, other]) => [base, other],
            None => [base, other],
        };
        let asked = Asked {
            arguments,
            given,
            sides,
        };
        let compared = match sides.iter().all(|side| side.is_of_product) {
            true => asked.in_each_place()?,
            false => Some(asked.as_they_are()?),
        };
        let Some(compared) = compared else {
            match alone(&mut texts, &mut all) {
                true => continue,
                false => return Err(nowhere(given, sides)),
            }
        };
        match arguments.json {
            true => all.extend(compared.json(arguments, &endurance)),
            false => texts.push(compared.text(arguments, &endurance)),
        }
        if let Ok(Some(other)) = found {
            others.push(other);
        }
    }
    if let Some(order) = base.ok().and_then(|base| order(arguments, &base, &others)) {
        let lines = wrap(&order, print::width(), 2);
        texts.insert(0, lines.join("\n") + "\n");
    }
    match arguments.json {
        true => print::data(&format!("{:#}\n", json!(all)))?,
        false => print::result(&texts.join("\n"))?,
    }
    Ok(Exit::Done)
}

/// The order of three or more sides of runs; `None` if one is a product, which may be known in several places.
fn order(arguments: &CompareArguments, base: &Side, others: &[Side]) -> Option<String> {
    let sides: Vec<&Side> = std::iter::once(base).chain(others).collect();
    if sides.len() < 3 || others.len() < arguments.others.len() {
        return None;
    }
    let records: Vec<Vec<&Record>> = sides
        .iter()
        .map(|side| side.records.iter().collect())
        .collect();
    if sides.iter().any(|side| side.is_of_product) {
        return None;
    }
    let mut names = Vec::new();
    for (given, records_of) in arguments.others.iter().zip(&records[1..]) {
        let [first, name] = side_names([&arguments.base, given], [&records[0], records_of]);
        if names.is_empty() {
            names.push(first);
        }
        names.push(name);
    }
    let mut pairs = Vec::new();
    for (index, side) in records.iter().enumerate() {
        for (other, other_side) in records.iter().enumerate().skip(index + 1) {
            let both = [side.clone(), other_side.clone()];
            let results = compare_sides(&both, &arguments.metrics, &arguments.across).ok()?;
            pairs.push(([index, other], results));
        }
    }
    order_of_sides(&names, &pairs)
}

/// What is known of the endurance of the products of these names.
fn endurance_of(given: [&str; 2]) -> EnduranceOfBoth {
    let names = given.map(|side| {
        let first = side.split(',').next().unwrap_or_default();
        first.strip_prefix("product=").unwrap_or(first).trim()
    });
    if names
        .iter()
        .any(|name| name.is_empty() || name.contains('='))
    {
        return EnduranceOfBoth::default();
    }
    EnduranceOfBoth {
        stated: stated_pair(endurance_promises(), names),
        tested: tested_pair(endurance_samples(), names),
    }
}

/// The sides, if all runs of one are also in the other, with the rest of that: a card against the others of its product.
fn apart(given: [&str; 2], sides: [&Side; 2]) -> Option<[Side; 2]> {
    let ids = sides.map(|side| -> BTreeSet<_> { side.records.iter().map(|run| run.id).collect() });
    let common: BTreeSet<_> = ids[0].intersection(&ids[1]).copied().collect();
    let is_larger =
        |index: &usize| ids[*index].len() > common.len() && ids[1 - *index].len() == common.len();
    let larger = [0, 1]
        .into_iter()
        .find(is_larger)
        .filter(|_| !common.is_empty())?;
    let mut apart = sides.map(|side| Side {
        records: side.records.clone(),
        ..*side
    });
    apart[larger]
        .records
        .retain(|run| !common.contains(&run.id));
    print::notice(&format!(
        "`{}` counts without the runs of `{}`",
        given[larger],
        given[1 - larger]
    ));
    Some(apart)
}

/// The runs of both sides at the only capacity at which both were measured in one place; `None` if there is none, or if no side
/// has several products.
fn narrowed(given: [&str; 2], sides: [&Side; 2]) -> Result<Option<[Side; 2]>, CommandError> {
    let is_open = |side: &&Side| capacities(&side.records).len() > 1;
    let are_lines = |side: &&Side| side.is_of_product && lines_count(&side.records) == 1;
    if !sides.iter().all(are_lines) || !sides.iter().any(is_open) {
        return Ok(None);
    }
    let [base, other] = sides.map(|side| capacities(&side.records));
    let at = |bytes: &u64| {
        sides.map(|side| Side {
            records: side
                .records
                .iter()
                .filter(|record| capacity_of(record) == Some(*bytes))
                .cloned()
                .collect(),
            ..*side
        })
    };
    let is_common = |[base, other]: &[Side; 2]| {
        let places = common_places([&base.records, &other.records]);
        places.iter().any(|place| {
            let publications = |side: &Vec<&Record>| -> BTreeSet<Option<String>> {
                let labels = side
                    .iter()
                    .map(|run| run.labels.get("publication").cloned());
                labels.collect()
            };
            publications(&place.sides[0]) == publications(&place.sides[1])
        })
    };
    let mut found: Vec<[Side; 2]> = base
        .intersection(&other)
        .map(at)
        .filter(is_common)
        .collect();
    if found.len() > 1 {
        let of = |index: usize| {
            let all = found.iter().flat_map(|sides| &sides[index].records);
            products(&all.collect::<Vec<_>>())
        };
        return Err(several(given, [of(0), of(1)]));
    }
    Ok(found.pop())
}

fn capacities(records: &[Record]) -> BTreeSet<u64> {
    records.iter().filter_map(capacity_of).collect()
}

/// The capacity of the product of a run, if the catalogue has it.
fn capacity_of(record: &Record) -> Option<u64> {
    product(record.labels.get("product")?)?.capacity_bytes
}

/// Two sides that are to be compared.
#[derive(Clone, Copy)]
struct Asked<'a> {
    arguments: &'a CompareArguments,
    /// Sides as the command names them.
    given: [&'a str; 2],
    sides: [&'a Side; 2],
}

/// Two sides, compared in one place or several.
struct ComparedSides<'a> {
    /// Sides as the command names them.
    given: [&'a str; 2],
    /// Their names in the answer.
    names: [String; 2],
    places: Vec<(CommonPlace<'a>, Compared)>,
}

impl ComparedSides<'_> {
    fn versus<'b>(
        &'b self,
        repeat: Option<&'b str>,
        across: &'b [String],
        endurance: Option<&'b str>,
    ) -> Versus<'b> {
        let place = |(place, results): &'b (CommonPlace<'_>, Compared)| Place {
            name: &place.name,
            results,
            queues: place.queues,
        };
        Versus {
            names: self.names.each_ref().map(String::as_str),
            places: self.places.iter().map(place).collect(),
            repeat,
            across,
            aside: self.aside(),
            endurance,
        }
    }

    /// A clause on different capacities, unless the command names one.
    fn aside(&self) -> &'static str {
        let capacities = self
            .names
            .each_ref()
            .map(|name| product(name).and_then(|product| product.capacity_bytes));
        let is_asked = |name: &&str| split_capacity(name).1.is_some() || name.contains('=');
        let [base, other] = capacities;
        match base.zip(other).is_some_and(|(base, other)| base != other)
            && !self.given.iter().all(is_asked)
        {
            true => "their capacities differ",
            false => "",
        }
    }

    fn text(&self, arguments: &CompareArguments, endurance: &EnduranceOfBoth) -> String {
        let repeat = self
            .places
            .first()
            .and_then(|(place, _)| repeat(&place.sides));
        let endurance = endurance.sentence();
        let versus = self.versus(repeat.as_deref(), &arguments.across, endurance.as_deref());
        comparison(&versus, arguments.all, print::width(), print::style())
    }

    /// A value for each place; each has the answer of all places, too.
    fn json(&self, arguments: &CompareArguments, endurance: &EnduranceOfBoth) -> Vec<Value> {
        let sentence = endurance.sentence();
        let versus = self.versus(None, &arguments.across, sentence.as_deref());
        let overall = answer_of_comparison(&versus).json();
        let of_place = |(place, results): &(CommonPlace<'_>, Compared)| {
            let mut names = self.given.map(str::to_owned);
            for (name, side) in names.iter_mut().zip(&place.sides) {
                if !place.name.is_empty()
                    && let [product] = products(side).as_slice()
                {
                    *name = format!("{product} on {}", place.name);
                }
            }
            let names = names.each_ref().map(String::as_str);
            let mut value = comparison_json(names, &place.sides, results, &arguments.across);
            if let Some(object) = value.as_object_mut().filter(|_| self.places.len() > 1) {
                object.insert("place".to_owned(), json!(place.name));
                object.insert("answer_of_all_places".to_owned(), overall.clone());
            }
            if let Some(object) = value.as_object_mut().filter(|_| sentence.is_some()) {
                object.insert("endurance".to_owned(), endurance.data());
            }
            value
        };
        self.places.iter().map(of_place).collect()
    }
}

impl<'a> Asked<'a> {
    /// Compares two products wherever both were measured; `None` if that is nowhere.
    fn in_each_place(self) -> Result<Option<ComparedSides<'a>>, CommandError> {
        let Self { given, sides, .. } = self;
        if sides.iter().any(|side| lines_count(&side.records) > 1) {
            let of = |side: &Side| products(&side.records.iter().collect::<Vec<_>>());
            return Err(several(given, sides.map(of)));
        }
        let places = common_places(sides.map(|side| side.records.as_slice()));
        if places.is_empty() {
            let is_across = self.arguments.across.iter().any(|name| name == "board");
            let may_differ = is_across || sides.iter().all(|side| side.names_board);
            return match may_differ {
                true => self.as_they_are().map(Some),
                false => Ok(None),
            };
        }
        let of_both = [0, 1].map(|index| all_products(&places, index));
        if of_both.iter().any(|products| products.len() > 1) {
            return Err(several(given, of_both));
        }
        report_left_out(&places, sides);
        let names = self.names(&places);
        let compared = |place: CommonPlace<'a>| {
            let results = self.compared(&place)?;
            Ok((place, results))
        };
        let places: Result<Vec<_>, CommandError> = places.into_iter().map(compared).collect();
        Ok(Some(ComparedSides {
            given,
            names,
            places: places?,
        }))
    }

    /// Compares two sides as they are.
    fn as_they_are(self) -> Result<ComparedSides<'a>, CommandError> {
        let place = CommonPlace {
            name: String::new(),
            sides: self.sides.map(|side| side.records.iter().collect()),
            queues: Queues::Any,
        };
        let results = self.compared(&place)?;
        Ok(ComparedSides {
            given: self.given,
            names: side_names(self.given, [&place.sides[0], &place.sides[1]]),
            places: vec![(place, results)],
        })
    }

    fn compared(self, place: &CommonPlace<'_>) -> Result<Compared, CommandError> {
        let metrics = &self.arguments.metrics;
        let results = compare_in(place, metrics, &self.arguments.across);
        results.map_err(|reason| refusal(reason, self.given, metrics))
    }

    /// The products of the sides, or what else distinguishes them.
    fn names(self, places: &[CommonPlace<'_>]) -> [String; 2] {
        let products = [0, 1].map(|index| all_products(places, index).join(" and "));
        if products[0] != products[1] && products.iter().all(|name| !name.is_empty()) {
            return products;
        }
        let runs = [0, 1].map(|index| {
            let sides = places.iter().flat_map(|place| &place.sides[index]);
            sides.copied().collect::<Vec<_>>()
        });
        side_names(self.given, [&runs[0], &runs[1]])
    }
}

/// The products of one side in all these places.
fn all_products(places: &[CommonPlace<'_>], side: usize) -> Vec<String> {
    let runs = places.iter().flat_map(|place| &place.sides[side]);
    products(&runs.copied().collect::<Vec<_>>())
}

/// Mentions runs that the other side has nothing beside.
fn report_left_out(places: &[CommonPlace<'_>], sides: [&Side; 2]) {
    let runs = places.iter().flat_map(|place| &place.sides).flatten();
    let used: BTreeSet<_> = runs.map(|record| record.id).collect();
    let all: usize = sides.iter().map(|side| side.records.len()).sum();
    let left_out = all.saturating_sub(used.len());
    if left_out > 0 {
        print::notice(&format!(
            "left out: {left_out} of the runs, in circumstances that the other side does not have"
        ));
    }
}

/// The products of these runs.
fn products(records: &[&Record]) -> Vec<String> {
    let labels = records
        .iter()
        .filter_map(|record| record.labels.get("product"));
    let names: BTreeSet<String> = labels.map(|label| product_name(label)).collect();
    names.into_iter().collect()
}

/// The error for products that were never measured on the same board.
fn nowhere(names: [&str; 2], sides: [&Side; 2]) -> CommandError {
    let boards = |side: &Side| -> String {
        let boards = side
            .records
            .iter()
            .map(|record| record.board.as_ref()?.model.as_deref());
        let boards: BTreeSet<&str> = boards
            .map(|board| board.unwrap_or("an unknown board"))
            .collect();
        boards.into_iter().collect::<Vec<_>>().join(", ")
    };
    let causes = [0, 1].map(|index| format!("`{}` on {}", names[index], boards(sides[index])));
    let what = "these products were not measured on the same board";
    CommandError::new(Exit::Usage, what)
        .because(causes.join("; "))
        .hint("`--across board` compares them all the same; the boards may be the difference")
}

/// The number of product lines of these runs: products of one line differ in their capacity only.
fn lines_count(records: &[Record]) -> usize {
    let labels = records
        .iter()
        .filter_map(|record| record.labels.get("product"));
    let line = |label: &String| match product(label) {
        Some(product) => format!("{} {}", product.brand, product.line),
        None => label.clone(),
    };
    labels.map(line).collect::<BTreeSet<_>>().len()
}

/// The error for a name of several products.
fn several(names: [&str; 2], products: [Vec<String>; 2]) -> CommandError {
    let mut causes = Vec::new();
    for (name, products) in names.iter().zip(products) {
        if products.len() > 1 {
            causes.push(format!("`{name}` is {}", products.join(", ")));
        }
    }
    CommandError::new(Exit::Usage, "a side has several products")
        .because(causes.join("; "))
        .hint("name one product on each side")
}

/// The command that makes another run of the first side with one run.
fn repeat(sides: &[Vec<&Record>; 2]) -> Option<String> {
    let side = sides.iter().find(|side| side.len() == 1)?;
    let suite = &side.first()?.suite.as_ref()?.name;
    let model = side.first()?.origin.source.as_deref();
    let target = match model {
        Some(model) if side.first()?.origin.kind == OriginKind::Simulated => {
            let model = model.strip_prefix("sim:").unwrap_or(model);
            format!("sim:{model} --seed 2")
        }
        _ => "TARGET".to_owned(),
    };
    Some(format!("cardmark run {target} --suite {suite}"))
}

/// The error for sides that cannot be compared.
fn refusal(reason: NotComparable, names: [&str; 2], metrics: &[String]) -> CommandError {
    let error = |what: &str| CommandError::new(Exit::Usage, what);
    match reason {
        NotComparable::OnBothSides(run) => error(&format!("run {run} is on both sides"))
            .hint("name different runs, or one card and its product: `product=NAME sample=NAME`"),
        NotComparable::UnknownStorage { id, reason } => {
            error("runs of a known device and of storage that is not known do not compare")
                .because(format!("run {id}: {reason}"))
        }
        NotComparable::Mixtures { common } => {
            let [base, other] = names;
            error(&format!("`{base}` and `{other}` are mixtures of products"))
                .because("their means depend on which products happened to be measured")
                .hint(match common.as_slice() {
                    [] => "name one product on each side: `product=…`".to_owned(),
                    common => format!(
                        "name one product on each side; on both is {}",
                        common.join(", ")
                    ),
                })
        }
        NotComparable::UnknownContext { name, known } => {
            error(&format!("no part of the context is called `{name}`"))
                .hint(format!("available: {}", known.join(", ")))
        }
        NotComparable::Differ(rows) => differ(&rows),
        NotComparable::NoFigures { index } => {
            error(&format!("no run of `{}` measured a speed", names[index]))
                .because("tests of capacity and reliability have none")
                .hint("measure it first: `cardmark run`")
        }
        NotComparable::NoMetric => error(&format!(
            "no figures of {} on both sides",
            metrics.join(", ")
        ))
        .hint("without `--metric`, all metrics of both sides are compared"),
    }
}

fn differ(rows: &[ContextRow]) -> CommandError {
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let causes: Vec<String> = rows.iter().map(difference).collect();
    let error = CommandError::new(Exit::Usage, "these runs cannot be compared as they are")
        .because(causes.join("; "));
    let across = format!(
        "`--across {}` compares them all the same; the difference may come from any of these",
        names.join(",")
    );
    match rows
        .iter()
        .find(|row| is_mixed(row) && is_condition(&row.name))
    {
        Some(row) => error.hint(format!(
            "name one on each side, such as `product=…,{}={}`; {across}",
            row.name,
            as_condition(row)
        )),
        None => error.hint(across),
    }
}

/// The first value as a condition has it: a suite without its version.
fn as_condition(row: &ContextRow) -> &str {
    let value = row.sides[0][0].as_str();
    let name = value.split(' ').next().filter(|_| row.name == "suite");
    name.unwrap_or(value)
}

/// True if each side has several values, the same ones.
fn is_mixed(row: &ContextRow) -> bool {
    row.sides
        .iter()
        .all(|side| side.len() > 1 && *side == row.sides[0])
}

/// True for parts of the context that conditions for runs can name.
fn is_condition(name: &str) -> bool {
    ["suite", "origin", "bus", "command_queue"].contains(&name)
}

fn difference(row: &ContextRow) -> String {
    let sides = circumstances(row).into_iter().map(|side| side.join(", "));
    let sides: Vec<String> = sides.collect();
    match is_mixed(row) {
        true => format!(
            "each side has runs with different {} ({})",
            row.name, sides[0]
        ),
        false => format!("they differ in {} ({})", row.name, sides.join(" against ")),
    }
}

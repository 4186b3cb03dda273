//! Comparison of two products: the answer of `cardmark compare` by published figures, and shared runs beside each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use cardmark_catalog::{
    Product, endurance_promises, endurance_samples, find_products, product as product_called,
    products_called,
};
use cardmark_core::{Quantity, Record};
use cardmark_judge::{
    CommonPlace, Compared, Day, Figure, NotComparable, Queues, ROLES, RateVerdict, Role,
    common_places, compare_in, key_rates, stated_pair, tested_pair,
};
use cardmark_report::chart::{Bar, Bars, Chart, Group, Heading};
use cardmark_report::document::{Block, Column, Row, Table};
use cardmark_report::text::{figure, in_unit, unit};
use cardmark_report::{
    AnswerBlock, EnduranceOfBoth, Place, Versus, answer_of_comparison, capitalised, class_marks,
    places_of_comparison, plain_name, setting_words,
};

use crate::addresses;
use crate::frame::Page;
use crate::pages::compare::{ABOUT, ComparePageQuery, form};
use crate::pages::{answers, choice, figures, published_charts};
use crate::queries::Queries;
use crate::views::product::{ProductView, SummaryView};
use crate::views::published::records_of;

/// Products that a name may mean and that are listed.
const MOST_MEANT: usize = 12;
/// Products that a name may mean and that are compared, each with those of the other name.
const MOST_PAIRED: usize = 24;

/// Two products, and the places where both were measured, with the results.
struct Pair {
    products: [&'static Product; 2],
    places: Vec<(CommonPlace<'static>, Compared)>,
    /// Names of the context that differ.
    across: Vec<String>,
}

/// A rate of both in a place: its quantity, and the value of each.
type Measured<'a> = (&'a CommonPlace<'static>, Quantity, [f64; 2]);

/// Two products that were chosen, with their names, and what is known of both without shared runs.
struct Chosen {
    products: [(String, String); 2],
    answer: Vec<Block>,
    charts: Vec<Block>,
    /// Each place by itself.
    places: Vec<Block>,
    alternatives: Vec<Block>,
}

/// A comparison of two products by their names.
///
/// # Errors
/// If a query has no answer.
pub async fn compare_products<Q: Queries>(
    queries: &Q,
    asked: ComparePageQuery,
) -> Result<Page, Q::Error> {
    let named = [asked.base.clone(), asked.other.clone()];
    let chosen = match queries.work(move || chosen(&named)).await? {
        Ok(chosen) => chosen,
        Err(why) => {
            return Ok(Page::new("Compare", ABOUT, vec![Block::Text(why)]).form(form(&asked)));
        }
    };
    let [(base, _), (other, _)] = &chosen.products;
    let views = [
        queries.product(base, None).await?,
        queries.product(other, None).await?,
    ];
    let (rated, today) = (choice::figures_of(queries).await?, queries.today());
    let draw = move || {
        let [(_, base), (_, other)] = &chosen.products;
        let title = format!("{base} or {other}");
        let mut answer = chosen.answer;
        answer.extend(verdicts([base.as_str(), other.as_str()], &rated, today));
        let mut page = Page::new(title, ABOUT, Vec::new())
            .answered(answer, Vec::new())
            .gallery(chosen.charts)
            .more(chosen.places)
            .more(shared(&views))
            .more(chosen.alternatives);
        for (id, name) in chosen.products {
            page = page.link(name, addresses::product(&id));
        }
        page.form(form(&asked))
    };
    queries.work(draw).await
}

/// The products that two names mean, or why there is no comparison.
fn chosen(named: &[String; 2]) -> Result<Chosen, String> {
    let meant = named.each_ref().map(|name| meant(name));
    if let Some(at) = meant.iter().position(Vec::is_empty) {
        return Err(format!(
            "No product called {} has published figures here. A part of the name is enough, such as evo plus 64; runs are named by their ids.",
            named[at]
        ));
    }
    let pair = pair_of(&meant).ok_or("Both sides are the same product.")?;
    Ok(Chosen {
        products: pair
            .products
            .map(|product| (product.id.clone(), product.name())),
        answer: pair.answer(),
        charts: pair.charts(),
        places: pair.places_by_themselves(),
        alternatives: alternatives(named, &meant),
    })
}

/// The products of the catalogue that a name means.
fn meant(name: &str) -> Vec<&'static Product> {
    let name = name.trim();
    let exact = product_called(name);
    // A line without a size has no figures of its own.
    if let Some(only) = exact.filter(|only| !records_of(&only.id).is_empty()) {
        return vec![only];
    }
    let called = products_called(name);
    let found = match called.len() > usize::from(exact.is_some()) {
        true => called,
        false => find_products(name),
    };
    match found.is_empty() {
        true => exact.into_iter().collect(),
        false => found,
    }
}

/// Of the products that both names may mean, the two that were measured together: of one capacity, if possible.
fn pair_of(meant: &[Vec<&'static Product>; 2]) -> Option<Pair> {
    let pairs = meant[0].iter().take(MOST_PAIRED).flat_map(|base| {
        let others = meant[1].iter().take(MOST_PAIRED);
        let others = others.filter(move |other| other.id != base.id);
        others.map(move |other| [*base, *other])
    });
    let compared = pairs.map(|products| {
        let sides = products.map(|product| records_of(&product.id));
        let places = common_places(sides);
        let is_of_one_size = products[0].capacity_bytes == products[1].capacity_bytes;
        let rank = (places.is_empty(), !is_of_one_size);
        (rank, products, places)
    });
    let (_, products, places) = compared.min_by_key(|(rank, ..)| *rank)?;
    let mut across = Vec::new();
    let mut found = Vec::new();
    for place in places {
        let mut results = compare_in(&place, &[], &[]);
        if let Err(NotComparable::Differ(rows)) = &results {
            let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
            results = compare_in(&place, &[], &names);
            across.extend(names);
        }
        found.extend(results.ok().map(|results| (place, results)));
    }
    across.sort();
    across.dedup();
    Some(Pair {
        products,
        places: found,
        across,
    })
}

/// The verdict on each product for the first use.
fn verdicts(names: [&str; 2], rated: &Arc<Vec<Figure>>, today: Day) -> Option<Block> {
    let verdict = |name| {
        let verdict = answers::verdict_on(rated, name, today)?;
        Some(format!("{name} {verdict}"))
    };
    let verdicts: Vec<String> = names.into_iter().filter_map(verdict).collect();
    let text = format!("Boot and desktop: {}.", verdicts.join("; "));
    (!verdicts.is_empty()).then_some(Block::Text(text))
}

/// Links to the comparisons with each product that a name may mean, if they are several.
fn alternatives(named: &[String; 2], meant: &[Vec<&'static Product>; 2]) -> Vec<Block> {
    let table = |side: usize| {
        let row = |product: &&Product| {
            let mut sides = named.each_ref().map(|name| Some(name.as_str()));
            sides[side] = Some(product.id.as_str());
            let address = addresses::with("/compare", &[("base", sides[0]), ("other", sides[1])]);
            Row::new(vec![product.name()]).linked(address)
        };
        Block::Table {
            caption: format!("{} may be", named[side].trim()),
            table: Table {
                columns: vec![Column::left("product")],
                rows: meant[side].iter().take(MOST_MEANT).map(row).collect(),
            },
        }
    };
    let several = [0, 1].into_iter().filter(|side| meant[*side].len() > 1);
    several.map(table).collect()
}

impl Pair {
    fn names(&self) -> [String; 2] {
        self.products.map(Product::name)
    }

    /// The answer, and without a common place what is known of each.
    fn answer(&self) -> Vec<Block> {
        let names = self.names();
        let given = names.each_ref().map(String::as_str);
        let endurance = EnduranceOfBoth {
            stated: stated_pair(endurance_promises(), given),
            tested: tested_pair(endurance_samples(), given),
        };
        let endurance = endurance.sentence();
        if !self.places.is_empty() {
            let versus = self.versus(given, endurance.as_deref());
            return answer_of_comparison(&versus).blocks();
        }
        let answer = AnswerBlock {
            sentence: "They were not measured on the same board by anybody, so which is faster is not known"
                .to_owned(),
            more: endurance.into_iter().collect(),
            ..AnswerBlock::default()
        };
        let each = self.each(&names);
        answer.blocks().into_iter().chain(each).collect()
    }

    fn versus<'a>(&'a self, names: [&'a str; 2], endurance: Option<&'a str>) -> Versus<'a> {
        let places = self.places.iter().map(|(place, results)| Place {
            name: &place.name,
            results,
            queues: place.queues,
        });
        Versus {
            names,
            places: places.collect(),
            repeat: None,
            across: &self.across,
            aside: "",
            endurance,
        }
    }

    /// Published rates of each, on whatever board; `None` without one.
    fn each(&self, names: &[String; 2]) -> Option<Block> {
        let rates = self.products.map(|one| published_charts::rates_of(&one.id));
        let row = |name: &&String| {
            let cell = |side: &Vec<(String, String)>| {
                let found = side.iter().find(|(other, _)| other == *name);
                found.map_or_else(|| "–".to_owned(), |(_, rate)| rate.clone())
            };
            Row::new(vec![(*name).clone(), cell(&rates[0]), cell(&rates[1])])
        };
        let mut kinds: Vec<&String> = Vec::new();
        for (name, _) in rates.iter().flatten() {
            if !kinds.contains(&name) {
                kinds.push(name);
            }
        }
        let columns = names.iter().map(|name| Column::right(name.clone()));
        (!kinds.is_empty()).then(|| Block::Table {
            caption: "Published of each, by different people: boards and methods differ".to_owned(),
            table: Table {
                columns: std::iter::once(Column::left("")).chain(columns).collect(),
                rows: kinds.iter().map(row).collect(),
            },
        })
    }

    fn charts(&self) -> Vec<Block> {
        let names = self.names();
        let charts = ROLES.iter().filter_map(|role| self.chart(role, &names));
        charts.map(Block::Chart).collect()
    }

    fn places_by_themselves(&self) -> Vec<Block> {
        if self.places.len() < 2 {
            return Vec::new();
        }
        let names = self.names();
        let versus = self.versus(names.each_ref().map(String::as_str), None);
        vec![Block::Details {
            title: format!("Each of {} places", self.places.len()),
            blocks: vec![Block::List(places_of_comparison(&versus))],
        }]
    }

    /// A rate of both wherever one method measured it.
    fn chart(&self, role: &Role, names: &[String; 2]) -> Option<Chart> {
        let count = |metric: &&&str| self.measured(metric).count();
        let metrics = role.metrics.iter().filter(|metric| count(metric) > 0);
        // Of equals the first.
        let metric = metrics.rev().max_by_key(count)?;
        let quantity = self.measured(metric).next()?.1;
        let group = |(place, quantity, values): Measured<'_>| {
            let bar = |series: usize| Bar {
                value: in_unit(quantity, values[series]),
                ends: None,
                series,
                label: String::new(),
            };
            Group {
                name: place_words(place),
                bars: vec![bar(0), bar(1)],
            }
        };
        let groups: Vec<Group> = self.measured(metric).map(group).collect();
        let heading = Heading {
            name: metric.replace('_', "-"),
            title: self.message(role, names),
            subtitle: format!("{}, published figures", capitalised(&plain_name(metric))),
            footer: "Sources: the pages of both products".to_owned(),
            about: format!("{} and {} in {} places", names[0], names[1], groups.len()),
        };
        Some(Chart::Bars(Bars {
            heading,
            axis: format!("{}; higher is better", unit(metric, quantity)),
            series: names.to_vec(),
            groups,
            marks: class_marks(metric, quantity),
        }))
    }

    /// Where a metric was measured of both: place, quantity, values and conclusion.
    fn measured(&self, metric: &str) -> impl Iterator<Item = Measured<'_>> {
        self.places.iter().filter_map(move |(place, results)| {
            let mut differences = results.differences.iter();
            let one = differences.find(|one| one.metric == metric && one.quantity.is_rate())?;
            let values = [one.base_value, one.other_value];
            Some((place, one.quantity, values))
        })
    }

    /// Which of the two is faster in all places of the answer, in one line.
    fn message(&self, role: &Role, names: &[String; 2]) -> String {
        let all: Vec<&Compared> = self.places.iter().map(|(_, results)| results).collect();
        let places = self.places.iter();
        let leading = places.filter(|(place, _)| !matches!(place.queues, Queues::Set(_)));
        let leading: Vec<&Compared> = leading.map(|(_, results)| results).collect();
        let rates = key_rates(if leading.is_empty() { &all } else { &leading });
        let is_same = |of: &Role| of.name == role.name;
        let rate = rates.main.iter().find(|one| one.role.is_some_and(is_same));
        let faster = |first: usize, ratio: f64| {
            let (first, second) = (&names[first], &names[1 - first]);
            format!("{first} is {} × as fast as {second}", figure(ratio))
        };
        let verdict = match rate.map(|one| one.verdict) {
            Some(RateVerdict::OtherFaster) => faster(1, rate.map_or(1.0, |one| one.ratio)),
            Some(RateVerdict::BaseFaster) => faster(0, rate.map_or(1.0, |one| one.ratio.recip())),
            Some(RateVerdict::Same) => "equally fast within 10 %".to_owned(),
            Some(RateVerdict::Depends) => "it depends on the place".to_owned(),
            _ if rate.is_some_and(|one| one.is_by_single_runs()) => {
                "too few runs to decide".to_owned()
            }
            _ => "no difference shown".to_owned(),
        };
        format!("{}: {verdict}", capitalised(role.name))
    }
}

/// Board and setting of a place.
fn place_words(place: &CommonPlace<'_>) -> String {
    let words = |record: &&Record| {
        let board = record.board.as_ref().and_then(|board| board.model.clone());
        let setting = match place.queues {
            Queues::AsInstalled(_) => "as installed".to_owned(),
            _ => setting_words(record),
        };
        let parts = [board, Some(setting)].into_iter().flatten();
        let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    };
    let words = place.sides[0].first().map(words).unwrap_or_default();
    match words.is_empty() {
        true => place.name.clone(),
        false => words,
    }
}

/// Medians of shared runs of both under the same circumstances.
fn shared(views: &[ProductView; 2]) -> Vec<Block> {
    let [base, other] = views;
    let mut others = BTreeMap::<(&str, &BTreeMap<String, String>), &SummaryView>::new();
    for one in other.summaries.iter().filter(|one| one.is_ranked) {
        others.insert((&one.metric, &one.context), one);
    }
    let row = |one: &SummaryView| {
        let other = others.get(&(one.metric.as_str(), &one.context))?;
        let cells = vec![
            plain_name(&one.metric),
            figures::shown(one, one.median),
            figures::shown(other, other.median),
            figure(one.median / other.median),
            figures::circumstances(&one.context),
        ];
        let values = [one.median, other.median, one.median / other.median];
        let values = std::iter::once(None).chain(values.map(Some));
        Some(Row::new(cells).valued(values.collect()))
    };
    let ranked = base.summaries.iter().filter(|one| one.is_ranked);
    let rows: Vec<Row> = ranked.filter_map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let columns = vec![
        Column::left(""),
        Column::right(base.entry.name.clone()),
        Column::right(other.entry.name.clone()),
        Column::right("ratio"),
        Column::left("circumstances"),
    ];
    vec![
        Block::Heading("Runs".to_owned()),
        Block::Table {
            caption: "Medians under the same circumstances".to_owned(),
            table: Table { columns, rows },
        },
    ]
}

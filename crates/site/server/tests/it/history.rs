//! The history of a card on the personal instance, against the program's own.

use cardmark_core::{Record, Sample};
use cardmark_judge::{history, sort_by_start};
use cardmark_report::{Style, card_history, card_name};
use cardmark_store::{Condition, Store};
use tempfile::TempDir;
use uuid::Uuid;

use crate::mine::Mine;
use crate::rig::{Rig, corpus, measured};

const CARD: &str = "aaaaaa";

/// Runs of a card, one a month, whose random write falls by 31 % from the first to the last, and one of another card.
fn keep(store: &mut Store) {
    keep_with(store, |month| 0.69_f64.powf(f64::from(month - 1) / 8.0));
    let mut other = measured();
    other.devices[0].sample = Some(Sample::of_card("bbbbbb"));
    store.insert(&other).unwrap();
}

/// Runs of a card, one a month, whose random write is multiplied by this factor.
fn keep_with(store: &mut Store, factor: impl Fn(u8) -> f64) {
    for month in 1_u8..=9 {
        let mut record = measured();
        record.id = Uuid::from_u128(0x3000_0000_0000_4000_8000_0000_0000_0000 + u128::from(month));
        record.started_at = Some(format!("2026-{month:02}-03T10:00:00Z"));
        record.devices[0].sample = Some(Sample::of_card(CARD));
        // Equal runs would be copies.
        record.trials[0].started_ns += u64::from(month);
        for metric in &mut record.metrics {
            if metric.id == "rand_write_4k" {
                metric.value *= factor(month);
            }
        }
        store.insert(&record).unwrap();
    }
}

/// Lines of `cardmark history` with a conclusion, the notes too.
fn statements(store: &mut Store, condition: (&str, &str)) -> (String, Vec<String>) {
    let condition = Condition {
        name: condition.0.to_owned(),
        value: condition.1.to_owned(),
    };
    let mut runs: Vec<Record> = store.select_distinct(&[condition]).unwrap();
    sort_by_start(&mut runs);
    let groups = history(&runs, &[]);
    let name = card_name(runs.last().unwrap());
    let text = card_history(&name, &groups, true, 1 << 16, Style::Plain);
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    (name, lines.map(str::to_owned).collect())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[test]
fn the_page_of_a_card_states_what_the_program_states() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join(".local/share/cardmark");
    std::fs::create_dir_all(&folder).unwrap();
    let mut store = Store::open(&folder.join("records.sqlite")).unwrap();
    keep(&mut store);
    let simulated = corpus("run-sim-a1-32gb-quick");
    store.insert(&simulated).unwrap();
    let (name, said) = statements(&mut store, ("card", CARD));
    assert!(said.iter().any(|line| line.contains("fell 3")), "{said:?}");
    let mine = Mine::start(home.path());

    let page = mine.get(&format!("/history/{CARD}"));
    for line in std::iter::once(&name).chain(&said) {
        assert!(page.contains(&escaped(line)), "{line}: {page}");
    }
    let rows = page.matches("<th scope=\"row\"><a href=\"/runs/").count();
    assert_eq!(rows % 9, 0, "{rows} rows");
    assert!(rows > 0 && page.contains("<svg"), "{page}");

    // The ways to it.
    let run = Uuid::from_u128(0x3000_0000_0000_4000_8000_0000_0000_0001);
    let path = format!("/runs/{run}");
    mine.until(&path, &format!("href=\"/history/{CARD}\""));
    for list in ["/", "/runs"] {
        assert!(mine.get(list).contains("href=\"/history\""), "{list}");
    }
    let cards = mine.get("/history");
    for card in [CARD, "bbbbbb"] {
        assert!(
            cards.contains(&format!("href=\"/history/{card}\"")),
            "{cards}"
        );
    }
    let page = mine.until(&format!("/runs/{}", simulated.id), "/history/sim%3A");
    let address = page
        .split("href=\"")
        .find(|part| part.starts_with("/history/sim"));
    let page = mine.get(address.unwrap().split('"').next().unwrap());
    assert!(page.contains("no trend"), "{page}");
    assert!(mine.get("/history/cccccc").contains("404 Not Found"));
}

#[test]
fn another_level_is_shown_with_the_reference_reads() {
    let home = TempDir::new().unwrap();
    let folder = home.path().join(".local/share/cardmark");
    std::fs::create_dir_all(&folder).unwrap();
    let mut store = Store::open(&folder.join("records.sqlite")).unwrap();
    keep_with(&mut store, |month| if month < 7 { 1.0 } else { 0.5 });
    let mine = Mine::start(home.path());
    let page = mine.get(&format!("/history/{CARD}"));
    assert!(
        page.contains(
            "random write 4 KiB about 50 % lower (the reference reads did not change alike)"
        ),
        "{page}"
    );
}

#[tokio::test]
async fn a_site_has_no_history_of_a_card() {
    let rig = Rig::new().await;
    for path in ["/history", "/history/aaaaaa"] {
        assert_eq!(rig.get(path).await.status, 404, "{path}");
    }
    assert!(!rig.get("/runs").await.text().contains("/history"));
}

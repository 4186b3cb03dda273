//! Rankings of published results.

use cardmark_catalog::publications;
use cardmark_judge::{Field, FieldFilter};
use cardmark_stats::RankingRow;

fn places(metric: &str, board: &str) -> Vec<RankingRow> {
    let filter = FieldFilter {
        board: Some(board.to_owned()),
        publication: Some("geerling-dramble".to_owned()),
        is_exact: false,
    };
    let mut field = Field::new(metric, None, &filter);
    for publication in publications() {
        for record in publication.records() {
            field.add_record(&record);
        }
    }
    let ranking = field.ranking();
    ranking.map(|ranking| ranking.places).unwrap_or_default()
}

#[test]
fn the_best_card_of_the_article_comes_out_first() {
    let places = places("iozone_random_write", "Raspberry Pi 2");
    let names: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    assert_eq!(names[0], "OWC Envoy SSD 64 GB", "an SSD at USB");
    assert_eq!(names[1], "Samsung Evo+ 32 GB");
    assert_eq!(*names.last().unwrap(), "Kingston C10 8 GB");
}

/// One card in one board in two settings: two places, and the difference between them is named.
#[test]
fn an_overclocked_slot_is_a_place_of_its_own() {
    let places = places("hdparm_t", "Pi 3");
    assert_eq!(places.len(), 16, "eight cards, twice");
    let evo: Vec<(&str, &[String])> = places
        .iter()
        .filter(|place| place.name == "Samsung Evo+ 32 GB")
        .map(|place| (place.printed.as_deref().unwrap(), &place.conditions[..]))
        .collect();
    let overclocked = ["bus overclocked to 100 MHz".to_owned()];
    let expected: [(&str, &[String]); 2] = [("37.68 MB/s", &overclocked), ("21.77 MB/s", &[])];
    assert_eq!(evo, expected);
}

//! Badges and previews.

use cardmark_report::chart::{Badge, Preview};

const HOSTILE: &str = "</text><script>alert(1)</script>&\"'\u{202e}";

fn preview(title: &str) -> Preview {
    Preview {
        title: title.to_owned(),
        subtitle: "Raspberry Pi 4, quick 1".to_owned(),
        rows: (0..9)
            .map(|row| (format!("figure {row}"), format!("{row}.5 MB/s")))
            .collect(),
        footer: "cardmark".to_owned(),
    }
}

/// The widest place that any shape or text begins at, and the words of all texts.
fn texts(svg: &str) -> (f64, Vec<String>) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let texts = document
        .descendants()
        .filter(|one| one.has_tag_name("text"));
    let words = texts
        .clone()
        .filter_map(|one| one.text().map(str::to_owned));
    let widest = texts.filter_map(|one| one.attribute("x")?.parse::<f64>().ok());
    (widest.fold(0.0, f64::max), words.collect())
}

#[test]
fn a_badge_holds_its_text_and_cuts_a_long_one() {
    let badge = |text: &str| Badge {
        title: "SanDisk Ultra 32 GB".to_owned(),
        text: text.to_owned(),
    };
    let svg = badge("random read 4 KiB: 8.2 MB/s").svg();
    assert_eq!(texts(&svg).1, ["cardmark", "random read 4 KiB: 8.2 MB/s"]);
    let svg = badge(&"very long ".repeat(100)).svg();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let width: f64 = document
        .root_element()
        .attribute("width")
        .unwrap()
        .parse()
        .unwrap();
    assert!(width < 600.0, "{width}");
    assert!(texts(&svg).1[1].ends_with('…'));
}

#[test]
fn foreign_text_stays_text() {
    let badge = Badge {
        title: HOSTILE.to_owned(),
        text: HOSTILE.to_owned(),
    };
    for svg in [badge.svg(), preview(HOSTILE).svg()] {
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert!(
            !document.descendants().any(|one| one.has_tag_name("script")),
            "{svg}"
        );
        assert!(!svg.contains('\u{202e}'), "{svg}");
    }
}

#[test]
fn a_preview_has_two_lines_of_title_and_six_rows() {
    let (widest, words) = texts(&preview(&format!("Begin {}", "many words ".repeat(30))).svg());
    assert!(widest <= 572.0, "{widest}");
    assert_eq!(
        words
            .iter()
            .filter(|word| word.starts_with("Begin"))
            .count(),
        1
    );
    assert!(words[1].ends_with('…'), "{words:?}");
    assert_eq!(
        words
            .iter()
            .filter(|word| word.starts_with("figure"))
            .count(),
        6
    );
    let (_, words) = texts(&preview(&"x".repeat(500)).svg());
    assert!(
        words.iter().all(|word| word.chars().count() < 80),
        "{words:?}"
    );
}

#[cfg(feature = "png")]
#[test]
fn a_preview_is_1200_by_630() {
    let bytes = preview("SanDisk Ultra 32 GB").png().unwrap();
    assert_eq!(bytes, preview("SanDisk Ultra 32 GB").png().unwrap());
    let picture = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
    assert_eq!((picture.width(), picture.height()), (1200, 630));
}

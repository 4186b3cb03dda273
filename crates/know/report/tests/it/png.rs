//! Charts as pictures.

use cardmark_report::chart::{Bar, Bars, Chart, Group, Heading, png};

fn bars(count: usize) -> Chart {
    Chart::Bars(Bars {
        heading: Heading {
            title: "random write 4 KiB".to_owned(),
            ..Heading::default()
        },
        axis: "MB/s".to_owned(),
        series: Vec::new(),
        marks: Vec::new(),
        groups: vec![
            Group {
                name: "Evo Plus".to_owned(),
                bars: vec![Bar {
                    value: 3.0,
                    ends: None,
                    series: 0,
                    label: String::new(),
                }],
            };
            count
        ],
    })
}

#[test]
fn a_picture_has_the_colours_and_the_letters_of_its_chart() {
    let bytes = png(&bars(3)).unwrap();
    assert_eq!(bytes, png(&bars(3)).unwrap(), "the same bytes each time");
    let picture = tiny_skia::Pixmap::decode_png(&bytes).unwrap();
    assert_eq!(picture.width(), 1520);
    let count = |rgb: [u8; 3]| {
        let pixels = picture.pixels().iter();
        pixels
            .filter(|pixel| [pixel.red(), pixel.green(), pixel.blue()] == rgb)
            .count()
    };
    // Three bars of 14 by some hundred, twice as large in both directions.
    assert!(count([0x00, 0x90, 0xe0]) > 3 * 28 * 600);
    assert!(count([0xff, 0xff, 0xff]) > 100_000, "paper");
    let ink = count([0x1b, 0x1b, 0x1b]);
    assert!((1_000..20_000).contains(&ink), "letters: {ink}");
}

//! Charts: what they show can be read back, and nothing of it is hidden.

use cardmark_report::chart::{
    Bar, Bars, Chart, Curve, Curves, Dot, Dumbbell, Dumbbells, Group, Heading, Mark, Palette,
    Scatter, Size, Spot, Strip, Theme,
};
use insta::assert_snapshot;

use crate::drawing::{Drawing, Text};

const SIZES: [Size; 2] = [Size::Wide, Size::Narrow];

fn heading(title: &str, about: &str) -> Heading {
    Heading {
        name: "chart".to_owned(),
        title: title.to_owned(),
        subtitle: "Raspberry Pi 4".to_owned(),
        footer: "cardmark 0.1.0 · 3 runs each · 2025-03-04 · quick 1 · simulated".to_owned(),
        about: about.to_owned(),
    }
}

fn bars() -> Chart {
    let bar = |value: f64, ends, series| Bar {
        value,
        ends,
        series,
        label: String::new(),
    };
    let group = |name: &str, bars| Group {
        name: name.to_owned(),
        bars,
    };
    Chart::Bars(Bars {
        heading: heading("random write 4 KiB", "four bars"),
        axis: "MB/s, whiskers: 95 % interval".to_owned(),
        series: vec!["Raspberry Pi 3".to_owned(), "Raspberry Pi 4".to_owned()],
        marks: Vec::new(),
        groups: vec![
            group(
                "Evo Plus <64 GB>",
                vec![bar(3.0, Some((2.7, 3.4)), 0), bar(2.9, None, 1)],
            ),
            group("Ultra 32 GB", vec![bar(1.5, None, 1)]),
            group(
                "A card whose name is much too long to stand beside its own bar",
                vec![bar(0.17, Some((0.1, 0.2)), 1)],
            ),
        ],
    })
}

fn scatter() -> Chart {
    let spot = |name: &str, x, y, series| Spot {
        name: name.to_owned(),
        x,
        y,
        series,
    };
    Chart::Scatter(Scatter {
        heading: heading("random write 4 KiB against random read 4 KiB", "five cards"),
        x_axis: "random read 4 KiB, MB/s".to_owned(),
        y_axis: "random write 4 KiB, MB/s".to_owned(),
        series: vec!["Raspberry Pi 3".to_owned(), "Raspberry Pi 4".to_owned()],
        spots: vec![
            spot("first", 2.0, 0.2, 0),
            spot("second", 20.0, 2.0, 0),
            spot("third", 6.4, 1.1, 1),
            spot("beside the third", 6.5, 1.1, 1),
            spot("fails to write", 6.5, 0.0, 1),
        ],
        named: Vec::new(),
    })
}

fn rate_over_time() -> Chart {
    let rate = |second: u32| if second < 20 { 80.0 } else { 20.0 };
    Chart::Curves(Curves {
        heading: heading(
            "sequential write 1 MiB over time",
            "the cache is full after 20 s",
        ),
        x_axis: "seconds measured".to_owned(),
        y_axis: "MB/s".to_owned(),
        is_log: (false, false),
        curves: vec![
            Curve {
                name: "cached".to_owned(),
                points: (1..40).map(|s| (f64::from(s), rate(s))).collect(),
            },
            Curve {
                name: "steady".to_owned(),
                points: vec![(1.0, 30.0), (40.0, 30.0)],
            },
        ],
    })
}

fn latencies() -> Chart {
    let stall = |share: f64| (if share < 0.1 { 800.0 } else { 2.0 }, share);
    Chart::Curves(Curves {
        heading: heading(
            "synced write 4 KiB: latencies",
            "one operation in a thousand stalls",
        ),
        x_axis: "latency, milliseconds".to_owned(),
        y_axis: "operations that take longer, %".to_owned(),
        is_log: (true, true),
        curves: vec![
            Curve {
                name: "stalls, slowest 800 ms".to_owned(),
                points: [100.0, 10.0, 1.0, 0.09, 0.01].map(stall).to_vec(),
            },
            Curve {
                name: "smooth, slowest 6.0 ms".to_owned(),
                points: vec![(0.0, 100.0), (3.0, 50.0), (6.0, 0.01)],
            },
        ],
    })
}

fn dumbbells(sides: [&str; 2]) -> Chart {
    let one = |name: &str, base, other| Dumbbell {
        name: name.to_owned(),
        base,
        other,
    };
    Chart::Dumbbells(Dumbbells {
        heading: heading("random read 4 KiB in two settings", "two cards"),
        axis: "IOPS".to_owned(),
        sides: sides.map(str::to_owned),
        dumbbells: vec![
            one("A2 card", 2000.0, 4000.0),
            one("A1 card", 1500.0, 1500.0),
        ],
    })
}

/// Fifty cards, of which two are named.
fn strip() -> Chart {
    let dot = |index: u32| Dot {
        name: format!("Some Brand Card number {index} of 64 GB"),
        value: 20.0 * 1.1_f64.powi(i32::try_from(index).unwrap()),
        is_named: [3, 40].contains(&index),
    };
    let mark = |value: f64, label: &str| Mark {
        value,
        label: label.to_owned(),
    };
    Chart::Strip(Strip {
        heading: heading("place 10 of 50 in random writes", "fifty cards"),
        axis: "random writes, IOPS".to_owned(),
        dots: (0..50).map(dot).collect(),
        marks: vec![mark(500.0, "A1"), mark(2000.0, "A2"), mark(1e9, "far away")],
    })
}

fn all() -> Vec<Chart> {
    vec![
        bars(),
        scatter(),
        rate_over_time(),
        latencies(),
        dumbbells(["queue off", "queue on"]),
        dumbbells([
            "Raspberry Pi 3 Model B Rev 1.2",
            "Raspberry Pi 4 Model B Rev 1.4",
        ]),
        strip(),
    ]
}

#[test]
fn bars_with_whiskers() {
    assert_snapshot!(bars().svg(Theme::Page, Size::Wide));
}

#[test]
fn reading_against_writing() {
    assert_snapshot!(scatter().svg(Theme::Page, Size::Wide));
}

#[test]
fn a_rate_over_time() {
    assert_snapshot!(rate_over_time().svg(Theme::Page, Size::Wide));
}

#[test]
fn latencies_with_stalls() {
    assert_snapshot!(latencies().svg(Theme::Page, Size::Wide));
}

#[test]
fn with_and_without_a_queue() {
    assert_snapshot!(dumbbells(["queue off", "queue on"]).svg(Theme::Page, Size::Wide));
}

#[test]
fn a_board_against_another_on_a_phone() {
    let sides = [
        "Raspberry Pi 3 Model B Rev 1.2",
        "Raspberry Pi 4 Model B Rev 1.4",
    ];
    assert_snapshot!(dumbbells(sides).svg(Theme::Page, Size::Narrow));
}

#[test]
fn a_chart_of_its_own_brings_its_style() {
    assert_snapshot!(dumbbells(["off", "on"]).svg(Theme::Auto, Size::Wide));
}

#[test]
fn the_same_chart_is_the_same_bytes() {
    for (one, again) in all().iter().zip(all()) {
        for size in SIZES {
            assert_eq!(one.svg(Theme::Auto, size), again.svg(Theme::Auto, size));
        }
    }
}

/// From the figures at two ticks of an axis, the figure of any place.
fn back(ticks: &[(f64, f64)], place: f64, is_log: bool) -> f64 {
    let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
    let share = (place - first.0) / (last.0 - first.0);
    if is_log {
        first.1 * (last.1 / first.1).powf(share)
    } else {
        first.1 + share * (last.1 - first.1)
    }
}

#[track_caller]
fn assert_near(found: f64, truth: f64) {
    assert!(
        (found - truth).abs() <= 0.005 * truth.abs().max(0.5),
        "{found}, not {truth}"
    );
}

#[test]
fn bars_and_whiskers_end_at_their_figures() {
    for size in SIZES {
        let drawing = Drawing::of(&bars().svg(Theme::Page, size));
        let ticks = drawing.level_ticks();
        let ends: Vec<f64> = drawing.rectangles.iter().map(|one| one.0).collect();
        // The first two are the legend's.
        for (end, truth) in ends[2..].iter().zip([3.0, 2.9, 1.5, 0.17]) {
            assert_near(back(&ticks, *end, false), truth);
        }
        assert_eq!(ends.len(), 6);
        let whiskers = drawing.lines_of("whisker");
        let (low, high) = (whiskers[0].0.0, whiskers[0].1.0);
        assert_near(back(&ticks, low, false), 2.7);
        assert_near(back(&ticks, high, false), 3.4);
        assert_eq!(
            whiskers.len(),
            6,
            "a line and two ends for each bar that has an interval"
        );
    }
}

#[test]
fn spots_stand_at_their_figures() {
    for size in SIZES {
        let drawing = Drawing::of(&scatter().svg(Theme::Page, size));
        let truth = [(2.0, 0.2), (20.0, 2.0), (6.4, 1.1), (6.5, 1.1)];
        let spots = &drawing.marks[drawing.marks.len() - truth.len()..];
        assert_eq!(drawing.marks.len(), truth.len() + 2, "two in the legend");
        for ((x, y), (true_x, true_y)) in spots.iter().zip(truth) {
            assert_near(back(&drawing.level_ticks(), *x, true), true_x);
            assert_near(back(&drawing.upright_ticks(), *y, true), true_y);
        }
    }
}

#[test]
fn curves_pass_through_their_figures() {
    for size in SIZES {
        for (chart, is_log) in [(rate_over_time(), false), (latencies(), true)] {
            let drawing = Drawing::of(&chart.svg(Theme::Page, size));
            let Chart::Curves(curves) = chart else {
                panic!()
            };
            let drawn = &drawing.curves[curves.curves.len()..];
            for (curve, points) in curves.curves.iter().zip(drawn) {
                let is_fit = |point: &&(f64, f64)| !is_log || point.0 > 0.0;
                let truth: Vec<_> = curve.points.iter().filter(is_fit).collect();
                assert_eq!(points.len(), truth.len());
                for ((x, y), (true_x, true_y)) in points.iter().zip(truth) {
                    let (found_x, found_y) = (
                        back(&drawing.level_ticks(), *x, is_log),
                        back(&drawing.upright_ticks(), *y, is_log),
                    );
                    assert!((found_x / true_x - 1.0).abs() < 0.01, "{found_x} {true_x}");
                    assert!((found_y / true_y - 1.0).abs() < 0.01, "{found_y} {true_y}");
                }
            }
        }
    }
}

#[test]
fn a_whisker_far_beyond_the_bars_does_not_stretch_the_axis() {
    let Chart::Bars(mut bars) = bars() else {
        panic!()
    };
    bars.groups[2].bars[0].ends = Some((0.01, 40.0));
    for size in SIZES {
        let drawing = Drawing::of(&Chart::Bars(bars.clone()).svg(Theme::Page, size));
        let ticks = drawing.level_ticks();
        assert!(ticks.last().unwrap().1 <= 4.0, "{ticks:?}");
        let caps = drawing.lines_of("whisker").len();
        assert_eq!(caps, 5, "without a cap at its far end");
        drawing.assert_readable();
    }
}

#[test]
fn the_best_cards_have_names_and_no_name_is_there_twice() {
    // A cloud below a front of three, one of them on two boards.
    let cloud = (0..40_u32).map(|index| Spot {
        name: format!("Some Brand Card number {index}"),
        x: 5.0 + f64::from(index % 8) / 4.0,
        y: 0.5 + f64::from(index / 8) / 8.0,
        series: 0,
    });
    let best = [
        ("Fast Reader 64 GB", 9.0, 1.2, 0),
        ("Fast Writer 64 GB", 5.0, 2.0, 0),
        ("Good at Both 128 GB", 7.0, 1.5, 1),
        ("Good at Both 128 GB", 6.0, 1.1, 0),
    ];
    let best = best.map(|(name, x, y, series)| Spot {
        name: name.to_owned(),
        x,
        y,
        series,
    });
    let Chart::Scatter(mut chart) = scatter() else {
        panic!()
    };
    chart.spots = cloud.chain(best).collect();
    for size in SIZES {
        let drawing = Drawing::of(&Chart::Scatter(chart.clone()).svg(Theme::Page, size));
        drawing.assert_readable();
        let names = drawing
            .texts
            .iter()
            .filter(|text| text.class == "text small");
        let names: Vec<&str> = names.map(|text| text.text.as_str()).collect();
        for (name, count) in [
            ("Fast Reader 64 GB", 1),
            ("Fast Writer 64 GB", 1),
            ("Good at Both 128 GB", 1),
        ] {
            let found = names.iter().filter(|found| **found == name).count();
            assert_eq!(found, count, "{size:?} {name}: {names:?}");
        }
    }
}

#[test]
fn source_and_conditions_stand_in_the_picture() {
    for chart in all() {
        for size in SIZES {
            let drawing = Drawing::of(&chart.svg(Theme::Auto, size));
            let small = drawing
                .texts
                .iter()
                .filter(|text| text.class == "text dim small");
            let small: Vec<&str> = small.map(|text| text.text.as_str()).collect();
            assert!(
                small.join(" ").ends_with(&chart.heading().footer),
                "{small:?}"
            );
        }
    }
}

#[test]
fn dumbbells_end_at_their_figures() {
    for size in SIZES {
        let drawing = Drawing::of(&dumbbells(["off", "on"]).svg(Theme::Page, size));
        let ticks = drawing.level_ticks();
        let places: Vec<f64> = drawing.marks.iter().skip(2).map(|mark| mark.0).collect();
        for (place, truth) in places.iter().zip([2000.0, 4000.0, 1500.0, 1500.0]) {
            assert_near(back(&ticks, *place, false), truth);
        }
        assert!(
            drawing
                .texts
                .iter()
                .any(|text| text.text == "2000 to 4000, ×2.00")
        );
    }
}

#[test]
fn dots_stand_at_their_figures_and_the_named_ones_have_their_names() {
    for size in SIZES {
        let drawing = Drawing::of(&strip().svg(Theme::Page, size));
        assert_eq!(drawing.marks.len(), 50);
        let ticks = drawing.level_ticks();
        assert!(ticks.len() >= 3, "{ticks:?}");
        // Named dots are drawn last, those of the lower rate first.
        for (place, truth) in drawing.marks[48..].iter().zip([3, 40]) {
            assert_near(back(&ticks, place.0, true), 20.0 * 1.1_f64.powi(truth));
        }
        let names = drawing
            .texts
            .iter()
            .filter(|text| text.class == "text small");
        assert_eq!(names.count(), 2);
        let labels = ["A1", "A2", "far away"].map(|label| {
            let mut texts = drawing.texts.iter();
            texts.any(|text| text.text == label)
        });
        assert_eq!(labels, [true, true, false]);
    }
}

#[test]
fn no_text_leaves_the_chart_or_meets_another() {
    for chart in all() {
        for size in SIZES {
            let drawing = Drawing::of(&chart.svg(Theme::Page, size));
            assert!(drawing.texts.len() > 5);
            drawing.assert_readable();
        }
    }
}

#[test]
fn crowds_and_extremes_stay_readable() {
    let name = |index: usize| format!("Some Brand Card number {index} of 64 GB");
    let spots = (0..60).map(|index| Spot {
        name: name(index),
        x: 1.0 + f64::from(u32::try_from(index % 7).unwrap()),
        y: 1e-3 * 1.3_f64.powi(i32::try_from(index).unwrap()),
        series: index % 4,
    });
    let groups = [0.000_012, 123_456.0].map(|value| Group {
        name: name(1),
        bars: vec![Bar {
            value,
            ends: Some((0.0, value * 1.7)),
            series: 0,
            label: name(3),
        }],
    });
    let series: Vec<String> = (0..4).map(|index| name(index) + " on a board").collect();
    let crowd = Chart::Scatter(Scatter {
        heading: heading(
            &"Averyveryverylongwordthatnobodycanbreakbecauseithasnospacesinit ".repeat(3),
            "",
        ),
        x_axis: "MB/s".to_owned(),
        y_axis: "MB/s".to_owned(),
        series: series.clone(),
        spots: spots.collect(),
        named: Vec::new(),
    });
    let extremes = Chart::Bars(Bars {
        heading: heading("extremes", ""),
        axis: "IOPS".to_owned(),
        series,
        groups: groups.to_vec(),
        marks: Vec::new(),
    });
    let empty = Chart::Curves(Curves {
        heading: heading("nothing", ""),
        x_axis: "s".to_owned(),
        y_axis: "%".to_owned(),
        is_log: (true, true),
        curves: vec![Curve {
            name: "none".to_owned(),
            points: vec![(0.0, f64::NAN)],
        }],
    });
    assert!(
        crowd
            .svg(Theme::Page, Size::Wide)
            .contains("Without a name in the chart: ")
    );
    for chart in [crowd, extremes, empty] {
        for size in SIZES {
            Drawing::of(&chart.svg(Theme::Page, size)).assert_readable();
        }
    }
}

#[test]
fn what_an_axis_tells_stays_inside() {
    let Chart::Bars(mut bars) = bars() else {
        panic!()
    };
    bars.axis = "transactions/s, whiskers: 95 % interval between runs, or within one".to_owned();
    let Chart::Curves(mut curves) = rate_over_time() else {
        panic!()
    };
    curves.is_log = (true, false);
    curves.curves[0].points = vec![(10.0, 1.0), (100_000.0, 2.0)];
    for chart in [Chart::Bars(bars), Chart::Curves(curves)] {
        for size in SIZES {
            Drawing::of(&chart.svg(Theme::Page, size)).assert_readable();
        }
    }
}

#[test]
fn each_axis_has_one_unit_and_is_named() {
    const UNITS: [&str; 6] = ["MB/s", "IOPS", "seconds", "milliseconds", "%", "MiB/s"];
    for chart in all() {
        let drawing = Drawing::of(&chart.svg(Theme::Page, Size::Wide));
        let names: Vec<&Text> = drawing.axis_names();
        let expected = match chart {
            Chart::Bars(_) | Chart::Dumbbells(_) | Chart::Strip(_) => 1,
            _ => 2,
        };
        assert_eq!(names.len(), expected, "{names:?}");
        for name in names {
            let before_remark = name.text.split(", whiskers").next().unwrap();
            let words = before_remark.split([' ', ',']);
            let units = words.filter(|word| UNITS.contains(word)).count();
            assert_eq!(units, 1, "{name:?}");
        }
    }
}

#[test]
fn charts_speak_to_screen_readers() {
    for chart in all() {
        let text = chart.svg(Theme::Auto, Size::Wide);
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let root = parsed.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let said = |name: &str| {
            let found = root
                .children()
                .find(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)));
            found.and_then(|child| child.text()).map(str::to_owned)
        };
        let heading = chart.heading();
        assert_eq!(said("title").as_deref(), Some(heading.title.as_str()));
        let about = said("desc").unwrap();
        assert!(about.starts_with(&heading.about), "{about}");
        assert!(about.contains("simulated"), "{about}");
    }
}

#[test]
fn series_can_be_told_apart_without_red_green_or_blue() {
    for palette in [Palette::LIGHT, Palette::DARK] {
        crate::colour::assert_distinct(&palette.series, 18.0);
    }
}

#[test]
fn everything_stands_out_from_the_paper() {
    use crate::colour::contrast;
    for palette in [Palette::LIGHT, Palette::DARK] {
        for text in [palette.ink, palette.dim] {
            assert!(contrast(text, palette.paper) >= 4.5, "{text}");
        }
        for series in palette.series {
            assert!(contrast(series, palette.paper) >= 3.0, "{series}");
        }
    }
}

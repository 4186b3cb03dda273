//! How colours look to those who see two primary colours only, and how far they are apart.

/// Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
/// Deficiency" (2009), severity 1.0, for linear RGB: those who lack the long, the middle, the short cones.
const DICHROMACIES: [[[f64; 3]; 3]; 3] = [
    [
        [0.152_286, 1.052_583, -0.204_868],
        [0.114_503, 0.786_281, 0.099_216],
        [-0.003_882, -0.048_116, 1.051_998],
    ],
    [
        [0.367_322, 0.860_646, -0.227_968],
        [0.280_085, 0.672_501, 0.047_413],
        [-0.011_820, 0.042_940, 0.968_881],
    ],
    [
        [1.255_528, -0.076_749, -0.178_779],
        [-0.078_411, 0.930_809, 0.147_602],
        [0.004_733, 0.691_367, 0.303_900],
    ],
];
const ALL: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

/// sRGB to linear light.
fn linear(colour: &str) -> [f64; 3] {
    [1, 3, 5].map(|from| {
        let part = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    })
}

fn times(matrix: &[[f64; 3]; 3], colour: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(colour).map(|(a, b)| a * b).sum())
}

/// CIE 1976 L*a*b*, D65.
fn lab(colour: [f64; 3]) -> [f64; 3] {
    let to_xyz = [
        [0.412_456_4, 0.357_576_1, 0.180_437_5],
        [0.212_672_9, 0.715_152_2, 0.072_175],
        [0.019_333_9, 0.119_192, 0.950_304_1],
    ];
    let xyz = times(&to_xyz, colour.map(|part| part.clamp(0.0, 1.0)));
    let white = [0.950_47, 1.0, 1.088_83];
    let root = |part: f64| {
        if part > 216.0 / 24_389.0 {
            part.cbrt()
        } else {
            (24_389.0 / 27.0 * part + 16.0) / 116.0
        }
    };
    let [x, y, z] = [0, 1, 2].map(|index| root(xyz[index] / white[index]));
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// Any two colours are that far apart (ΔE*ab), for those who see all colours and for the others.
#[track_caller]
pub(crate) fn assert_distinct(colours: &[&str], least: f64) {
    for matrix in [ALL].iter().chain(&DICHROMACIES) {
        let seen: Vec<[f64; 3]> = colours
            .iter()
            .map(|colour| lab(times(matrix, linear(colour))))
            .collect();
        for (index, one) in seen.iter().enumerate() {
            for (other_index, other) in seen.iter().enumerate().skip(index + 1) {
                let squares: f64 = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum();
                let apart = squares.sqrt();
                assert!(
                    apart >= least,
                    "{} and {} are {apart:.1} apart under {matrix:?}",
                    colours[index],
                    colours[other_index]
                );
            }
        }
    }
}

/// Contrast of two colours (WCAG 2.1).
pub(crate) fn contrast(one: &str, other: &str) -> f64 {
    let brightness = |colour| {
        let [red, green, blue] = linear(colour);
        0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05
    };
    let (one, other) = (brightness(one), brightness(other));
    one.max(other) / one.min(other)
}

#[test]
fn the_measure_knows_what_is_alike_and_what_is_not() {
    assert!((contrast("#000000", "#ffffff") - 21.0).abs() < 0.01);
    assert_distinct(&["#000000", "#ffffff"], 99.0);
    // Orange and ochre of the same lightness are one colour without the middle cones.
    let same = std::panic::catch_unwind(|| assert_distinct(&["#d55e00", "#b58900"], 10.0));
    assert!(same.is_err());
}

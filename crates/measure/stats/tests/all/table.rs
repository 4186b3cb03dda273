//! Student's t against printed tables.

use cardmark_stats::student_t;

#[test]
fn quantiles_agree_with_the_printed_table() {
    // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, to its three decimals.
    let table = [
        (0.80, 1, 3.078),
        (0.90, 1, 6.314),
        (0.95, 1, 12.706),
        (0.95, 2, 4.303),
        (0.95, 3, 3.182),
        (0.95, 5, 2.571),
        (0.95, 10, 2.228),
        (0.95, 23, 2.069),
        (0.95, 30, 2.042),
        (0.95, 100, 1.984),
        (0.99, 4, 4.604),
        (0.99, 11, 3.106),
        (0.998, 6, 5.208),
        (0.998, 60, 3.232),
    ];
    for (level, degrees, printed) in table {
        let computed = student_t(level, degrees);
        assert!(
            (computed - printed).abs() <= 0.000_501,
            "{level} {degrees}: {computed}"
        );
    }
}

#[test]
fn quantiles_agree_with_another_implementation_to_1e_6() {
    // mpmath with 30 digits: the root of 1 − betainc(ν/2, 1/2, 0, ν/(ν + t²)) = level.
    let reference = [
        (0.96, 2, 4.848732214),
        (0.96, 5, 2.756508522),
        (0.96, 11, 2.328139833),
        (0.96, 23, 2.176958111),
        (0.95, 7, 2.364624252),
        (0.999, 4, 8.610301581),
        (0.999, 22, 3.792130672),
        (0.999, 150, 3.356568982),
        (0.96, 199, 2.067298059),
        (0.96, 200, 2.06722988),
        (0.999, 1000, 3.300282648),
    ];
    for (level, degrees, expected) in reference {
        let computed = student_t(level, degrees);
        assert!(
            (computed - expected).abs() < 1e-6 * expected,
            "{level} {degrees}: {computed}"
        );
    }
}

#[test]
fn quantiles_fall_with_degrees_and_rise_with_level() {
    for degrees in 1..400 {
        assert!(student_t(0.96, degrees) > student_t(0.96, degrees + 1));
        assert!(student_t(0.96, degrees) > student_t(0.95, degrees));
    }
    // The normal quantile, 2.0537489 at 96 %.
    assert!((student_t(0.96, u32::MAX) - 2.053_748_9).abs() < 1e-6);
    assert!(student_t(0.96, 0).is_infinite());
}

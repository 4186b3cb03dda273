//! Known figures of each text: ids, and values in bytes, operations a second or nanoseconds.

use crate::{K, M, fixture};

/// All of one record's figures: ids and values.
pub(crate) type Figures = &'static [(&'static str, f64)];

/// A text, our suite, and the figures of each record.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) text: &'static str,
    pub(crate) suite: Option<&'static str>,
    pub(crate) records: &'static [Figures],
}

macro_rules! known {
    ($name:literal, $suite:expr, $($figures:expr),+ $(,)?) => {
        Known { name: $name, text: fixture!($name), suite: $suite, records: &[$($figures),+] }
    };
}

pub(crate) const SIX: [&str; 6] = [
    "iozone_write",
    "iozone_rewrite",
    "iozone_read",
    "iozone_reread",
    "iozone_random_read",
    "iozone_random_write",
];

pub(crate) fn known() -> Vec<Known> {
    [single(), several(), reports()]
        .into_iter()
        .flatten()
        .collect()
}

/// One tool, one measurement.
fn single() -> Vec<Known> {
    vec![
        known!("hdparm-9.65-t.txt", None, &[("hdparm_t", 20.62 * M)]),
        known!("hdparm-9.65-t-slow.txt", None, &[("hdparm_t", 582.86 * K)]),
        known!(
            "hdparm-9.65-tT.txt",
            None,
            &[("hdparm_T", 20_071.55 * M), ("hdparm_t", 315.14 * M)]
        ),
        known!(
            "hdparm-9.65-tT-direct.txt",
            None,
            &[
                ("hdparm_T_direct", 20.9 * M),
                ("hdparm_t_direct", 21.17 * M)
            ]
        ),
        known!(
            "dd-9.1-fsync.txt",
            None,
            &[("dd_40m", 41_943_040.0 / 3.67295)]
        ),
        known!(
            "dd-9.1-progress.txt",
            None,
            &[("dd_40m", 41_943_040.0 / 3.57674)]
        ),
        known!(
            "ddrescue-1.27-fast.log",
            None,
            &[("ddrescue", 314_156_646.0)]
        ),
        known!(
            "ddrescue-1.27-rates.log",
            None,
            &[("ddrescue", 19_595_264.0)]
        ),
        known!("ddrescue-1.27-fill.txt", None, &[("ddrescue", 20_480e3)]),
        known!(
            "ddrescue-1.27-read-binary.txt",
            None,
            &[("ddrescue", 195.0 * K)]
        ),
        known!("ddrescue-1.27-read-slow.txt", None, &[("ddrescue", 200e3)]),
        known!("f3-7.2-write.txt", None, &[("f3_write", 8.09 * M)]),
        known!(
            "f3-7.2-read-partial.txt",
            None,
            &[
                ("f3_read", 14.83 * M),
                ("f3_ok", 13_724_448.0 * 512.0),
                ("f3_lost", 0.0)
            ]
        ),
        known!(
            "f3-7-read-lost.txt",
            None,
            &[
                ("f3_read", 7.7 * M),
                ("f3_ok", 35_923_289.0 * 512.0),
                ("f3_lost", 87_349_735.0 * 512.0),
            ]
        ),
        known!(
            "f3-8.0-probe-limbo.txt",
            None,
            &[
                ("f3_usable", 1_099_511_627_776.0),
                ("f3_announced", 4_075_520_000.0 * 512.0),
            ]
        ),
        known!(
            "f3-8.0-probe-damaged.txt",
            None,
            &[("f3_usable", 0.0), ("f3_announced", 250.0 * K * M)]
        ),
        known!(
            "f3-8.0-probe-real.txt",
            None,
            &[
                ("f3_usable", 15_728_640.0 * 512.0),
                ("f3_announced", 15_728_640.0 * 512.0),
            ]
        ),
        known!(
            "f3-10.0-probe-real.txt",
            None,
            &[
                ("f3_usable", 1_953_506_646.0 * 4096.0),
                ("f3_announced", 1_953_506_646.0 * 4096.0),
            ]
        ),
        known!("fio-2-rand-read.txt", None, FIO_2_READ),
        // Half of what is between 8904 times 1,000 and times 1,024.
        known!(
            "fio-2.1.14-write.txt",
            None,
            &[
                ("fio_seqwrite4_write", 2226.0),
                ("fio_seqwrite4_write_p50", 155e3),
                ("fio_seqwrite4_write_p99", 3568e3),
            ]
        ),
        known!(
            "fio-3.16-rand-read.txt",
            None,
            &[("fio_read_iops_read", 202_678.0 / 15.005)]
        ),
        known!(
            "fio-3.28-rand-write.txt",
            None,
            &[
                ("fio_max_throughput_write", 17_700.0),
                ("fio_max_throughput_write_p50", 16e3),
                ("fio_max_throughput_write_p99", 194e3),
            ]
        ),
        known!(
            "fio-3.41-write.txt",
            None,
            &[
                ("fio_seqwrite_write", 52.9 * M),
                ("fio_seqwrite_write_p50", 19e6),
                ("fio_seqwrite_write_p99", 28e6),
            ]
        ),
        known!(
            "fio-3.33-terse-read.txt",
            None,
            &[("fio_test_read", 3110.0)]
        ),
        known!("fio-3.33-terse-write.txt", None, FIO_TERSE_WRITE),
    ]
}

const FIO_2_READ: Figures = &[
    ("fio_rand_read_4k_read", 5626.0 / 60.004),
    ("fio_rand_read_4k_read_p50", 9e6),
    ("fio_rand_read_4k_read_p99", 130e6),
];
const FIO_TERSE_WRITE: Figures = &[("fio_test_write", 3084.0)];

/// One tool, several tests.
fn several() -> Vec<Known> {
    vec![
        known!("iozone-3.489-4k.txt", None, IOZONE_4K),
        known!(
            "iozone-3.489-4k-1m.txt",
            None,
            &[
                ("iozone_write_4k", 8623.0 * K),
                ("iozone_rewrite_4k", 12_250.0 * K),
                ("iozone_read_4k", 12_913.0 * K),
                ("iozone_reread_4k", 11_732.0 * K),
                ("iozone_random_read_4k", 11_705.0 * K),
                ("iozone_random_write_4k", 12_847.0 * K),
                ("iozone_write_1m", 9382.0 * K),
                ("iozone_rewrite_1m", 11_735.0 * K),
                ("iozone_read_1m", 10_128.0 * K),
                ("iozone_reread_1m", 10_956.0 * K),
                ("iozone_random_read_1m", 11_808.0 * K),
                ("iozone_random_write_1m", 13_382.0 * K),
            ]
        ),
        known!(
            "iozone-3.489-no-read.txt",
            None,
            &[
                ("iozone_write_64k", 13_743.0 * K),
                ("iozone_rewrite_64k", 11_761.0 * K),
                ("iozone_random_read_64k", 12_660.0 * K),
                ("iozone_random_write_64k", 11_642.0 * K),
            ]
        ),
        known!(
            "iozone-3.489-stride-excel.txt",
            None,
            &[
                ("iozone_write_64k", 11_909.0 * K),
                ("iozone_rewrite_64k", 11_647.0 * K),
                ("iozone_stride_read_64k", 13_034.0 * K),
            ]
        ),
        known!(
            "f3-10.0-write-read.txt",
            None,
            &[
                ("f3_write", 18.2 * M),
                ("f3_read", 40.02 * M),
                ("f3_ok", 5_242_879.0 * 512.0),
                ("f3_lost", 512.0),
            ]
        ),
        known!(
            "fio-3.33-randrw.json",
            None,
            &[
                ("fio_test_read", 2_809.590_973),
                ("fio_test_write", 2_967.559_944)
            ]
        ),
        known!(
            "fio-3.33-randrw.txt",
            None,
            &[
                ("fio_test_read", 979.0 / 0.349),
                ("fio_test_write", 1069.0 / 0.349),
            ]
        ),
    ]
}

const IOZONE_4K: Figures = &[
    (SIX[0], 9491.0 * K),
    (SIX[1], 12_760.0 * K),
    (SIX[2], 9944.0 * K),
    (SIX[3], 12_450.0 * K),
    (SIX[4], 11_808.0 * K),
    (SIX[5], 10_064.0 * K),
];

fn reports() -> Vec<Known> {
    vec![
        known!(
            "agnostics-0.12-pass.txt",
            None,
            &[
                ("fio_seq_write_512k_q4", 20_270.0 * K),
                ("fio_rand_write_4k_q4", 961.0),
                ("fio_rand_read_4k_q4", 1929.0),
            ]
        ),
        known!(
            "agnostics-0.15-wrong-lines.txt",
            Some("agnostics"),
            &[
                ("agnostics_seq_write", 34_000.0 * K),
                ("agnostics_rand_write", 884.0),
                ("agnostics_rand_read", 1676.0),
                ("agnostics_seq_read", 44_393.0 * K),
            ]
        ),
        known!(
            "agnostics-0.16-script.txt",
            Some("agnostics"),
            &[
                ("agnostics_seq_write", 18_397.0 * K),
                ("agnostics_rand_write", 363.0),
                ("agnostics_rand_read", 2005.0),
                ("agnostics_seq_read", 23_027.0 * K),
            ]
        ),
        known!(
            "agnostics-unknown-slow-write.txt",
            None,
            &[
                ("fio_seq_write_512k_q4", 2944.0 * K),
                ("fio_rand_write_4k_q4", 176.0),
                ("fio_rand_read_4k_q4", 1861.0),
            ]
        ),
        known!(
            "agnostics-unknown-three-runs.txt",
            None,
            &[
                ("fio_seq_write_512k_q4", 12_845.0 * K),
                ("fio_rand_write_4k_q4", 216.0),
                ("fio_rand_read_4k_q4", 957.0),
            ]
        ),
        known!("pibenchmarks-2020-table.txt", None, PIBENCHMARKS_2020),
        known!(
            "pibenchmarks-2023-fio-alone.txt",
            None,
            &[
                ("pibenchmarks_fio_rand_read", 4029.0),
                ("pibenchmarks_fio_rand_write", 3949.0),
            ]
        ),
        known!(
            "pibenchmarks-2024-terminal.txt",
            Some("pibenchmarks"),
            &[
                ("pibenchmarks_hdparm_disk", 582.86 * K),
                // The table says kB/sec; hdparm's own line does not.
                ("pibenchmarks_hdparm_cached", 20.9 * M),
                ("pibenchmarks_dd", 830e3),
                ("pibenchmarks_fio_rand_read", 3110.0),
                ("pibenchmarks_fio_rand_write", 3084.0),
                ("pibenchmarks_iozone_read", 9944.0 * K),
                ("pibenchmarks_iozone_write", 9491.0 * K),
                ("pibenchmarks_iozone_random_read", 11_808.0 * K),
                ("pibenchmarks_iozone_random_write", 10_064.0 * K),
                ("pibenchmarks_score", 10_605.0),
            ]
        ),
        known!(
            "pibenchmarks-2024-two-tables.txt",
            None,
            PIBENCHMARKS_FIRST,
            PIBENCHMARKS_SECOND
        ),
        known!(
            "kdiskmark-2.2.1-one-test.txt",
            None,
            &[
                ("kdiskmark_rand_read_4k_q1_t1", 582.2),
                ("kdiskmark_rand_read_4k_q1_t1_mean", 1713e3),
            ]
        ),
        known!(
            "kdiskmark-3.2.0-demo-no-heading.txt",
            None,
            &[
                ("kdiskmark_seq_read_1m_q8_t1", 20_239.7 * M),
                ("kdiskmark_seq_read_1m_q8_t1_mean", 380_480.0),
                ("kdiskmark_seq_write_1m_q8_t1", 8862.3 * M),
                ("kdiskmark_seq_write_1m_q8_t1_mean", 793_910.0),
            ]
        ),
        known!("kdiskmark-3.0.0-default.txt", None, KDISKMARK_3),
        known!("crystaldiskmark-3.0.1-all.txt", None, CRYSTAL_3),
        known!("crystaldiskmark-5.0.2-all.txt", None, CRYSTAL_5),
        known!("crystaldiskmark-8.0.4-default.txt", None, CRYSTAL_8),
    ]
}

/// Units of hdparm and dd stay open.
const PIBENCHMARKS_2020: Figures = &[
    ("pibenchmarks_fio_rand_read", 2380.0),
    ("pibenchmarks_fio_rand_write", 204.0),
    ("pibenchmarks_iozone_read", 7050.0 * K),
    ("pibenchmarks_iozone_write", 1357.0 * K),
    ("pibenchmarks_iozone_random_read", 6883.0 * K),
    ("pibenchmarks_iozone_random_write", 999.0 * K),
    ("pibenchmarks_score", 700.0),
];
/// The unit of the cached reads is that of the disk reads: open.
const PIBENCHMARKS_FIRST: Figures = &[
    ("pibenchmarks_hdparm_disk", 391.16 * M),
    ("pibenchmarks_dd", 297e6),
    ("pibenchmarks_fio_rand_read", 68_039.0),
    ("pibenchmarks_fio_rand_write", 87_521.0),
    ("pibenchmarks_iozone_read", 179_024.0 * K),
    ("pibenchmarks_iozone_write", 167_546.0 * K),
    ("pibenchmarks_iozone_random_read", 75_154.0 * K),
    ("pibenchmarks_iozone_random_write", 180_317.0 * K),
    ("pibenchmarks_score", 39_018.0),
];
const PIBENCHMARKS_SECOND: Figures = &[
    ("pibenchmarks_hdparm_disk", 759.79 * M),
    ("pibenchmarks_dd", 433e6),
    ("pibenchmarks_fio_rand_read", 215_578.0),
    ("pibenchmarks_fio_rand_write", 93_515.0),
    ("pibenchmarks_iozone_read", 227_825.0 * K),
    ("pibenchmarks_iozone_write", 218_295.0 * K),
    ("pibenchmarks_iozone_random_read", 86_237.0 * K),
    ("pibenchmarks_iozone_random_write", 251_895.0 * K),
    ("pibenchmarks_score", 55_508.0),
];
/// Its MB are 1,024,000 bytes.
const KDISKMARK_3: Figures = &[
    ("kdiskmark_seq_read_1m_q8_t1", 508.897 * 1.024e6),
    ("kdiskmark_seq_read_1m_q8_t1_mean", 13_840_050.0),
    ("kdiskmark_seq_read_1m_q1_t1", 438.278 * 1.024e6),
    ("kdiskmark_seq_read_1m_q1_t1_mean", 2_280_140.0),
    ("kdiskmark_rand_read_4k_q32_t1", 88_664.6),
    ("kdiskmark_rand_read_4k_q32_t1_mean", 352_370.0),
    ("kdiskmark_rand_read_4k_q1_t1", 11_041.6),
    ("kdiskmark_rand_read_4k_q1_t1_mean", 88_480.0),
    ("kdiskmark_seq_write_1m_q8_t1", 460.312 * 1.024e6),
    ("kdiskmark_seq_write_1m_q8_t1_mean", 15_153_110.0),
    ("kdiskmark_seq_write_1m_q1_t1", 333.085 * 1.024e6),
    ("kdiskmark_seq_write_1m_q1_t1_mean", 2_349_820.0),
    ("kdiskmark_rand_write_4k_q32_t1", 78_792.5),
    ("kdiskmark_rand_write_4k_q32_t1_mean", 383_860.0),
    ("kdiskmark_rand_write_4k_q1_t1", 22_760.3),
    ("kdiskmark_rand_write_4k_q1_t1_mean", 39_800.0),
];
const CRYSTAL_3: Figures = &[
    ("crystaldiskmark_seq_read", 19.872e6),
    ("crystaldiskmark_seq_write", 10.416e6),
    ("crystaldiskmark_rand_read_512k", 19.204e6),
    ("crystaldiskmark_rand_write_512k", 3.128e6),
    ("crystaldiskmark_rand_read_4k_q1", 953.1),
    ("crystaldiskmark_rand_write_4k_q1", 125.0),
    ("crystaldiskmark_rand_read_4k_q32", 1000.0),
    ("crystaldiskmark_rand_write_4k_q32", 149.9),
];
const CRYSTAL_5: Figures = &[
    ("crystaldiskmark_seq_read_q32_t1", 92.123e6),
    ("crystaldiskmark_seq_write_q32_t1", 61.480e6),
    ("crystaldiskmark_rand_read_4k_q32_t1", 2000.0),
    ("crystaldiskmark_rand_write_4k_q32_t1", 600.1),
    ("crystaldiskmark_seq_read_t1", 90.177e6),
    ("crystaldiskmark_seq_write_t1", 58.720e6),
    ("crystaldiskmark_rand_read_4k_q1_t1", 1500.0),
    ("crystaldiskmark_rand_write_4k_q1_t1", 500.0),
];
const CRYSTAL_8: Figures = &[
    ("crystaldiskmark_seq_read_1m_q8_t1", 94.1e6),
    ("crystaldiskmark_seq_read_1m_q8_t1_mean", 89_000_120.0),
    ("crystaldiskmark_seq_read_1m_q1_t1", 91.226e6),
    ("crystaldiskmark_seq_read_1m_q1_t1_mean", 11_486_400.0),
    ("crystaldiskmark_rand_read_4k_q32_t1", 2500.0),
    ("crystaldiskmark_rand_read_4k_q32_t1_mean", 12_790_550.0),
    ("crystaldiskmark_rand_read_4k_q1_t1", 2100.1),
    ("crystaldiskmark_rand_read_4k_q1_t1_mean", 475_630.0),
    ("crystaldiskmark_seq_write_1m_q8_t1", 72.351e6),
    ("crystaldiskmark_seq_write_1m_q8_t1_mean", 115_401_770.0),
    ("crystaldiskmark_seq_write_1m_q1_t1", 67.109e6),
    ("crystaldiskmark_seq_write_1m_q1_t1_mean", 15_611_900.0),
    ("crystaldiskmark_rand_write_4k_q32_t1", 750.0),
    ("crystaldiskmark_rand_write_4k_q32_t1_mean", 42_555_010.0),
    ("crystaldiskmark_rand_write_4k_q1_t1", 699.9),
    ("crystaldiskmark_rand_write_4k_q1_t1_mean", 1_427_840.0),
    ("crystaldiskmark_seq_mix70_1m_q8_t1", 80.740e6),
    ("crystaldiskmark_seq_mix70_1m_q8_t1_mean", 103_560_380.0),
    ("crystaldiskmark_rand_mix70_4k_q1_t1", 1000.0),
    ("crystaldiskmark_rand_mix70_4k_q1_t1_mean", 998_720.0),
];

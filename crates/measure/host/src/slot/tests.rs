//! Bus data from controllers and the log.

use super::*;

const DDR50: &str = "clock:\t\t50000000 Hz\nactual clock:\t49999999 Hz\n\
    vdd:\t\t21 (3.3 ~ 3.4 V)\nbus mode:\t2 (push-pull)\nchip select:\t0 (don't care)\n\
    power mode:\t2 (on)\nbus width:\t2 (4 bits)\ntiming spec:\t7 (sd uhs DDR50)\n\
    signal voltage:\t1 (1.80 V)\ndriver type:\t0 (driver type B)\n";

#[test]
fn a_controller_tells_mode_lines_clocks_and_voltage() {
    let expected = Bus {
        mode: Some(BusMode::Ddr50),
        lines_count: Some(4),
        clock_hz: Some(50_000_000),
        actual_clock_hz: Some(49_999_999),
        signal_mv: Some(1800),
        overclock_hz: None,
        source: Some(BusSource::Debugfs),
    };
    assert_eq!(parse_state(DDR50), Some(expected));
    // Not every controller reports its actual clock.
    let without = DDR50.replace("actual clock:\t49999999 Hz\n", "");
    let bus = parse_state(&without).unwrap();
    assert_eq!(
        (bus.clock_hz, bus.actual_clock_hz),
        (Some(50_000_000), None)
    );
}

#[test]
fn a_controller_without_power_tells_nothing() {
    let off = DDR50.replace("clock:\t\t50000000", "clock:\t\t0");
    assert_eq!(parse_state(&off), None);
    for text in ["", "clock", "clock:", "clock:\t\tmany Hz", "clock: -1 Hz"] {
        assert_eq!(parse_state(text), None, "{text}");
    }
}

#[test]
fn words_that_are_not_known_mean_nothing() {
    let strange = DDR50
        .replace("sd uhs DDR50", "sd uhs SDR9000")
        .replace("4 bits", "3 bits")
        .replace("1.80 V", "18 V");
    let bus = parse_state(&strange).unwrap();
    assert_eq!(
        (bus.mode, bus.lines_count, bus.signal_mv),
        (None, None, None)
    );
}

#[test]
fn the_line_of_a_new_card_tells_its_mode() {
    for (said, mode) in [
        ("SDHC", BusMode::Legacy),
        ("MMC", BusMode::Legacy),
        ("high speed SDHC", BusMode::HighSpeed),
        ("high speed MMC", BusMode::MmcHighSpeed),
        ("ultra high speed SDR12 SDHC", BusMode::Sdr12),
        ("ultra high speed SDR25 SDHC", BusMode::Sdr25),
        ("ultra high speed SDR50 SDXC", BusMode::Sdr50),
        ("ultra high speed DDR50 SDXC", BusMode::Ddr50),
        ("ultra high speed SDR104 SDXC", BusMode::Sdr104),
        ("DDR MMC", BusMode::Ddr52),
        ("high speed DDR MMC", BusMode::Ddr52),
        ("HS200 MMC", BusMode::Hs200),
        ("HS400 MMC", BusMode::Hs400),
        ("HS400 Enhanced strobe MMC", BusMode::Hs400),
    ] {
        let line = format!("new {said} card at address aaaa");
        assert_eq!(parse_new_card(&line), Some(mode), "{line}");
    }
    for line in [
        "",
        "new ",
        "new card at address aaaa",
        "new SDIO card at address 0001",
        "new SDHC card on SPI",
        "new UHS-II speed SDXC card at address aaaa",
        "new HS200 SDXC card at address aaaa",
        "card aaaa removed",
    ] {
        assert_eq!(parse_new_card(line), None, "{line}");
    }
}

fn logged(texts: &[&str]) -> CardLog {
    let lines: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
    let slot = Slot {
        host: "mmc0",
        address: "aaaa",
        controller: Path::new("/"),
    };
    CardLog::of(&lines, &slot)
}

#[test]
fn only_the_card_that_is_in_the_slot_now_counts() {
    let queue = "mmc0: Command Queue Engine enabled";
    let card = "mmc0: new ultra high speed SDR104 SDXC card at address aaaa";
    let gone = "mmc0: card aaaa removed";
    let known = CardLog {
        mode: Some(BusMode::Sdr104),
        has_queue: true,
    };
    assert_eq!(logged(&[queue, card]), known);
    assert_eq!(logged(&[queue, card, gone]), CardLog::default());
    assert!(!logged(&[queue, card, gone, card]).has_queue);
    assert_eq!(logged(&[&card.replace("mmc0", "mmc1")]), CardLog::default());
    assert_eq!(
        logged(&[&card.replace("mmc0", "mmc01")]),
        CardLog::default()
    );
    assert_eq!(logged(&[&card.replace("aaaa", "0001")]), CardLog::default());
}

//! Texts of the kernel about cards and disks: its log, the state of a slot, USB descriptors. Nothing
//! panics, and a message that is kept is short and harmless.
#![no_main]

use cardmark_host::{offers_uas, parse_new_card, parse_record, parse_state, storage_message};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = (
        parse_record(&text),
        parse_state(&text),
        parse_new_card(&text),
    );
    let _ = offers_uas(data);
    let names = ["mmc0", "mmcblk0", "usb 2-1", "sda"].map(str::to_owned);
    for line in text.lines() {
        if let Some(message) = storage_message(line, &names) {
            assert!(message.chars().count() <= 161, "{message}");
            assert!(!message.chars().any(char::is_control), "{message:?}");
        }
    }
});

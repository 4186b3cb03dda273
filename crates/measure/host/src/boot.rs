//! Kernel messages about cards, power and firmware since the board was started.

use crate::Root;
use crate::log::KernelLog;

/// Kernel messages about power and heat, and their meaning.
const WARNINGS: &[(&str, &str)] = &[
    ("Undervoltage detected!", "under_voltage"),
    ("Under-voltage detected!", "under_voltage"),
    ("cpu clock throttled", "throttled"),
];

/// Beginning of the messages of the kernel's driver for the VideoCore firmware.
pub(crate) const VIDEO_CORE: &str = "raspberrypi-firmware ";

/// Returns the lines of the kernel's log about cards, power and firmware, read once.
pub(crate) fn boot_lines(root: &Root) -> &[String] {
    let of_card = |text: &str| {
        text.starts_with("mmc") && (text.contains(" card") || text.contains("Command Queue"))
    };
    root.boot_lines.get_or_init(|| {
        let is_wanted =
            |text: &str| of_card(text) || warning(text).is_some() || text.starts_with(VIDEO_CORE);
        let lines = KernelLog::open(root).lines(&is_wanted);
        lines.into_iter().map(|line| line.text).collect()
    })
}

/// Returns the warning about power or heat in a line.
pub(crate) fn warning(text: &str) -> Option<&'static str> {
    let mut warnings = WARNINGS.iter();
    let (_, name) = warnings.find(|(message, _)| text.contains(message))?;
    Some(name)
}

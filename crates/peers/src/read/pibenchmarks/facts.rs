//! What the script says of board and drive before the table.

use super::super::number::Number;

/// What the script says of the board; what it does not know it leaves empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PibenchmarksBoard {
    /// Who made it.
    pub manufacturer: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Of its processor.
    pub architecture: Option<String>,
    /// The operating system.
    pub os: Option<String>,
}

/// What the script says of the drive; what it does not know it leaves empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PibenchmarksDrive {
    /// Device of the folder that was measured.
    pub partition: Option<String>,
    /// Who made it, as a name or as the number in its registers.
    pub manufacturer: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Its kind, such as `SD`.
    pub product: Option<String>,
    /// Hardware version in its registers.
    pub hardware_version: Option<String>,
    /// Firmware version in its registers.
    pub firmware_version: Option<String>,
    /// Month and year in its registers.
    pub made: Option<String>,
    /// Speed classes in its registers, or what sort of drive it is.
    pub class: Option<String>,
    /// Its size.
    pub size: Option<String>,
    /// Clock of the first slot, MHz, whichever device was measured.
    pub clock_mhz: Option<f64>,
    /// What its owner typed.
    pub description: Option<String>,
}

const BOARD: &str = "Board information: ";
const PLACE: &str = " has been detected as ";
const DRIVE: [&str; 3] = ["MicroSD information: ", "Drive information: ", "MMC Type: "];

/// Whether a line tells of the board or the drive.
pub(super) fn is_fact(text: &str) -> bool {
    text.contains(BOARD) || text.contains(PLACE) || is_of_drive(text)
}

fn is_of_drive(text: &str) -> bool {
    DRIVE.iter().any(|begin| text.contains(begin))
}

impl PibenchmarksBoard {
    /// Takes what a line says.
    pub(super) fn look_at(&mut self, text: &str) {
        if text.contains(BOARD) {
            *self = Self {
                manufacturer: labelled(text, "Manufacturer"),
                model: labelled(text, "Model"),
                architecture: labelled(text, "Architecture"),
                os: labelled(text, "OS"),
            };
        }
    }
}

impl PibenchmarksDrive {
    /// Takes what a line says.
    pub(super) fn look_at(&mut self, text: &str) {
        if let Some((_, place)) = text.split_once(PLACE) {
            // `/dev/sda2 (sda2)`
            self.partition = said(place.split(" (").next().unwrap_or(place));
        } else if is_of_drive(text) {
            self.look_at_drive(text);
        } else if let Some(class) = text.strip_prefix("Class: ") {
            // Older scripts: a line of its own.
            self.class = said(class);
        } else if let Some(typed) = text.strip_prefix("Description: ") {
            self.description = said(typed);
        }
    }

    fn look_at_drive(&mut self, text: &str) {
        self.manufacturer = labelled(text, "Manufacturer");
        self.model = labelled(text, "Model");
        self.product = labelled(text, "Product");
        self.hardware_version = labelled(text, "HW Version");
        self.firmware_version = labelled(text, "FW Version");
        self.made = labelled(text, "Date Manufactured");
        self.class = labelled(text, "Class").or_else(|| labelled(text, "MMC Type"));
        self.size = labelled(text, "Size");
        let clock = labelled(text, "Clock Speed");
        self.clock_mhz = clock
            .and_then(|clock| Number::parse(&clock))
            .map(|clock| clock.value);
    }
}

/// What may follow a value: ` - Model: …`.
const LABELS: [&str; 11] = [
    "Manufacturer",
    "Model",
    "Vendor",
    "Product",
    "HW Version",
    "FW Version",
    "Date Manufactured",
    "Class",
    "Size",
    "Architecture",
    "OS",
];

/// What stands behind a label, up to the next; none where that is nothing.
fn labelled(text: &str, label: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("{label}: "))?;
    let ends = LABELS
        .iter()
        .filter_map(|next| rest.find(&format!("- {next}:")));
    said(&rest[..ends.min().unwrap_or(rest.len())])
}

fn said(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

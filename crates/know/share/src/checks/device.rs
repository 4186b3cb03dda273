//! The device: whether board and reader agree, whether it is known, and whether it can be the product that its owner names.

use cardmark_core::{OriginKind, Record};
use cardmark_judge::{disagreements, of_no_card, product_contradiction, unidentified};

use crate::check::{Check, CheckName, CheckOutcome};

const NOT_MEASURED: &str = "the figures were not measured by this program";

fn not_measured(record: &Record, name: CheckName) -> Option<Check> {
    (record.origin.kind != OriginKind::Measured)
        .then(|| Check::of(name, CheckOutcome::CannotTell, NOT_MEASURED))
}

/// Checks that board, memory, kernel, page size and reader agree.
pub(super) fn board(record: &Record) -> Check {
    let name = CheckName::Board;
    not_measured(record, name).unwrap_or_else(|| match disagreements(record) {
        None => Check::of(name, CheckOutcome::CannotTell, "the board is unknown"),
        Some(found) => Check::failed_or_passed(name, &found),
    })
}

/// Checks that the record has what the kernel always shows of a device.
pub(super) fn identified(record: &Record) -> Check {
    let name = CheckName::Identified;
    not_measured(record, name).unwrap_or_else(|| {
        let none = record.devices.is_empty();
        let none = none.then_some("the record names no device");
        counted_if_none(
            name,
            none.or_else(|| record.devices.iter().find_map(unidentified)),
        )
    })
}

/// Checks that the figures are those of one real device.
pub(super) fn circumstances(record: &Record) -> Check {
    let name = CheckName::Circumstances;
    not_measured(record, name).unwrap_or_else(|| counted_if_none(name, of_no_card(record)))
}

/// Checks that nothing of the device contradicts the product that its owner names.
pub(super) fn product_fits(record: &Record) -> Check {
    let name = CheckName::ProductFits;
    not_measured(record, name).unwrap_or_else(|| {
        if !record.labels.contains_key("product") && !record.labels.contains_key("product_id") {
            return Check::of(name, CheckOutcome::CannotTell, "its owner names no product");
        }
        counted_if_none(name, product_contradiction(record))
    })
}

fn counted_if_none(name: CheckName, reason: Option<impl Into<String>>) -> Check {
    match reason {
        Some(reason) => Check::of(name, CheckOutcome::NotCounted, reason),
        None => Check::passed(name),
    }
}

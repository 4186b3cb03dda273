//! Records of later versions.

use cardmark_core::parse_record;
use cardmark_report::document::{html, markdown};
use cardmark_report::{Style, csv, survey, terminal};
use cardmark_samples::later_records;

#[test]
fn records_of_later_versions_are_shown() {
    for later in later_records() {
        let record = parse_record(&later.document).unwrap();
        assert!(
            terminal(&record, 80, Style::Plain).contains('\n'),
            "{}",
            later.what
        );
        let records = [record];
        let document = survey("Later", &records);
        assert!(markdown(&document).starts_with("# Later"), "{}", later.what);
        assert!(html(&document).contains("<h1>Later</h1>"), "{}", later.what);
        assert!(csv(&records).lines().count() > 1, "{}", later.what);
    }
}

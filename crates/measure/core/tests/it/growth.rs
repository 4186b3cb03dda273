//! Records of later versions are read, and keep their new words.

use cardmark_core::{parse_record, record_to_json};
use cardmark_samples::{WORD, full_record, later_records};

#[test]
fn words_of_later_versions_survive_and_fields_are_no_error() {
    let full = parse_record(&full_record()).unwrap();
    assert_eq!(full, parse_record(&record_to_json(&full).unwrap()).unwrap());
    for later in later_records() {
        let what = &later.what;
        let record = parse_record(&later.document);
        let record = record.unwrap_or_else(|error| panic!("{what}: {error}"));
        let again = record_to_json(&record).unwrap();
        assert_eq!(again.contains(WORD), later.is_word(), "{what}");
    }
}

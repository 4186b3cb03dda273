//! What the user states of a run: a document of its own beside the record, which never changes.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::upgrade::check_shape;
use crate::{ParseError, Record, STATEMENT, parse_record};

/// Label with the promises on the package, separated by spaces.
pub const CLAIMS_LABEL: &str = "claims";

/// What the user states of a run. Commands know it as labels: each field is the label of its name, and `labels` holds
/// the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Statement {
    /// Version of the document's shape.
    pub statement: u32,
    /// Id of the run.
    pub record_id: Uuid,
    /// Number of the change, from 1. Of two statements on one run that with the higher number counts.
    pub revision: u64,
    /// Product, as its name is printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// Product, by its id in the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_id: Option<String>,
    /// Promises on the package: classes, rates and capacities, such as `A1`, `130MB/s`, `64GB`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
    /// Change in the setup, in the user's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setting: Option<String>,
    /// Where and when the card was bought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bought: Option<String>,
    /// Free text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// All other labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

impl Statement {
    /// Returns the statement that consists of these labels.
    pub fn of(record_id: Uuid, revision: u64, labels: &BTreeMap<String, String>) -> Self {
        let mut labels = labels.clone();
        let claims = labels.remove(CLAIMS_LABEL).unwrap_or_default();
        let mut text = |key: &str| labels.remove(key);
        Self {
            statement: STATEMENT,
            record_id,
            revision,
            product: text("product"),
            product_id: text("product_id"),
            claims: claims.split_whitespace().map(str::to_owned).collect(),
            setting: text("setting"),
            bought: text("bought"),
            remark: text("remark"),
            labels,
        }
    }

    /// Returns it as labels.
    pub fn as_labels(&self) -> BTreeMap<String, String> {
        let claims = Some(self.claims.join(" ")).filter(|claims| !claims.is_empty());
        let texts = [
            ("product", &self.product),
            ("product_id", &self.product_id),
            (CLAIMS_LABEL, &claims),
            ("setting", &self.setting),
            ("bought", &self.bought),
            ("remark", &self.remark),
        ];
        let fields = texts
            .into_iter()
            .filter_map(|(key, text)| Some((key.to_owned(), text.clone()?)));
        self.labels.clone().into_iter().chain(fields).collect()
    }
}

/// Returns whether the text is a statement's document, of any version.
pub fn is_statement(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Head {
        statement: Option<IgnoredAny>,
        record_id: Option<IgnoredAny>,
    }
    let head = serde_json::from_str::<Head>(text);
    head.is_ok_and(|head| head.statement.is_some() && head.record_id.is_some())
}

/// Reads a statement.
///
/// # Errors
/// If the text exceeds the limits of a record, is not JSON, is of another version, or is not of its shape.
pub fn parse_statement(text: &str) -> Result<Statement, ParseError> {
    #[derive(Deserialize)]
    struct Head {
        statement: u64,
    }
    check_shape(text)?;
    match serde_json::from_str::<Head>(text)?.statement {
        version if version == u64::from(STATEMENT) => Ok(serde_json::from_str(text)?),
        version => Err(ParseError::NewerStatement(version)),
    }
}

/// The documents of a file with one run: its record, and its statement in the last line, if there is one.
pub fn documents_of(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end();
    match text.rsplit_once('\n') {
        Some((record, last)) if is_statement(last) => (record.trim_end(), Some(last)),
        _ => (text, None),
    }
}

/// Reads a file with one run: the record, with the labels of its statement.
///
/// # Errors
/// As [`parse_record`] and [`parse_statement`]; if the statement is on another run.
pub fn parse_run_file(text: &str) -> Result<Record, ParseError> {
    let (record, statement) = documents_of(text);
    let mut record = parse_record(record)?;
    if let Some(statement) = statement {
        let statement = parse_statement(statement)?;
        if statement.record_id != record.id {
            return Err(ParseError::OtherRun(statement.record_id));
        }
        record.labels = statement.as_labels();
    }
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Origin, OriginKind, record_to_json};

    fn labels() -> BTreeMap<String, String> {
        [
            ("product", "Evo Plus"),
            (CLAIMS_LABEL, "A1 64GB"),
            ("sample", "a"),
            ("remark", "from the market"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into()
    }

    fn statement(id: Uuid) -> String {
        serde_json::to_string(&Statement::of(id, 2, &labels())).unwrap()
    }

    #[test]
    fn labels_become_fields_and_labels_again() {
        let statement = Statement::of(Uuid::nil(), 1, &labels());
        assert_eq!(statement.product.as_deref(), Some("Evo Plus"));
        assert_eq!(statement.claims, ["A1", "64GB"]);
        assert_eq!(
            statement.labels,
            [("sample".to_owned(), "a".to_owned())].into()
        );
        assert_eq!(statement.as_labels(), labels());
    }

    #[test]
    fn a_file_holds_a_record_and_what_is_stated_of_it() {
        let id = Uuid::from_u128(7);
        let record = Record::new(id, Origin::of(OriginKind::Published));
        let json = record_to_json(&record).unwrap();
        let pretty: serde_json::Value = serde_json::from_str(&json).unwrap();
        for text in [json.clone(), format!("{pretty:#}")] {
            assert_eq!(parse_run_file(&text).unwrap(), record);
            let stated = parse_run_file(&format!("{text}\n{}\n", statement(id))).unwrap();
            assert_eq!(stated.labels, labels());
            assert_eq!(record_to_json(&stated).unwrap(), json);
        }
        let other = parse_run_file(&format!("{json}\n{}", statement(Uuid::nil())));
        assert!(matches!(other, Err(ParseError::OtherRun(run)) if run == Uuid::nil()));
    }

    #[test]
    fn other_versions_are_named_and_unknown_fields_are_no_error() {
        let text = statement(Uuid::nil());
        let newer = text.replace("\"statement\":1", "\"statement\":2");
        assert!(is_statement(&newer));
        let error = parse_statement(&newer).unwrap_err();
        assert_eq!(
            error.to_string(),
            "statement of version 2; this program reads version 1"
        );
        let grown = text.replace("\"revision\"", "\"seen\":[1],\"revision\"");
        assert_eq!(
            parse_statement(&grown).unwrap(),
            parse_statement(&text).unwrap()
        );
        assert!(!is_statement("{\"format\":1}"));
    }
}

//! Statements with their values. The text is the same for both databases.

use std::fmt::Write as _;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Row as _};
use uuid::Uuid;

use crate::types::SiteStoreError;

pub(crate) type Result<T> = std::result::Result<T, SiteStoreError>;

/// Rows of one statement that inserts several are as many as one of these.
const ROW_COUNTS: [usize; 6] = [64, 16, 8, 4, 2, 1];

/// A value of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Integer(Option<i64>),
    Real(f64),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! from {
    ($($type:ty => $value:ident, $convert:expr;)*) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                let convert: fn($type) -> _ = $convert;
                Self::$value(convert(value))
            }
        })*
    };
}

from! {
    i64 => Integer, Some;
    Option<i64> => Integer, |value| value;
    bool => Integer, |value| Some(i64::from(value));
    f64 => Real, |value| value;
    &str => Text, |value| Some(value.to_owned());
    String => Text, Some;
    &String => Text, |value| Some(value.clone());
    Option<String> => Text, |value| value;
    &Option<String> => Text, Clone::clone;
    Vec<u8> => Bytes, Some;
    &Vec<u8> => Bytes, |value| Some(value.clone());
    &[u8] => Bytes, |value| Some(value.to_vec());
    Option<Vec<u8>> => Bytes, |value| value;
    [u8; 16] => Bytes, |value| Some(value.to_vec());
    &[u8; 16] => Bytes, |value| Some(value.to_vec());
    &[u8; 32] => Bytes, |value| Some(value.to_vec());
    Option<[u8; 16]> => Bytes, |value| value.map(|value| value.to_vec());
    Option<[u8; 32]> => Bytes, |value| value.map(|value| value.to_vec());
    Uuid => Bytes, |value| Some(value.as_bytes().to_vec());
}

/// Values of a statement, in the order of `$1`, `$2`, ….
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::database::sql::Value::from($value)),*] };
}
pub(crate) use values;

type Statement = Query<'static, Any, AnyArguments>;

fn statement(text: impl Into<String>, values: Vec<Value>) -> Statement {
    let query = sqlx::query(AssertSqlSafe(text.into()));
    values.into_iter().fold(query, |query, value| match value {
        Value::Integer(value) => query.bind(value),
        Value::Real(value) => query.bind(value),
        Value::Text(value) => query.bind(value),
        Value::Bytes(value) => query.bind(value),
    })
}

/// Executes a statement and returns the number of rows that it changed.
pub(crate) async fn run(
    connection: &mut AnyConnection,
    text: impl Into<String>,
    values: Vec<Value>,
) -> Result<u64> {
    let done = statement(text, values).execute(connection).await?;
    Ok(done.rows_affected())
}

pub(crate) async fn rows(
    connection: &mut AnyConnection,
    text: impl Into<String>,
    values: Vec<Value>,
) -> Result<Vec<AnyRow>> {
    Ok(statement(text, values).fetch_all(connection).await?)
}

pub(crate) async fn row(
    connection: &mut AnyConnection,
    text: impl Into<String>,
    values: Vec<Value>,
) -> Result<Option<AnyRow>> {
    Ok(rows(connection, text, values).await?.into_iter().next())
}

/// Inserts rows with few statements of few different texts, so that they stay prepared. `into` is the table with its columns,
/// `tail` what follows the values.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    into: &str,
    tail: &str,
    mut rows: Vec<Vec<Value>>,
) -> Result<()> {
    for count in ROW_COUNTS {
        while rows.len() >= count {
            let some = rows.split_off(rows.len() - count);
            let columns = some.first().map_or(0, Vec::len);
            let text = format!(
                "insert into {into} values {} {tail}",
                places(count, columns)
            );
            run(connection, text, some.into_iter().flatten().collect()).await?;
        }
    }
    Ok(())
}

/// Keys in as many as one statement takes, so that few different texts stay prepared.
fn some_keys<K>(mut keys: &[K]) -> Vec<&[K]> {
    let mut some = Vec::new();
    for count in ROW_COUNTS {
        while keys.len() >= count {
            let (first, rest) = keys.split_at(count);
            some.push(first);
            keys = rest;
        }
    }
    some
}

/// `text ($1, $2, …)` and the keys.
fn with_keys<K: Copy + Into<Value>>(text: &str, keys: &[K]) -> (String, Vec<Value>) {
    let places = places(1, keys.len());
    let values = keys.iter().map(|key| (*key).into()).collect();
    (format!("{text} {places}"), values)
}

/// Rows of a statement that ends with the name of a key and `in`.
pub(crate) async fn rows_of<K: Copy + Into<Value>>(
    connection: &mut AnyConnection,
    text: &str,
    keys: &[K],
) -> Result<Vec<AnyRow>> {
    let mut found = Vec::new();
    for some in some_keys(keys) {
        let (text, values) = with_keys(text, some);
        found.extend(rows(connection, text, values).await?);
    }
    Ok(found)
}

/// `($1, $2), ($3, $4)`
fn places(rows: usize, columns: usize) -> String {
    let mut text = String::new();
    for place in 0..rows * columns {
        let before = match place % columns {
            0 if place == 0 => "(",
            0 => "), (",
            _ => ", ",
        };
        let _ = write!(text, "{before}${}", place + 1);
    }
    text + ")"
}

/// Reads columns of a row by their numbers.
pub(crate) trait Columns {
    fn integer(&self, column: usize) -> Result<i64>;
    fn integer_or_none(&self, column: usize) -> Result<Option<i64>>;
    fn flag(&self, column: usize) -> Result<bool>;
    fn real(&self, column: usize) -> Result<f64>;
    fn text(&self, column: usize) -> Result<String>;
    fn text_or_none(&self, column: usize) -> Result<Option<String>>;
    fn bytes(&self, column: usize) -> Result<Vec<u8>>;
    fn bytes_or_none(&self, column: usize) -> Result<Option<Vec<u8>>>;
    fn uuid(&self, column: usize) -> Result<Uuid>;
    fn count(&self, column: usize) -> Result<u64>;
    fn fixed<const N: usize>(&self, column: usize) -> Result<[u8; N]>;
    fn fixed_or_none<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>>;
}

impl Columns for AnyRow {
    fn integer(&self, column: usize) -> Result<i64> {
        Ok(self.try_get(column)?)
    }

    fn integer_or_none(&self, column: usize) -> Result<Option<i64>> {
        Ok(self.try_get(column)?)
    }

    fn flag(&self, column: usize) -> Result<bool> {
        Ok(self.integer(column)? != 0)
    }

    fn real(&self, column: usize) -> Result<f64> {
        Ok(self.try_get(column)?)
    }

    fn text(&self, column: usize) -> Result<String> {
        Ok(self.try_get(column)?)
    }

    fn text_or_none(&self, column: usize) -> Result<Option<String>> {
        Ok(self.try_get(column)?)
    }

    fn bytes(&self, column: usize) -> Result<Vec<u8>> {
        Ok(self.try_get(column)?)
    }

    fn bytes_or_none(&self, column: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.try_get(column)?)
    }

    fn uuid(&self, column: usize) -> Result<Uuid> {
        Ok(Uuid::from_bytes(self.fixed(column)?))
    }

    fn count(&self, column: usize) -> Result<u64> {
        Ok(unsigned(self.integer(column)?))
    }

    fn fixed<const N: usize>(&self, column: usize) -> Result<[u8; N]> {
        fixed(self.bytes(column)?)
    }

    fn fixed_or_none<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>> {
        self.bytes_or_none(column)?.map(fixed).transpose()
    }
}

fn fixed<const N: usize>(bytes: Vec<u8>) -> Result<[u8; N]> {
    bytes
        .try_into()
        .map_err(|_| SiteStoreError::Damaged("a key has another length"))
}

/// The largest integer of the database instead of a larger one.
pub(crate) fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(value: i64) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

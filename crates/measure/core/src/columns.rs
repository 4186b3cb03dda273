//! Columns of values that rows have, as a record holds them.

use serde::de::Error;

/// A column; empty if no row has a value.
pub(crate) fn column<R, T>(rows: &[R], value: impl Fn(&R) -> Option<T>) -> Vec<Option<T>> {
    let values: Vec<_> = rows.iter().map(value).collect();
    match values.iter().any(Option::is_some) {
        true => values,
        false => Vec::new(),
    }
}

/// A column; empty if all its values are the default.
pub(crate) fn unless<R, T>(
    rows: &[R],
    value: impl Fn(&R) -> T,
    is_default: impl Fn(&T) -> bool,
) -> Vec<T> {
    let values: Vec<T> = rows.iter().map(value).collect();
    match values.iter().all(is_default) {
        true => Vec::new(),
        false => values,
    }
}

pub(crate) fn check_length<E: Error>(length: usize, expected: usize, what: &str) -> Result<(), E> {
    match length == expected {
        true => Ok(()),
        false => Err(E::invalid_length(length, &what)),
    }
}

/// Sets a value of each row; a list must be missing or have one value for each row.
pub(crate) fn spread<R, T, E: Error>(
    rows: &mut [R],
    values: Vec<T>,
    mut set: impl FnMut(&mut R, T),
) -> Result<(), E> {
    if !values.is_empty() && values.len() != rows.len() {
        return Err(E::invalid_length(
            values.len(),
            &"one value for each element",
        ));
    }
    for (row, value) in rows.iter_mut().zip(values) {
        set(row, value);
    }
    Ok(())
}

/// Sets a value of each row; the list must have one for each.
pub(crate) fn set<R, T, E: Error>(
    rows: &mut [R],
    values: Vec<T>,
    to: impl FnMut(&mut R, T),
) -> Result<(), E> {
    check_length(values.len(), rows.len(), "one value for each element")?;
    spread(rows, values, to)
}

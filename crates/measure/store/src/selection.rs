//! Selects records, without their trials, by conditions.

use cardmark_core::{DeviceInfo, Record, is_sold_as, name_of};
use rusqlite::Connection;

use crate::damage::collect;
use crate::document::parse;
use crate::failure::Failure;
use crate::heads::{Head, Labels, briefs, heads, labels_of};
use crate::{Store, StoreError};

/// A record must have this value under this name: one of `suite`, `origin`, `source`, `board`,
/// `model`, `card`, `prepared`, `command_queue`, `bus`, `capacity` (bytes, as on the label:
/// [`is_sold_as`]), or else a label. A board is also found by the label `setting`, in which campaigns keep
/// their own names of boards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The name.
    pub name: String,
    /// The value.
    pub value: String,
}

/// Returns whether a board of this model is meant by the name.
pub type IsBoard = fn(model: &str, name: &str) -> bool;

impl Condition {
    /// Checks the condition against columns and labels; `true` if only the record can answer.
    fn may_hold(&self, head: &Head, is_board: IsBoard) -> bool {
        let found = match self.name.as_str() {
            "suite" => head.suite.clone(),
            "origin" => Some(name_of(&head.origin)),
            "board" => {
                let board = head.board.as_deref();
                return board.is_some_and(|model| is_board(model, &self.value))
                    || head.labels.get("setting") == Some(&self.value);
            }
            "model" => head.model.clone(),
            "card" => head.card.clone(),
            "command_queue" | "bus" => head.context.get(&self.name).cloned(),
            "source" | "prepared" | "capacity" => return true,
            label => head.labels.get(label).cloned(),
        };
        found.as_ref() == Some(&self.value)
    }

    /// Checks the conditions that only the record can answer.
    fn holds(&self, record: &Record) -> bool {
        let device = record.devices.first();
        match self.name.as_str() {
            "source" => record.origin.source.as_ref() == Some(&self.value),
            "prepared" => {
                let fill = |device: &DeviceInfo| Some(name_of(&device.prepared.as_ref()?.fill));
                device.and_then(fill).as_ref() == Some(&self.value)
            }
            "capacity" => {
                let capacity = self.value.parse().unwrap_or(0);
                let size = device.and_then(|device| device.size_bytes);
                size.is_some_and(|size| is_sold_as(size, capacity))
            }
            _ => true,
        }
    }
}

impl Store {
    /// Returns the records that meet all conditions, in the order of storing, with their labels as
    /// they stand, and without trials and sensor readings.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn select(&mut self, conditions: &[Condition]) -> Result<Vec<Record>, StoreError> {
        self.select_by(conditions, |model, value| model == value, |_| true)
    }

    /// Like [`Store::select`]; `is_board` compares the models of boards with the value of a condition `board`, and the
    /// labels must pass.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn select_by(
        &mut self,
        conditions: &[Condition],
        is_board: IsBoard,
        mut pass: impl FnMut(&Labels) -> bool,
    ) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| {
            let mut records = Vec::new();
            for head in heads(connection)? {
                if !pass(&head.labels) {
                    continue;
                }
                if conditions
                    .iter()
                    .all(|condition| condition.may_hold(&head, is_board))
                {
                    let record = record(connection, head)?;
                    if conditions.iter().all(|condition| condition.holds(&record)) {
                        records.push(record);
                    }
                }
            }
            Ok(records)
        })
    }

    /// Returns all records in the order of storing, with their labels as they stand; without trials, sensor readings, the map of
    /// the surface and other figures than rates; of rates, value, interval, units and warnings.
    ///
    /// # Errors
    /// If the store fails, or a row is damaged.
    pub fn briefs(&mut self) -> Result<Vec<Record>, StoreError> {
        self.read(briefs)
    }

    /// Returns a record with its labels as they stand, and without trials and sensor readings.
    ///
    /// # Errors
    /// If there is no such record, the store fails, or a row is damaged.
    pub fn head(&mut self, id: &str) -> Result<Record, StoreError> {
        self.read(|connection| {
            let mut record = head_record(connection, id)?;
            record.labels = labels_of(connection, id)?;
            Ok(record)
        })
    }
}

fn record(connection: &Connection, head: Head) -> Result<Record, Failure> {
    let mut record = head_record(connection, &head.run)?;
    record.labels = head.labels;
    Ok(record)
}

fn head_record(connection: &Connection, run: &str) -> Result<Record, Failure> {
    let mut texts = collect(
        connection,
        "SELECT record_id, head FROM heads WHERE record_id = ?1",
        [run],
        "its head is not readable",
        |row| row.get::<_, String>(1),
    )?;
    let text = texts.pop().unwrap_or_default();
    Ok(parse(run, &text)?)
}

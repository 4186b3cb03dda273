//! Tables as Parquet, written column by column: no library of tables in memory is needed.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::error::DataError;
use crate::files::Hashed;
use crate::manifest::FileEntry;
use crate::rows::{FigureRow, RecordRow};

type Group<'a> = SerializedRowGroupWriter<'a, Hashed>;

/// A row of a table.
pub(crate) trait Row: Sized {
    /// Columns, in the language of Parquet.
    const COLUMNS: &'static str;
    /// Rows of a group, which is in memory until it is complete.
    const GROUP_ROWS: usize;

    /// Writes a group, column by column.
    fn write(rows: &[Self], group: &mut Group<'_>) -> Result<()>;
}

impl Row for RecordRow {
    const COLUMNS: &'static str = "message records {
        required binary id (UTF8);
        required binary state (UTF8);
        required binary level (UTF8);
        required binary origin (UTF8);
        required int64 received (TIMESTAMP(MILLIS, true));
        optional binary day (UTF8);
        optional binary submitter (UTF8);
        required binary card (UTF8);
        optional binary product (UTF8);
        optional binary product_name (UTF8);
        optional binary model (UTF8);
        optional binary board (UTF8);
        optional binary suite (UTF8);
        optional binary bus (UTF8);
        optional binary command_queue (UTF8);
        optional int64 size_bytes;
        optional binary storage (UTF8);
        required binary context (UTF8);
    }";
    const GROUP_ROWS: usize = 20_000;

    fn write(rows: &[Self], group: &mut Group<'_>) -> Result<()> {
        texts(group, rows, |row| Some(&row.id))?;
        texts(group, rows, |row| Some(row.state))?;
        texts(group, rows, |row| Some(&row.level))?;
        texts(group, rows, |row| Some(&row.origin))?;
        let received = rows.iter().map(|row| Some(row.received_ms));
        column::<Int64Type>(group, received)?;
        texts(group, rows, |row| row.day.as_deref())?;
        texts(group, rows, |row| row.submitter.as_deref())?;
        texts(group, rows, |row| Some(&row.card))?;
        texts(group, rows, |row| row.product.as_deref())?;
        texts(group, rows, |row| row.product_name.as_deref())?;
        texts(group, rows, |row| row.model.as_deref())?;
        texts(group, rows, |row| row.board.as_deref())?;
        texts(group, rows, |row| row.suite.as_deref())?;
        texts(group, rows, |row| row.bus.as_deref())?;
        texts(group, rows, |row| row.command_queue.as_deref())?;
        column::<Int64Type>(group, rows.iter().map(|row| row.size_bytes))?;
        texts(group, rows, |row| row.storage.as_deref())?;
        texts(group, rows, |row| Some(&row.context))
    }
}

impl Row for FigureRow {
    const COLUMNS: &'static str = "message figures {
        required binary id (UTF8);
        required binary metric (UTF8);
        required double value;
        optional binary unit (UTF8);
    }";
    const GROUP_ROWS: usize = 100_000;

    fn write(rows: &[Self], group: &mut Group<'_>) -> Result<()> {
        texts(group, rows, |row| Some(&row.id))?;
        texts(group, rows, |row| Some(&row.metric))?;
        column::<DoubleType>(group, rows.iter().map(|row| Some(row.value)))?;
        texts(group, rows, |row| row.unit)
    }
}

fn texts<R>(group: &mut Group<'_>, rows: &[R], text: impl Fn(&R) -> Option<&str>) -> Result<()> {
    let values = rows
        .iter()
        .map(|row| text(row).map(|text| ByteArray::from(text.as_bytes().to_vec())));
    column::<ByteArrayType>(group, values)
}

/// Writes the next column of a group.
fn column<T: DataType>(
    group: &mut Group<'_>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<()> {
    let mut levels = Vec::new();
    let there: Vec<T::T> = values
        .inspect(|value| levels.push(i16::from(value.is_some())))
        .flatten()
        .collect();
    let mut column = group
        .next_column()?
        .ok_or_else(|| ParquetError::General("more columns than in the schema".to_owned()))?;
    column
        .typed::<T>()
        .write_batch(&there, Some(&levels), None)?;
    column.close()
}

/// A table that is written.
pub(crate) struct Table<R: Row> {
    writer: SerializedFileWriter<Hashed>,
    rows: Vec<R>,
    count: u64,
}

impl<R: Row> Table<R> {
    pub(crate) fn begin(file: Hashed) -> std::result::Result<Self, DataError> {
        let path = file.path().to_owned();
        let begin = || {
            let schema = Arc::new(parse_message_type(R::COLUMNS)?);
            let properties = WriterProperties::builder()
                .set_compression(Compression::ZSTD(ZstdLevel::default()))
                .build();
            SerializedFileWriter::new(file, schema, Arc::new(properties))
        };
        let writer = begin().map_err(|source| DataError::Table { path, source })?;
        Ok(Self {
            writer,
            rows: Vec::new(),
            count: 0,
        })
    }

    pub(crate) fn add(&mut self, row: R) -> std::result::Result<(), DataError> {
        self.rows.push(row);
        self.count += 1;
        match self.rows.len() < R::GROUP_ROWS {
            true => Ok(()),
            false => self.write_group(),
        }
    }

    fn write_group(&mut self) -> std::result::Result<(), DataError> {
        let rows = std::mem::take(&mut self.rows);
        let path = self.writer.inner().path().to_owned();
        let mut write = || {
            let mut group = self.writer.next_row_group()?;
            R::write(&rows, &mut group)?;
            group.close().map(|_| ())
        };
        write().map_err(|source| DataError::Table { path, source })
    }

    pub(crate) fn finish(mut self) -> std::result::Result<FileEntry, DataError> {
        if !self.rows.is_empty() {
            self.write_group()?;
        }
        let path = self.writer.inner().path().to_owned();
        let file = self.writer.into_inner();
        file.map_err(|source| DataError::Table { path, source })?
            .finish(self.count)
    }
}

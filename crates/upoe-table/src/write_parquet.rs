//! Writes Parquet: text columns and columns of doubles.

use std::io::{self, BufWriter};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;

use crate::atomic::AtomicFile;
use crate::error::{Error, Result};
use crate::text::TextColumn;

/// Rows wait here until there are enough for a row group.
pub(crate) struct ParquetSink {
    writer: SerializedFileWriter<BufWriter<AtomicFile>>,
    kept: Vec<Vec<ByteArray>>,
    columns: Vec<Vec<f64>>,
    rows: usize,
}

const GROUP_CELLS: usize = 1 << 21;

impl ParquetSink {
    pub fn create(path: &Path, kept: &[String], names: &[String]) -> Result<Self> {
        let failed = |error| parquet_error(path, error);
        let mut fields = Vec::new();
        for name in kept {
            let field = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::String));
            fields.push(Arc::new(field.build().map_err(failed)?));
        }
        for name in names {
            let field = Type::primitive_type_builder(name, Physical::DOUBLE)
                .with_repetition(Repetition::REQUIRED);
            fields.push(Arc::new(field.build().map_err(failed)?));
        }
        let schema = Type::group_type_builder("table").with_fields(fields).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let mut properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        for name in names {
            // numbers that hardly repeat gain nothing from a dictionary
            let column = vec![name.clone()].into();
            properties = properties.set_column_dictionary_enabled(column, false);
        }
        let file = BufWriter::with_capacity(1 << 16, AtomicFile::create(path)?);
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties.build()));
        Ok(ParquetSink {
            writer: writer.map_err(failed)?,
            kept: vec![Vec::new(); kept.len()],
            columns: vec![Vec::new(); names.len()],
            rows: 0,
        })
    }

    pub fn write_rows(
        &mut self,
        file: &Path,
        kept: &[TextColumn],
        rows: Range<usize>,
        numbers: &[f64],
    ) -> Result<()> {
        let width = self.columns.len();
        let rows_a_group = (GROUP_CELLS / (width + self.kept.len()).max(1)).max(1);
        for (offset, row) in rows.enumerate() {
            for (cells, column) in self.kept.iter_mut().zip(kept) {
                cells.push(column.get(row).unwrap_or("").into());
            }
            for (column, &number) in self.columns.iter_mut().zip(&numbers[offset * width..]) {
                column.push(number);
            }
            self.rows += 1;
            if self.rows == rows_a_group {
                self.flush(file)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, file: &Path) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.write_group().map_err(|error| parquet_error(file, error))?;
        self.kept.iter_mut().for_each(Vec::clear);
        self.columns.iter_mut().for_each(Vec::clear);
        self.rows = 0;
        Ok(())
    }

    fn write_group(&mut self) -> ::parquet::errors::Result<()> {
        let mut group = self.writer.next_row_group()?;
        let mut index = 0;
        while let Some(mut column) = group.next_column()? {
            match self.kept.get(index) {
                Some(cells) => {
                    column.typed::<ByteArrayType>().write_batch(cells, None, None)?;
                }
                None => {
                    let numbers = &self.columns[index - self.kept.len()];
                    column.typed::<DoubleType>().write_batch(numbers, None, None)?;
                }
            }
            column.close()?;
            index += 1;
        }
        group.close()?;
        Ok(())
    }

    pub fn finish(mut self: Box<Self>, file: &Path) -> Result<()> {
        self.flush(file)?;
        let inner = self.writer.into_inner().map_err(|error| parquet_error(file, error))?;
        let inner = inner.into_inner();
        Ok(inner.map_err(|error| Error::write(file, error.into_error()))?.commit()?)
    }
}

fn parquet_error(file: &Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(source) => *source,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    };
    Error::write(file, source)
}

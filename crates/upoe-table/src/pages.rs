//! The pages of a Parquet column, checked before the decoder trusts them: a size that a
//! damaged header claims is not set aside, and values need the dictionary they refer to.
//!
//! Reference: Apache Parquet, "File format", `PageHeader`; Apache Thrift, "Compact protocol".

use std::io::Read;
use std::sync::Arc;

use ::parquet::basic::Encoding;
use ::parquet::column::page::{Page, PageMetadata, PageReader};
use ::parquet::column::reader::{ColumnReader, get_column_reader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::ColumnChunkMetaData;
use ::parquet::file::reader::{ChunkReader, Length, SerializedPageReader};
use bytes::Bytes;

use crate::input::INFLATION;

/// A reader of one of `columns` columns that are read side by side.
pub(crate) fn column_reader<R: ChunkReader + 'static>(
    source: &Arc<R>,
    chunk: &ColumnChunkMetaData,
    rows: usize,
    columns: usize,
) -> Result<ColumnReader> {
    // Some codecs make much of nothing, so that every page may have a megabyte.
    let free = ((64 << 20) / columns as u64).max(1 << 20);
    let source = Arc::new(Source { inner: Arc::clone(source), free });
    let pages = SerializedPageReader::new(source, chunk, rows, None)?;
    let pages = Box::new(Pages { inner: pages, has_dictionary: false });
    Ok(get_column_reader(chunk.column_descr_ptr(), pages))
}

fn wrong(reason: &str) -> ParquetError {
    ParquetError::General(reason.into())
}

/// The file, where a page reader starts to read at each page's header.
struct Source<R> {
    inner: Arc<R>,
    free: u64,
}

impl<R: ChunkReader> Length for Source<R> {
    fn len(&self) -> u64 {
        self.inner.len()
    }
}

impl<R: ChunkReader> ChunkReader for Source<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T> {
        let mut header = Thrift(self.inner.get_read(start)?);
        let [unpacked, packed] = header.page_sizes().ok_or(wrong("a page has no header"))?;
        if unpacked > packed.saturating_mul(INFLATION).saturating_add(self.free) {
            return Err(wrong("a page claims more than its bytes can hold"));
        }
        self.inner.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.inner.get_bytes(start, length)
    }
}

/// A structure in Thrift's compact protocol.
struct Thrift<R>(R);

impl<R: Read> Thrift<R> {
    /// The largest sizes a page's header gives, before and after compression.
    fn page_sizes(&mut self) -> Option<[u64; 2]> {
        let (mut sizes, mut field) = ([0, 0], 0);
        while let (step, kind @ 1..) = self.nibbles()? {
            field = if step == 0 { zigzag(self.varint()?) } else { field + i64::from(step) };
            match (field, kind) {
                (2 | 3, 5) => {
                    let size = u64::try_from(zigzag(self.varint()?)).ok()?;
                    let known = &mut sizes[field as usize - 2];
                    *known = size.max(*known);
                }
                _ => self.skip(kind, 0)?,
            }
        }
        Some(sizes)
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte).ok()?;
        Some(byte[0])
    }

    fn nibbles(&mut self) -> Option<(u8, u8)> {
        self.byte().map(|byte| (byte >> 4, byte & 15))
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn skip(&mut self, kind: u8, depth: u8) -> Option<()> {
        match kind {
            1 | 2 => {} // true, false
            3 => drop(self.byte()?),
            4..=6 => drop(self.varint()?),
            7 => self.skip_bytes(8)?,
            8 => {
                let length = self.varint()?;
                self.skip_bytes(length)?;
            }
            9 | 10 if depth < 8 => {
                let (count, kind) = self.nibbles()?;
                let count = if count == 15 { self.varint()? } else { count.into() };
                let a_byte_each = matches!(kind, 1 | 2);
                (0..count)
                    .try_for_each(|_| self.skip(if a_byte_each { 3 } else { kind }, depth + 1))?;
            }
            12 if depth < 8 => {
                while let (step, kind @ 1..) = self.nibbles()? {
                    if step == 0 {
                        self.varint()?;
                    }
                    self.skip(kind, depth + 1)?;
                }
            }
            _ => return None, // no page header has a map
        }
        Some(())
    }

    fn skip_bytes(&mut self, length: u64) -> Option<()> {
        let skipped = std::io::copy(&mut self.0.by_ref().take(length), &mut std::io::sink());
        (skipped.ok()? == length).then_some(())
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Pages that come after the dictionary they need.
struct Pages<P> {
    inner: P,
    has_dictionary: bool,
}

impl<P: PageReader> PageReader for Pages<P> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.inner.get_next_page()?;
        if let Some(page) = &page {
            let by_dictionary =
                matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
            self.has_dictionary |= page.is_dictionary_page();
            if page.is_dictionary_page() && page.num_values() as usize > page.buffer().len() {
                return Err(wrong("a dictionary claims more values than its bytes can hold"));
            }
            if by_dictionary && !self.has_dictionary {
                return Err(wrong("a page needs a dictionary that is not there"));
            }
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.inner.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.inner.skip_next_page()
    }
}

impl<P: PageReader> Iterator for Pages<P> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page's header: type, sizes, perhaps the second again, a list and a nested structure.
    fn header(sizes: [u8; 5], again: &[u8]) -> Bytes {
        let mut bytes = vec![0x15, 0, 0x15];
        bytes.extend(sizes);
        bytes.extend([0x15, 40]); // 20 bytes compressed
        bytes.extend([0x2c, 0x15, 8, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0x11, 0]);
        bytes.extend(again);
        bytes.push(0);
        Bytes::from(bytes)
    }

    #[test]
    fn a_page_is_refused_that_claims_more_than_its_bytes_can_hold() {
        let read = |bytes| Source { inner: Arc::new(bytes), free: 1 << 20 }.get_read(0).map(|_| ());
        let (small, large) = ([0x80, 0x81, 0x80, 0x80, 0], [0x80, 0x80, 0x80, 0x80, 8]);
        assert_eq!(Thrift(&header(small, &[])[..]).page_sizes(), Some([64, 20]));
        read(header(small, &[])).unwrap();
        let claims = |bytes| read(bytes).unwrap_err().to_string().contains("claims more");
        assert!(claims(header(large, &[])));
        // The field once more, by its full name.
        let again = [&[0x05, 4][..], &large].concat();
        assert!(claims(header(small, &again)));
        for cut in 0..header(small, &[]).len() {
            assert!(read(header(small, &[]).slice(..cut)).is_err(), "{cut} bytes");
        }
    }
}

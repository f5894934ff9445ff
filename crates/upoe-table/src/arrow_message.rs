//! The messages of an Arrow stream, one after another, checked before they are decoded: no size that
//! a message claims is set aside before as many bytes have come.

use std::io::{self, Read};

use arrow_ipc::{MessageHeader, RecordBatch, root_as_message};

/// A buffer or a column may hold this much for each byte of the file, and some more: runs of equal
/// values take next to nothing.
const OF_A_BYTE: u64 = 1 << 15;
const FREE: u64 = 1 << 20;
/// Marks the start of a message.
const MARK: [u8; 4] = [0xff; 4];
/// Mark and length.
const HEAD: usize = 8;

/// The next message with its mark, its length and its body; `None` after the last.
pub(crate) fn framed(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut word = [0; 4];
    let mut begun = Vec::new();
    source.take(4).read_to_end(&mut begun)?;
    match begun.len() {
        0 => return Ok(None), // a stream may end without saying so
        4 => word.copy_from_slice(&begun),
        _ => return Err(io::ErrorKind::UnexpectedEof.into()),
    }
    if word == MARK {
        source.read_exact(&mut word)?;
    }
    let length = u32::from_le_bytes(word);
    if length == 0 {
        return Ok(None);
    }
    let mut message = [MARK, word].concat();
    more(source, u64::from(length), &mut message)?;
    let body = match root_as_message(&message[HEAD..]) {
        Ok(header) => header.bodyLength(),
        Err(_) => return Ok(Some(message)), // which `check` says
    };
    more(source, u64::try_from(body).unwrap_or(0), &mut message)?;
    Ok(Some(message))
}

fn more(source: &mut impl Read, count: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    match source.take(count).read_to_end(bytes)? as u64 == count {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// Whether a message claims no more than its bytes can hold.
pub(crate) fn check(message: &[u8]) -> Result<(), &'static str> {
    let header = root_as_message(&message[HEAD..]).map_err(|_| "a message has no valid header")?;
    let bytes = message.len() as u64;
    let Ok(body) = usize::try_from(header.bodyLength()) else {
        return Err("a message has less than nothing in it");
    };
    let body = &message[message.len() - body.min(message.len())..];
    let batch = match header.header_type() {
        MessageHeader::RecordBatch => header.header_as_record_batch(),
        MessageHeader::DictionaryBatch => {
            header.header_as_dictionary_batch().and_then(|dictionary| dictionary.data())
        }
        _ => return Ok(()),
    };
    let Some(batch) = batch else { return Err("a message has no valid header") };
    check_lengths(&batch, bytes)?;
    if batch.compression().is_none() {
        return Ok(());
    }
    let mut unpacked = 0_u64;
    for buffer in batch.buffers().into_iter().flatten() {
        let (Ok(at), Ok(length)) =
            (usize::try_from(buffer.offset()), usize::try_from(buffer.length()))
        else {
            return Err("a buffer is not in its message");
        };
        let end = at.checked_add(length).filter(|&end| end <= body.len());
        let Some(packed) = end.map(|end| &body[at..end]) else {
            return Err("a buffer is not in its message");
        };
        let Some(size) = packed.first_chunk::<8>() else { continue };
        let size = u64::try_from(i64::from_le_bytes(*size)).unwrap_or(0);
        unpacked = unpacked.saturating_add(size);
    }
    match unpacked <= FREE + OF_A_BYTE * bytes {
        true => Ok(()),
        false => Err("a buffer claims more than its bytes can hold"),
    }
}

/// Rows of missing cells take no bytes at all; there must not be any number of them.
fn check_lengths(batch: &RecordBatch<'_>, bytes: u64) -> Result<(), &'static str> {
    let columns = batch.nodes().map_or(0, |nodes| nodes.len() as u64);
    let rows = u64::try_from(batch.length()).unwrap_or(u64::MAX);
    let lengths = batch.nodes().into_iter().flatten().map(|node| node.length());
    let longest = lengths.map(|length| u64::try_from(length).unwrap_or(u64::MAX)).max();
    let cells = rows.max(longest.unwrap_or(0)).checked_mul(columns.max(1));
    match cells {
        Some(cells) if cells <= FREE + OF_A_BYTE * bytes => Ok(()),
        _ => Err("it claims more rows than its bytes can hold"),
    }
}

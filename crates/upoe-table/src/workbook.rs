//! The parts of a workbook, checked before they are read: none unpacks to more than a workbook of
//! its size may hold, and no text or mark of a sheet is endless.

use std::io::{Read, Seek};

use memchr::memmem;
use zip::ZipArchive;

/// Parts that are kept in memory as a whole unpack to so much, and so much for each byte of the file.
const FREE: u64 = 32 << 20;
const OF_A_BYTE: u64 = 32;
/// The longest stretch of a sheet without a mark. A cell holds 32,767 characters at most.
const LONGEST: usize = 1 << 20;
/// The most parts.
const PARTS: usize = 1 << 16;

const NOT_UTF_8: &str = "a part of it is not UTF-8";

/// Why a workbook is not read.
pub(crate) type Reason = String;

/// Checks all parts but the sheets.
pub(crate) fn check_parts(
    archive: &mut ZipArchive<impl Read + Seek>,
    length: u64,
) -> Result<(), Reason> {
    if archive.len() > PARTS {
        return Err("it has more parts than workbooks do".into());
    }
    let limit = FREE + OF_A_BYTE * length;
    let mut all = 0;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| error.to_string())?;
        if is_sheet(&part.name().unwrap_or_default()) {
            continue;
        }
        let texts = part.name().is_ok_and(|name| name.to_ascii_lowercase().ends_with(".xml"));
        let mut part = Part::new(part);
        let mut most = 0;
        while let Some(window) = part.next(limit.saturating_sub(all))? {
            if texts && memchr::memchr(0, window.bytes).is_some() {
                return Err(NOT_UTF_8.into());
            }
            let counts = memmem::find_iter(window.bytes, b"uniqueCount");
            most = counts.map(|at| number(&window.bytes[at..])).fold(most, u64::max);
        }
        // The reader sets aside room for as many texts as this says.
        if most > part.unpacked {
            return Err("it claims more texts than its bytes can hold".into());
        }
        all += part.unpacked;
    }
    Ok(())
}

/// Whether a part is a sheet, by its name.
pub(crate) fn is_sheet(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("worksheets/")
        && name.ends_with(".xml")
        && !["sharedstrings.xml", "styles.xml"].iter().any(|other| name.ends_with(other))
}

/// Checks a sheet, by the path of its part.
pub(crate) fn check_sheet(part: impl Read, length: u64) -> Result<(), Reason> {
    let mut part = Part::new(part);
    let (mut stretch, mut asides) = (0, false);
    while let Some(window) = part.next(u64::MAX)? {
        if memchr::memchr(0, window.bytes).is_some() {
            return Err(NOT_UTF_8.into());
        }
        let mut last = window.seen;
        for at in memchr::memchr_iter(b'<', window.bytes) {
            let Some(next) = window.bytes.get(at + 1).filter(|_| at + 1 >= window.seen) else {
                continue; // it was looked at in the window before, or will be in the next one
            };
            (stretch, last) = (0, last.max(at));
            asides |= matches!(next, b'!' | b'?') && !(window.is_first && at < 8);
        }
        stretch += window.bytes.len() - last;
        if stretch > LONGEST {
            return Err("a cell of it never ends".into());
        }
    }
    // Comments may hold any marks, so that their length is not known.
    if asides && part.unpacked > FREE + OF_A_BYTE * length {
        return Err("a sheet has comments between its cells and is very long".into());
    }
    Ok(())
}

/// The digits after the first quote.
fn number(text: &[u8]) -> u64 {
    let digits = text.iter().skip("uniqueCount".len()).skip_while(|byte| !byte.is_ascii_digit());
    digits
        .take_while(|byte| byte.is_ascii_digit())
        .fold(0, |n: u64, byte| n.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
}

/// Bytes of a window that come again in the next one.
const OVERLAP: usize = 64;

/// Some bytes of a part, of which the first were in the window before.
struct Window<'w> {
    bytes: &'w [u8],
    seen: usize,
    is_first: bool,
}

/// A part, read in windows.
struct Part<R> {
    part: R,
    window: Vec<u8>,
    unpacked: u64,
}

impl<R: Read> Part<R> {
    fn new(part: R) -> Self {
        Part { part, window: Vec::new(), unpacked: 0 }
    }

    /// The next window, until `limit` bytes have come.
    fn next(&mut self, limit: u64) -> Result<Option<Window<'_>>, Reason> {
        let seen = self.window.len().min(OVERLAP);
        self.window.drain(..self.window.len() - seen);
        let read = (&mut self.part).take(1 << 16).read_to_end(&mut self.window);
        let read = read.map_err(|error| format!("a part of it is damaged, {error}"))?;
        let is_first = self.unpacked == 0;
        self.unpacked += read as u64;
        if self.unpacked > limit {
            return Err("a part unpacks to more than a workbook of this size may hold".into());
        }
        Ok((read > 0).then_some(Window { bytes: &self.window, seen, is_first }))
    }
}

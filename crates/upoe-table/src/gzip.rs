//! Unpacks gzip as the `gzip` program does: members one after another, zeros after the last.

use std::fmt;
use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// What gzip data begins with.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The error of bytes after the last member that are neither another one nor padding.
#[derive(Debug)]
pub(crate) struct TrailingBytes;

impl fmt::Display for TrailingBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("other bytes follow the gzip data")
    }
}

impl std::error::Error for TrailingBytes {}

/// A reader of the unpacked bytes.
pub(crate) struct Gunzip<R> {
    /// The member that is read; none after the last.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gunzip<R> {
    pub fn new(packed: R) -> Self {
        Gunzip { member: Some(GzDecoder::new(packed)) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let rest = self.member.take().map(GzDecoder::into_inner);
            self.member = rest.map(next_member).transpose()?.flatten();
        }
        Ok(0)
    }
}

/// Goes past zeros to the next member, if there is one.
fn next_member<R: BufRead>(mut packed: R) -> io::Result<Option<GzDecoder<R>>> {
    loop {
        let bytes = packed.fill_buf()?;
        if bytes.is_empty() {
            return Ok(None);
        }
        match bytes.iter().position(|&byte| byte != 0) {
            Some(at) if bytes[at] != MAGIC[0] => {
                return Err(io::Error::new(io::ErrorKind::InvalidData, TrailingBytes));
            }
            Some(at) => {
                packed.consume(at);
                return Ok(Some(GzDecoder::new(packed)));
            }
            None => {
                let zeros = bytes.len();
                packed.consume(zeros);
            }
        }
    }
}

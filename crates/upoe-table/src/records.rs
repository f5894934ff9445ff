//! Splits separated text into records and fields, following RFC 4180.
//!
//! Lines without a quote, which tables of numbers consist of, are split where they lie in
//! the buffer; others are unquoted into a scratch buffer. Every record knows its line.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memchr2, memchr3_iter};

use crate::select::MAX_COLUMNS;

/// A reader of records, one at a time.
pub(crate) struct Records<R> {
    pub reader: R,
    /// What separates fields; a space stands for any run of blanks.
    pub delimiter: u8,
    /// What a comment line starts with.
    comment: Option<u8>,
    /// What ends a line: LF, also after CR, or CR alone, as on classic Mac OS.
    newline: u8,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The last byte is in the buffer.
    pub ended: bool,
    next_line: u64,
    scratch: Vec<u8>,
    in_scratch: bool,
    fields: Vec<(usize, usize)>,
    /// Line of the file on which the record begins, from 1.
    pub line: u64,
    /// Number of lines the record spans.
    lines: u64,
    /// Number of empty lines before the record.
    pub blank: u64,
    /// The record is the last one and no line end follows it.
    pub open_end: bool,
    /// The record opens a quote that nothing closes.
    pub unclosed: bool,
}

impl<R: Read> Records<R> {
    pub fn new(reader: R, delimiter: u8) -> io::Result<Self> {
        let mut records = Records {
            reader,
            delimiter,
            comment: None,
            newline: b'\n',
            buffer: vec![0; 1 << 18],
            start: 0,
            end: 0,
            ended: false,
            next_line: 1,
            scratch: Vec::new(),
            in_scratch: false,
            fields: Vec::new(),
            line: 0,
            lines: 0,
            blank: 0,
            open_end: false,
            unclosed: false,
        };
        records.fill()?;
        if records.buffer[..records.end].starts_with(b"\xef\xbb\xbf") {
            records.start = 3;
        }
        records.newline = records.find_newline()?;
        Ok(records)
    }

    /// What ends the lines: what ends the first one.
    fn find_newline(&mut self) -> io::Result<u8> {
        const LONGEST: usize = 1 << 22; // longer than a header is
        loop {
            let text = &self.buffer[self.start..self.end];
            if let Some(newline) = newline(text) {
                return Ok(newline);
            }
            if self.ended || text.len() > LONGEST {
                let only_cr = memchr(b'\n', text).is_none() && memchr(b'\r', text).is_some();
                return Ok(if only_cr { b'\r' } else { b'\n' });
            }
            self.fill()?;
        }
    }

    /// Passes over lines at the start, and over comments from here on.
    pub fn skip(&mut self, lines: usize, comment: Option<u8>) -> io::Result<()> {
        self.comment = comment;
        let mut left = lines;
        loop {
            let text = &self.buffer[self.start..self.end];
            let newline = memchr(self.newline, text);
            let is_comment = |start: &u8| Some(*start) == comment;
            if left == 0 && !text.first().is_some_and(is_comment) {
                return Ok(());
            }
            match newline {
                Some(at) => self.start += at + 1,
                None if self.ended => self.start = self.end,
                None => {
                    self.fill()?;
                    continue;
                }
            }
            self.next_line += 1;
            left = left.saturating_sub(1);
            if self.start == self.end && self.ended {
                return Ok(());
            }
        }
    }

    /// The first lines, as far as they are in the buffer, and what ends them.
    pub fn first_lines(&self) -> (&[u8], u8) {
        (&self.buffer[self.start..self.end], self.newline)
    }

    /// Number of fields in the record; those past one more than a table can have are not there.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field of the record, without its quotes; empty where there is none.
    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let bytes = if self.in_scratch { &self.scratch } else { &self.buffer };
        match self.fields.get(index) {
            Some(&(start, end)) => &bytes[start..end],
            None => &[],
        }
    }

    /// Goes to the next record, if there is one. Empty lines are counted, not returned.
    pub fn advance(&mut self) -> io::Result<bool> {
        self.blank = 0;
        loop {
            let text = &self.buffer[self.start..self.end];
            let newline = memchr(self.newline, text);
            if newline.is_none() && !self.ended && !self.is_too_wide(text) {
                self.fill()?;
                continue;
            }
            let length = newline.unwrap_or(text.len());
            let after = self.start + length + usize::from(newline.is_some());
            let line = &text[..length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                if newline.is_none() {
                    return Ok(false);
                }
                self.start = after;
                self.next_line += 1;
                self.blank += 1;
                continue;
            }
            if self.comment.is_some_and(|comment| line[0] == comment) {
                self.start = after;
                self.next_line += 1;
                continue;
            }
            self.line = self.next_line;
            if memchr(b'"', line).is_none() && self.delimiter == b' ' {
                self.in_scratch = false;
                self.fields.clear();
                let at = self.start;
                let (mut from, mut blank) = (0, true);
                for (i, byte) in line.iter().enumerate() {
                    match (blank, byte.is_ascii_whitespace()) {
                        (true, false) => (from, blank) = (i, false),
                        (false, true) => {
                            self.fields.push((at + from, at + i));
                            blank = true;
                        }
                        _ => {}
                    }
                }
                if !blank || self.fields.is_empty() {
                    self.fields.push((at + from, at + line.len()));
                }
                self.lines = 1;
                self.start = after;
            } else if memchr(b'"', line).is_none() {
                self.in_scratch = false;
                self.fields.clear();
                let mut start = self.start;
                for at in memchr_iter(self.delimiter, line).take(MAX_COLUMNS) {
                    self.fields.push((start, self.start + at));
                    start = self.start + at + 1;
                }
                self.fields.push((start, self.start + line.len()));
                self.lines = 1;
                self.start = after;
            } else {
                self.in_scratch = true;
                let Some(after) = self.unquote() else {
                    self.fill()?;
                    continue;
                };
                let record = &self.buffer[self.start..after];
                self.lines = (memchr_iter(self.newline, record).count() as u64).max(1);
                self.start = after;
            }
            self.next_line += self.lines;
            self.open_end = self.buffer[self.start - 1] != self.newline;
            return Ok(true);
        }
    }

    /// Whether the start of a line without quotes has more fields than a table can have: its
    /// end does not matter then.
    fn is_too_wide(&self, text: &[u8]) -> bool {
        text.len() > MAX_COLUMNS
            && memchr(b'"', text).is_none()
            && memchr_iter(self.delimiter, text).count() > MAX_COLUMNS
    }

    /// Unquotes the record at `start` into `scratch`; gives where the next one starts, or
    /// `None` when more bytes are needed to tell.
    fn unquote(&mut self) -> Option<usize> {
        self.scratch.clear();
        self.fields.clear();
        let text = &self.buffer[..self.end];
        let mut at = self.start;
        loop {
            let field = self.scratch.len();
            if text.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    let Some(quote) = memchr(b'"', &text[at..]) else {
                        if !self.ended {
                            return None;
                        }
                        self.unclosed = true;
                        self.scratch.extend_from_slice(&text[at..]);
                        at = text.len();
                        break;
                    };
                    self.scratch.extend_from_slice(&text[at..at + quote]);
                    at += quote + 1;
                    if text.get(at) == Some(&b'"') {
                        self.scratch.push(b'"');
                        at += 1;
                    } else {
                        break;
                    }
                }
            }
            let rest = &text[at..];
            let stop = memchr2(self.delimiter, self.newline, rest);
            if stop.is_none() && !self.ended {
                return None;
            }
            let plain = &rest[..stop.unwrap_or(rest.len())];
            let more = stop.is_some_and(|stop| rest[stop] == self.delimiter);
            let cell = if more { plain } else { plain.strip_suffix(b"\r").unwrap_or(plain) };
            self.scratch.extend_from_slice(cell);
            self.fields.push((field, self.scratch.len()));
            at += plain.len() + usize::from(stop.is_some());
            if !more || self.fields.len() > MAX_COLUMNS {
                return Some(at);
            }
        }
    }

    /// Moves what is unread to the front and fills the buffer, which grows when a record
    /// is longer than it.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        while self.end < self.buffer.len() {
            match self.reader.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Bytes of text turned into records so far, as part of `done` read bytes.
    pub fn consumed(&self, done: u64) -> u64 {
        done.saturating_sub((self.end - self.start) as u64)
    }
}

/// What ends the first line of a text, outside quotes; `None` where it goes on.
fn newline(text: &[u8]) -> Option<u8> {
    let mut quoted = false;
    for at in memchr3_iter(b'"', b'\r', b'\n', text) {
        match (text[at], text.get(at + 1)) {
            (b'"', _) => quoted = !quoted,
            _ if quoted => {}
            (b'\n', _) | (_, Some(b'\n')) => return Some(b'\n'),
            (_, after) => return after.map(|_| b'\r'),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &[u8]) -> Vec<(u64, Vec<Vec<u8>>)> {
        let mut records = Records::new(text, b',').unwrap();
        let mut all = Vec::new();
        while records.advance().unwrap() {
            let fields = (0..records.len()).map(|index| records.get(index).to_vec()).collect();
            all.push((records.line, fields));
        }
        all
    }

    #[test]
    fn lines_are_counted_through_blanks_crlf_and_quoted_newlines() {
        let text = b"\xef\xbb\xbfa,b\r\n\r\n\"x\ny\",\"q\"\"q\"\n\n1,2";
        let records = split(text);
        let lines: Vec<u64> = records.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 6]);
        assert_eq!(records[1].1, [b"x\ny".to_vec(), b"q\"q".to_vec()]);
        assert_eq!(records[0].1, [b"a".to_vec(), b"b".to_vec()]);
    }

    #[test]
    fn records_longer_than_the_buffer_are_whole() {
        let long = "7".repeat(600_000);
        let text = format!("a,{long}\n\"{long}\n\",c\n1,2\n");
        let records = split(text.as_bytes());
        assert_eq!(records.len(), 3);
        assert_eq!(records[0].1[1].len(), 600_000);
        assert_eq!(records[1].1[0].len(), 600_001);
        assert_eq!(records[2].0, 4);
    }

    proptest! {
        /// The `csv` crate splits the same way (it ends records at a CR among LF, too).
        #[test]
        fn agrees_with_the_csv_crate(text in "([ab1\",]|\n|\r\n){0,40}|([ab1\",]|\r){0,40}") {
            let mut peer = csv::ReaderBuilder::new()
                .has_headers(false).flexible(true).from_reader(text.as_bytes());
            let theirs: Vec<Vec<Vec<u8>>> = peer
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let ours: Vec<_> = split(text.as_bytes()).into_iter().map(|(_, fields)| fields).collect();
            prop_assert_eq!(ours, theirs);
        }
    }
}

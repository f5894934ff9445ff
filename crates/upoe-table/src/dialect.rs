//! How a text table is written: what separates its cells, how it writes decimals and missing cells.

use memchr::memchr;

use crate::text::is_missing;

/// How text tables are written. What is not given is found out from the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dialect {
    /// What separates cells, an ASCII character. A space stands for any run of blanks.
    pub separator: Option<u8>,
    /// What separates a number's whole part from its fraction: a point or a comma.
    pub decimal: Option<u8>,
    /// Lines before the header, or before the data where there is none.
    pub skip: usize,
    /// A line that starts with this character is a comment.
    pub comment: Option<u8>,
}

/// What stands for a missing cell, besides an empty one, NA, N/A, null and nan.
#[derive(Debug, Clone, Default)]
pub(crate) struct MissingWords {
    words: Vec<String>,
    numbers: Vec<f64>,
}

impl MissingWords {
    pub fn new(words: &[String]) -> Self {
        let words: Vec<String> = words.iter().map(|word| word.trim().to_owned()).collect();
        let numbers = words.iter().filter_map(|word| word.parse().ok()).collect();
        MissingWords { words, numbers }
    }

    pub fn is_word(&self, cell: &[u8]) -> bool {
        is_missing(cell) || self.words.iter().any(|word| word.as_bytes() == cell.trim_ascii())
    }

    pub fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    #[inline]
    pub fn is_number(&self, value: f64) -> bool {
        self.numbers.contains(&value)
    }
}

/// What a cell holds.
pub(crate) enum Content {
    /// Any number of the floating-point grammar, infinite when it overflows.
    Number(f64),
    Missing,
    Text,
}

/// How cells are written.
pub(crate) struct Writing {
    pub decimal: u8,
    missing: MissingWords,
}

impl Writing {
    pub fn new(decimal: u8, missing: &[String]) -> Self {
        Writing { decimal, missing: MissingWords::new(missing) }
    }

    /// Whether numbers are written with a point, and none stands for a missing cell.
    pub fn is_plain(&self) -> bool {
        self.decimal == b'.' && !self.missing.has_numbers()
    }

    #[cold]
    pub fn classify(&self, bytes: &[u8]) -> Content {
        let bytes = bytes.trim_ascii();
        if self.missing.is_word(bytes) {
            return Content::Missing;
        }
        match parse(bytes, self.decimal) {
            Some(value) if value.is_nan() || self.missing.is_number(value) => Content::Missing,
            Some(value) => Content::Number(value),
            None => Content::Text,
        }
    }
}

/// A number written with this decimal mark.
pub(crate) fn parse(bytes: &[u8], decimal: u8) -> Option<f64> {
    if decimal == b'.' {
        return fast_float2::parse(bytes).ok();
    }
    let mut copy = [0; 64];
    let copy = copy.get_mut(..bytes.len())?;
    copy.copy_from_slice(bytes);
    if memchr(b'.', copy).is_some() {
        return None;
    }
    if let Some(at) = memchr(decimal, copy) {
        copy[at] = b'.';
    }
    fast_float2::parse(copy).ok()
}

/// The separator: tabs or semicolons where the first line has them and no comma, except for
/// decimal ones; blanks where nothing else is there and the second line has as many numbers.
pub(crate) fn separator(text: &[u8], newline: u8, tabs: bool) -> u8 {
    let mut lines =
        text.split(|&byte| byte == newline).filter(|line| !line.trim_ascii().is_empty());
    let first = lines.next().unwrap_or_default();
    let has = |byte| first.contains(&byte);
    let number = |cell: &[u8]| {
        let mut parts = cell.trim_ascii().splitn(2, |&byte| byte == b',');
        parts.all(|part| fast_float2::parse::<f64, _>(part).is_ok())
    };
    match () {
        () if tabs => b'\t',
        () if has(b';') && first.split(|&byte| byte == b';').all(number) => b';',
        () if has(b',') => b',',
        () if has(b'\t') => b'\t',
        () if has(b';') => b';',
        () => match lines.next() {
            Some(second) if words(first).count() > 1 && in_blanks(first, second) => b' ',
            _ => b',',
        },
    }
}

/// Whether a line has as many numbers as the one before it has words.
fn in_blanks(first: &[u8], second: &[u8]) -> bool {
    let number = |word: &[u8]| is_missing(word) || fast_float2::parse::<f64, _>(word).is_ok();
    words(first).count() == words(second).count() && words(second).all(number)
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The decimal mark: a comma where cells such as `1,5` are there and none with a point. Cells that
/// could all be thousands (`1,500`) do not tell, and stay an error.
pub(crate) fn decimal(text: &[u8], newline: u8, separator: u8) -> u8 {
    const LINES: usize = 200;
    if separator == b',' {
        return b'.';
    }
    let (mut commas, mut points) = (false, false);
    for line in text.split(|&byte| byte == newline).take(LINES) {
        for cell in line.split(|&byte| byte == separator) {
            let cell = cell.trim_ascii();
            let cell = cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell);
            match memchr(b',', cell) {
                Some(at) if parse(cell, b',').is_some() => {
                    let fraction = cell[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
                    commas |= fraction != 3 || cell[..at].trim_ascii_start() == b"0";
                }
                Some(_) => {}
                None => {
                    points |= cell.contains(&b'.') && fast_float2::parse::<f64, _>(cell).is_ok();
                }
            }
        }
    }
    if commas && !points { b',' } else { b'.' }
}

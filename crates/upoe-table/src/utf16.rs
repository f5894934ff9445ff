//! UTF-16 text, which Excel and PowerShell write, as UTF-8.

use std::io::{self, Read};

/// How UTF-16 orders the two bytes of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    /// The byte order of UTF-16 text, by its mark or, without one, by the zeros that every other
    /// byte of Latin letters, digits and separators is; `None` for text that is not UTF-16.
    pub fn of(start: &[u8]) -> Option<ByteOrder> {
        match start {
            [0xff, 0xfe, ..] => return Some(ByteOrder::Little),
            [0xfe, 0xff, ..] => return Some(ByteOrder::Big),
            _ => {}
        }
        let zeros =
            |parity: usize| start.iter().skip(parity).step_by(2).filter(|&&byte| byte == 0).count();
        let enough = (start.len() / 8).max(2);
        match (zeros(0), zeros(1)) {
            (0, odd) if odd >= enough => Some(ByteOrder::Little),
            (even, 0) if even >= enough => Some(ByteOrder::Big),
            _ => None,
        }
    }
}

/// A reader of UTF-16 as UTF-8; what is not UTF-16 becomes U+FFFD.
pub(crate) struct Utf16<R> {
    inner: R,
    order: ByteOrder,
    packed: Vec<u8>,
    text: String,
    /// How much of the text was given out.
    given: usize,
}

impl<R: Read> Utf16<R> {
    pub fn new(inner: R, order: ByteOrder) -> Self {
        Utf16 { inner, order, packed: Vec::new(), text: String::new(), given: 0 }
    }

    /// Reads and decodes more; leaves the text empty at the end.
    fn refill(&mut self) -> io::Result<()> {
        const CHUNK: u64 = 1 << 16;
        self.text.clear();
        self.given = 0;
        let ended = (&mut self.inner).take(CHUNK).read_to_end(&mut self.packed)? == 0;
        let (pairs, rest) = self.packed.as_chunks::<2>();
        let unit = |pair: &[u8; 2]| match self.order {
            ByteOrder::Little => u16::from_le_bytes(*pair),
            ByteOrder::Big => u16::from_be_bytes(*pair),
        };
        // half a character at the end waits for the other half
        let half = pairs.last().is_some_and(|pair| (0xd800..0xdc00).contains(&unit(pair)));
        let whole = if half && !ended { pairs.len() - 1 } else { pairs.len() };
        for letter in char::decode_utf16(pairs[..whole].iter().map(unit)) {
            self.text.push(letter.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        if ended && !rest.is_empty() {
            self.text.push(char::REPLACEMENT_CHARACTER);
            self.packed.clear();
        } else {
            self.packed.drain(..2 * whole);
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() {
            self.refill()?;
        }
        let count = (&self.text.as_bytes()[self.given..]).read(buffer)?;
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(text: &str, order: ByteOrder) -> Vec<u8> {
        let bytes = |unit: u16| match order {
            ByteOrder::Little => unit.to_le_bytes(),
            ByteOrder::Big => unit.to_be_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn characters_of_every_width_cross_the_chunks() {
        let text = "ä,1\n𝄞€\n".repeat(30_000);
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for start in ["", "a"] {
                let text = start.to_owned() + &text;
                let mut back = String::new();
                let bytes = packed(&text, order);
                Utf16::new(&bytes[..], order).read_to_string(&mut back).unwrap();
                assert!(back == text);
            }
        }
    }

    #[test]
    fn what_is_broken_shows() {
        let decoded = |bytes: &[u8]| {
            let mut text = String::new();
            Utf16::new(bytes, ByteOrder::Little).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(decoded(b"1\0\x34\xd8"), "1\u{fffd}");
        assert_eq!(decoded(b"1\x002\0\x33"), "12\u{fffd}");
        assert_eq!(decoded(b"\x34\xd81\0"), "\u{fffd}1");
        assert_eq!(decoded(b""), "");
    }

    #[test]
    fn the_byte_order_is_told_from_the_start() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for text in ["a,b\n1,2\n", "größe,länge,tiefe\n", "\u{feff}Ж,Д\n", "1,"] {
                assert_eq!(ByteOrder::of(&packed(text, order)), Some(order), "{text}");
            }
        }
        for text in ["a,b\n1,2\n", "1\n", "", "größe\n", "\u{feff}a,b\n"] {
            assert_eq!(ByteOrder::of(text.as_bytes()), None, "{text}");
        }
    }
}

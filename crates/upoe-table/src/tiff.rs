//! Reads grey pictures from TIFF files.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use ::tiff::ColorType;
use ::tiff::decoder::{Decoder, DecodingResult, Limits};

use crate::error::{Error, Result};
use crate::file_error::FileError;

/// A grey picture, row after row from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreyPicture {
    /// Pixels per row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Shades, 0 is black.
    pub pixels: Vec<u8>,
}

impl GreyPicture {
    /// Reads an 8-bit grey TIFF file, plain or packed.
    pub fn read(path: impl AsRef<Path>) -> Result<GreyPicture> {
        let path = path.as_ref();
        let io = |error| Error::read(path, error);
        let file = File::open(path).map_err(io)?;
        let found = file.metadata().map_err(io)?;
        if found.is_dir() {
            return Err(FileError::IsDirectory { file: path.to_owned() }.into());
        }
        GreyPicture::decode(path, BufReader::new(file), found.len())
    }

    /// Reads a picture from memory; `name` is what messages call it.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<GreyPicture> {
        GreyPicture::decode(name.as_ref(), Cursor::new(bytes), bytes.len() as u64)
    }

    fn decode(path: &Path, mut source: impl Read + Seek, length: u64) -> Result<GreyPicture> {
        let bad = |reason: String| Error::BadTiff { file: path.to_owned(), reason };
        check_lists(&mut source, length).map_err(|reason| bad(reason.into()))?;
        source.rewind().map_err(|error| Error::read(path, error))?;
        let broken = |error: ::tiff::TiffError| bad(error.to_string());
        let mut decoder = Decoder::new(source).map_err(broken)?.with_limits(limits(length));
        let (width, height) = decoder.dimensions().map_err(broken)?;
        let colours = decoder.colortype().map_err(broken)?;
        if colours != ColorType::Gray(8) {
            return Err(bad(format!("its pixels are {colours:?}")));
        }
        let (width, height) = (width as usize, height as usize);
        match decoder.read_image().map_err(broken)? {
            DecodingResult::U8(pixels) if pixels.len() == width * height => {
                Ok(GreyPicture { width, height, pixels })
            }
            _ => Err(bad("its size contradicts its pixels".into())),
        }
    }
}

/// Refuses a directory with a list longer than the file: the decoder makes room for a list
/// before it looks whether it is there.
fn check_lists(
    source: &mut (impl Read + Seek),
    length: u64,
) -> std::result::Result<(), &'static str> {
    let short = |_| "it ends within its directory";
    let mut head = [0; 8];
    source.read_exact(&mut head).map_err(short)?;
    let little = head.starts_with(b"II");
    if &head[..4] != if little { b"II*\0" } else { b"MM\0*" } {
        return Err("it does not begin as one");
    }
    let number = |bytes: &[u8]| {
        let digit = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        if little { bytes.iter().rev().fold(0, digit) } else { bytes.iter().fold(0, digit) }
    };
    source.seek(SeekFrom::Start(number(&head[4..]))).map_err(short)?;
    source.read_exact(&mut head[..2]).map_err(short)?;
    for _ in 0..number(&head[..2]) {
        let mut entry = [0; 12];
        source.read_exact(&mut entry).map_err(short)?;
        if number(&entry[4..8]) > length {
            return Err("a list in it is longer than the file");
        }
    }
    Ok(())
}

/// What a file of `length` bytes can hold: two packed bytes make at most 128.
fn limits(length: u64) -> Limits {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let mut limits = Limits::default();
    limits.decoding_buffer_size = length.saturating_mul(64);
    limits.intermediate_buffer_size = length.saturating_mul(64);
    limits.ifd_value_size = length;
    limits
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grey picture of 3 × 2 in one strip, packed: a run of 4 and 2 as they are.
    fn bytes() -> Vec<u8> {
        let packed = [(1_i8 - 4) as u8, 7, 1, 200, 255];
        let mut out = b"II*\0".to_vec();
        out.extend((8 + packed.len() as u32 + 1).to_le_bytes());
        out.extend(packed);
        out.push(0);
        let entries: [(u16, u32); 8] = [
            (256, 3),
            (257, 2),
            (258, 8),
            (259, 32773),
            (262, 1),
            (273, 8),
            (278, 2),
            (279, packed.len() as u32),
        ];
        out.extend((entries.len() as u16).to_le_bytes());
        for (tag, value) in entries {
            out.extend(tag.to_le_bytes());
            out.extend(4_u16.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
            out.extend(value.to_le_bytes());
        }
        out.extend(0_u32.to_le_bytes());
        out
    }

    #[test]
    fn packed_pixels_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tiff");
        std::fs::write(&path, bytes()).unwrap();
        let picture = GreyPicture::read(&path).unwrap();
        assert_eq!((picture.width, picture.height), (3, 2));
        assert_eq!(picture.pixels, [7, 7, 7, 7, 200, 255]);
    }

    #[test]
    fn damage_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.tiff");
        for cut in 0..bytes().len() {
            std::fs::write(&path, &bytes()[..cut]).unwrap();
            assert!(GreyPicture::read(&path).is_err(), "{cut} bytes");
        }
        let mut colour = bytes();
        let bits = colour.len() - 4 - 12 * 6 + 8;
        colour[bits] = 16;
        std::fs::write(&path, colour).unwrap();
        assert!(GreyPicture::read(&path).is_err());
        let mut long = bytes();
        let count = long.len() - 4 - 12 * 4 + 4;
        long[count + 2] = 0x5d;
        let long = GreyPicture::from_bytes("a.tiff", &long).unwrap_err();
        assert!(long.to_string().contains("longer than the file"), "{long}");
        let missing = GreyPicture::read(folder.path().join("b.tiff"));
        assert!(matches!(missing, Err(Error::File(FileError::NotFound { .. }))));
    }
}

//! Numbers as binary files store them.

use half::f16;

/// The type of a stored number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Bool,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F16,
    F32,
    F64,
}

impl Number {
    /// Bytes per number.
    pub fn size(self) -> usize {
        match self {
            Number::Bool | Number::U8 | Number::I8 => 1,
            Number::U16 | Number::I16 | Number::F16 => 2,
            Number::U32 | Number::I32 | Number::F32 => 4,
            Number::U64 | Number::I64 | Number::F64 => 8,
        }
    }

    /// The digits of the number that `bytes` begin with, if of a type that a double can round.
    pub fn digits(self, big_endian: bool, bytes: &[u8]) -> String {
        let bytes = bytes.first_chunk().copied().unwrap_or_default();
        let bits = if big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) };
        match self {
            Number::I64 => bits.cast_signed().to_string(),
            Number::U64 => bits.to_string(),
            _ => String::new(),
        }
    }

    /// Appends the numbers stored in `bytes`; a rest too short for one is ignored.
    pub fn decode(self, big_endian: bool, bytes: &[u8], numbers: &mut Vec<f64>) {
        macro_rules! decode {
            ($type:ty, $value:ident => $number:expr) => {{
                let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
                if big_endian {
                    numbers.extend(chunks.iter().map(|chunk| {
                        let $value = <$type>::from_be_bytes(*chunk);
                        $number
                    }));
                } else {
                    numbers.extend(chunks.iter().map(|chunk| {
                        let $value = <$type>::from_le_bytes(*chunk);
                        $number
                    }));
                }
            }};
        }
        match self {
            Number::Bool => decode!(u8, value => f64::from(value != 0)),
            Number::U8 => decode!(u8, value => f64::from(value)),
            Number::I8 => decode!(i8, value => f64::from(value)),
            Number::U16 => decode!(u16, value => f64::from(value)),
            Number::I16 => decode!(i16, value => f64::from(value)),
            Number::U32 => decode!(u32, value => f64::from(value)),
            Number::I32 => decode!(i32, value => f64::from(value)),
            Number::U64 => decode!(u64, value => value as f64),
            Number::I64 => decode!(i64, value => value as f64),
            Number::F16 => decode!(f16, value => value.to_f64()),
            Number::F32 => decode!(f32, value => f64::from(value)),
            Number::F64 => decode!(f64, value => value),
        }
    }
}

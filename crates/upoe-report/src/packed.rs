//! Number arrays as the page carries them: base64 of little-endian bytes.
//!
//! 50,000 rows × 20 experts as decimal text would be 18 MB; as `f32` in base64 it
//! is 5 MB and decodes without parsing.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Serialize, Serializer, ser::SerializeStruct};

/// Numbers stored as `f32`, serialised as a base64 string of little-endian bytes.
///
/// NaN and ±∞ survive, which plain JSON would turn into `null`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floats(pub Vec<f32>);

impl FromIterator<f64> for Floats {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Self(values.into_iter().map(single).collect())
    }
}

impl Serialize for Floats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|value| value.to_le_bytes()).collect();
        serializer.serialize_str(&STANDARD.encode(bytes))
    }
}

/// Small whole numbers (labels, dictionary codes, row numbers), serialised as
/// `{"width": 1 | 2 | 4, "data": base64}` in the narrowest width that holds them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codes(pub Vec<u32>);

impl FromIterator<u32> for Codes {
    fn from_iter<I: IntoIterator<Item = u32>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl Serialize for Codes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let width = match self.0.iter().max().copied().unwrap_or(0) {
            0..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 4,
        };
        let bytes: Vec<u8> =
            self.0.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)).collect();
        let mut object = serializer.serialize_struct("Codes", 2)?;
        object.serialize_field("width", &width)?;
        object.serialize_field("data", &STANDARD.encode(bytes))?;
        object.end()
    }
}

/// To single precision; a finite number stays finite.
pub(crate) fn single(value: f64) -> f32 {
    if value.is_finite() { (value as f32).clamp(f32::MIN, f32::MAX) } else { value as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_little_endian_and_keep_infinities() {
        let json = serde_json::to_string(&Floats(vec![1.0, f32::NEG_INFINITY])).unwrap();
        assert_eq!(json, r#""AACAPwAAgP8=""#);
    }

    #[test]
    fn codes_take_the_narrowest_width() {
        let json = |values: &[u32]| serde_json::to_string(&Codes(values.to_vec())).unwrap();
        assert_eq!(json(&[]), r#"{"width":1,"data":""}"#);
        assert_eq!(json(&[0, 255]), r#"{"width":1,"data":"AP8="}"#);
        assert_eq!(json(&[256]), r#"{"width":2,"data":"AAE="}"#);
        assert_eq!(json(&[65_536]), r#"{"width":4,"data":"AAABAA=="}"#);
    }
}

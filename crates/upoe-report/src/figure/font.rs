//! The letters of figures: outlines and widths from an embedded font.
//!
//! DejaVu Sans, the letters figures use; its licence lies beside it.

use std::sync::OnceLock;

use ttf_parser::{Face, OutlineBuilder};

const BYTES: &[u8] = include_bytes!("../../assets/font/DejaVuSans-subset.ttf");

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(BYTES, 0).ok()).as_ref()
}

/// How wide a text is at this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    walk(text, size, |_, _, _| {})
}

/// Whether figures can show this character.
#[cfg(test)]
pub(super) fn knows(letter: char) -> bool {
    face().is_some_and(|face| face.glyph_index(letter).is_some())
}

/// Draws the outline of each letter, in the font's units: gives the place of its origin and
/// the scale to points.
pub(super) fn outlines(text: &str, size: f64, draw: impl FnMut(f64, f64, Outline)) {
    walk(text, size, draw);
}

/// What draws a letter into a builder.
pub(super) struct Outline(ttf_parser::GlyphId);

impl Outline {
    pub(super) fn build(&self, builder: &mut dyn OutlineBuilder) {
        if let Some(face) = face() {
            face.outline_glyph(self.0, builder);
        }
    }
}

fn walk(text: &str, size: f64, mut each: impl FnMut(f64, f64, Outline)) -> f64 {
    let Some(face) = face() else { return 0.0 };
    let scale = size / f64::from(face.units_per_em());
    let mut x = 0.0;
    for letter in text.chars() {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        each(x, scale, Outline(glyph));
        x += scale * f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
    }
    x
}

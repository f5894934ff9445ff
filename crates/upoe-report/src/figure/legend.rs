//! What lines and symbols mean.

use super::{Align, Colour, Figure, Ink, Mark, Point};

/// One line of a legend: what is drawn and what it means.
#[derive(Clone, Debug)]
pub struct Key {
    /// What it means.
    pub label: String,
    /// The line, where there is one.
    pub ink: Option<Ink>,
    /// The symbol and its colour, where there is one.
    pub mark: Option<(Mark, Colour)>,
    /// The filled area, where there is one.
    pub area: Option<Colour>,
}

impl Key {
    /// A line.
    pub fn line(label: impl Into<String>, ink: Ink) -> Key {
        Key { label: label.into(), ink: Some(ink), mark: None, area: None }
    }

    /// A symbol.
    pub fn mark(label: impl Into<String>, mark: Mark, colour: Colour) -> Key {
        Key { label: label.into(), ink: None, mark: Some((mark, colour)), area: None }
    }

    /// A filled area.
    pub fn area(label: impl Into<String>, colour: Colour) -> Key {
        Key { label: label.into(), ink: None, mark: None, area: Some(colour) }
    }
}

/// Draws a legend, from its upper left corner down.
pub fn legend(figure: &mut Figure, (x, y): Point, keys: &[Key]) {
    const SIZE: f64 = 9.5;
    for (i, key) in keys.iter().enumerate() {
        let middle = y + 15.0 * i as f64 + 7.0;
        if let Some(colour) = key.area {
            figure.rectangle((x, middle - 4.5), (x + 26.0, middle + 4.5), colour);
        }
        if let Some(ink) = key.ink {
            figure.line(&[(x, middle), (x + 26.0, middle)], ink);
        }
        if let Some((mark, colour)) = key.mark {
            figure.mark((x + 13.0, middle), mark, 6.5, colour);
        }
        figure.text((x + 32.0, middle + 0.36 * SIZE), &key.label, SIZE, Align::Left);
    }
}

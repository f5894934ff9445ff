//! Figures for papers: shapes on a page, written as SVG and as PNG.
//!
//! A [`Figure`] is a list of shapes in points; [`Axes`] turn data into shapes. Both writers draw
//! the same list, so the two files show the same picture.

mod axes;
mod font;
mod legend;
mod png;
mod svg;

pub use axes::{Axes, Labels, range};
pub use legend::{Key, legend};

/// A place on the page: points from the left, points from the top.
pub type Point = (f64, f64);

/// A colour with its opacity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub u8, pub u8, pub u8, pub f64);

impl Colour {
    /// Near black, for text and frames.
    pub const INK: Colour = Colour(32, 32, 32, 1.0);
    /// Grey, for what stands in the background.
    pub const GREY: Colour = Colour(140, 140, 140, 1.0);
    /// Light grey, for bars and grid lines.
    pub const PALE: Colour = Colour(214, 214, 214, 1.0);
    /// A light green: grey value 136 of 255 in print.
    pub const GREEN: Colour = Colour(43, 181, 148, 1.0);
    /// A dark blue: grey value 54.
    pub const BLUE: Colour = Colour(11, 60, 140, 1.0);
    /// A middle red: grey value 109.
    pub const RED: Colour = Colour(217, 72, 15, 1.0);

    /// The same colour, seen through.
    pub fn faint(self, opacity: f64) -> Colour {
        Colour(self.0, self.1, self.2, opacity)
    }
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ink {
    /// Its colour.
    pub colour: Colour,
    /// Its width in points.
    pub width: f64,
    /// Lengths of dash and gap in points; `None` is solid.
    pub dash: Option<(f64, f64)>,
}

impl Ink {
    /// A solid line.
    pub const fn solid(colour: Colour, width: f64) -> Ink {
        Ink { colour, width, dash: None }
    }

    /// A dashed line.
    pub const fn dashed(colour: Colour, width: f64) -> Ink {
        Ink { colour, width, dash: Some((5.0, 3.5)) }
    }

    /// A dotted line.
    pub const fn dotted(colour: Colour, width: f64) -> Ink {
        Ink { colour, width, dash: Some((1.5, 2.5)) }
    }
}

/// Symbols that stand for one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// ○
    Circle,
    /// □
    Square,
    /// ◇
    Diamond,
    /// +
    Plus,
    /// A filled dot.
    Dot,
}

/// Where text stands relative to its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// It begins there.
    Left,
    /// It is centred there.
    Middle,
    /// It ends there.
    Right,
}

/// A picture in shades of grey, row after row from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Grey {
    /// Pixels per row.
    pub width: usize,
    /// Shades, 0 is black.
    pub pixels: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Shape {
    Line { points: Vec<Point>, ink: Ink },
    Area { points: Vec<Point>, colour: Colour },
    Circle { at: Point, radius: f64, ink: Option<Ink>, fill: Option<Colour> },
    Text { at: Point, text: String, size: f64, align: Align, upright: bool },
    Picture { at: Point, size: Point, grey: Grey },
}

/// Shapes on a page.
#[derive(Clone, Debug)]
pub struct Figure {
    width: f64,
    height: f64,
    shapes: Vec<Shape>,
}

impl Figure {
    /// An empty page of this size in points.
    pub fn new(width: f64, height: f64) -> Figure {
        Figure { width, height, shapes: Vec::new() }
    }

    /// Adds a shape, unless one of its places is nowhere.
    fn add(&mut self, shape: Shape) {
        let at = match &shape {
            Shape::Line { .. } | Shape::Area { .. } => (0.0, 0.0),
            Shape::Circle { at, .. } | Shape::Text { at, .. } | Shape::Picture { at, .. } => *at,
        };
        if place(&at) == Some(at) {
            self.shapes.push(shape);
        }
    }

    /// A line through points, past those that are not numbers.
    pub fn line(&mut self, points: &[Point], ink: Ink) {
        self.add(Shape::Line { points: points.iter().filter_map(place).collect(), ink });
    }

    /// A filled polygon, past corners that are not numbers.
    pub fn area(&mut self, points: &[Point], colour: Colour) {
        self.add(Shape::Area { points: points.iter().filter_map(place).collect(), colour });
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, (x0, y0): Point, (x1, y1): Point, colour: Colour) {
        self.area(&[(x0, y0), (x1, y0), (x1, y1), (x0, y1)], colour);
    }

    /// Text on one line; its baseline is at the place given.
    pub fn text(&mut self, at: Point, text: &str, size: f64, align: Align) {
        self.add(Shape::Text { at, text: text.into(), size, align, upright: false });
    }

    /// Text that runs upwards.
    pub fn upright_text(&mut self, at: Point, text: &str, size: f64) {
        let align = Align::Middle;
        self.add(Shape::Text { at, text: text.into(), size, align, upright: true });
    }

    /// A picture with its upper left corner and its size.
    pub fn picture(&mut self, at: Point, size: Point, grey: Grey) {
        self.add(Shape::Picture { at, size, grey });
    }

    /// A symbol.
    pub fn mark(&mut self, (x, y): Point, mark: Mark, size: f64, colour: Colour) {
        let ink = Ink::solid(colour, 0.32 * size.sqrt());
        let r = 0.5 * size;
        let closed = |corners: [Point; 4]| {
            let place = |(dx, dy): Point| (x + r * dx, y + r * dy);
            [0, 1, 2, 3, 0, 1].map(|i| place(corners[i]))
        };
        match mark {
            Mark::Circle => {
                let shape = Shape::Circle { at: (x, y), radius: r, ink: Some(ink), fill: None };
                self.add(shape);
            }
            Mark::Dot => {
                let shape = Shape::Circle { at: (x, y), radius: r, ink: None, fill: Some(colour) };
                self.add(shape);
            }
            Mark::Square => {
                let s = 0.88;
                self.line(&closed([(-s, -s), (s, -s), (s, s), (-s, s)]), ink);
            }
            Mark::Diamond => {
                let s = 1.2;
                self.line(&closed([(0.0, -s), (s, 0.0), (0.0, s), (-s, 0.0)]), ink);
            }
            Mark::Plus => {
                let s = 1.15 * r;
                self.line(&[(x - s, y), (x + s, y)], ink);
                self.line(&[(x, y - s), (x, y + s)], ink);
            }
        }
    }
}

/// A place that can be drawn, held within reach of any page; nothing where it is not a number.
fn place(&(x, y): &Point) -> Option<Point> {
    const FAR: f64 = 1e5;
    let is_known = !x.is_nan() && !y.is_nan();
    is_known.then(|| (x.clamp(-FAR, FAR), y.clamp(-FAR, FAR)))
}

#[cfg(test)]
mod tests;

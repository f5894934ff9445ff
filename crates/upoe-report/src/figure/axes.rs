//! Axes: from data to places on the page.

use super::{Align, Colour, Figure, Ink, Mark, Point};

/// What stands at the axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Labels<'a> {
    /// Above the frame.
    pub title: &'a str,
    /// Below it, with the unit.
    pub x: &'a str,
    /// Left of it, with the unit; where it is empty there is no scale either.
    pub y: &'a str,
    /// The numbers along x are powers of ten: the scale shows what they stand for.
    pub powers: bool,
}

/// A frame on the page with a scale along each side; a scale may run backwards.
#[derive(Clone, Copy, Debug)]
pub struct Axes {
    corner: Point,
    size: Point,
    x: (f64, f64),
    y: (f64, f64),
}

/// Text size of tick labels.
const SMALL: f64 = 9.0;

impl Axes {
    /// Draws a frame with upper left corner and size, scales and labels.
    pub fn new(
        figure: &mut Figure,
        corner: Point,
        size: Point,
        (x, y): ((f64, f64), (f64, f64)),
        labels: Labels,
    ) -> Axes {
        let (x, y) = (scale(x), scale(y));
        let axes = Axes { corner, size, x, y };
        let ((left, top), (right, bottom)) = (corner, (corner.0 + size.0, corner.1 + size.1));
        let thin = Ink::solid(Colour::PALE.faint(0.7), 0.5);
        let marks = match labels.powers {
            true => powers(x),
            false => named(ticks(x, (size.0 / 55.0).clamp(2.0, 8.0))),
        };
        for (at, text) in marks {
            let px = axes.at(at, y.0).0;
            figure.line(&[(px, top), (px, bottom)], thin);
            figure.line(&[(px, bottom), (px, bottom + 3.5)], Ink::solid(Colour::INK, 0.8));
            figure.text((px, bottom + 14.0), &text, SMALL, Align::Middle);
        }
        let marks = named(ticks(y, (size.1 / 40.0).clamp(2.0, 8.0)));
        let mut widest = 0.0_f64;
        for (at, text) in marks.into_iter().filter(|_| !labels.y.is_empty()) {
            let py = axes.at(x.0, at).1;
            figure.line(&[(left, py), (right, py)], thin);
            figure.line(&[(left - 3.5, py), (left, py)], Ink::solid(Colour::INK, 0.8));
            figure.text((left - 6.0, py + 0.36 * SMALL), &text, SMALL, Align::Right);
            widest = widest.max(super::font::width(&text, SMALL));
        }
        let frame = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
        figure.line(&frame, Ink::solid(Colour::INK, 0.8));
        let (middle, centre) = (left + 0.5 * size.0, top + 0.5 * size.1);
        figure.text((middle, bottom + 29.0), labels.x, 10.5, Align::Middle);
        figure.text((middle, top - 7.0), labels.title, 11.0, Align::Middle);
        figure.upright_text((left - widest - 14.0, centre), labels.y, 10.5);
        axes
    }

    /// Where a pair of numbers stands on the page.
    pub fn at(&self, x: f64, y: f64) -> Point {
        let along = |v: f64, (low, high): (f64, f64)| (v - low) / (high - low);
        let (w, h) = self.size;
        (self.corner.0 + w * along(x, self.x), self.corner.1 + h * (1.0 - along(y, self.y)))
    }

    fn held(&self, y: f64) -> f64 {
        y.clamp(self.y.0.min(self.y.1), self.y.0.max(self.y.1))
    }

    /// A line through data; what leaves the frame upwards or downwards is held at its edge.
    pub fn curve(&self, figure: &mut Figure, data: &[(f64, f64)], ink: Ink) {
        let points: Vec<Point> = data.iter().map(|(x, y)| self.at(*x, self.held(*y))).collect();
        figure.line(&points, ink);
    }

    /// A level line over the whole width.
    pub fn level(&self, figure: &mut Figure, y: f64, ink: Ink) {
        self.curve(figure, &[(self.x.0, y), (self.x.1, y)], ink);
    }

    /// A symbol at each pair inside the frame.
    pub fn marks(
        &self,
        figure: &mut Figure,
        data: &[(f64, f64)],
        (mark, size): (Mark, f64),
        colour: Colour,
    ) {
        let within = |v: f64, (a, b): (f64, f64)| v >= a.min(b) && v <= a.max(b);
        for (x, y) in data.iter().filter(|(x, y)| within(*x, self.x) && within(*y, self.y)) {
            figure.mark(self.at(*x, *y), mark, size, colour);
        }
    }

    /// Bars from `from` on, each `width` wide, from the lower edge up.
    pub fn bars(
        &self,
        figure: &mut Figure,
        (from, width): (f64, f64),
        heights: &[f64],
        colour: Colour,
    ) {
        for (i, height) in heights.iter().enumerate().filter(|(_, h)| **h > 0.0) {
            let x = from + width * i as f64;
            let height = height.min(self.y.1);
            figure.rectangle(self.at(x, self.y.0), self.at(x + 0.94 * width, height), colour);
        }
    }

    /// The area between two curves, as triples of x, lower and upper.
    pub fn band(&self, figure: &mut Figure, data: &[(f64, f64, f64)], colour: Colour) {
        let lower = data.iter().map(|(x, low, _)| self.at(*x, self.held(*low)));
        let upper = data.iter().rev().map(|(x, _, high)| self.at(*x, self.held(*high)));
        let points: Vec<Point> = lower.chain(upper).collect();
        figure.area(&points, colour);
    }
}

/// A range that holds all finite values, with a margin.
pub fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|v| v.is_finite());
    let (low, high) =
        finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
    let margin = 0.04 * (high - low);
    match () {
        () if high > low => scale((low - margin, high + margin)),
        () if low.is_finite() => scale((low, low)),
        () => (0.0, 1.0),
    }
}

/// Ends of a scale that can be drawn: finite, and apart from each other.
fn scale((a, b): (f64, f64)) -> (f64, f64) {
    const FAR: f64 = 1e300;
    let end = |v: f64| if v.is_nan() { 0.0 } else { v.clamp(-FAR, FAR) };
    let (a, b) = (end(a), end(b));
    let size = a.abs().max(b.abs());
    // Closer than this, the numbers at the ticks would be the same.
    let apart = (b - a).abs() > 1e-12 * size;
    let room = 0.5_f64.max(1e-9 * size);
    if apart { (a, b) } else { (a - room, a + room) }
}

/// Round numbers inside a range, `about` this many, and the decimal places they need.
fn ticks((a, b): (f64, f64), about: f64) -> (Vec<f64>, usize) {
    let (low, high) = (a.min(b), a.max(b));
    let rough = (high - low) / about;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|round| round * power)
        .into_iter()
        .find(|step| *step >= rough * (1.0 - 1e-9))
        .unwrap_or(10.0 * power);
    let places = (-step.log10().floor()).clamp(0.0, 330.0) as usize;
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    ((first..=last).map(|i| i as f64 * step).collect(), places)
}

/// Ticks with their text.
fn named((marks, places): (Vec<f64>, usize)) -> Vec<(f64, String)> {
    marks.into_iter().map(|at| (at, number(at, places))).collect()
}

/// Where 1, 2 and 5 times powers of ten stand on their logarithms' scale.
fn powers((a, b): (f64, f64)) -> Vec<(f64, String)> {
    // Powers of ten that are numbers, about ten of them at most.
    let (low, high) = (a.min(b).max(-300.0), a.max(b).min(300.0));
    let rounds: &[f64] = if high - low > 2.5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let every = if high - low > 20.0 { ((high - low) / 10.0).ceil() as usize } else { 1 };
    (low.floor() as i32..=high.ceil() as i32)
        .step_by(every)
        .flat_map(|power| rounds.iter().map(move |round| (round, power)))
        .map(|(round, power)| {
            let text = number(round * 10_f64.powi(power), (-power).max(0) as usize);
            (round.log10() + f64::from(power), text)
        })
        .filter(|(at, _)| *at >= low && *at <= high)
        .collect()
}

/// A number with a real minus sign; a power of ten where it would be long.
fn number(value: f64, places: usize) -> String {
    let long = places > 9 || value.abs() >= 1e12;
    let text = if long { format!("{value:.1e}") } else { format!("{value:.places$}") };
    let bare = text.trim_start_matches('-');
    let zero = bare.chars().all(|c| c == '0' || c == '.');
    if text.starts_with('-') && !zero { format!("−{bare}") } else { bare.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((0.0, 50.0), 5.0), (vec![0.0, 10.0, 20.0, 30.0, 40.0, 50.0], 0));
        let (marks, places) = ticks((-0.37, -0.08), 5.0);
        assert_eq!((marks.len(), places), (3, 1));
        assert_eq!(
            marks.iter().map(|t| number(*t, places)).collect::<Vec<_>>(),
            ["−0.3", "−0.2", "−0.1"]
        );
        assert_eq!(number(-0.0, 1), "0.0");
        let shown: Vec<String> = powers((-0.8, 1.4)).into_iter().map(|p| p.1).collect();
        assert_eq!(shown, ["0.2", "0.5", "1", "2", "5", "10", "20"]);
    }

    #[test]
    fn the_frame_holds_the_range() {
        let mut figure = Figure::new(200.0, 100.0);
        let scales = ((0.0, 10.0), (-1.0, 1.0));
        let axes = Axes::new(&mut figure, (40.0, 10.0), (100.0, 50.0), scales, Labels::default());
        assert_eq!(axes.at(0.0, 1.0), (40.0, 10.0));
        assert_eq!(axes.at(10.0, -1.0), (140.0, 60.0));
        let scales = ((0.0, 10.0), (1.0, -1.0));
        let axes = Axes::new(&mut figure, (40.0, 10.0), (100.0, 50.0), scales, Labels::default());
        assert_eq!((axes.at(0.0, 1.0), axes.held(3.0)), ((40.0, 60.0), 1.0));
    }
}

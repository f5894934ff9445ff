//! Figures as PNG, drawn with smooth edges.

use tiny_skia::{
    FillRule, FilterQuality, LineJoin, Paint, Path, PathBuilder, Pixmap, PixmapPaint,
    PremultipliedColorU8, Stroke, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use super::{Align, Colour, Figure, Grey, Ink, Point, Shape, font};

impl Figure {
    /// The figure as a PNG file, with `scale` pixels per point; empty for a figure without area.
    pub fn png(&self, scale: f64) -> Vec<u8> {
        let size = |length: f64| (length * scale).round().clamp(0.0, 16_000.0) as u32;
        let Some(mut page) = Pixmap::new(size(self.width), size(self.height)) else {
            return Vec::new();
        };
        page.fill(tiny_skia::Color::WHITE);
        let place = Transform::from_scale(scale as f32, scale as f32);
        for shape in &self.shapes {
            draw(&mut page, place, shape);
        }
        page.encode_png().unwrap_or_default()
    }
}

fn draw(page: &mut Pixmap, place: Transform, shape: &Shape) {
    match shape {
        Shape::Line { points, ink } => stroke(page, place, path(points, false), ink),
        Shape::Area { points, colour } => fill(page, place, path(points, true), colour),
        Shape::Circle { at, radius, ink, fill: inside } => {
            let circle = || PathBuilder::from_circle(at.0 as f32, at.1 as f32, *radius as f32);
            if let Some(colour) = inside {
                fill(page, place, circle(), colour);
            }
            if let Some(ink) = ink {
                stroke(page, place, circle(), ink);
            }
        }
        Shape::Text { at, text, size, align, upright } => {
            let back = font::width(text, *size)
                * match align {
                    Align::Left => 0.0,
                    Align::Middle => 0.5,
                    Align::Right => 1.0,
                };
            let turn = if *upright { -90.0 } else { 0.0 };
            let at = place.pre_translate(at.0 as f32, at.1 as f32).pre_rotate(turn);
            font::outlines(text, *size, |x, scale, outline| {
                let mut letter = Letter(PathBuilder::new());
                outline.build(&mut letter);
                let scale = scale as f32;
                let at = at.pre_translate((x - back) as f32, 0.0).pre_scale(scale, -scale);
                fill(page, at, letter.0.finish(), &Colour::INK);
            });
        }
        Shape::Picture { at, size, grey } => {
            let Some(picture) = pixmap(grey) else { return };
            let (w, h) = (picture.width() as f32, picture.height() as f32);
            let at = place
                .pre_translate(at.0 as f32, at.1 as f32)
                .pre_scale(size.0 as f32 / w, size.1 as f32 / h);
            let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
            page.draw_pixmap(0, 0, picture.as_ref(), &paint, at, None);
        }
    }
}

/// A picture alone, one pixel per shade.
pub(super) fn grey(grey: &Grey) -> Vec<u8> {
    pixmap(grey).and_then(|page| page.encode_png().ok()).unwrap_or_default()
}

fn pixmap(grey: &Grey) -> Option<Pixmap> {
    let height = grey.pixels.len() / grey.width.max(1);
    let mut page = Pixmap::new(grey.width as u32, height as u32)?;
    for (pixel, shade) in page.pixels_mut().iter_mut().zip(&grey.pixels) {
        *pixel = PremultipliedColorU8::from_rgba(*shade, *shade, *shade, 255)?;
    }
    Some(page)
}

fn path(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (i, (x, y)) in points.iter().enumerate() {
        if i == 0 {
            path.move_to(*x as f32, *y as f32);
        } else {
            path.line_to(*x as f32, *y as f32);
        }
    }
    if closed {
        path.close();
    }
    path.finish()
}

fn paint(Colour(r, g, b, opacity): &Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(*r, *g, *b, (255.0 * opacity).round() as u8);
    paint
}

fn fill(page: &mut Pixmap, place: Transform, path: Option<Path>, colour: &Colour) {
    if let Some(path) = path {
        page.fill_path(&path, &paint(colour), FillRule::Winding, place, None);
    }
}

fn stroke(page: &mut Pixmap, place: Transform, path: Option<Path>, ink: &Ink) {
    let Some(path) = path else { return };
    let dash = ink.dash.and_then(|(a, b)| StrokeDash::new(vec![a as f32, b as f32], 0.0));
    let width = ink.width as f32;
    let stroke = Stroke { width, dash, line_join: LineJoin::Round, ..Stroke::default() };
    page.stroke_path(&path, &paint(&ink.colour), &stroke, place, None);
}

/// Collects the outline of a letter.
struct Letter(PathBuilder);

impl OutlineBuilder for Letter {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}

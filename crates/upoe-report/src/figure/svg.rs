//! Figures as SVG: text stays text.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{Align, Colour, Figure, Ink, Point, Shape, png};

impl Figure {
    /// The figure as an SVG file.
    pub fn svg(&self) -> String {
        let (w, h) = (self.width, self.height);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" \
             height=\"{h}\" font-family=\"DejaVu Sans, Verdana, sans-serif\" fill=\"none\">\n\
             <rect width=\"{w}\" height=\"{h}\" fill=\"#fff\"/>\n"
        );
        for shape in &self.shapes {
            // Writing to a string does not fail.
            let _ = match shape {
                Shape::Line { points, ink } => {
                    writeln!(out, "<path d=\"{}\"{}/>", path(points), stroke(ink))
                }
                Shape::Area { points, colour } => {
                    writeln!(out, "<path d=\"{}Z\"{}/>", path(points), paint("fill", colour))
                }
                Shape::Circle { at: (x, y), radius, ink, fill } => writeln!(
                    out,
                    "<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\"{}{}/>",
                    ink.map_or(String::new(), |ink| stroke(&ink)),
                    fill.map_or(String::new(), |fill| paint("fill", &fill)),
                ),
                Shape::Text { at: (x, y), text, size, align, upright } => {
                    let turn = if *upright {
                        format!(" transform=\"rotate(-90 {x:.2} {y:.2})\"")
                    } else {
                        String::new()
                    };
                    let anchor = match align {
                        Align::Left => "",
                        Align::Middle => " text-anchor=\"middle\"",
                        Align::Right => " text-anchor=\"end\"",
                    };
                    let text = text.replace('&', "&amp;").replace('<', "&lt;");
                    let ink = paint("fill", &Colour::INK);
                    writeln!(
                        out,
                        "<text x=\"{x:.2}\" y=\"{y:.2}\" font-size=\"{size}\"{anchor}{turn}{ink}>{text}</text>"
                    )
                }
                Shape::Picture { at: (x, y), size: (w, h), grey } => writeln!(
                    out,
                    "<image x=\"{x:.2}\" y=\"{y:.2}\" width=\"{w:.2}\" height=\"{h:.2}\" \
                     preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
                     href=\"data:image/png;base64,{}\"/>",
                    STANDARD.encode(png::grey(grey))
                ),
            };
        }
        out + "</svg>\n"
    }
}

fn path(points: &[Point]) -> String {
    let mut out = String::new();
    for (i, (x, y)) in points.iter().enumerate() {
        let _ = write!(out, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
    }
    out
}

fn paint(what: &str, Colour(r, g, b, opacity): &Colour) -> String {
    let mut out = format!(" {what}=\"#{r:02x}{g:02x}{b:02x}\"");
    if *opacity < 1.0 {
        let _ = write!(out, " {what}-opacity=\"{opacity}\"");
    }
    out
}

fn stroke(ink: &Ink) -> String {
    let mut out = paint("stroke", &ink.colour);
    let _ = write!(out, " stroke-width=\"{:.2}\" stroke-linejoin=\"round\"", ink.width);
    if let Some((dash, gap)) = ink.dash {
        let _ = write!(out, " stroke-dasharray=\"{dash} {gap}\"");
    }
    out
}

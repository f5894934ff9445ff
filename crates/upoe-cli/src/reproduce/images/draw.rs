//! The figures of the natural images.

use std::f64::consts::PI;

use rand::seq::SliceRandom;
use upoe::random::{self, Use};
use upoe_report::figure::{
    Align, Axes, Colour, Figure, Grey, Ink, Key, Labels, Mark, legend, range,
};

use super::super::outlet::Outlet;
use super::super::statistics::counts;
use super::gabor::Gabor;
use super::patches::SIDE;
use super::{Found, Run};
use crate::failure::Failure;

/// Draws them all; gives the Markdown that shows them.
pub fn all(outlet: &mut Outlet, found: &Found, seed: u64) -> Result<Vec<String>, Failure> {
    let order = chosen(found, seed);
    let some: Vec<&[f64]> = order.iter().map(|j| &found.filters[*j][..]).collect();
    let every =
        |list: &[Vec<f64>]| grid(&list.iter().map(|f| &f[..]).collect::<Vec<_>>(), 10, 46.0);
    let mut shown = vec![
        outlet.draw("figure-4", "25 filters at random: rows of WA", &grid(&some, 5, 72.0))?,
        outlet.draw(
            "figure-filters",
            "All filters, in the order they were found",
            &every(&found.filters),
        )?,
        outlet.draw(
            "figure-patterns",
            "The patterns that belong to them",
            &every(&found.patterns),
        )?,
        outlet.draw(
            "figure-gabor",
            "Gabor functions fitted to the filters",
            &gabors(&found.gabors),
        )?,
        outlet.draw("figure-gain", "The gain of each expert", &gains(found))?,
        outlet.draw("figure-time", "Held-out gain against time", &times(found))?,
    ];
    if let Some(others) = &found.others {
        let figure = every(&others.filters);
        shown.push(outlet.draw("figure-fastica", "FastICA's filters, best first", &figure)?);
    }
    Ok(shown)
}

/// The 25 experts at random that figure 4 shows.
pub fn chosen(found: &Found, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.filters.len()).collect();
    order.shuffle(&mut random::stream(seed, Use::Data, 99));
    order.truncate(25);
    order
}

/// Filters side by side, each from its own −max (black) to +max (white).
fn grid(filters: &[&[f64]], across: usize, size: f64) -> Figure {
    let (gap, down) = (4.0, filters.len().div_ceil(across));
    let place = |i: usize| gap + (size + gap) * i as f64;
    let mut figure = Figure::new(place(across), place(down));
    for (i, filter) in filters.iter().enumerate() {
        let most = filter.iter().fold(f64::MIN_POSITIVE, |a, w| a.max(w.abs()));
        let pixels = filter.iter().map(|w| (127.5 + 127.5 * w / most).round() as u8).collect();
        let at = (place(i % across), place(i / across));
        figure.picture(at, (size, size), Grey { width: SIDE, pixels });
    }
    figure
}

fn gabors([filters, patterns]: &[Vec<Gabor>; 2]) -> Figure {
    let mut figure = Figure::new(780.0, 270.0);
    let bars = |list: &[Gabor]| {
        let r2: Vec<f64> = list.iter().map(|g| g.r2).collect();
        counts(&r2, (0.0, 1.0), 20)
    };
    let (a, b) = (bars(filters), bars(patterns));
    let top = a.iter().chain(&b).copied().fold(1.0, f64::max);
    let labels = Labels {
        title: "(a) fit",
        x: "R² of the Gabor function",
        y: "filters",
        ..Labels::default()
    };
    let scales = ((0.0, 1.0), (0.0, 1.1 * top));
    let axes = Axes::new(&mut figure, (50.0, 28.0), (180.0, 196.0), scales, labels);
    axes.bars(&mut figure, (0.0, 0.05), &a, Colour::BLUE.faint(0.85));
    let steps: Vec<(f64, f64)> = (b.iter().enumerate())
        .flat_map(|(i, n)| [(0.05 * i as f64, *n), (0.05 * (i + 1) as f64, *n)])
        .collect();
    axes.curve(&mut figure, &steps, Ink::solid(Colour::RED, 1.4));
    axes.curve(&mut figure, &[(0.6, 0.0), (0.6, 1.1 * top)], Ink::dashed(Colour::INK, 0.8));
    let keys =
        [Key::area("filters", Colour::BLUE), Key::line("patterns", Ink::solid(Colour::RED, 1.4))];
    legend(&mut figure, (56.0, 34.0), &keys);
    polar(&mut figure, (402.0, 220.0), filters);
    let labels =
        Labels { title: "(c) centres and sizes", x: "pixels", y: "pixels", ..Labels::default() };
    let scales = ((-0.5, SIDE as f64 - 0.5), (SIDE as f64 - 0.5, -0.5));
    let axes = Axes::new(&mut figure, (600.0, 28.0), (170.0, 170.0), scales, labels);
    for gabor in filters.iter().filter(|g| g.r2 > 0.6) {
        let (sin, cos) = gabor.orientation.sin_cos();
        let ring: Vec<(f64, f64)> = (0..=24)
            .map(|k| {
                let (s, c) = (PI * f64::from(k) / 12.0).sin_cos();
                let (u, v) = (gabor.along * c, gabor.across * s);
                (gabor.x + cos * u - sin * v, gabor.y + sin * u + cos * v)
            })
            .filter(|(x, y)| (-0.5..29.5).contains(x) && (-0.5..29.5).contains(y))
            .collect();
        axes.curve(&mut figure, &ring, Ink::solid(Colour::BLUE.faint(0.6), 0.7));
    }
    figure
}

/// Orientation as the angle, frequency as the distance from the middle.
fn polar(figure: &mut Figure, (x, y): (f64, f64), filters: &[Gabor]) {
    let radius = 130.0;
    let at = |angle: f64, frequency: f64| {
        let r = radius * frequency / 0.5;
        (x + r * angle.cos(), y - r * angle.sin())
    };
    for ring in 1..=5 {
        let frequency = 0.1 * f64::from(ring);
        let arc: Vec<(f64, f64)> =
            (0..=60).map(|k| at(PI * f64::from(k) / 60.0, frequency)).collect();
        figure.line(&arc, Ink::solid(Colour::PALE, 0.7));
        let end = at(0.0, frequency);
        figure.text((end.0, end.1 + 13.0), &format!("{frequency:.1}"), 9.0, Align::Middle);
    }
    for turn in 0..=4 {
        let angle = PI * f64::from(turn) / 4.0;
        figure.line(&[at(angle, 0.0), at(angle, 0.5)], Ink::solid(Colour::PALE, 0.7));
        let end = at(angle, 0.545);
        figure.text(end, &format!("{}°", 45 * turn), 9.0, Align::Middle);
    }
    // Pictures count rows downwards, angles upwards.
    for gabor in filters {
        let place = at(PI - gabor.orientation, gabor.frequency);
        let (mark, colour) =
            if gabor.r2 > 0.6 { (Mark::Dot, Colour::BLUE) } else { (Mark::Plus, Colour::GREY) };
        figure.mark(place, mark, 5.0, colour);
    }
    figure.text((x, 21.0), "(b) orientation and frequency", 11.0, Align::Middle);
    figure.text((x, y + 29.0), "cycles per pixel", 10.5, Align::Middle);
    let keys = [
        Key::mark("R² > 0.6", Mark::Dot, Colour::BLUE),
        Key::mark("R² ≤ 0.6", Mark::Plus, Colour::GREY),
    ];
    legend(figure, (x + 66.0, 30.0), &keys);
}

fn gains(found: &Found) -> Figure {
    let mut figure = Figure::new(600.0, 300.0);
    let run = &found.run;
    let of = |path: &[f64]| -> Vec<(f64, f64)> {
        (0..found.filters.len()).map(|j| (j as f64 + 1.0, run.gain(path, j))).collect()
    };
    let (train, held) = (of(&run.train), of(&run.held_out));
    let fastica: Vec<(f64, f64)> = found
        .others
        .iter()
        .flat_map(|o| o.fastica.iter().enumerate())
        .map(|(j, gain)| (j as f64 + 1.0, *gain))
        .collect();
    let span = range(train.iter().chain(&held).chain(&fastica).map(|p| p.1).chain([0.0]));
    let labels = Labels { title: "", x: "expert", y: "gain (nats per patch)", ..Labels::default() };
    let scales = ((0.0, found.filters.len() as f64 + 1.0), span);
    let axes = Axes::new(&mut figure, (62.0, 14.0), (400.0, 240.0), scales, labels);
    axes.marks(&mut figure, &train, (Mark::Circle, 4.5), Colour::GREEN);
    axes.marks(&mut figure, &held, (Mark::Dot, 4.0), Colour::BLUE);
    let mut keys = vec![
        Key::mark("training patches", Mark::Circle, Colour::GREEN),
        Key::mark("held-out images", Mark::Dot, Colour::BLUE),
    ];
    if !fastica.is_empty() {
        axes.marks(&mut figure, &fastica, (Mark::Plus, 4.5), Colour::RED);
        keys.push(Key::mark("FastICA, held out", Mark::Plus, Colour::RED));
    }
    legend(&mut figure, (472.0, 18.0), &keys);
    figure
}

fn times(found: &Found) -> Figure {
    let mut figure = Figure::new(600.0, 300.0);
    let runs: Vec<&Run> = std::iter::once(&found.run).chain(&found.compared).collect();
    let curve = |run: &Run| -> Vec<(f64, f64)> {
        let gains = run.held_out.iter().map(|value| value - run.held_out[0]);
        run.seconds.iter().map(|s| s.max(0.1).log10()).zip(gains).collect()
    };
    let all: Vec<(f64, f64)> = runs.iter().flat_map(|run| curve(run)).collect();
    let scales = (range(all.iter().map(|p| p.0)), range(all.iter().map(|p| p.1)));
    let (x, y) = ("seconds of learning", "held-out gain (nats per patch)");
    let labels = Labels { title: "", x, y, powers: true };
    let axes = Axes::new(&mut figure, (62.0, 14.0), (400.0, 240.0), scales, labels);
    let mut keys = Vec::new();
    for run in runs {
        let paper = run.recipe == "paper";
        let ink = if paper { Ink::dashed(Colour::RED, 1.6) } else { Ink::solid(Colour::BLUE, 1.6) };
        axes.curve(&mut figure, &curve(run), ink);
        keys.push(Key::line(format!("recipe {}", run.recipe), ink));
    }
    legend(&mut figure, (472.0, 18.0), &keys);
    figure
}

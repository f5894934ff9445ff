//! The figures of the Crabs.

use serde_json::{Value, json};
use upoe::expert::Marginal;
use upoe_report::figure::{Axes, Colour, Figure, Ink, Key, Labels, Mark, legend, range};

use super::super::outlet::{Outlet, signed};
use super::super::statistics::counts;
use super::{CLASSES, Found};
use crate::failure::Failure;

const BINS: usize = 30;
const SYMBOLS: [(Mark, Colour); 4] = [
    (Mark::Circle, Colour::BLUE),
    (Mark::Square, Colour::GREEN),
    (Mark::Diamond, Colour::RED),
    (Mark::Plus, Colour::INK),
];

/// Draws them all; gives the Markdown that shows them.
pub fn all(outlet: &mut Outlet, found: &Found) -> Result<[String; 4], Failure> {
    let both = "First and second projection of the Crabs; the fitted mixtures in red";
    let scatter = "First against second projection, and FastICA's two best";
    let starts = "Q from 100 seeds, and from a single random start";
    let likelihoods = "Held-out log-likelihood of the Crabs, ten folds";
    Ok([
        outlet.draw("figure-2", both, &projections(found))?,
        outlet.draw("figure-3", scatter, &scatters(found))?,
        outlet.draw("figure-starts", starts, &minima(found))?,
        outlet.draw("figure-held-out", likelihoods, &held_out(found))?,
    ])
}

/// The range of a projection and its histogram, as a density.
fn histogram(found: &Found, j: usize) -> ((f64, f64), Vec<f64>) {
    let z: Vec<f64> = found.z.iter().skip(j).step_by(2).copied().collect();
    let (low, high) = range(z.iter().copied());
    let width = (high - low) / BINS as f64;
    let scale = 1.0 / (z.len() as f64 * width);
    ((low, high), counts(&z, (low, high), BINS).iter().map(|n| n * scale).collect())
}

/// The fitted density on a grid.
fn curve(found: &Found, j: usize, (low, high): (f64, f64)) -> Vec<(f64, f64)> {
    let at = |i: usize| low + (high - low) * i as f64 / 300.0;
    let expert = &found.fit.model.experts()[j];
    (0..=300).map(|i| (at(i), expert.ln_density(at(i)).exp())).collect()
}

/// The numbers of figure 2.
pub fn histograms(found: &Found) -> Value {
    let one = |j: usize| {
        let (span, density) = histogram(found, j);
        json!({ "from": span.0, "to": span.1, "density": density, "fitted": curve(found, j, span) })
    };
    json!([one(0), one(1)])
}

fn projections(found: &Found) -> Figure {
    let mut figure = Figure::new(640.0, 270.0);
    for j in 0..2 {
        let (span, density) = histogram(found, j);
        let fitted = curve(found, j, span);
        let top = density.iter().chain(fitted.iter().map(|(_, y)| y)).copied().fold(0.0, f64::max);
        let name = ["(a) first projection", "(b) second projection"][j];
        let title = format!("{name}: Q = {}", signed(-found.fit.state.experts[j].gain, 5));
        let labels = Labels {
            title: &title,
            x: "z (standard deviations)",
            y: "density",
            ..Labels::default()
        };
        let corner = (56.0 + 318.0 * j as f64, 28.0);
        let scales = (span, (0.0, 1.06 * top));
        let axes = Axes::new(&mut figure, corner, (250.0, 196.0), scales, labels);
        let width = (span.1 - span.0) / BINS as f64;
        axes.bars(&mut figure, (span.0, width), &density, Colour(176, 186, 200, 1.0));
        axes.curve(&mut figure, &fitted, Ink::solid(Colour::RED, 1.8));
        let normal = |z: f64| (-0.5 * z * z).exp() / std::f64::consts::TAU.sqrt();
        let normal: Vec<(f64, f64)> = fitted.iter().map(|(z, _)| (*z, normal(*z))).collect();
        axes.curve(&mut figure, &normal, Ink::dashed(Colour::GREY, 1.0));
    }
    figure
}

fn scatters(found: &Found) -> Figure {
    let two = found.fastica.is_some();
    let mut figure = Figure::new(if two { 760.0 } else { 470.0 }, 340.0);
    let title = format!("upoe: adjusted Rand index {:.2}", found.rand);
    scatter(&mut figure, (56.0, 28.0), &title, "projection", &found.z, &found.classes);
    if let Some(fastica) = &found.fastica {
        let title = format!("FastICA's two best: adjusted Rand index {:.2}", fastica.rand);
        scatter(&mut figure, (372.0, 28.0), &title, "component", &fastica.z, &found.classes);
    }
    let symbols = CLASSES.iter().zip(SYMBOLS);
    let keys: Vec<Key> = symbols.map(|(name, (mark, c))| Key::mark(*name, mark, c)).collect();
    legend(&mut figure, (if two { 636.0 } else { 324.0 }, 30.0), &keys);
    figure
}

fn scatter(
    figure: &mut Figure,
    corner: (f64, f64),
    title: &str,
    what: &str,
    z: &[f64],
    classes: &[usize],
) {
    let pairs: Vec<(f64, f64)> = z.chunks(2).map(|z| (z[0], z[1])).collect();
    let (x, y) = (format!("first {what} (std. dev.)"), format!("second {what} (std. dev.)"));
    let labels = Labels { title, x: &x, y: &y, ..Labels::default() };
    let spans = (range(pairs.iter().map(|p| p.0)), range(pairs.iter().map(|p| p.1)));
    let axes = Axes::new(figure, corner, (252.0, 268.0), spans, labels);
    for (class, (mark, colour)) in SYMBOLS.iter().enumerate() {
        let of_class = pairs.iter().zip(classes).filter(|(_, c)| **c == class);
        let of_class: Vec<(f64, f64)> = of_class.map(|(pair, _)| *pair).collect();
        axes.marks(figure, &of_class, (*mark, 6.0), *colour);
    }
}

fn minima(found: &Found) -> Figure {
    let mut figure = Figure::new(640.0, 300.0);
    let runs: [(&str, &[[f64; 2]]); 2] = [
        ("(a) upoe's descent, 1 start", &found.single),
        ("(b) the paper's recipe, 1 start", &found.paper),
    ];
    let best = found.seeds[0][0] + found.seeds[0][1];
    let totals = |runs: &[[f64; 2]]| runs.iter().map(|q| q[0] + q[1]).collect::<Vec<f64>>();
    let all = totals(&found.single).into_iter().chain(totals(&found.paper)).chain([best]);
    let span = range(all);
    for (i, (title, runs)) in runs.iter().enumerate() {
        let share = 1.0 / runs.len() as f64;
        let bars: Vec<f64> = counts(&totals(runs), span, 50).iter().map(|n| n * share).collect();
        let top = bars.iter().copied().fold(0.1, f64::max);
        let labels =
            Labels {
                title, x: "Q₁ + Q₂ (nats per crab)", y: "share of runs", ..Labels::default()
            };
        let corner = (56.0 + 318.0 * i as f64, 56.0);
        let axes =
            Axes::new(&mut figure, corner, (250.0, 196.0), (span, (0.0, 1.08 * top)), labels);
        axes.curve(&mut figure, &[(best, 0.0), (best, 1.08 * top)], Ink::solid(Colour::RED, 1.6));
        axes.bars(&mut figure, (span.0, (span.1 - span.0) / 50.0), &bars, Colour::BLUE);
    }
    let label = format!("all {} seeds with many starts end here", found.seeds.len());
    let keys = [
        Key::line(label, Ink::solid(Colour::RED, 1.6)),
        Key::area("runs from a single random start", Colour::BLUE),
    ];
    legend(&mut figure, (56.0, 4.0), &keys);
    figure
}

fn held_out(found: &Found) -> Figure {
    let methods = &found.held_out.methods;
    let height = 24.0 * methods.len() as f64;
    let mut figure = Figure::new(640.0, height + 64.0);
    let ends = methods
        .iter()
        .flat_map(|m| [m.test - 2.0 * m.standard_error, m.test + 2.0 * m.standard_error]);
    let spans = (range(ends), (0.0, methods.len() as f64));
    let x = "mean ln p of held-out crabs (nats, over 5 columns in mm), ± 2 standard errors";
    let labels = Labels { title: "", x, y: "", ..Labels::default() };
    let corner = (230.0, 16.0);
    let axes = Axes::new(&mut figure, corner, (390.0, height), spans, labels);
    for (i, method) in methods.iter().enumerate() {
        let y = methods.len() as f64 - i as f64 - 0.5;
        let ours = method.method.starts_with("upoe");
        let colour = if ours { Colour::RED } else { Colour::BLUE };
        let (low, high) =
            (method.test - 2.0 * method.standard_error, method.test + 2.0 * method.standard_error);
        axes.curve(&mut figure, &[(low, y), (high, y)], Ink::solid(colour, 1.4));
        let mark = if ours { Mark::Dot } else { Mark::Square };
        axes.marks(&mut figure, &[(method.test, y)], (mark, 7.0), colour);
        let at = axes.at(spans.0.0, y);
        let right = upoe_report::figure::Align::Right;
        figure.text((at.0 - 8.0, at.1 + 3.4), &method.method, 9.5, right);
    }
    figure
}

//! The figures of the Frey faces.

use upoe_report::figure::{Axes, Colour, Figure, Ink, Key, Labels, Mark, legend, range};

use super::super::outlet::Outlet;
use super::super::statistics::{deviation, mean};
use super::claims::Claims;
use super::paths::{Curves, LEARNERS, Path};
use super::{Found, Others};
use crate::failure::Failure;

/// Colours as in the paper (PAR green, PP blue, SEQ red), and a symbol each.
const STYLES: [(Colour, Mark); 3] =
    [(Colour::GREEN, Mark::Circle), (Colour::BLUE, Mark::Square), (Colour::RED, Mark::Diamond)];

/// Draws them all; gives the Markdown that shows them.
pub fn all(outlet: &mut Outlet, found: &Found) -> Result<[String; 3], Failure> {
    let random = "Log-likelihood of the Frey faces against the number of projections, random split";
    let blocks = "The same with a split by blocks of frames";
    let tests = "What one learner reaches more than another on test rows, paired";
    Ok([
        outlet.draw("figure-1", random, &curves(&found.random, found.others.as_ref()))?,
        outlet.draw("figure-1-blocks", blocks, &curves(&found.blocks, None))?,
        outlet.draw("figure-differences", tests, &differences(found))?,
    ])
}

fn inks(l: usize) -> [Ink; 2] {
    let colour = STYLES[l].0;
    [Ink::solid(colour, 1.6), Ink::dashed(colour, 1.6)]
}

/// A learner's curve over splits: projections, mean and standard deviation.
fn over_splits(splits: &[Curves], of: &dyn Fn(&Curves) -> &Vec<f64>) -> Vec<(f64, f64, f64)> {
    let at = |j: usize| -> Vec<f64> { splits.iter().map(|curves| of(curves)[j]).collect() };
    (0..=splits[0].most()).map(|j| (j as f64, mean(&at(j)), deviation(&at(j)))).collect()
}

fn curves(splits: &[Curves], others: Option<&Others>) -> Figure {
    let mut figure = Figure::new(640.0, 400.0);
    let parts: [fn(&Path) -> &Vec<f64>; 2] = [|path| &path.train, |path| &path.test];
    let all = splits.iter().flat_map(|curves| &curves.paths);
    let values: Vec<f64> = all.flat_map(|p| p.train.iter().chain(&p.test)).copied().collect();
    let mixtures = others.map_or(&[][..], |others| &others.mixtures);
    // Mixtures far below the Gaussian would squeeze the curves.
    let floor = values.iter().copied().fold(f64::INFINITY, f64::min) - 1.5;
    let shown: Vec<_> = mixtures.iter().filter(|mixture| mixture.test > floor).collect();
    let fastica = others.map_or(&[][..], |others| &others.fastica);
    let extra = shown.iter().map(|m| m.test).chain(fastica.iter().flat_map(|(a, b)| [*a, *b]));
    let span = range(values.iter().copied().chain(extra));
    let labels = Labels {
        title: "",
        x: "number of projections",
        y: "mean ln p in 50 sphered dimensions (nats per face)",
        ..Labels::default()
    };
    let scales = ((0.0, splits[0].most() as f64), span);
    let axes = Axes::new(&mut figure, (62.0, 14.0), (410.0, 340.0), scales, labels);
    let spread =
        |l: usize, of: &fn(&Path) -> &Vec<f64>| over_splits(splits, &|curves| of(&curves.paths[l]));
    // Bands first: the curves stay clear.
    for (l, of) in (0..LEARNERS.len()).flat_map(|l| parts.iter().map(move |of| (l, of))) {
        if splits.len() > 1 {
            let band: Vec<(f64, f64, f64)> =
                spread(l, of).iter().map(|(j, mean, sd)| (*j, mean - sd, mean + sd)).collect();
            axes.band(&mut figure, &band, STYLES[l].0.faint(0.12));
        }
    }
    let mut keys = Vec::new();
    for (l, (name, _)) in LEARNERS.iter().enumerate() {
        for (part, (of, ink)) in parts.iter().zip(inks(l)).enumerate() {
            let line: Vec<(f64, f64)> =
                spread(l, of).iter().map(|(j, mean, _)| (*j, *mean)).collect();
            axes.curve(&mut figure, &line, ink);
            let every: Vec<(f64, f64)> =
                line.iter().skip(5 * (l + 1)).step_by(15).copied().collect();
            let (colour, mark) = STYLES[l];
            axes.marks(&mut figure, &every, (mark, 7.0), colour);
            let label = format!("{name}-{}", ["TRN", "TST"][part]);
            let key = Key::line(label, ink);
            keys.push(Key { mark: Some((mark, colour)), ..key });
        }
    }
    let start = parts.map(|of| (0.0, spread(0, &of)[0].1));
    axes.marks(&mut figure, &start, (Mark::Dot, 7.0), Colour::INK);
    keys.push(Key::mark("Gaussian (0)", Mark::Dot, Colour::INK));
    // Other methods were given one split.
    let first = if splits.len() > 1 { ", split 1" } else { "" };
    if !fastica.is_empty() {
        let test = |of: fn(&(f64, f64)) -> f64| -> Vec<(f64, f64)> {
            fastica.iter().enumerate().map(|(j, p)| (j as f64, of(p))).collect()
        };
        let ink = Ink { dash: Some((1.5, 2.5)), ..Ink::solid(Colour::INK, 1.3) };
        axes.curve(&mut figure, &test(|p| p.1), ink);
        keys.push(Key::line(format!("FastICA-TST{first}"), ink));
    }
    for (mixture, dash) in shown.iter().zip([(14.0, 3.0), (7.0, 3.0), (3.0, 3.0), (1.0, 4.0)]) {
        let ink = Ink { dash: Some(dash), ..Ink::solid(Colour::GREY, 1.2) };
        axes.level(&mut figure, mixture.test, ink);
        let kind = mixture.group.rsplit(' ').next().unwrap_or("");
        keys.push(Key::line(format!("mixture, {kind}{first}"), ink));
    }
    legend(&mut figure, (484.0, 16.0), &keys);
    if splits.len() > 1 {
        let key = [Key::area(format!("± s.d., {} splits", splits.len()), Colour::GREY.faint(0.3))];
        legend(&mut figure, (484.0, 16.0 + 15.0 * keys.len() as f64), &key);
    }
    figure
}

fn differences(found: &Found) -> Figure {
    let mut figure = Figure::new(680.0, 300.0);
    let kinds = [("(a) random split", &found.random), ("(b) split by blocks", &found.blocks)];
    let claims = kinds.map(|(_, splits)| Claims::of(splits));
    let ends = claims.iter().flat_map(|c| &c.differences).flat_map(|d| {
        let reach = 2.0 * d.test.standard_error;
        [d.test.mean - reach, d.test.mean + reach]
    });
    let span = range(ends.chain([0.0]));
    let pairs: Vec<String> = ["PAR − PP", "PAR − SEQ", "SEQ − PP"].map(str::to_owned).to_vec();
    for (i, ((title, _), claims)) in kinds.iter().zip(&claims).enumerate() {
        let labels = Labels {
            title,
            x: "number of projections",
            y: "difference (nats per face)",
            ..Labels::default()
        };
        let corner = (56.0 + 300.0 * i as f64, 28.0);
        let scales = ((0.0, found.random[0].most() as f64 + 3.0), span);
        let axes = Axes::new(&mut figure, corner, (236.0, 226.0), scales, labels);
        axes.level(&mut figure, 0.0, Ink::solid(Colour::INK, 0.8));
        for (p, pair) in pairs.iter().enumerate() {
            let (colour, mark) = STYLES[p];
            for d in claims.differences.iter().filter(|d| d.pair == *pair) {
                let x = d.projections as f64 + 0.8 * (p as f64 - 1.0);
                let reach = 2.0 * d.test.standard_error;
                let bar = [(x, d.test.mean - reach), (x, d.test.mean + reach)];
                axes.curve(&mut figure, &bar, Ink::solid(colour, 1.0));
                axes.marks(&mut figure, &[(x, d.test.mean)], (mark, 5.5), colour);
            }
        }
    }
    let key = |(pair, (colour, mark)): (&String, (Colour, Mark))| Key::mark(pair, mark, colour);
    let keys: Vec<Key> = pairs.iter().zip(STYLES).map(key).collect();
    legend(&mut figure, (596.0, 30.0), &keys);
    figure
}

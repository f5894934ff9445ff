//! Tables to fit: Crabs, and made-up ones that reach every corner of the page.

use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal, StudentT};
use upoe::random::{Stream, Use, stream};

const CRABS: &str = include_str!("../../../crates/upoe/tests/data/crabs.csv");
const HOSTILE: &str =
    "</script><img src=x onerror=\"window.hacked=1\"></script ><!--<script>\u{2028}&amp;'\"";

/// Rows of which the first are trained on, the next held out, and all are shown.
pub struct Table {
    pub title: String,
    pub names: Vec<String>,
    pub values: Vec<f64>,
    pub train: usize,
    pub holdout: usize,
    pub kept: Vec<(String, Vec<String>)>,
    pub image: Option<(usize, usize)>,
    pub notice: Option<String>,
}

/// The crabs of Campbell and Mahon, 200 × 5, with species and sex as labels.
pub fn crabs() -> Table {
    let cells: Vec<Vec<&str>> = (CRABS.lines())
        .map(|line| line.split(',').map(|cell| cell.trim_matches('"')).collect())
        .collect();
    let (head, rows) = (&cells[0], &cells[1..]);
    let text = |at: usize, [a, b]: [&str; 2], first: &str| -> Vec<String> {
        rows.iter().map(|row| if row[at] == first { a } else { b }.to_owned()).collect()
    };
    let species = text(1, ["blue", "orange"], "B");
    let sex = text(2, ["male", "female"], "M");
    Table {
        title: "Crabs".into(),
        names: head[4..].iter().map(|name| (*name).to_owned()).collect(),
        values: rows.iter().flat_map(|row| &row[4..]).map(|cell| cell.parse().unwrap()).collect(),
        train: rows.len(),
        holdout: 0,
        kept: vec![("species".into(), species), ("sex".into(), sex)],
        image: None,
        notice: None,
    }
}

/// A source of rows: independent coordinates, some not Gaussian.
type Source = fn(&mut Stream) -> f64;

fn groups(rng: &mut Stream) -> f64 {
    let side = if rng.random::<f64>() < 0.35 { -1.15 } else { 0.62 };
    side + 0.5 * rng.sample::<f64, _>(StandardNormal)
}

fn tails(rng: &mut Stream) -> f64 {
    StudentT::new(3.0).map_or(0.0, |t| t.sample(rng))
}

fn cauchy(rng: &mut Stream) -> f64 {
    StudentT::new(1.0).map_or(0.0, |t| t.sample(rng))
}

fn skewed(rng: &mut Stream) -> f64 {
    rng.sample::<f64, _>(Exp1) + 0.4 * rng.sample::<f64, _>(StandardNormal)
}

fn flat(rng: &mut Stream) -> f64 {
    rng.random_range(-1.7..1.7)
}

/// Rows whose columns mix independent sources and Gaussian noise.
fn mixed(title: &str, rows: usize, columns: usize, sources: &[Source], seed: u64) -> Table {
    let mut rng = stream(seed, Use::Data, 0);
    let mixing: Vec<f64> =
        (0..columns * columns).map(|_| rng.sample::<f64, _>(StandardNormal)).collect();
    let values = (0..rows)
        .flat_map(|_| {
            let s: Vec<f64> = (0..columns)
                .map(|d| match sources.get(d) {
                    Some(source) => source(&mut rng),
                    None => rng.sample(StandardNormal),
                })
                .collect();
            let mixing = &mixing;
            let cell = move |c: usize| -> f64 {
                let sum: f64 = s.iter().enumerate().map(|(d, s)| s * mixing[d * columns + c]).sum();
                (c + 1) as f64 * (10.0 + sum)
            };
            (0..columns).map(cell).collect::<Vec<f64>>()
        })
        .collect();
    Table {
        title: title.to_owned(),
        names: (0..columns).map(|c| format!("channel {}", c + 1)).collect(),
        values,
        train: rows,
        holdout: 0,
        kept: vec![],
        image: None,
        notice: None,
    }
}

/// More rows than the page shows: 60,000 × 20, three directions of three kinds.
pub fn large() -> Table {
    let notice = Some("column `run` is text and was left out".to_owned());
    let table = mixed("Detector", 60_000, 20, &[groups, tails, skewed], 3);
    Table { train: 20_000, holdout: 5_000, notice, ..table }
}

/// No direction at all.
pub fn gaussian() -> Table {
    mixed("Noise", 300, 4, &[], 4)
}

/// One direction, with rows far out.
pub fn heavy() -> Table {
    Table { train: 320, holdout: 80, ..mixed("Heavy tails", 400, 6, &[cauchy], 5) }
}

/// Four directions: a space to tour.
pub fn four() -> Table {
    mixed("Four directions", 600, 8, &[groups, skewed, flat, tails], 6)
}

/// Rows of one scale each, in two groups: a radial expert, then directions.
pub fn layers() -> Table {
    let mut table = mixed("Layers", 500, 5, &[groups], 11);
    // Scales from 1/8 to 8, in no order.
    for (row, cells) in table.values.chunks_exact_mut(5).enumerate() {
        let scale = (6.0 * (0.618_034 * row as f64).fract() - 3.0).exp2();
        cells.iter_mut().for_each(|cell| *cell *= scale);
    }
    Table { train: 400, holdout: 100, ..table }
}

/// More directions than the page draws at once.
pub fn many() -> Table {
    mixed("Many directions", 300, 18, &[tails as Source; 18], 10)
}

/// Names, labels and notices that would like to be HTML.
pub fn hostile() -> Table {
    let mut table = mixed(HOSTILE, 120, 3, &[groups, skewed], 7);
    table.names.iter_mut().for_each(|name| name.push_str(HOSTILE));
    let labels = (0..120).map(|row| format!("{}{HOSTILE}", row % 3)).collect();
    table.kept = vec![(format!("label{HOSTILE}"), labels)];
    table.notice = Some(HOSTILE.to_owned());
    table
}

/// A column that is the sum of two others in the training rows, but not in the last row.
pub fn degenerate() -> Table {
    let plain = mixed("A column too many", 200, 3, &[groups], 8);
    let mut values: Vec<f64> =
        plain.values.chunks(3).flat_map(|row| [row[0], row[1], row[2], row[0] + row[1]]).collect();
    *values.last_mut().unwrap() += 5.0;
    let names = ["a", "b", "c", "a + b"].map(String::from).to_vec();
    Table { names, values, train: 160, holdout: 30, ..plain }
}

/// Crabs in rows of which the model is learned, and more with missing cells.
pub fn missing() -> Table {
    let plain = crabs();
    let mut values = plain.values;
    for (row, cells) in values.chunks_exact_mut(5).enumerate().skip(140) {
        // Of every four rows, one lacks a cell, one two, and one is complete.
        match row % 4 {
            0 => cells[row % 5] = f64::NAN,
            1 => (cells[row % 5], cells[(row + 2) % 5]) = (f64::NAN, f64::NAN),
            _ => (),
        }
    }
    Table { title: "Crabs with missing cells".into(), values, train: 140, ..plain }
}

/// 200 columns, with an id and a number as text beside them.
pub fn wide() -> Table {
    let table = mixed("Two hundred columns", 900, 200, &[groups], 12);
    let ids = (0..900).map(|row| format!("id-{row}")).collect();
    let levels = (0..900).map(|row| (row % 30).to_string()).collect();
    Table { kept: vec![("id".into(), ids), ("dose".into(), levels)], ..table }
}

/// Images of 14 × 10 pixels: blobs of independent strengths on a noisy ground.
pub fn image() -> Table {
    let (height, width, rows) = (14, 10, 500);
    let strengths: [Source; 6] = [groups, tails, skewed, flat, skewed, flat];
    let mut rng = stream(9, Use::Data, 0);
    let blob = |k: usize, pixel: usize| -> f64 {
        let (y, x) = ((pixel / width) as f64, (pixel % width) as f64);
        let (cy, cx) = (2.0 + (k * 5 % 11) as f64, 1.5 + (k * 4 % 7) as f64);
        (-((y - cy).powi(2) + (x - cx).powi(2)) / 5.0).exp()
    };
    let mut values = vec![];
    for _ in 0..rows {
        let s: Vec<f64> = strengths.iter().map(|source| source(&mut rng)).collect();
        for pixel in 0..height * width {
            let sum: f64 = s.iter().enumerate().map(|(k, s)| s * blob(k, pixel)).sum();
            values.push(0.5 + 0.2 * sum + 0.03 * rng.sample::<f64, _>(StandardNormal));
        }
    }
    Table {
        title: "Blobs".into(),
        names: (1..=height * width).map(|pixel| format!("pixel {pixel}")).collect(),
        values,
        train: 400,
        holdout: 100,
        kept: vec![],
        image: Some((height, width)),
        notice: None,
    }
}

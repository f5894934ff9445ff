//! Data and measures the tests share.

use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use upoe::{Learner, Model, ParallelStart, Rows, Whitening, random};

/// The five lengths of the Crabs, and species and sex of each as one of four groups.
pub fn crabs() -> (Vec<f64>, Vec<usize>) {
    let text = include_str!("data/crabs.csv");
    let (mut values, mut groups) = (Vec::new(), Vec::new());
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').map(|f| f.trim_matches('"')).collect();
        values.extend(fields[4..].iter().map(|f| f.parse::<f64>().expect("a number")));
        groups.push(usize::from(fields[1] == "O") * 2 + usize::from(fields[2] == "F"));
    }
    (values, groups)
}

pub fn rng(seed: u64) -> random::Stream {
    random::stream(seed, random::Use::Data, 0)
}

pub fn normals(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = rng(seed);
    (0..n).map(|_| rng.sample(StandardNormal)).collect()
}

/// A random rotation, row-major.
pub fn rotation(d: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = normals(d * d, seed).chunks(d).map(<[f64]>::to_vec).collect();
    for i in 0..d {
        for _ in 0..2 {
            for k in 0..i {
                let along = dot(&rows[i], &rows[k]);
                let other = rows[k].clone();
                rows[i].iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
            }
        }
        let norm = dot(&rows[i], &rows[i]).sqrt();
        rows[i].iter_mut().for_each(|x| *x /= norm);
    }
    rows
}

/// matrix · row for every row.
pub fn apply(matrix: &[Vec<f64>], rows: &[f64], d: usize) -> Vec<f64> {
    rows.chunks_exact(d).flat_map(|row| matrix.iter().map(move |m| dot(m, row))).collect()
}

pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// A whitening that does nothing: standardised independent columns.
pub fn plain(d: usize) -> Whitening {
    let mut values = vec![0.0; 2 * d * d];
    for i in 0..d {
        values[2 * i * d + i] = (d as f64).sqrt();
        values[(2 * i + 1) * d + i] = -(d as f64).sqrt();
    }
    Whitening::fit(&Rows::new(&values, d).expect("rows"), upoe::Dims::All).expect("a whitening")
}

/// The Amari error of a model's filters against a mixing matrix (columns × sources, given by
/// rows), over 2n(n − 1): 0 when every source is found.
pub fn amari(model: &Model, mixing: &[Vec<f64>]) -> f64 {
    let n = mixing.len();
    let p: Vec<Vec<f64>> = model
        .filters()
        .iter()
        .map(|l| (0..n).map(|s| (0..n).map(|i| l[i] * mixing[i][s]).sum::<f64>().abs()).collect())
        .collect();
    let spread = |line: Vec<f64>| {
        let top = line.iter().copied().fold(0.0, f64::max);
        line.iter().sum::<f64>() / top - 1.0
    };
    let rows: f64 = p.iter().map(|row| spread(row.clone())).sum();
    let columns: f64 = (0..n).map(|j| spread(p.iter().map(|row| row[j]).collect())).sum();
    (rows + columns) / (2 * n * (n - 1)) as f64
}

/// The largest distance between the sample's distribution and a CDF, times √n; above 1.95 with
/// probability 1e-3.
pub fn kolmogorov(sample: &mut [f64], cdf: impl Fn(f64) -> f64) -> f64 {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let distance = sample.iter().enumerate().map(|(i, z)| {
        let p = cdf(*z);
        (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs())
    });
    distance.fold(0.0, f64::max) * n.sqrt()
}

/// Laplace with unit variance.
pub fn laplace(rng: &mut random::Stream) -> f64 {
    let size: f64 = rand_distr::Exp1.sample(rng);
    let sign = if rng.random::<bool>() { 1.0 } else { -1.0 };
    sign * size / 2.0_f64.sqrt()
}

/// Parallel learning from its default start.
pub const PARALLEL: Learner = Learner::Parallel { start: ParallelStart::Sequential };

/// 600 × 5: two groups, heavy tails, a flat column, two Gaussian ones, mixed.
pub fn mixed() -> Vec<f64> {
    let mut rng = rng(50);
    let t = rand_distr::StudentT::new(3.0).unwrap();
    normals(600 * 5, 51)
        .chunks(5)
        .enumerate()
        .flat_map(|(i, e)| {
            let groups = if i % 2 == 0 { 2.0 } else { -2.0 } + 0.7 * e[0];
            let heavy: f64 = t.sample(&mut rng);
            let flat = (0.754_877_666 * i as f64).fract() * 4.0 - 2.0;
            [groups + 0.5 * heavy, heavy - 0.3 * e[3], flat + 0.4 * groups, e[3], e[4] + 0.2 * flat]
        })
        .collect()
}

//! Is there a valley? Two groups against the best density without one.
//!
//! Along a direction, two normal groups of equal width are compared with the log-concave density
//! (which has one mode: Gaussian, uniform, skewed …) that fits the projections best, as they are or,
//! because heavy tails are not log-concave, on the scale of asinh.

use super::one_mode::log_concave;
use crate::expert::normal;
use crate::linalg::dot;
use upoe_kernels::{dispatch, exp, ln_1p};

/// Two groups of equal width on a line: shares, means, one deviation.
#[derive(Clone, Copy, Debug)]
pub struct Two {
    pub shares: [f64; 2],
    pub means: [f64; 2],
    pub deviation: f64,
}

/// How clear the valley between two groups is.
#[derive(Clone, Copy, Debug)]
pub struct Valley {
    /// Twice the ln likelihood ratio of the two groups over the best density with one mode.
    pub evidence: f64,
    /// Where both groups are equally probable.
    pub cut: f64,
}

/// Steps that fit the two groups.
const STEPS: usize = 200;
/// Successive projections are taken together in at most so many cells, to fit the two groups.
const CELLS: usize = 128;
/// The groups' deviation is at least this share of that of all projections.
const NARROWEST: f64 = 0.02;
/// Evidence for a valley along a line that was not searched for.
const LOWEST: f64 = 5.0;

/// How much lower the bar is for normal rows than for uniform ones.
const LOWER: f64 = 6.0;

/// What the evidence of the clearest valley that the search finds exceeds in at most 5 % of tables
/// without groups: a line through simulated 95 % points of uniform rows, which exceed it most often
/// of all shapes that were tried, and lower by [`LOWER`] where tails are not light.
pub fn bar(rows: usize, dims: usize, lightness: f64) -> f64 {
    let d = dims as f64;
    (0.8 * d + 200.0 * d / rows as f64 - LOWER * (1.0 - lightness)).max(LOWEST)
}

/// Sorted projections, successive ones taken together.
struct Cells {
    counts: Vec<f64>,
    means: Vec<f64>,
    /// Σ z² of all projections.
    square: f64,
}

impl Cells {
    fn of(sorted: &[f64]) -> Self {
        let n = sorted.len();
        let cells = n.min(CELLS);
        let parts = (0..cells).map(|k| &sorted[k * n / cells..(k + 1) * n / cells]);
        let counts: Vec<f64> = parts.clone().map(|part| part.len() as f64).collect();
        let means = parts.zip(&counts).map(|(part, count)| part.iter().sum::<f64>() / count);
        Cells { means: means.collect(), counts, square: dot(sorted, sorted) }
    }

    /// How many projections there are.
    fn total(&self) -> f64 {
        self.counts.iter().sum()
    }
}

impl Two {
    /// Groups of these sizes and sums.
    fn of(counts: [f64; 2], sums: [f64; 2], square: f64) -> Two {
        let n = counts[0] + counts[1];
        let means = [sums[0] / counts[0], sums[1] / counts[1]];
        let within = square - (0..2).map(|k| sums[k] * means[k]).sum::<f64>();
        let deviation = (within.max(0.0) / n).sqrt();
        Two { shares: counts.map(|c| c / n), means, deviation }
    }

    /// From what is above a cut and the rest.
    fn at(cells: &Cells, cut: f64) -> Option<Two> {
        let (mut counts, mut sums) = ([0.0; 2], [0.0; 2]);
        for (count, mean) in cells.counts.iter().zip(&cells.means) {
            let k = usize::from(*mean > cut);
            counts[k] += count;
            sums[k] += count * mean;
        }
        counts.iter().all(|n| *n >= 2.0).then(|| Two::of(counts, sums, cells.square))
    }

    /// The most probable groups, by EM from these, with their ln likelihood up to a constant.
    fn learned(mut self, cells: &Cells, narrowest: f64) -> (Two, f64) {
        let n = cells.total();
        let sum = dot(&cells.counts, &cells.means);
        let (mut second, mut ln_p) = (vec![0.0; cells.means.len()], vec![0.0; cells.means.len()]);
        let mut before = f64::NEG_INFINITY;
        for _ in 0..STEPS {
            self.deviation = self.deviation.max(narrowest);
            self.expect(cells, &mut second, &mut ln_p);
            let total = dot(&cells.counts, &ln_p) - n * self.deviation.ln();
            second.iter_mut().zip(&cells.counts).for_each(|(s, count)| *s *= count);
            let count: f64 = second.iter().sum();
            if total - before < 1e-4 || !(count > 1.0 && count < n - 1.0) {
                return (self, total);
            }
            before = total;
            let above = dot(&second, &cells.means);
            self = Two::of([n - count, count], [sum - above, above], cells.square);
        }
        self.deviation = self.deviation.max(narrowest);
        (self, before)
    }

    /// The chance of each cell to be of the second group, and its ln p up to a constant.
    fn expect(&self, cells: &Cells, second: &mut [f64], ln_p: &mut [f64]) {
        let ln_share = self.shares.map(f64::ln);
        let (means, scale) = (self.means, 1.0 / self.deviation);
        dispatch(
            #[inline(always)]
            || {
                for ((z, second), ln_p) in cells.means.iter().zip(&mut *second).zip(&mut *ln_p) {
                    let (a, b) = ((z - means[0]) * scale, (z - means[1]) * scale);
                    let (a, b) = (ln_share[0] - 0.5 * a * a, ln_share[1] - 0.5 * b * b);
                    let e = exp(-(a - b).abs());
                    let likelier = 1.0 / (1.0 + e);
                    *second = if b > a { likelier } else { e * likelier };
                    *ln_p = a.max(b) + ln_1p(e);
                }
            },
        );
    }

    /// Where both groups are equally probable.
    fn cut(&self) -> f64 {
        let [low, high] = self.means;
        let middle = 0.5 * (low + high);
        middle + self.deviation.powi(2) * (self.shares[0] / self.shares[1]).ln() / (high - low)
    }

    fn cdf(&self, z: f64) -> f64 {
        (0..2).map(|k| self.shares[k] * normal::upper((self.means[k] - z) / self.deviation)).sum()
    }
}

/// How clear the valley near a cut is; `None` where the projections have too few values. Evidence that
/// turns out to be below `bar` is not worked out further: it is an upper limit.
pub fn valley(z: &[f64], near: f64, bar: f64) -> Option<Valley> {
    let n = z.len() as f64;
    let mean = z.iter().sum::<f64>() / n;
    let deviation = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n).sqrt();
    let mut sorted = z.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let bins = Bins::of(&sorted)?;
    let cells = Cells::of(&sorted);
    let starts = [near, bins.quantile(0.1), bins.quantile(0.5), bins.quantile(0.9)];
    let fits = starts.iter().filter_map(|c| Two::at(&cells, *c));
    let fits = fits.map(|two| two.learned(&cells, NARROWEST * deviation));
    let (two, _) = fits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let two = if two.means[0] <= two.means[1] {
        two
    } else {
        let flip = |[a, b]: [f64; 2]| [b, a];
        Two { shares: flip(two.shares), means: flip(two.means), ..two }
    };
    let ln_p = bins.ln_p_of(&two);
    let enough = ln_p - 0.5 * bar;
    let mut one = bins.log_concave(enough);
    if one <= enough {
        one = one.max(bins.compressed()?.log_concave(enough));
    }
    let evidence = 2.0 * (ln_p - one);
    Some(Valley { evidence, cut: two.cut() })
        .filter(|v| v.evidence.is_finite() && v.cut.is_finite())
}

/// Projections counted in bins of about equal numbers of rows.
struct Bins {
    edges: Vec<f64>,
    counts: Vec<f64>,
}

impl Bins {
    fn of(sorted: &[f64]) -> Option<Bins> {
        let n = sorted.len();
        let wanted = (n / 4).clamp(8, 60);
        let (first, last) = (*sorted.first()?, *sorted.last()?);
        let mut edges = vec![first];
        let mut counts: Vec<f64> = Vec::new();
        let mut from = 0;
        for k in 1..wanted {
            let at = k * n / wanted;
            let edge = 0.5 * (sorted[at - 1] + sorted[at]);
            if at > from && edge > edges[edges.len() - 1] && edge < last {
                // Ties stay together: all values up to the edge are below it.
                let below = sorted.partition_point(|z| *z <= edge);
                counts.push((below - from) as f64);
                from = below;
                edges.push(edge);
            }
        }
        counts.push((n - from) as f64);
        edges.push(last);
        let proper = edges.windows(2).all(|e| e[1] > e[0]);
        (counts.len() >= 6 && proper).then_some(Bins { edges, counts })
    }

    /// The same counts over asinh of the centred and scaled edges, where power tails are straight.
    fn compressed(&self) -> Option<Bins> {
        let centre = self.quantile(0.5);
        let scale = 0.5 * (self.quantile(0.75) - self.quantile(0.25));
        let edges: Vec<f64> = self.edges.iter().map(|e| ((e - centre) / scale).asinh()).collect();
        let proper = edges.windows(2).all(|e| e[1] > e[0]);
        proper.then(|| Bins { edges, counts: self.counts.clone() })
    }

    fn quantile(&self, share: f64) -> f64 {
        let wanted = share * self.counts.iter().sum::<f64>();
        let mut below = 0.0;
        let bin = self.counts.iter().position(|count| {
            below += count;
            below >= wanted
        });
        self.edges[bin.unwrap_or(self.counts.len() - 1) + 1]
    }

    /// ln p of the counts under two groups; the outer bins reach to infinity.
    fn ln_p_of(&self, two: &Two) -> f64 {
        let last = self.counts.len();
        let cdf = |k: usize| match k {
            0 => 0.0,
            k if k == last => 1.0,
            k => two.cdf(self.edges[k]),
        };
        let bins = self.counts.iter().enumerate();
        bins.map(|(k, c)| c * (cdf(k + 1) - cdf(k)).max(1e-300).ln()).sum()
    }

    /// That under the best log-concave density; see [`log_concave`].
    fn log_concave(&self, enough: f64) -> f64 {
        log_concave(&self.edges, &self.counts, enough)
    }
}

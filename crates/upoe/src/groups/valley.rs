//! Is there a valley? Two groups against the best density without one.
//!
//! Along a direction, two normal groups of equal width are compared with the log-concave density
//! (which has one mode: Gaussian, uniform, skewed …) that fits the projections best, as they are or,
//! because heavy tails are not log-concave, on the scale of asinh.

use crate::expert::normal;

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

impl Two {
    /// From the rows above a cut and the others.
    fn at(z: &[f64], cut: f64) -> Option<Two> {
        let (mut count, mut sum) = ([0.0; 2], [0.0; 2]);
        for &z in z {
            let k = usize::from(z > cut);
            count[k] += 1.0;
            sum[k] += z;
        }
        if count.iter().any(|n| *n < 2.0) {
            return None;
        }
        let means = [sum[0] / count[0], sum[1] / count[1]];
        let square: f64 = z.iter().map(|z| (z - means[usize::from(*z > cut)]).powi(2)).sum();
        let n = z.len() as f64;
        let deviation = (square / n).sqrt();
        Some(Two { shares: [count[0] / n, count[1] / n], means, deviation })
    }

    /// The chance that a row at z is of the second group, and ln p there up to a constant.
    fn second(&self, z: f64) -> (f64, f64) {
        let term = |k: usize| {
            let y = (z - self.means[k]) / self.deviation;
            self.shares[k].ln() - 0.5 * y * y
        };
        let (a, b) = (term(0), term(1));
        let top = a.max(b);
        let total = top + ((a - top).exp() + (b - top).exp()).ln();
        ((b - total).exp(), total - self.deviation.ln())
    }

    /// The most probable groups, by EM from these.
    fn learned(mut self, z: &[f64], narrowest: f64) -> (Two, f64) {
        let n = z.len() as f64;
        let mut before = f64::NEG_INFINITY;
        for _ in 0..STEPS {
            let (mut count, mut sum, mut square, mut ln_p) = (0.0, [0.0; 2], [0.0; 2], 0.0);
            for &z in z {
                let (r, p) = self.second(z);
                count += r;
                sum[0] += (1.0 - r) * z;
                sum[1] += r * z;
                square[0] += (1.0 - r) * z * z;
                square[1] += r * z * z;
                ln_p += p;
            }
            if ln_p - before < 1e-4 || !(count > 1.0 && count < n - 1.0) {
                return (self, ln_p);
            }
            before = ln_p;
            let counts = [n - count, count];
            let means = [sum[0] / counts[0], sum[1] / counts[1]];
            let within: f64 = (0..2).map(|k| square[k] - counts[k] * means[k] * means[k]).sum();
            let deviation = (within.max(0.0) / n).sqrt().max(narrowest);
            self = Two { shares: [counts[0] / n, counts[1] / n], means, deviation };
        }
        (self, before)
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

/// How clear the valley near a cut is; `None` where the projections have too few values.
pub fn valley(z: &[f64], near: f64) -> Option<Valley> {
    let bins = Bins::of(z)?;
    let n = z.len() as f64;
    let mean = z.iter().sum::<f64>() / n;
    let deviation = (z.iter().map(|z| (z - mean).powi(2)).sum::<f64>() / n).sqrt();
    let starts = [near, bins.quantile(0.1), bins.quantile(0.5), bins.quantile(0.9)];
    let fits = starts.iter().filter_map(|c| Two::at(z, *c));
    let fits = fits.map(|two| two.learned(z, NARROWEST * deviation));
    let (two, _) = fits.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let two = if two.means[0] <= two.means[1] {
        two
    } else {
        let flip = |[a, b]: [f64; 2]| [b, a];
        Two { shares: flip(two.shares), means: flip(two.means), ..two }
    };
    let one = bins.log_concave().max(bins.compressed()?.log_concave());
    let evidence = 2.0 * (bins.ln_p_of(&two) - one);
    Some(Valley { evidence, cut: two.cut() })
        .filter(|v| v.evidence.is_finite() && v.cut.is_finite())
}

/// Projections counted in bins of about equal numbers of rows.
struct Bins {
    edges: Vec<f64>,
    counts: Vec<f64>,
}

impl Bins {
    fn of(z: &[f64]) -> Option<Bins> {
        let mut sorted = z.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
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

    /// ln p of the counts under the best log-concave density, which is constant in every bin: its
    /// slopes from bin to bin fall. Newton steps with the diagonal of the curvature, projected on
    /// falling slopes (iterative convex minorants).
    fn log_concave(&self) -> f64 {
        let m = self.counts.len();
        let n: f64 = self.counts.iter().sum();
        let widths: Vec<f64> = self.edges.windows(2).map(|e| e[1] - e[0]).collect();
        let centres: Vec<f64> = self.edges.windows(2).map(|e| 0.5 * (e[0] + e[1])).collect();
        let steps: Vec<f64> = centres.windows(2).map(|c| c[1] - c[0]).collect();
        let mean = self.counts.iter().zip(&centres).map(|(c, x)| c * x).sum::<f64>() / n;
        let square = |(c, x): (&f64, &f64)| c * (x - mean) * (x - mean);
        let variance = self.counts.iter().zip(&centres).map(square).sum::<f64>() / n;
        let probabilities = |slopes: &[f64]| -> Vec<f64> {
            let mut height = 0.0;
            let mut ln_p = vec![widths[0].ln()];
            for (k, slope) in slopes.iter().enumerate() {
                height += slope * steps[k];
                ln_p.push(height + widths[k + 1].ln());
            }
            let top = ln_p.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let total = top + ln_p.iter().map(|p| (p - top).exp()).sum::<f64>().ln();
            ln_p.iter().map(|p| p - total).collect()
        };
        let value =
            |ln_p: &[f64]| -> f64 { self.counts.iter().zip(ln_p).map(|(c, p)| c * p).sum() };
        // The slopes of a Gaussian.
        let mut slopes: Vec<f64> =
            centres.windows(2).map(|c| (mean - 0.5 * (c[0] + c[1])) / variance).collect();
        let mut ln_p = probabilities(&slopes);
        let mut best = value(&ln_p);
        for _ in 0..500 {
            let (mut above, mut counted) = (0.0, 0.0);
            let (mut slope, mut curve) = (vec![0.0; m - 1], vec![0.0; m - 1]);
            for k in (0..m - 1).rev() {
                above += ln_p[k + 1].exp();
                counted += self.counts[k + 1];
                slope[k] = steps[k] * (counted - n * above);
                curve[k] = n * steps[k] * steps[k] * (above * (1.0 - above)).max(1e-9);
            }
            let target: Vec<f64> = (0..m - 1).map(|k| slopes[k] + slope[k] / curve[k]).collect();
            let target = falling(&target, &curve);
            let move_by: Vec<f64> = target.iter().zip(&slopes).map(|(t, s)| t - s).collect();
            let rise: f64 = move_by.iter().zip(&slope).map(|(d, g)| d * g).sum();
            if rise < 1e-6 {
                break;
            }
            let mut step = 1.0;
            let found = loop {
                let tried: Vec<f64> =
                    slopes.iter().zip(&move_by).map(|(s, d)| s + step * d).collect();
                let tried_ln_p = probabilities(&tried);
                let tried_value = value(&tried_ln_p);
                if tried_value >= best + 0.1 * step * rise {
                    break Some((tried, tried_ln_p, tried_value));
                }
                step *= 0.5;
                if step < 1e-8 {
                    break None;
                }
            };
            let Some((tried, tried_ln_p, tried_value)) = found else { break };
            let gained = tried_value - best;
            (slopes, ln_p, best) = (tried, tried_ln_p, tried_value);
            if gained < 1e-6 {
                break;
            }
        }
        best
    }
}

/// The nearest falling sequence, with weights: pool adjacent violators.
fn falling(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (&value, &weight) in values.iter().zip(weights) {
        let mut pool = (value, weight, 1);
        while let Some(&(mean, mass, count)) = pools.last()
            && mean < pool.0
        {
            pools.pop();
            let total = mass + pool.1;
            pool = ((mean * mass + pool.0 * pool.1) / total, total, count + pool.2);
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(mean, _, count)| std::iter::repeat_n(mean, count)).collect()
}

//! Gabor functions fitted to filters: is a filter localised and oriented?

use std::f64::consts::{PI, TAU};

use serde::Serialize;

/// A Gabor function, exp(−u²/2σᵤ² − v²/2σᵥ²) · (a cos 2πfu + b sin 2πfu), with u along its wave
/// and v across, and how well it describes a filter.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Gabor {
    /// Its centre, pixels from the left.
    pub x: f64,
    /// Its centre, pixels from the top.
    pub y: f64,
    /// The direction of its wave in radians, 0 to π; bars and edges run across it.
    pub orientation: f64,
    /// Cycles per pixel.
    pub frequency: f64,
    /// σᵤ, pixels.
    pub along: f64,
    /// σᵥ, pixels.
    pub across: f64,
    /// a, the even part.
    pub even: f64,
    /// b, the odd part.
    pub odd: f64,
    /// The share of the filter's variance it describes.
    pub r2: f64,
}

/// Parameters: x, y, orientation, frequency, ln σᵤ, ln σᵥ, a, b.
type Parameters = [f64; 8];

/// Starts that are followed to the end.
const STARTS: usize = 4;

impl Gabor {
    /// The best Gabor function for a square filter: a grid of starts around where its energy
    /// is, the best of them followed by Levenberg and Marquardt's method.
    pub fn fit(filter: &[f64], side: usize) -> Gabor {
        let mean = filter.iter().sum::<f64>() / filter.len() as f64;
        let variance: f64 = filter.iter().map(|w| (w - mean).powi(2)).sum();
        let scale = variance.sqrt().max(f64::MIN_POSITIVE);
        let filter: Vec<f64> = filter.iter().map(|w| w / scale).collect();
        let (x, y) = centre(&filter, side);
        let mut starts: Vec<(f64, Parameters)> = Vec::new();
        for width in [2.0, 4.0] {
            for frequency in [0.03, 0.06, 0.1, 0.14, 0.19, 0.25, 0.32, 0.4] {
                for turn in 0..8 {
                    let turn = PI * f64::from(turn) / 8.0;
                    let w = f64::ln(width);
                    let mut at = [x, y, turn, frequency, w, w, 0.0, 0.0];
                    let loss = amplitudes(&filter, side, &mut at);
                    starts.push((loss, at));
                }
            }
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let ends = starts.iter().take(STARTS).map(|(_, at)| descend(&filter, side, *at));
        let best = ends.min_by(|a, b| a.0.total_cmp(&b.0));
        let (loss, p) = best.unwrap_or((1.0, [0.0; 8]));
        Gabor {
            x: p[0],
            y: p[1],
            orientation: p[2].rem_euclid(PI),
            frequency: p[3].abs(),
            along: p[4].exp(),
            across: p[5].exp(),
            even: p[6] * scale,
            odd: p[7] * scale,
            r2: if variance > 0.0 { 1.0 - loss } else { 0.0 },
        }
    }
}

/// The place of most energy, after some blurring.
fn centre(filter: &[f64], side: usize) -> (f64, f64) {
    let energy = |i: usize, j: usize| -> f64 {
        let (rows, columns) =
            (i.saturating_sub(4)..side.min(i + 5), j.saturating_sub(4)..side.min(j + 5));
        let at = |r: usize, c: usize| {
            let square = (r as f64 - i as f64).powi(2) + (c as f64 - j as f64).powi(2);
            filter[r * side + c].powi(2) * (-square / 8.0).exp()
        };
        rows.flat_map(|r| columns.clone().map(move |c| (r, c))).map(|(r, c)| at(r, c)).sum()
    };
    let all = (0..side).flat_map(|i| (0..side).map(move |j| (i, j)));
    let best = all.map(|(i, j)| (energy(i, j), i, j)).max_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or((0.0, 0.0), |(_, i, j)| (j as f64, i as f64))
}

/// The envelope, u, v, cos 2πfu and sin 2πfu at a pixel.
fn wave(p: &Parameters, column: f64, row: f64) -> [f64; 5] {
    let ((sin, cos), (dx, dy)) = (p[2].sin_cos(), (column - p[0], row - p[1]));
    let (u, v) = (cos * dx + sin * dy, -sin * dx + cos * dy);
    let (a, b) = (u * (-p[4]).exp(), v * (-p[5]).exp());
    let (s, c) = (TAU * p[3] * u).sin_cos();
    [(-0.5 * (a * a + b * b)).exp(), u, v, c, s]
}

fn pixels(side: usize) -> impl Iterator<Item = (usize, f64, f64)> {
    (0..side * side).map(move |i| (i, (i % side) as f64, (i / side) as f64))
}

/// Puts in the best amplitudes for the other parameters; gives the squared error.
fn amplitudes(filter: &[f64], side: usize, p: &mut Parameters) -> f64 {
    let (mut cc, mut cs, mut ss, mut wc, mut ws, mut ww) = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, column, row) in pixels(side) {
        let [envelope, _, _, c, s] = wave(p, column, row);
        let (c, s, w) = (envelope * c, envelope * s, filter[i]);
        (cc, cs, ss) = (cc + c * c, cs + c * s, ss + s * s);
        (wc, ws, ww) = (wc + w * c, ws + w * s, ww + w * w);
    }
    // A little ridge: at low frequency the odd part is next to nothing.
    let ridge = 1e-9 * (cc + ss) + f64::MIN_POSITIVE;
    let (cc, ss) = (cc + ridge, ss + ridge);
    let determinant = cc * ss - cs * cs;
    p[6] = (ss * wc - cs * ws) / determinant;
    p[7] = (cc * ws - cs * wc) / determinant;
    ww - p[6] * wc - p[7] * ws
}

/// JᵀJ and Jᵀr of the residuals r at the parameters.
fn normal_equations(filter: &[f64], side: usize, p: &Parameters) -> ([[f64; 8]; 8], [f64; 8]) {
    let (mut square, mut right) = ([[0.0; 8]; 8], [0.0; 8]);
    let (sin, cos) = p[2].sin_cos();
    let (along, across) = ((-2.0 * p[4]).exp(), (-2.0 * p[5]).exp());
    for (i, column, row) in pixels(side) {
        let [envelope, u, v, c, s] = wave(p, column, row);
        let carrier = p[6] * c + p[7] * s;
        let slope = TAU * (p[7] * c - p[6] * s);
        let by_u = envelope * (-u * along * carrier + p[3] * slope);
        let by_v = -envelope * v * across * carrier;
        let j = [
            -cos * by_u + sin * by_v,
            -sin * by_u - cos * by_v,
            v * by_u - u * by_v,
            envelope * u * slope,
            envelope * carrier * u * u * along,
            envelope * carrier * v * v * across,
            envelope * c,
            envelope * s,
        ];
        let residual = filter[i] - envelope * carrier;
        for a in 0..8 {
            right[a] += j[a] * residual;
            for b in 0..=a {
                square[a][b] += j[a] * j[b];
            }
        }
    }
    (square, right)
}

/// Levenberg and Marquardt's method, inside sensible bounds.
fn descend(filter: &[f64], side: usize, start: Parameters) -> (f64, Parameters) {
    let mut at = start;
    let mut loss = amplitudes(filter, side, &mut at);
    let mut damping = 1e-2;
    let edge = side as f64;
    let sensible = |p: &Parameters| {
        let inside = |v: f64| (-0.2 * edge..1.2 * edge).contains(&v);
        let wide = |ln: f64| (-0.7..edge.ln()).contains(&ln);
        inside(p[0]) && inside(p[1]) && p[3].abs() <= 0.5 && wide(p[4]) && wide(p[5])
    };
    for _ in 0..60 {
        let (square, right) = normal_equations(filter, side, &at);
        let before = loss;
        for _ in 0..8 {
            let next = solve(square, right, damping).map(|step| {
                let mut next = at;
                next.iter_mut().zip(step).for_each(|(p, s)| *p += s);
                next
            });
            if let Some(mut next) = next.filter(&sensible) {
                let after = amplitudes(filter, side, &mut next);
                if after < loss {
                    (at, loss, damping) = (next, after, (0.2 * damping).max(1e-9));
                    break;
                }
            }
            damping *= 4.0;
        }
        if before - loss < 1e-6 {
            break;
        }
    }
    (loss, at)
}

/// Solves (S + damping · diag S) x = r for a symmetric S given by its lower half, by Cholesky.
fn solve(mut s: [[f64; 8]; 8], right: [f64; 8], damping: f64) -> Option<[f64; 8]> {
    for (a, row) in s.iter_mut().enumerate() {
        row[a] *= 1.0 + damping;
        row[a] += 1e-12;
    }
    for a in 0..8 {
        for b in 0..=a {
            let sum = s[a][b] - (0..b).map(|k| s[a][k] * s[b][k]).sum::<f64>();
            s[a][b] = if a == b { sum.sqrt() } else { sum / s[b][b] };
        }
        if !(s[a][a] > 0.0) {
            return None;
        }
    }
    let mut x = right;
    for a in 0..8 {
        x[a] = (x[a] - (0..a).map(|k| s[a][k] * x[k]).sum::<f64>()) / s[a][a];
    }
    for a in (0..8).rev() {
        x[a] = (x[a] - (a + 1..8).map(|k| s[k][a] * x[k]).sum::<f64>()) / s[a][a];
    }
    Some(x)
}

/// What many fits say together.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Share of filters with R² over 0.6.
    pub share: f64,
    /// Median R².
    pub median_r2: f64,
    /// Of those over 0.6: how many have an orientation in each of eight equal parts of 180°,
    /// from −11.25° on.
    pub orientations: [usize; 8],
    /// Of those: the length of the mean of exp(2i · orientation); 0 is an even spread.
    pub concentration: f64,
    /// Of those: 10 %, 50 % and 90 % points of the frequency, cycles per pixel.
    pub frequencies: [f64; 3],
    /// Of those: the same of the geometric mean of σᵤ and σᵥ, pixels.
    pub sizes: [f64; 3],
}

impl Summary {
    /// Over fits.
    pub fn of(fits: &[Gabor]) -> Summary {
        let good: Vec<&Gabor> = fits.iter().filter(|g| g.r2 > 0.6).collect();
        let mut orientations = [0; 8];
        for gabor in &good {
            orientations[(8.0 * gabor.orientation / PI).round() as usize % 8] += 1;
        }
        let mean = |f: fn(f64) -> f64| {
            good.iter().map(|g| f(2.0 * g.orientation)).sum::<f64>() / good.len().max(1) as f64
        };
        let points = |of: &dyn Fn(&Gabor) -> f64| {
            let mut values: Vec<f64> = good.iter().map(|g| of(g)).collect();
            values.sort_by(f64::total_cmp);
            [0.1, 0.5, 0.9].map(|p| {
                let at = (p * (values.len().max(1) - 1) as f64).round() as usize;
                values.get(at).copied().unwrap_or(0.0)
            })
        };
        let mut r2: Vec<f64> = fits.iter().map(|g| g.r2).collect();
        r2.sort_by(f64::total_cmp);
        Summary {
            share: good.len() as f64 / fits.len().max(1) as f64,
            median_r2: r2.get(r2.len() / 2).copied().unwrap_or(0.0),
            orientations,
            concentration: mean(f64::cos).hypot(mean(f64::sin)),
            frequencies: points(&|g| g.frequency),
            sizes: points(&|g| (g.along * g.across).sqrt()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planted(p: &Parameters, noise: f64) -> Vec<f64> {
        let at = |(i, column, row): (usize, f64, f64)| {
            let [envelope, _, _, c, s] = wave(p, column, row);
            envelope * (p[6] * c + p[7] * s) + noise * (1.7 * (i * i) as f64).sin()
        };
        pixels(30).map(at).collect()
    }

    #[test]
    fn a_planted_gabor_is_found() {
        let (narrow, wide) = (f64::ln(2.3), f64::ln(3.8));
        for (turn, frequency) in [(0.3, 0.08), (1.2, 0.15), (2.0, 0.22), (2.9, 0.3)] {
            let p = [12.3, 17.8, turn, frequency, narrow, wide, 0.8, -0.5];
            let found = Gabor::fit(&planted(&p, 0.0), 30);
            assert!(found.r2 > 1.0 - 1e-5, "{found:?}");
            assert!((found.orientation - turn).abs() < 1e-2, "{found:?}");
            assert!((found.frequency - frequency).abs() < 1e-3, "{found:?}");
            assert!((found.x - 12.3).abs() < 0.02 && (found.y - 17.8).abs() < 0.02, "{found:?}");
            assert!((found.along - 2.3).abs() < 0.02 && (found.across - 3.8).abs() < 0.02);
        }
        // Noise lowers R² by its share of the variance.
        let p = [12.3, 17.8, 1.2, 0.15, narrow, wide, 0.8, -0.5];
        let (clean, noisy) = (planted(&p, 0.0), planted(&p, 0.2));
        let square = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>();
        let found = Gabor::fit(&noisy, 30);
        assert!((found.r2 - square(&clean) / square(&noisy)).abs() < 0.03, "{found:?}");
    }

    #[test]
    fn noise_is_no_gabor() {
        let noise: Vec<f64> = (0..900).map(|i| (1.7 * f64::from(i * i)).sin()).collect();
        assert!(Gabor::fit(&noise, 30).r2 < 0.2);
        assert_eq!(Gabor::fit(&[0.0; 900], 30).r2, 0.0);
    }
}

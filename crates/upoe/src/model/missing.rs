//! Rows of which some cells are missing: ln p of what is there, and the expected projections.
//!
//! Let B hold the columns of A that belong to the missing cells, B = QR. Sphered rows are then
//! x = x_c + Qu with x_c ⟂ Q fixed by the cells that are there, and cells and u differ by the factor |R|.
//! Directions of u that no expert sees integrate to √2π each. What is left is an integral over as many
//! numbers as experts or cells are involved, whichever are fewer: none, one (exact, by the line), two
//! (nested lines) or more (importance sampling).

use super::Model;
use super::along::{ROUNDING, Section, no_line};
use crate::error::{Error, Result};
use crate::expert::Curve;
use crate::importance::{Draws, Estimate, draws};
use crate::linalg::{LN_TAU, dot, eigen, remove};
use crate::line::{FINE, Line, ln_integral};
use crate::random::{Use, number_of, stream};
use crate::rows::Rows;
use crate::whitening::Rest;
use faer::Mat;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// What a set of missing columns means for a model.
struct Pattern<'a> {
    model: &'a Model,
    curves: Vec<Curve<'a>>,
    /// Constant columns, of which the value is known although the cell is missing.
    constant: Vec<usize>,
    missing: Vec<usize>,
    /// Q, one vector per missing cell, those that experts see first.
    span: Vec<Vec<f64>>,
    /// How many of them experts see.
    seen: usize,
    /// How z changes along those: J × seen.
    slopes: Vec<Vec<f64>>,
    /// What is Gaussian along those: seen vectors.
    changes: Vec<Vec<f64>>,
    ln_constant: f64,
}

/// A row, given a pattern: where z and what is Gaussian start.
struct Start {
    z: Vec<f64>,
    gaussian: Vec<f64>,
}

impl Model {
    /// ln p of the cells that are there, NaN standing for a missing cell: the marginal over the missing
    /// columns. Complete rows have their ln p, rows without any cell 0. Up to two missing cells, or
    /// experts that they concern, are integrated by quadrature; more by importance sampling, whose
    /// standard error is reported.
    pub fn score_present(&self, rows: &Rows) -> Result<Vec<Estimate>> {
        self.score_beside(rows, &[])
    }

    /// The same for a part of a sum whose other parts are known for each row, as ln and over this part's share: it
    /// need only be as exact as the sum must be. Without them the part is all.
    pub(crate) fn score_beside(&self, rows: &Rows, ln_others: &[f64]) -> Result<Vec<Estimate>> {
        let complete =
            |rows: &Rows| Ok(self.score(rows)?.into_iter().map(Estimate::exact).collect());
        self.by_pattern(rows, complete, |pattern, i, row| match pattern {
            Some(pattern) => {
                pattern.ln_p(row, ln_others.get(i).copied().unwrap_or(f64::NEG_INFINITY))
            }
            None => Ok(Estimate::exact(0.0)),
        })
    }

    /// The projections z of many rows, expected ones where cells are missing: N × J, row after row.
    pub fn transform_present(&self, rows: &Rows) -> Result<Vec<f64>> {
        let j = self.experts.len();
        let complete =
            |rows: &Rows| Ok(self.transform(rows)?.chunks(j.max(1)).map(<[f64]>::to_vec).collect());
        if j == 0 {
            return Ok(Vec::new());
        }
        use crate::expert::Marginal as _;
        let unknown = || self.experts.iter().map(|e| e.shape().mean).collect();
        let z = self.by_pattern(rows, complete, |pattern, _, row| match pattern {
            Some(pattern) => pattern.expected_z(row),
            None => Ok(unknown()),
        })?;
        Ok(z.concat())
    }

    /// Asks about complete rows together, and about the others by what is missing in them: `None` where
    /// all is.
    fn by_pattern<T: Send>(
        &self,
        rows: &Rows,
        complete: impl Fn(&Rows) -> Result<Vec<T>>,
        of_row: impl Fn(Option<&Pattern>, usize, &[f64]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.whitening.check_columns(rows.columns())?;
        rows.check_present()?;
        let mut patterns: BTreeMap<Vec<bool>, Vec<usize>> = BTreeMap::new();
        for i in 0..rows.len() {
            let missing = rows.row(i).iter().map(|x| x.is_nan()).collect();
            patterns.entry(missing).or_default().push(i);
        }
        let mut found: Vec<Option<T>> = (0..rows.len()).map(|_| None).collect();
        for (missing, of) in patterns {
            let answers = if !missing.contains(&true) {
                complete(&Rows::new(&rows.pick(&of).0, rows.columns())?)?
            } else if missing.contains(&false) {
                let pattern = Pattern::new(self, &missing)?;
                let answer = |i: &usize| of_row(Some(&pattern), *i, &rows.row(*i));
                of.par_iter().map(answer).collect::<Result<Vec<T>>>()?
            } else {
                of.iter().map(|i| of_row(None, *i, &rows.row(*i))).collect::<Result<Vec<T>>>()?
            };
            of.into_iter().zip(answers).for_each(|(i, answer)| found[i] = Some(answer));
        }
        Ok(found.into_iter().flatten().collect())
    }
}

impl<'a> Pattern<'a> {
    fn new(model: &'a Model, missing: &[bool]) -> Result<Self> {
        let whitening = &model.whitening;
        let degenerate = whitening.rest() == Rest::Degenerate;
        let (constant, missing): (Vec<usize>, Vec<usize>) = (0..missing.len())
            .filter(|&i| missing[i])
            .partition(|&i| degenerate && whitening.deviations()[i] == 0.0);
        let (mut span, mut ln_det): (Vec<Vec<f64>>, f64) = (Vec::new(), 0.0);
        for &i in &missing {
            let mut axis = vec![0.0; whitening.columns()];
            axis[i] = 1.0;
            let turn = whitening.sphere_change(&axis);
            if degenerate && whitening.leaves(&axis, &turn) {
                return Err(no_line());
            }
            let mut column = turn.clone();
            if let Rest::Noise { variance } = whitening.rest() {
                let outside = whitening.residual_change(&axis, &turn);
                column.extend(outside.into_iter().map(|r| r / variance.sqrt()));
            }
            let before = dot(&column, &column).sqrt();
            (0..2).for_each(|_| remove(&span, &mut column));
            let norm = dot(&column, &column).sqrt();
            if !(norm > 1e-12 * before) {
                return Err(no_line());
            }
            ln_det += norm.ln();
            span.push(column.into_iter().map(|x| x / norm).collect());
        }
        let (span, seen) = turned(model, span)?;
        let dims = whitening.dims();
        let slope = |w: &[f64], q: &[f64]| {
            let slope = dot(w, &q[..dims]);
            if slope * slope > ROUNDING * dot(w, w) { slope } else { 0.0 }
        };
        let slopes = model.directions.iter();
        let slopes: Vec<Vec<f64>> =
            slopes.map(|w| span[..seen].iter().map(|q| slope(w, q)).collect()).collect();
        let change = |k: usize| {
            let z: Vec<f64> = slopes.iter().map(|s| s[k]).collect();
            let mut change = model.complement_of(&span[k][..dims], &z);
            change.extend(&span[k][dims..]);
            change
        };
        let changes: Vec<Vec<f64>> = (0..seen).map(change).collect();
        let free = (dims - model.experts.len()) as f64;
        let mut ln_constant =
            whitening.ln_det() + model.half_ln_gram - 0.5 * free * LN_TAU - ln_det
                + 0.5 * (missing.len() - seen) as f64 * LN_TAU;
        if let Rest::Noise { variance } = whitening.rest() {
            let dropped = (whitening.columns() - dims) as f64;
            ln_constant -= 0.5 * dropped * (LN_TAU + variance.ln());
        }
        let curves = model.experts.iter().map(Curve::new).collect();
        Ok(Pattern { model, curves, constant, missing, span, seen, slopes, changes, ln_constant })
    }

    /// Where a row starts; `None` for a row outside the subspace of a degenerate model.
    fn start(&self, row: &[f64]) -> Option<Start> {
        let whitening = &self.model.whitening;
        let mut row = row.to_vec();
        for &i in self.missing.iter().chain(&self.constant) {
            row[i] = whitening.mean()[i];
        }
        let mut x = whitening.sphere_row(&row);
        let dims = x.len();
        if whitening.off(&row, &x).next().is_some() {
            return None;
        }
        if let Rest::Noise { variance } = whitening.rest() {
            let outside = whitening.residual(&row, &x);
            x.extend(outside.into_iter().map(|r| r / variance.sqrt()));
        }
        remove(&self.span, &mut x);
        let z = self.model.projections(&x[..dims]);
        let mut gaussian = self.model.complement_of(&x[..dims], &z);
        gaussian.extend(&x[dims..]);
        Some(Start { z, gaussian })
    }

    fn ln_p(&self, row: &[f64], ln_others: f64) -> Result<Estimate> {
        let Some(start) = self.start(row) else {
            return Ok(Estimate::exact(f64::NEG_INFINITY));
        };
        let mut ln_integral = match self.seen {
            0 => Estimate::exact(self.at(&start, &[])),
            1 => Estimate::exact(nothing_is_zero(self.section(&start, &[]).integral())?),
            2 => Estimate::exact(nothing_is_zero(self.twice(&start))?),
            _ => self.draws(&start, row, ln_others - self.ln_constant).ln_integral,
        };
        ln_integral.value += self.ln_constant;
        Ok(ln_integral)
    }

    fn expected_z(&self, row: &[f64]) -> Result<Vec<f64>> {
        let Some(start) = self.start(row) else {
            return Ok(vec![f64::NAN; self.curves.len()]);
        };
        let u: Vec<f64> = match self.seen {
            0 => Vec::new(),
            1 => {
                let section = self.section(&start, &[]);
                let points = section.points();
                let line =
                    match Line::new(Box::new(|t, h| section.ln_p(t, h)), (&points, 0.0), 0.0, FINE)
                    {
                        // So far out that the density is 0.
                        Err(Error::NoLine { .. }) => return Ok(start.z),
                        line => line?,
                    };
                // Tails may be too heavy for a mean.
                let mean = line.mean();
                vec![if mean.is_nan() { line.median() } else { mean }]
            }
            seen => {
                let Draws { points, weights, .. } = self.draws(&start, row, f64::NEG_INFINITY);
                let mean = |k: usize| {
                    points.iter().skip(k).step_by(seen).zip(&weights).map(|(u, w)| u * w).sum()
                };
                (0..seen).map(mean).collect()
            }
        };
        Ok(start.z.iter().zip(&self.slopes).map(|(z, s)| z + dot(s, &u)).collect())
    }

    /// ln of what is integrated, at u.
    fn at(&self, start: &Start, u: &[f64]) -> f64 {
        let mut sum = [0.0];
        for ((curve, z), slopes) in self.curves.iter().zip(&start.z).zip(&self.slopes) {
            curve.add(z + dot(slopes, u), 0.0, &[0.0], &mut sum);
        }
        let square = |(i, g): (usize, &f64)| {
            let moved: f64 = self.changes.iter().zip(u).map(|(c, u)| c[i] * u).sum();
            (g + moved).powi(2)
        };
        sum[0] - 0.5 * start.gaussian.iter().enumerate().map(square).sum::<f64>()
    }

    /// The same along the coordinate of u that follows the given ones.
    fn section(&self, start: &Start, u: &[f64]) -> Section<'_, 'a> {
        let k = u.len();
        let gaussian: Vec<f64> = start
            .gaussian
            .iter()
            .enumerate()
            .map(|(i, g)| g + self.changes.iter().zip(u).map(|(c, u)| c[i] * u).sum::<f64>())
            .collect();
        let terms = start.z.iter().zip(&self.slopes);
        let terms = terms.map(|(z, s)| (z + dot(&s[..k], u), s[k])).zip(&self.curves);
        let terms = terms.map(|((a, b), curve)| (Cow::Borrowed(curve), a, b));
        Section::new(terms, &gaussian, &self.changes[k], 1.0)
    }

    /// Lines along the second coordinate, integrated along the first.
    fn twice(&self, start: &Start) -> Result<f64> {
        let mut points = vec![-8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0];
        for ((curve, z), slopes) in self.curves.iter().zip(&start.z).zip(&self.slopes) {
            if slopes[1].abs() < 0.3 * slopes[0].abs() {
                points.extend(curve.points().iter().map(|p| (p - z) / slopes[0]));
            }
        }
        let ln_f = |t: &[f64], heights: &mut [f64]| {
            for (t, height) in t.iter().zip(heights) {
                *height = self.section(start, &[*t]).integral().unwrap_or(f64::NEG_INFINITY);
            }
        };
        ln_integral(&ln_f, &points, (0.0, 0.0))
    }

    fn draws(&self, start: &Start, row: &[f64], ln_others: f64) -> Draws {
        let seen = self.seen;
        let gram = |a: usize, b: usize| dot(&self.changes[a], &self.changes[b]);
        let quadratic: Vec<f64> = (0..seen)
            .flat_map(|a| (0..seen).map(move |b| (a, b)))
            .map(|(a, b)| gram(a, b))
            .collect();
        let linear: Vec<f64> = self.changes.iter().map(|c| dot(c, &start.gaussian)).collect();
        let constant = dot(&start.gaussian, &start.gaussian);
        let ln_f = |points: &[f64], heights: &mut [f64]| {
            for (u, height) in points.chunks_exact(seen).zip(heights.iter_mut()) {
                let form: f64 = (0..seen)
                    .map(|a| u[a] * (dot(&quadratic[a * seen..][..seen], u) + 2.0 * linear[a]))
                    .sum();
                *height = -0.5 * (form + constant);
            }
            let mut z = vec![0.0; heights.len()];
            for ((curve, start), slopes) in self.curves.iter().zip(&start.z).zip(&self.slopes) {
                z.iter_mut().zip(points.chunks_exact(seen)).for_each(|(z, u)| *z = dot(slopes, u));
                curve.add(*start, 1.0, &z, heights);
            }
        };
        draws(ln_others, seen, ln_f, &mut stream(0, Use::Missing, number_of(row)))
    }
}

/// ln of an integral, −∞ where there is nothing to integrate.
fn nothing_is_zero(ln_integral: Result<f64>) -> Result<f64> {
    match ln_integral {
        Err(Error::NoLine { .. }) => Ok(f64::NEG_INFINITY),
        other => other,
    }
}

/// The span turned so that the first vectors, as many as are returned, are those that experts see.
fn turned(model: &Model, span: Vec<Vec<f64>>) -> Result<(Vec<Vec<f64>>, usize)> {
    let (k, dims) = (span.len(), model.whitening.dims());
    let seen_by = |w: &Vec<f64>| -> Vec<f64> {
        let norm = dot(w, w).sqrt();
        span.iter().map(|q| dot(w, &q[..dims]) / norm).collect()
    };
    let views: Vec<Vec<f64>> = model.directions.iter().map(seen_by).collect();
    let gram = Mat::from_fn(k, k, |a, b| views.iter().map(|v| v[a] * v[b]).sum::<f64>());
    if k == 0 {
        return Ok((span, 0));
    }
    let (values, vectors) = eigen(&gram)?;
    let seen = values.iter().filter(|v| **v > 100.0 * ROUNDING).count();
    let turn = |c: usize| {
        let entry = |i: usize| (0..k).map(|a| span[a][i] * vectors[(a, c)]).sum::<f64>();
        (0..span[0].len()).map(entry).collect()
    };
    Ok(((0..k).map(turn).collect(), seen))
}

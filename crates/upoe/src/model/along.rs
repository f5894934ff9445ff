//! The density along a line: each projection is linear in t, the rest is quadratic.

use super::Model;
use crate::error::{Error, Result};
use crate::expert::Curve;
use crate::linalg::{LN_TAU, dot};
use crate::line::{FINE, Line, ROUGH, axis, ln_integral};
use crate::random::Stream;
use crate::rows::Rows;
use crate::whitening::Rest;
use std::borrow::Cow;

/// Squares of slopes up to this share of what they are made of are rounding.
pub(super) const ROUNDING: f64 = 1e-26;

/// With more points than this, not every corner is the end of a panel.
const MOST_CORNERS: usize = 260;

/// ln p(t) = Σⱼ ln Tⱼ(aⱼ + bⱼt) − ½ precision (t − centre)² + constant.
pub(super) struct Section<'s, 'a> {
    /// The experts that t moves, with a and b.
    pub(super) moved: Vec<(Cow<'s, Curve<'a>>, f64, f64)>,
    pub(super) precision: f64,
    pub(super) centre: f64,
    constant: f64,
}

/// Why a column that others determine has no density.
pub(super) fn no_line() -> Error {
    let reason = "other columns determine this value, because the training rows span fewer dimensions \
                  than they have columns; fit without columns that are constant or sums of others";
    Error::NoLine { reason }
}

impl Model {
    /// The density along a line: of t, where rows are row + t·direction. The row is t = 0.
    ///
    /// It is exact: ln p along the line is a sum of one-dimensional terms and a quadratic,
    /// normalised by quadrature.
    pub fn along(&self, row: &[f64], direction: &[f64]) -> Result<Line<'_>> {
        self.section(row, direction)?.line(0.0)
    }

    /// The density of a column's value, given those of all other columns of the row. What the row has
    /// in that column does not matter.
    pub fn conditional(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        self.whitening.check_columns(row.len())?;
        let (row, direction, origin) = axis(row, column, |i| self.whitening.mean()[i])?;
        self.section(&row, &direction)?.line(origin)
    }

    /// The same to about 1e-4, which is enough for one of many lines over which a mean is taken.
    pub(crate) fn conditional_roughly(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        self.whitening.check_columns(row.len())?;
        let (row, direction, origin) = axis(row, column, |i| self.whitening.mean()[i])?;
        self.section(&row, &direction)?.rough_line(origin)
    }

    /// A draw along a line from a row that is itself a draw: a step that leaves the density along the line as
    /// it is.
    pub(crate) fn step_along(
        &self,
        row: &[f64],
        direction: &[f64],
        rng: &mut Stream,
    ) -> Result<f64> {
        Ok(self.section(row, direction)?.step(rng))
    }

    fn section(&self, row: &[f64], direction: &[f64]) -> Result<Section<'_, '_>> {
        let whitening = &self.whitening;
        for numbers in [row, direction] {
            whitening.check_columns(numbers.len())?;
            Rows::new(numbers, numbers.len())?.check()?;
        }
        let (x, turn) = (whitening.sphere_row(row), whitening.sphere_change(direction));
        let (z, slopes) = (self.projections(&x), self.projections(&turn));
        let free = (whitening.dims() - self.experts.len()) as f64;
        let mut constant = self.half_ln_gram - 0.5 * free * LN_TAU + whitening.ln_det();
        // What is Gaussian, in units of its deviation: at t = 0, and per unit of t.
        let mut start = self.complement_of(&x, &z);
        let mut change = self.complement_of(&turn, &slopes);
        match whitening.rest() {
            Rest::Nothing => {}
            Rest::Degenerate => {
                if whitening.leaves(direction, &turn) {
                    return Err(no_line());
                }
                if whitening.off(row, &x).next().is_some() {
                    let reason = "the row lies outside the subspace of the training rows";
                    return Err(Error::NoLine { reason });
                }
            }
            Rest::Noise { variance } => {
                let scaled = |part: Vec<f64>| part.into_iter().map(move |r| r / variance.sqrt());
                start.extend(scaled(whitening.residual(row, &x)));
                change.extend(scaled(whitening.residual_change(direction, &turn)));
                let dropped = (whitening.columns() - whitening.dims()) as f64;
                constant -= 0.5 * dropped * (LN_TAU + variance.ln());
            }
        }
        let size = dot(&turn, &turn);
        let moves = |w: &[f64], b: f64| b * b > ROUNDING * size * dot(w, w);
        let places = z.iter().zip(&slopes).zip(&self.directions);
        let places = places.map(|((z, b), w)| (*z, if moves(w, *b) { *b } else { 0.0 }));
        let terms = self.experts.iter().zip(places);
        let terms = terms.map(|(e, (a, b))| (Cow::Owned(Curve::new(e)), a, b));
        let mut section = Section::new(terms, &start, &change, size);
        if section.moved.is_empty() && section.precision == 0.0 {
            return Err(Error::NoLine { reason: "the direction is 0" });
        }
        section.constant += constant;
        Ok(section)
    }
}

impl<'s, 'a> Section<'s, 'a> {
    /// From the experts with a and b, and what is Gaussian: at t = 0, and its change per unit of t along
    /// a direction of squared length `size`.
    pub(super) fn new(
        terms: impl Iterator<Item = (Cow<'s, Curve<'a>>, f64, f64)>,
        start: &[f64],
        change: &[f64],
        size: f64,
    ) -> Self {
        let square = dot(change, change);
        let precision = if square > ROUNDING * size { square } else { 0.0 };
        let centre = if precision > 0.0 { -dot(start, change) / precision } else { 0.0 };
        let off: f64 = start.iter().zip(change).map(|(s, c)| (s + centre * c).powi(2)).sum();
        let (moved, fixed): (Vec<_>, Vec<_>) = terms.partition(|(_, _, b)| *b != 0.0);
        let mut sum = [-0.5 * off];
        fixed.iter().for_each(|(curve, a, _)| curve.add(*a, 0.0, &[0.0], &mut sum));
        Section { moved, precision, centre, constant: sum[0] }
    }

    /// Where peaks and corners may lie.
    pub(super) fn points(&self) -> Vec<f64> {
        let mut points: Vec<f64> = Vec::new();
        for (curve, a, b) in &self.moved {
            points.extend(curve.points().iter().map(|z| (z - a) / b));
        }
        if self.precision > 0.0 {
            let scale = 1.0 / self.precision.sqrt();
            points.extend([-6.0, -2.0, 0.0, 2.0, 6.0].map(|k| self.centre + k * scale));
        }
        points
    }

    /// ln p at many t.
    pub(super) fn ln_p(&self, t: &[f64], heights: &mut [f64]) {
        for (height, t) in heights.iter_mut().zip(t) {
            *height = self.constant - 0.5 * self.precision * (t - self.centre).powi(2);
        }
        for (curve, a, b) in &self.moved {
            curve.add(*a, *b, t, heights);
        }
    }

    /// The scale of the narrowest feature of ln p.
    fn narrowest(&self) -> f64 {
        let gaussian = if self.precision > 0.0 { self.precision.powf(-0.5) } else { f64::INFINITY };
        let scales = self.moved.iter().map(|(curve, _, b)| curve.narrowest() / b.abs());
        scales.fold(gaussian, f64::min)
    }

    /// ln of the integral of p over t.
    pub(super) fn integral(&self) -> Result<f64> {
        let narrowest = self.narrowest();
        let points = self.points();
        // Corners between points cost more than panels, unless there are very many. Otherwise panels have
        // points enough for three scales.
        let corners = self.moved.iter().any(|(curve, _, _)| curve.has_corners());
        let apart = if corners && points.len() <= MOST_CORNERS { 0.0 } else { 3.0 * narrowest };
        let ln_p = |t: &[f64], heights: &mut [f64]| self.ln_p(t, heights);
        ln_integral(&ln_p, &points, (narrowest, apart))
    }
}

impl<'a> Section<'a, 'a> {
    fn line(self, origin: f64) -> Result<Line<'a>> {
        let points = self.points();
        let ln_p = Box::new(move |t: &[f64], heights: &mut [f64]| self.ln_p(t, heights));
        Line::new(ln_p, (&points, 0.0), origin, FINE)
    }

    fn rough_line(self, origin: f64) -> Result<Line<'a>> {
        let (points, apart) = (self.points(), 3.0 * self.narrowest());
        let ln_p = Box::new(move |t: &[f64], heights: &mut [f64]| self.ln_p(t, heights));
        Line::new(ln_p, (&points, apart), origin, ROUGH)
    }
}

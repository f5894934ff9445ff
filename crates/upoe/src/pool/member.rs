//! A member of a pool.

use super::drawn;
use crate::density::{Density, missing, scan, slice};
use crate::error::{Error, Result};
use crate::importance::Estimate;
use crate::line::{COARSE, Line, ROUGH};
use crate::model::Model;
use crate::random;
use crate::rows::Rows;
use crate::stack::{Layer, Stack};
use crate::t_mixture::{Given, Precisions, TMixture};
use crate::whitening::{Rest, Whitening, WhiteningParts};
use faer::Mat;
use std::ops::Range;
use std::sync::OnceLock;

/// Rows farther out have no density.
const FARTHEST: f64 = 1e150;

/// A density in a pool: a stack, or its maps with a mixture of Student-t components at their end.
#[derive(Clone, Debug)]
pub struct Member {
    stack: Stack,
    mixture: Option<TMixture>,
    /// Both are found when they are first asked for.
    plain: OnceLock<Option<Plain>>,
    one_layer: OnceLock<Option<Box<Model>>>,
}

/// What is needed for missing cells where the mixture is over the columns themselves, each in units of its own.
#[derive(Clone, Debug)]
struct Plain {
    scales: Vec<f64>,
    precisions: Vec<f64>,
}

impl Member {
    /// From its parts.
    pub fn new(stack: Stack, mixture: Option<TMixture>) -> Result<Self> {
        let expected = stack.whitening().dims();
        if let Some(got) = mixture.as_ref().map(TMixture::dims).filter(|got| *got != expected) {
            return Err(Error::Shape { what: "dimensions of a mixture", expected, got });
        }
        let (plain, one_layer) = (OnceLock::new(), OnceLock::new());
        Ok(Member { stack, mixture, plain, one_layer })
    }

    /// The whole stack, or the maps before the mixture.
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    /// The mixture that stands in for the standard normal.
    pub fn mixture(&self) -> Option<&TMixture> {
        self.mixture.as_ref()
    }

    /// A mixture over columns, each in units of its own: what is missing in a row is missing in the mixture too.
    pub(super) fn of_columns(middles: &[f64], scales: &[f64], mixture: TMixture) -> Result<Self> {
        let n = scales.len();
        let diagonal = |of: &dyn Fn(f64) -> f64| {
            Mat::from_fn(n, n, |i, j| if i == j { of(scales[i]) } else { 0.0 })
        };
        let whitening = Whitening::from_parts(WhiteningParts {
            mean: middles.to_vec(),
            matrix: diagonal(&|s| s.recip()),
            inverse: diagonal(&|s| s),
            ln_det: -scales.iter().map(|s| s.ln()).sum::<f64>(),
            rank: n,
            kept_variance: 1.0,
            rest: Rest::Nothing,
            deviations: scales.to_vec(),
        })?;
        Member::new(Stack::new(Vec::new(), whitening, Vec::new())?, Some(mixture))
    }

    /// The mixture over the columns themselves, where it is one.
    fn plain(&self) -> Option<(&TMixture, &Plain)> {
        let (mixture, whitening) = (self.mixture.as_ref()?, self.stack.whitening());
        let found = self.plain.get_or_init(|| {
            let (matrix, inverse) = (whitening.matrix(), whitening.inverse());
            let n = matrix.ncols();
            let maps = !self.stack.layers().is_empty() || !self.stack.column_experts().is_empty();
            let across = |(i, j): (usize, usize)| i != j && matrix[(i, j)] != 0.0;
            let turned = whitening.dims() < n
                || (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).any(across);
            let scales = || (0..n).map(|i| inverse[(i, i)]).collect();
            (!maps && !turned).then(|| Plain { scales: scales(), precisions: mixture.precisions() })
        });
        Some((mixture, found.as_ref()?))
    }

    /// The stack as a model, where it is one layer of directions over sphered rows.
    fn one_layer(&self) -> Option<&Model> {
        let found = self.one_layer.get_or_init(|| {
            let (directions, experts) = match self.stack.layers() {
                [] => (Vec::new(), Vec::new()),
                [Layer::Directions(layer)] => {
                    (layer.directions().to_vec(), layer.experts().cloned().collect())
                }
                _ => return None,
            };
            let alone = self.mixture.is_none() && self.stack.column_experts().is_empty();
            let model = || Model::new(self.stack.whitening().clone(), directions, experts).ok();
            alone.then(model).flatten().map(Box::new)
        });
        found.as_deref()
    }

    /// Whether a formula says how probable the cells are that a row has.
    pub(super) fn is_exact(&self) -> bool {
        self.plain().is_some()
    }

    /// ln p of the cells that rows have, as a part of a sum: see [`missing::score_beside`].
    pub(super) fn beside(&self, rows: &Rows, ln_others: &[f64]) -> Result<Vec<Estimate>> {
        if let Some(model) = self.one_layer() {
            return model.score_beside(rows, ln_others);
        }
        let Some((mixture, plain)) = self.plain() else {
            return missing::score_beside(self, rows, ln_others);
        };
        rows.check_present()?;
        let (middles, scales) = (self.stack.whitening().mean(), &plain.scales);
        let (mut x, mut ln_det) = (Vec::with_capacity(rows.len() * scales.len()), Vec::new());
        for i in 0..rows.len() {
            let row = rows.row(i);
            let unit = in_units(&row, middles, scales);
            let there = row.iter().zip(scales).filter(|(x, _)| !x.is_nan());
            let far = unit.iter().any(|x| x.abs() > FARTHEST);
            ln_det.push(match far {
                true => f64::NEG_INFINITY,
                false => -there.map(|(_, s)| s.ln()).sum::<f64>(),
            });
            x.extend(unit.iter().map(|x| if far { 0.0 } else { *x }));
        }
        let scores = Precisions::known(mixture, &plain.precisions).ln_p(&x)?;
        Ok(scores.iter().zip(ln_det).map(|(p, d)| Estimate::exact(p + d)).collect())
    }

    pub(super) fn slope(&self, row: &[f64]) -> Result<Vec<f64>> {
        match &self.mixture {
            Some(mixture) => self.stack.slope_with(row, |x| mixture.slope(x)),
            None => self.stack.slope(row),
        }
    }

    pub(super) fn draw(&self, rng: &mut random::Stream) -> Vec<f64> {
        match &self.mixture {
            Some(mixture) => {
                let x = mixture.draw(rng);
                self.stack.back(x, rng)
            }
            None => self.stack.draw(rng),
        }
    }
}

impl Density for Member {
    fn columns(&self) -> usize {
        self.stack.columns()
    }

    fn score(&self, rows: &Rows) -> Result<Vec<f64>> {
        let Some(mixture) = &self.mixture else { return self.stack.score(rows) };
        let (mut x, mut ln_det) = self.stack.mapped(rows)?;
        // Squares of a far row overflow.
        for (x, ln_det) in x.chunks_exact_mut(mixture.dims()).zip(&mut ln_det) {
            if !x.iter().all(|x| x.abs() < FARTHEST) {
                x.fill(0.0);
                *ln_det = f64::NEG_INFINITY;
            }
        }
        Ok(mixture.ln_density(&x)?.iter().zip(&ln_det).map(|(p, ln_det)| p + ln_det).collect())
    }

    fn score_present(&self, rows: &Rows) -> Result<Vec<Estimate>> {
        self.beside(rows, &[])
    }

    fn given(&self, row: &[f64]) -> Result<Option<Given>> {
        let Some((mixture, plain)) = self.plain() else { return Ok(None) };
        let (middles, scales) = (self.stack.whitening().mean(), &plain.scales);
        let x = in_units(row, middles, scales).into_iter().map(|x| x.clamp(-FARTHEST, FARTHEST));
        let x: Vec<f64> = x.collect();
        let given = Precisions::known(mixture, &plain.precisions).given(&x)?;
        Ok(Some(given.in_units(middles, scales)))
    }

    fn along(&self, row: &[f64], direction: &[f64]) -> Result<Line<'_>> {
        match self.one_layer() {
            Some(model) => model.along(row, direction),
            None => scan::along(self, row, direction, 0.0, COARSE),
        }
    }

    fn conditional(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        match self.one_layer() {
            Some(model) => model.conditional(row, column),
            None => scan::conditional(self, row, column, COARSE),
        }
    }

    fn conditional_roughly(&self, row: &[f64], column: usize) -> Result<Line<'_>> {
        match self.one_layer() {
            Some(model) => model.conditional_roughly(row, column),
            None => scan::conditional(self, row, column, ROUGH),
        }
    }

    fn draw_along(&self, row: &[f64], direction: &[f64], rng: &mut random::Stream) -> Result<f64> {
        match self.one_layer() {
            Some(model) => model.step_along(row, direction, rng),
            None => slice::draw(self, row, direction, rng),
        }
    }

    fn sample_range(&self, rows: Range<usize>, seed: u64) -> Vec<f64> {
        drawn(rows, seed, |rng| self.draw(rng))
    }

    fn places(&self) -> Vec<(f64, f64)> {
        self.stack.places()
    }
}

fn in_units(row: &[f64], middles: &[f64], scales: &[f64]) -> Vec<f64> {
    row.iter().zip(middles).zip(scales).map(|((x, m), s)| (x - m) / s).collect()
}

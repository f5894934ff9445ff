//! A pool for rows with missing cells: one layer of experts, and mixtures that learn from the cells that are there.

use super::learned::{SMALLEST, shares};
use super::{Member, Pool, pooled};
use crate::error::Result;
use crate::evaluate::widening;
use crate::grain;
use crate::learn::Halt;
use crate::rows::{Rows, view};
use crate::stack::Stack;
use crate::t_mixture::{ChosenComponents, Fold, TMixture, Watch};

/// A pool of rows with missing cells before it is learned.
pub(crate) struct Incomplete<'a> {
    /// The rows; missing cells are NaN.
    pub rows: &'a Rows<'a>,
    /// The same without some of the cells that are there; `None` where a column would have none.
    pub fewer: Option<Vec<f64>>,
    /// The same with a guess in every missing cell, from which mixtures start.
    pub filled: &'a [f64],
    /// The middle of each column, and its scale.
    pub places: (&'a [f64], &'a [f64]),
    /// How far correlations are shrunk.
    pub prior: f64,
}

impl Incomplete<'_> {
    /// The pool of a stack and of mixtures. `held` are ln p of the cells that are there in held-out rows, fold after fold,
    /// by the stack of the other rows, where it could be learned. Also by how much mixtures were widened. `None` where `watch` says no.
    pub fn pool(
        &self,
        stack: Stack,
        held: Option<Vec<f64>>,
        folds: &[Vec<usize>],
        watch: Watch,
    ) -> Result<Option<(Pool, Option<f64>)>> {
        let columns = self.rows.columns();
        let parts: Vec<Fold> =
            folds.iter().map(|fold| self.fold(None, fold)).collect::<Result<_>>()?;
        let chosen = ChosenComponents::several(&parts, columns, None, Some(watch))?;
        let order = || folds.iter().flatten();
        let weights: Vec<f64> = order().map(|&i| self.rows.weight(i)).collect();
        let ln_det: Vec<f64> = order().map(|&i| self.ln_det(i)).collect();
        let of_mixture = |chosen: &ChosenComponents| {
            let ln_p = chosen.ln_p.iter().flatten();
            ln_p.zip(&ln_det).map(|(p, d)| p + d).collect::<Vec<f64>>()
        };
        let has_stack = held.is_some();
        let finite = |x: f64| if x.is_nan() { f64::NEG_INFINITY } else { x };
        let held = held.map(|held| held.into_iter().map(finite).collect::<Vec<f64>>());
        let all: Vec<Vec<f64>> = held.into_iter().chain(chosen.iter().map(of_mixture)).collect();
        let mut found = shares(&all.iter().map(Vec::as_slice).collect::<Vec<_>>(), &weights);
        if !has_stack {
            found.insert(0, if chosen.is_empty() { 1.0 } else { 0.0 });
        }
        let whole = self.fold(None, &[])?;
        let factor = match self.widening(&chosen, &found[1..], watch) {
            Err(Halt::Interrupted) => return Ok(None),
            Err(Halt::Failed(error)) => return Err(error),
            Ok(factor) => factor,
        };
        let (mut members, mut kept) = (Vec::new(), Vec::new());
        if found[0] >= SMALLEST {
            members.push(Member::new(stack, None)?);
            kept.push(found[0]);
        }
        for (chosen, share) in chosen.iter().zip(&found[1..]).filter(|(_, s)| **s >= SMALLEST) {
            let mixture = TMixture::incomplete(&whole, columns, &chosen.components, Some(watch))?;
            let (middles, scales) = self.places;
            let mixture = mixture.widened(factor.unwrap_or(1.0));
            members.push(Member::of_columns(middles, scales, mixture)?);
            kept.push(*share);
            if !watch() {
                return Ok(None);
            }
        }
        let total: f64 = kept.iter().sum();
        kept.iter_mut().for_each(|share| *share /= total);
        let pool = Pool::new(members, kept)?;
        Ok(watch().then_some((pool, factor)))
    }

    /// How much wider mixtures must be so that cells are most probable that are hidden from others of as many components.
    /// A component knows its own rows, and is surer of their cells than it should be.
    fn widening(
        &self,
        chosen: &[ChosenComponents],
        shares: &[f64],
        watch: Watch,
    ) -> std::result::Result<Option<f64>, Halt> {
        let total: f64 = shares.iter().sum();
        let Some(fewer) = self.fewer.as_ref().filter(|_| total >= SMALLEST) else {
            return Ok(None);
        };
        let columns = self.rows.columns();
        let hidden = view(fewer, columns, self.rows.weights())?;
        let whole = self.fold(Some(&hidden), &[])?;
        let mut trials = Vec::new();
        for (chosen, share) in chosen.iter().zip(shares).filter(|(_, s)| **s >= SMALLEST) {
            let mixture = TMixture::incomplete(&whole, columns, &chosen.components, Some(watch))?;
            trials.push((share / total, mixture));
        }
        let units = |rows: &Rows| (0..rows.len()).flat_map(|i| self.unit(&rows.row(i))).collect();
        let (more, less): (Vec<f64>, Vec<f64>) = (units(self.rows), units(&hidden));
        widening(self.rows, |factor| {
            if !watch() {
                return Err(Halt::Interrupted);
            }
            let (mut with, mut without) = (Vec::new(), Vec::new());
            let mut shares = Vec::new();
            for (share, mixture) in &trials {
                let wide = mixture.widened(factor);
                with.push(wide.ln_present(&more)?);
                without.push(wide.ln_present(&less)?);
                shares.push(*share);
            }
            let all = |of: &[Vec<f64>], i: usize| pooled(of.iter().map(|ln_p| ln_p[i]), &shares);
            Ok((0..self.rows.len()).map(|i| all(&with, i) - all(&without, i)).collect())
        })
    }

    /// A row in units of the columns' scales.
    fn unit(&self, row: &[f64]) -> Vec<f64> {
        let (middles, scales) = self.places;
        row.iter().zip(middles).zip(scales).map(|((x, m), s)| (x - m) / s).collect()
    }

    /// The rows in units of the columns' scales, those of a fold held out; with fewer cells where they are given.
    fn fold(&self, fewer: Option<&Rows>, held: &[usize]) -> Result<Fold> {
        let (columns, rows) = (self.rows.columns(), fewer.unwrap_or(self.rows));
        let scales = self.places.1;
        let mut out = vec![false; self.rows.len()];
        held.iter().for_each(|&i| out[i] = true);
        let learned: Vec<usize> = (0..out.len()).filter(|&i| !out[i]).collect();
        let weights = |of: &[usize]| of.iter().map(|&i| self.rows.weight(i)).collect::<Vec<f64>>();
        let holes = |i: usize| {
            let row = rows.row(i);
            (0..columns).filter(|&c| row[c].is_nan()).collect::<Vec<usize>>()
        };
        // What is hidden begins at the middle of its column.
        let guessed = |&i: &usize| {
            let mut x = self.unit(&self.filled[i * columns..][..columns]);
            let (before, now) = (self.rows.row(i), rows.row(i));
            let hidden = |c: &usize| now[*c].is_nan() && !before[*c].is_nan();
            (0..columns).filter(hidden).for_each(|c| x[c] = 0.0);
            x
        };
        let grains = grain::of(self.rows);
        let square = |e: usize| {
            let grain = grains[e / columns] / scales[e / columns];
            if e / columns == e % columns { grain * grain } else { 0.0 }
        };
        Ok(Fold {
            learn: learned.iter().flat_map(guessed).collect(),
            learn_weights: Some(weights(&learned)),
            held: held.iter().flat_map(|&i| self.unit(&self.rows.row(i))).collect(),
            held_weights: Some(weights(held)),
            grain: (0..columns * columns).map(square).collect(),
            missing: learned.iter().map(|&i| holes(i)).collect(),
            prior: self.prior,
        })
    }

    /// ln of the change of a row's volume in these units.
    fn ln_det(&self, i: usize) -> f64 {
        let row = self.rows.row(i);
        let there = row.iter().zip(self.places.1).filter(|(x, _)| !x.is_nan());
        -there.map(|(_, scale)| scale.ln()).sum::<f64>()
    }
}

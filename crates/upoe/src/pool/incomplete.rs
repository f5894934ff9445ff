//! A pool for rows with missing cells: one layer of experts, and mixtures that learn from the cells that are there.

use super::learned::{SMALLEST, shares};
use super::{Member, Pool};
use crate::error::Result;
use crate::grain;
use crate::rows::Rows;
use crate::stack::Stack;
use crate::t_mixture::{ChosenComponents, Fold, TMixture, Watch};

/// A pool of rows with missing cells before it is learned.
pub(crate) struct Incomplete<'a> {
    /// The rows; missing cells are NaN.
    pub rows: &'a Rows<'a>,
    /// The same with a guess in every missing cell, from which mixtures start.
    pub filled: &'a [f64],
    /// The middle of each column, and its scale.
    pub places: (&'a [f64], &'a [f64]),
    /// How far correlations are shrunk.
    pub prior: f64,
}

impl Incomplete<'_> {
    /// The pool of a stack and of mixtures. `held` are ln p of the cells that are there in held-out rows, fold after fold,
    /// by the stack of the other rows. `None` where `watch` says no.
    pub fn pool(
        &self,
        stack: Stack,
        held: Vec<f64>,
        folds: &[Vec<usize>],
        watch: Watch,
    ) -> Result<Option<Pool>> {
        let columns = self.rows.columns();
        let parts: Vec<Fold> = folds.iter().map(|fold| self.fold(fold)).collect::<Result<_>>()?;
        let chosen = ChosenComponents::several(&parts, columns, None, Some(watch))?;
        let order = || folds.iter().flatten();
        let weights: Vec<f64> = order().map(|&i| self.rows.weight(i)).collect();
        let ln_det: Vec<f64> = order().map(|&i| self.ln_det(i)).collect();
        let of_mixture = |chosen: &ChosenComponents| {
            let ln_p = chosen.ln_p.iter().flatten();
            ln_p.zip(&ln_det).map(|(p, d)| p + d).collect::<Vec<f64>>()
        };
        let all: Vec<Vec<f64>> =
            std::iter::once(held).chain(chosen.iter().map(of_mixture)).collect();
        let found = shares(&all.iter().map(Vec::as_slice).collect::<Vec<_>>(), &weights);
        let whole = self.fold(&[])?;
        let (mut members, mut kept) = (Vec::new(), Vec::new());
        if found[0] >= SMALLEST {
            members.push(Member::new(stack, None)?);
            kept.push(found[0]);
        }
        for (chosen, share) in chosen.iter().zip(&found[1..]).filter(|(_, s)| **s >= SMALLEST) {
            let mixture = TMixture::incomplete(&whole, columns, &chosen.components, Some(watch))?;
            let (middles, scales) = self.places;
            members.push(Member::of_columns(middles, scales, mixture)?);
            kept.push(*share);
            if !watch() {
                return Ok(None);
            }
        }
        let total: f64 = kept.iter().sum();
        kept.iter_mut().for_each(|share| *share /= total);
        Ok(watch().then_some(Pool::new(members, kept)?))
    }

    /// The rows in units of the columns' scales, those of a fold held out.
    fn fold(&self, held: &[usize]) -> Result<Fold> {
        let (columns, (middles, scales)) = (self.rows.columns(), self.places);
        let unit = |row: &[f64]| -> Vec<f64> {
            row.iter().zip(middles).zip(scales).map(|((x, m), s)| (x - m) / s).collect()
        };
        let mut out = vec![false; self.rows.len()];
        held.iter().for_each(|&i| out[i] = true);
        let learned: Vec<usize> = (0..out.len()).filter(|&i| !out[i]).collect();
        let weights = |of: &[usize]| of.iter().map(|&i| self.rows.weight(i)).collect::<Vec<f64>>();
        let holes = |i: usize| {
            let row = self.rows.row(i);
            (0..columns).filter(|&c| row[c].is_nan()).collect::<Vec<usize>>()
        };
        let grains = grain::of(self.rows);
        let square = |e: usize| {
            let grain = grains[e / columns] / scales[e / columns];
            if e / columns == e % columns { grain * grain } else { 0.0 }
        };
        Ok(Fold {
            learn: learned
                .iter()
                .flat_map(|&i| unit(&self.filled[i * columns..][..columns]))
                .collect(),
            learn_weights: Some(weights(&learned)),
            held: held.iter().flat_map(|&i| unit(&self.rows.row(i))).collect(),
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

//! What members of a pool are made of, and how each does on rows held out.

use super::Member;
use super::learned::shares_of;
use crate::error::Result;
use crate::grain;
use crate::grow::stack_alone;
use crate::learn::Settings;
use crate::rows::{Rows, view};
use crate::stack::Stack;
use crate::t_mixture::{ChosenComponents, Components, Fold, TMixture, Watch};
use rayon::prelude::*;

/// What a member is made of.
#[derive(Clone, Copy)]
pub struct Recipe {
    columns: bool,
    mixture: bool,
}

const STACKS: [Recipe; 2] =
    [Recipe { columns: false, mixture: false }, Recipe { columns: true, mixture: false }];
const MIXTURES: [Recipe; 2] =
    [Recipe { columns: false, mixture: true }, Recipe { columns: true, mixture: true }];

/// Stacks with a smaller share in the first fold are not tried on the others.
const UNLIKELY: f64 = 0.02;

impl Recipe {
    /// A mixture stands in for the layers.
    fn settings(self, settings: &Settings) -> Settings {
        settings.clone().with(|s| s.depth = if self.mixture { Some(0) } else { s.depth })
    }
}

/// A recipe, tried on every fold.
#[derive(Clone)]
pub struct Tried {
    recipe: Recipe,
    /// ln p of the rows held out, fold after fold.
    pub held: Vec<f64>,
    /// The components that were chosen, where it has any.
    pub components: Option<Components>,
}

/// What a recipe is to a fold: ln p of the rows held out, or what a mixture is chosen by.
enum Part {
    Scores(Vec<f64>),
    Mapped { fold: Fold, ln_det: Vec<f64>, dims: usize },
}

/// What recipes are tried with.
pub struct Trial<'a> {
    pub rows: &'a Rows<'a>,
    pub settings: &'a Settings,
    pub grain: &'a [f64],
    /// Asks whether to go on.
    pub watch: Watch<'a>,
    /// The same after a part.
    pub step: Watch<'a>,
}

impl Trial<'_> {
    /// How many parts a fold has.
    pub const PARTS: usize = STACKS.len() + MIXTURES.len();

    /// All recipes on all folds, but for stacks that have next to no share in the first one; `None` where it
    /// is to end. `weights` are those of the rows held out, fold after fold.
    pub fn all(&self, folds: &[Vec<usize>], weights: &[f64]) -> Result<Option<Vec<Tried>>> {
        let (first, others) = folds.split_at(1.min(folds.len()));
        let on_first = |recipe: &Recipe| self.each(first, *recipe, None);
        let stacks: Vec<Vec<Tried>> = STACKS.par_iter().map(on_first).collect::<Result<_>>()?;
        let mut tried = stacks.concat();
        for recipe in MIXTURES {
            // The columns' experts change little about which components suit.
            let known = tried.iter().find_map(|tried| tried.components);
            tried.extend(self.each(folds, recipe, known)?);
            if !(self.watch)() {
                return Ok(None);
            }
        }
        let seen = &weights[..first.first().map_or(0, Vec::len)];
        let shares = shares_of(&tried, seen);
        let mut kept = Vec::new();
        for (mut tried, share) in tried.into_iter().zip(shares) {
            if !tried.recipe.mixture && !others.is_empty() {
                if share < UNLIKELY {
                    continue;
                }
                let rest = self.each(others, tried.recipe, None)?;
                let Some(rest) = rest.into_iter().next() else { continue };
                tried.held.extend(rest.held);
            }
            kept.push(tried);
        }
        Ok((self.watch)().then_some(kept))
    }

    /// A stack, or mixtures of several numbers of components, of which `known` are taken if they are known.
    /// Nothing where the recipe does not suit the rows, or where `watch` says stop.
    fn each(
        &self,
        folds: &[Vec<usize>],
        recipe: Recipe,
        known: Option<Components>,
    ) -> Result<Vec<Tried>> {
        let Trial { rows, grain, watch, step, .. } = *self;
        let settings = recipe.settings(self.settings);
        let of_fold = |fold: &Vec<usize>| -> Result<Option<Part>> {
            let (train, test) = rows.split(fold);
            let train = view(&train.0, rows.columns(), train.1.as_deref())?;
            let test = view(&test.0, rows.columns(), test.1.as_deref())?;
            let Some(stack) = stack_alone(&train, &settings, recipe.columns, watch)? else {
                return Ok(None);
            };
            let part = if recipe.mixture {
                let ((learn, _), (held, ln_det)) = (stack.mapped(&train)?, stack.mapped(&test)?);
                let weights = |rows: &Rows| rows.weights().map(<[f64]>::to_vec);
                let (learn_weights, held_weights) = (weights(&train), weights(&test));
                let grain = grain::mapped(grain, &stack, &train);
                let (missing, prior) = (Vec::new(), 0.0);
                let fold = Fold { learn, learn_weights, held, held_weights, grain, missing, prior };
                Part::Mapped { fold, ln_det, dims: stack.whitening().dims() }
            } else {
                Part::Scores(stack.score(&test)?)
            };
            Ok(step().then_some(part))
        };
        let parts: Vec<Option<Part>> = folds.par_iter().map(of_fold).collect::<Result<_>>()?;
        let Some(parts) = parts.into_iter().collect::<Option<Vec<Part>>>() else {
            return Ok(Vec::new());
        };
        let (mut held, mut inner, mut ln_dets, mut all_dims) = (vec![], vec![], vec![], vec![]);
        for part in parts {
            match part {
                Part::Scores(scores) => held.extend(scores),
                Part::Mapped { fold, ln_det, dims } => {
                    inner.push(fold);
                    ln_dets.extend(ln_det);
                    all_dims.push(dims);
                }
            }
        }
        let Some(&dims) = all_dims.first() else {
            return Ok(vec![Tried { recipe, held, components: None }]);
        };
        // Rows of all folds must have as many dimensions.
        if all_dims.iter().any(|other| *other != dims) {
            return Ok(Vec::new());
        }
        let with = |chosen: ChosenComponents| {
            let ln_p = chosen.ln_p.iter().flatten().zip(&ln_dets);
            let held = ln_p.map(|(p, ln_det)| p + ln_det).collect();
            Tried { recipe, held, components: Some(chosen.components) }
        };
        let chosen = ChosenComponents::several(&inner, dims, known, Some(watch))?;
        Ok(chosen.into_iter().map(with).collect())
    }

    /// The same on all rows; `None` where it does not suit them, although it suited every fold.
    pub fn finish(&self, tried: Tried, known: Option<&Stack>) -> Result<Option<Member>> {
        let Trial { rows, grain, watch, .. } = *self;
        let Recipe { columns, mixture } = tried.recipe;
        let same = |stack: &&Stack| !mixture && columns != stack.column_experts().is_empty();
        if let Some(stack) = known.filter(same) {
            return Ok(Some(Member::new(stack.clone(), None)?));
        }
        let settings = tried.recipe.settings(self.settings);
        let Some(stack) = stack_alone(rows, &settings, columns, watch)? else {
            return Ok(None);
        };
        // From the start: the axes of rows that are sphered anew are others.
        let fit = |components: Components| -> Result<TMixture> {
            let (x, dims) = (stack.mapped(rows)?.0, stack.whitening().dims());
            let grain = grain::mapped(grain, &stack, rows);
            let weights = rows.weights();
            Ok(TMixture::pooled(&x, dims, weights, &components, &grain, Some(watch))?.mixture)
        };
        let mixture = tried.components.map(fit).transpose()?;
        Ok(Some(Member::new(stack, mixture)?))
    }
}

//! A fitted density of any kind, and how it was found.

use crate::chosen::{Chosen, others};
use crate::density::{Density, averaged};
use crate::error::Result;
use crate::evaluate::{self, Evaluation};
use crate::groups::Groups;
use crate::learn::{LayerRecord, Notice, State, StopReason};
use crate::linalg::dot;
use crate::missing::Filler;
use crate::model::Model;
use crate::pool::Pool;
use crate::rows::{Rows, view};
use crate::stack::Stack;
use std::collections::HashSet;

/// Rows among which groups are looked for.
const SEARCHED: usize = 20_000;

/// A fitted model and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fit {
    /// The model: the first layer with directions.
    pub model: Model,
    /// All layers, where more than one was asked for.
    pub stack: Option<Stack>,
    /// The pool, where one was asked for.
    pub pool: Option<Pool>,
    /// What each layer adds.
    pub layers: Vec<LayerRecord>,
    /// Experts and path, in the order they were learned.
    pub state: State,
    /// Why no further expert was added.
    pub stop: StopReason,
    /// What a user should know.
    pub notices: Vec<Notice>,
    /// Outliers among the training rows that were not learned from, from 0, in rising order.
    pub left_out: Vec<usize>,
}

/// A fitted density of any kind: one layer, a stack of layers, or a pool. The first layer with directions is
/// always there; it is the one to look at.
#[derive(Clone, Copy, Debug)]
pub struct Fitted<'a> {
    /// The first layer with directions.
    pub model: &'a Model,
    /// All layers, where more than one was asked for.
    pub stack: Option<&'a Stack>,
    /// The pool, where one was asked for.
    pub pool: Option<&'a Pool>,
}

impl Fit {
    /// What was found.
    pub fn fitted(&self) -> Fitted<'_> {
        Fitted { model: &self.model, stack: self.stack.as_ref(), pool: self.pool.as_ref() }
    }

    /// The density of the rows: the pool, the stack or the one layer, whichever was asked for.
    pub fn density(&self) -> &dyn Density {
        self.fitted().density()
    }

    /// Scores the rows that the model was learned from and, where there are any, the held-out ones.
    /// `rows` are those that were given to the fit; outliers that it left out do not count.
    pub fn evaluate(&self, rows: &Rows, holdout: Option<&Rows>) -> Result<Evaluation> {
        if self.left_out.is_empty() {
            return self.fitted().evaluate(rows, holdout);
        }
        let near = Chosen::of(rows, &others(rows.len(), &self.left_out));
        self.fitted().evaluate(&near.view(rows.columns())?, holdout)
    }

    /// The groups among the rows that the model was learned from. `rows` are those that were given to
    /// the fit; outliers that it left out and rows with missing cells do not count, unless no row is complete. Of many rows, 20,000 at
    /// even distances are looked at.
    pub fn groups(&self, rows: &Rows) -> Result<Groups> {
        let left_out: HashSet<usize> = self.left_out.iter().copied().collect();
        let counts =
            |i: &usize| !left_out.contains(i) && !rows.row(*i).iter().any(|cell| cell.is_nan());
        let stride = rows.len().div_ceil(SEARCHED).max(1);
        let chosen: Vec<usize> = (0..rows.len()).step_by(stride).filter(counts).collect();
        if chosen.len() == rows.len() {
            return Groups::find(&self.model, rows);
        }
        if chosen.is_empty() {
            // No row is complete: missing cells are drawn once.
            let known =
                |i: &usize| !left_out.contains(i) && rows.row(*i).iter().any(|cell| !cell.is_nan());
            let some: Vec<usize> = (0..rows.len()).step_by(stride).filter(known).collect();
            let near = Chosen::of(rows, &some);
            let near = near.view(rows.columns())?;
            let filler = Filler::new(&self.model, self.model.whitening(), 0)?;
            let drawn = filler.draw(&near, 1, 0)?;
            return Groups::find(&self.model, &view(&drawn, rows.columns(), near.weights())?);
        }
        let near = Chosen::of(rows, &chosen);
        Groups::find(&self.model, &near.view(rows.columns())?)
    }
}

impl<'a> From<&'a Model> for Fitted<'a> {
    fn from(model: &'a Model) -> Self {
        Fitted { model, stack: None, pool: None }
    }
}

impl<'a> Fitted<'a> {
    /// The density of the rows: the pool, the stack or the one layer.
    pub fn density(self) -> &'a dyn Density {
        match (self.pool, self.stack) {
            (Some(pool), _) => pool,
            (None, Some(stack)) => stack,
            (None, None) => self.model,
        }
    }

    /// Whether it is a model of one layer.
    pub fn is_one_layer(self) -> bool {
        self.stack.is_none() && self.pool.is_none()
    }

    /// The projections of rows on the model's directions, N × J: what its experts describe. Where a stack
    /// begins with radial experts, rows pass them first.
    pub fn transform(self, rows: &Rows) -> Result<Vec<f64>> {
        match self.stack.map(|stack| (stack, stack.radial_first())) {
            Some((stack, passed)) if passed > 0 => {
                let x = stack.truncated(passed).normal(rows)?;
                let directions = self.model.directions();
                let z = |x: &[f64]| directions.iter().map(|w| dot(w, x)).collect::<Vec<f64>>();
                Ok(x.chunks_exact(self.model.whitening().dims()).flat_map(z).collect())
            }
            _ => self.model.transform(rows),
        }
    }

    /// The same where cells may be missing (NaN): the expected projections of such rows.
    pub fn transform_present(self, rows: &Rows) -> Result<Vec<f64>> {
        if self.is_one_layer() {
            return self.model.transform_present(rows);
        }
        let j = self.model.experts().len();
        averaged(self.density(), rows, j, |rows| self.transform(rows))
    }

    /// ln p of each row in sphered space.
    pub fn score_sphered(self, rows: &Rows) -> Result<Vec<f64>> {
        match self.is_one_layer() {
            true => self.model.score_sphered(rows),
            false => evaluate::sphered(self.density(), self.model.whitening(), rows),
        }
    }

    /// Scores the training rows and, where there are any, the held-out ones.
    pub fn evaluate(self, rows: &Rows, holdout: Option<&Rows>) -> Result<Evaluation> {
        let complete = rows.is_complete() && holdout.is_none_or(Rows::is_complete);
        if !complete {
            let one_layer = self.is_one_layer();
            return Evaluation::of_known(self.density(), self.model, rows, holdout, one_layer);
        }
        match self.is_one_layer() {
            true => Evaluation::of(self.model, rows, holdout),
            false => {
                let whitening = self.model.whitening();
                Evaluation::against_gaussian(self.density(), whitening, rows, holdout)
            }
        }
    }

    /// The gradient of ln p of a stack or pool at a row.
    pub(crate) fn slope(self, row: &[f64]) -> Result<Vec<f64>> {
        match (self.pool, self.stack) {
            (Some(pool), _) => pool.slope(row),
            (None, Some(stack)) => stack.slope(row),
            (None, None) => {
                Stack::new(Vec::new(), self.model.whitening().clone(), Vec::new())?.slope(row)
            }
        }
    }
}

//! Two tables, Gaussianised by one map.

use super::scores::{quantile, sorted};
use super::statistics::{Sight, View};
use super::{Reference, Settings, Told};
use crate::error::{Error, Result};
use crate::fitter::Fitter;
use crate::learn::Settings as FitSettings;
use crate::linalg::{dot, unit};
use crate::model::Model;
use crate::rows::Rows;
use crate::stack::{Layer, LayerParts, Stack};
use crate::whitening::Whitening;

/// Rows longer than √D plus this are shortened to it, so that no row decides everything.
const REACH: f64 = 6.0;

/// Searched directions that are looked at, at most.
const MOST_FOUND: usize = 24;

/// The rows of A, then those of B, and what the map makes of them.
pub(super) struct Pair {
    map: Stack,
    /// In the units of columns; what is explained is taken out of B step by step.
    pub rows: Vec<f64>,
    pub columns: usize,
    /// Gaussianised: standard normal where the map is right.
    pub x: Vec<f64>,
    pub dims: usize,
    pub of_a: usize,
    pub of_b: usize,
}

impl Pair {
    pub fn new(map: Stack, a: &[f64], b: &[f64], columns: usize) -> Result<Pair> {
        let rows = [a, b].concat();
        let dims = map.whitening().dims();
        let mut x = map.normal(&Rows::new(&rows, columns)?)?;
        let reach = (dims as f64).sqrt() + REACH;
        for x in x.chunks_exact_mut(dims) {
            let length = dot(x, x).sqrt();
            if !(length <= reach) {
                let by = if length.is_finite() { reach / length } else { 0.0 };
                x.iter_mut().for_each(|x| *x = if x.is_finite() { *x * by } else { 0.0 });
            }
        }
        let (of_a, of_b) = (a.len() / columns, b.len() / columns);
        Ok(Pair { map, rows, columns, x, dims, of_a, of_b })
    }

    pub fn whitening(&self) -> &Whitening {
        self.map.whitening()
    }

    /// The directions of columns, of columns given the others, and of the map's experts.
    pub fn views(&self) -> Vec<View> {
        let (whitening, dims) = (self.map.whitening(), self.dims);
        let mut views = Vec::new();
        let mut add = |sight: Sight, w: Vec<f64>| {
            let length = dot(&w, &w);
            if length > 0.0 && length.is_finite() {
                views.push(View { sight, direction: unit(&w) });
            }
        };
        for i in 0..self.columns {
            let column = (0..dims).map(|k| whitening.inverse()[(i, k)]).collect();
            add(Sight::Column(i), column);
        }
        if dims > 1 {
            for i in 0..self.columns {
                add(Sight::Given(i), (0..dims).map(|k| whitening.matrix()[(k, i)]).collect());
            }
        }
        for layer in self.map.layers() {
            if let Layer::Directions(layer) = layer {
                layer.directions().iter().for_each(|w| add(Sight::Found, w.clone()));
            }
        }
        let mut found = 0;
        views.retain(|view| {
            found += usize::from(view.sight == Sight::Found);
            view.sight != Sight::Found || found <= MOST_FOUND
        });
        views
    }

    /// Rows before the layers of the map: sphered, and of columns with an expert of their own, Gaussianised.
    pub fn sphered(&self) -> impl Iterator<Item = Vec<f64>> {
        self.rows.chunks_exact(self.columns).map(|row| self.map.sphered(row).0)
    }

    /// The values of a column, in its units.
    pub fn column(&self, i: usize) -> Vec<f64> {
        self.rows.chunks_exact(self.columns).map(|row| row[i]).collect()
    }

    /// Projections of all rows on a direction.
    pub fn along(&self, direction: &[f64]) -> Vec<f64> {
        self.x.chunks_exact(self.dims).map(|x| dot(x, direction)).collect()
    }

    /// Moves the rows of B along a direction until their projections are distributed as those of A.
    pub fn undo(&mut self, direction: &[f64]) -> Result<()> {
        let z = self.along(direction);
        let (a, b) = z.split_at(self.of_a);
        let moved = carried(a, b);
        let rows = self.x[self.of_a * self.dims..].chunks_exact_mut(self.dims);
        for ((x, from), to) in rows.zip(b).zip(&moved) {
            x.iter_mut().zip(direction).for_each(|(x, w)| *x += (to - from) * w);
        }
        self.restore()
    }

    /// Moves the rows of B along their rays until their lengths are distributed as those of A.
    pub fn undo_lengths(&mut self) -> Result<()> {
        let lengths: Vec<f64> = self.x.chunks_exact(self.dims).map(|x| dot(x, x).sqrt()).collect();
        let (a, b) = lengths.split_at(self.of_a);
        let moved = carried(a, b);
        let rows = self.x[self.of_a * self.dims..].chunks_exact_mut(self.dims);
        for ((x, from), to) in rows.zip(b).zip(&moved) {
            if *from > 0.0 {
                x.iter_mut().for_each(|x| *x *= to / from);
            }
        }
        self.restore()
    }

    /// The rows of B in the units of columns, after a move.
    fn restore(&mut self) -> Result<()> {
        use rayon::prelude::*;
        let (map, dims) = (&self.map, self.dims);
        let moved = &self.x[self.of_a * dims..];
        let rows: Result<Vec<Vec<f64>>> =
            moved.par_chunks_exact(dims).map(|x| map.inverse(x)).collect();
        self.rows.truncate(self.of_a * self.columns);
        self.rows.extend(rows?.into_iter().flatten());
        Ok(())
    }
}

/// The quantiles of A at the ranks of the values of B.
fn carried(a: &[f64], b: &[f64]) -> Vec<f64> {
    let a = sorted(a);
    let mut order: Vec<usize> = (0..b.len()).collect();
    order.sort_by(|&i, &j| b[i].total_cmp(&b[j]));
    let mut moved = vec![0.0; b.len()];
    for (rank, i) in order.into_iter().enumerate() {
        moved[i] = quantile(&a, (rank as f64 + 0.5) / b.len() as f64);
    }
    moved
}

/// A one-layer model as a map. Directions that are not orthonormal have none: then the rows are sphered only.
pub(super) fn map_of(model: &Model) -> Result<Stack> {
    let (directions, experts) = (model.directions().to_vec(), model.experts().to_vec());
    let dims = model.whitening().dims();
    let parts = LayerParts::Directions { directions, experts };
    let layers = match Layer::from_parts(parts, dims) {
        Ok(layer) => vec![layer],
        Err(_) => Vec::new(),
    };
    Stack::new(Vec::new(), model.whitening().clone(), layers)
}

impl Reference<'_> {
    /// Tables are exchangeable under a map that does not know which row is whose: it is learned from all rows of
    /// both, in an order of their own. A given model is a map that has seen neither the rows of B nor those drawn.
    pub(super) fn pair<E: From<Error> + Send>(
        &self,
        b: &Rows,
        settings: &Settings,
        told: &mut Told<E>,
    ) -> std::result::Result<Pair, E> {
        let (a, map) = match self {
            Reference::Rows(a) => (all(a), None),
            Reference::Model { density, map } => {
                let drawn = (4 * b.len()).clamp(2_000, super::MOST_ROWS);
                (density.sample(drawn, settings.seed), Some((*map).clone()))
            }
        };
        let (b, columns) = (all(b), b.columns());
        let map = match map {
            Some(map) => map,
            None => {
                let both = [&a[..], &b].concat();
                fitted(&in_order(&both, columns), columns, settings, told)?
            }
        };
        Ok(Pair::new(map, &a, &b, columns)?)
    }
}

/// A map learned from rows.
pub(super) fn fitted<E: From<Error> + Send>(
    rows: &[f64],
    columns: usize,
    settings: &Settings,
    told: &mut Told<E>,
) -> std::result::Result<Stack, E> {
    let asked =
        FitSettings::default().with(|s| (s.depth, s.seed) = (settings.depth, settings.seed));
    let rows = Rows::new(rows, columns)?;
    let mut ended = None;
    let fit = Fitter::new(asked).observe(|_| match told.step("fitting", 0, 0, "") {
        Ok(()) => true,
        Err(error) => {
            ended = Some(error);
            false
        }
    });
    let fit = fit.fit(&rows)?;
    if let Some(error) = ended {
        return Err(error);
    }
    Ok(match fit.stack {
        Some(stack) => stack,
        None => map_of(&fit.model)?,
    })
}

/// All values, in double precision.
fn all(rows: &Rows) -> Vec<f64> {
    (0..rows.len()).flat_map(|i| rows.row(i).into_owned()).collect()
}

/// The rows in rising order, so that nothing depends on which table they are of.
pub(super) fn in_order(values: &[f64], columns: usize) -> Vec<f64> {
    let mut rows: Vec<&[f64]> = values.chunks_exact(columns).collect();
    let compare = |a: &&[f64], b: &&[f64]| {
        let mut cells = a.iter().zip(*b).map(|(a, b)| a.total_cmp(b));
        cells.find(|o| o.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    };
    rows.sort_by(compare);
    rows.concat()
}

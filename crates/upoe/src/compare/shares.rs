//! Groups among the rows of both tables: a change of their shares is a shift of the mean chance of being in them.

use super::pair::in_order;
use super::statistics::{Sight, View};
use crate::error::Result;
use crate::groups::Groups;
use crate::linalg::unit;
use crate::model::Model;
use crate::rows::Rows;
use crate::whitening::{Dims, Whitening};

/// Groups whose own means differ by more standard errors than this have moved.
const MOVED: f64 = 3.0;

/// Groups that were found without knowing which row is whose.
pub(super) struct Shares {
    model: Model,
    groups: Groups,
}

impl Shares {
    /// The groups among rows; `None` where there is one.
    pub fn of(rows: &[f64], columns: usize) -> Result<Option<Shares>> {
        let sorted = in_order(rows, columns);
        let rows = Rows::new(&sorted, columns)?;
        let model = Model::new(Whitening::fit(&rows, Dims::All)?, Vec::new(), Vec::new())?;
        let groups = Groups::find(&model, &rows)?;
        Ok((groups.count() > 1).then_some(Shares { model, groups }))
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.groups.count()
    }

    /// The chance of each row to be in each group: one vector per group.
    pub fn chances(&self, rows: &[f64], columns: usize) -> Result<Vec<Vec<f64>>> {
        let chances = self.groups.probabilities(&self.model, &Rows::new(rows, columns)?)?;
        let of = |k: usize| chances.iter().skip(k).step_by(self.count()).copied().collect();
        Ok((0..self.count()).map(of).collect())
    }

    /// What a group is called.
    pub fn name(&self, group: usize, columns: &[String]) -> String {
        self.groups.names(columns).swap_remove(group)
    }

    /// The columns that name a group.
    pub fn columns(&self, group: usize) -> Vec<usize> {
        self.groups.groups()[group].clauses.iter().map(|c| c.difference.column).collect()
    }
}

/// The direction from all other rows to a group, by each row's chance to be in it.
pub(super) fn towards(x: &[f64], dims: usize, chances: &[f64]) -> View {
    let (mut inside, mut outside) = (vec![0.0; dims], vec![0.0; dims]);
    let (mut of_inside, mut of_outside) = (0.0, 0.0);
    for (x, chance) in x.chunks_exact(dims).zip(chances) {
        inside.iter_mut().zip(x).for_each(|(sum, x)| *sum += chance * x);
        outside.iter_mut().zip(x).for_each(|(sum, x)| *sum += (1.0 - chance) * x);
        of_inside += chance;
        of_outside += 1.0 - chance;
    }
    let means = inside.iter().zip(&outside);
    let between: Vec<f64> = means.map(|(a, b)| a / of_inside - b / of_outside).collect();
    View { sight: Sight::Found, direction: unit(&between) }
}

/// Whether groups lie along a line where they lay: only their shares have changed. `chances` has one vector per group; the
/// first `of_a` values are those of A.
pub(super) fn stayed(z: &[f64], chances: &[Vec<f64>], of_a: usize) -> bool {
    let moments = |rows: std::ops::Range<usize>, chances: &[f64]| {
        let (z, chances) = (&z[rows.clone()], &chances[rows]);
        let total: f64 = chances.iter().sum();
        let mean = z.iter().zip(chances).map(|(z, w)| w * z).sum::<f64>() / total;
        let square = z.iter().zip(chances).map(|(z, w)| w * (z - mean).powi(2)).sum::<f64>();
        (mean, square / (total * total), total)
    };
    chances.iter().all(|chances| {
        let (a, error_a, rows_a) = moments(0..of_a, chances);
        let (b, error_b, rows_b) = moments(of_a..z.len(), chances);
        rows_a.min(rows_b) < 5.0 || (a - b).abs() <= MOVED * (error_a + error_b).sqrt()
    })
}

//! Which groups are there?
//!
//! Rows form groups where a direction shows a valley between them that is deeper than what the same
//! search finds in rows with one mode, whatever their shape (`valley.rs`). Groups of several
//! directions combine. A mixture with one Student-t component per group then gives every row, also
//! a new one, its probabilities: they depend on that row alone.

mod agreement;
mod axes;
mod one_mode;
mod pairs;
mod partition;
mod power;
mod profile;
mod scale;
mod sphered;
mod split;
mod valley;
mod words;

pub use agreement::{Agreement, adjusted_rand};
pub use profile::{Clause, Difference, Group};
pub use words::{Described, NO_GROUPS, Told};

use crate::error::{Error, Result, invalid};
use crate::missing::Filler;
use crate::model::Model;
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use crate::t_mixture::{Components, TMixture};
use axes::Axes;
use partition::sizes;
use profile::profiles;
use rand::RngExt;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sphered::scatter;

/// Groups are looked for in at most this many rows.
const MOST_ROWS: usize = 3_000;
/// Up to this many rows their order does not matter.
const CANONICAL: usize = 10_000;
/// How often the missing cells of a row are drawn, to tell its group.
const DRAWS: usize = 64;
/// Degrees of freedom of the components.
const DEGREES: f64 = 10.0;
/// Values farther out count as this far out: their squares do not overflow.
const FARTHEST: f64 = 1e100;

/// The groups of a table's rows, the largest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Groups {
    groups: Vec<Group>,
    /// One component per group, over the axes; `None` where there is one group.
    mixture: Option<TMixture>,
    axes: Axes,
    /// How many groups were too small and were merged into others.
    merged: usize,
}

#[derive(Deserialize)]
struct Stored {
    groups: Vec<Group>,
    mixture: Option<TMixture>,
    axes: Axes,
    merged: usize,
}

impl TryFrom<Stored> for Groups {
    type Error = Error;

    fn try_from(stored: Stored) -> Result<Self> {
        let Stored { groups, mixture, axes, merged } = stored;
        let sound = match &mixture {
            Some(mixture) => mixture.count() == groups.len() && axes.fit(mixture.dims()),
            None => groups.len() == 1 && axes.fit(axes.count()),
        };
        if !sound {
            return invalid("groups", "their parts", "must fit together");
        }
        Ok(Groups { groups, mixture, axes, merged })
    }
}

impl Groups {
    /// Finds groups among the rows that a model was fitted to.
    pub fn find(model: &Model, rows: &Rows) -> Result<Self> {
        model.whitening().check_columns(rows.columns())?;
        rows.check()?;
        let values = searched(rows)?;
        let chosen = view(&values, rows.columns(), None)?;
        let scale::Found { axes, x, partition: found } = scale::search(model, &chosen, &values)?;
        let d = axes.count();
        let count = found.labels.iter().max().map_or(1, |l| l + 1);
        let mixture = if count > 1 { Some(components(&x, d, &found.labels, count)?) } else { None };
        let mut groups = Groups { groups: Vec::new(), mixture, axes, merged: found.merged };
        let labels = labels_of(&groups.on_axes(&x, count)?, count);
        let mut size = vec![0.0; count];
        for start in (0..rows.len()).step_by(CANONICAL) {
            let part = rows.slice(start..(start + CANONICAL).min(rows.len()));
            let shares = groups.on_axes(&groups.axes.project(model, &part)?, count)?;
            for (i, label) in labels_of(&shares, count).into_iter().enumerate() {
                size[label] += part.weight(i);
            }
        }
        groups.groups = profiles(&values, rows.columns(), &labels, &size);
        Ok(groups)
    }

    /// The groups, the largest first.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Whether they belong to a model of this kind: rows of as many dimensions.
    pub fn suit(&self, model: &Model) -> bool {
        let columns = model.whitening().columns();
        let known = |d: &Difference| d.column < columns;
        let named = |c: &Clause| known(&c.difference) && c.given.is_none_or(|j| j < columns);
        let sound = |g: &Group| g.profile.iter().all(known) && g.clauses.iter().all(named);
        self.axes.suit(model) && self.groups.iter().all(sound)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// The name of each group, given those of the columns.
    pub fn names(&self, columns: &[String]) -> Vec<String> {
        profile::names(&self.groups, columns)
    }

    /// How many groups were too small and were merged into others.
    pub fn merged(&self) -> usize {
        self.merged
    }

    /// The chance of each row to be of each group: N × groups, row after row. Of a row with missing
    /// cells, it is the mean over draws of them, given the row's other values.
    pub fn probabilities(&self, model: &Model, rows: &Rows) -> Result<Vec<f64>> {
        model.whitening().check_columns(rows.columns())?;
        rows.check_present()?;
        if rows.is_complete() {
            return self.on_axes(&self.axes.project(model, rows)?, self.count());
        }
        let filler = Filler::new(model, model.whitening(), 0)?;
        let of_row = |i: usize| {
            let row = rows.slice(i..i + 1);
            if row.is_complete() {
                return self.probabilities(model, &row);
            }
            // Its number is always 0: the result depends on the row alone.
            let drawn = filler.draw(&row, DRAWS, 0)?;
            let shares = self.probabilities(model, &view(&drawn, rows.columns(), None)?)?;
            let mean = |k| shares.iter().skip(k).step_by(self.count()).sum::<f64>() / DRAWS as f64;
            Ok((0..self.count()).map(mean).collect())
        };
        let shares: Result<Vec<Vec<f64>>> = (0..rows.len()).into_par_iter().map(of_row).collect();
        Ok(shares?.concat())
    }

    /// The most probable group of each row, from 0.
    pub fn labels(&self, model: &Model, rows: &Rows) -> Result<Vec<usize>> {
        Ok(labels_of(&self.probabilities(model, rows)?, self.count()))
    }

    /// The most probable group of each row, given the probabilities of `count` groups.
    pub fn most_probable(shares: &[f64], count: usize) -> Vec<usize> {
        labels_of(shares, count)
    }

    fn on_axes(&self, x: &[f64], count: usize) -> Result<Vec<f64>> {
        match &self.mixture {
            Some(mixture) => mixture.responsibilities(x),
            None => Ok(vec![1.0; x.len() / self.axes.count() * count]),
        }
    }
}

fn labels_of(shares: &[f64], count: usize) -> Vec<usize> {
    let largest = |row: &[f64]| {
        let mut best = 0;
        (1..row.len()).for_each(|k| best = if row[k] > row[best] { k } else { best });
        best
    };
    shares.chunks_exact(count).map(largest).collect()
}

/// The rows that are searched: each distinct row once, at most [`MOST_ROWS`], of more rows some at
/// random with chances by weight.
fn searched(rows: &Rows) -> Result<Vec<f64>> {
    let columns = rows.columns();
    if rows.len() <= CANONICAL {
        let values = rows.canonical().0;
        if values.len() / columns <= MOST_ROWS {
            return Ok(values);
        }
        return Ok(some(&view(&values, columns, None)?));
    }
    let values = some(rows);
    Ok(view(&values, columns, None)?.canonical().0)
}

fn some(rows: &Rows) -> Vec<f64> {
    let mut rng = random::stream(0, Use::Rows, MOST_ROWS as u64);
    let mut keys: Vec<(f64, usize)> = (0..rows.len())
        .map(|i| (-rng.random_range(f64::EPSILON..1.0_f64).ln() / rows.weight(i), i))
        .collect();
    keys.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen: Vec<usize> = keys[..MOST_ROWS].iter().map(|k| k.1).collect();
    chosen.sort_unstable();
    rows.pick(&chosen).0
}

/// One component per group, learned further by EM, the largest group first.
fn components(x: &[f64], d: usize, labels: &[usize], count: usize) -> Result<TMixture> {
    let size = sizes(labels, count);
    let n = labels.len() as f64;
    let means = partition::means(x, d, labels, count);
    let within = scatter(x, d, &vec![1.0; labels.len()], |i| &means[labels[i]]);
    let shrinkage = d as f64;
    let (mut weights, mut centres, mut covariances) = (Vec::new(), Vec::new(), Vec::new());
    for k in 0..count {
        let own: Vec<f64> = labels.iter().map(|l| if *l == k { 1.0 } else { 0.0 }).collect();
        let own = scatter(x, d, &own, |_| &means[k]);
        let rows = size[k] as f64;
        let shrunk = own.iter().zip(&within).enumerate().map(|(i, (own, within))| {
            let floor = if i / d == i % d { 1e-6 } else { 0.0 };
            (own + shrinkage * within / n) / (rows + shrinkage) + floor
        });
        covariances.extend(shrunk);
        centres.extend(&means[k]);
        weights.push((rows + 1.0) / (n + count as f64));
    }
    let components = Components { count, shrinkage, degrees: DEGREES };
    let start = TMixture::from_parts(d, DEGREES, weights, centres, covariances)?;
    let learned = start.continued(x, None, &components)?.mixture;
    let of = |mixture: &TMixture| -> Result<Vec<usize>> {
        Ok(sizes(&labels_of(&mixture.responsibilities(x)?, count), count))
    };
    // EM must not lose a group.
    let mut found = of(&learned)?;
    let lost = found.iter().any(|s| (*s as f64) < split::smallest(labels.len()));
    let kept = if lost { start } else { learned };
    if lost {
        found = of(&kept)?;
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(found[k]));
    Ok(kept.reordered(&order))
}

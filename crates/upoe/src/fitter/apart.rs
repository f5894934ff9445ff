//! Far rows that lie together, as a rare group does. One layer holds them along one direction, at right angles to
//! which it describes the others. That costs nothing where the others are Gaussian, and much where they have
//! structure that lies across: the directions of independent columns cannot all be taken any more.

use super::{Fitter, in_memory};
use crate::chosen::{Chosen, others};
use crate::error::Result;
use crate::expert::Family;
use crate::learn::{Event, Families, Settings, State, Stop, StopReason};
use crate::linalg::dot;
use crate::model::Model;
use crate::moments::MomentsOf;
use crate::outliers::{ALIKE, Sphered};
use crate::rows::Rows;
use crate::whitening::Whitening;

/// Layers are compared on evenly spaced rows, at least this many where there are as many.
const COMPARED: usize = 2_000;
/// With fewer far rows among those compared, nothing can be said.
const FEWEST: usize = 5;

/// A row that is far away: its weight, and where it lies when the others are sphered.
type Far = (f64, Vec<f64>);

impl Fitter<'_> {
    /// Leaves out the far rows that lie together if they spoil one layer of the others. Two populations, the layer
    /// of the others and a normal group for each direction in which far rows lie, must be so much more probable than
    /// one layer of all that it pays for the groups' parameters and for naming their rows, which are lost.
    pub(super) fn set_apart(
        &mut self,
        rows: &Rows,
        sphered: &mut Sphered,
        moments: &MomentsOf,
    ) -> Result<()> {
        if sphered.together.is_empty() || self.settings.depth != Some(1) || self.settings.pool {
            return Ok(());
        }
        if self.spoil(rows, sphered, moments)? {
            sphered.left_out.append(&mut sphered.together);
            sphered.left_out.sort_unstable();
            let near = Chosen::of(rows, &others(rows.len(), &sphered.left_out));
            let near = near.view(rows.columns())?;
            sphered.whitening = Whitening::fit_by(&near, self.settings.dims, moments)?;
        }
        Ok(())
    }

    fn spoil(&mut self, rows: &Rows, sphered: &Sphered, moments: &MomentsOf) -> Result<bool> {
        let known = others(rows.len(), &sphered.left_out);
        let step = (known.len() / COMPARED).max(1);
        let all: Vec<usize> = known.into_iter().step_by(step).collect();
        let is_far = |i: &usize| sphered.together.binary_search(i).is_ok();
        let (far, near): (Vec<usize>, Vec<usize>) = all.iter().partition(|i| is_far(i));
        if far.len() < FEWEST {
            return Ok(false);
        }
        let Some(one) = self.layer(rows, &all, moments)? else { return Ok(false) };
        let Some(two) = self.layer(rows, &near, moments)? else { return Ok(false) };
        let whitening = two.whitening();
        if whitening.dims() != one.whitening().dims() {
            return Ok(false);
        }
        let sum = |chosen: &[usize], ln_p: &[f64]| -> f64 {
            chosen.iter().zip(ln_p).map(|(&i, ln_p)| rows.weight(i) * ln_p).sum()
        };
        let score = |model: &Model, chosen: &[usize]| -> Result<f64> {
            let picked = Chosen::of(rows, chosen);
            Ok(sum(chosen, &model.score(&picked.view(rows.columns())?)?))
        };
        let weight = |chosen: &[usize]| chosen.iter().map(|&i| rows.weight(i)).sum::<f64>();
        let (total, outside) = (weight(&all), weight(&far));
        let place = |&i: &usize| {
            let row = rows.row(i);
            let u = whitening.sphere_row(&row);
            (whitening.ln_jacobian(&row, &u), (rows.weight(i), u))
        };
        let (scales, far): (Vec<f64>, Vec<Far>) = far.iter().map(place).unzip();
        let scale: f64 = scales.iter().zip(&far).map(|(scale, far)| scale * far.0).sum();
        let groups = groups(&far);
        let of_groups: f64 = groups.iter().map(|group| ln_likelihood(group, total)).sum();
        let share = outside / total;
        let naming = -(share * share.ln() + (1.0 - share) * (1.0 - share).ln());
        let two = score(&two, &near)? + (total - outside) * (1.0 - share).ln() + scale + of_groups;
        let gain = (two - score(&one, &all)?) / total;
        let parameters = (groups.len() * (whitening.dims() + 3)) as f64;
        Ok(gain > naming + 0.5 * parameters * total.ln() / total)
    }

    /// The layer of some rows; `None` where the observer stops it.
    fn layer(
        &mut self,
        rows: &Rows,
        chosen: &[usize],
        moments: &MomentsOf,
    ) -> Result<Option<Model>> {
        let settings = trial(&self.settings);
        let picked = Chosen::of(rows, chosen);
        let picked = picked.view(rows.columns())?;
        let whitening = Whitening::fit_by(&picked, settings.dims, moments)?;
        let engine = in_memory::<f64>(&whitening, &picked, self.prior == 0.0)?;
        let once = self.once.as_ref().map(|once| chosen.iter().map(|&i| once[i]).collect());
        let (observer, state) = (&mut self.observer, State::default());
        let watch = |_: &Event| observer(&Event::Pass { expert: 0, gain: 0.0, state: &state });
        let fitter = Fitter { once, ..Fitter::new(settings).observe(watch) };
        let fit = fitter.learn(whitening, None, &*engine, None)?;
        Ok((fit.stop != StopReason::Interrupted).then_some(fit.model))
    }
}

/// Settings of a layer that is only compared.
fn trial(settings: &Settings) -> Settings {
    settings.clone().with(|s| {
        s.sample = None;
        if s.families == Families::default() {
            // The smooth family alone: both layers lack the others alike.
            s.families = Family::Tilt.into();
        }
        if s.stop == Some(Stop::Holdout) {
            s.stop = None;
        }
    })
}

/// Far rows by the directions in which they lie, on both sides.
fn groups(far: &[Far]) -> Vec<Vec<&Far>> {
    let mut groups: Vec<Vec<&Far>> = Vec::new();
    for row in far {
        let like = |group: &&mut Vec<&Far>| {
            let (u, v) = (&row.1, &group[0].1);
            dot(u, v).powi(2) > ALIKE * dot(u, u) * dot(v, v)
        };
        match groups.iter_mut().find(like) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// The ln likelihood of a group: its share, and a normal density with one width along its direction and one
/// across. No width is less than that of the others: what counts is that the rows lie elsewhere.
fn ln_likelihood(group: &[&Far], total: f64) -> f64 {
    let weight: f64 = group.iter().map(|far| far.0).sum();
    let dims = group[0].1.len();
    let mut mean = vec![0.0; dims];
    let mut along = vec![0.0; dims];
    for (w, u) in group {
        let side = dot(u, &group[0].1).signum();
        for k in 0..dims {
            mean[k] += w * u[k] / weight;
            along[k] += w * side * u[k];
        }
    }
    let length = dot(&along, &along).sqrt();
    let (mut whole, mut lengthwise) = (0.0, 0.0);
    for (w, u) in group {
        let d: Vec<f64> = u.iter().zip(&mean).map(|(u, m)| u - m).collect();
        lengthwise += w * (dot(&d, &along) / length).powi(2) / weight;
        whole += w * dot(&d, &d) / weight;
    }
    let ln_normal = |variance: f64, dims: f64| {
        let width = (variance / dims).max(1.0);
        -0.5 * (dims * (std::f64::consts::TAU * width).ln() + variance / width)
    };
    let across = if dims > 1 { ln_normal(whole - lengthwise, (dims - 1) as f64) } else { 0.0 };
    weight * ((weight / total).ln() + ln_normal(lengthwise, 1.0) + across)
}

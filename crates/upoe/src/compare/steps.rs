//! Step by step: what differs most is named and taken out of B, and the rest is tested again.

use super::change::{Change, Found, Place};
use super::exchange::Exchange;
use super::line::Line;
use super::pair::Pair;
use super::scores::{ORDERS, hermite, normal_scores, standardise};
use super::shares::{Shares, stayed, towards};
use super::statistics::{Different, Function, Seen, Sight, Tests, View};
use super::{Settings, Told, pursuit};
use crate::error::{Error, Result};
use crate::linalg::{dot, orthonormal, unit};

/// Steps at most.
const MOST: usize = 8;

/// The share of the level for what all rows show; pursuit has the rest.
pub(super) const SHARE: f64 = 0.9;

/// A column is preferred to anything else that scores no more than this share better, because it is easier to read.
const PLAIN: f64 = 0.85;

/// Rows that are named as driving a change.
const ROWS: usize = 5;

/// What was found.
pub(super) struct Explained {
    pub p_value: f64,
    pub changes: Vec<Change>,
}

/// Tests, names, takes out, and tests again.
pub(super) fn explain<E: From<Error> + Send>(
    pair: &mut Pair,
    names: &[String],
    settings: &Settings,
    told: &mut Told<E>,
) -> std::result::Result<Explained, E> {
    let views = pair.views();
    told.step("finding groups", 0, 0, "")?;
    let shares = Shares::of(&pair.rows, pair.columns)?;
    let mut explained = Explained { p_value: 1.0, changes: Vec::new() };
    for step in 0..MOST {
        let (rows, of_b) = (pair.of_a + pair.of_b, pair.of_b);
        let seed = settings.seed.wrapping_add(step as u64);
        let exchange = Exchange { rows, of_b, times: settings.exchanges, seed };
        let chances = match &shares {
            Some(shares) => shares.chances(&pair.rows, pair.columns)?,
            None => Vec::new(),
        };
        let seen = Seen { x: &pair.x, dims: pair.dims, views: &views, chances: &chances };
        let tests = Tests::of(seen, &exchange, told)?;
        let p_value = (tests.p_value / SHARE).min(1.0);
        if step == 0 {
            explained.p_value = p_value;
        }
        if p_value > settings.level {
            break;
        }
        let told_so_far = explained.changes.len();
        let groups = shares.as_ref().map(|shares| (shares, &chances[..]));
        let (tests, level, beyond) = (&tests, settings.level, step > 0);
        let namer = Namer { names, tests, groups, level, beyond };
        namer.step(pair, &views, &mut explained.changes)?;
        // A later change is no surer than those before it.
        for k in told_so_far.max(1)..explained.changes.len() {
            let before = explained.changes[told_so_far.max(1) - 1].p_value;
            explained.changes[k].p_value = explained.changes[k].p_value.max(before).max(p_value);
        }
    }
    if let Some(found) = pursuit::found(pair, settings, told)? {
        let p_value = (found.p_value / (1.0 - SHARE)).min(1.0);
        if explained.changes.is_empty() {
            explained.p_value = explained.p_value.min(p_value);
        }
        if p_value <= settings.level {
            let line = Line::of(pair, &found.view, names)?;
            let (a, b) = line.values.split_at(pair.of_a);
            let (beyond, place) = (!explained.changes.is_empty(), line.place.clone());
            let rows = driving(pair, &found.view.direction, found.order);
            let change = Found { place, p_value, beyond, rows, a, b };
            explained
                .changes
                .push(change.of_groups().unwrap_or_else(|line| line.of_order(found.order)));
        }
    }
    Ok(explained)
}

/// Names what a step found.
struct Namer<'a> {
    names: &'a [String],
    tests: &'a Tests,
    /// The groups, and the chance of each row to be in each.
    groups: Option<(&'a Shares, &'a [Vec<f64>])>,
    level: f64,
    beyond: bool,
}

impl Namer<'_> {
    /// Names what differs most, and takes it out of B.
    fn step(&self, pair: &mut Pair, views: &[View], changes: &mut Vec<Change>) -> Result<()> {
        let known = changes.len();
        match self.most(pair, views) {
            Some(Different { function: Function::Pair(a, b), p_value, difference, .. }) => {
                let pair_of = [&views[a], &views[b]];
                changes.push(self.correlation(pair, pair_of, difference.signum(), p_value));
                for direction in principal(pair, pair_of.map(|v| v.direction.clone())) {
                    pair.undo(&direction)?;
                }
            }
            Some(Different {
                function: Function::Length { order }, p_value, difference, ..
            }) => {
                let lengths: Vec<f64> =
                    pair.x.chunks_exact(pair.dims).map(|x| dot(x, x).sqrt()).collect();
                let (a, b) = lengths.split_at(pair.of_a);
                let rows = most_of(&normal_scores(&lengths), order, difference, pair.of_a);
                let (place, p_value) = (Place::Everywhere, self.corrected(p_value));
                changes
                    .push(Found { place, p_value, beyond: self.beyond, rows, a, b }.of_distance());
                pair.undo_lengths()?;
            }
            Some(Different { function: Function::View { view, order }, .. }) => {
                self.line(pair, &views[view], Some((view, order)), changes)?;
                pair.undo(&views[view].direction)?;
            }
            Some(Different { function: Function::Share(k), p_value, .. }) => {
                if let Some((shares, chances)) = self.groups {
                    let view = towards(&pair.x, pair.dims, &chances[k]);
                    changes.push(self.share(pair, shares, (k, &chances[k]), &view, p_value));
                    pair.undo(&view.direction)?;
                }
            }
            _ => {
                let found = self.tests.anywhere(pair.dims, views).into_iter().zip([1, 2, 1]);
                let found = found.filter_map(|(found, order)| Some((found?, order)));
                let better = found.max_by(|((_, s), _), ((_, t), _)| s.total_cmp(t));
                let Some(((direction, _), order)) = better else { return Ok(()) };
                let view = View { sight: Sight::Found, direction: unit(&direction) };
                self.line(pair, &view, None, changes)?;
                if changes.len() == known {
                    let p_value = self.corrected(self.tests.p_value);
                    self.push(pair, &view, order, p_value, changes)?;
                }
                pair.undo(&view.direction)?;
            }
        }
        Ok(())
    }

    fn corrected(&self, p_value: f64) -> f64 {
        (p_value / SHARE).min(1.0)
    }

    /// The function that can be named and differs most; the share of a group or a column where it is nearly as good.
    fn most(&self, pair: &Pair, views: &[View]) -> Option<Different> {
        let significant = |d: &Different| self.corrected(d.p_value) <= self.level;
        let all = self.tests.named().filter(significant);
        let all: Vec<Different> = all.filter(|d| self.only_share(pair, d.function)).collect();
        let best = all.iter().map(|d| d.score).fold(f64::NEG_INFINITY, f64::max);
        let readable = |d: &Different| match d.function {
            Function::View { view, .. } => match views[view].sight {
                Sight::Column(_) => 1,
                Sight::Given(_) => 2,
                Sight::Found => 4,
            },
            Function::Pair(..) => 3,
            Function::Share(_) => 0,
            _ => 5,
        };
        let close = all.into_iter().filter(|d| d.score >= PLAIN * best);
        close.min_by(|a, b| readable(a).cmp(&readable(b)).then(b.score.total_cmp(&a.score)))
    }

    /// Of the shares of groups those that have changed while the groups stayed where they were.
    fn only_share(&self, pair: &Pair, function: Function) -> bool {
        match (function, self.groups) {
            (Function::Share(k), Some((_, chances))) => {
                let view = towards(&pair.x, pair.dims, &chances[k]);
                stayed(&pair.along(&view.direction), chances, pair.of_a)
            }
            _ => true,
        }
    }

    fn share(
        &self,
        pair: &Pair,
        shares: &Shares,
        (group, chances): (usize, &[f64]),
        view: &View,
        p_value: f64,
    ) -> Change {
        let columns = shares.columns(group).into_iter().map(|j| self.names[j].clone()).collect();
        let place = Place::Group { name: shares.name(group, self.names), columns };
        let z = pair.along(&view.direction);
        let (a, b) = z.split_at(pair.of_a);
        let (in_a, in_b) = chances.split_at(pair.of_a);
        let sign = in_b.iter().sum::<f64>() / in_b.len() as f64
            - in_a.iter().sum::<f64>() / in_a.len() as f64;
        let rows = largest(in_b, sign);
        let (p_value, beyond) = (self.corrected(p_value), self.beyond);
        Found { place, p_value, beyond, rows, a, b }.of_share(in_a, in_b)
    }

    /// Names all that differs along a view: its groups, or its mean, then its spread with the means made equal, then its
    /// shape.
    fn line(
        &self,
        pair: &Pair,
        view: &View,
        picked: Option<(usize, usize)>,
        changes: &mut Vec<Change>,
    ) -> Result<()> {
        let line = Line::of(pair, view, self.names)?;
        let (a, b) = line.values.split_at(pair.of_a);
        let main = picked.map_or(1, |(_, order)| order);
        let place = || line.place.clone();
        let rows = |order: usize| driving(pair, &view.direction, order);
        let least = picked.and_then(|(view, order)| {
            let k = self.tests.place(Function::View { view, order })?;
            Some(self.corrected(self.tests.judged(k, self.tests.differences[k]).p_value))
        });
        let p_value = least.unwrap_or_else(|| self.corrected(self.tests.p_value));
        let found = Found { place: place(), p_value, beyond: self.beyond, rows: rows(main), a, b };
        if let Ok(change) = found.of_groups() {
            changes.push(change);
            return Ok(());
        }
        let Some((index, main)) = picked else { return Ok(()) };
        let known = changes.len();
        for (order, difference) in
            (1..=ORDERS).zip(aligned(&pair.along(&view.direction), pair.of_a))
        {
            let Some(k) = self.tests.place(Function::View { view: index, order }) else { continue };
            let p_value = self.corrected(self.tests.judged(k, difference).p_value);
            if p_value <= self.level {
                let (beyond, rows, place) = (self.beyond, rows(order), place());
                changes.push(Found { place, p_value, beyond, rows, a, b }.of_order(order));
            }
        }
        if changes.len() == known {
            self.push(pair, view, main, p_value, changes)?;
        }
        Ok(())
    }

    fn push(
        &self,
        pair: &Pair,
        view: &View,
        order: usize,
        p_value: f64,
        changes: &mut Vec<Change>,
    ) -> Result<()> {
        let line = Line::of(pair, view, self.names)?;
        let (a, b) = line.values.split_at(pair.of_a);
        let (rows, place) = (driving(pair, &view.direction, order), line.place.clone());
        changes.push(Found { place, p_value, beyond: self.beyond, rows, a, b }.of_order(order));
        Ok(())
    }

    fn correlation(&self, pair: &Pair, views: [&View; 2], sign: f64, p_value: f64) -> Change {
        let columns = views.map(|view| match view.sight {
            Sight::Column(i) | Sight::Given(i) => i,
            Sight::Found => 0,
        });
        let [first, second] = columns.map(|i| pair.column(i));
        let r = |range: std::ops::Range<usize>| correlation(&first[range.clone()], &second[range]);
        let all = pair.of_a + pair.of_b;
        let (before, after) = (r(0..pair.of_a), r(pair.of_a..all));
        let scores = [&first, &second].map(|values| normal_scores(values));
        let products: Vec<f64> = scores[0].iter().zip(&scores[1]).map(|(a, b)| a * b).collect();
        let rows = largest(&products[pair.of_a..], sign);
        let place = Place::Pair { columns: columns.map(|i| self.names[i].clone()) };
        let (p_value, beyond) = (self.corrected(p_value), self.beyond);
        let (a, b) = products.split_at(pair.of_a);
        Found { place, p_value, beyond, rows, a, b }.of_correlation(before, after)
    }
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    standardise(&mut a);
    standardise(&mut b);
    dot(&a, &b) / a.len() as f64
}

/// The principal axes of the difference of spread in the plane of two directions.
fn principal(pair: &Pair, directions: [Vec<f64>; 2]) -> Vec<Vec<f64>> {
    let basis = orthonormal(&directions);
    let z: Vec<Vec<f64>> = basis.iter().map(|w| pair.along(w)).collect();
    let moment = |a: usize, b: usize, rows: std::ops::Range<usize>| {
        let (a, b) = (&z[a][rows.clone()], &z[b][rows]);
        dot(a, b) / a.len() as f64
    };
    let all = pair.of_a + pair.of_b;
    let off = |a: usize, b: usize| moment(a, b, pair.of_a..all) - moment(a, b, 0..pair.of_a);
    let angle = 0.5 * (2.0 * off(0, 1)).atan2(off(0, 0) - off(1, 1));
    let axis = |angle: f64| -> Vec<f64> {
        let parts = basis[0].iter().zip(&basis[1]);
        parts.map(|(u, v)| angle.cos() * u + angle.sin() * v).collect()
    };
    vec![axis(angle), axis(angle + std::f64::consts::FRAC_PI_2)]
}

/// The difference of each order along a line: of the spread with equal means, of the shape with equal spreads too.
fn aligned(z: &[f64], of_a: usize) -> [f64; ORDERS] {
    let mut z = z.to_vec();
    let moments = |z: &[f64]| {
        let mean = z.iter().sum::<f64>() / z.len() as f64;
        let variance = z.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / z.len() as f64;
        (mean, variance.sqrt())
    };
    let ((mean_a, sd_a), (mean_b, sd_b)) = (moments(&z[..of_a]), moments(&z[of_a..]));
    let mut differences = [0.0; ORDERS];
    for order in 1..=ORDERS {
        if order == 2 {
            z[of_a..].iter_mut().for_each(|x| *x += mean_a - mean_b);
        }
        if order == 3 && sd_b > 0.0 {
            z[of_a..].iter_mut().for_each(|x| *x = mean_a + (*x - mean_a) * sd_a / sd_b);
        }
        differences[order - 1] = difference(&normal_scores(&z), order, of_a);
    }
    differences
}

/// How far apart the means of a function are, in standard deviations of what exchanges give.
pub(super) fn difference(scores: &[f64], order: usize, of_a: usize) -> f64 {
    let mut values: Vec<f64> = scores.iter().map(|h| hermite(order, *h)).collect();
    standardise(&mut values);
    let (n, b) = (values.len() as f64, (values.len() - of_a) as f64);
    let scale = ((n - 1.0) / (b * (n - b))).sqrt();
    scale * values[of_a..].iter().sum::<f64>()
}

/// The rows of B that add most to a difference along a direction.
fn driving(pair: &Pair, direction: &[f64], order: usize) -> Vec<usize> {
    let scores = normal_scores(&pair.along(direction));
    let sign = difference(&scores, order, pair.of_a);
    most_of(&scores, order, sign, pair.of_a)
}

fn most_of(scores: &[f64], order: usize, sign: f64, of_a: usize) -> Vec<usize> {
    let values: Vec<f64> = scores[of_a..].iter().map(|h| hermite(order, *h)).collect();
    largest(&values, sign)
}

fn largest(values: &[f64], sign: f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| (sign.signum() * values[j]).total_cmp(&(sign.signum() * values[i])));
    order.truncate(ROWS);
    order
}

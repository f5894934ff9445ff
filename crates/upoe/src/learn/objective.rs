//! What learning minimises: the change in ⟨−ln p⟩ when some experts join others, with its gradient
//! and curvature, from sums over the rows.

use super::descent::Precondition;
use super::joint_curvature::JointCurvature;
use crate::engine::{Candidate, Engine, Sums, ask};
use crate::error::Result;
use crate::expert::{Expert, Learnable};
use crate::linalg::{HALF_LN_TAU, dot, orthonormal, product, remove, unit};
use faer::{Mat, MatRef, Side};
use std::ops::Range;

/// What the free directions may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// Unit vectors orthogonal to the frozen ones: pursuit, one free direction (17).
    Orthonormal,
    /// Any: sequential with one free direction, parallel with all (6).
    Oblique,
}

/// The likelihood as a function of some experts, the others frozen.
///
/// The value is what is minimised: the change in ⟨−ln p⟩ when the free experts join the
/// frozen ones, plus their penalties. With one free expert that is Q (17).
pub struct Objective<'a> {
    engine: &'a dyn Engine,
    geometry: Geometry,
    /// Where ⟨xxᵀ⟩ is not the identity (a subset of the training rows), the Gaussian each
    /// expert replaces: its sums give ⟨z²⟩ and ⟨zx⟩.
    gaussian: Option<Expert>,
    /// An orthonormal basis of the frozen directions.
    span: Vec<Vec<f64>>,
}

/// What one pass says about a set of free experts.
pub struct Evaluated {
    pub value: f64,
    pub gradient: Vec<f64>,
    sums: Vec<Sums>,
}

/// Where an expert's parts lie in a point.
pub struct Slot {
    pub direction: Range<usize>,
    norm: Option<usize>,
    expert: Range<usize>,
}

impl<'a> Objective<'a> {
    /// An objective over an engine's rows, given frozen directions.
    pub fn new(engine: &'a dyn Engine, frozen: &[Vec<f64>], geometry: Geometry) -> Self {
        Self::outside_of(engine, orthonormal(frozen), geometry)
    }

    /// The same over other rows of the same dimensions.
    pub fn over<'b>(&self, engine: &'b dyn Engine) -> Objective<'b> {
        Objective::outside_of(engine, self.span.clone(), self.geometry)
    }

    fn outside_of(engine: &'a dyn Engine, span: Vec<Vec<f64>>, geometry: Geometry) -> Self {
        let compare = geometry == Geometry::Orthonormal && !engine.is_white();
        Objective { engine, geometry, gaussian: compare.then(Expert::gaussian), span }
    }

    /// In the oblique geometry a norm matters only where the expert cannot absorb it.
    pub fn norm_is_free(&self, expert: &Expert) -> bool {
        self.geometry == Geometry::Oblique && !expert.absorbs_norm()
    }

    pub fn slots(&self, templates: &[Expert]) -> Vec<Slot> {
        let mut next = 0;
        let mut take = |n: usize| {
            next += n;
            next - n..next
        };
        templates
            .iter()
            .map(|expert| Slot {
                direction: take(self.engine.dims()),
                norm: self.norm_is_free(expert).then(|| take(1).start),
                expert: take(expert.coordinates().len()),
            })
            .collect()
    }

    /// Directions and experts at a point.
    pub fn candidates(&self, templates: &[Expert], point: &[f64]) -> Vec<Candidate> {
        self.slots(templates)
            .into_iter()
            .zip(templates)
            .map(|(slot, template)| {
                let norm = slot.norm.map_or(1.0, |i| point[i].exp());
                let mut direction: Vec<f64> =
                    point[slot.direction].iter().map(|w| norm * w).collect();
                // Over many steps rounding lets in a part along the frozen directions. Without it the
                // rest must be a unit vector again: a shorter one would seem to gain.
                if self.geometry == Geometry::Orthonormal && !self.span.is_empty() {
                    remove(&self.span, &mut direction);
                    direction = unit(&direction);
                }
                Candidate::new(direction, template.at(&point[slot.expert]))
            })
            .collect()
    }

    /// Value and gradient for some sets of free experts, from one pass over the rows.
    pub fn evaluate(&self, sets: &[Vec<Candidate>]) -> Result<Vec<Evaluated>> {
        let mut asked: Vec<Candidate> = sets.concat();
        if let Some(gaussian) = &self.gaussian {
            let twins = sets.iter().flatten().map(|c| c.direction.clone());
            asked.extend(twins.map(|direction| Candidate::new(direction, gaussian.clone())));
        }
        let mut sums = ask(self.engine, &asked)?;
        let twins = sums.split_off(sets.iter().map(Vec::len).sum());
        let (mut sums, mut twins) = (sums.into_iter(), twins.into_iter());
        let of_set = |set: &Vec<Candidate>| {
            let sums: Vec<Sums> = sums.by_ref().take(set.len()).collect();
            let twins: Vec<Sums> = twins.by_ref().take(set.len()).collect();
            self.assemble(set, sums, &twins)
        };
        Ok(sets.iter().map(of_set).collect())
    }

    fn assemble(&self, set: &[Candidate], sums: Vec<Sums>, twins: &[Sums]) -> Evaluated {
        let weight = self.engine.weight();
        let experts: Vec<Expert> = set.iter().map(|c| c.expert.clone()).collect();
        let slots = self.slots(&experts);
        let (mut value, by_volume) = self.volume(set, twins);
        let mut gradient = vec![0.0; slots.last().map_or(0, |s| s.expert.end)];
        for (((slot, c), sums), volume) in slots.iter().zip(set).zip(&sums).zip(&by_volume) {
            value += c.expert.loss(&sums.statistics, weight) + c.expert.penalty();
            let mut by_w: Vec<f64> =
                sums.gradient.iter().zip(volume).map(|(s, v)| s / weight + v).collect();
            if let Some(i) = slot.norm {
                gradient[i] = dot(&by_w, &c.direction);
                let norm = dot(&c.direction, &c.direction).sqrt();
                by_w.iter_mut().for_each(|g| *g *= norm);
            }
            if self.geometry == Geometry::Orthonormal {
                remove(&self.span, &mut by_w);
            }
            gradient[slot.direction.clone()].copy_from_slice(&by_w);
            gradient[slot.expert.clone()]
                .copy_from_slice(&c.expert.gradient(&sums.statistics, weight));
        }
        Evaluated { value, gradient, sums }
    }

    /// An approximate inverse Hessian at the asked point.
    pub fn curvature(
        &self,
        templates: &[Expert],
        set: &[Candidate],
        found: &Evaluated,
    ) -> Precondition {
        let weight = self.engine.weight();
        let slots = self.slots(templates);
        let mut diagonal = vec![2.0; found.gradient.len()];
        let (mut heights, mut experts) = (Vec::with_capacity(set.len()), Vec::new());
        for ((slot, c), sums) in slots.iter().zip(set).zip(&found.sums) {
            // ⟨E″⟩ on the unit direction, with ⟨E′²⟩ for it: they agree where the expert fits.
            let square = dot(&c.direction, &c.direction);
            let height = c.expert.mean_square_slope(&sums.statistics, weight) * square;
            diagonal[slot.direction.clone()].fill((height - 1.0).max(0.1));
            experts.push((slot.expert.clone(), c.expert.curvature(&sums.statistics, weight)));
            heights.push(height);
        }
        let each = move |v: &[f64]| {
            let mut out: Vec<f64> = v.iter().zip(&diagonal).map(|(v, c)| v / c).collect();
            for (range, curvature) in &experts {
                out[range.clone()].copy_from_slice(&curvature.solve(&v[range.clone()]));
            }
            out
        };
        if set.len() == 1 {
            return Box::new(each);
        }
        let directions: Vec<Vec<f64>> = set.iter().map(|c| unit(&c.direction)).collect();
        let joint = JointCurvature::new(&directions, heights);
        let ranges: Vec<Range<usize>> = slots.into_iter().map(|s| s.direction).collect();
        Box::new(move |v| {
            let mut out = each(v);
            let rows: Vec<&[f64]> = ranges.iter().map(|r| &v[r.clone()]).collect();
            for (range, row) in ranges.iter().zip(joint.solve(&rows)) {
                out[range.clone()].copy_from_slice(&row);
            }
            out
        })
    }

    /// What the Gaussian rest and the volume factor add to the change in ⟨−ln p⟩, and its
    /// gradient in each free direction.
    fn volume(&self, free: &[Candidate], twins: &[Sums]) -> (f64, Vec<Vec<f64>>) {
        let j = free.len() as f64;
        if self.geometry == Geometry::Orthonormal {
            // −⟨½z² + ½ ln 2π⟩ each (17), with gradient −⟨zx⟩ (18). On all rows ⟨xxᵀ⟩ = I; on
            // some of them the term is a control variate that cuts the gradient's variance.
            if let Some(gaussian) = &self.gaussian {
                let weight = self.engine.weight();
                let value = twins.iter().map(|t| gaussian.loss(&t.statistics, weight)).sum::<f64>();
                let by = |t: &Sums| t.gradient.iter().map(|s| -s / weight).collect();
                return (-value, twins.iter().map(by).collect());
            }
            let by = free.iter().map(|c| c.direction.iter().map(|w| -w).collect()).collect();
            return (-j * (0.5 + HALF_LN_TAU), by);
        }
        // −½ ln|WWᵀ| + ½ ln|W₀W₀ᵀ| = −½ ln|UUᵀ| with U = P⊥W the free directions outside the
        // frozen ones; its gradient is −U# (for one direction −P⊥w / ‖P⊥w‖²).
        let outside: Vec<Vec<f64>> = free
            .iter()
            .map(|c| {
                let mut w = c.direction.clone();
                remove(&self.span, &mut w);
                w
            })
            .collect();
        let n = outside.len();
        let gram = Mat::from_fn(n, n, |a, b| dot(&outside[a], &outside[b]));
        let Ok(factor) = gram.llt(Side::Lower) else {
            return (f64::INFINITY, vec![vec![f64::NAN; self.engine.dims()]; n]);
        };
        let half_ln: f64 = (0..n).map(|i| factor.L()[(i, i)].ln()).sum();
        let inverse = faer::linalg::solvers::DenseSolveCore::inverse(&factor);
        let d = self.engine.dims();
        let flat = outside.concat();
        let by = product(MatRef::from_column_major_slice(&flat, d, n), inverse.as_ref());
        let by = by.col_iter().map(|u| u.iter().map(|u| -u).collect()).collect();
        (-half_ln - j * (0.5 + HALF_LN_TAU), by)
    }

    /// The part of a vector outside the frozen directions, at unit length; `None` if there is
    /// none.
    pub fn outside(&self, mut w: Vec<f64>) -> Option<Vec<f64>> {
        let before = dot(&w, &w).sqrt();
        remove(&self.span, &mut w);
        remove(&self.span, &mut w);
        let norm = dot(&w, &w).sqrt();
        (norm > 1e-6 * before && norm.is_finite()).then(|| w.iter().map(|x| x / norm).collect())
    }

    /// An orthonormal basis of the frozen directions.
    pub fn span(&self) -> &[Vec<f64>] {
        &self.span
    }

    /// The engine whose rows are summed over.
    pub fn engine(&self) -> &dyn Engine {
        self.engine
    }

    /// What the free directions may be.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// Value and gradient for one free expert: its direction, the logarithm of its norm where
    /// that is free, its coordinates.
    pub fn value_and_gradient(&self, at: &Candidate) -> Result<(f64, Vec<f64>)> {
        let found = self.evaluate(&[vec![at.clone()]])?.pop();
        Ok(found.map_or((f64::NAN, Vec::new()), |f| (f.value, f.gradient)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Memory;
    use crate::expert::{Mixture, StudentT, Tilt};

    /// Rows that are heavy-tailed and lopsided, sphered by hand as one column each.
    fn rows(n: usize) -> Vec<f64> {
        let value = |i: usize, k: usize| {
            let t = (i * 4 + k) as f64;
            ((1.7 * t).sin() + (0.37 * t * t).cos() * (0.91 * t).sin()) * (1.0 + (0.11 * t).cos())
        };
        (0..n).flat_map(|i| (0..4).map(move |k| value(i, k))).collect()
    }

    /// Value and gradient agree, along tangents of the sphere outside the frozen direction and
    /// along every other coordinate, on all rows and on a sample of them.
    #[test]
    fn the_gradient_equals_finite_differences() {
        let frozen = vec![vec![0.5, -0.5, 0.5, 0.5]];
        let t = |mu: f64, fix: bool| {
            let mut t = StudentT::with_scale(mu, 0.6, 6.0).expect("valid");
            t.fix_mu = fix;
            t
        };
        let pair =
            |fix| Mixture::new(vec![0.4, 0.6], vec![t(-1.0, fix), t(0.8, fix)]).expect("valid");
        let tilt: Expert = Tilt::gaussian(50.0).into();
        let experts: Vec<Expert> = vec![
            t(0.1, false).into(),
            pair(false).into(),
            pair(true).into(),
            tilt.at(&std::array::from_fn::<f64, 41, _>(|k| 0.2 * (k as f64).sin())),
        ];
        let whitening = crate::Whitening::fit(
            &crate::Rows::new(&rows(200), 4).expect("rows"),
            crate::Dims::All,
        )
        .expect("a whitening");
        let x = whitening.sphere(&crate::Rows::new(&rows(200), 4).expect("rows")).expect("rows");
        let all = Memory::<f64>::new(x.clone(), 4, None).expect("an engine");
        let some = Memory::<f64>::held_out(x[..4 * 90].to_vec(), 4, None).expect("an engine");
        let engines: [(&dyn Engine, Geometry); 3] = [
            (&all, Geometry::Orthonormal),
            (&some, Geometry::Orthonormal),
            (&all, Geometry::Oblique),
        ];
        for (engine, geometry) in engines {
            let objective = Objective::new(engine, &frozen, geometry);
            for expert in &experts {
                let start = vec![0.7, 0.3, -0.2, 0.4];
                let w = if geometry == Geometry::Orthonormal {
                    objective.outside(start).expect("outside")
                } else {
                    start
                };
                let at = objective.start(vec![Candidate::new(w, expert.clone())], 1e-9);
                let point = at.ask().to_vec();
                let value = |point: &[f64]| {
                    let set = objective.candidates(at.templates(), point);
                    objective.evaluate(&[set]).expect("sums").remove(0)
                };
                let gradient = value(&point).gradient;
                for k in 0..point.len() {
                    let mut step = vec![0.0; point.len()];
                    step[k] = 1.0;
                    if k < 4 {
                        // The tangent part of the axis, outside what is frozen.
                        if geometry == Geometry::Orthonormal {
                            remove(&objective.span, &mut step[..4]);
                        }
                        let along = dot(&step[..4], &point[..4]);
                        (0..4).for_each(|i| step[i] -= along * point[i]);
                    }
                    let moved = |h: f64| {
                        let mut p: Vec<f64> =
                            point.iter().zip(&step).map(|(p, s)| p + h * s).collect();
                        let norm = dot(&p[..4], &p[..4]).sqrt();
                        p[..4].iter_mut().for_each(|w| *w /= norm);
                        value(&p).value
                    };
                    let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    let told = dot(&gradient, &step);
                    assert!(
                        (slope - told).abs() < 1e-7,
                        "{k} {slope} {told} {geometry:?} {expert:?}"
                    );
                }
            }
        }
    }
}

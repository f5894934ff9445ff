//! L-BFGS on a product of unit spheres and real lines, one question at a time.
//!
//! A descent never evaluates anything itself: it names the point it wants to know
//! ([`Descent::ask`]) and is told value and gradient there ([`Descent::tell`]). Many
//! descents can therefore walk in lock-step and share each pass over the rows.

use crate::linalg::dot;
use std::collections::VecDeque;
use std::ops::Range;

/// Why a descent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The gradient is below the tolerance.
    Converged,
    /// No step lowers the value any more: rounding is reached above the tolerance.
    Rounding,
}

/// Applies an approximate inverse Hessian to a tangent vector.
pub type Precondition = Box<dyn Fn(&[f64]) -> Vec<f64> + Send + Sync>;

/// What is known at a point.
struct Known {
    point: Vec<f64>,
    value: f64,
    /// Tangent to the spheres.
    gradient: Vec<f64>,
    precondition: Precondition,
}

/// One descent.
pub struct Descent {
    /// The parts of a point that are unit vectors; the rest is real.
    spheres: Vec<Range<usize>>,
    tolerance: f64,
    /// What is left to gain is not worth a step, if it is no more than this.
    worthless: f64,
    rounding: f64,
    here: Option<Known>,
    /// The best point of this line search whose value is low enough.
    accepted: Option<(f64, Known)>,
    direction: Vec<f64>,
    slope: f64,
    step: f64,
    trial: Vec<f64>,
    tries: usize,
    memory: VecDeque<(Vec<f64>, Vec<f64>, f64)>,
    iterations: usize,
    ending: Option<Ending>,
}

const MEMORY: usize = 12;
const ENOUGH: f64 = 1e-4;
const STEEP: f64 = 0.9;
const TRIES: usize = 15;

impl Descent {
    /// A descent from a starting point, to a gradient of at most `tolerance` in every entry. Values are
    /// told up to an error of `rounding`.
    pub fn new(point: Vec<f64>, spheres: Vec<Range<usize>>, tolerance: f64, rounding: f64) -> Self {
        Descent {
            spheres,
            tolerance,
            worthless: 0.0,
            rounding,
            here: None,
            accepted: None,
            direction: Vec::new(),
            slope: 0.0,
            step: 0.0,
            trial: point,
            tries: 0,
            memory: VecDeque::new(),
            iterations: 0,
            ending: None,
        }
    }

    /// Ends, too, where a quadratic model expects to gain no more than `worthless`.
    pub fn content_with(mut self, worthless: f64) -> Self {
        self.worthless = worthless;
        self
    }

    /// The point whose value and gradient are wanted next.
    pub fn ask(&self) -> &[f64] {
        &self.trial
    }

    /// The current point.
    pub fn point(&self) -> &[f64] {
        self.here.as_ref().map_or(&self.trial, |h| &h.point)
    }

    /// The value there.
    pub fn value(&self) -> f64 {
        self.here.as_ref().map_or(f64::INFINITY, |h| h.value)
    }

    /// A value that the end is not expected to go below: three times as far down as a quadratic model goes.
    pub fn hope(&self) -> f64 {
        let left = if self.ending.is_some() { 0.0 } else { 0.5 * self.slope };
        self.value() + 3.0 * left
    }

    /// The largest entry of the gradient there.
    pub fn steepness(&self) -> f64 {
        let entries = self.here.iter().flat_map(|h| &h.gradient);
        entries.fold(0.0, |a, g| a.max(g.abs()))
    }

    /// How many steps were taken.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Why it ended, once it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Goes on to a smaller tolerance after it has ended at a larger one.
    pub fn tighten(&mut self, tolerance: f64) {
        self.tolerance = tolerance;
        if self.ending == Some(Ending::Converged) && self.steepness() > tolerance {
            self.ending = None;
            self.set_out();
        }
    }

    /// Value, gradient (it need not be tangent) and an approximate inverse Hessian at the
    /// point that was asked for.
    pub fn tell(&mut self, value: f64, mut gradient: Vec<f64>, precondition: Precondition) {
        let point = self.trial.clone();
        self.make_tangent(&point, &mut gradient);
        let told = Known { point, value, gradient, precondition };
        let Some(here) = &self.here else {
            self.here = Some(told);
            return self.set_out();
        };
        self.tries += 1;
        // Differences below rounding do not count as a rise.
        let noise = self.rounding * here.value.abs().max(1.0);
        let falls = value <= here.value + ENOUGH * self.step * self.slope + noise
            && told.gradient.iter().all(|g| g.is_finite());
        if falls && self.accepted.as_ref().is_none_or(|(_, a)| value < a.value) {
            let still_steep = dot(&told.gradient, &self.direction) < STEEP * self.slope;
            let step = self.step;
            self.accepted = Some((step, told));
            if still_steep && self.tries < 6 {
                return self.try_step(3.0 * step);
            }
            return self.arrive();
        }
        if self.accepted.is_some() {
            return self.arrive();
        }
        if self.tries >= TRIES {
            if self.memory.is_empty() {
                self.ending = Some(Ending::Rounding);
            } else {
                self.memory.clear();
                self.set_out();
            }
            return;
        }
        // The minimum of the parabola through what is known, kept in bounds.
        let rise = value - here.value - self.slope * self.step;
        let best = -0.5 * self.slope * self.step * self.step / rise;
        let step = if best.is_finite() { best } else { 0.0 };
        self.try_step(step.clamp(0.1 * self.step, 0.5 * self.step));
    }

    /// Takes the accepted step and remembers what it says about the curvature.
    fn arrive(&mut self) {
        let (Some((_, next)), Some(here)) = (self.accepted.take(), self.here.take()) else {
            return;
        };
        let mut moved: Vec<f64> = next.point.iter().zip(&here.point).map(|(a, b)| a - b).collect();
        self.make_tangent(&next.point, &mut moved);
        let mut before = here.gradient;
        self.make_tangent(&next.point, &mut before);
        let change: Vec<f64> = next.gradient.iter().zip(&before).map(|(a, b)| a - b).collect();
        let product = dot(&moved, &change);
        if product > 1e-10 * (dot(&moved, &moved) * dot(&change, &change)).sqrt() {
            if self.memory.len() == MEMORY {
                self.memory.pop_front();
            }
            self.memory.push_back((moved, change, 1.0 / product));
        }
        self.iterations += 1;
        self.here = Some(next);
        self.set_out();
    }

    /// Chooses the next search direction and asks for a first point on it.
    fn set_out(&mut self) {
        let Some(here) = &self.here else { return };
        if !(here.value.is_finite() && here.gradient.iter().all(|g| g.is_finite())) {
            self.ending = Some(Ending::Rounding);
            return;
        }
        if self.steepness() <= self.tolerance {
            self.ending = Some(Ending::Converged);
            return;
        }
        let mut direction = self.quasi_newton(here);
        self.make_tangent(&here.point, &mut direction);
        let mut slope = dot(&direction, &here.gradient);
        if !(slope < 0.0) {
            self.memory.clear();
            direction = here.gradient.iter().map(|g| -g).collect();
            slope = dot(&direction, &here.gradient);
        }
        if -0.5 * slope <= self.worthless {
            self.ending = Some(Ending::Converged);
            return;
        }
        // No step may turn a direction by more than about a quarter turn, nor move a parameter far.
        let longest = direction.iter().fold(0.0_f64, |a, d| a.max(d.abs()));
        let turns =
            self.spheres.iter().map(|s| dot(&direction[s.clone()], &direction[s.clone()]).sqrt());
        let reach = turns.fold(longest / 2.0, f64::max);
        self.direction = direction;
        self.slope = slope;
        self.tries = 0;
        self.try_step((1.0 / reach).min(1.0));
    }

    fn try_step(&mut self, step: f64) {
        let Some(here) = &self.here else { return };
        self.step = step;
        self.trial = here.point.iter().zip(&self.direction).map(|(x, p)| x + step * p).collect();
        for sphere in &self.spheres {
            let unit = &mut self.trial[sphere.clone()];
            let norm = dot(unit, unit).sqrt();
            unit.iter_mut().for_each(|x| *x /= norm);
        }
    }

    /// −H g by the two-loop recursion.
    fn quasi_newton(&self, here: &Known) -> Vec<f64> {
        let mut q = here.gradient.clone();
        let mut coefficients = Vec::with_capacity(self.memory.len());
        for (s, y, rho) in self.memory.iter().rev() {
            let a = rho * dot(s, &q);
            q.iter_mut().zip(y).for_each(|(q, y)| *q -= a * y);
            coefficients.push(a);
        }
        let mut r = (here.precondition)(&q);
        if let Some((_, y, rho)) = self.memory.back() {
            let factor = 1.0 / (rho * dot(y, &(here.precondition)(y)));
            r.iter_mut().for_each(|r| *r *= factor);
        }
        for ((s, y, rho), a) in self.memory.iter().zip(coefficients.into_iter().rev()) {
            let b = rho * dot(y, &r);
            r.iter_mut().zip(s).for_each(|(r, s)| *r += (a - b) * s);
        }
        r.iter_mut().for_each(|r| *r = -*r);
        r
    }

    fn make_tangent(&self, point: &[f64], vector: &mut [f64]) {
        for sphere in &self.spheres {
            let along = dot(&point[sphere.clone()], &vector[sphere.clone()]);
            for (v, x) in vector[sphere.clone()].iter_mut().zip(&point[sphere.clone()]) {
                *v -= along * x;
            }
        }
    }
}

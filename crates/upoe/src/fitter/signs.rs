//! The sign of a direction is a convention.

use crate::engine::Candidate;
use crate::expert::Learnable;
use crate::learn::State;
use crate::whitening::Whitening;

/// Fixes the signs of the filters: the largest entry of each, in units of its column's deviation, is
/// positive, unless a fixed parameter prevents it.
pub fn canonical(state: &mut State, whitening: &Whitening) {
    for learned in &mut state.experts {
        let Candidate { direction, expert } = &mut learned.candidate;
        let filter = |i: usize| -> f64 {
            direction.iter().enumerate().map(|(k, w)| w * whitening.matrix()[(k, i)]).sum()
        };
        // The filter times the deviations: what a typical change of the column does.
        let largest = (0..whitening.columns())
            .map(|i| filter(i) * whitening.deviations()[i])
            .fold(0.0_f64, |a, b| if b.abs() > a.abs() * (1.0 + 1e-9) { b } else { a });
        if largest < 0.0
            && let Some(mirrored) = expert.mirrored()
        {
            *expert = mirrored;
            direction.iter_mut().for_each(|w| *w = -*w);
        }
    }
}

//! How wide the density of a fit must be, by cells that are hidden from it.
//!
//! Few rows say little about many directions, and less where cells are missing, so that a fit is surer of a cell than
//! it should be. Some cells that are there are hidden, a model is learned without them, and the density is stretched
//! by the factor under which they are most probable.

use super::climb::Climb;
use crate::evaluate::widening;
use crate::fitted::Fit;
use crate::learn::{Event, Halt, Observer, State, StopReason};
use crate::missing::{FEW, few_rows, holes, observed};
use crate::random::{self, Use};
use crate::rows::{Rows, view};
use crate::whitening::Rest;
use rand::RngExt;

/// The share of cells that is hidden.
const HIDDEN: f64 = 0.1;

impl Climb<'_> {
    /// A fit of one layer, its density stretched by the factor under which hidden cells are most probable, and that
    /// factor where it is not 1. With many rows per column it would be 1.
    pub fn stretched(&self, fit: Fit, observer: &mut Observer) -> (Fit, Option<f64>) {
        let degenerate = |fit: &Fit| fit.model.whitening().rest() == Rest::Degenerate;
        if !self.one_layer() || !few_rows(&self.rows) || degenerate(&fit) {
            return (fit, None);
        }
        // Where a fit without the hidden cells fails, they say nothing about the fit that has them.
        match self.factor(observer) {
            Err(Halt::Interrupted) => (Fit { stop: StopReason::Interrupted, ..fit }, None),
            Ok(Some(factor)) => match fit.model.stretched(factor) {
                Ok(model) => (Fit { model, ..fit }, Some(factor)),
                Err(_) => (fit, None),
            },
            Ok(None) | Err(Halt::Failed(_)) => (fit, None),
        }
    }

    /// The factor under which cells are most probable that are hidden from another fit; `None` where none is clearly
    /// better than 1.
    fn factor(&self, observer: &mut Observer) -> Result<Option<f64>, Halt> {
        let rows = &self.rows;
        let Some(values) = without_some(rows, self.settings.seed) else { return Ok(None) };
        let mut fewer = view(&values, rows.columns(), rows.weights())?;
        if let Some(blocks) = rows.blocks() {
            fewer = fewer.in_blocks(blocks)?;
        }
        let settings = self.settings.clone();
        let mut trial = Climb::shrunk(fewer, None, settings, self.place, self.prior)?;
        if trial.start_at_gaussian(observer)?.is_some() {
            return Err(Halt::Interrupted);
        }
        let Some(best) = trial.best else { return Ok(None) };
        let trial = best.fit;
        if trial.model.whitening().rest() == Rest::Degenerate {
            return Ok(None);
        }
        // How much more probable each row is with its hidden cells. The draws do not depend on the factor.
        let whitening = trial.model.whitening();
        let state = State::default();
        let gains = |factor: f64| -> Result<Vec<f64>, Halt> {
            if !observer(&Event::Pass { expert: 0, gain: 0.0, state: &state }) {
                return Err(Halt::Interrupted);
            }
            let model = trial.model.stretched(factor)?;
            let ln_p = |rows: &Rows| observed(&model, whitening, rows, FEW, self.settings.seed);
            Ok(ln_p(rows)?.iter().zip(ln_p(&fewer)?).map(|(more, less)| more - less).collect())
        };
        widening(rows, gains)
    }
}

/// The cells of rows without some of those that are there; `None` where a column would have none. Every row keeps one.
pub fn without_some(rows: &Rows, seed: u64) -> Option<Vec<f64>> {
    let columns = rows.columns();
    let mut values = Vec::with_capacity(rows.len() * columns);
    for i in 0..rows.len() {
        let mut row = rows.row(i).to_vec();
        let mut rng = random::stream(seed, Use::Missing, (2 << 40) + i as u64);
        let mut left = columns - holes(&row).len();
        for cell in row.iter_mut().filter(|cell| !cell.is_nan()) {
            if rng.random_range(0.0..1.0) < HIDDEN && left > 1 {
                *cell = f64::NAN;
                left -= 1;
            }
        }
        values.extend(row);
    }
    let there = |c: usize| values.iter().skip(c).step_by(columns).any(|cell| !cell.is_nan());
    (0..columns).all(there).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::without_some;
    use crate::{Rows, Settings, fit};

    #[test]
    fn about_a_tenth_of_the_cells_is_hidden_and_every_row_keeps_one() {
        let cell = |k: usize| if k % 4 == 1 { f64::NAN } else { (0.7 * k as f64).sin() };
        let values: Vec<f64> = (0..1200).map(cell).collect();
        let rows = Rows::new(&values, 3).unwrap();
        let fewer = without_some(&rows, 1).unwrap();
        let hidden = values.iter().zip(&fewer).filter(|(a, b)| !a.is_nan() && b.is_nan()).count();
        assert!((60..120).contains(&hidden), "{hidden}");
        assert!(fewer.chunks_exact(3).all(|row| row.iter().any(|x| !x.is_nan())));
        let kept = values.iter().zip(&fewer).filter(|(_, b)| !b.is_nan());
        kept.for_each(|(a, b)| assert_eq!(a.to_bits(), b.to_bits()));
        assert_ne!(without_some(&rows, 2).unwrap()[..30], fewer[..30]);
        // A column with one value cannot lose it; some seeds would.
        let alone = [1.0, f64::NAN, 2.0, 3.0, 4.0, f64::NAN];
        let rows = Rows::new(&alone, 2).unwrap();
        assert!((0..100).any(|seed| without_some(&rows, seed).is_none()));
    }

    #[test]
    fn a_stretched_density_is_that_of_stretched_rows() {
        let cell = |k: usize| ((k * k % 37) as f64).powi(2) + (0.9 * k as f64).sin();
        let values: Vec<f64> = (0..300).map(cell).collect();
        let rows = Rows::new(&values, 2).unwrap();
        let model = fit(&rows, &Settings::default()).unwrap().model;
        let mean = model.whitening().mean().to_vec();
        let far: Vec<f64> =
            values.iter().zip(mean.iter().cycle()).map(|(x, m)| m + 1.5 * (x - m)).collect();
        let wide = model.stretched(1.5).unwrap().score(&Rows::new(&far, 2).unwrap()).unwrap();
        for (near, wide) in model.score(&rows).unwrap().iter().zip(wide) {
            assert!((near - 2.0 * 1.5_f64.ln() - wide).abs() < 1e-9, "{near} {wide}");
        }
    }
}

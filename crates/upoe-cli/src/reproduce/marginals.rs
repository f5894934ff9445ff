//! Experts for directions that another method found.

use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::{Expert, Learnable};
use upoe::{Settings, Whitening};

/// The best expert of the settings' family for projections z, and its Q (17): the change in
/// ⟨−ln p⟩ when it takes the place of the Gaussian of ⟨z²⟩.
pub fn expert(z: &[f64], settings: &Settings) -> upoe::Result<(Expert, f64)> {
    let rows = Memory::<f64>::new(z.to_vec(), 1, None)?;
    let weight = rows.weight();
    let gaussian =
        0.5 * (z.iter().map(|z| z * z).sum::<f64>() / weight + std::f64::consts::TAU.ln());
    let mut best: Option<(Expert, f64)> = None;
    for family in settings.families.iter() {
        for template in settings.templates(family, weight)? {
            let mut at = Candidate::new(vec![1.0], template);
            let (mut loss, mut before) = (f64::INFINITY, f64::INFINITY);
            for step in 0..500 {
                let sums = rows.sums(std::slice::from_ref(&at))?.swap_remove(0);
                loss = at.expert.loss(&sums.statistics, weight);
                if step > 20 && before - loss < 1e-9 {
                    break;
                }
                before = loss;
                at.expert = at.expert.update(&sums.statistics, weight);
            }
            if best.as_ref().is_none_or(|(_, q)| loss - gaussian < *q) {
                best = Some((at.expert, loss - gaussian));
            }
        }
    }
    // There is a template for every family.
    Ok(best.unwrap_or((Expert::gaussian(), 0.0)))
}

/// Projections of sphered rows on unit directions, direction after direction.
pub fn projections(x: &[f64], dims: usize, directions: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum();
    directions.iter().map(|w| x.chunks_exact(dims).map(|x| dot(w, x)).collect()).collect()
}

/// Another method's directions with experts of ours: those of largest gain first.
pub struct Borrowed {
    /// Directions in sphered space.
    pub directions: Vec<Vec<f64>>,
    /// Their experts.
    pub experts: Vec<Expert>,
    /// Their Q over the training rows.
    pub q: Vec<f64>,
}

impl Borrowed {
    /// Fits experts to the projections of the sphered training rows.
    pub fn fit(x: &[f64], directions: Vec<Vec<f64>>, settings: &Settings) -> upoe::Result<Self> {
        let dims = directions.first().map_or(1, Vec::len);
        let fitted: upoe::Result<Vec<(Expert, f64)>> =
            projections(x, dims, &directions).iter().map(|z| expert(z, settings)).collect();
        let mut all: Vec<(Vec<f64>, (Expert, f64))> = directions.into_iter().zip(fitted?).collect();
        all.sort_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b));
        let (directions, fitted): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let (experts, q) = fitted.into_iter().unzip();
        Ok(Borrowed { directions, experts, q })
    }

    /// The model of the first `experts` directions.
    pub fn model(&self, whitening: &Whitening, experts: usize) -> upoe::Result<upoe::Model> {
        upoe::Model::new(
            whitening.clone(),
            self.directions[..experts].to_vec(),
            self.experts[..experts].to_vec(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use upoe::expert::Family;
    use upoe::{Rows, fit};

    #[test]
    fn a_learned_direction_gets_its_own_expert_back() {
        let table = crate::demo::crabs().unwrap();
        let rows = Rows::new(&table.data, 5).unwrap();
        for family in [Family::Mixture, Family::StudentT] {
            let mut settings = crate::demo::as_the_paper().with(|s| s.families = family.into());
            if family == Family::StudentT {
                (settings.fix_mu, settings.fix_beta) = (Some(vec![0.0]), None);
            }
            let fitted = fit(&rows, &settings).unwrap();
            let x = fitted.model.whitening().sphere(&rows).unwrap();
            let directions = fitted.model.directions().to_vec();
            let borrowed = Borrowed::fit(&x, directions, &settings).unwrap();
            for (ours, learned) in borrowed.q.iter().zip(&fitted.state.experts) {
                assert!((ours + learned.gain).abs() < 1e-6, "{family:?}: {ours} {}", -learned.gain);
            }
        }
    }
}

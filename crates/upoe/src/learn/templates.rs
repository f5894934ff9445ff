//! The experts that learning starts from.

use super::settings::Settings;
use crate::error::Result;
use crate::expert::{Expert, Family, Mixture, StudentT, Tilt};

impl Settings {
    /// The experts a family's learning starts from, for rows of total weight `weight`.
    pub fn templates(&self, family: Family, weight: f64) -> Result<Vec<Expert>> {
        let degrees_of_freedom = self.fix_beta.map(|beta| 2.0 * beta - 1.0);
        let student = |mu: f64, deviation: f64, default: f64, fixed: Option<f64>| {
            let nu = degrees_of_freedom.unwrap_or(default);
            let scale =
                if nu > 2.0 { deviation * ((nu - 2.0) / nu).sqrt() } else { 0.5 * deviation };
            let mut expert = StudentT::with_scale(fixed.unwrap_or(mu), scale, nu)?;
            expert.fix_mu = fixed.is_some();
            expert.fix_beta = degrees_of_freedom.is_some();
            Ok::<_, crate::Error>(expert)
        };
        let fixed = |n: usize| self.fix_mu.as_ref().filter(|mu| mu.len() == n);
        Ok(match family {
            Family::StudentT => vec![student(0.0, 1.0, 4.0, fixed(1).map(|mu| mu[0]))?.into()],
            Family::Tilt => vec![Tilt::gaussian(weight).into()],
            Family::Mixture => {
                let k = self.mixture_size;
                let mixture = |spread: f64, weights: Vec<f64>, shift: f64, deviation: f64| {
                    let components = (0..k).map(|a| {
                        let at = if k == 1 { 0.0 } else { 2.0 * a as f64 / (k - 1) as f64 - 1.0 };
                        student(spread * at + shift, deviation, 20.0, fixed(k).map(|mu| mu[a]))
                    });
                    Ok::<_, crate::Error>(
                        Mixture::new(weights, components.collect::<Result<_>>()?)?.into(),
                    )
                };
                // Groups of one size, and a large group with smaller ones next to it.
                let small = (0..k).map(|a| if a == 0 { 3.0 } else { 1.0 }).collect();
                vec![
                    mixture(0.85, vec![1.0; k], 0.0, 1.0 / k as f64)?,
                    mixture(1.1, small, 0.6, 1.2 / k as f64)?,
                ]
            }
        })
    }

    /// Whether a family has the locations that are fixed.
    pub(crate) fn fixes(&self, family: Family, mu: &[f64]) -> bool {
        match family {
            Family::StudentT => mu.len() == 1,
            Family::Mixture => mu.len() == self.mixture_size,
            Family::Tilt => false,
        }
    }
}

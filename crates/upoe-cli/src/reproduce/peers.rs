//! What other methods reach on the same rows: written by `bench/peers.py`.

use std::path::Path;

use serde::Deserialize;

use crate::failure::Failure;

/// The results of other methods on one experiment.
#[derive(Debug, Deserialize)]
pub struct Peers {
    /// Which experiment: crabs, frey or images.
    pub experiment: String,
    /// The packages and their versions.
    pub made_with: String,
    /// What says that the rows are the same: one number per row, or a place in an image.
    pub rows: Vec<i64>,
    /// FastICA's unit directions in sphered space.
    pub fastica: Vec<Vec<f64>>,
    /// ⟨z⁴⟩ of the training rows along each, to see that the sphering is the same.
    pub fourth_moments: Vec<f64>,
    /// Mean ln p of the rows that were held out.
    pub likelihoods: Vec<PeerLikelihood>,
}

/// The likelihood a method reaches.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
pub struct PeerLikelihood {
    /// The method and its setting.
    pub method: String,
    /// The kind it belongs to, of which the best is shown.
    pub group: String,
    /// Mean ln p of training rows, nats per row.
    pub train: f64,
    /// Mean ln p of held-out rows, nats per row.
    pub test: f64,
    /// Its standard error, over rows.
    pub standard_error: f64,
}

impl Peers {
    /// From a file that was given, or else from what the command brings along.
    pub fn read(
        file: Option<&Path>,
        experiment: &str,
        embedded: Option<&str>,
    ) -> Result<Option<Peers>, Failure> {
        let (name, text) = match (file, embedded) {
            (Some(file), _) => {
                let text = std::fs::read_to_string(file).map_err(|error| {
                    Failure::Message(format!("{}: cannot be read ({error})", file.display()))
                })?;
                (file.display().to_string(), text)
            }
            (None, Some(text)) => ("the results of other methods".into(), text.to_owned()),
            (None, None) => return Ok(None),
        };
        let made = format!("make it with `python bench/peers.py {experiment}`");
        let peers: Peers = serde_json::from_str(&text).map_err(|error| {
            Failure::Message(format!("{name}: not results of other methods ({error}); {made}"))
        })?;
        if peers.experiment != experiment {
            return Err(Failure::Message(format!(
                "{name}: is of the experiment `{}`, not `{experiment}`; {made}",
                peers.experiment
            )));
        }
        Ok(Some(peers))
    }

    /// Whether they belong to these rows, sphered like this.
    pub fn fits(&self, rows: &[i64], x: &[f64], dims: usize) -> bool {
        let same = |(w, expected): (&Vec<f64>, &f64)| {
            let z = super::marginals::projections(x, dims, std::slice::from_ref(w)).swap_remove(0);
            let fourth = z.iter().map(|z| z.powi(4)).sum::<f64>() / z.len() as f64;
            (fourth - expected).abs() < 1e-2 * expected
        };
        self.rows == rows
            && self.fastica.iter().all(|w| w.len() == dims)
            && self.fastica.iter().zip(&self.fourth_moments).all(same)
    }

    /// The best of each group on held-out rows: what favours the other methods most.
    pub fn best(&self) -> Vec<PeerLikelihood> {
        let mut groups: Vec<PeerLikelihood> = Vec::new();
        for one in &self.likelihoods {
            match groups.iter_mut().find(|best| best.group == one.group) {
                Some(best) if best.test >= one.test => {}
                Some(best) => *best = one.clone(),
                None => groups.push(one.clone()),
            }
        }
        groups
    }
}

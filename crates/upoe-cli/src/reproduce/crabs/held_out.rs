//! Held-out ln p of the Crabs over their five columns, in ten folds: row i in fold i mod 10.

use serde_json::{Value, json};
use upoe::evaluate::Mean;
use upoe::{Dims, Rows, Settings, Stop, fit};
use upoe_table::Table;

use super::super::outlet::failed;
use super::super::peers::{PeerLikelihood, Peers};
use super::super::statistics::mean;
use crate::demo::as_the_paper;
use crate::failure::Failure;

const FOLDS: usize = 10;

/// What methods reach on rows they were not fitted to.
pub struct HeldOut {
    /// A Gaussian, PPCA, ours, and the best of each other group; worst first.
    pub methods: Vec<PeerLikelihood>,
    /// What each of ours gains over the Gaussian, paired by rows.
    pub gains: Vec<(String, Mean)>,
    /// Every other method that was tried.
    tried: Vec<PeerLikelihood>,
}

impl HeldOut {
    /// Fits in each fold.
    pub fn measure(table: &Table, peers: Option<&Peers>) -> Result<HeldOut, Failure> {
        let none = Settings::default().with(|s| s.experts = Some(0));
        let reduced = |q| none.clone().with(|s| s.dims = Dims::Count(q));
        let (gaussian, base) = score(table, "Gaussian", "Gaussian", &none)?;
        let mut methods = vec![gaussian];
        let mut tried = Vec::new();
        for q in 1..5 {
            let name = format!("PPCA, {q} dimension(s)");
            tried.push(score(table, &name, "PPCA", &reduced(q))?.0);
        }
        let mut gains = Vec::new();
        let ours = [
            ("upoe, the paper's two mixtures", as_the_paper()),
            ("upoe, default settings", Settings::default()),
            ("upoe, all 5 directions", Settings::default().with(|s| s.stop = Some(Stop::Train))),
        ];
        for (name, settings) in ours {
            let (likelihood, rows) = score(table, name, name, &settings)?;
            let differences: Vec<f64> = rows.iter().zip(&base).map(|(a, b)| a - b).collect();
            gains.push((name.to_owned(), Mean::of(&differences)));
            methods.push(likelihood);
        }
        tried.extend(peers.iter().flat_map(|peers| peers.likelihoods.clone()));
        let best = |group: &str| {
            let of_group = tried.iter().filter(|l| l.group == group);
            of_group.max_by(|a, b| a.test.total_cmp(&b.test)).cloned()
        };
        methods.extend(best("PPCA"));
        methods.extend(best("Gaussian mixture"));
        methods.sort_by(|a, b| a.test.total_cmp(&b.test));
        Ok(HeldOut { methods, gains, tried })
    }

    /// Every number.
    pub fn json(&self) -> Value {
        let gains: Vec<Value> = (self.gains.iter())
            .map(|(name, gain)| json!({ "method": name, "gain_over_gaussian": gain }))
            .collect();
        json!({ "folds": FOLDS, "shown": self.methods, "tried": self.tried, "gains": gains })
    }
}

/// Fits to nine tenths, scores the rest, ten times: the likelihood and each row's ln p.
fn score(
    table: &Table,
    name: &str,
    group: &str,
    settings: &Settings,
) -> Result<(PeerLikelihood, Vec<f64>), Failure> {
    let all = Rows::new(&table.data, 5).map_err(failed)?;
    let (mut train, mut test) = (Vec::new(), vec![0.0; all.len()]);
    for fold in 0..FOLDS {
        let (out, kept): (Vec<usize>, Vec<usize>) =
            (0..all.len()).partition(|row| row % FOLDS == fold);
        let ((kept, _), (held, _)) = (all.pick(&kept), all.pick(&out));
        let (kept, held) = (Rows::new(&kept, 5), Rows::new(&held, 5));
        let (kept, held) = (kept.map_err(failed)?, held.map_err(failed)?);
        let model = fit(&kept, settings).map_err(failed)?.model;
        train.push(mean(&model.score(&kept).map_err(failed)?));
        let scores = model.score(&held).map_err(failed)?;
        out.iter().zip(scores).for_each(|(row, score)| test[*row] = score);
    }
    let estimate = Mean::of(&test);
    let likelihood = PeerLikelihood {
        method: name.into(),
        group: group.into(),
        train: mean(&train),
        test: estimate.mean,
        standard_error: estimate.standard_error,
    };
    Ok((likelihood, test))
}

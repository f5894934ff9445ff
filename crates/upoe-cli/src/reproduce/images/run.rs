//! One run of learning, with its likelihood against time.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use upoe::{Choice, Event, Fitter, Model, Rows, Settings, State};

use super::super::outlet::{Outlet, failed};
use crate::failure::Failure;
use crate::interrupt;
use crate::watch::Watch;

/// How a run went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// best or paper.
    pub recipe: String,
    /// Seconds of learning until there were 0, 1, … experts; sphering counts.
    pub seconds: Vec<f64>,
    /// Mean ln p of the training patches in sphered space with 0, 1, … experts.
    pub train: Vec<f64>,
    /// The same of the held-out patches.
    pub held_out: Vec<f64>,
}

impl Run {
    /// Learns.
    pub fn learn(
        rows: &Rows,
        held: &Rows,
        settings: &Settings,
        outlet: &Outlet,
    ) -> Result<(Model, Run), Failure> {
        outlet.progress.stage("sphering, then learning");
        let start = Instant::now();
        let mut seconds = Vec::new();
        let mut watch = Watch::new(&outlet.progress, settings.experts, &State::default());
        let fitter = Fitter::new(settings.clone()).holdout(*held).observe(|event| {
            watch.see(event);
            match event {
                Event::Learned(_) => seconds.push(start.elapsed().as_secs_f64()),
                Event::Pass { .. } if seconds.is_empty() => {
                    seconds.push(start.elapsed().as_secs_f64());
                }
                _ => {}
            }
            !interrupt::asked()
        });
        let fit = fitter.fit(rows).map_err(failed)?;
        outlet.go_on()?;
        let path = &fit.state.path;
        let run = Run {
            recipe: settings.recipe.name().into(),
            seconds,
            train: path.iter().map(|p| p.train).collect(),
            held_out: path.iter().map(|p| p.holdout.unwrap_or(f64::NAN)).collect(),
        };
        Ok((fit.model, run))
    }

    /// From the results of another run.
    pub fn read(path: &Path) -> Result<Run, Failure> {
        let wrong = |what: String| {
            Failure::Message(format!(
                "{}: {what}; give the results.json of another `upoe reproduce images`",
                path.display()
            ))
        };
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(format!("cannot be read ({error})")))?;
        let results: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| wrong(format!("is not JSON ({error})")))?;
        serde_json::from_value(results["run"].clone())
            .map_err(|_| wrong("has no `run` of images in it".into()))
    }

    /// What expert j added.
    pub fn gain(&self, path: &[f64], expert: usize) -> f64 {
        path[expert + 1] - path[expert]
    }

    /// What all experts added to the held-out likelihood.
    pub fn total(&self) -> f64 {
        self.held_out.last().unwrap_or(&0.0) - self.held_out[0]
    }

    /// When the held-out gain reached a value, if it did.
    pub fn reaches(&self, gain: f64) -> Option<f64> {
        let at = self.held_out.iter().position(|value| value - self.held_out[0] >= gain)?;
        self.seconds.get(at).copied()
    }
}

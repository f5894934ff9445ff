//! `upoe reproduce images`: figure 4.

mod draw;
mod gabor;
mod page;
mod patches;
mod run;

use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};
use upoe::evaluate::Mean;
use upoe::expert::{Expert, Marginal};
use upoe::{Dims, Model, Precision, Recipe, Rows, Settings};

use self::gabor::Gabor;
use self::patches::{Patches, Pictures, SIDE};
use self::run::Run;
use super::marginals::Borrowed;
use super::outlet::{Outlet, failed};
use super::peers::{PeerLikelihood, Peers};
use super::statistics::mean;
use crate::args::{Common, one_of};
use crate::failure::Failure;

/// Figure 4: directions of natural image patches, which are localised and oriented
#[derive(Args)]
#[command(after_help = "Examples:
  upoe reproduce images --data images
  upoe reproduce images --data images --recipe paper -o paper \\
      --compare reproduce-images/results.json
  upoe reproduce images --data images --patches 20000 --experts 20 -o quick

The data are the 13 images 1.tiff … 13.tiff from www.cis.hut.fi/projects/ica/data/images.")]
pub struct Images {
    /// The directory with 1.tiff … 13.tiff
    #[arg(long, value_name = "DIR", default_value = "images")]
    data: PathBuf,
    /// The directory to write to
    #[arg(long, short, value_name = "DIR", default_value = "reproduce-images")]
    output: PathBuf,
    /// How to take steps: best, or paper (gradient steps on batches of 100 patches)
    #[arg(long, default_value = "best", value_name = "RECIPE",
          value_parser = one_of::<Recipe>())]
    recipe: Recipe,
    /// Patches of images 1 to 11 to train on
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    patches: usize,
    /// Patches of images 12 and 13 to hold out
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    held_out: usize,
    /// Dimensions to keep
    #[arg(long, value_name = "D", default_value_t = 400)]
    dims: usize,
    /// Directions to learn
    #[arg(long, value_name = "J", default_value_t = 100)]
    experts: usize,
    /// Number of starts for each direction
    #[arg(long, value_name = "K", default_value_t = 8)]
    starts: usize,
    /// A descent has converged when no entry of the gradient is larger than this
    #[arg(long, value_name = "T", default_value_t = 1e-3)]
    tol: f64,
    /// The seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// results.json of another run, to compare held-out gain against time
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
    /// Results of other methods, from bench/peers.py
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What other models reach on the same patches.
struct Others {
    /// Gain of FastICA's directions with Student-t experts on held-out patches, best first.
    fastica: Vec<f64>,
    /// FastICA's filters, best first.
    filters: Vec<Vec<f64>>,
    /// Gaussian mixtures, in sphered space.
    mixtures: Vec<PeerLikelihood>,
    made_with: String,
}

/// Everything the figures and the page show.
struct Found {
    run: Run,
    compared: Option<Run>,
    filters: Vec<Vec<f64>>,
    patterns: Vec<Vec<f64>>,
    /// Gabor functions fitted to filters and to patterns.
    gabors: [Vec<Gabor>; 2],
    /// β of each expert.
    beta: Vec<f64>,
    kept_variance: f64,
    others: Option<Others>,
    /// PPCA over all 900 pixels by its dimensions, and ours; some held-out patches.
    pixels: Vec<(String, Mean)>,
    patches: usize,
    held_out: usize,
    dims: usize,
}

impl Images {
    /// Reads, fits, draws, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.check()?;
        let pictures = Pictures::read(&self.data)?;
        let peers = Peers::read(self.peers.as_deref(), "images", None)?;
        let compared = self.compare.as_deref().map(Run::read).transpose()?;
        let mut outlet = Outlet::open(
            &self.output,
            &self.common,
            &[self.compare.as_deref(), self.peers.as_deref()],
        )?;
        let train = pictures.patches(1..=11, self.patches, self.seed);
        let held = pictures.patches(12..=13, self.held_out, self.seed);
        outlet.write("patches.csv", patches::places(&train, &held).as_bytes())?;
        let found = self.find(&train, &held, peers, compared, &outlet)?;
        outlet.progress.stage("drawing");
        let pictures = draw::all(&mut outlet, &found, self.seed)?;
        let page = page::page(&found, &pictures);
        outlet.finish(self.results(&found), &page)
    }

    fn check(&self) -> Result<(), Failure> {
        let pixels = SIDE * SIDE;
        let wrong = match () {
            () if self.experts == 0 || self.experts > self.dims => {
                format!("--experts {}: between 1 and --dims ({})", self.experts, self.dims)
            }
            () if self.dims >= pixels => {
                format!("--dims {}: fewer than the {pixels} pixels of a patch", self.dims)
            }
            () if self.patches < 2 * pixels => {
                format!("--patches {}: at least {}", self.patches, 2 * pixels)
            }
            () if self.held_out < 100 => {
                format!("--held-out {}: at least 100", self.held_out)
            }
            () => {
                return self
                    .settings()
                    .check()
                    .map_err(|e| Failure::Usage(crate::failure::setting(&e)));
            }
        };
        Err(Failure::Usage(wrong + " are needed"))
    }

    fn settings(&self) -> Settings {
        let paper = self.recipe == Recipe::Paper;
        Settings::default().with(|s| {
            s.experts = Some(self.experts);
            s.dims = Dims::Count(self.dims);
            s.families = upoe::expert::Family::StudentT.into();
            s.fix_mu = Some(vec![0.0]);
            s.precision = Precision::F32;
            s.recipe = self.recipe;
            // The paper takes one random start.
            s.starts = Some(if paper { 1 } else { self.starts });
            s.tol = self.tol;
            s.seed = self.seed;
        })
    }

    fn find(
        &self,
        train: &Patches,
        held: &Patches,
        peers: Option<Peers>,
        compared: Option<Run>,
        outlet: &Outlet,
    ) -> Result<Found, Failure> {
        let (rows, out) = (view(train)?, view(held)?);
        let (model, run) = Run::learn(&rows, &out, &self.settings(), outlet)?;
        outlet.progress.stage("fitting Gabor functions");
        let (filters, patterns) = (model.filters(), model.patterns());
        let fit = |list: &[Vec<f64>]| -> Vec<Gabor> {
            list.par_iter().map(|filter| Gabor::fit(filter, SIDE)).collect()
        };
        let gabors = [fit(&filters), fit(&patterns)];
        outlet.go_on()?;
        let others = match peers {
            Some(peers) => self.others(&model, train, &rows, &out, peers, outlet)?,
            None => None,
        };
        outlet.progress.stage("measuring densities over all pixels");
        let pixels = self.pixels(&model, &rows, &out)?;
        outlet.go_on()?;
        let beta = |expert: &Expert| {
            let all = expert.parameters();
            all.iter().find(|p| p.name == "beta").map_or(f64::NAN, |p| p.values[0])
        };
        Ok(Found {
            run,
            compared,
            filters,
            patterns,
            gabors,
            beta: model.experts().iter().map(beta).collect(),
            kept_variance: model.whitening().kept_variance(),
            others,
            pixels,
            patches: rows.len(),
            held_out: out.len(),
            dims: self.dims,
        })
    }

    /// FastICA and mixtures, where their results are of these very patches.
    fn others(
        &self,
        model: &Model,
        train: &Patches,
        rows: &Rows,
        out: &Rows,
        peers: Peers,
        outlet: &Outlet,
    ) -> Result<Option<Others>, Failure> {
        outlet.progress.stage("fitting experts to FastICA's directions");
        let x = model.whitening().sphere(rows).map_err(failed)?;
        if !peers.fits(&patches::first(train), &x, self.dims) {
            outlet.progress.warn(
                "the results of other methods are of other patches, so they are left out; make \
                 them with the patches.csv written here",
            );
            return Ok(None);
        }
        let mixtures = peers.best();
        let borrowed = Borrowed::fit(&x, peers.fastica, &self.settings()).map_err(failed)?;
        let y = model.whitening().sphere(out).map_err(failed)?;
        let fastica: Vec<f64> = (borrowed.directions.par_iter().zip(&borrowed.experts))
            .map(|(w, expert)| {
                let along = super::marginals::projections(&y, self.dims, std::slice::from_ref(w));
                let gain =
                    |z: &f64| expert.ln_density(*z) + 0.5 * (z * z + std::f64::consts::TAU.ln());
                mean(&along[0].iter().map(gain).collect::<Vec<_>>())
            })
            .collect();
        let whole = borrowed.model(model.whitening(), borrowed.q.len()).map_err(failed)?;
        let (filters, made_with) = (whole.filters(), peers.made_with);
        Ok(Some(Others { fastica, filters, mixtures, made_with }))
    }

    /// Densities over all pixels of some held-out patches: PPCA is the model without experts.
    fn pixels(
        &self,
        model: &Model,
        rows: &Rows,
        out: &Rows,
    ) -> Result<Vec<(String, Mean)>, Failure> {
        const SOME: usize = 500;
        let every: Vec<usize> = (0..out.len()).step_by((out.len() / SOME).max(1)).collect();
        let (some, _) = out.pick(&every);
        let some = Rows::new(&some, SIDE * SIDE).map_err(failed)?;
        let moments = upoe::Moments::of(rows).map_err(failed)?;
        let mut list = Vec::new();
        for dims in [self.dims / 4, self.dims, (self.dims + SIDE * SIDE) / 2] {
            let kept = upoe::Whitening::from_moments(&moments, Dims::Count(dims.max(1)));
            let plain = Model::new(kept.map_err(failed)?.0, Vec::new(), Vec::new());
            let scores = plain.and_then(|plain| plain.score(&some)).map_err(failed)?;
            list.push((format!("PPCA, {dims} dimensions"), Mean::of(&scores)));
        }
        let scores = model.score(&some).map_err(failed)?;
        let name = format!("upoe, {} dimensions, {} experts", self.dims, model.experts().len());
        list.push((name, Mean::of(&scores)));
        Ok(list)
    }

    fn results(&self, found: &Found) -> Value {
        let run = &found.run;
        let experts: Vec<Value> = (0..found.filters.len())
            .map(|j| {
                json!({
                    "gain_train": run.gain(&run.train, j),
                    "gain_held_out": run.gain(&run.held_out, j),
                    "beta": found.beta[j],
                    "filter": found.filters[j],
                    "pattern": found.patterns[j],
                    "gabor_of_filter": found.gabors[0][j],
                    "gabor_of_pattern": found.gabors[1][j],
                })
            })
            .collect();
        let pixels: Vec<Value> = (found.pixels.iter())
            .map(|(name, e)| json!({ "method": name, "held_out": e }))
            .collect();
        json!({
            "experiment": "images",
            "recipe": self.recipe,
            "patches": found.patches,
            "held_out_patches": found.held_out,
            "dims": self.dims,
            "kept_variance": found.kept_variance,
            "settings": self.settings(),
            "run": run,
            "compared_with": found.compared,
            "gabor_of_filters": gabor::Summary::of(&found.gabors[0]),
            "gabor_of_patterns": gabor::Summary::of(&found.gabors[1]),
            "experts": experts,
            "experts_in_figure_4": draw::chosen(found, self.seed),
            "fastica": found.others.as_ref().map(|o| json!({
                "gain_held_out": o.fastica, "filters": o.filters
            })),
            "mixtures": found.others.as_ref().map(|o| &o.mixtures),
            "peers_made_with": found.others.as_ref().map(|o| &o.made_with),
            "over_pixels": pixels,
        })
    }
}

fn view(patches: &Patches) -> Result<Rows<'_>, Failure> {
    Rows::new(&patches.values, SIDE * SIDE).map_err(failed)
}

/// What to get, and where it goes.
fn missing(path: &Path) -> Failure {
    Failure::Message(format!(
        "{}: no natural images there; get 1.tiff … 13.tiff from \
         www.cis.hut.fi/projects/ica/data/images into one directory and give it with `--data DIR`",
        path.display()
    ))
}

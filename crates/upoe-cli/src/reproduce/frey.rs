//! `upoe reproduce frey`: figure 1.

mod claims;
mod draw;
mod faces;
mod page;
mod paths;

use std::path::{Path, PathBuf};

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};
use upoe::evaluate::Mean;
use upoe::{Dims, Rows, Settings, fit};

use self::faces::{FRAMES, Faces, PIXELS, Split};
use self::paths::{Curves, LEARNERS, STRIDE};
use super::marginals::Borrowed;
use super::outlet::{Outlet, failed};
use super::peers::{PeerLikelihood, Peers};
use super::statistics::{mean, mean_of_series};
use crate::args::Common;
use crate::failure::Failure;

/// Figure 1: likelihood of the Frey faces against the number of projections, for three learners
#[derive(Args)]
#[command(after_help = "Examples:
  upoe reproduce frey --data frey_rawface.mat
  upoe reproduce frey --data frey_rawface.mat --splits 10
  upoe reproduce frey --data frey_rawface.npy --train-rows rows.txt -o out

The data are frey_rawface.mat from www.cs.toronto.edu/~roweis/data.")]
pub struct Frey {
    /// The faces, frey_rawface.mat or .npy, or the directory they are in
    #[arg(long, value_name = "FILE", default_value = ".")]
    data: PathBuf,
    /// The directory to write to
    #[arg(long, short, value_name = "DIR", default_value = "reproduce-frey")]
    output: PathBuf,
    /// Rows to train on in the first split, numbers from 0 [default: 1000 at random]
    #[arg(long, value_name = "FILE")]
    train_rows: Option<PathBuf>,
    /// Number of random splits, and of splits by blocks of frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    splits: usize,
    /// Number of projections of the largest model, a multiple of 5
    #[arg(long, value_name = "J", default_value_t = 50)]
    projections: usize,
    /// The seed of the splits
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Results of other methods, from bench/peers.py [default: those that come with upoe, where
    /// they are of the same split]
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// What other models reach on the first split.
struct Others {
    /// FastICA's directions with Student-t experts, by gain: mean ln p of training and test
    /// rows in sphered space with 0, 1, … of them.
    fastica: Vec<(f64, f64)>,
    /// The best Gaussian mixture of each kind, in sphered space.
    mixtures: Vec<PeerLikelihood>,
    made_with: String,
}

/// ln p over all 560 pixels of the test rows of the first split.
struct Pixels {
    /// PPCA by its dimensions.
    ppca: Vec<(usize, Mean)>,
    /// Pursuit by its dimensions.
    ours: Vec<(usize, Mean)>,
}

/// Everything the figures and the page show.
struct Found {
    random: Vec<Curves>,
    blocks: Vec<Curves>,
    others: Option<Others>,
    pixels: Pixels,
}

impl Frey {
    /// Reads, fits, draws, writes.
    pub fn run(&self) -> Result<(), Failure> {
        if self.splits == 0 {
            return Err(Failure::Usage("--splits 0: at least one split is needed".into()));
        }
        let most = self.projections;
        if most == 0 || most > 50 || !most.is_multiple_of(STRIDE) {
            let text = format!("--projections {most}: a multiple of 5, up to 50, is needed");
            return Err(Failure::Usage(text));
        }
        let faces = Faces::read(&self.data)?;
        let embedded = include_str!("../../data/peers-frey.json");
        let peers = Peers::read(self.peers.as_deref(), "frey", Some(embedded))?;
        let given = self.train_rows.as_deref().map(faces::read_rows).transpose()?;
        let splits = |by_blocks: bool| -> Vec<Split> {
            let one = |i: usize| match (&given, by_blocks, i) {
                (Some(rows), false, 0) => Split::given(rows),
                (_, true, _) => Split::by_blocks(self.seed + i as u64),
                (_, false, _) => Split::random(self.seed + i as u64),
            };
            (0..self.splits).map(one).collect()
        };
        let mut outlet = Outlet::open(
            &self.output,
            &self.common,
            &[Some(&self.data), self.train_rows.as_deref(), self.peers.as_deref()],
        )?;
        let (random, blocks) = (splits(false), splits(true));
        let rows: Vec<String> = random[0].train.iter().map(|row| row.to_string()).collect();
        outlet.write("train_rows.txt", (rows.join("\n") + "\n").as_bytes())?;
        let found = Found {
            others: self.others(&faces, &random[0], peers, &outlet)?,
            random: self.curves(&faces, &random, &outlet, "random splits")?,
            blocks: self.curves(&faces, &blocks, &outlet, "splits by blocks")?,
            pixels: self.pixels(&faces, &random[0], &outlet)?,
        };
        outlet.go_on()?;
        outlet.progress.stage("drawing");
        let pictures = draw::all(&mut outlet, &found)?;
        let page = page::page(&found, &pictures);
        outlet.finish(self.results(&found, &random, &blocks), &page)
    }

    /// Other methods, where their results are of this very split.
    fn others(
        &self,
        faces: &Faces,
        split: &Split,
        peers: Option<Peers>,
        outlet: &Outlet,
    ) -> Result<Option<Others>, Failure> {
        let Some(peers) = peers else { return Ok(None) };
        let (train, test) = (faces.pick(&split.train), faces.pick(&split.test));
        let (train, test) = (rows(&train)?, rows(&test)?);
        let none = self.settings().with(|s| s.experts = Some(0));
        let model = fit(&train, &none).map_err(failed)?.model;
        let x = model.whitening().sphere(&train).map_err(failed)?;
        let numbers: Vec<i64> = split.train.iter().map(|row| *row as i64).collect();
        if !peers.fits(&numbers, &x, 50) {
            if let Some(file) = &self.peers {
                outlet.progress.warn(&format!(
                    "{}: is of another split of the rows, so it is left out; make it with the \
                     train_rows.txt written here",
                    file.display()
                ));
            }
            return Ok(None);
        }
        let mixtures = peers.best();
        let borrowed = Borrowed::fit(&x, peers.fastica, &self.settings()).map_err(failed)?;
        let at = |j: usize| -> upoe::Result<(f64, f64)> {
            let model = borrowed.model(model.whitening(), j)?;
            Ok((mean(&model.score_sphered(&train)?), mean(&model.score_sphered(&test)?)))
        };
        let fastica: upoe::Result<Vec<(f64, f64)>> =
            (0..=self.projections).into_par_iter().map(at).collect();
        let made_with = peers.made_with;
        Ok(Some(Others { fastica: fastica.map_err(failed)?, mixtures, made_with }))
    }

    /// The paper's: 50 dimensions, Student-t experts around 0.
    fn settings(&self) -> Settings {
        Settings::default().with(|s| {
            s.experts = Some(self.projections);
            s.dims = Dims::Count(50);
            s.families = upoe::expert::Family::StudentT.into();
            s.fix_mu = Some(vec![0.0]);
            s.tol = 1e-4;
        })
    }

    /// The curves of every split and learner, side by side.
    fn curves(
        &self,
        faces: &Faces,
        splits: &[Split],
        outlet: &Outlet,
        what: &str,
    ) -> Result<Vec<Curves>, Failure> {
        outlet.progress.stage(&format!("learning PAR, SEQ and PP, {what}: {}", splits.len()));
        let tasks: Vec<(usize, usize)> =
            (0..splits.len()).flat_map(|s| (0..LEARNERS.len()).map(move |l| (s, l))).collect();
        let paths: Result<Vec<paths::Path>, Failure> = tasks
            .into_par_iter()
            .map(|(s, l)| {
                let (train, test) = (faces.pick(&splits[s].train), faces.pick(&splits[s].test));
                let settings = self.settings().with(|s| s.learner = LEARNERS[l].1);
                paths::learn(&rows(&train)?, &rows(&test)?, settings)
            })
            .collect();
        outlet.go_on()?;
        let mut paths = paths?.into_iter();
        let curves = splits.iter().map(|split| Curves {
            paths: paths.by_ref().take(LEARNERS.len()).collect(),
            test_over_train: split.test.len() as f64 / split.train.len() as f64,
        });
        Ok(curves.collect())
    }

    /// PPCA, which is our model without experts, and pursuit, over all pixels.
    fn pixels(&self, faces: &Faces, split: &Split, outlet: &Outlet) -> Result<Pixels, Failure> {
        outlet.progress.stage("measuring densities over all pixels");
        let (train, test) = (faces.pick(&split.train), faces.pick(&split.test));
        let (train, test) = (rows(&train)?, rows(&test)?);
        let score = |dims: usize, experts: usize| -> Result<(usize, Mean), Failure> {
            let (dims_of, experts) = (Dims::Count(dims), Some(experts));
            let settings = self.settings().with(|s| {
                s.dims = dims_of;
                s.experts = experts;
            });
            let model = fit(&train, &settings).map_err(failed)?.model;
            let scores = model.score(&test).map_err(failed)?;
            Ok((dims, mean_of_series(&scores, claims::BLOCK)))
        };
        let each = |list: &[usize], experts| -> Result<Vec<(usize, Mean)>, Failure> {
            list.par_iter().map(|dims| score(*dims, experts)).collect()
        };
        let ppca = each(&[10, 25, 50, 75, 100, 150, 200, 300, 400], 0)?;
        let best =
            ppca.iter().max_by(|a, b| a.1.mean.total_cmp(&b.1.mean)).map_or(50, |best| best.0);
        let mut dims = vec![50, best];
        dims.dedup();
        let ours = each(&dims, self.projections)?;
        Ok(Pixels { ppca, ours })
    }

    fn results(&self, found: &Found, random: &[Split], blocks: &[Split]) -> Value {
        let kind = |curves: &[Curves], splits: &[Split]| -> Value {
            let all = curves.iter().zip(splits).map(
                |(curves, split)| json!({ "train_rows": split.train, "paths": curves.json() }),
            );
            let claims = claims::Claims::of(curves);
            json!({ "splits": all.collect::<Vec<_>>(), "claims": claims.json() })
        };
        let by_dims = |list: &[(usize, Mean)]| -> Vec<Value> {
            list.iter().map(|(dims, e)| json!({ "dims": dims, "test": e })).collect()
        };
        json!({
            "experiment": "frey",
            "frames": FRAMES,
            "pixels": PIXELS,
            "dims": 50,
            "seed": self.seed,
            "random": kind(&found.random, random),
            "blocks": kind(&found.blocks, blocks),
            "fastica": found.others.as_ref().map(|others| &others.fastica),
            "mixtures": found.others.as_ref().map(|others| &others.mixtures),
            "peers_made_with": found.others.as_ref().map(|others| &others.made_with),
            "over_pixels": {
                "ppca": by_dims(&found.pixels.ppca),
                "pursuit": by_dims(&found.pixels.ours),
            },
        })
    }
}

fn rows(values: &[f64]) -> Result<Rows<'_>, Failure> {
    Rows::new(values, PIXELS).map_err(failed)
}

/// What to get, and where it goes.
fn missing(path: &Path) -> Failure {
    Failure::Message(format!(
        "{}: no Frey faces there; get frey_rawface.mat from www.cs.toronto.edu/~roweis/data and \
         give its path with `--data frey_rawface.mat`",
        path.display()
    ))
}

//! `upoe reproduce crabs`: figures 2 and 3.

mod draw;
mod held_out;
mod page;

use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use serde_json::{Value, json};
use upoe::expert::{Expert, Marginal};
use upoe::{Fit, Recipe, Rows, Settings, fit};
use upoe_table::Table;

use super::marginals::{Borrowed, projections};
use super::outlet::{Outlet, failed};
use super::peers::Peers;
use super::statistics::{adjusted_rand, extent};
use crate::args::Common;
use crate::demo::{as_the_paper, crabs};
use crate::failure::Failure;

/// Figures 2 and 3: two projections of the Crabs under mixtures, and how often they are found
#[derive(Args)]
#[command(after_help = "Examples:
  upoe reproduce crabs                   writes reproduce-crabs/
  upoe reproduce crabs --seeds 500 -o out")]
pub struct Crabs {
    /// The directory to write to
    #[arg(long, short, value_name = "DIR", default_value = "reproduce-crabs")]
    output: PathBuf,
    /// Number of fits, each from another seed
    #[arg(long, value_name = "N", default_value_t = 100)]
    seeds: u64,
    /// Number of fits from a single random start
    #[arg(long, value_name = "N", default_value_t = 1000)]
    single: u64,
    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Results of other methods, from bench/peers.py [default: those that come with upoe]
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Closer than the minima are to each other, in nats.
const NEAR: f64 = 0.01;
/// Fits with the paper's own recipe take longer: a tenth of the single starts.
const PAPER_SHARE: u64 = 10;

/// Everything the figures and the page show.
struct Found {
    /// The fit from the first seed.
    fit: Fit,
    /// Projections, two per crab.
    z: Vec<f64>,
    /// Species and sex, as a number 0…3.
    classes: Vec<usize>,
    /// Adjusted Rand index of the four groups against species × sex.
    rand: f64,
    /// Crabs on the right side, by species along the first and sex along the second.
    right: [usize; 2],
    /// Q₁ and Q₂ from every seed.
    seeds: Vec<[f64; 2]>,
    /// Least |cosine| between a direction and that of the first seed.
    cosine: f64,
    /// Q₁ and Q₂ from single random starts.
    single: Vec<[f64; 2]>,
    /// Q₁ and Q₂ from single random starts by the paper's recipe.
    paper: Vec<[f64; 2]>,
    /// FastICA's directions on the same rows.
    fastica: Option<FastIca>,
    /// Held-out ln p.
    held_out: held_out::HeldOut,
}

/// FastICA's directions with mixture experts.
struct FastIca {
    all: Borrowed,
    /// Projections on the two of largest gain, two per crab.
    z: Vec<f64>,
    /// Adjusted Rand index of their four groups.
    rand: f64,
}

/// The classes in the order of their numbers.
const CLASSES: [&str; 4] = ["blue male", "blue female", "orange male", "orange female"];

impl Crabs {
    /// Fits, draws, writes.
    pub fn run(&self) -> Result<(), Failure> {
        if self.seeds == 0 || self.single == 0 {
            return Err(Failure::Usage("--seeds and --single: at least one is needed".into()));
        }
        let embedded = include_str!("../../data/peers-crabs.json");
        let peers = Peers::read(self.peers.as_deref(), "crabs", Some(embedded))?;
        let mut outlet = Outlet::open(&self.output, &self.common, &[self.peers.as_deref()])?;
        let table = crabs()?;
        let found = self.find(&table, &outlet, peers.as_ref())?;
        outlet.progress.stage("drawing");
        let pictures = draw::all(&mut outlet, &found)?;
        let page = page::page(&found, peers.as_ref(), &pictures);
        outlet.finish(self.results(&found, peers.as_ref()), &page)
    }

    fn find(
        &self,
        table: &Table,
        outlet: &Outlet,
        peers: Option<&Peers>,
    ) -> Result<Found, Failure> {
        let rows = Rows::new(&table.data, 5).map_err(failed)?;
        let first = fit(&rows, &self.settings(0)).map_err(failed)?;
        let z = first.model.transform(&rows).map_err(failed)?;
        outlet.progress.stage(&format!("fitting from {} seeds", self.seeds));
        let fits = self.fits(&rows, outlet, self.seeds, &|seed| self.settings(seed))?;
        outlet.progress.stage(&format!("fitting from {} single random starts", self.single));
        let one = |seed| self.settings(seed).with(|s| s.starts = Some(1));
        let single = self.fits(&rows, outlet, self.single, &one)?;
        let count = self.single.div_ceil(PAPER_SHARE);
        outlet.progress.stage(&format!("fitting {count} times with the paper's recipe"));
        let recipe = |seed| one(seed).with(|s| s.recipe = Recipe::Paper);
        let paper = self.fits(&rows, outlet, count, &recipe)?;
        outlet.progress.stage("holding out rows, fold by fold");
        let held_out = held_out::HeldOut::measure(table, peers)?;
        outlet.go_on()?;

        let x = first.model.whitening().sphere(&rows).map_err(failed)?;
        let numbers: Vec<i64> = (0..table.rows as i64).collect();
        let fastica = match peers.filter(|peers| peers.fits(&numbers, &x, 5)) {
            Some(peers) => {
                let all =
                    Borrowed::fit(&x, peers.fastica.clone(), &self.settings(0)).map_err(failed)?;
                let along = projections(&x, 5, &all.directions[..2]);
                let z: Vec<f64> =
                    along[0].iter().zip(&along[1]).flat_map(|(a, b)| [*a, *b]).collect();
                let rand = groups(&all.experts, &z, &classes(table)).0;
                Some(FastIca { all, z, rand })
            }
            None => None,
        };
        let directions = first.model.directions();
        let cosines = fits.iter().flat_map(|fit| {
            let dot = |j: usize| -> f64 {
                let pairs = fit.model.directions()[j].iter().zip(&directions[j]);
                pairs.map(|(a, b)| a * b).sum::<f64>().abs()
            };
            [dot(0), dot(1)]
        });
        let cosine = cosines.fold(1.0, f64::min);
        let classes = classes(table);
        let (rand, right) = groups(first.model.experts(), &z, &classes);
        let q = |fits: &[Fit]| fits.iter().map(|fit| [0, 1].map(|j| q(fit, j))).collect();
        let (seeds, single, paper) = (q(&fits), q(&single), q(&paper));
        Ok(Found {
            fit: first,
            z,
            classes,
            rand,
            right,
            seeds,
            cosine,
            single,
            paper,
            fastica,
            held_out,
        })
    }

    /// The paper's settings under a seed.
    fn settings(&self, seed: u64) -> Settings {
        as_the_paper().with(|s| s.seed = self.seed + seed)
    }

    /// Many fits, side by side.
    fn fits(
        &self,
        rows: &Rows,
        outlet: &Outlet,
        count: u64,
        settings: &(dyn Fn(u64) -> Settings + Sync),
    ) -> Result<Vec<Fit>, Failure> {
        let fits: Result<Vec<Fit>, Failure> = (0..count)
            .into_par_iter()
            .map(|seed| {
                if crate::interrupt::asked() {
                    return Err(Failure::Interrupted(None));
                }
                fit(rows, &settings(seed)).map_err(failed)
            })
            .collect();
        outlet.go_on()?;
        fits
    }

    fn results(&self, found: &Found, peers: Option<&Peers>) -> Value {
        let experts: Vec<Value> = found
            .fit
            .state
            .experts
            .iter()
            .zip(found.fit.model.filters())
            .map(|(learned, filter)| {
                json!({
                    "q": -learned.gain,
                    "parameters": learned.expert().parameters(),
                    "direction": learned.direction(),
                    "loadings": filter,
                })
            })
            .collect();
        let share = |q: &[[f64; 2]]| shares(q, &found.seeds[0]);
        let runs = |q: &[[f64; 2]]| json!({ "q": q, "share_at_best": share(q) });
        json!({
            "experiment": "crabs",
            "rows": found.classes.len(),
            "experts": experts,
            "projections": found.z.chunks(2).collect::<Vec<_>>(),
            "classes": found.classes.iter().map(|c| CLASSES[*c]).collect::<Vec<_>>(),
            "histograms": draw::histograms(found),
            "adjusted_rand": found.rand,
            "right_by_species": found.right[0],
            "right_by_sex": found.right[1],
            "seeds": { "first": self.seed, "q": found.seeds, "least_cosine": found.cosine },
            "single_starts": runs(&found.single),
            "single_starts_paper_recipe": runs(&found.paper),
            "fastica": found.fastica.as_ref().map(|fastica| json!({
                "q": fastica.all.q,
                "directions": fastica.all.directions,
                "projections": fastica.z.chunks(2).collect::<Vec<_>>(),
                "adjusted_rand": fastica.rand,
            })),
            "held_out": found.held_out.json(),
            "peers_made_with": peers.map(|peers| peers.made_with.clone()),
        })
    }
}

/// Q of an expert, 0 where the fit stopped before it.
fn q(fit: &Fit, expert: usize) -> f64 {
    fit.state.experts.get(expert).map_or(0.0, |learned| -learned.gain)
}

/// Which share of runs found the best first projection, and the best pair, to 0.01 nats: near enough to be
/// no other minimum.
fn shares(runs: &[[f64; 2]], best: &[f64; 2]) -> [f64; 2] {
    let share = |found: &dyn Fn(&[f64; 2]) -> bool| {
        runs.iter().filter(|run| found(run)).count() as f64 / runs.len() as f64
    };
    let first = |run: &[f64; 2]| run[0] < best[0] + NEAR;
    [share(&first), share(&|run| first(run) && run[1] < best[1] + NEAR)]
}

/// The spread of Q over runs: for each expert the least and the largest.
fn spread(runs: &[[f64; 2]]) -> [(f64, f64); 2] {
    [0, 1].map(|j| extent(&runs.iter().map(|run| run[j]).collect::<Vec<_>>()))
}

/// Species and sex as a number.
fn classes(table: &Table) -> Vec<usize> {
    let is = |column: usize, row: usize, value: &str| {
        usize::from(table.kept.get(column).and_then(|c| c.get(row)) != Some(value))
    };
    (0..table.rows).map(|row| 2 * is(0, row, "B") + is(1, row, "M")).collect()
}

/// Four groups by the likelier component along each projection: their adjusted Rand index, and
/// how many crabs are on the side of most of their species and of their sex.
fn groups(experts: &[Expert], z: &[f64], classes: &[usize]) -> (f64, [usize; 2]) {
    let side = |j: usize, z: f64| match &experts[j] {
        Expert::Mixture(mixture) => usize::from(mixture.responsibilities(z)[1] > 0.5),
        _ => usize::from(z > 0.0),
    };
    let sides: Vec<[usize; 2]> = z.chunks(2).map(|z| [side(0, z[0]), side(1, z[1])]).collect();
    let found: Vec<usize> = sides.iter().map(|s| 2 * s[0] + s[1]).collect();
    let right = |of: &dyn Fn(usize) -> usize, j: usize| {
        let same = sides.iter().zip(classes).filter(|(s, c)| s[j] == of(**c)).count();
        same.max(classes.len() - same)
    };
    (adjusted_rand(&found, classes), [right(&|c| c / 2, 0), right(&|c| c % 2, 1)])
}

//! A fit of rows in several places, which stay where they are.
//!
//! Each place looks at its rows ([`look`]), spheres them ([`sphere`]) and answers questions about them
//! ([`Partition`](crate::engine::Partition)). Only questions, sums and a sample travel.

use crate::effective::Effective;
use crate::elsewhere::Elsewhere;
use crate::engine::{Cluster, Partition, Remote, Shape, Stored, VERSION, at};
use crate::error::{Error, Result};
use crate::evaluate::Evaluation;
use crate::fitted::Fit;
use crate::fitter::Fitter;
use crate::learn::Precision;
use crate::moments::Moments;
use crate::random::{self, Use};
use crate::rows::{Rows, Values, view};
use crate::tally::{Tally, tally};
use crate::whitening::Whitening;
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What is asked of rows before they are sphered.
#[derive(Serialize, Deserialize)]
struct Look {
    version: String,
    holdout: Option<Share>,
    /// Moments of rows under a sphering, where it is refined.
    under: Option<Affine>,
}

/// Which rows are held out: each with this chance, by a seed.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Share {
    share: f64,
    seed: u64,
}

/// How rows are sphered.
#[derive(Clone, Serialize, Deserialize)]
struct Affine {
    mean: Vec<f64>,
    /// A, row after row.
    matrix: Vec<f64>,
}

impl Affine {
    fn of(whitening: &Whitening) -> Self {
        Affine { mean: whitening.mean().to_vec(), matrix: whitening.flat() }
    }

    fn dims(&self) -> usize {
        self.matrix.len() / self.mean.len().max(1)
    }
}

/// What rows say before they are sphered.
#[derive(Serialize, Deserialize)]
struct Seen {
    tally: Tally,
    held_rows: usize,
    held_weight: f64,
}

/// How rows become a partition.
#[derive(Serialize, Deserialize)]
struct Plan {
    holdout: Option<Share>,
    affine: Affine,
    precision: Precision,
    /// By how much weights are multiplied, where rows have weights then.
    scale: Option<f64>,
}

/// Some rows of a place and their weights; copies only where they are not all of its rows.
type Chosen<'a> = (Cow<'a, [f64]>, Option<Cow<'a, [f64]>>);

/// The rows of a place to learn from and those held out. Rows without weight count as neither.
fn split<'a>(index: usize, rows: &Rows<'a>, holdout: Option<Share>) -> [Chosen<'a>; 2] {
    let all_count = rows.weights().is_none_or(|w| w.iter().all(|w| *w > 0.0));
    if let (None, true, Values::Double(values)) = (holdout, all_count, rows.values()) {
        let weights = rows.weights().map(Cow::Borrowed);
        return [(Cow::Borrowed(values), weights), (Cow::default(), None)];
    }
    let out: Vec<bool> = match holdout {
        None => vec![false; rows.len()],
        Some(Share { share, seed }) => {
            let mut rng = random::stream(seed, Use::Holdout, 1 + index as u64);
            (0..rows.len()).map(|_| rng.random::<f64>() < share).collect()
        }
    };
    let some = |held: bool| {
        let counts = |i: &usize| out[*i] == held && rows.weight(*i) > 0.0;
        let (values, weights) = rows.pick(&(0..rows.len()).filter(counts).collect::<Vec<usize>>());
        (Cow::Owned(values), weights.map(Cow::Owned))
    };
    [some(false), some(true)]
}

/// What partition `index` says of its rows before they are sphered: the answer to
/// [`Cluster::look`]. `names` are those of the columns, for errors; there may be none.
pub fn look(index: usize, rows: &Rows, names: &[String], question: &[u8]) -> Result<Vec<u8>> {
    let Look { version, holdout, under } = read(index, question)?;
    if version != VERSION {
        let reason =
            format!("upoe {VERSION} is there, and {version} asks: install the same version");
        return Err(at(index, reason));
    }
    let failed = |error: Error| at(index, named(error, names));
    rows.check().map_err(failed)?;
    let [(values, weights), held] = split(index, rows, holdout);
    let train = view(&values, rows.columns(), weights.as_deref()).map_err(failed)?;
    let mut tally = tally(&train).map_err(failed)?;
    if let Some(affine) = under {
        let columns = rows.columns();
        let x = upoe_kernels::affine::<_, f64>(&values, columns, &affine.mean, &affine.matrix);
        let x = view(&x, affine.dims(), train.weights()).map_err(failed)?;
        tally.moments = Moments::of(&x).map_err(failed)?;
    }
    let held_rows = held.0.len() / rows.columns();
    let held_weight = held.1.map_or(held_rows as f64, |w| w.iter().sum());
    write(index, &Seen { tally, held_rows, held_weight })
}

/// Spheres the rows of partition `index`, for [`Cluster::sphere`].
pub fn sphere(index: usize, rows: &Rows, plan: &[u8]) -> Result<Partition> {
    let Plan { holdout, affine, precision, scale } = read(index, plan)?;
    let [(train, weights), held] = split(index, rows, holdout);
    let n = train.len() / rows.columns();
    let weights = scale.map(|scale| match weights {
        Some(weights) => weights.iter().map(|w| w * scale).collect(),
        None => vec![scale; n].into(),
    });
    let parts = [(train, weights), held];
    Ok(match precision {
        Precision::F64 => sphered::<f64>(index, &affine, parts),
        Precision::F32 => sphered::<f32>(index, &affine, parts),
    })
}

fn sphered<T: Stored>(index: usize, affine: &Affine, parts: [Chosen; 2]) -> Partition {
    let sphere = |(rows, weights): Chosen| {
        let columns = affine.mean.len();
        let x = upoe_kernels::affine::<f64, T>(&rows, columns, &affine.mean, &affine.matrix);
        (x, weights.map(Cow::into_owned))
    };
    Partition::new(index, affine.dims(), parts.map(sphere))
}

fn named(error: Error, names: &[String]) -> String {
    match error {
        Error::NonFinite { row, column, value } => {
            let name = names.get(column).map_or(column.to_string(), |name| format!("`{name}`"));
            format!("row {row}, column {name} is {value}: drop the row or replace the value")
        }
        error => error.to_string(),
    }
}

fn read<T: for<'a> Deserialize<'a>>(index: usize, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|e| at(index, format!("the bytes cannot be read ({e}): is it the same upoe?")))
}

fn write(index: usize, value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|e| at(index, e))
}

/// What all partitions say together.
struct Whole {
    tally: Tally,
    rows: Vec<usize>,
    held_rows: Vec<usize>,
    held_weight: f64,
}

fn ask(cluster: &dyn Cluster, holdout: Option<Share>, under: Option<&Whitening>) -> Result<Whole> {
    let question = Look { version: VERSION.into(), holdout, under: under.map(Affine::of) };
    let answers = cluster.look(&write(0, &question)?)?;
    let mut whole: Option<Whole> = None;
    for (index, answer) in answers.iter().enumerate() {
        let Seen { tally, held_rows, held_weight } = read(index, answer)?;
        let columns = tally.moments.mean().len();
        let whole = whole.get_or_insert_with(|| Whole {
            tally: Tally::empty(columns),
            rows: Vec::new(),
            held_rows: Vec::new(),
            held_weight: 0.0,
        });
        let expected = whole.tally.moments.mean().len();
        if columns != expected {
            let reason = format!("it has {columns} columns, and those before it have {expected}");
            return Err(at(index, reason));
        }
        whole.rows.push(tally.moments.rows());
        whole.held_rows.push(held_rows);
        whole.held_weight += held_weight;
        whole.tally.merge(&tally);
    }
    whole.ok_or(Error::TooFewRows { rows: 0, needed: 2 })
}

impl Fitter<'_> {
    /// Fits one layer to rows in several places. `holdout` is the share of rows held out, each by
    /// chance. The same partitions give the same bits, whoever works on them.
    ///
    /// Rows in memory are also searched for rows far away from all others; rows in several places are
    /// not. Their order does not count, and where rows are repeated, p-values count distinct
    /// rows, estimated from a sample of them.
    pub fn fit_cluster(
        self,
        cluster: &dyn Cluster,
        holdout: Option<f64>,
    ) -> Result<(Fit, Evaluation)> {
        let settings = self.checked(holdout.is_some())?;
        let holdout = holdout.map(|share| Share { share, seed: settings.seed });
        let whole = ask(cluster, holdout, None)?;
        let (mut whitening, ill) = Whitening::from_moments(&whole.tally.moments, settings.dims)?;
        if Whitening::is_ill(ill) {
            let again = ask(cluster, holdout, Some(&whitening))?;
            whitening.refine_by(&again.tally.moments)?;
        }
        let effective: Effective = whole.tally.effective(settings.counts);
        let scale = whole.tally.scale(&effective);
        let (precision, dims) = (settings.precision, whitening.dims());
        let affine = Affine::of(&whitening);
        cluster.sphere(&write(0, &Plan { holdout, affine, precision, scale })?)?;
        let rounding = precision.rounding();
        let weight = scale.unwrap_or(1.0) * whole.tally.moments.weight();
        let weighted = scale.is_some();
        let train = Remote::new(
            cluster,
            Shape { held: false, dims, rows: whole.rows, weight, weighted, rounding },
        );
        let held_weight = whole.held_weight;
        let weighted = whole.tally.weighted();
        let held = holdout.map(|_| {
            let (rows, weight) = (whole.held_rows, held_weight);
            Remote::new(cluster, Shape { held: true, dims, rows, weight, weighted, rounding })
        });
        let known = Elsewhere { effective, ties: whole.tally.ties() };
        self.fit_elsewhere(whitening, &train, held.as_ref().map(|h| h as _), known)
    }
}

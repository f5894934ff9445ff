//! From a fitted model and rows to everything the page shows.

mod cells;
mod curve;
mod experts;
mod findings;
mod groups;
mod histogram;
mod judge;
mod layers;
mod missing;
mod outliers;
mod path;
mod quantiles;
mod rows;
mod summary;

use upoe::evaluate::Evaluation;
use upoe::groups::Groups;
use upoe::{Error, Fitted, LayerRecord, Model, Result, State};

use crate::{Image, Page, Samples};

/// Rows the page shows at most; of more, a random sample and all outliers.
pub const MOST_ROWS: usize = 50_000;
/// Rows drawn from the model that the page shows at most.
const MOST_SAMPLES: usize = 5_000;
/// Rows drawn from the model against which outliers are measured.
const DRAWN: usize = 9_999;
/// Columns the page can use as axes at most.
const MOST_COLUMNS: usize = 60;

/// What [`build`] needs: a model, how it came about, and the rows to look at.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The page's heading, for example the data's file name.
    pub title: &'a str,
    /// What was fitted.
    pub fitted: Fitted<'a>,
    /// How the model came about.
    pub training: &'a FitRecord,
    /// The names of the model's columns.
    pub names: &'a [String],
    /// The rows to look at, in the model's columns; NaN is a missing cell. Weights are not used.
    pub rows: upoe::Rows<'a>,
    /// The number of each row in its file, from 1; counted from 1 where none are given.
    pub numbers: Option<&'a [u32]>,
    /// The groups that the fit found, where it looked for some.
    pub groups: Option<&'a Groups>,
    /// Columns that are not modelled: labels, identifiers.
    pub kept: &'a [Kept],
    /// Set when the columns are the pixels of an image, row by row.
    pub image: Option<Image>,
    /// The seed of the rows that are drawn.
    pub seed: u64,
}

/// A column that is shown but not modelled.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name.
    pub name: String,
    /// Its cells, one per row.
    pub cells: Cells,
}

/// The cells of a column that is not modelled.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Labels, or numbers to be shown digit for digit.
    Text(Vec<String>),
    /// Amounts; NaN where one is missing.
    Numbers(Vec<f64>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Text(cells) => cells.len(),
            Cells::Numbers(cells) => cells.len(),
        }
    }
}

/// How a model came about.
#[derive(Clone, Debug, Default)]
pub struct FitRecord {
    /// Experts with their gains and p-values, and the path on which the model grew.
    pub state: State,
    /// What each layer adds, where there is a stack.
    pub layers: Vec<LayerRecord>,
    /// How many rows it was fitted to, and how well it describes them.
    pub evaluation: Evaluation,
    /// Wall-clock seconds of the fit.
    pub seconds: f64,
    /// Why the fit stopped, in words: `upoe::StopReason` displays as such.
    pub stop_reason: String,
    /// What was chosen, as the user would write it.
    pub settings: Vec<(String, String)>,
    /// The version of upoe that fitted it.
    pub version: String,
    /// What a user should know.
    pub notices: Vec<String>,
}

/// How far [`build_with`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What is being done: "scoring".
    pub what: &'static str,
    /// How much of it is done.
    pub done: usize,
    /// How much there is to do.
    pub total: usize,
    /// What is counted: "rows".
    pub unit: &'static str,
}

/// Computes everything the page shows.
///
/// The histograms count all rows; clouds and tables show at most [`MOST_ROWS`], drawn at
/// random with all outliers among them.
pub fn build(input: &Input) -> Result<Page> {
    build_with(input, &mut |_| Ok(()))
}

/// The same, saying how far it is; an error that `watch` answers with ends the work.
pub fn build_with<E: From<Error>>(
    input: &Input,
    watch: &mut dyn FnMut(Step) -> std::result::Result<(), E>,
) -> std::result::Result<Page, E> {
    check(input)?;
    let Input { fitted, rows: all, training, .. } = *input;
    let (model, density) = (fitted.model, fitted.density());
    let (mut log_density, mut projections) = (Vec::with_capacity(all.len()), Vec::new());
    let mut labels = Vec::new();
    let block = (1_000_000 / all.columns()).next_multiple_of(1024);
    for start in (0..all.len()).step_by(block) {
        watch(Step { what: "scoring", done: start, total: all.len(), unit: "rows" })?;
        let part = all.slice(start..(start + block).min(all.len()));
        let is_complete = (0..part.len()).all(|i| !part.row(i).iter().any(|cell| cell.is_nan()));
        if is_complete {
            log_density.extend(density.score(&part)?);
            projections.extend(fitted.transform(&part)?);
        } else {
            log_density.extend(density.score_present(&part)?.iter().map(|found| found.value));
            projections.extend(fitted.transform_present(&part)?);
        }
        labels.extend(groups::labels(input, &part)?);
    }
    let projections = by_expert(&projections, model.experts().len());
    let (mut drawn, total) = (Vec::new(), drawn_rows(all.columns()));
    let block = Model::SAMPLE_BLOCK * rayon::current_num_threads();
    for start in (0..total).step_by(block) {
        watch(Step { what: "drawing rows", done: start, total, unit: "rows" })?;
        drawn.extend(density.sample_range(start..(start + block).min(total), input.seed));
    }
    let drawn = upoe::Rows::new(&drawn, all.columns())?;
    let drawn_density = density.score(&drawn)?;

    let verdict = judge::judge(input, watch)?;
    let listed = outliers::listed(input, &verdict, &log_density);
    let filled = missing::rows(input);
    let mut always = [&listed[..], &filled].concat();
    always.sort_unstable();
    always.dedup();
    let shown = rows::choose(all.len(), &always, input.seed);
    let groups = input.groups.map(|groups| groups::groups(input, groups, &labels, &shown));
    let path = path::path(training, model.whitening().dims());
    let experts = experts::experts(input, &projections, watch)?;
    let samples = samples(fitted, &drawn, &drawn_density, shown.len())?;
    let outliers =
        outliers::outliers(input, &verdict, &listed, &shown, &log_density, drawn_density)?;
    let missing = missing::missing(input, &filled, &shown)?;
    let counted = verdict.judged.as_ref().map(judge::Judged::counted).unwrap_or_default();
    let findings = findings::findings(input, groups.as_ref(), counted, &outliers, missing.as_ref());
    Ok(Page {
        title: input.title.to_owned(),
        summary: summary::summary(input, shown.len(), &projections, findings),
        path,
        experts,
        rows: rows::rows(input, &shown, &log_density, &projections),
        samples: Some(samples),
        outliers,
        missing,
        image: input.image,
        layers: layers::layers(input, &shown),
        groups,
    })
}

fn check(input: &Input) -> Result<()> {
    let same = |what, expected: usize, got: usize| {
        if expected == got { Ok(()) } else { Err(Error::Shape { what, expected, got }) }
    };
    let (columns, rows) = (input.fitted.model.whitening().columns(), input.rows.len());
    same("columns of a row", columns, input.rows.columns())?;
    same("names of columns", columns, input.names.len())?;
    if let Some(numbers) = input.numbers {
        same("row numbers", rows, numbers.len())?;
    }
    for kept in input.kept {
        same("cells of a kept column", rows, kept.cells.len())?;
    }
    if input.groups.is_some_and(|groups| !groups.suit(input.fitted.model)) {
        return Err(Error::InvalidSetting {
            name: "groups",
            value: "groups of another model".to_owned(),
            rule: "must be those of the model".into(),
        });
    }
    if let Some(Image { height, width }) = input.image {
        same("pixels of an image, one per column", height.saturating_mul(width), columns)?;
    }
    if rows == 0 {
        return Err(Error::TooFewRows { rows, needed: 1 });
    }
    input.rows.check_present()
}

/// How many rows are drawn: fewer where a row is long.
fn drawn_rows(columns: usize) -> usize {
    (20_000_000 / columns).clamp(999, DRAWN)
}

/// One vector per expert from projections row by row.
fn by_expert(z: &[f64], experts: usize) -> Vec<Vec<f64>> {
    (0..experts).map(|j| z.iter().skip(j).step_by(experts).copied().collect()).collect()
}

/// The first of the drawn rows, as many as rows are shown.
fn samples(
    fitted: Fitted,
    drawn: &upoe::Rows,
    drawn_density: &[f64],
    shown: usize,
) -> Result<Samples> {
    let (count, columns) = (shown.min(MOST_SAMPLES).min(drawn.len()), drawn.columns());
    let drawn_rows = drawn.slice(0..count);
    let z = fitted.transform(&drawn_rows)?;
    let column = |c: usize| (0..count).map(|i| drawn_rows.row(i)[c]).collect();
    Ok(Samples {
        log_density: drawn_density[..count].iter().copied().collect(),
        projections: by_expert(&z, fitted.model.experts().len())
            .into_iter()
            .map(|z| z.into_iter().collect())
            .collect(),
        columns: if columns > MOST_COLUMNS { vec![] } else { (0..columns).map(column).collect() },
        drawn: drawn.len(),
    })
}

//! Missing cells: what is missing, filling it in, columns from the others, conditions.

use pyo3::prelude::*;
use upoe::{Cell, Condition, Filler, Missing, Range, Rows, within};

use crate::arrays::{self, Floats, Source};
use crate::model::{PyModel, generic};
use crate::work::{self, Stop};
use crate::{errors, memory, threads};

/// Rows, or draws, between which work can be stopped.
const PART: usize = 64;
/// The same of densities: a power of two times [`PART`], because draws of a condition come in chains.
const PARTS: usize = 1024;

/// What is missing where, in a sentence; None where nothing is. The array must be private.
#[pyfunction]
pub fn missing(py: Python<'_>, x: Source, names: Option<Vec<String>>) -> PyResult<Option<String>> {
    let rows = x.whole(py)?;
    let rows = rows.rows()?;
    let found = py.detach(|| Missing::of(&rows));
    let found = found.map_err(|e| errors::of(e, names.as_deref()))?;
    let names = names.unwrap_or_else(|| generic(rows.columns()));
    Ok((found.cells > 0).then(|| found.message(|column| names[column].clone())))
}

/// Works on the private rows of `x` on a thread of its own.
fn on_rows<T: Send + 'static>(
    model: &Bound<'_, PyModel>,
    x: Source,
    threads: Option<usize>,
    work: impl FnOnce(&PyModel, &Rows, &Stop) -> upoe::Result<T> + Send + 'static,
) -> PyResult<T> {
    let owned = model.clone().unbind();
    work::run(
        model.py(),
        || Ok(()),
        move |stop| {
            let done = Python::try_attach(|py| {
                let x = x.whole(py)?;
                let rows = x.rows()?;
                let model = owned.get();
                let checked = || rows.check_present().and_then(|()| work(model, &rows, stop));
                let done = py.detach(|| threads::run(threads, checked))?;
                done.map_err(|e| errors::of(e, model.names()))
            });
            done.unwrap_or_else(|| Err(errors::internal("Python has ended")))
        },
    )
}

/// Goes over rows in parts; `each` adds what it makes of a part to `out`.
fn filled(
    model: &Bound<'_, PyModel>,
    x: Source,
    (seed, threads): (u64, Option<usize>),
    mut out: Vec<f64>,
    each: impl Fn(&Filler, &Rows, usize, &mut Vec<f64>) -> upoe::Result<()> + Send + 'static,
) -> PyResult<Vec<f64>> {
    on_rows(model, x, threads, move |model, rows, stop| {
        let filler = Filler::new(model.density(), model.model().whitening(), seed)?;
        for start in (0..rows.len()).step_by(PART).take_while(|_| !stop.asked()) {
            let part = rows.slice(start..rows.len().min(start + PART));
            let done = each(&filler, &part, start, &mut out);
            done.map_err(|e| errors::from_row(e, start))?;
        }
        Ok(out)
    })
}

/// Rows with their missing cells filled in by means or medians: (n, features, 1), or (n, features, 3) with
/// the ends of an interval. The array must be private.
#[pyfunction]
#[pyo3(signature = (model, x, median, interval, seed, threads))]
pub fn impute<'py>(
    model: &Bound<'py, PyModel>,
    x: Source,
    median: bool,
    interval: Option<f64>,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Floats<'py>> {
    let (py, (n, columns)) = (model.py(), x.shape(model.py()));
    let width = if interval.is_some() { 3 } else { 1 };
    let space = memory::space(n, columns.saturating_mul(width))?;
    let values = filled(model, x, (seed, threads), space, move |filler, rows, first, out| {
        let found = filler.cells(rows, first, |_, column, cell: &Cell| {
            let centre = if median { cell.median() } else { cell.mean() };
            let (low, high) = interval.map_or((centre, centre), |share| cell.interval(share));
            (column, [centre, low, high])
        })?;
        for (i, found) in found.iter().enumerate() {
            for (column, &value) in rows.row(i).iter().enumerate() {
                let cell = found.iter().find(|(c, _)| *c == column);
                out.extend_from_slice(&cell.map_or([value; 3], |(_, cell)| *cell)[..width]);
            }
        }
        Ok(())
    })?;
    Ok(arrays::cube(py, values, (n, columns, width)))
}

/// Rows with their missing cells drawn: (n, draws, features). The array must be private.
#[pyfunction]
#[pyo3(signature = (model, x, draws, seed, threads))]
pub fn draw_missing<'py>(
    model: &Bound<'py, PyModel>,
    x: Source,
    draws: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Floats<'py>> {
    let (py, (n, columns)) = (model.py(), x.shape(model.py()));
    let space = memory::space(n, columns.saturating_mul(draws))?;
    let values = filled(model, x, (seed, threads), space, move |filler, rows, first, out| {
        out.extend(filler.draw(rows, draws, first)?);
        Ok(())
    })?;
    Ok(arrays::cube(py, values, (n, draws, columns)))
}

/// A column from the others: (n, 4) of mean, median, low and high. The array must be private, and NaN in
/// that column.
#[pyfunction]
#[pyo3(signature = (model, x, target, interval, seed, threads))]
pub fn expect<'py>(
    model: &Bound<'py, PyModel>,
    x: Source,
    target: usize,
    interval: f64,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<Floats<'py>> {
    let (py, (n, _)) = (model.py(), x.shape(model.py()));
    let values = filled(
        model,
        x,
        (seed, threads),
        memory::space(n, 4)?,
        move |filler, rows, first, out| {
            let found = filler.cells(rows, first, |_, column, cell| {
                (column == target).then(|| {
                    let (low, high) = cell.interval(interval);
                    [cell.mean(), cell.median(), low, high]
                })
            })?;
            for cells in found {
                out.extend(cells.into_iter().flatten().next().unwrap_or([f64::NAN; 4]));
            }
            Ok(())
        },
    )?;
    Ok(arrays::matrix(py, values, 4))
}

/// What is given about columns: values, and ranges (column, low, high).
#[derive(FromPyObject)]
pub struct Given(Vec<(usize, f64)>, Vec<(usize, f64, f64)>);

impl Given {
    fn ranges(&self) -> Vec<Range> {
        self.1.iter().map(|&(column, low, high)| Range { column, low, high }).collect()
    }

    fn condition<'a>(&self, model: &'a PyModel, seed: u64) -> upoe::Result<Option<Condition<'a>>> {
        let whitening = model.model().whitening();
        let new = || Condition::new(model.density(), whitening, &self.0, seed);
        (!self.0.is_empty()).then(new).transpose()
    }
}

/// `n` whole rows that fulfil a condition: (n, features), and the share of the rows drawn that lie in its
/// ranges.
#[pyfunction]
#[pyo3(signature = (model, given, n, seed, threads))]
pub fn draw_given<'py>(
    model: &Bound<'py, PyModel>,
    given: Given,
    n: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<(Floats<'py>, f64)> {
    let (py, columns) = (model.py(), model.get().n_features());
    memory::space(n, columns)?;
    let owned = model.clone().unbind();
    let (rows, share) = work::run(
        py,
        || Ok(()),
        move |stop| {
            let model = owned.get();
            let drawn = || -> upoe::Result<(Vec<f64>, f64)> {
                let condition = given.condition(model, seed)?;
                let draw = |rows: std::ops::Range<usize>| match &condition {
                    Some(condition) => condition.sample_range(rows),
                    None => Ok(model.density().sample_range(rows, seed)),
                };
                if given.1.is_empty() {
                    let mut rows = Vec::new();
                    for start in (0..n).step_by(PARTS).take_while(|_| !stop.asked()) {
                        rows.extend(draw(start..n.min(start + PARTS))?);
                    }
                    return Ok((rows, 1.0));
                }
                let watch = &mut |_: usize| !stop.asked();
                Ok(within(&given.ranges(), columns, n, draw, watch)?.unwrap_or_default())
            };
            threads::run(threads, drawn)?.map_err(|e| errors::of_given(e, model.names()))
        },
    )?;
    Ok((arrays::shaped(py, rows, n, columns), share))
}

/// ln of the density of the columns that are not given. `x` has whole rows; `share` is the probability
/// of the condition's ranges. The array must be private.
#[pyfunction]
#[pyo3(signature = (model, given, share, x, threads))]
pub fn score_given<'py>(
    model: &Bound<'py, PyModel>,
    given: Given,
    share: f64,
    x: Source,
    threads: Option<usize>,
) -> PyResult<Floats<'py>> {
    let scores = on_rows(model, x, threads, move |model, rows, stop| {
        let (condition, ranges) = (given.condition(model, 0)?, given.ranges());
        let mut scores = Vec::with_capacity(rows.len());
        for start in (0..rows.len()).step_by(PARTS).take_while(|_| !stop.asked()) {
            let part = rows.slice(start..rows.len().min(start + PARTS));
            let found = match &condition {
                Some(condition) => condition.score(&part)?,
                None => model.density().score(&part)?,
            };
            let inside = |row: &[f64]| {
                ranges.iter().all(|r| row[r.column] > r.low && row[r.column] < r.high)
            };
            let score = |(i, ln_p): (usize, f64)| {
                if inside(&part.row(i)) { ln_p - share.ln() } else { f64::NEG_INFINITY }
            };
            scores.extend(found.into_iter().enumerate().map(score));
        }
        Ok(scores)
    })?;
    Ok(arrays::vector(model.py(), scores))
}

/// The exact mean and quantiles of the one column that is not given; None where there are more.
#[pyfunction]
#[pyo3(signature = (model, given, probabilities))]
pub fn quantiles_given(
    model: &Bound<'_, PyModel>,
    given: Given,
    probabilities: Vec<f64>,
) -> PyResult<Option<(f64, Vec<f64>)>> {
    let file = model.get();
    let found = model.py().detach(|| -> upoe::Result<_> {
        let Some(condition) = given.condition(file, 0)? else { return Ok(None) };
        if condition.free().len() > 1 {
            return Ok(None);
        }
        let cell = condition.columns()?.pop();
        Ok(cell.map(|(_, c)| (c.mean(), probabilities.iter().map(|&p| c.quantile(p)).collect())))
    });
    found.map_err(|e| errors::of_given(e, file.names()))
}

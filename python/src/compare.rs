//! What changed between two tables.

use pyo3::prelude::*;
use serde_json::json;
use upoe::Rows;
use upoe::compare::{Comparison, Reference, Settings, compare_with};

use crate::arrays::Source;
use crate::model::{PyModel, generic};
use crate::{errors, threads, work};

/// Why a comparison ended.
enum Ended {
    Asked,
    Failed(upoe::Error),
}

impl From<upoe::Error> for Ended {
    fn from(error: upoe::Error) -> Self {
        Ended::Failed(error)
    }
}

/// Compares rows with those of a table, or with a model; the result is JSON. The arrays must be private:
/// C-contiguous, and known to no other thread.
#[pyfunction]
#[pyo3(signature = (model, a, b, names, level, exchanges, seed, threads))]
#[allow(clippy::too_many_arguments)] // One caller, which names them all.
pub fn compare(
    py: Python<'_>,
    model: Option<Py<PyModel>>,
    a: Option<Source>,
    b: Source,
    names: Option<Vec<String>>,
    level: f64,
    exchanges: usize,
    seed: u64,
    threads: Option<usize>,
) -> PyResult<String> {
    let settings = Settings::default().with(|s| {
        (s.level, s.exchanges, s.seed) = (level, exchanges, seed);
    });
    let compared = work::run(
        py,
        || Ok(()),
        move |stop| {
            let attached = Python::try_attach(|py| {
                let b = b.whole(py)?;
                let a = a.as_ref().map(|a| a.whole(py)).transpose()?;
                let rows = b.rows()?;
                let names = names.unwrap_or_else(|| generic(rows.columns()));
                let others = a.as_ref().map(|a| a.rows()).transpose()?;
                let model = model.as_ref().map(Py::get);
                let mut tell = |_| if stop.asked() { Err(Ended::Asked) } else { Ok(()) };
                let work = || compared(model, others, &rows, &names, &settings, &mut tell);
                match py.detach(|| threads::run(threads, work))? {
                    Ok(compared) => Ok(Some(compared)),
                    Err(Ended::Asked) => Ok(None),
                    Err(Ended::Failed(error)) => Err(errors::of(error, Some(&names))),
                }
            });
            attached.unwrap_or_else(|| Err(errors::internal("Python has ended")))
        },
    )?;
    let compared = compared.ok_or_else(|| errors::internal("the comparison was stopped"))?;
    let mut value = json!(compared);
    value["answer"] = json!(compared.answer());
    errors::json(&value)
}

fn compared(
    model: Option<&PyModel>,
    a: Option<Rows<'_>>,
    b: &Rows<'_>,
    names: &[String],
    settings: &Settings,
    tell: &mut (dyn FnMut(upoe::compare::Step) -> Result<(), Ended> + Send),
) -> Result<Comparison, Ended> {
    let reference = match (model, a) {
        (Some(model), _) => Reference::fitted(model.fitted())?,
        (None, Some(a)) => Reference::Rows(a),
        (None, None) => return Err(upoe::Error::TooFewRows { rows: 0, needed: 2 }.into()),
    };
    compare_with(&reference, b, names, settings, tell)
}

//! A fitted model, as Python sees it: what the model file holds.

use std::path::{Path, PathBuf};

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use upoe::evaluate::Tail;
use upoe::{Explanation, Fit, Model, Notice, Settings};
use upoe_file::{Container, ModelFile, Training};

use crate::arrays::{self, Argument, Array, Floats};
use crate::errors::{self, Names};
use crate::expert::PyExpert;
use crate::threads;

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "upoe._upoe")]
pub struct PyModel(ModelFile);

type Parts<'py> =
    (Floats<'py>, f64, Floats<'py>, Floats<'py>, Floats<'py>, Option<(Floats<'py>, Floats<'py>)>);

impl PyModel {
    /// From a fit; columns without names are called as tables without names call them.
    pub fn new(
        fit: Fit,
        names: Option<Vec<String>>,
        settings: Settings,
        training: Training,
    ) -> Self {
        let columns = fit.model.whitening().columns();
        let names = names.unwrap_or_else(|| generic(columns));
        PyModel(ModelFile::new(fit, names, settings, training))
    }

    fn model(&self) -> &Model {
        &self.0.model
    }

    fn drawn(&self, samples: usize, seed: u64) -> upoe::Result<Tail> {
        let tail = Tail::draw(self.model(), samples, seed, &mut |_| true)?;
        Ok(tail.unwrap_or_else(|| Tail::of_scores(Vec::new())))
    }

    fn names(&self) -> Names<'_> {
        (self.0.names != generic(self.0.names.len())).then_some(&self.0.names)
    }

    fn read(container: upoe_file::Result<Container>, file: &Path) -> PyResult<Self> {
        let file = container.and_then(|c| ModelFile::from_container(&c, file));
        file.map(PyModel).map_err(errors::of_file)
    }
}

fn generic(columns: usize) -> Vec<String> {
    (1..=columns).map(|i| format!("c{i}")).collect()
}

#[pymethods]
impl PyModel {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::read(Container::read(&path), &path))
    }

    /// A model from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let file = Path::new("these bytes");
        Self::read(Container::from_bytes(bytes, file), file)
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write(&path)).map_err(errors::of_file)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_container().and_then(|c| c.to_bytes()).map_err(errors::of_file)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<PyModel>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// ln p of rows: over their own columns, or in sphered space.
    fn score<'py>(
        &self,
        py: Python<'py>,
        x: Array<'py>,
        sphered: bool,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let rows = x.rows(self.names())?;
        let score = || match sphered {
            true => self.model().score_sphered(&rows),
            false => self.model().score(&rows),
        };
        let scores = py.detach(|| threads::run(threads, score));
        Ok(arrays::vector(py, scores.map_err(|e| errors::of(e, self.names()))?))
    }

    /// The projections of rows: (n, J).
    fn transform<'py>(
        &self,
        py: Python<'py>,
        x: Array<'py>,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let rows = x.rows(self.names())?;
        let z = py.detach(|| threads::run(threads, || self.model().transform(&rows)));
        let z = z.map_err(|e| errors::of(e, self.names()))?;
        Ok(arrays::shaped(py, z, rows.len(), self.model().experts().len()))
    }

    /// The rows of highest Gaussian density with these projections.
    fn inverse_transform<'py>(
        &self,
        py: Python<'py>,
        z: Argument<PyReadonlyArray2<'py, f64>>,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let z = z.0.as_array();
        let back = || {
            let rows: Vec<Vec<f64>> = z.outer_iter().map(|z| z.to_vec()).collect();
            let rows: upoe::Result<Vec<Vec<f64>>> =
                rows.par_iter().map(|z| self.model().inverse_transform(z)).collect();
            rows.map(|rows| rows.concat())
        };
        let x = py.detach(|| threads::run(threads, back));
        let columns = self.model().whitening().columns();
        Ok(arrays::matrix(py, x.map_err(|e| errors::of(e, None))?, columns))
    }

    /// `n` rows drawn from the model.
    fn sample<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> Floats<'py> {
        let rows = py.detach(|| threads::run(threads, || self.model().sample(n, seed)));
        arrays::matrix(py, rows, self.model().whitening().columns())
    }

    /// The probability of rows no more probable than each of these, from drawn rows.
    fn tail<'py>(
        &self,
        py: Python<'py>,
        x: Array<'py>,
        samples: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let rows = x.rows(self.names())?;
        let tails = || {
            let tail = self.drawn(samples, seed)?;
            Ok(self.model().score(&rows)?.into_iter().map(|ln_p| tail.at(ln_p)).collect())
        };
        let tails: upoe::Result<Vec<f64>> = py.detach(|| threads::run(threads, tails));
        Ok(arrays::vector(py, tails.map_err(|e| errors::of(e, self.names()))?))
    }

    /// ln p of rows drawn from the model, rising.
    fn drawn_scores<'py>(
        &self,
        py: Python<'py>,
        samples: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let tail = py.detach(|| threads::run(threads, || self.drawn(samples, seed)));
        let tail = tail.map_err(|e| errors::of(e, self.names()))?;
        Ok(arrays::vector(py, tail.scores().to_vec()))
    }

    /// The parts of ln p: (log_density, baseline, experts, rest, columns), and with `split`
    /// (experts_by_column, rest_by_column).
    fn explain<'py>(
        &self,
        py: Python<'py>,
        x: Array<'py>,
        split: bool,
        threads: Option<usize>,
    ) -> PyResult<Parts<'py>> {
        let rows = x.rows(self.names())?;
        let explain = || -> upoe::Result<Vec<Explanation>> {
            (0..rows.len())
                .into_par_iter()
                .map(|i| self.model().explain(&rows.row(i)).map(|e| without(e, split)))
                .collect()
        };
        let parts = py.detach(|| threads::run(threads, explain));
        let parts = parts.map_err(|e| errors::of(e, self.names()))?;
        let (n, j, columns) = (rows.len(), self.model().experts().len(), rows.columns());
        let each = |f: fn(&Explanation) -> Vec<f64>| parts.iter().flat_map(f).collect::<Vec<_>>();
        let vector = |f: fn(&Explanation) -> f64| arrays::vector(py, parts.iter().map(f).collect());
        let by_column = |e: &Explanation| -> Vec<f64> { e.rest_by_column.clone() };
        let full = split.then(|| {
            let experts = each(|e| e.experts_by_column.concat());
            let rest = arrays::shaped(py, each(by_column), n, columns);
            (arrays::cube(py, experts, (n, j, columns)), rest)
        });
        let totals = match split {
            false => each(by_column),
            true => each(columns_of),
        };
        Ok((
            vector(|e| e.ln_p),
            parts.first().map_or(f64::NAN, |e| e.baseline),
            arrays::shaped(py, each(|e| e.experts.clone()), n, j),
            vector(|e| e.rest),
            arrays::shaped(py, totals, n, columns),
            full,
        ))
    }

    /// The experts.
    #[getter]
    fn experts(&self) -> Vec<PyExpert> {
        self.0.state.experts.iter().cloned().map(PyExpert).collect()
    }

    /// The columns' names, where they were given any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.names().map(<[String]>::to_vec)
    }

    /// The number of columns.
    #[getter]
    fn n_features(&self) -> usize {
        self.model().whitening().columns()
    }

    /// W A: (J, features).
    #[getter]
    fn components<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let filters = self.model().filters();
        arrays::shaped(py, filters.concat(), filters.len(), self.n_features())
    }

    /// A⁺W#: (features, J).
    #[getter]
    fn mixing<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let (patterns, columns) = (self.model().patterns(), self.n_features());
        let values = (0..columns).flat_map(|i| patterns.iter().map(move |p| p[i])).collect();
        arrays::shaped(py, values, columns, patterns.len())
    }

    /// W, in sphered space: (J, dimensions).
    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let directions = self.model().directions();
        let dims = self.model().whitening().dims();
        arrays::shaped(py, directions.concat(), directions.len(), dims)
    }

    /// m.
    #[getter]
    fn mean<'py>(&self, py: Python<'py>) -> Floats<'py> {
        arrays::vector(py, self.model().whitening().mean().to_vec())
    }

    /// A: (dimensions, features).
    #[getter]
    fn whitening<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let a = self.model().whitening().matrix();
        let row = |i: usize| (0..a.ncols()).map(move |j| a[(i, j)]);
        let values = (0..a.nrows()).flat_map(row).collect();
        arrays::shaped(py, values, a.nrows(), a.ncols())
    }

    /// Dimensions of the data that have variance.
    #[getter]
    fn rank(&self) -> usize {
        self.model().whitening().rank()
    }

    /// Mean ln p in sphered space after 0…J experts: (J + 1, 2), training and held-out rows.
    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let path = &self.0.state.path;
        let values = path.iter().flat_map(|p| [p.train, p.holdout.unwrap_or(f64::NAN)]);
        arrays::matrix(py, values.collect(), 2)
    }

    /// Why no further expert was added: (word, sentence).
    #[getter]
    fn stop(&self) -> (String, String) {
        let json = serde_json::to_value(self.0.stop).unwrap_or_default();
        let rule = json.get("rule").and_then(|r| r.as_str()).unwrap_or("stopped");
        (rule.to_owned(), self.0.stop.to_string())
    }

    /// What a user should know: (whether it is about convergence, sentence).
    #[getter]
    fn notices(&self) -> Vec<(bool, String)> {
        let about = |n: &Notice| (matches!(n, Notice::Iterations { .. }), n.to_string());
        self.0.notices.iter().map(about).collect()
    }

    /// What the fit was asked to do, as JSON.
    #[getter]
    fn settings(&self) -> PyResult<String> {
        errors::json(&self.0.settings)
    }

    /// What it was trained on, and how well it did, as JSON.
    #[getter]
    fn training(&self) -> PyResult<String> {
        errors::json(&self.0.training)
    }

    fn __repr__(&self) -> String {
        let (j, columns) = (self.model().experts().len(), self.n_features());
        format!("<model of {columns} columns with {j} experts>")
    }
}

/// Each column's move, of all experts and the rest together.
fn columns_of(e: &Explanation) -> Vec<f64> {
    let experts = |i: usize| e.experts_by_column.iter().map(|c| c[i]).sum::<f64>();
    e.rest_by_column.iter().enumerate().map(|(i, rest)| rest + experts(i)).collect()
}

/// Where the full split is not wanted, only the columns' totals are kept.
fn without(mut e: Explanation, split: bool) -> Explanation {
    if !split {
        e.rest_by_column = columns_of(&e);
        e.experts_by_column = Vec::new();
    }
    e
}

//! A fitted model, as Python sees it: what the model file holds.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use upoe::evaluate::Tail;
use upoe::{Cause, Fit, Model, Notice, Outside, Rest, Rows, Settings};
use upoe_file::{Container, ModelFile, Training};

use crate::arrays::{self, Floats, Source};
use crate::errors::{self, Names};
use crate::expert::PyExpert;
use crate::explanation::{Explained, Parts};
use crate::work::{self, Blocks};
use crate::{memory, threads};

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "upoe._upoe")]
pub struct PyModel(ModelFile);

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

    /// The tail probabilities, from rows drawn from the model.
    fn drawn(
        slf: &Bound<'_, Self>,
        samples: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Tail> {
        memory::space(samples, 1)?;
        let model = slf.clone().unbind();
        work::run(
            slf.py(),
            || Ok(()),
            move |stop| {
                let draw =
                    || Tail::draw(model.get().model(), samples, seed, &mut |_| !stop.asked());
                let tail = threads::run(threads, draw)?.map_err(|e| errors::of(e, None))?;
                tail.ok_or_else(|| errors::internal("nobody waits for the tail"))
            },
        )
    }

    fn names(&self) -> Names<'_> {
        (self.0.names != generic(self.0.names.len())).then_some(&self.0.names)
    }

    /// Goes over the rows of `x` in blocks; `each` adds what it makes of a block to `out`.
    fn over<T: Send + 'static>(
        slf: &Bound<'_, Self>,
        x: Source,
        threads: Option<usize>,
        out: T,
        each: impl Fn(&Model, &Rows, &mut T) -> upoe::Result<()> + Send + Sync + 'static,
    ) -> PyResult<T> {
        let (rows, columns) = x.shape(slf.py());
        let columns = columns.max(slf.get().n_features());
        let model = slf.clone().unbind();
        Blocks { rows, columns, threads }.run(slf.py(), out, move |range, out| {
            let start = range.start;
            let block = Python::try_attach(|py| {
                let block = x.block(py, range)?;
                let rows = block.rows()?;
                let (model, names) = (model.get().model(), model.get().names());
                let done = py.detach(|| each(model, &rows, out));
                done.map_err(|e| errors::of(errors::from_row(e, start), names))
            });
            block.unwrap_or_else(|| Err(errors::internal("Python has ended")))
        })
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
        slf: &Bound<'py, Self>,
        x: Source,
        sphered: bool,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let scores = Self::over(slf, x, threads, memory::space(n, 1)?, move |model, rows, out| {
            out.extend(if sphered { model.score_sphered(rows) } else { model.score(rows) }?);
            Ok(())
        })?;
        Ok(arrays::vector(py, scores))
    }

    /// Why rows have ln p = −∞, where they lie outside the subspace of the training rows.
    fn outside(
        slf: &Bound<'_, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Option<String>> {
        if slf.get().model().whitening().rest() != Rest::Degenerate {
            return Ok(None);
        }
        let (n, _) = x.shape(slf.py());
        let found = Self::over(slf, x, threads, None::<Outside>, |model, rows, found| {
            match (found.as_mut(), model.whitening().outside(rows)?) {
                (Some(found), Some(more)) => found.merge(more),
                (None, more) => *found = more,
                (Some(_), None) => {}
            }
            Ok(())
        })?;
        let names = slf.get().names();
        let name = |column: usize| match names.and_then(|names| names.get(column)) {
            Some(name) => name.clone(),
            None => column.to_string(),
        };
        Ok(found.map(|mut outside| {
            outside.of = n;
            outside.message(name)
        }))
    }

    /// The projections of rows: (n, J).
    fn transform<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let j = slf.get().model().experts().len();
        let z = Self::over(slf, x, threads, memory::space(n, j)?, |model, rows, out| {
            out.extend(model.transform(rows)?);
            Ok(())
        })?;
        Ok(arrays::shaped(py, z, n, j))
    }

    /// The rows of highest Gaussian density with these projections.
    fn inverse_transform<'py>(
        slf: &Bound<'py, Self>,
        z: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, j)) = (slf.py(), z.shape(slf.py()));
        let columns = slf.get().n_features();
        if j == 0 {
            let mean = slf.get().model().inverse_transform(&[]).map_err(|e| errors::of(e, None))?;
            memory::space(n, columns)?;
            return Ok(arrays::shaped(py, mean.repeat(n), n, columns));
        }
        let x = Self::over(slf, z, threads, memory::space(n, columns)?, |model, rows, out| {
            rows.check()?;
            let back = |i| model.inverse_transform(&rows.row(i));
            let back: upoe::Result<Vec<_>> = (0..rows.len()).into_par_iter().map(back).collect();
            out.extend(back?.into_iter().flatten());
            Ok(())
        })?;
        Ok(arrays::shaped(py, x, n, columns))
    }

    /// `n` rows drawn from the model.
    fn sample<'py>(
        slf: &Bound<'py, Self>,
        n: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, columns) = (slf.py(), slf.get().n_features());
        let model = slf.clone().unbind();
        let blocks = Blocks { rows: n, columns, threads };
        let rows = blocks.run(py, memory::space(n, columns)?, move |rows, out| {
            out.extend(model.get().model().sample_range(rows, seed));
            Ok(())
        })?;
        Ok(arrays::shaped(py, rows, n, columns))
    }

    /// The probability of rows no more probable than each of these, from drawn rows.
    fn tail<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        samples: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let tail = Self::drawn(slf, samples, seed, threads)?;
        let tails = Self::over(slf, x, threads, memory::space(n, 1)?, move |model, rows, out| {
            out.extend(model.score(rows)?.into_iter().map(|ln_p| tail.at(ln_p)));
            Ok(())
        })?;
        Ok(arrays::vector(py, tails))
    }

    /// The ln p below which a row is in the tail of probability `alpha`.
    fn threshold(
        slf: &Bound<'_, Self>,
        alpha: f64,
        samples: usize,
        seed: u64,
        threads: Option<usize>,
    ) -> PyResult<f64> {
        Ok(Self::drawn(slf, samples, seed, threads)?.threshold(alpha))
    }

    /// The parts of ln p: (log_density, baseline, experts, rest, columns), and with `split`
    /// (experts_by_column, rest_by_column).
    fn explain<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        split: bool,
        threads: Option<usize>,
    ) -> PyResult<Explained<'py>> {
        let (py, (n, columns)) = (slf.py(), x.shape(slf.py()));
        let j = slf.get().model().experts().len();
        let parts = Parts::new(n, j, columns, split)?;
        let parts = Self::over(slf, x, threads, parts, |model, rows, parts| {
            rows.check()?;
            let explain = |i| model.explain(&rows.row(i));
            let each: upoe::Result<Vec<_>> = (0..rows.len()).into_par_iter().map(explain).collect();
            each?.iter().for_each(|e| parts.add(e));
            Ok(())
        })?;
        Ok(parts.explained(py, n, j, columns))
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
        let name = |column: usize| self.0.names.get(column).cloned().unwrap_or_default();
        let argument = |n: &Notice| match n {
            Notice::Neighbours { .. } => " (`ordered=True`)",
            Notice::Effective { cause: Cause::Weights | Cause::Repeats, .. } => " (`counts=True`)",
            _ => "",
        };
        let said = |n: &Notice| n.message(name) + argument(n);
        let about = |n: &Notice| (matches!(n, Notice::Iterations { .. }), said(n));
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

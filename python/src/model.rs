//! A fitted model, as Python sees it: what the model file holds.
//!
//! Long because PyO3 wants all methods of a class in one block.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use upoe::evaluate::Tail;
use upoe::expected::{self, Expected};
use upoe::groups::Groups;
use upoe::{
    Cause, Density, Explainer, Fit, Fitted, Layer, LayerRecord, Model, Notice, Outside, Rest, Rows,
    Settings, Stack, explain_present,
};
use upoe_file::{Container, ModelFile, Training};

use crate::arrays::{self, Floats, Source};
use crate::errors::{self, Names};
use crate::expert::PyExpert;
use crate::explanation::{Explained, Parts};
use crate::work::{self, Blocks};
use crate::{memory, threads};

/// What Python gets of a layer.
type LayerParts = (&'static str, f64, Option<f64>, Vec<f64>, Vec<Option<f64>>, usize);

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "upoe._upoe")]
pub struct PyModel(ModelFile);

impl PyModel {
    /// Whether anything but a Gaussian was learned.
    pub fn has_experts(&self) -> bool {
        !self.0.model.experts().is_empty()
    }

    /// From a fit; columns without names are called as tables without names call them.
    pub fn new(
        fit: Fit,
        names: Option<Vec<String>>,
        settings: Settings,
        training: Training,
        groups: Option<Groups>,
    ) -> Self {
        let columns = fit.model.whitening().columns();
        let names = names.unwrap_or_else(|| generic(columns));
        PyModel(ModelFile { groups, ..ModelFile::new(fit, names, settings, training) })
    }

    pub fn file(&self) -> &ModelFile {
        &self.0
    }

    pub fn model(&self) -> &Model {
        &self.0.model
    }

    pub fn fitted(&self) -> Fitted<'_> {
        self.0.fitted()
    }

    pub fn density(&self) -> &dyn Density {
        self.0.density()
    }

    /// The stack, where the density is one.
    fn stack(&self) -> PyResult<&Stack> {
        match (&self.0.stack, &self.0.pool) {
            (Some(stack), None) => Ok(stack),
            (_, Some(_)) => Err(PyValueError::new_err(
                "a pool has no map to standard normal rows; fit with quality=\"good\"",
            )),
            (None, None) => Err(PyValueError::new_err(
                "a model of one layer has no map to standard normal rows; fit with quality=\"good\"",
            )),
        }
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
                    || Tail::draw(model.get().density(), samples, seed, &mut |_| !stop.asked());
                let tail = threads::run(threads, draw)?.map_err(|e| errors::of(e, None))?;
                tail.ok_or_else(|| errors::internal("nobody waits for the tail"))
            },
        )
    }

    pub fn names(&self) -> Names<'_> {
        (self.0.names != generic(self.0.names.len())).then_some(&self.0.names)
    }

    /// Goes over the rows of `x` in blocks; `each` adds what it makes of a block to `out`.
    fn over<T: Send + 'static>(
        slf: &Bound<'_, Self>,
        x: Source,
        threads: Option<usize>,
        out: T,
        each: impl Fn(&ModelFile, &Rows, &mut T) -> upoe::Result<()> + Send + Sync + 'static,
    ) -> PyResult<T> {
        let (rows, columns) = x.shape(slf.py());
        let columns = columns.max(slf.get().n_features());
        let model = slf.clone().unbind();
        Blocks { rows, columns, threads }.run(slf.py(), out, move |range, out| {
            let start = range.start;
            let block = Python::try_attach(|py| {
                let block = x.block(py, range)?;
                let rows = block.rows()?;
                let (file, names) = (&model.get().0, model.get().names());
                let done = py.detach(|| each(file, &rows, out));
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

pub fn generic(columns: usize) -> Vec<String> {
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
        let scores = Self::over(slf, x, threads, memory::space(n, 1)?, move |file, rows, out| {
            out.extend(if sphered {
                file.fitted().score_sphered(rows)
            } else {
                file.density().score(rows)
            }?);
            Ok(())
        })?;
        Ok(arrays::vector(py, scores))
    }

    /// ln p of the cells that are there (NaN is a missing one), and the standard errors.
    fn score_present<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<(Floats<'py>, Floats<'py>)> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let pairs = Self::over(slf, x, threads, memory::space(n, 2)?, |file, rows, out| {
            if (0..rows.len()).any(|i| rows.has_holes(i)) {
                let found = file.density().score_present(rows)?;
                out.extend(found.iter().flat_map(|e| [e.value, e.standard_error]));
            } else {
                out.extend(file.density().score(rows)?.into_iter().flat_map(|ln_p| [ln_p, 0.0]));
            }
            Ok(())
        })?;
        let (values, errors) = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).unzip();
        Ok((arrays::vector(py, values), arrays::vector(py, errors)))
    }

    /// Each value beside what the others make of it: (n, features, 5) of expected, low, high, surprise
    /// and blame; NaN for columns that the others determine.
    fn expected<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, columns)) = (slf.py(), x.shape(slf.py()));
        let space = memory::space(n, columns.saturating_mul(5))?;
        let found = Self::over(slf, x, threads, space, |file, rows, out| {
            rows.check_present()?;
            let of_row = |i| expected::of(file.density(), &rows.row(i));
            let found: upoe::Result<Vec<_>> = (0..rows.len()).into_par_iter().map(of_row).collect();
            for found in found?.into_iter().flatten() {
                out.extend(
                    found.map_or([f64::NAN; 5], |e| {
                        [e.expected, e.low, e.high, e.surprise(), e.blame]
                    }),
                );
            }
            Ok(())
        })?;
        Ok(arrays::cube(py, found, (n, columns, 5)))
    }

    /// A value beside its expected one, in words.
    #[staticmethod]
    fn words(name: &str, observed: f64, expected: f64, low: f64, high: f64) -> String {
        Expected { observed, expected, low, high, ln_tail: 0.0, blame: 0.0 }.words(name)
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
        let found = Self::over(slf, x, threads, None::<Outside>, |file, rows, found| {
            match (found.as_mut(), file.model.whitening().outside(rows)?) {
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

    /// The projections of rows: (n, J). Cells may be `missing` (NaN); otherwise they are refused.
    fn transform<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        missing: bool,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let j = slf.get().model().experts().len();
        let z = Self::over(slf, x, threads, memory::space(n, j)?, move |file, rows, out| {
            let holes = missing && (0..rows.len()).any(|i| rows.has_holes(i));
            let fitted = file.fitted();
            out.extend(if holes {
                fitted.transform_present(rows)
            } else {
                fitted.transform(rows)
            }?);
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
        let x = Self::over(slf, z, threads, memory::space(n, columns)?, |file, rows, out| {
            rows.check()?;
            let back = |i| file.model.inverse_transform(&rows.row(i));
            let back: upoe::Result<Vec<_>> = (0..rows.len()).into_par_iter().map(back).collect();
            out.extend(back?.into_iter().flatten());
            Ok(())
        })?;
        Ok(arrays::shaped(py, x, n, columns))
    }

    /// The standard normal rows that a stack maps rows to: (n, dimensions).
    fn to_normal<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let dims = slf.get().stack()?.whitening().dims();
        let z = Self::over(slf, x, threads, memory::space(n, dims)?, |file, rows, out| {
            out.extend(file.stack.as_ref().map_or(Ok(Vec::new()), |stack| stack.normal(rows))?);
            Ok(())
        })?;
        Ok(arrays::shaped(py, z, n, dims))
    }

    /// The rows that a stack maps to these standard normal ones.
    fn from_normal<'py>(
        slf: &Bound<'py, Self>,
        z: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), z.shape(slf.py()));
        let columns = slf.get().n_features();
        slf.get().stack()?;
        let x = Self::over(slf, z, threads, memory::space(n, columns)?, |file, rows, out| {
            rows.check()?;
            let Some(stack) = &file.stack else { return Ok(()) };
            let back = |i| stack.inverse(&rows.row(i));
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
            out.extend(model.get().density().sample_range(rows, seed));
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
        let tails = Self::over(slf, x, threads, memory::space(n, 1)?, move |file, rows, out| {
            out.extend(file.density().score(rows)?.into_iter().map(|ln_p| tail.at(ln_p)));
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
        let file = &slf.get().0;
        if split && !file.fitted().is_one_layer() {
            return Err(PyValueError::new_err(
                "split = True: the experts of one layer alone are split over columns; fit with quality=\"fast\"",
            ));
        }
        let explainer = Explainer::new(file.fitted(), file.training.seed);
        let explainer = explainer.map_err(|e| errors::of(e, None))?;
        let j = explainer.names().len() - 1;
        let parts = Parts::new(n, j, columns, split)?;
        let parts = Self::over(slf, x, threads, parts, move |file, rows, parts| {
            rows.check_present()?;
            if file.fitted().is_one_layer() {
                let explain = |i| explain_present(&file.model, &rows.row(i), i as u64);
                let each: upoe::Result<Vec<_>> =
                    (0..rows.len()).into_par_iter().map(explain).collect();
                each?.iter().for_each(|e| parts.add(e));
                return Ok(());
            }
            let (rest, fitted) = (explainer.rest(), file.fitted());
            let explain = |i: usize| -> upoe::Result<_> {
                let row = rows.row(i);
                let explained = explainer.explain_present(fitted, &row, i as u64)?;
                Ok((explained, explainer.columns_present(fitted, &row, i as u64)?))
            };
            let each: upoe::Result<Vec<_>> = (0..rows.len()).into_par_iter().map(explain).collect();
            each?.into_iter().for_each(|(e, columns)| parts.add_any(e, rest, columns));
            Ok(())
        })?;
        Ok(parts.explained(py, n, j, columns))
    }

    /// The names of the parts that `explain` gives before the rest.
    #[getter]
    fn part_names(&self) -> PyResult<Vec<String>> {
        let explainer = Explainer::new(self.0.fitted(), self.0.training.seed);
        let explainer = explainer.map_err(|e| errors::of(e, None))?;
        let mut names = explainer.names().to_vec();
        names.remove(explainer.rest());
        Ok(names)
    }

    /// The experts.
    #[getter]
    fn experts(&self) -> Vec<PyExpert> {
        self.0.state.experts.iter().cloned().map(PyExpert).collect()
    }

    /// The layers of the stack, where there is one: (kind, gain, gain on held-out rows, gains of its experts,
    /// their p-values, dimensions).
    #[getter]
    fn layers(&self) -> Vec<LayerParts> {
        let layers = self.0.stack.as_ref().map_or(&[][..], Stack::layers);
        let told = |(layer, record): (&Layer, &LayerRecord)| {
            let (kind, dims) = match layer {
                Layer::Radial(radial) => ("radial", radial.dims()),
                _ => ("directions", record.gains.len()),
            };
            let (gains, p_values) = (record.gains.clone(), record.p_values.clone());
            (kind, record.gain(), record.holdout, gains, p_values, dims)
        };
        layers.iter().zip(&self.0.layers).map(told).collect()
    }

    /// The groups with their profiles, and how many small ones were merged, as JSON; None where they were
    /// not looked for.
    #[getter]
    fn groups(&self) -> PyResult<Option<String>> {
        let told = |groups: &Groups| {
            let described = groups.described(&self.0.names);
            errors::json(&serde_json::json!({ "groups": described, "merged": groups.merged() }))
        };
        self.0.groups.as_ref().map(told).transpose()
    }

    /// The chance of each row to be of each group: (n, groups).
    fn probabilities<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Floats<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let count = slf.get().0.groups.as_ref().map_or(0, Groups::count);
        let shares = Self::over(slf, x, threads, memory::space(n, count)?, |file, rows, out| {
            let shares = |groups: &Groups| groups.probabilities(&file.model, rows);
            out.extend(file.groups.as_ref().map_or(Ok(Vec::new()), shares)?);
            Ok(())
        })?;
        Ok(arrays::shaped(py, shares, n, count))
    }

    /// The members of the pool, where there is one: (kind, share), `kind` "stack" or "mixture".
    #[getter]
    fn members(&self) -> Vec<(&'static str, f64)> {
        let Some(pool) = &self.0.pool else { return Vec::new() };
        let kind = |m: &upoe::Member| if m.mixture().is_some() { "mixture" } else { "stack" };
        pool.members().iter().map(kind).zip(pool.shares().iter().copied()).collect()
    }

    /// The columns' names, where they were given any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.names().map(<[String]>::to_vec)
    }

    /// The number of columns.
    #[getter]
    pub fn n_features(&self) -> usize {
        self.model().whitening().columns()
    }

    /// The correlation of each column with each projection: (J, features).
    #[getter]
    fn correlations<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let correlations = self.model().correlations();
        arrays::shaped(py, correlations.concat(), correlations.len(), self.n_features())
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

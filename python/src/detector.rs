//! A fitted detector of odd rows, as Python sees it: what the detector file holds.

use std::path::{Path, PathBuf};

use numpy::PyArrayMethods;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rayon::prelude::*;
use upoe::{Conditional, Detector, DetectorSettings, Oddity, Rows};
use upoe_file::{Container, DetectorFile, Verdict};

use crate::arrays::{self, Argument, Floats, Source, Weights};
use crate::errors::{self, Names};
use crate::memory::space;
use crate::model::generic;
use crate::work::{self, Blocks};
use crate::{memory, threads};

/// A fitted detector.
#[pyclass(frozen, name = "Detector", module = "upoe._upoe")]
pub struct PyDetector(DetectorFile);

/// A detector, the oddness of its training rows and their p-values.
type Detected<'py> = (PyDetector, Floats<'py>, Floats<'py>);

/// What Python gets: (oddness, base, directions, rest, alone, columns), and what each column should
/// be: (expected, low, high).
type Explained<'py> = (
    (Floats<'py>, f64, Floats<'py>, Floats<'py>, Floats<'py>, Floats<'py>),
    (Floats<'py>, Floats<'py>, Floats<'py>),
    Vec<String>,
);

/// Fits a detector with `directions` heavy directions. The arrays must be private: C-contiguous, and
/// known to no other thread.
#[pyfunction]
#[pyo3(signature = (x, weights, blocks, directions, seed, alpha, contamination, names, threads))]
#[allow(clippy::too_many_arguments)] // One caller, which names them all.
pub fn fit_detector<'py>(
    py: Python<'py>,
    x: Source,
    weights: Option<Weights>,
    blocks: Option<Vec<usize>>,
    directions: usize,
    seed: u64,
    alpha: f64,
    contamination: Option<f64>,
    names: Option<Vec<String>>,
    threads: Option<usize>,
) -> PyResult<Detected<'py>> {
    let settings = DetectorSettings { directions, seed };
    let done = work::run(
        py,
        || Ok(()),
        move |stop| {
            let fit = |py: Python| {
                let private = x.whole(py)?;
                let mut rows = private.rows()?;
                let weights = weights.as_ref().map(|w| w.0.bind(py).try_readonly()).transpose()?;
                if let Some(weights) = &weights {
                    rows = rows.weighted(weights.as_slice()?).map_err(|e| errors::of(e, None))?;
                }
                if let Some(blocks) = &blocks {
                    rows = rows.in_blocks(blocks).map_err(|e| errors::of(e, None))?;
                }
                let learn = || {
                    let watch = |_, _| !stop.asked();
                    let Some(fit) = Detector::fit_with(&rows, &settings, &watch)? else {
                        return Ok(None);
                    };
                    let threshold = match contamination {
                        Some(share) => fit.detector.threshold_of_share(&rows, share)?,
                        None => fit.detector.threshold(alpha)?,
                    };
                    Ok(Some((fit, Verdict { alpha, contamination, threshold })))
                };
                let bytes = rows.len().saturating_mul(rows.columns()).saturating_mul(48);
                let checked =
                    || memory::check(bytes, "the fit", "use fewer rows").map(|()| learn());
                let done = py.detach(|| threads::run(threads, checked))??;
                let done = done.map_err(|e: upoe::Error| errors::of(e, names.as_deref()))?;
                let (fit, verdict) =
                    done.ok_or_else(|| errors::internal("nobody waits for the detector"))?;
                let names = names.clone().unwrap_or_else(|| generic(rows.columns()));
                let file = DetectorFile::new(fit.detector, names, settings, verdict);
                Ok((file, fit.oddness, fit.p_values))
            };
            let fitted = Python::try_attach(fit);
            fitted.unwrap_or_else(|| Err(errors::internal("Python has ended")))
        },
    );
    let (file, oddness, p_values) = done?;
    Ok((PyDetector(file), arrays::vector(py, oddness), arrays::vector(py, p_values)))
}

/// The oddness that a share of the rows exceeds, halfway between two rows.
#[pyfunction]
pub fn exceeded_by(
    py: Python<'_>,
    oddness: Argument<Weights>,
    weights: Option<Weights>,
    share: f64,
) -> PyResult<f64> {
    let oddness = oddness.0.0.bind(py).try_readonly()?;
    let weights = weights.as_ref().map(|w| w.0.bind(py).try_readonly()).transpose()?;
    let weights = weights.as_ref().map(|w| w.as_slice()).transpose()?;
    Ok(upoe::exceeded_by(oddness.as_slice()?, |i| weights.map_or(1.0, |w| w[i]), share))
}

impl PyDetector {
    fn names(&self) -> Names<'_> {
        (self.0.names != generic(self.0.names.len())).then_some(&self.0.names)
    }

    fn read(container: upoe_file::Result<Container>, file: &Path) -> PyResult<Self> {
        let file = container.and_then(|c| DetectorFile::from_container(&c, file));
        file.map(PyDetector).map_err(errors::of_file)
    }

    /// Goes over the rows of `x` in blocks; `each` adds what it makes of a block to `out`.
    fn over<T: Send + 'static>(
        slf: &Bound<'_, Self>,
        x: Source,
        threads: Option<usize>,
        out: T,
        each: impl Fn(&Detector, &Rows, &mut T) -> upoe::Result<()> + Send + Sync + 'static,
    ) -> PyResult<T> {
        let (rows, columns) = x.shape(slf.py());
        let columns = columns.max(slf.get().n_features());
        let detector = slf.clone().unbind();
        Blocks { rows, columns, threads }.run(slf.py(), out, move |range, out| {
            let start = range.start;
            let block = Python::try_attach(|py| {
                let block = x.block(py, range)?;
                let rows = block.rows()?;
                let detector = detector.get();
                let done = py.detach(|| each(&detector.0.detector, &rows, out));
                done.map_err(|e| errors::of(errors::from_row(e, start), detector.names()))
            });
            block.unwrap_or_else(|| Err(errors::internal("Python has ended")))
        })
    }
}

#[pymethods]
impl PyDetector {
    /// Reads a detector file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Self::read(Container::read(&path), &path))
    }

    /// A detector from the bytes of its file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        let file = Path::new("these bytes");
        Self::read(Container::from_bytes(bytes, file), file)
    }

    /// Writes the detector file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.write(&path)).map_err(errors::of_file)
    }

    /// The bytes of the detector file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.0.to_container().and_then(|c| c.to_bytes()).map_err(errors::of_file)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<PyDetector>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// How odd rows are, and the p-value of each as a new row.
    fn oddness<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<(Floats<'py>, Floats<'py>)> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let oddness = Self::over(slf, x, threads, space(n, 1)?, |detector, rows, out| {
            out.extend(detector.oddness(rows)?);
            Ok(())
        })?;
        let p_values = oddness.iter().map(|o| slf.get().0.detector.p_value(*o)).collect();
        Ok((arrays::vector(py, oddness), arrays::vector(py, p_values)))
    }

    /// Why rows are odd, and what each column should be given the others.
    fn explain<'py>(
        slf: &Bound<'py, Self>,
        x: Source,
        threads: Option<usize>,
    ) -> PyResult<Explained<'py>> {
        let (py, (n, _)) = (slf.py(), x.shape(slf.py()));
        let columns = slf.get().n_features();
        space(n, columns.saturating_mul(5))?;
        let names = slf.get().0.names.clone();
        let out = Vec::<(Oddity, String)>::new();
        let found = Self::over(slf, x, threads, out, move |detector, rows, out| {
            rows.check_present()?;
            let explain = |i| {
                let oddity = detector.explain(&rows.row(i))?;
                let reasons = oddity.reasons(&rows.row(i));
                let words: Vec<String> = reasons.iter().map(|r| r.text(&names[r.column])).collect();
                Ok((oddity, words.join("; ")))
            };
            let found: upoe::Result<Vec<_>> =
                (0..rows.len()).into_par_iter().map(explain).collect();
            out.extend(found?);
            Ok(())
        })?;
        let (found, reasons): (Vec<Oddity>, Vec<String>) = found.into_iter().unzip();
        let base = slf.get().0.detector.base();
        let one = |of: fn(&Oddity) -> f64| arrays::vector(py, found.iter().map(of).collect());
        let many = |of: fn(&Oddity) -> &Vec<f64>, width: usize| {
            let values = found.iter().flat_map(|o| of(o).iter().copied()).collect();
            arrays::shaped(py, values, n, width)
        };
        let conditional = |of: fn(&Conditional) -> f64| {
            let cells = found.iter().flat_map(|o| &o.expected);
            let values = cells.map(|cell| cell.as_ref().map_or(f64::NAN, of)).collect();
            arrays::shaped(py, values, n, columns)
        };
        let j = slf.get().0.detector.directions().len();
        Ok((
            (
                one(|o| o.oddness),
                base,
                many(|o| &o.directions, j),
                one(|o| o.rest),
                many(|o| &o.alone, columns),
                many(|o| &o.columns, columns),
            ),
            (conditional(|c| c.value), conditional(|c| c.low), conditional(|c| c.high)),
            reasons,
        ))
    }

    /// Rows odder than this have a p-value of at most `alpha`.
    fn threshold(&self, alpha: f64) -> PyResult<f64> {
        self.0.detector.threshold(alpha).map_err(|e| errors::of(e, None))
    }

    /// How many columns a row has.
    #[getter]
    fn n_features(&self) -> usize {
        self.0.detector.columns()
    }

    /// The columns' names, where they have any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.names().map(<[String]>::to_vec)
    }

    /// The columns that are constant in the training rows.
    #[getter]
    fn constant(&self) -> Vec<usize> {
        self.0.detector.constant()
    }

    /// How many training rows there were.
    #[getter]
    fn training_rows(&self) -> f64 {
        self.0.detector.training_rows()
    }

    /// The heavy directions in the data's own columns: (J, features). A row's projection on one is
    /// its distance from the core's centre, in units of the core's deviation.
    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> Floats<'py> {
        let filters = self.0.detector.directions();
        let (j, columns) = (filters.len(), self.n_features());
        arrays::shaped(py, filters.concat(), j, columns)
    }

    /// (heavy directions, seed) of the fit.
    #[getter]
    fn settings(&self) -> (usize, u64) {
        (self.0.settings.directions, self.0.settings.seed)
    }

    /// (alpha, contamination, threshold): which rows are called odd.
    #[getter]
    fn verdict(&self) -> (f64, Option<f64>, f64) {
        let Verdict { alpha, contamination, threshold } = self.0.verdict;
        (alpha, contamination, threshold)
    }

    fn __repr__(&self) -> String {
        format!("<detector of {} columns>", self.n_features())
    }
}

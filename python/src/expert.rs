//! One expert, as Python sees it.

use numpy::ndarray::ArrayD;
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use upoe::Learned;
use upoe::expert::{Expert, Marginal, StudentT};
use upoe_report::Finding;

use crate::arrays::{self, Argument, Floats, Named};
use crate::errors;

/// A learned expert: a normalised density of one projection z.
#[pyclass(frozen, name = "Expert", module = "upoe._upoe")]
pub struct PyExpert(pub Learned);

impl PyExpert {
    /// The Student-t or the components of a mixture.
    fn students(&self) -> Option<&[StudentT]> {
        match self.0.expert() {
            Expert::StudentT(student) => Some(std::slice::from_ref(student)),
            Expert::Mixture(mixture) => Some(mixture.components()),
            Expert::Tilt(_) => None,
        }
    }

    fn map<'py>(
        py: Python<'py>,
        z: &PyReadonlyArrayDyn<'py, f64>,
        f: impl Fn(f64) -> f64,
    ) -> Floats<'py> {
        let values: ArrayD<f64> = z.as_array().mapv(f);
        Floats::new(values.into_pyarray(py))
    }
}

#[pymethods]
impl PyExpert {
    /// The family: "student-t", "mixture" or "tilt".
    #[getter]
    fn family(&self) -> &'static str {
        self.0.expert().family().name()
    }

    /// The family, by its former name.
    #[getter]
    fn kind(&self) -> &'static str {
        self.family()
    }

    /// The parameters by name: a number, or a list with one for each component.
    #[getter]
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Named<'py>> {
        let parameters = PyDict::new(py);
        for parameter in self.0.expert().parameters() {
            match parameter.values[..] {
                [value] => parameters.set_item(parameter.name, value)?,
                _ => parameters.set_item(parameter.name, parameter.values)?,
            }
        }
        Ok(Named::new(parameters))
    }

    /// The scale of a Student-t, or of each component of a mixture, in the unit of z; none of a tilt.
    #[getter]
    fn scale(&self) -> Option<Vec<f64>> {
        self.students().map(|all| all.iter().map(StudentT::scale).collect())
    }

    /// The degrees of freedom of a Student-t, or of each component of a mixture; none of a tilt.
    #[getter]
    fn degrees_of_freedom(&self) -> Option<Vec<f64>> {
        self.students().map(|all| all.iter().map(StudentT::degrees_of_freedom).collect())
    }

    /// What it found, in words.
    #[getter]
    fn says(&self) -> String {
        Finding::of(self.0.expert()).to_string()
    }

    /// The direction in sphered space.
    #[getter]
    fn direction<'py>(&self, py: Python<'py>) -> Floats<'py> {
        arrays::vector(py, self.0.direction().to_vec())
    }

    /// What it added to the mean ln p of the training rows, in nats: positive is better.
    #[getter]
    fn gain(&self) -> f64 {
        self.0.gain
    }

    /// The chance that Gaussian rows would give as large a gain, where the stop rule says.
    #[getter]
    fn p_value(&self) -> Option<f64> {
        self.0.p_value
    }

    /// Steps its last descent took.
    #[getter]
    fn n_iter(&self) -> usize {
        self.0.iterations
    }

    /// Whether that ended at its tolerance.
    #[getter]
    fn converged(&self) -> bool {
        self.0.converged
    }

    /// The mean.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.expert().shape().mean
    }

    /// The variance.
    #[getter]
    fn variance(&self) -> f64 {
        self.0.expert().shape().variance
    }

    /// The excess kurtosis.
    #[getter]
    fn kurtosis(&self) -> f64 {
        self.0.expert().shape().kurtosis
    }

    /// The entropy in nats.
    #[getter]
    fn entropy(&self) -> f64 {
        self.0.expert().entropy()
    }

    /// ln T(z) of an array of projections.
    fn log_density<'py>(
        &self,
        py: Python<'py>,
        z: Argument<PyReadonlyArrayDyn<'py, f64>>,
    ) -> Floats<'py> {
        Self::map(py, &z.0, |z| self.0.expert().ln_density(z))
    }

    /// P(Z ≤ z) of an array of projections.
    fn cdf<'py>(&self, py: Python<'py>, z: Argument<PyReadonlyArrayDyn<'py, f64>>) -> Floats<'py> {
        Self::map(py, &z.0, |z| self.0.expert().cdf(z))
    }

    /// The z with P(Z ≤ z) = p, of an array of probabilities.
    fn quantile<'py>(
        &self,
        py: Python<'py>,
        p: Argument<PyReadonlyArrayDyn<'py, f64>>,
    ) -> Floats<'py> {
        Self::map(py, &p.0, |p| {
            if p > 0.0 && p < 1.0 {
                self.0.expert().quantile(p)
            } else if p == 0.0 {
                f64::NEG_INFINITY
            } else if p == 1.0 {
                f64::INFINITY
            } else {
                f64::NAN
            }
        })
    }

    /// The probability of each component given z: (n, components), one column of ones where
    /// the expert is not a mixture.
    fn responsibilities<'py>(
        &self,
        py: Python<'py>,
        z: Argument<PyReadonlyArray1<'py, f64>>,
    ) -> Floats<'py> {
        let z = z.0.as_array();
        match self.0.expert() {
            Expert::Mixture(mixture) => {
                let each = z.iter().flat_map(|z| mixture.responsibilities(*z)).collect();
                arrays::matrix(py, each, mixture.weights().len())
            }
            Expert::StudentT(_) | Expert::Tilt(_) => arrays::matrix(py, vec![1.0; z.len()], 1),
        }
    }

    /// An expert from what pickle keeps of it.
    #[staticmethod]
    fn from_json(json: &str) -> PyResult<Self> {
        let learned = serde_json::from_str(json);
        learned.map(PyExpert).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let make = py.get_type::<PyExpert>().getattr("from_json")?;
        Ok((make, (errors::json(&self.0)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<{} expert, gain {:.4} nats>", self.family(), self.gain())
    }
}

//! Arrays in, and out as Rust allocated them.
//!
//! Other threads may write to an array of Python's at any time, which Rust must never read
//! meanwhile. So Rust reads private copies only, and numpy makes them.

use std::ops::Range;

use numpy::ndarray::{Array2, Array3};
use numpy::{
    Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
#[cfg(feature = "inspect")]
use pyo3::inspect::PyStaticExpr;
use pyo3::types::PySlice;
use pyo3::{Borrowed, prelude::*};
use upoe::Rows;

use crate::errors;

/// An array of rows, in double or single precision.
pub enum Source {
    /// float64.
    Double(Py<PyArray2<f64>>),
    /// float32.
    Single(Py<PyArray2<f32>>),
}

/// An array of rows that nobody else has, C-contiguous.
pub enum Private<'py> {
    /// float64.
    Double(PyReadonlyArray2<'py, f64>),
    /// float32.
    Single(PyReadonlyArray2<'py, f32>),
}

impl Source {
    /// The number of rows and of columns.
    pub fn shape(&self, py: Python<'_>) -> (usize, usize) {
        let shape = match self {
            Source::Double(array) => array.bind(py).shape(),
            Source::Single(array) => array.bind(py).shape(),
        };
        (shape[0], shape[1])
    }

    /// The array itself, which the caller has made for this alone.
    pub fn whole<'py>(&self, py: Python<'py>) -> PyResult<Private<'py>> {
        Ok(match self {
            Source::Double(array) => Private::Double(array.bind(py).try_readonly()?),
            Source::Single(array) => Private::Single(array.bind(py).try_readonly()?),
        })
    }

    /// A copy of some rows.
    pub fn block<'py>(&self, py: Python<'py>, rows: Range<usize>) -> PyResult<Private<'py>> {
        let slice = PySlice::new(py, rows.start as isize, rows.end as isize, 1);
        let array = match self {
            Source::Double(array) => array.bind(py).as_any(),
            Source::Single(array) => array.bind(py).as_any(),
        };
        let copy = array.get_item(slice)?.call_method0("copy")?;
        Ok(match self {
            Source::Double(_) => Private::Double(copy.extract()?),
            Source::Single(_) => Private::Single(copy.extract()?),
        })
    }
}

impl Private<'_> {
    /// Its rows, where they lie.
    pub fn rows(&self) -> PyResult<Rows<'_>> {
        let rows = match self {
            Private::Double(array) => Rows::new(c_slice(array)?, array.shape()[1]),
            Private::Single(array) => Rows::single(c_slice(array)?, array.shape()[1]),
        };
        rows.map_err(|e| errors::of(e, None))
    }
}

impl FromPyObject<'_, '_> for Source {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::ROWS;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(array) => Ok(Source::Double(array)),
            Err(_) => Ok(Source::Single(object.extract()?)),
        }
    }
}

/// An argument that is an array of float64; where it is read, a private copy of it.
pub struct Argument<T>(pub T);

impl<'a, 'py, T: for<'b> FromPyObject<'b, 'py, Error = PyErr>> FromPyObject<'a, 'py>
    for Argument<T>
{
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::FLOATS;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        T::extract(object)?; // which refuses what is not an array
        if let Ok(mask) = object.getattr("mask")
            && mask.call_method0("any")?.is_truthy()?
        {
            return Err(errors::masked());
        }
        Ok(Argument(T::extract(object.call_method0("copy")?.as_borrowed())?))
    }
}

/// Weights of rows, in an array that nobody else has.
pub struct Weights(pub Py<PyArray1<f64>>);

impl FromPyObject<'_, '_> for Weights {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::FLOATS;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Weights(object.extract()?))
    }
}

/// What Python gets, with its type.
macro_rules! output {
    ($(#[$doc:meta])* $name:ident, $type:ident) => {
        $(#[$doc])*
        pub struct $name<'py>(Bound<'py, PyAny>);

        impl<'py> $name<'py> {
            pub fn new<T>(object: Bound<'py, T>) -> Self {
                $name(object.into_any())
            }
        }

        impl<'py> IntoPyObject<'py> for $name<'py> {
            type Target = PyAny;
            type Output = Bound<'py, PyAny>;
            type Error = std::convert::Infallible;
            #[cfg(feature = "inspect")]
            const OUTPUT_TYPE: PyStaticExpr = types::$type;

            fn into_pyobject(self, _: Python<'py>) -> Result<Self::Output, Self::Error> {
                Ok(self.0)
            }
        }
    };
}

output!(
    /// An array of float64.
    Floats, FLOATS
);
output!(
    /// An array of truth values.
    Flags, FLAGS
);
output!(
    /// Values by name.
    Named, NAMED
);

/// The types as Python writes them.
#[cfg(feature = "inspect")]
mod types {
    use super::PyStaticExpr;
    use pyo3::{type_hint_identifier, type_hint_subscript, type_hint_union};

    macro_rules! array {
        ($scalar:literal) => {
            type_hint_subscript!(
                type_hint_identifier!("numpy.typing", "NDArray"),
                type_hint_identifier!("numpy", $scalar)
            )
        };
    }

    pub const FLOATS: PyStaticExpr = array!("float64");
    pub const ROWS: PyStaticExpr = type_hint_union!(array!("float64"), array!("float32"));
    pub const FLAGS: PyStaticExpr = array!("bool_");
    pub const NAMED: PyStaticExpr = type_hint_subscript!(
        type_hint_identifier!("builtins", "dict"),
        type_hint_identifier!("builtins", "str"),
        type_hint_identifier!("typing", "Any")
    );
}

/// An array of rows of `columns` numbers.
pub fn matrix(py: Python<'_>, values: Vec<f64>, columns: usize) -> Floats<'_> {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    shaped(py, values, rows, columns)
}

/// An array of this shape, which may be without columns.
pub fn shaped(py: Python<'_>, values: Vec<f64>, rows: usize, columns: usize) -> Floats<'_> {
    let array = Array2::from_shape_vec((rows, columns), values);
    Floats::new(array.unwrap_or_else(|_| Array2::zeros((rows, columns))).into_pyarray(py))
}

/// An array of three dimensions.
pub fn cube(py: Python<'_>, values: Vec<f64>, shape: (usize, usize, usize)) -> Floats<'_> {
    let array = Array3::from_shape_vec(shape, values);
    Floats::new(array.unwrap_or_else(|_| Array3::zeros(shape)).into_pyarray(py))
}

/// An array of one dimension.
pub fn vector(py: Python<'_>, values: Vec<f64>) -> Floats<'_> {
    Floats::new(values.into_pyarray(py))
}

/// The numbers of a C-contiguous array.
fn c_slice<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    if !array.is_c_contiguous() {
        return Err(errors::internal("an array is not C-contiguous"));
    }
    Ok(array.as_slice()?)
}

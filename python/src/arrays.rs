//! Arrays in without a copy, and out as Rust allocated them.

use numpy::ndarray::{Array2, Array3};
use numpy::{Element, IntoPyArray, PyReadonlyArray2, PyUntypedArrayMethods};
#[cfg(feature = "inspect")]
use pyo3::inspect::PyStaticExpr;
use pyo3::{Borrowed, prelude::*};
use upoe::Rows;

use crate::errors::{self, Names};

/// An array of rows, in double or single precision.
pub enum Array<'py> {
    /// float64.
    Double(PyReadonlyArray2<'py, f64>),
    /// float32.
    Single(PyReadonlyArray2<'py, f32>),
}

impl Array<'_> {
    /// Its rows where they lie, after a check that all are finite; they must be C-contiguous.
    pub fn rows(&self, names: Names) -> PyResult<Rows<'_>> {
        let rows = match self {
            Array::Double(array) => Rows::new(c_slice(array)?, array.shape()[1]),
            Array::Single(array) => Rows::single(c_slice(array)?, array.shape()[1]),
        };
        let checked = rows.and_then(|rows| rows.check().map(|()| rows));
        checked.map_err(|e| errors::of(e, names))
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for Array<'py> {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::ROWS;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(array) => Ok(Array::Double(array)),
            Err(_) => Ok(Array::Single(object.extract()?)),
        }
    }
}

/// The same, held for later.
pub struct Held(pub Py<PyAny>);

impl FromPyObject<'_, '_> for Held {
    type Error = PyErr;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::ROWS;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(Held(object.to_owned().unbind()))
    }
}

/// An argument that is an array of float64.
pub struct Argument<T>(pub T);

impl<'a, 'py, T: FromPyObject<'a, 'py>> FromPyObject<'a, 'py> for Argument<T> {
    type Error = T::Error;
    #[cfg(feature = "inspect")]
    const INPUT_TYPE: PyStaticExpr = types::FLOATS;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> Result<Self, T::Error> {
        T::extract(object).map(Argument)
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

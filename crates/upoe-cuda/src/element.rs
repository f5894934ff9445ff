//! The two precisions of rows, and the products that cuBLAS makes of them.

use cudarc::cublas::result::{self, CublasError};
use cudarc::cublas::sys::{cublasHandle_t, cublasOperation_t};
use std::ffi::{c_int, c_longlong};
use upoe_kernels::Real;

/// Single or double precision.
pub trait Element: Real + sealed::Product {
    /// Its name in the kernels.
    #[doc(hidden)]
    const NAME: &'static str;

    /// The kernel that puts such numbers in their place.
    #[doc(hidden)]
    const PLACE: &'static str;

    /// Writes numbers to words, and zeros to those that are left.
    #[doc(hidden)]
    fn write(numbers: &[f64], words: &mut [u64]);
}

impl Element for f32 {
    const NAME: &'static str = "float";
    const PLACE: &'static str = "place_float";

    fn write(numbers: &[f64], words: &mut [u64]) {
        let bits = |x: &f64| u64::from((*x as f32).to_bits());
        let (pairs, last) = numbers.as_chunks::<2>();
        for (word, [a, b]) in words.iter_mut().zip(pairs) {
            *word = bits(a) | bits(b) << 32;
        }
        words[pairs.len()..].fill(0);
        if let Some(x) = last.first() {
            words[pairs.len()] = bits(x);
        }
    }
}

impl Element for f64 {
    const NAME: &'static str = "double";
    const PLACE: &'static str = "place_double";

    fn write(numbers: &[f64], words: &mut [u64]) {
        words.iter_mut().zip(numbers).for_each(|(word, x)| *word = x.to_bits());
        words[numbers.len()..].fill(0);
    }
}

/// C = A B, column by column as cuBLAS counts: C is m × n, the inner length is k. Batches are
/// `strides` apart.
pub struct Shape {
    /// Whether A, and whether B, is given by its transpose.
    pub transposed: [bool; 2],
    pub m: usize,
    pub n: usize,
    pub k: usize,
    /// How far columns of A, B and C are apart.
    pub leading: [usize; 3],
    pub strides: [usize; 3],
    pub batches: usize,
}

impl Shape {
    /// One product of these sizes, of matrices whose columns are `leading` apart; A is given by its
    /// transpose.
    pub fn of(m: usize, n: usize, k: usize, leading: [usize; 3]) -> Self {
        Shape { transposed: [true, false], m, n, k, leading, strides: [0; 3], batches: 1 }
    }

    /// Σ x yᵀ over n rows of d numbers (symmetric where y is a multiple of x).
    pub fn outer(d: usize, n: usize) -> Self {
        Shape { transposed: [false, true], ..Shape::of(d, d, n, [d, d, d]) }
    }
}

pub(crate) mod sealed {
    use super::{CublasError, Shape, cublasHandle_t};

    /// Products of matrices on the device.
    pub trait Product: Sized {
        /// # Safety
        /// `a`, `b` and `c` are addresses of device memory that holds the whole of each matrix of
        /// each batch, and nothing else writes to it until the stream of the handle is done.
        unsafe fn product(
            handle: cublasHandle_t,
            shape: &Shape,
            addresses: [u64; 3],
        ) -> Result<(), CublasError>;
    }
}

macro_rules! product {
    ($t:ty, $one:ident, $many:ident) => {
        impl sealed::Product for $t {
            unsafe fn product(
                handle: cublasHandle_t,
                shape: &Shape,
                [a, b, c]: [u64; 3],
            ) -> Result<(), CublasError> {
                use cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
                let [op, no] = shape.transposed.map(|t| if t { CUBLAS_OP_T } else { CUBLAS_OP_N });
                let [m, n, k] = [shape.m, shape.n, shape.k].map(|x| x as c_int);
                let [lda, ldb, ldc] = shape.leading.map(|x| x as c_int);
                let (one, zero): ($t, $t) = (1.0, 0.0);
                let (a, b, c) = (a as *const $t, b as *const $t, c as *mut $t);
                // SAFETY: the caller vouches for the matrices; the two factors live on the host
                // until the call returns, which is all that cuBLAS needs of them.
                unsafe {
                    if shape.batches == 1 {
                        return result::$one(
                            handle, op, no, m, n, k, &one, a, lda, b, ldb, &zero, c, ldc,
                        );
                    }
                    let [sa, sb, sc] = shape.strides.map(|x| x as c_longlong);
                    let batches = shape.batches as c_int;
                    result::$many(
                        handle, op, no, m, n, k, &one, a, lda, sa, b, ldb, sb, &zero, c, ldc, sc,
                        batches,
                    )
                }
            }
        }
    };
}

product!(f32, sgemm, sgemm_strided_batched);
product!(f64, dgemm, dgemm_strided_batched);

//! Linear algebra shared by all other modules.

use crate::error::{Error, Result};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par, Side};
use upoe_kernels::dispatch;

/// ln 2π.
pub(crate) const LN_TAU: f64 = 1.837_877_066_409_345_5;

/// ½ ln 2π.
pub(crate) const HALF_LN_TAU: f64 = 0.5 * LN_TAU;

/// aᵀb.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    sum_of_products(a, b)
}

#[inline(always)]
fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    // Eight sums side by side: one alone would wait for each addition to end.
    let (a8, a) = a.as_chunks::<8>();
    let (b8, b) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a8.iter().zip(b8) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// AB, by one thread: the bits do not depend on how many there are.
pub(crate) fn product(a: MatRef<f64>, b: MatRef<f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// The sum of a matrix's columns, each times its number: the numbers are added in their order.
pub(crate) fn combined(matrix: &Mat<f64>, by: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; matrix.nrows()];
    for (j, by) in by.iter().enumerate().filter(|(_, by)| **by != 0.0) {
        let column = matrix.col_as_slice(j);
        sum.iter_mut().zip(column).for_each(|(sum, entry)| *sum += entry * by);
    }
    sum
}

/// The vector at unit length.
pub(crate) fn unit(w: &[f64]) -> Vec<f64> {
    let norm = dot(w, w).sqrt();
    w.iter().map(|x| x / norm).collect()
}

/// Removes the components along an orthonormal basis (19).
pub(crate) fn remove(span: &[Vec<f64>], w: &mut [f64]) {
    dispatch(
        #[inline(always)]
        || {
            for v in span {
                let along = sum_of_products(v, w);
                w.iter_mut().zip(v).for_each(|(w, v)| *w -= along * v);
            }
        },
    );
}

/// An orthonormal basis of some independent directions, by Gram–Schmidt, applied twice.
pub(crate) fn orthonormal(directions: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut span: Vec<Vec<f64>> = Vec::with_capacity(directions.len());
    for w in directions {
        let mut w = w.clone();
        remove(&span, &mut w);
        remove(&span, &mut w);
        let norm = dot(&w, &w).sqrt();
        w.iter_mut().for_each(|x| *x /= norm);
        span.push(w);
    }
    span
}

/// Whether directions of `dims` entries are orthonormal to 1e-8.
pub(crate) fn orthonormal_in(directions: &[Vec<f64>], dims: usize) -> bool {
    let product = |a: usize, b: usize| {
        (dot(&directions[a], &directions[b]) - f64::from(u8::from(a == b))).abs() < 1e-8
    };
    let n = directions.len();
    n <= dims
        && directions.iter().all(|w| w.len() == dims)
        && (0..n).all(|a| (0..=a).all(|b| product(a, b)))
}

/// Eigenvalues, in falling order, and eigenvectors as columns.
pub(crate) type Spectrum = (Vec<f64>, Mat<f64>);

/// Eigenvalues, in falling order.
pub(crate) fn eigenvalues(symmetric: &Mat<f64>) -> Result<Vec<f64>> {
    let mut values = symmetric
        .self_adjoint_eigenvalues(Side::Lower)
        .map_err(|_| Error::NoConvergence { what: "eigendecomposition" })?;
    values.reverse();
    Ok(values)
}

/// Eigenvalues, in falling order, and their vectors.
pub(crate) fn eigen(symmetric: &Mat<f64>) -> Result<Spectrum> {
    let found = symmetric
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::NoConvergence { what: "eigendecomposition" })?;
    let n = symmetric.nrows();
    let values = (0..n).map(|k| found.S()[n - 1 - k]).collect();
    let vectors = Mat::from_fn(n, n, |i, k| found.U()[(i, n - 1 - k)]);
    Ok((values, vectors))
}

/// W# and ½ ln|WWᵀ| from the eigenvectors of WWᵀ, or the rank where it is not full.
pub(crate) fn pseudo_inverse(directions: &[Vec<f64>], d: usize) -> Result<(Mat<f64>, f64)> {
    let j = directions.len();
    if j > d {
        return Err(Error::DependentDirections { directions: j, rank: d });
    }
    let norms: Vec<f64> = directions.iter().map(|w| dot(w, w).sqrt()).collect();
    if j == 0 {
        return Ok((Mat::zeros(d, 0), 0.0));
    }
    // On unit directions, so that rank does not depend on the norms.
    let cosines =
        Mat::from_fn(j, j, |a, b| dot(&directions[a], &directions[b]) / norms[a] / norms[b]);
    let evd = cosines
        .self_adjoint_eigen(Side::Lower)
        .map_err(|_| Error::DependentDirections { directions: j, rank: 0 })?;
    let values: Vec<f64> = (0..j).map(|k| evd.S()[k]).collect();
    let rank = values.iter().filter(|v| **v > 1e-12 * j as f64).count();
    if rank < j || norms.iter().any(|n| !(*n > 0.0 && n.is_finite())) {
        return Err(Error::DependentDirections { directions: j, rank });
    }
    let inverse = Mat::from_fn(j, j, |a, b| {
        (0..j).map(|k| evd.U()[(a, k)] * evd.U()[(b, k)] / values[k]).sum::<f64>()
            / norms[a]
            / norms[b]
    });
    let transposed = Mat::from_fn(d, j, |i, a| directions[a][i]);
    let half_ln_gram = norms.iter().map(|n| n.ln()).sum::<f64>()
        + 0.5 * values.iter().map(|v| v.ln()).sum::<f64>();
    Ok((&transposed * inverse, half_ln_gram))
}

/// Whether W# (WWᵀ) = Wᵀ, to what nearly dependent directions leave of it.
pub(crate) fn is_pseudo_inverse(inverse: &Mat<f64>, directions: &[Vec<f64>]) -> bool {
    let (d, j) = (inverse.nrows(), inverse.ncols());
    if j == 0 {
        return true;
    }
    let transposed = Mat::from_fn(d, j, |i, a| directions[a][i]);
    let product = inverse * (transposed.transpose() * &transposed);
    let norms: Vec<f64> = directions.iter().map(|w| dot(w, w).sqrt()).collect();
    let close =
        |i: usize, a: usize| (product[(i, a)] - transposed[(i, a)]).abs() <= 0.01 * norms[a];
    (0..j).all(|a| norms[a] > 0.0 && norms[a].is_finite() && (0..d).all(|i| close(i, a)))
}

/// ln of the sum of exponentials.
pub(crate) fn ln_sum(terms: impl Iterator<Item = f64> + Clone) -> f64 {
    let top = terms.clone().fold(f64::NEG_INFINITY, f64::max);
    if top.is_finite() { top + terms.map(|t| (t - top).exp()).sum::<f64>().ln() } else { top }
}

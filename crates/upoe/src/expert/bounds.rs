//! How far down learning lets a scale and a tail go.
//!
//! Ties let an expert shrink onto one value, and a direction orthogonal to D − 1 rows puts
//! them all at z = 0: the likelihood has no maximum without these bounds. Real optima lie
//! well above them (natural images: β ≈ 1.35; sharp physical measurements: β ≈ 0.9 at a scale
//! of 0.07 standard deviations). Both are approached smoothly: value = bound + eᵗ.

/// The smallest scale, in standard deviations of the sphered data.
pub const SCALE: f64 = 0.02;
/// The fewest degrees of freedom, 2β − 1: β = 0.6.
pub const DEGREES_OF_FREEDOM: f64 = 0.2;

/// The coordinate t of a value = bound + eᵗ.
pub fn coordinate(value: f64, bound: f64) -> f64 {
    (value - bound).max(1e-9 * bound).ln()
}

/// The value at a coordinate; kept below 1e13, where a Student-t is a Gaussian to rounding.
pub fn value(coordinate: f64, bound: f64) -> f64 {
    bound + coordinate.min(30.0).exp()
}

/// Whether a value lies at its bound.
pub fn hit(value: f64, bound: f64) -> bool {
    value < bound * 1.02
}

//! Elementwise functions that the compiler can vectorise.

/// Natural logarithm of a positive finite number.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    x.ln()
}

/// ln(1 + x) for x ≥ 0.
#[inline(always)]
pub fn ln_1p(x: f64) -> f64 {
    x.ln_1p()
}

/// eˣ; 0 far below, ∞ far above.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    x.exp()
}

//! Elementwise functions that the compiler can vectorise, and the run-time choice of
//! instruction set under which it does.

use std::sync::OnceLock;

/// Runs `f` compiled for the best instruction set of this machine: loops that are inlined
/// into it (closures, `#[inline(always)]` functions) are vectorised accordingly.
#[inline]
pub fn dispatch<R>(f: impl FnOnce() -> R) -> R {
    static ARCH: OnceLock<pulp::Arch> = OnceLock::new();
    ARCH.get_or_init(pulp::Arch::new).dispatch(f)
}

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

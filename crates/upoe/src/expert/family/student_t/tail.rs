//! P(U > u) of a Student-t, to full relative precision and in a fixed number of steps.

use super::ln_norm;
use crate::expert::quadrature::{NODES, legendre};
use upoe_kernels::{dispatch, exp, ln_1p};

/// From this many degrees of freedom on, the quadrature of [`beyond`] is exact to rounding.
const SMOOTH: f64 = 8.0;

/// P(U > u) of a standard Student-t with ν degrees of freedom, for u ≥ 0.
///
/// Every step adds positive numbers, so that the result keeps its digits however small it is.
pub fn upper_tail(u: f64, nu: f64) -> f64 {
    let root = u / nu.sqrt();
    if u <= 1.0 && root <= 1.0 {
        return 0.5 - centre(u, nu);
    }
    // ln(1 + u²/ν), also where the square overflows.
    let log = if root < 1e8 { (root * root).ln_1p() } else { 2.0 * u.ln() - nu.ln() };
    let (mut nu, mut sum) = (nu, 0.0);
    if nu < SMOOTH {
        // With x = ν / (ν + u²): I_x(a, ½) = I_x(a + 1, ½) + x^a √(1 − x) / (a B(a, ½)), and
        // P(U > u) = ½ I_x(ν/2, ½). Each step has two degrees of freedom more at the same x.
        let x = (-log).exp();
        let root_y = (1.0 + root.powi(-2)).sqrt().recip();
        let mut term = (ln_norm(nu) - 0.5 * nu * log).exp() * root_y / nu.sqrt();
        while nu < SMOOTH {
            sum += term;
            term *= x * (nu + 1.0) / (nu + 2.0);
            nu += 2.0;
        }
    }
    sum + beyond(log, nu)
}

/// P(0 < U < u), for u up to 1 and √ν.
fn centre(u: f64, nu: f64) -> f64 {
    let (peak, beta) = (ln_norm(nu), 0.5 * (nu + 1.0));
    let mass = integral(
        #[inline(always)]
        |x| exp(peak - beta * ln_1p((x * u).powi(2) / nu)),
    );
    u * mass
}

/// P(U > u), given ln(1 + u²/ν) and many degrees of freedom.
///
/// With w² = ν ln(1 + t²/ν) the density is that of a Gaussian except for a slow factor:
/// T(t) dt = e^c(ν) e^(−w²/2) g(w²/ν) dw with g(s)² = s / (1 − e⁻ˢ).
fn beyond(log: f64, nu: f64) -> f64 {
    let peak = (ln_norm(nu) - 0.5 * nu * log).exp();
    if peak == 0.0 {
        return 0.0;
    }
    let start = (nu * log).sqrt();
    // Up to where e^(−w²/2) has fallen by e^−37.
    let width = 74.0 / (start + (start * start + 74.0).sqrt());
    let mass = integral(
        #[inline(always)]
        |x| {
            let step = width * x;
            let s = (start + step).powi(2) / nu;
            let s2 = s * s;
            let near = 1.0 + 0.5 * s + s2 * (1.0 / 12.0 - s2 * (1.0 / 720.0 - s2 / 30240.0));
            let square = if s < 0.05 { near } else { s / (1.0 - exp(-s)) };
            exp(-step * (start + 0.5 * step)) * square.sqrt()
        },
    );
    peak * width * mass
}

/// ∫ f over [0, 1].
#[inline(always)]
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    let nodes = legendre();
    dispatch(
        #[inline(always)]
        || {
            let mut values = [0.0; NODES];
            for (value, (x, weight)) in values.iter_mut().zip(nodes) {
                *value = weight * f(*x);
            }
            values.iter().sum()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::upper_tail;

    #[test]
    fn any_degrees_of_freedom_and_any_u_end_with_a_probability() {
        for nu in [1e-320, 1e-300, 1e-17, 1e-15, 1e-14, 1e-12, 1e-9, 1e-3, 7.9, 8.0, 1e15] {
            let mut last = 0.5;
            for u in [0.0, 1e-320, 1e-170, 1e-9, 0.1, 1.0, 9.0, 1e9, 1e160, 1e308, f64::INFINITY] {
                let tail = upper_tail(u, nu);
                assert!((0.0..=last).contains(&tail), "{tail} after {last}: ν = {nu}, u = {u}");
                last = tail;
            }
        }
        assert!(upper_tail(f64::NAN, 3.0).is_nan());
        // From 60 digits.
        let exact = [
            (1e-9, 1.0, 0.499_999_994_472_609_98),
            (1e-9, 1e-6, 0.499_999_999_984_191_25),
            (1e-12, 1e300, 0.499_999_999_647_357_9),
            (1e-3, 5.0, 0.497_130_236_290_064_4),
        ];
        for (nu, u, expected) in exact {
            assert!((upper_tail(u, nu) / expected - 1.0_f64).abs() < 1e-14, "ν = {nu}, u = {u}");
        }
    }
}

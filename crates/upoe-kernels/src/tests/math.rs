//! The error of the elementwise functions, against 100-bit arithmetic.

use super::numbers;
use crate::math::{LN_2_HIGH, LN_2_LOW};
use crate::{dispatch, exp, ln, ln_1p};
use std::f64::consts::LOG2_E;

/// x as a sum of two doubles: about 106 bits.
type Double = (f64, f64);

fn two_sum(a: f64, b: f64) -> Double {
    let s = a + b;
    let v = s - a;
    (s, (a - (s - v)) + (b - v))
}

fn add(a: Double, b: Double) -> Double {
    let (s, t) = two_sum(a.0, b.0);
    two_sum(s, t + a.1 + b.1)
}

fn mul(a: Double, b: Double) -> Double {
    let p = a.0 * b.0;
    two_sum(p, a.0.mul_add(b.0, -p) + a.0 * b.1 + a.1 * b.0)
}

/// e^x by 2^−10 of it, a Taylor series of 12 terms and ten squarings of e^x − 1.
fn exp_reference(x: Double) -> (Double, i32) {
    const LN_2: [f64; 3] = [LN_2_HIGH, LN_2_LOW, 1.161_222_722_936_253_2e-26];
    let n = (x.0 * LOG2_E).round();
    let mut r = x;
    for part in LN_2 {
        let p = n * part;
        r = add(r, two_sum(-p, -n.mul_add(part, -p)));
    }
    let r = (r.0 / 1024.0, r.1 / 1024.0);
    let mut sum = (0.0, 0.0);
    for k in (1..=12).rev() {
        let t = mul(r, add((1.0, 0.0), sum));
        let q = t.0 / f64::from(k);
        sum = two_sum(q, ((-q).mul_add(f64::from(k), t.0) + t.1) / f64::from(k));
    }
    for _ in 0..10 {
        sum = add((2.0 * sum.0, 2.0 * sum.1), mul(sum, sum));
    }
    (add((1.0, 0.0), sum), n as i32)
}

/// ln x by one Newton step from the library's logarithm.
fn ln_reference(x: Double) -> Double {
    let y = x.0.ln();
    let (e, n) = exp_reference((-y, 0.0));
    let (x, n) = if n.abs() > 1000 {
        // In two steps, to stay within the exponents.
        let half = 2f64.powi(n / 2);
        ((x.0 * half, x.1 * half), n - n / 2)
    } else {
        (x, n)
    };
    let scale = 2f64.powi(n);
    let t = mul((x.0 * scale, x.1 * scale), e);
    let d = add(t, (-1.0, 0.0));
    add((y, 0.0), add(d, (-0.5 * d.0 * d.0, 0.0)))
}

/// |y − exact| in units of the last place of exact.
fn ulps(y: f64, exact: Double) -> f64 {
    let ulp = exact.0.abs().next_up() - exact.0.abs();
    ((y - exact.0) - exact.1).abs() / ulp
}

/// Spread over all exponents, and close to 1 from both sides.
fn positive_numbers() -> Vec<f64> {
    let edges = [1.0, f64::MIN_POSITIVE, f64::MAX, 5e-324, 2.0, 0.5, SQRT, 1.0 / SQRT];
    const SQRT: f64 = std::f64::consts::SQRT_2;
    let edges = edges.into_iter().flat_map(|x| [x.next_down(), x, x.next_up()]);
    let spread = numbers(200_000, 7).into_iter().map(|u| {
        let bits = ((u + 1.0) / 2.0 * f64::INFINITY.to_bits() as f64) as u64;
        f64::from_bits(bits)
    });
    let near = numbers(100_000, 8).into_iter().map(|u| 1.0 + u * u * u * 0.5);
    let middle = numbers(100_000, 9).into_iter().map(|u| (10.0 * u).exp());
    let all = edges.chain(spread).chain(near).chain(middle);
    all.filter(|x| *x > 0.0 && *x < f64::INFINITY).collect()
}

fn check(f: fn(f64) -> f64, xs: &[f64], exact: impl Fn(f64) -> Double, bound: f64) {
    let mut worst = (0.0, 0.0);
    for &x in xs {
        let error = ulps(f(x), exact(x));
        assert!(error <= bound, "{error} ulp at {x:e}: {} {:?}", f(x), exact(x));
        worst = if error > worst.0 { (error, x) } else { worst };
    }
    println!("worst: {} ulp at {:e}", worst.0, worst.1);
}

#[test]
fn ln_is_within_1_ulp() {
    let scaled = |x: f64| {
        // The reference needs a normal number.
        let shift = if x < 1e-290 { 64 } else { 0 };
        let y = ln_reference((x * 2f64.powi(shift), 0.0));
        let n = -f64::from(shift);
        let p = n * LN_2_HIGH;
        add(y, add((p, n.mul_add(LN_2_HIGH, -p)), (n * LN_2_LOW, 0.0)))
    };
    check(ln, &positive_numbers(), scaled, 1.0);
}

#[test]
fn ln_1p_is_within_1_ulp() {
    let exact = |x: f64| {
        if x < 1e-17 { two_sum(x, -0.5 * x * x) } else { ln_reference(two_sum(1.0, x)) }
    };
    check(ln_1p, &positive_numbers(), exact, 1.0);
}

#[test]
fn exp_is_within_1_ulp() {
    let mut xs: Vec<f64> = numbers(300_000, 5).iter().map(|u| 727.0 * u - 18.0).collect();
    xs.extend(numbers(100_000, 6).iter().map(|u| u * u * u));
    xs.extend([-745.0, 709.0, 709.78, -708.4, 0.0, 1.0, -1e-300, 5e-324]);
    let exact = |x: f64| {
        let (y, n) = exp_reference((x, 0.0));
        let (a, b) = (n / 2, n - n / 2);
        let scaled = |y: f64| y * 2f64.powi(a) * 2f64.powi(b);
        // A subnormal result keeps the digits it has lost in the second part.
        let high = scaled(y.0);
        let low = (y.0 - high * 2f64.powi(-a) * 2f64.powi(-b)) + y.1;
        (high, scaled(low))
    };
    check(exp, &xs, exact, 1.0);
}

#[test]
fn the_ends_of_the_ranges() {
    assert_eq!(ln(0.0), f64::NEG_INFINITY);
    assert_eq!(ln(-0.0), f64::NEG_INFINITY);
    assert_eq!(ln(f64::INFINITY), f64::INFINITY);
    assert_eq!(ln(1.0), 0.0);
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(f64::NEG_INFINITY).is_nan());
    assert_eq!(ln_1p(0.0), 0.0);
    assert_eq!(ln_1p(5e-324), 5e-324);
    assert_eq!(ln_1p(f64::INFINITY), f64::INFINITY);
    assert!(ln_1p(f64::NAN).is_nan());
    assert_eq!(exp(0.0), 1.0);
    assert_eq!([exp(-745.2), exp(-1e9), exp(f64::NEG_INFINITY)], [0.0; 3]);
    assert_eq!([exp(709.79), exp(1e9), exp(f64::INFINITY)], [f64::INFINITY; 3]);
    assert!(exp(-745.0) > 0.0 && exp(709.78) < f64::INFINITY && exp(f64::NAN).is_nan());
}

#[test]
fn vectorised_loops_give_the_scalar_bits() {
    let xs = positive_numbers();
    for f in [ln, ln_1p, exp] {
        assert!(xs.iter().all(|&x| f(x) == dispatch(|| f(x))));
    }
    let mut out = xs.clone();
    dispatch(|| out.iter_mut().for_each(|x| *x = ln(*x)));
    assert!(xs.iter().zip(&out).all(|(&x, &y)| ln(x) == y));
    out.copy_from_slice(&xs);
    dispatch(|| out.iter_mut().for_each(|x| *x = ln_1p(*x)));
    assert!(xs.iter().zip(&out).all(|(&x, &y)| ln_1p(x) == y));
    let xs = numbers(1000, 4).iter().map(|u| 800.0 * u).collect::<Vec<_>>();
    let mut out = xs.clone();
    dispatch(|| out.iter_mut().for_each(|x| *x = exp(*x)));
    assert!(xs.iter().zip(&out).all(|(&x, &y)| exp(x) == y));
}

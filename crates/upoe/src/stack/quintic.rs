//! Quintics between two places where a function and its first two derivatives are known.

/// The value at the share u of the way between two places `h` apart, and the derivative by u.
pub fn between(left: &[f64; 3], right: &[f64; 3], h: f64, u: f64) -> [f64; 2] {
    let [a, b, c] = [left[0], h * left[1], 0.5 * h * h * left[2]];
    // What is left for u³, u⁴ and u⁵ at the right end.
    let value = right[0] - a - b - c;
    let slope = h * right[1] - b - 2.0 * c;
    let bend = h * h * right[2] - 2.0 * c;
    let d = 10.0 * value - 4.0 * slope + 0.5 * bend;
    let e = -15.0 * value + 7.0 * slope - bend;
    let f = 6.0 * value - 3.0 * slope + 0.5 * bend;
    let at = a + u * (b + u * (c + u * (d + u * (e + u * f))));
    [at, b + u * (2.0 * c + u * (3.0 * d + u * (4.0 * e + u * 5.0 * f)))]
}

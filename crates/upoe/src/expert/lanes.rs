//! Sums that vectorise: eight running sums in fixed lanes, added up at the end.

/// How many projections the families work on at a time.
pub const CHUNK: usize = 16;

/// Eight running sums of one statistic.
pub type Lanes = [f64; 8];

/// Adds wᵢ · value(i) to the running sums, for K values at once and the i of a chunk; `value` must
/// be finite past the last projection, too.
#[inline(always)]
pub fn add<const K: usize>(
    w: &[f64; CHUNK],
    sums: &mut [Lanes],
    value: impl Fn(usize) -> [f64; K],
) {
    for start in (0..CHUNK).step_by(8) {
        let mut values = [[0.0; 8]; K];
        for lane in 0..8 {
            let of_one = value(start + lane);
            for k in 0..K {
                values[k][lane] = w[start + lane] * of_one[k];
            }
        }
        for (sums, values) in sums.iter_mut().zip(values) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += value;
            }
        }
    }
}

/// Adds the running sums up.
pub fn collect(lanes: &[Lanes], sums: &mut [f64]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().sum::<f64>();
    }
}

/// Copies up to [`CHUNK`] values into an array, zeros after them.
#[inline(always)]
pub fn load(z: &[f64]) -> [f64; CHUNK] {
    if let Ok(full) = <&[f64; CHUNK]>::try_from(z) {
        return *full;
    }
    let mut out = [0.0; CHUNK];
    out[..z.len()].copy_from_slice(z);
    out
}

/// The opposite of [`load`].
#[inline(always)]
pub fn store(from: &[f64; CHUNK], to: &mut [f64]) {
    match <&mut [f64; CHUNK]>::try_from(&mut *to) {
        Ok(full) => *full = *from,
        Err(_) => to.copy_from_slice(&from[..to.len()]),
    }
}

/// The weights of chunk `i` with `n` projections: 1 each where there are none, 0 past the end.
#[inline(always)]
pub fn weights(weights: Option<&[f64]>, i: usize, n: usize) -> [f64; CHUNK] {
    match weights {
        Some(weights) => load(&weights[i * CHUNK..][..n]),
        None if n == CHUNK => [1.0; CHUNK],
        None => std::array::from_fn(|k| if k < n { 1.0 } else { 0.0 }),
    }
}

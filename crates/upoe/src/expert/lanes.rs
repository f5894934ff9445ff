//! Sums that vectorise: eight running sums in fixed lanes, added up at the end.

/// How many projections the families work on at a time.
pub const CHUNK: usize = 64;

/// Adds Σᵢ wᵢ · value(i) to `sums`, for K values at once and at most [`CHUNK`] of i.
/// `value(i)` must be defined for i up to the next multiple of eight.
#[inline(always)]
pub fn add<const K: usize>(
    n: usize,
    weights: Option<&[f64]>,
    sums: &mut [f64],
    value: impl Fn(usize) -> [f64; K],
) {
    let mut w = [0.0; CHUNK];
    match weights {
        Some(weights) => w[..n].copy_from_slice(&weights[..n]),
        None => w[..n].fill(1.0),
    }
    let mut lanes = [[0.0; 8]; K];
    for start in (0..n).step_by(8) {
        for lane in 0..8 {
            let values = value(start + lane);
            for (lanes, value) in lanes.iter_mut().zip(values) {
                lanes[lane] += w[start + lane] * value;
            }
        }
    }
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().sum::<f64>();
    }
}

/// Copies up to [`CHUNK`] values into an array, zeros after them.
#[inline(always)]
pub fn load(z: &[f64]) -> [f64; CHUNK] {
    let mut out = [0.0; CHUNK];
    out[..z.len()].copy_from_slice(z);
    out
}

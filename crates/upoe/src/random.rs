//! Where randomness enters: counter-based streams, one for each use and block.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A stream of random numbers.
pub type Stream = ChaCha8Rng;

/// What a stream is for: two uses never share numbers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Use {
    /// Rows drawn from a model; one stream per block of rows.
    Sample = 1,
    /// Starting directions; one stream per expert.
    Starts = 2,
    /// Which rows are held out.
    Holdout = 3,
    /// The order of rows in mini-batches and subsets.
    Rows = 4,
    /// Simulated data.
    Data = 5,
    /// Which rows two tables exchange.
    Exchange = 6,
    /// Missing cells; one stream per row.
    Missing = 7,
}

/// Which of some weights a number falls into, when they lie one behind the other; `None` beyond their sum.
pub(crate) fn place_of(at: f64, mut weights: impl Iterator<Item = f64>) -> Option<usize> {
    let mut left = at;
    weights.position(|weight| {
        left -= weight;
        left < 0.0
    })
}

/// A number for a row (Fowler, Noll and Vo), below 2⁴⁰: what is drawn for a row then depends on the row alone, and not on
/// those around it.
pub(crate) fn number_of(row: &[f64]) -> u64 {
    let bytes = row.iter().flat_map(|x| x.to_bits().to_le_bytes());
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step) >> 24
}

/// The stream of a seed for a use and an index within it.
pub fn stream(seed: u64, usage: Use, index: u64) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream((usage as u64) << 48 | index);
    rng
}

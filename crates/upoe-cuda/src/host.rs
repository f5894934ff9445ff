//! Experts without a device form: the CPU applies them to projections that the device made.

use crate::device::Busy;
use crate::element::Element;
use upoe::Result;
use upoe::expert::Expert;
use upoe_kernels::Term as _;

/// Turns a column of `padded` projections, of which `known` are of rows, into weighted slopes, and
/// writes the expert's statistics. The addresses are of the column, of the weights (0 for none) and
/// of the statistics of the first chunk of rows; those of the others are zero.
pub(crate) fn apply<T: Element>(
    busy: &Busy,
    expert: &Expert,
    column: u64,
    [known, padded]: [usize; 2],
    weights: u64,
    sums: u64,
) -> Result<()> {
    busy.device.note_help();
    let mut projections = vec![T::default(); known];
    // SAFETY: the column has at least `known` numbers of this type.
    unsafe { busy.fetch(column, &mut projections) }?;
    let z: Vec<f64> = projections.iter().map(|z| z.to_f64()).collect();
    let mut weight = vec![1.0; if weights == 0 { 0 } else { known }];
    if weights != 0 {
        // SAFETY: there is a weight for each known row.
        unsafe { busy.fetch(weights, &mut weight) }?;
    }
    let weight = (weights != 0).then_some(&weight[..]);
    let (mut slopes, mut statistics) = (vec![0.0; known], vec![0.0; expert.n_sums()]);
    expert.block(&z, weight, &mut slopes, &mut statistics);
    let scaled = |(i, s): (usize, &f64)| T::from_f64(s * weight.map_or(1.0, |w| w[i]));
    let mut scaled: Vec<T> = slopes.iter().enumerate().map(scaled).collect();
    scaled.resize(padded, T::default());
    // SAFETY: the column has `padded` numbers, and the statistics have their place in each chunk.
    unsafe {
        busy.send(&scaled, column)?;
        busy.send(&statistics, sums)?;
    }
    busy.wait()
}

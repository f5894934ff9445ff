//! Moments of rows, on the device.

use crate::device::{Busy, Device, Grid, int};
use crate::element::Shape;
use crate::stored::{centre, parts};
use upoe::{Moments, Result, Rows};

/// Rows whose column sums one block adds up.
const PER_BLOCK: usize = 256;

impl Device {
    /// Count, mean and scatter of rows: products on the device, in double precision.
    pub fn moments(&self, rows: &Rows) -> Result<Moments> {
        rows.check()?;
        let columns = rows.columns();
        let mut total = Moments::empty(columns);
        let mut busy = self.0.lock()?;
        for part in parts(rows) {
            let count = (0..part.len()).filter(|&i| part.weight(i) > 0.0).count();
            if count == 0 {
                continue;
            }
            // Near the mean, so that products of differences keep their digits.
            let some = part.slice(0..part.len().min(1024));
            let near = Moments::of(&some)?;
            let near = if near.weight() > 0.0 { near.mean().to_vec() } else { vec![0.0; columns] };
            let found = sums(&mut busy, &part, &near)?;
            total.merge(&Moments::from_sums(count, near, found));
        }
        drop(busy);
        total.check(rows)?;
        Ok(total)
    }
}

/// Σ w, Σ w y and Σ w yyᵀ of rows less a number near their mean.
fn sums(busy: &mut Busy, rows: &Rows, near: &[f64]) -> Result<(f64, Vec<f64>, Vec<f64>)> {
    let (n, columns) = (rows.len(), rows.columns());
    let mean = busy.scratch(|w| &mut w.space[3], 8 * columns)?;
    // SAFETY: as many numbers were asked for.
    unsafe { busy.send(near, mean) }?;
    let y = centre(busy, rows, mean)?;
    let blocks = n.div_ceil(PER_BLOCK);
    let scaled = busy.scratch(|w| &mut w.space[2], 8 * n * columns)?;
    let weights = busy.scratch(|w| &mut w.parts, 8 * n)?;
    let room = busy.scratch(|w| &mut w.sums, 8 * (blocks + 1 + columns) * columns)?;
    let (first, second) =
        (room + (8 * blocks * columns) as u64, room + (8 * (blocks + 1) * columns) as u64);
    let [column_sums, reduce, scale] =
        ["column_sums", "reduce_double", "scale_rows"].map(|name| busy.kernel::<f64>(name));
    let (mut sum, mut scatter) = (vec![0.0; columns], vec![0.0; columns * columns]);
    let weighted = rows.weights().map_or(0, |_| weights);
    // SAFETY: y and `scaled` have n rows, the weights n numbers, and there is room for the sums of
    // each block, for their total and for the product.
    unsafe {
        if let Some(values) = rows.weights() {
            busy.send(values, weights)?;
            let words = [y, int(n), int(columns), weights, scaled];
            busy.launch(&scale?, Grid::over(n * columns), &words)?;
        }
        let words = [y, int(n), int(columns), weighted, room, int(PER_BLOCK)];
        let grid = Grid { blocks: [blocks, 1], threads: 256, shared: 0 };
        busy.launch(&column_sums?, grid, &words)?;
        let words = [room, int(columns), int(blocks), first, int(0)];
        let grid = Grid { blocks: [columns.div_ceil(32), 1], threads: 512, shared: 0 };
        busy.launch(&reduce?, grid, &words)?;
        let factor = if weighted == 0 { y } else { scaled };
        busy.outer_product(columns, n, [y, factor, second])?;
        busy.fetch(first, &mut sum)?;
        busy.fetch(second, &mut scatter)?;
    }
    let weight = rows.weights().map_or(n as f64, |w| w.iter().sum());
    Ok((weight, sum, scatter))
}

impl Busy<'_> {
    /// Queues C (d × d) = Σ over n rows of x yᵀ, for rows that lie one after the other.
    ///
    /// # Safety
    /// The addresses are of n rows x, n rows y and C, all in double precision.
    pub unsafe fn outer_product(&self, d: usize, n: usize, [x, y, c]: [u64; 3]) -> Result<()> {
        let shape = Shape::outer(d, n);
        // SAFETY: the caller vouches for the memory.
        unsafe { self.product::<f64>(&shape, [x, y, c]) }
    }
}

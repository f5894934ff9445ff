//! One pass for many candidates: two products by cuBLAS with the experts in between.

use crate::device::{Busy, Grid, int};
use crate::element::{Element, Shape};
use crate::host;
use crate::question::{Asked, Question};
use crate::stored::Stored;
use upoe::Result;
use upoe::engine::Sums;

/// The most candidates of one pass.
pub(crate) const MOST: usize = 256;

/// Bytes of projections, and of parts of gradients, that are there at a time.
const SPACE: usize = 512 << 20;

/// Rows that one block of the experts' kernel works through.
const CHUNK: usize = 4096;

/// Rows whose gradients are added up in the rows' precision: at most 1,024, and fewer where there
/// would otherwise be too few products to fill the device.
fn batch(rows: usize) -> usize {
    [1024, 512, 256].into_iter().find(|b| rows / b >= 128).unwrap_or(128)
}

/// The sums of up to [`MOST`] candidates.
pub(crate) fn sums<T: Element>(
    busy: &mut Busy,
    rows: &Stored<T>,
    asked: &[Asked],
) -> Result<Vec<Sums>> {
    let (count, stride, size) = (asked.len(), rows.stride, size_of::<T>());
    let question = Question::send::<T>(busy, asked, count, rows.dims, stride)?;
    let answer = busy.scratch(|w| &mut w.answer, 8 * question.answer_len(count))?;
    let statistics = answer + (8 * count * stride) as u64;
    let batch = batch(rows.count);
    let padded = rows.count.next_multiple_of(batch);
    // As many rows at a time as there is space for, in whole batches.
    let by_space = (SPACE / (count * size)).min(SPACE / (count * stride * size) * batch);
    let part = padded.min((by_space / batch).max(1) * batch);
    let z = busy.scratch(|w| &mut w.projections, count * part * size)?;
    let gradients = busy.scratch(|w| &mut w.parts, part / batch * count * stride * size)?;
    let chunks = part.div_ceil(CHUNK);
    let sums = busy.scratch(|w| &mut w.sums, 8 * chunks * question.total)?;
    for first in (0..padded).step_by(part) {
        let n = part.min(padded - first);
        let x = rows.rows.at() + (first * stride * size) as u64;
        // Z (n × count) = X · Wᵀ.
        let shape = Shape::of(n, count, stride, [stride, stride, n]);
        // SAFETY: X has n rows from `first` on, zeros beyond the last one included; there are
        // `count` directions, and room for Z.
        unsafe { busy.product::<T>(&shape, [x, question.directions, z]) }?;
        let known = rows.count.saturating_sub(first).min(n);
        let weights = match rows.weights_at() {
            0 => 0,
            at => at + (8 * first) as u64,
        };
        let kernel = busy.kernel::<T>("terms")?;
        let grid = Grid {
            blocks: [n.div_ceil(CHUNK), count],
            threads: 256,
            shared: 64 * question.widest.max(1),
        };
        let words = [
            z,
            int(n),
            int(known),
            weights,
            question.numbers,
            question.experts,
            sums,
            int(question.total),
            int(question.widest),
        ];
        // SAFETY: Z has `count` columns of n numbers, of which `known` are of rows that have
        // weights, where there are any; there are sums for each chunk.
        unsafe { busy.launch(&kernel, grid, &words) }?;
        for (i, (candidate, form)) in asked.iter().enumerate() {
            if form.is_none() {
                let column = z + (i * n * size) as u64;
                let sums = sums + 8 * question.start(i) as u64;
                host::apply::<T>(busy, &candidate.expert, column, [known, n], weights, sums)?;
            }
        }
        // Of each batch: G (stride × count) = Xᵀ · S.
        let shape = Shape {
            transposed: [false, false],
            m: stride,
            n: count,
            k: batch,
            leading: [stride, n, stride],
            strides: [batch * stride, batch, count * stride],
            batches: n / batch,
        };
        // SAFETY: n is a whole number of batches, and there is room for one G for each.
        unsafe { busy.product::<T>(&shape, [x, z, gradients]) }?;
        let more = usize::from(first > 0);
        let reductions = [
            ("reduce_real", gradients, count * stride, n / batch, answer),
            ("reduce_double", sums, question.total, n.div_ceil(CHUNK), statistics),
        ];
        for (name, parts, length, n_parts, to) in reductions {
            let kernel = busy.kernel::<T>(name)?;
            let grid = Grid { blocks: [length.div_ceil(32), 1], threads: 512, shared: 0 };
            // SAFETY: there are `n_parts` parts of this length, and room for their sum.
            unsafe {
                let words = [parts, int(length), int(n_parts), to, int(more)];
                busy.launch(&kernel, grid, &words)
            }?;
        }
    }
    question.answer(busy, count, answer)
}

//! One pass for few candidates, by a kernel that reads every row once.

use crate::device::{Busy, Grid, Inner, int};
use crate::element::Element;
use crate::question::{Asked, Question};
use crate::stored::Stored;
use upoe::Result;
use upoe::engine::Sums;

/// The most candidates of one pass.
pub(crate) const MOST: usize = 8;

/// Numbers of candidates that there are kernels for.
const SLOTS: [usize; 4] = [1, 2, 4, MOST];

/// Statistics of a candidate beyond which shared memory is too small.
const WIDEST: usize = 256;

/// Groups of 256 columns that the kernels have registers for.
fn groups(stride: usize) -> Option<usize> {
    [1, 2, 4].into_iter().find(|groups| stride <= 256 * groups)
}

/// The names of the kernels for rows of this width.
pub(crate) fn units(dims: usize) -> Vec<String> {
    let groups = groups(dims.next_multiple_of(4));
    SLOTS.iter().flat_map(|k| groups.map(|n| format!("few_{k}_{n}"))).collect()
}

/// How a pass is laid out.
struct Layout {
    slots: usize,
    groups: usize,
    tile: usize,
    shared: usize,
}

fn layout<T: Element>(
    device: &Inner,
    rows: &Stored<T>,
    count: usize,
    widest: usize,
) -> Option<Layout> {
    let groups = groups(rows.stride)?;
    let slots = SLOTS.into_iter().find(|slots| *slots >= count)?;
    if widest > WIDEST {
        return None;
    }
    let (size, stride) = (size_of::<T>(), rows.stride);
    // Two tiles, the directions, projections and slopes, and the statistics of each warp that has
    // rows.
    let bytes = |tile: usize| {
        let active = (slots * tile.div_ceil(32)).min(8);
        size * (2 * tile * stride + slots * stride + 2 * slots * tile) + 8 * active * widest
    };
    // Two blocks per multiprocessor, each with the kilobyte that the system takes; and tiles for
    // all of them.
    let most = (device.shared[1] / 2 - 1024).min(device.shared[0]);
    let fits = |tile: &usize| {
        let enough = *tile <= 32 || rows.count >= 4 * tile * device.processors;
        enough && bytes(*tile) <= most
    };
    let tile = [256, 128, 64, 32, 16, 8].into_iter().find(fits)?;
    Some(Layout { slots, groups, tile, shared: bytes(tile) })
}

/// Whether [`sums`] can answer.
pub(crate) fn suits<T: Element>(device: &Inner, rows: &Stored<T>, asked: &[Asked]) -> bool {
    asked.iter().all(|(_, form)| form.is_some())
        && layout(device, rows, asked.len().min(MOST), Question::widest(asked)).is_some()
}

/// The sums of up to [`MOST`] candidates.
pub(crate) fn sums<T: Element>(
    busy: &mut Busy,
    rows: &Stored<T>,
    asked: &[Asked],
) -> Result<Vec<Sums>> {
    let (question, slots) = queue(busy, rows, asked)?;
    busy.wait()?;
    question.read(busy, slots)
}

/// Queues a pass, whose answer the device writes to the host's memory; also says for how many slots.
pub(crate) fn queue<T: Element>(
    busy: &mut Busy,
    rows: &Stored<T>,
    asked: &[Asked],
) -> Result<(Question, usize)> {
    let device = busy.device;
    let Some(layout) = layout(device, rows, asked.len(), Question::widest(asked)) else {
        return Err(device.error("too many candidates for one pass"));
    };
    let Layout { slots, groups, tile, shared } = layout;
    let question = Question::send::<T>(busy, asked, slots, rows.dims, rows.stride)?;
    let kernel = busy.kernel::<T>(&format!("few_{slots}_{groups}"))?;
    let blocks = rows.count.div_ceil(tile).min(2 * device.processors);
    // Threads that have no column share the rows.
    let shares = 256 / rows.stride.next_multiple_of(32).min(256);
    let parts = 8 * (blocks * shares * slots * rows.stride);
    let at = busy.scratch(|w| &mut w.parts, parts + 8 * blocks * question.total)?;
    let sums = at + parts as u64;
    let words = [
        rows.rows.at(),
        int(rows.count),
        int(rows.stride),
        int(tile),
        rows.weights_at(),
        question.directions,
        question.numbers,
        question.experts,
        at,
        sums,
        int(question.total),
        int(question.widest),
    ];
    // SAFETY: rows are padded to whole tiles; there are as many slots as the kernel has; the parts
    // have one entry for each block, share and slot, and the sums one for each block.
    unsafe { busy.launch(&kernel, Grid { blocks: [blocks, 1], threads: 256, shared }, &words) }?;
    // The result is small: the device writes it to the host's memory.
    let answer = busy.pinned(question.answer_len(slots))?.as_ptr().addr() as u64;
    let kernel = busy.kernel::<T>("reduce_both")?;
    let gradients = slots * rows.stride;
    let grid =
        Grid { blocks: [gradients.max(question.total).div_ceil(32), 2], threads: 512, shared: 0 };
    let words =
        [at, int(gradients), int(blocks * shares), sums, int(question.total), int(blocks), answer];
    // SAFETY: the parts are as above, and the answer, which devices can write to, has room for both
    // results.
    unsafe { busy.launch(&kernel, grid, &words) }?;
    Ok((question, slots))
}

/// The most candidates for which passes of this kind are faster than two products by cuBLAS, which
/// multiplies doubles by matrix units.
pub(crate) const fn worthwhile<T>() -> usize {
    if size_of::<T>() == 4 { 2 * MOST } else { 4 }
}

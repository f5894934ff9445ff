//! Sphered rows on the device.

use crate::buffer::Buffer;
use crate::device::{Busy, Device, Grid, int};
use crate::element::{Element, Shape};
use std::marker::PhantomData;
use upoe::{Result, Rows, Values, Whitening};

/// Bytes of a part of the rows on its way to the device.
const PART: usize = 256 << 20;

/// Rows of `dims` numbers, `stride` apart, followed by rows of zeros up to a multiple of
/// [`Stored::PADDED`], with their weights.
pub(crate) struct Stored<T> {
    pub rows: Buffer,
    pub weights: Option<Buffer>,
    pub count: usize,
    pub dims: usize,
    pub stride: usize,
    kind: PhantomData<T>,
}

impl<T: Element> Stored<T> {
    /// The kernels read whole tiles of rows.
    pub const PADDED: usize = 1024;

    /// Bytes of rows and weights.
    pub fn bytes(count: usize, dims: usize, weighted: bool) -> usize {
        let padded = count.next_multiple_of(Self::PADDED);
        padded * dims.next_multiple_of(4) * size_of::<T>() + if weighted { 8 * count } else { 0 }
    }

    /// Room for rows, all zero.
    pub fn empty(
        device: &Device,
        count: usize,
        dims: usize,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let bytes = Self::bytes(count, dims, weights.is_some());
        device.0.check_memory(bytes + bytes / 20)?;
        let busy = device.0.lock()?;
        let rows = device.0.buffer(bytes)?;
        let weights = match weights {
            Some(values) => {
                let buffer = device.0.buffer(8 * count)?;
                // SAFETY: the buffer was made for as many numbers.
                unsafe { busy.send(&values[..count], buffer.at()) }?;
                busy.wait()?;
                Some(buffer)
            }
            None => None,
        };
        let stride = dims.next_multiple_of(4);
        Ok(Stored { rows, weights, count, dims, stride, kind: PhantomData })
    }

    /// The address of the weights, 0 for none.
    pub fn weights_at(&self) -> u64 {
        self.weights.as_ref().map_or(0, Buffer::at)
    }

    /// Rows that are sphered already, row after row.
    pub fn sphered<F: Element>(
        device: &Device,
        values: &[F],
        dims: usize,
        weights: Option<&[f64]>,
    ) -> Result<Self> {
        let stored = Self::empty(device, values.len() / dims, dims, weights)?;
        let per_part = (PART / (dims * size_of::<F>())).max(1);
        let mut busy = device.0.lock()?;
        for (i, part) in values.chunks(per_part * dims).enumerate() {
            let bytes = size_of_val(part);
            let at = busy.scratch(|w| &mut w.space[0], bytes)?;
            // SAFETY: the scratch memory was asked for as many bytes.
            unsafe { busy.send(part, at) }?;
            stored.place::<F>(&mut busy, at, part.len() / dims, i * per_part)?;
            busy.wait()?;
        }
        drop(busy);
        Ok(stored)
    }

    /// Rows of the data, sphered on the device in double precision.
    pub fn of(device: &Device, whitening: &Whitening, rows: &Rows) -> Result<Self> {
        let stored = Self::empty(device, rows.len(), whitening.dims(), rows.weights())?;
        let mut busy = device.0.lock()?;
        let sphering = Sphering::new(&mut busy, whitening)?;
        let mut first = 0;
        for part in parts(rows) {
            let x = sphering.sphere(&mut busy, &part)?;
            stored.place::<f64>(&mut busy, x, part.len(), first)?;
            busy.wait()?;
            first += part.len();
        }
        drop(busy);
        Ok(stored)
    }

    /// Queues a copy of rows at an address to their place.
    fn place<F: Element>(&self, busy: &mut Busy, from: u64, n: usize, first: usize) -> Result<()> {
        let kernel = busy.kernel::<T>(F::PLACE)?;
        let words = [from, int(n), int(self.dims), self.rows.at(), int(self.stride), int(first)];
        // SAFETY: `from` has n rows of `dims` numbers of this type, and first + n is no more than
        // the rows that the buffer was made for.
        unsafe { busy.launch(&kernel, Grid::over(n * self.stride), &words) }
    }
}

/// Rows in parts that are small enough to be on their way.
pub(crate) fn parts<'a>(rows: &Rows<'a>) -> impl Iterator<Item = Rows<'a>> {
    let (rows, per_part) = (*rows, (PART / (8 * rows.columns())).max(1));
    (0..rows.len()).step_by(per_part).map(move |i| rows.slice(i..rows.len().min(i + per_part)))
}

/// The sphering of rows on the device: x = A (row − m), in double precision.
pub(crate) struct Sphering {
    mean: Buffer,
    matrix: Buffer,
    columns: usize,
    dims: usize,
}

impl Sphering {
    pub fn new(busy: &mut Busy, whitening: &Whitening) -> Result<Self> {
        let (dims, columns) = (whitening.dims(), whitening.columns());
        let (mean, matrix) =
            (busy.device.buffer(8 * columns)?, busy.device.buffer(8 * dims * columns)?);
        let row = |i: usize| whitening.matrix().row(i).iter().copied().collect::<Vec<f64>>();
        let flat: Vec<f64> = (0..dims).flat_map(row).collect();
        // SAFETY: the buffers were made for as many numbers.
        unsafe {
            busy.send(whitening.mean(), mean.at())?;
            busy.send(&flat, matrix.at())?;
        }
        busy.wait()?;
        Ok(Sphering { mean, matrix, columns, dims })
    }

    /// The address of some rows, sphered, row after row: valid until the next call.
    pub fn sphere(&self, busy: &mut Busy, rows: &Rows) -> Result<u64> {
        let (n, columns, dims) = (rows.len(), self.columns, self.dims);
        let centred = centre(busy, rows, self.mean.at())?;
        let out = busy.scratch(|w| &mut w.space[2], 8 * n * dims)?;
        // Column by column: X (dims × n) = A (dims × columns) · C (columns × n).
        let shape = Shape::of(dims, n, columns, [columns, columns, dims]);
        // SAFETY: A was sent above, C has n rows of `columns`, and X was asked for.
        unsafe { busy.product::<f64>(&shape, [self.matrix.at(), centred, out]) }?;
        Ok(out)
    }
}

/// The address of some rows less a mean (at its address), in double precision: valid until the
/// next call.
pub(crate) fn centre(busy: &mut Busy, rows: &Rows, mean: u64) -> Result<u64> {
    let (n, columns) = (rows.len(), rows.columns());
    let raw = busy.scratch(|w| &mut w.space[0], 8 * n * columns)?;
    let out = busy.scratch(|w| &mut w.space[1], 8 * n * columns)?;
    let name = match rows.values() {
        // SAFETY: the scratch memory holds n rows of doubles.
        Values::Double(x) => unsafe { busy.send(x, raw) }.map(|()| "centre_double"),
        // SAFETY: the same, of which singles take half.
        Values::Single(x) => unsafe { busy.send(x, raw) }.map(|()| "centre_float"),
    }?;
    let kernel = busy.kernel::<f64>(name)?;
    let words = [raw, int(n), int(columns), mean, out];
    // SAFETY: both have n rows of `columns` numbers, and the mean as many.
    unsafe { busy.launch(&kernel, Grid::over(n * columns), &words) }?;
    Ok(out)
}

impl Busy<'_> {
    /// Scratch memory of at least so many bytes.
    pub fn scratch(
        &mut self,
        which: impl FnOnce(&mut crate::device::Work) -> &mut crate::buffer::Scratch,
        bytes: usize,
    ) -> Result<u64> {
        let device = self.device;
        which(&mut self.work).of(&device.stream, bytes).map_err(|e| device.error(e))
    }
}

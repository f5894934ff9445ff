//! An engine on a GPU.

use crate::device::{Device, Grid, double, int};
use crate::element::{Element, Shape};
use crate::few;
use crate::many;
use crate::question::Asked;
use crate::stored::Stored;
use upoe::engine::{Candidate, Engine, Picked, Sums, draw};
use upoe::{Error, Moments, Place, Precision, Result, Rows, Whitening};

/// Sphered rows on a GPU, in single or double precision.
pub struct Cuda<T> {
    device: Device,
    stored: Stored<T>,
    weights: Option<Vec<f64>>,
    weight: f64,
    white: bool,
}

impl<T: Element> Cuda<T> {
    /// The training rows, sphered: row after row, with their weights.
    pub fn new(
        device: &Device,
        rows: &[T],
        dims: usize,
        weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        let count = rows.len() / dims.max(1);
        if dims == 0 || rows.len() != count * dims {
            let expected = rows.len().next_multiple_of(dims.max(1));
            let what = "values in whole rows";
            return Err(Error::Shape { what, expected, got: rows.len() });
        }
        Self::sphered(device, rows, dims, weights, true)
    }

    /// Rows of the data under a whitening; `white` says whether they are the rows it was made of.
    pub fn of(device: &Device, whitening: &Whitening, rows: &Rows, white: bool) -> Result<Self> {
        whitening.check_columns(rows.columns())?;
        rows.check()?;
        let weights = rows.weights().map(<[f64]>::to_vec);
        check_weights(rows.len(), weights.as_deref())?;
        device.prepare::<T>(whitening.dims())?;
        let stored = Stored::of(device, whitening, rows)?;
        Ok(Self::from_parts(device, stored, weights, white))
    }

    /// Whether the rows are white; see [`Engine::is_white`].
    pub fn with_white(self, white: bool) -> Self {
        Cuda { white, ..self }
    }

    fn sphered<F: Element>(
        device: &Device,
        rows: &[F],
        dims: usize,
        weights: Option<Vec<f64>>,
        white: bool,
    ) -> Result<Self> {
        check_weights(rows.len() / dims, weights.as_deref())?;
        device.prepare::<T>(dims)?;
        let stored = Stored::sphered(device, rows, dims, weights.as_deref())?;
        Ok(Self::from_parts(device, stored, weights, white))
    }

    fn from_parts(
        device: &Device,
        stored: Stored<T>,
        weights: Option<Vec<f64>>,
        white: bool,
    ) -> Self {
        let weight = weights.as_ref().map_or(stored.count as f64, |w| w.iter().sum());
        Cuda { device: device.clone(), stored, weights, weight, white }
    }

    /// Where the rows are.
    pub(crate) fn parts(&self) -> (&Device, &Stored<T>) {
        (&self.device, &self.stored)
    }

    /// The numbers of some rows, on the device.
    fn chosen(&self, busy: &mut crate::device::Busy, rows: &[usize]) -> Result<u64> {
        let at = busy.scratch(|w| &mut w.space[3], 8 * rows.len())?;
        let numbers: Vec<i64> = rows.iter().map(|&row| row as i64).collect();
        // SAFETY: the scratch memory has room for as many numbers.
        unsafe { busy.send(&numbers, at) }?;
        busy.wait()?;
        Ok(at)
    }
}

fn check_weights(rows: usize, weights: Option<&[f64]>) -> Result<()> {
    let Some(weights) = weights else {
        return if rows > 0 { Ok(()) } else { Err(Error::TooFewRows { rows: 0, needed: 1 }) };
    };
    if weights.len() != rows {
        return Err(Error::Shape { what: "weights", expected: rows, got: weights.len() });
    }
    if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        return Err(Error::Weight { row, value: weights[row] });
    }
    if !(weights.iter().sum::<f64>() > 0.0) {
        return Err(Error::TooFewRows { rows: 0, needed: 1 });
    }
    Ok(())
}

impl<T: Element> Engine for Cuda<T> {
    fn dims(&self) -> usize {
        self.stored.dims
    }

    fn rows(&self) -> usize {
        self.stored.count
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn is_white(&self) -> bool {
        self.white
    }

    fn rounding(&self) -> f64 {
        // As in memory: a direction is rounded like the rows.
        if size_of::<T>() == 4 { 1e-8 } else { 1e-15 }
    }

    fn mean_square(&self) -> Result<f64> {
        if self.white {
            return Ok(self.dims() as f64);
        }
        let (stored, mut busy) = (&self.stored, self.device.0.lock()?);
        let squares = busy.scratch(|w| &mut w.space[0], 8 * stored.count)?;
        let sum = busy.scratch(|w| &mut w.space[1], 8)?;
        let kernel = busy.kernel::<T>("squares")?;
        let words = [stored.rows.at(), int(stored.stride), int(stored.count), squares];
        // SAFETY: there are as many rows, and room for a number for each.
        unsafe { busy.launch(&kernel, Grid::over(32 * stored.count), &words) }?;
        let kernel = busy.kernel::<T>("square_sum")?;
        let words = [squares, stored.weights_at(), int(stored.count), sum];
        let mut total = [0.0];
        // SAFETY: there is a square, and where there are weights a weight, for each row.
        unsafe {
            busy.launch(&kernel, Grid { blocks: [1, 1], threads: 256, shared: 0 }, &words)?;
            busy.fetch(sum, &mut total)?;
        }
        Ok(total[0] / self.weight)
    }

    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        let dims = self.dims();
        if let Some(got) = candidates.iter().map(|c| c.direction.len()).find(|n| *n != dims) {
            let what = "entries of a candidate's direction";
            return Err(Error::Shape { what, expected: dims, got });
        }
        let asked: Vec<Asked> = candidates.iter().map(|c| (c, c.expert.device_form())).collect();
        let mut busy = self.device.0.lock()?;
        let mut sums = Vec::with_capacity(asked.len());
        let fits = few::suits(&self.device.0, &self.stored, &asked);
        if fits && asked.len() <= few::worthwhile::<T>() {
            for some in asked.chunks(few::MOST) {
                sums.extend(few::sums(&mut busy, &self.stored, some)?);
            }
            return Ok(sums);
        }
        for some in asked.chunks(many::MOST) {
            sums.extend(many::sums(&mut busy, &self.stored, some)?);
        }
        Ok(sums)
    }

    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        if let Some(&row) = rows.iter().find(|&&row| row >= self.rows()) {
            let what = "rows to pick from";
            return Err(Error::Shape { what, expected: row + 1, got: self.rows() });
        }
        let (stored, mut busy) = (&self.stored, self.device.0.lock()?);
        let length = rows.len() * stored.dims;
        let chosen = self.chosen(&mut busy, rows)?;
        let out = busy.scratch(|w| &mut w.space[0], 8 * length)?;
        let kernel = busy.kernel::<T>("pick")?;
        let words =
            [stored.rows.at(), int(stored.stride), int(stored.dims), chosen, int(rows.len()), out];
        let mut picked = vec![0.0; length];
        // SAFETY: all numbers of rows were checked above, and there is room for the rows.
        unsafe {
            busy.launch(&kernel, Grid::over(length), &words)?;
            busy.fetch(out, &mut picked)?;
        }
        let weights = self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
        Ok(Picked { rows: picked, weights })
    }

    fn subset(&self, seed: u64, n: usize) -> Result<Option<Box<dyn Engine>>> {
        let Some(rows) = draw(self.rows(), seed, n) else { return Ok(None) };
        let weights: Option<Vec<f64>> =
            self.weights.as_ref().map(|w| rows.iter().map(|&i| w[i]).collect());
        if weights.as_ref().is_some_and(|w| !(w.iter().sum::<f64>() > 0.0)) {
            return Ok(None);
        }
        let of = &self.stored;
        let stored = Stored::<T>::empty(&self.device, n, of.dims, weights.as_deref())?;
        let mut busy = self.device.0.lock()?;
        let chosen = self.chosen(&mut busy, &rows)?;
        let kernel = busy.kernel::<T>("subset")?;
        let words = [of.rows.at(), int(of.stride), chosen, int(n), stored.rows.at()];
        // SAFETY: the numbers are of rows that exist, and there is room for n rows.
        unsafe { busy.launch(&kernel, Grid::over(n * of.stride), &words) }?;
        drop(busy);
        Ok(Some(Box::new(Self::from_parts(&self.device, stored, weights, false))))
    }

    /// In double precision, as in memory: samples are small.
    fn over(&self, rows: Picked) -> Result<Box<dyn Engine>> {
        let Picked { rows, weights } = rows;
        Ok(Box::new(Cuda::<f64>::sphered(&self.device, &rows, self.dims(), weights, false)?))
    }

    fn fourth_moments(&self, span: &[Vec<f64>]) -> Result<Vec<f64>> {
        const PART: usize = 1 << 15;
        let (stored, d, k) = (&self.stored, self.dims(), span.len());
        let mut busy = self.device.0.lock()?;
        let part = PART.min(stored.count);
        let x = busy.scratch(|w| &mut w.space[0], 8 * part * d)?;
        let scaled = busy.scratch(|w| &mut w.space[1], 8 * part * d)?;
        let z = busy.scratch(|w| &mut w.space[2], 8 * part * (k + 1))?;
        let numbers = busy.scratch(|w| &mut w.space[3], 8 * part)?;
        let room = busy.scratch(|w| &mut w.sums, 8 * (k * d + d * d))?;
        let (directions, product) = (room, room + (8 * k * d) as u64);
        let flat: Vec<f64> = span.concat();
        // SAFETY: room for k directions of d numbers was asked for.
        unsafe { busy.send(&flat, directions) }?;
        let (mut sum, mut some) = (vec![0.0; d * d], vec![0.0; d * d]);
        for first in (0..stored.count).step_by(part) {
            let n = part.min(stored.count - first);
            let rows: Vec<i64> = (first..first + n).map(|i| i as i64).collect();
            let (free, over) = ((d - k) as f64, 1.0 / stored.count as f64);
            let kernels = ["pick", "removed", "shares", "scale_rows"];
            let kernels = kernels.map(|name| busy.kernel::<T>(name));
            let [pick, removed, shares, scale] = kernels;
            let all = Grid::over(n * d);
            // SAFETY: x, `scaled` and z have room for n rows of d, d and k numbers, `numbers` for n
            // of them, and all rows exist. The last product is Y (d × n) times the scaled rows.
            unsafe {
                busy.send(&rows, numbers)?;
                let words = [stored.rows.at(), int(stored.stride), int(d), numbers, int(n), x];
                busy.launch(&pick?, all, &words)?;
                if k > 0 {
                    let shape = Shape::of(n, k, d, [d, d, n]);
                    busy.product::<f64>(&shape, [x, directions, z])?;
                    let words = [x, int(n), int(d), directions, int(k), z];
                    busy.launch(&removed?, Grid::over(n * d), &words)?;
                }
                let words = [x, int(d), int(n), double(free), double(over), z];
                busy.launch(&shares?, Grid::over(32 * n), &words)?;
                let words = [x, int(n), int(d), z, scaled];
                busy.launch(&scale?, Grid::over(n * d), &words)?;
                busy.outer_product(d, n, [x, scaled, product])?;
                busy.fetch(product, &mut some)?;
            }
            sum.iter_mut().zip(&some).for_each(|(a, b)| *a += b);
        }
        Ok(sum)
    }
}

impl Place for Device {
    fn engine(
        &self,
        whitening: &Whitening,
        rows: &Rows,
        precision: Precision,
        white: bool,
    ) -> Result<Box<dyn Engine>> {
        match precision {
            Precision::F32 => Ok(Box::new(Cuda::<f32>::of(self, whitening, rows, white)?)),
            _ => Ok(Box::new(Cuda::<f64>::of(self, whitening, rows, white)?)),
        }
    }

    fn moments(&self, rows: &Rows) -> Result<Moments> {
        Device::moments(self, rows)
    }
}

//! ln p of rows, on the device.

use crate::device::{Busy, Device, Grid, double, int};
use crate::element::Shape;
use crate::question::{Asked, Question};
use crate::stored::{Sphering, parts};
use rayon::prelude::*;
use upoe::engine::Candidate;
use upoe::{Model, Rest, Result, Rows};

/// Columns of z for one part of the rows, in bytes.
const SPACE: usize = 512 << 20;

impl Device {
    /// ln p of many rows over the data's own columns, as [`Model::score`], in double precision.
    pub fn score(&self, model: &Model, rows: &Rows) -> Result<Vec<f64>> {
        self.scored(model, rows, true)
    }

    /// ln p of many rows in sphered space, as [`Model::score_sphered`].
    pub fn score_sphered(&self, model: &Model, rows: &Rows) -> Result<Vec<f64>> {
        self.scored(model, rows, false)
    }

    fn scored(&self, model: &Model, rows: &Rows, columns: bool) -> Result<Vec<f64>> {
        let whitening = model.whitening();
        whitening.check_columns(rows.columns())?;
        rows.check()?;
        let dims = whitening.dims();
        let axes: Vec<Vec<f64>> = model.axes()?.chunks_exact(dims).map(<[f64]>::to_vec).collect();
        let axis = |(i, w): (usize, &Vec<f64>)| {
            let expert = model.experts().get(i).cloned();
            Candidate::new(w.clone(), expert.unwrap_or_else(upoe::expert::Expert::gaussian))
        };
        let candidates: Vec<Candidate> = axes.iter().enumerate().map(axis).collect();
        let asked: Vec<Asked> = candidates.iter().map(|c| (c, c.expert.device_form())).collect();
        if asked.iter().any(|(_, form)| form.is_none()) {
            self.0.note_help();
            return if columns { model.score(rows) } else { model.score_sphered(rows) };
        }
        let constant = model.half_ln_gram()
            - 0.5 * (dims - model.experts().len()) as f64 * std::f64::consts::TAU.ln();
        let mut busy = self.0.lock()?;
        let sphering = Sphering::new(&mut busy, whitening)?;
        let mut scores = Vec::with_capacity(rows.len());
        let most = (SPACE / (8 * dims)).max(1);
        for part in parts(rows) {
            for start in (0..part.len()).step_by(most) {
                let some = part.slice(start..part.len().min(start + most));
                let (x, mut ln_p) = block(&mut busy, &sphering, &asked, model, &some, constant)?;
                if columns {
                    finish(&busy, model, &some, x, &mut ln_p)?;
                }
                scores.extend(ln_p);
            }
        }
        Ok(scores)
    }
}

/// ln p of some rows in sphered space, and the address of the sphered rows in double precision.
fn block(
    busy: &mut Busy,
    sphering: &Sphering,
    asked: &[Asked],
    model: &Model,
    rows: &Rows,
    constant: f64,
) -> Result<(u64, Vec<f64>)> {
    let (n, dims, size) = (rows.len(), model.whitening().dims(), size_of::<f64>());
    let stride = dims.next_multiple_of(4);
    let x = sphering.sphere(busy, rows)?;
    let question = Question::send::<f64>(busy, asked, asked.len(), dims, stride)?;
    let placed = busy.scratch(|w| &mut w.parts, n * stride * size)?;
    let z = busy.scratch(|w| &mut w.projections, n * dims * size)?;
    let out = busy.scratch(|w| &mut w.sums, 8 * n)?;
    let (place, score) = (busy.kernel::<f64>("place_double")?, busy.kernel::<f64>("score")?);
    let shape = Shape::of(n, dims, stride, [stride, stride, n]);
    let mut ln_p = vec![0.0; n];
    // SAFETY: x has n rows of `dims` numbers; the others were asked for with room for n rows of
    // `stride`, of `dims` and of one number; there are `dims` axes and directions.
    unsafe {
        let words = [x, int(n), int(dims), placed, int(stride), int(0)];
        busy.launch(&place, Grid::over(n * stride), &words)?;
        busy.product::<f64>(&shape, [placed, question.directions, z])?;
        let words = [
            z,
            int(n),
            int(n),
            int(dims),
            int(model.experts().len()),
            question.numbers,
            question.experts,
            double(constant),
            out,
        ];
        busy.launch(&score, Grid::over(n), &words)?;
        busy.fetch(out, &mut ln_p)?;
    }
    Ok((x, ln_p))
}

/// Adds what leads from sphered space to the data's own columns.
fn finish(busy: &Busy, model: &Model, rows: &Rows, x: u64, ln_p: &mut [f64]) -> Result<()> {
    let (whitening, dims) = (model.whitening(), model.whitening().dims());
    if whitening.rest() == Rest::Nothing {
        ln_p.iter_mut().for_each(|p| *p += whitening.ln_det());
        return Ok(());
    }
    // What lies outside the kept dimensions is judged on the CPU.
    let mut sphered = vec![0.0; rows.len() * dims];
    // SAFETY: the rows have as many numbers.
    unsafe { busy.fetch(x, &mut sphered) }?;
    ln_p.par_iter_mut().zip(sphered.par_chunks_exact(dims)).enumerate().for_each(|(i, (p, x))| {
        *p += whitening.ln_jacobian(&rows.row(i), x);
    });
    Ok(())
}

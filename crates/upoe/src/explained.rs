//! Why a row is as probable as it is, for a density of any kind.

use crate::error::Result;
use crate::fitted::Fitted;
use crate::missing::Filler;
use crate::model::{Explanation, Model};
use crate::rows::Rows;
use crate::stack::{Layer, Stack};

/// Rows drawn from the density to learn what is typical.
const TYPICAL: usize = 1024;
/// Rows drawn from the density from which columns are followed to a row, and steps on each way.
const STARTS: usize = 8;
const STEPS: usize = 24;

/// Draws of a row's missing cells.
const DRAWS: usize = 64;

/// The parts of one row's ln p.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The row's ln p: the baseline and all parts.
    pub ln_p: f64,
    /// ln p that is not of this row: at the data's mean for a model of one layer, that of a typical row drawn from
    /// the density for stacks and pools.
    pub baseline: f64,
    /// How each expert, layer by layer, the Gaussian rest and the pool move ln p from the baseline; see
    /// [`Explainer::names`].
    pub parts: Vec<f64>,
    /// For each radial expert, how many times as far out as usual the row lies.
    pub times_as_far: Vec<f64>,
}

/// A row with its missing cells drawn, and ln p of the others.
struct Drawn {
    rows: Vec<Vec<f64>>,
    ln_p: f64,
}

impl Drawn {
    /// `None` where no cell is missing.
    fn of(fitted: Fitted, row: &[f64], number: u64) -> Result<Option<Self>> {
        if !row.iter().any(|x| x.is_nan()) {
            return Ok(None);
        }
        let (density, rows) = (fitted.density(), Rows::new(row, row.len())?);
        let ln_p = density.score_present(&rows)?[0].value;
        let filler = Filler::new(density, fitted.model.whitening(), 0)?;
        let drawn = filler.draw(&rows, DRAWS, number as usize)?;
        let rows = drawn.chunks_exact(row.len()).map(<[f64]>::to_vec).collect();
        Ok(Some(Drawn { rows, ln_p }))
    }

    /// Adds what is left to the columns that are not known, so that the parts add up.
    fn unknown(&self, row: &[f64], baseline: f64, parts: &mut [f64]) {
        let left = self.ln_p - baseline - parts.iter().sum::<f64>();
        let missing = row.iter().filter(|x| x.is_nan()).count() as f64;
        let unknown = parts.iter_mut().zip(row).filter(|(_, x)| x.is_nan());
        unknown.for_each(|(part, _)| *part += left / missing);
    }
}

/// The means of some numbers over draws.
fn mean<'a>(each: impl ExactSizeIterator<Item = &'a Vec<f64>>) -> Vec<f64> {
    let n = each.len() as f64;
    let mut sums: Vec<f64> = Vec::new();
    for numbers in each {
        sums.resize(numbers.len(), 0.0);
        sums.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x / n);
    }
    sums
}

/// The parts of ln p of a row of one layer, of which cells may be missing (NaN): means over draws of these. What it
/// adds that they are not known is in the rest, in their columns. `number` is the row's.
pub fn explain_present(model: &Model, row: &[f64], number: u64) -> Result<Explanation> {
    let Some(drawn) = Drawn::of(model.into(), row, number)? else { return model.explain(row) };
    let each: Result<Vec<Explanation>> = drawn.rows.iter().map(|row| model.explain(row)).collect();
    let each = each?;
    let mut of = each[0].clone();
    of.ln_p = drawn.ln_p;
    of.experts = mean(each.iter().map(|e| &e.experts));
    of.experts_by_column =
        (0..of.experts.len()).map(|j| mean(each.iter().map(|e| &e.experts_by_column[j]))).collect();
    of.rest_by_column = mean(each.iter().map(|e| &e.rest_by_column));
    let of_experts: f64 = of.experts.iter().sum();
    drawn.unknown(row, of.baseline + of_experts, &mut of.rest_by_column);
    of.rest = drawn.ln_p - of.baseline - of_experts;
    Ok(of)
}

/// What explaining rows of a density needs to know of it.
#[derive(Clone, Debug)]
pub struct Explainer {
    names: Vec<String>,
    radial: Vec<usize>,
    typical: Vec<f64>,
    starts: Vec<Vec<f64>>,
}

impl Explainer {
    /// Of a fitted density. Stacks and pools draw rows with this seed.
    pub fn new(fitted: Fitted, seed: u64) -> Result<Self> {
        let names = names(&fitted);
        let (mut typical, mut starts) = (Vec::new(), Vec::new());
        if let Some(stack) = fitted.stack {
            let columns = stack.whitening().columns();
            let drawn = fitted.density().sample(TYPICAL, seed);
            let drawn = Rows::new(&drawn, columns)?;
            let mut parts = vec![Vec::with_capacity(TYPICAL); names.len()];
            for i in 0..drawn.len() {
                let terms = terms(&fitted, stack, &drawn.row(i))?;
                parts.iter_mut().zip(terms).for_each(|(part, term)| part.push(term));
            }
            // Medians: rows far out in heavy tails have no part in them.
            typical = parts.into_iter().map(median).collect();
            starts = (0..STARTS).map(|i| drawn.row(i).into_owned()).collect();
        }
        let radial = radial_layers(&fitted);
        Ok(Explainer { names, radial, typical, starts })
    }

    /// The names of the parts: `expert1` … and `rest`; of a stack `columns` (column experts, where there are
    /// any), `layer1.expert1`, `layer2.radial` … and `rest`; of a pool also `pool`, what its other members add.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Which of the parts is the Gaussian rest.
    pub fn rest(&self) -> usize {
        self.names.iter().position(|name| name == "rest").unwrap_or(0)
    }

    /// The layers, from 1, whose radial experts [`Explained::times_as_far`] is about.
    pub fn radial_layers(&self) -> &[usize] {
        &self.radial
    }

    /// The parts of a row's ln p. They add up to it exactly.
    ///
    /// Where the squares of a far row overflow, all is in the rest. No part is NaN.
    pub fn explain(&self, fitted: Fitted, row: &[f64]) -> Result<Explained> {
        let Some(stack) = fitted.stack else {
            let parts = fitted.model.explain(row)?;
            let (ln_p, baseline) = (parts.ln_p, parts.baseline);
            let parts = parts.experts.into_iter().chain([parts.rest]).collect();
            return Ok(Explained { ln_p, baseline, parts, times_as_far: Vec::new() });
        };
        let rows = Rows::new(row, row.len())?;
        let ln_p = fitted.density().score(&rows)?[0];
        let baseline = self.typical.iter().sum();
        let of_row = terms(&fitted, stack, row)?;
        let mut parts: Vec<f64> = of_row.iter().zip(&self.typical).map(|(t, m)| t - m).collect();
        if !(ln_p.is_finite() && parts.iter().all(|part| part.is_finite())) {
            parts.fill(0.0);
            parts[self.rest()] = ln_p - baseline;
        }
        Ok(Explained { ln_p, baseline, parts, times_as_far: stack.times_as_far(row) })
    }

    /// The same where cells may be missing (NaN): ln p of the others, and means of the parts over draws of the missing
    /// cells. What it adds that these are not known is in the rest. `number` is the row's: draws depend on it alone.
    pub fn explain_present(&self, fitted: Fitted, row: &[f64], number: u64) -> Result<Explained> {
        let Some(drawn) = Drawn::of(fitted, row, number)? else { return self.explain(fitted, row) };
        let each: Result<Vec<Explained>> =
            drawn.rows.iter().map(|row| self.explain(fitted, row)).collect();
        let each = each?;
        let part = |of: fn(&Explained) -> &Vec<f64>| mean(each.iter().map(of));
        let (mut parts, times_as_far) = (part(|e| &e.parts), part(|e| &e.times_as_far));
        let baseline = each[0].baseline;
        parts[self.rest()] += drawn.ln_p - baseline - parts.iter().sum::<f64>();
        Ok(Explained { ln_p: drawn.ln_p, baseline, parts, times_as_far })
    }

    /// The same where cells may be missing: what it adds that these are not known is in their columns.
    pub fn columns_present(&self, fitted: Fitted, row: &[f64], number: u64) -> Result<Vec<f64>> {
        let Some(drawn) = Drawn::of(fitted, row, number)? else { return self.columns(fitted, row) };
        let each: Result<Vec<Vec<f64>>> =
            drawn.rows.iter().map(|row| self.columns(fitted, row)).collect();
        let mut parts = mean(each?.iter());
        let baseline = self.explain(fitted, &drawn.rows[0])?.baseline;
        drawn.unknown(row, baseline, &mut parts);
        Ok(parts)
    }

    /// Each column's part of the way from the baseline to a row's ln p.
    ///
    /// Of a model of one layer it is in closed form ([`Model::explain`](crate::Model::explain)). Of stacks and
    /// pools it is the slope of ln p, integrated along straight lines from some rows drawn from the density; what
    /// the quadrature leaves over is spread in proportion, so that the parts add up.
    pub fn columns(&self, fitted: Fitted, row: &[f64]) -> Result<Vec<f64>> {
        if fitted.stack.is_none() {
            let parts = fitted.model.explain(row)?;
            let of = |i: usize| {
                let experts = parts.experts_by_column.iter().map(|by| by[i]).sum::<f64>();
                experts + parts.rest_by_column[i]
            };
            return Ok((0..row.len()).map(of).collect());
        }
        let Explained { ln_p, baseline, .. } = self.explain(fitted, row)?;
        let mut parts = vec![0.0; row.len()];
        if ln_p.is_finite() {
            for start in &self.starts {
                for step in 0..STEPS {
                    let t = (step as f64 + 0.5) / STEPS as f64;
                    let at: Vec<f64> =
                        start.iter().zip(row).map(|(a, b)| a + t * (b - a)).collect();
                    let slope = fitted.slope(&at)?;
                    for (i, part) in parts.iter_mut().enumerate() {
                        *part += (row[i] - start[i]) * slope[i] / (STEPS * STARTS) as f64;
                    }
                }
            }
        }
        if !(ln_p.is_finite() && parts.iter().all(|part| part.is_finite())) {
            return Ok(Self::far(fitted, row, ln_p - baseline));
        }
        let left = ln_p - baseline - parts.iter().sum::<f64>();
        let size: f64 = parts.iter().map(|part| part.abs()).sum();
        let even = 1.0 / parts.len() as f64;
        let share = |part: f64| if size > 0.0 { part.abs() / size } else { even };
        Ok(parts.iter().map(|part| part + left * share(*part)).collect())
    }

    /// All of it on the columns that leave the subspace of the training rows, or are farthest out.
    fn far(fitted: Fitted, row: &[f64], all: f64) -> Vec<f64> {
        let whitening = fitted.model.whitening();
        let mut parts = vec![0.0; row.len()];
        let x = whitening.sphere_row(row);
        let off: Vec<usize> = whitening.off(row, &x).collect();
        let distance = |i: usize| {
            let away = (row[i] - whitening.mean()[i]).abs();
            let deviation = whitening.deviations()[i];
            if deviation > 0.0 { away / deviation } else { away }
        };
        let farthest = (0..row.len()).max_by(|a, b| distance(*a).total_cmp(&distance(*b)));
        let blamed = if off.is_empty() { farthest.into_iter().collect() } else { off };
        blamed.iter().for_each(|&i| parts[i] = all / blamed.len() as f64);
        parts
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn radial_layers(fitted: &Fitted) -> Vec<usize> {
    let layers = fitted.stack.map_or(&[][..], Stack::layers);
    let radial = layers.iter().enumerate().filter(|(_, l)| matches!(l, Layer::Radial(_)));
    radial.map(|(l, _)| l + 1).collect()
}

fn names(fitted: &Fitted) -> Vec<String> {
    let Some(stack) = fitted.stack else {
        let experts = (1..=fitted.model.experts().len()).map(|j| format!("expert{j}"));
        return experts.chain(["rest".to_owned()]).collect();
    };
    let columns = (!stack.column_experts().is_empty()).then(|| "columns".to_owned());
    let mut names: Vec<String> = columns.into_iter().collect();
    for (l, layer) in stack.layers().iter().enumerate() {
        match layer {
            Layer::Radial(_) => names.push(format!("layer{}.radial", l + 1)),
            Layer::Directions(layer) => {
                let experts = 1..=layer.directions().len();
                names.extend(experts.map(|j| format!("layer{}.expert{j}", l + 1)));
            }
        }
    }
    names.push("rest".to_owned());
    names.extend(fitted.pool.map(|_| "pool".to_owned()));
    names
}

/// What each part adds to ln p of a row.
fn terms(fitted: &Fitted, stack: &Stack, row: &[f64]) -> Result<Vec<f64>> {
    let mut terms = stack.terms(row)?;
    let outside = terms.remove(0)[0];
    let mut terms = terms.concat();
    // Without column experts, what lies outside the layers is the determinant of sphering and the noise.
    match stack.column_experts().is_empty() {
        true => *terms.last_mut().unwrap_or(&mut 0.0) += outside,
        false => terms.insert(0, outside),
    }
    if let Some(pool) = fitted.pool {
        let rows = Rows::new(row, row.len())?;
        terms.push(pool.score(&rows)?[0] - terms.iter().sum::<f64>());
    }
    Ok(terms)
}

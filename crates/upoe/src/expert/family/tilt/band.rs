//! Symmetric matrices with three diagonals beside the main one.

use super::frame::Map;

/// Row i holds the entries (i, i), (i, i − 1), (i, i − 2), (i, i − 3).
#[derive(Clone, Debug)]
pub struct Band(Vec<[f64; 4]>);

impl Band {
    /// Of n × n zeros.
    pub fn zeros(n: usize) -> Self {
        Band(vec![[0.0; 4]; n])
    }

    /// Adds a quadratic form of a cell's cubic.
    #[inline(always)]
    pub fn add(&mut self, map: &Map, form: &[[f64; 4]; 4]) {
        let mut half = [[0.0; 4]; 4]; // form · rows
        for (half, form) in half.iter_mut().zip(form) {
            for (f, row) in form.iter().zip(&map.rows) {
                (0..4).for_each(|c| half[c] += f * row[c]);
            }
        }
        for r in 0..4 {
            (0..=r).for_each(|c| {
                let entry: f64 = (0..4).map(|j| map.rows[j][r] * half[j][c]).sum();
                self.0[map.first + r][r - c] += entry;
            });
        }
    }

    /// self + factor · other.
    pub fn plus(mut self, factor: f64, other: &Band) -> Self {
        for (x, y) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *x += factor * y;
        }
        self
    }

    /// The product with a vector.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x.len()];
        for (i, row) in self.0.iter().enumerate() {
            out[i] += row[0] * x[i];
            for (d, a) in row.iter().enumerate().skip(1).take(i) {
                out[i] += a * x[i - d];
                out[i - d] += a * x[i];
            }
        }
        out
    }

    /// L with self = LLᵀ. Where rounding has left no pivot, a small one stands in.
    pub fn cholesky(mut self) -> Factor {
        for i in 0..self.0.len() {
            let mut row = self.0[i];
            for d in (1..=3.min(i)).rev() {
                let j = i - d;
                // Σ over k of L(i, k) L(j, k), k from i − 3 on.
                let shared: f64 = (d + 1..=3.min(i)).map(|e| row[e] * self.0[j][e - d]).sum();
                row[d] = (row[d] - shared) / self.0[j][0];
            }
            let pivot = row[0] - (1..=3.min(i)).map(|d| row[d] * row[d]).sum::<f64>();
            row[0] = pivot.max(1e-12).sqrt();
            self.0[i] = row;
        }
        Factor(self.0)
    }
}

/// The Cholesky factor of a [`Band`].
#[derive(Clone, Debug)]
pub struct Factor(Vec<[f64; 4]>);

impl Factor {
    /// The solution of LLᵀ x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        for (i, row) in self.0.iter().enumerate() {
            let known: f64 = (1..=3.min(i)).map(|d| row[d] * x[i - d]).sum();
            x[i] = (x[i] - known) / row[0];
        }
        for (i, row) in self.0.iter().enumerate().rev() {
            x[i] /= row[0];
            for d in 1..=3.min(i) {
                x[i - d] -= row[d] * x[i];
            }
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_solution_solves_its_equations() {
        let n = 9;
        let row = |i: usize| [9.0 + i as f64, -2.0, 1.0, 0.5 * (i as f64).sin()];
        let band = Band((0..n).map(row).collect());
        let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let x = band.clone().cholesky().solve(&b);
        let error = band.times(&x).iter().zip(&b).fold(0.0_f64, |a, (x, b)| a.max((x - b).abs()));
        assert!(error < 1e-14, "{error}");
    }
}

//! The projections behind a tilt's statistics, as few weighted points.

use super::Tilt;

impl Tilt {
    /// Points and weights with the same first four moments of y in each cell as the rows that
    /// `sums` were taken over: at most two points per cell. Any smooth function of z has nearly the
    /// same mean over them.
    pub(crate) fn points(&self, sums: &[f64]) -> Vec<(f64, f64)> {
        let frame = self.frame();
        let at = |cell: usize, v: f64| frame.coordinate.z(frame.left(cell) + v * frame.spacing);
        let cells = sums[1..].chunks_exact(4).enumerate().filter(|(_, m)| m[0] > 0.0);
        cells
            .flat_map(|(cell, m)| {
                let [mean, second, third] = [m[1] / m[0], m[2] / m[0], m[3] / m[0]];
                let variance = second - mean * mean;
                if !(variance > 1e-10 * (1.0 + mean * mean)) {
                    return [Some((at(cell, mean), m[0])), None];
                }
                let skew = (third - mean * (3.0 * variance + mean * mean)) / variance;
                // Gauss's rule of two nodes: mean + t for both roots of t² − skew·t − variance.
                let root = (skew * skew + 4.0 * variance).sqrt();
                let (low, high) = (0.5 * (skew - root), 0.5 * (skew + root));
                let point = |t: f64, share: f64| Some((at(cell, mean + t), share * m[0]));
                [point(low, high / root), point(high, -low / root)]
            })
            .flatten()
            .filter(|(z, w)| z.is_finite() && *w > 0.0)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::expert::{Learnable, StudentT, Tilt};
    use upoe_kernels::Term;

    #[test]
    fn means_over_the_points_are_those_over_the_rows() {
        // Skewed, heavy-tailed, lopsided.
        let z: Vec<f64> = (1..2000)
            .map(|i| {
                let u = f64::from(i) / 2000.0;
                (u / (1.0 - u)).ln().exp_m1().clamp(-1.0, 30.0) * 0.4 - 0.2
            })
            .collect();
        let tilt = Tilt::gaussian(1000.0);
        let sums_of = |term: &dyn Term, z: &[f64], w: Option<&[f64]>| {
            let mut sums = vec![0.0; term.n_sums()];
            term.block(z, w, &mut vec![0.0; z.len()], &mut sums);
            sums
        };
        let (points, weights): (Vec<f64>, Vec<f64>) =
            tilt.points(&sums_of(&tilt, &z, None)).into_iter().unzip();
        assert!(points.len() <= 84 && (weights.iter().sum::<f64>() - 1999.0).abs() < 1e-8);
        for t in [StudentT::with_scale(0.1, 0.5, 3.0), StudentT::with_scale(-0.2, 1.0, 30.0)] {
            let t = t.unwrap();
            let all = t.loss(&sums_of(&t, &z, None), 1999.0);
            let few = t.loss(&sums_of(&t, &points, Some(&weights)), 1999.0);
            assert!((all - few).abs() < 1e-4, "{all} {few}");
        }
    }
}

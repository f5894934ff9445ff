//! The laws of the model: normalisation, invariances, sampling, explanations.

use crate::common::{apply, dot, kolmogorov, normals, plain, rotation};
use upoe::expert::{Expert, Learnable, Marginal, Mixture, StudentT, Tilt};
use upoe::{Dims, Model, Rows, Whitening};

fn experts() -> Vec<Expert> {
    let t = |mu, scale, nu| StudentT::with_scale(mu, scale, nu).unwrap();
    let tilt: Expert = Tilt::gaussian(100.0).into();
    let tilted: Vec<f64> = normals(41, 1).iter().map(|c| 0.2 * c).collect();
    vec![
        t(0.2, 0.7, 6.0).into(),
        Mixture::new(vec![0.4, 0.6], vec![t(-1.0, 0.4, 39.0), t(0.8, 0.5, 39.0)]).unwrap().into(),
        tilt.at(&tilted),
    ]
}

fn oblique(j: usize, d: usize, seed: u64) -> Vec<Vec<f64>> {
    normals(j * d, seed).chunks(d).map(<[f64]>::to_vec).collect()
}

/// Rows with three kept dimensions of five columns and noise in the rest.
fn reduced() -> Whitening {
    let mixing = rotation(5, 3);
    let scaled: Vec<f64> = normals(2000, 2)
        .chunks(5)
        .flat_map(|r| [3.0 * r[0], 2.0 * r[1], 1.5 * r[2], 0.3 * r[3], 0.2 * r[4]])
        .collect();
    let values = apply(&mixing, &scaled, 5);
    Whitening::fit(&Rows::new(&values, 5).unwrap(), Dims::Count(3)).unwrap()
}

#[test]
fn ln_p_integrates_to_one_over_the_plane() {
    for (direction, expert) in [
        (vec![0.6, 0.8], &experts()[1]),
        (vec![1.5, -0.7], &experts()[1]),
        (vec![0.7, 0.5], &experts()[2]),
    ] {
        let model = Model::new(plain(2), vec![direction], vec![expert.clone()]).unwrap();
        let step = 0.02;
        let axis: Vec<f64> = (-800..=800).map(|k| f64::from(k) * step).collect();
        let total: f64 = axis
            .iter()
            .flat_map(|a| axis.iter().map(move |b| [*a, *b]))
            .map(|x| model.ln_p_sphered(&x).exp())
            .sum();
        assert!((total * step * step - 1.0).abs() < 1e-6, "{}", total * step * step);
    }
}

/// ⟨p/q⟩ under a broad Gaussian q of the given covariance root about a mean.
fn importance(model: &Model, mean: &[f64], root: &[Vec<f64>], over_rows: bool) -> (f64, f64) {
    let d = mean.len();
    let n = 200_000;
    let ln_det: f64 = root.iter().map(|r| dot(r, r).sqrt().ln()).sum();
    let ratios: Vec<f64> = normals(n * d, 77)
        .chunks(d)
        .map(|e| {
            let x: Vec<f64> =
                (0..d).map(|i| mean[i] + (0..d).map(|k| root[k][i] * e[k]).sum::<f64>()).collect();
            let ln_q = -0.5 * dot(e, e) - 0.5 * d as f64 * std::f64::consts::TAU.ln() - ln_det;
            let ln_p = if over_rows { model.ln_p(&x).unwrap() } else { model.ln_p_sphered(&x) };
            (ln_p - ln_q).exp()
        })
        .collect();
    let mean = ratios.iter().sum::<f64>() / n as f64;
    let spread = (ratios.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / (n * n) as f64).sqrt();
    (mean, spread)
}

#[test]
fn ln_p_integrates_to_one_in_five_dimensions() {
    let broad: Vec<Vec<f64>> =
        (0..5).map(|i| (0..5).map(|k| if i == k { 1.8 } else { 0.0 }).collect()).collect();
    let orthonormal = rotation(5, 8)[..3].to_vec();
    let bent: Vec<Vec<f64>> = orthonormal
        .iter()
        .zip(oblique(3, 5, 4))
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + 0.15 * b).collect())
        .collect();
    for w in [orthonormal, bent] {
        let model = Model::new(plain(5), w, experts()).unwrap();
        let (total, spread) = importance(&model, &[0.0; 5], &broad, false);
        assert!(spread < 0.02, "{spread}");
        assert!((total - 1.0).abs() < 4.0 * spread, "{total} ± {spread}");
    }
    // Reduced to three of five columns: still a density over all five.
    let whitening = reduced();
    let root: Vec<Vec<f64>> = (0..3)
        .map(|k| (0..5).map(|i| 1.7 * whitening.inverse()[(i, k)]).collect::<Vec<f64>>())
        .chain({
            // Two more orthogonal directions, at the noise's scale.
            let mut basis: Vec<Vec<f64>> =
                (0..3).map(|k| (0..5).map(|i| whitening.inverse()[(i, k)]).collect()).collect();
            let mut more = Vec::new();
            for seed in 0..2 {
                let mut v = normals(5, 50 + seed);
                for b in &basis {
                    let along = dot(&v, b) / dot(b, b);
                    v.iter_mut().zip(b).for_each(|(v, b)| *v -= along * b);
                }
                let upoe::Rest::Noise { variance } = whitening.rest() else { panic!("noise") };
                let norm = dot(&v, &v).sqrt() / (1.5 * variance.sqrt());
                v.iter_mut().for_each(|x| *x /= norm);
                basis.push(v.clone());
                more.push(v);
            }
            more
        })
        .collect();
    let model = Model::new(whitening.clone(), rotation(3, 9), experts()).unwrap();
    let (total, spread) = importance(&model, whitening.mean(), &root, true);
    assert!(spread < 0.02 && (total - 1.0).abs() < 4.0 * spread, "{total} ± {spread}");
}

#[test]
fn no_expert_is_the_gaussian() {
    let values: Vec<f64> =
        normals(400, 3).chunks(2).flat_map(|r| [r[0], 3.0 * r[0] + r[1] + 5.0]).collect();
    let rows = Rows::new(&values, 2).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let model = Model::new(whitening, vec![], vec![]).unwrap();
    let n = 200.0;
    let mean: Vec<f64> =
        (0..2).map(|i| values.iter().skip(i).step_by(2).sum::<f64>() / n).collect();
    let s = |a: usize, b: usize| {
        values.chunks(2).map(|r| (r[a] - mean[a]) * (r[b] - mean[b])).sum::<f64>() / n
    };
    let (aa, ab, bb) = (s(0, 0), s(0, 1), s(1, 1));
    let det = aa * bb - ab * ab;
    for row in values.chunks(2) {
        let (a, b) = (row[0] - mean[0], row[1] - mean[1]);
        let square = (bb * a * a - 2.0 * ab * a * b + aa * b * b) / det;
        let direct = -0.5 * square - 0.5 * det.ln() - std::f64::consts::TAU.ln();
        assert!((model.ln_p(row).unwrap() - direct).abs() < 1e-10);
    }
}

#[test]
fn permuting_experts_changes_nothing_and_a_linear_map_shifts_by_its_determinant() {
    let w = oblique(3, 4, 6);
    let model = Model::new(plain(4), w.clone(), experts()).unwrap();
    let order = [2, 0, 1];
    let permuted = Model::new(
        plain(4),
        order.iter().map(|&i| w[i].clone()).collect(),
        order.iter().map(|&i| experts()[i].clone()).collect(),
    )
    .unwrap();
    for x in normals(40, 1).chunks(4) {
        assert!((model.ln_p_sphered(x) - permuted.ln_p_sphered(x)).abs() < 1e-10);
    }
    // Rows → B·rows: the sphered rows of a canonical whitening turn, and ln p falls by ln|B|.
    let values = normals(900, 12);
    let b = [[2.0, 0.3, 0.0], [0.0, 0.5, 1.0], [0.1, 0.0, 3.0]];
    let mapped: Vec<f64> = apply(&b.map(|r| r.to_vec()), &values, 3);
    let ln_det = (2.0 * (0.5 * 3.0 - 0.0) - 0.3 * (0.0 - 0.1_f64)).abs().ln();
    let of = |values: &[f64]| {
        let whitening = Whitening::fit(&Rows::new(values, 3).unwrap(), Dims::All).unwrap();
        (whitening.clone(), Model::new(whitening, vec![], vec![]).unwrap())
    };
    let ((wa, a), (wb, b)) = (of(&values), of(&mapped));
    for (row, image) in values.chunks(3).zip(mapped.chunks(3)) {
        let (x, y) = (wa.sphere_row(row), wb.sphere_row(image));
        assert!((dot(&x, &x) - dot(&y, &y)).abs() < 1e-9, "sphered lengths agree");
        assert!((a.ln_p(row).unwrap() - b.ln_p(image).unwrap() - ln_det).abs() < 1e-9);
    }
}

#[test]
fn rows_come_back_from_sphered_rows_even_far_from_the_origin() {
    // The mean is 1e8 times the spread.
    let values: Vec<f64> = normals(3000, 5)
        .chunks(3)
        .flat_map(|r| [1e8 + r[0], -1e8 + r[0] + 0.5 * r[1], 3e8 + r[2]])
        .collect();
    let rows = Rows::new(&values, 3).unwrap();
    let whitening = Whitening::fit(&rows, Dims::All).unwrap();
    let x = whitening.sphere(&rows).unwrap();
    for i in 0..3 {
        for k in 0..3 {
            let mean = x.chunks(3).map(|r| r[i] * r[k]).sum::<f64>() / 1000.0;
            assert!((mean - f64::from(u8::from(i == k))).abs() < 1e-6, "{i} {k} {mean}");
        }
    }
    for (row, x) in values.chunks(3).zip(x.chunks(3)) {
        assert!(whitening.restore(x).iter().zip(row).all(|(a, b)| (a - b).abs() < 1e-6));
    }
}

/// Appendix A: the SVD of [Wᵀ|0] gives V and W#.
#[test]
fn the_svd_of_appendix_a_agrees() {
    let (j, d) = (3, 6);
    let w = oblique(j, d, 21);
    let model = Model::new(plain(d), w.clone(), experts()).unwrap();
    let padded = faer::Mat::from_fn(d, d, |i, k| if k < j { w[k][i] } else { 0.0 });
    let svd = padded.svd().unwrap();
    // W# = A B⁻¹ Cᵀ over the first J, P⊥ = VᵀV over the rest.
    let complement = model.complement();
    for i in 0..d {
        for k in 0..j {
            let direct: f64 = (0..j).map(|s| svd.U()[(i, s)] / svd.S()[s] * svd.V()[(k, s)]).sum();
            assert!((direct - model.pseudo_inverse()[(i, k)]).abs() < 1e-10);
        }
        for k in 0..d {
            let direct: f64 = (j..d).map(|s| svd.U()[(i, s)] * svd.U()[(k, s)]).sum();
            assert!((direct - complement[(i, k)]).abs() < 1e-10);
        }
    }
}

/// (11): ⟨E′(z)xᵀ⟩ over the model's own samples is W#ᵀ.
#[test]
fn energy_slopes_of_samples_average_to_the_pseudo_inverse() {
    let w = oblique(3, 4, 30);
    let model = Model::new(plain(4), w, experts()).unwrap();
    let n = 400_000;
    let x = model.sample_sphered(n, 1);
    for j in 0..3 {
        for i in 0..4 {
            let terms: Vec<f64> = x
                .chunks(4)
                .map(|x| model.experts()[j].energy_slope(dot(&model.directions()[j], x)) * x[i])
                .collect();
            let mean = terms.iter().sum::<f64>() / n as f64;
            let error = (terms.iter().map(|t| (t - mean).powi(2)).sum::<f64>()).sqrt() / n as f64;
            assert!((mean - model.pseudo_inverse()[(i, j)]).abs() < 4.0 * error, "{j} {i}");
        }
    }
}

/// Section 6.3: λ = ln T − ln N is an expert's term for orthonormal W.
#[test]
fn for_orthonormal_directions_each_expert_adds_lambda() {
    let w = rotation(4, 31)[..3].to_vec();
    let whole = Model::new(plain(4), w.clone(), experts()).unwrap();
    for x in normals(40, 32).chunks(4) {
        let gaussian = -0.5 * dot(x, x) - 2.0 * std::f64::consts::TAU.ln();
        let lambdas: f64 = w
            .iter()
            .zip(experts())
            .map(|(w, e)| {
                let z = dot(w, x);
                e.ln_density(z) + 0.5 * z * z + 0.5 * std::f64::consts::TAU.ln()
            })
            .sum();
        assert!((whole.ln_p_sphered(x) - gaussian - lambdas).abs() < 1e-9);
    }
}

#[test]
fn samples_have_the_experts_as_marginals_and_the_nested_path_is_contained() {
    let whitening = reduced();
    let model = Model::new(whitening, oblique(2, 3, 40), experts()[..2].to_vec()).unwrap();
    let rows = model.sample(20_000, 3);
    let z = model.transform(&Rows::new(&rows, 5).unwrap()).unwrap();
    for j in 0..2 {
        let mut sample: Vec<f64> = z.iter().skip(j).step_by(2).copied().collect();
        let distance = kolmogorov(&mut sample, |z| model.experts()[j].cdf(z));
        assert!(distance < 1.95, "{distance}");
    }
    // Outside the kept dimensions the samples have the noise's variance.
    let upoe::Rest::Noise { variance } = model.whitening().rest() else { panic!("noise") };
    let mean: f64 = rows
        .chunks(5)
        .map(|r| {
            let x = model.whitening().sphere_row(r);
            model.whitening().residual(r, &x).iter().map(|r| r * r).sum::<f64>()
        })
        .sum::<f64>()
        / 20_000.0;
    assert!((mean / (2.0 * variance) - 1.0).abs() < 0.03);
    assert_eq!(model.truncated(1).unwrap().directions(), &model.directions()[..1]);
    assert_eq!(model.truncated(0).unwrap().experts().len(), 0);
}

#[test]
fn explanations_add_up_and_follow_the_gradient() {
    for (whitening, d0) in [(reduced(), 5), (plain(3), 3)] {
        let model = Model::new(whitening, oblique(3, 3, 41), experts()).unwrap();
        let mut rows = model.sample(50, 9);
        rows.extend(model.whitening().mean());
        for row in rows.chunks(d0) {
            let parts = model.explain(row).unwrap();
            let total = parts.baseline + parts.rest + parts.experts.iter().sum::<f64>();
            assert!(
                (total - parts.ln_p).abs() < 1e-9 * parts.ln_p.abs().max(1.0),
                "{total} {}",
                parts.ln_p
            );
            assert!(
                (parts.ln_p - model.ln_p(row).unwrap()).abs() < 1e-12 * parts.ln_p.abs().max(1.0)
            );
            // Integrated gradients by brute force.
            let steps = 2000;
            let mean = &model.whitening().mean();
            for i in 0..d0 {
                let at = |t: f64, h: f64| {
                    let mut x: Vec<f64> =
                        mean.iter().zip(row).map(|(m, r)| m + t * (r - m)).collect();
                    x[i] += h;
                    model.ln_p(&x).unwrap()
                };
                let h = 1e-5;
                let direct: f64 = (0..steps)
                    .map(|k| (f64::from(k) + 0.5) / f64::from(steps))
                    .map(|t| (at(t, h) - at(t, -h)) / (2.0 * h))
                    .sum::<f64>()
                    / f64::from(steps)
                    * (row[i] - mean[i]);
                let closed: f64 = parts.rest_by_column[i]
                    + parts.experts_by_column.iter().map(|c| c[i]).sum::<f64>();
                assert!(
                    (direct - closed).abs() < 1e-4 * parts.ln_p.abs().max(1.0),
                    "{i} {direct} {closed}"
                );
            }
        }
    }
}

#[test]
fn many_rows_score_as_one_by_one() {
    for (j, d) in [(0, 3), (1, 6), (3, 3), (3, 6), (3, 17)] {
        let model = Model::new(plain(d), oblique(j, d, 5), experts()[..j].to_vec()).unwrap();
        // Near, far, and far along a direction alone, where squares would cancel.
        let mut values = normals(1500 * d, 6);
        values[..d].iter_mut().for_each(|x| *x *= 1e6);
        if let Some(w) = model.directions().first() {
            values.extend(w.iter().map(|w| 1e7 * w));
        }
        let rows = Rows::new(&values, d).unwrap();
        let sphered = model.score_sphered(&rows).unwrap();
        for (i, (fast, also)) in model.score(&rows).unwrap().into_iter().zip(sphered).enumerate() {
            let slow = model.ln_p(&rows.row(i)).unwrap();
            assert!((fast - slow).abs() <= 1e-11 * slow.abs().max(10.0), "{i} {fast} {slow}");
            assert!((also - slow).abs() <= 1e-11 * slow.abs().max(10.0), "{i} {also} {slow}");
        }
    }
    // Over columns of which sphering keeps some, with noise in the rest.
    let model = Model::new(reduced(), oblique(2, 3, 7), experts()[..2].to_vec()).unwrap();
    let values = normals(5 * 5, 8);
    let rows = Rows::new(&values, 5).unwrap();
    for (i, fast) in model.score(&rows).unwrap().into_iter().enumerate() {
        let slow = model.ln_p(&rows.row(i)).unwrap();
        assert!((fast - slow).abs() <= 1e-11 * slow.abs().max(10.0), "{i} {fast} {slow}");
    }
}

//! Weights count rows, in sums, moments and fits.

use crate::common::mixed;
use upoe::engine::{Candidate, Engine, Memory};
use upoe::expert::Family;
use upoe::{Rows, Settings, fit};

#[test]
fn weighted_sums_and_moments_count_rows() {
    let values = mixed();
    let weights: Vec<f64> = (0..600).map(|i| f64::from(i % 4)).collect();
    let repeated: Vec<f64> =
        (0..600).flat_map(|i| values[i * 5..i * 5 + 5].repeat(weights[i] as usize)).collect();
    let rows = Rows::new(&values, 5).unwrap().weighted(&weights).unwrap();
    let a = upoe::Moments::of(&rows).unwrap();
    let b = upoe::Moments::of(&Rows::new(&repeated, 5).unwrap()).unwrap();
    assert_eq!(a.weight(), b.weight());
    for i in 0..5 {
        assert!((a.mean()[i] - b.mean()[i]).abs() < 1e-12);
        for k in 0..5 {
            assert!((a.scatter()[(i, k)] - b.scatter()[(i, k)]).abs() < 1e-9 * a.scatter()[(i, i)]);
        }
    }
    let candidate = Candidate::new(
        vec![0.3, -0.2, 0.5, 0.1, 0.4],
        upoe::expert::StudentT::new(0.1, 1.0, 2.0).unwrap().into(),
    );
    let a = Memory::<f64>::new(values, 5, Some(weights))
        .unwrap()
        .sums(std::slice::from_ref(&candidate))
        .unwrap()
        .remove(0);
    let b = Memory::<f64>::new(repeated, 5, None).unwrap().sums(&[candidate]).unwrap().remove(0);
    for (a, b) in a.gradient.iter().chain(&a.statistics).zip(b.gradient.iter().chain(&b.statistics))
    {
        assert!((a - b).abs() < 1e-10 * b.abs().max(1.0), "{a} {b}");
    }
}

#[test]
fn moments_merge() {
    let values: Vec<f64> = mixed().iter().map(|x| x + 1e6).collect();
    let whole = upoe::Moments::of(&Rows::new(&values, 5).unwrap()).unwrap();
    let mut parts = upoe::Moments::empty(5);
    for part in values.chunks(5 * 170) {
        parts.merge(&upoe::Moments::of(&Rows::new(part, 5).unwrap()).unwrap());
    }
    assert_eq!((whole.rows(), whole.weight()), (parts.rows(), parts.weight()));
    for i in 0..5 {
        assert!((whole.mean()[i] - parts.mean()[i]).abs() < 1e-9);
        for k in 0..5 {
            assert!(
                (whole.scatter()[(i, k)] - parts.scatter()[(i, k)]).abs()
                    < 1e-8 * whole.scatter()[(i, i)]
            );
        }
    }
}

#[test]
fn weights_count_rows() {
    let values = mixed();
    let rows = Rows::new(&values, 5).unwrap();
    let weights: Vec<f64> = (0..600)
        .map(|i| f64::from(u8::from(i % 3 != 0)) + f64::from(u8::from(i % 5 == 0)))
        .collect();
    let repeated: Vec<f64> =
        (0..600).flat_map(|i| values[i * 5..i * 5 + 5].repeat(weights[i] as usize)).collect();
    let s = Settings::default().with(|s| {
        s.experts = Some(3);
        s.families = Family::StudentT.into();
        s.starts = Some(24);
    });
    let a = fit(&rows.weighted(&weights).unwrap(), &s).unwrap();
    let b = fit(&Rows::new(&repeated, 5).unwrap(), &s).unwrap();
    for (a, b) in a.state.experts.iter().zip(&b.state.experts) {
        assert!((a.gain - b.gain).abs() < 1e-6, "{} {}", a.gain, b.gain);
    }
    assert!((a.model.whitening().ln_det() - b.model.whitening().ln_det()).abs() < 1e-10);
}

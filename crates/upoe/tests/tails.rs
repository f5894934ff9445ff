//! Tails of experts, to their last digits and in bounded time.

use crate::common::rng;
use crate::experts::everyone;
use upoe::expert::{Expert, Learnable, Marginal, Mixture, StudentT};

#[test]
fn both_tails_are_probabilities_that_add_up_to_one_at_any_z() {
    let far = [1e-320, 1e-9, 0.3, 1.0, 4.0, 7.0, 40.0, 1e4, 1e100, 1e308, f64::INFINITY];
    let z: Vec<f64> = far.iter().rev().map(|z| -z).chain([0.0]).chain(far).collect();
    for expert in everyone() {
        let mirrored = expert.mirrored().unwrap();
        let (mut below, mut above) = (0.0, 1.0);
        for z in &z {
            let (lower, upper) = (expert.cdf(*z), expert.upper_tail(*z));
            assert!((lower + upper - 1.0).abs() < 1e-13, "{z} {lower} {upper} {expert:?}");
            assert!(lower >= below * (1.0 - 1e-13) && upper <= above * (1.0 + 1e-13), "{expert:?}");
            (below, above) = (lower, upper);
            assert!(!expert.ln_density(*z).is_nan(), "{z} {expert:?}");
            assert!(z.abs() > 1e100 || expert.energy_slope(*z).is_finite(), "{z} {expert:?}");
            let other = mirrored.upper_tail(-z);
            assert!((lower - other).abs() <= 1e-11 * lower, "{z} {lower} {other} {expert:?}");
        }
        assert_eq!((expert.cdf(f64::NEG_INFINITY), expert.upper_tail(f64::INFINITY)), (0.0, 0.0));
    }
}

#[test]
fn quantiles_keep_the_digits_of_small_tails() {
    for expert in everyone() {
        for p in [1e-250, 1e-60, 1e-12] {
            let (low, high) = (expert.quantile(p), expert.quantile(1.0 - p));
            let close = |mass: f64, p: f64| (mass / p - 1.0).abs() < 1e-9;
            // Heavy tails may reach beyond double precision.
            assert!(low < -1e300 || close(expert.cdf(low), p), "{p} {low} {expert:?}");
            let upper = 1.0 - (1.0 - p);
            let found = expert.upper_tail(high);
            assert!(high > 1e300 || close(found, upper), "{p} {high} {found} {expert:?}");
        }
    }
}

#[test]
#[allow(clippy::excessive_precision)] // the digits as they were computed
fn the_tails_of_a_student_t_agree_with_sixty_digits() {
    // ν, u, P(U > u) = ½ I_x(ν/2, ½) with x = ν/(ν + u²), by the hypergeometric series; the last
    // three by the expansion about the normal.
    let exact = [
        (0.01, 3.0, 0.47995996182268678),
        (0.01, 1e250, 0.0015345372478456922),
        (0.2, 0.25, 0.45332675157054803),
        (0.2, 1e300, 3.7593101792126628e-61),
        (1.0, 0.001, 0.49968169021991944),
        (1.0, 1e200, 3.1830988618379068e-201),
        (3.0, 12.0, 0.00062250790039466837),
        (7.5, 40.0, 2.5595283818548954e-10),
        (20.0, 9.0, 9.0202080900967836e-9),
        (48.0, 6.0, 1.2536654815724612e-7),
        (1000.0, 12.0, 2.1620286933872637e-31),
        (1000.0, 1.5, 0.066965019411043086),
        (1e4, 30.0, 1.0221635237127853e-189),
        (123456.0, 20.0, 3.8107927278985082e-89),
        (1e9, 2.0, 0.022750132083156624),
        (1e12, 20.0, 2.7536242293012506e-89),
        (1e15, 37.0, 5.7255712252111551e-300),
    ];
    for (nu, u, expected) in exact {
        let t = StudentT::with_scale(0.0, 1.0, nu).unwrap();
        for tail in [t.upper_tail(u), t.cdf(-u)] {
            assert!((tail / expected - 1.0_f64).abs() < 1e-12, "{tail} for ν = {nu}, u = {u}");
        }
    }
}

#[test]
fn any_student_t_is_described_in_bounded_time_or_refused() {
    for nu in [0.0, 1e-320, 1e-17, 1e-15, 1e-14, 1e-12, 1e-9, 0.009] {
        let error = StudentT::with_scale(0.0, 1.0, nu).unwrap_err().to_string();
        assert!(error.contains("must be 0.01 or more"), "{error}");
    }
    let start = std::time::Instant::now();
    for nu in [0.01, 0.03, 0.2, 7.99, 8.0, 1e4, 1e15, 1e300] {
        for (mu, scale) in [(0.0, 1.0), (1e308, 1e-308), (-1e308, 1e308), (1e-320, 1e-320)] {
            let t = StudentT::with_scale(mu, scale, nu).unwrap();
            let pair = Mixture::new(vec![1e-300, 1.0], vec![t.clone(), t.clone()]).unwrap();
            for expert in [Expert::from(t), pair.into()] {
                for z in [0.0, 1e-320, 1.0, 1e160, f64::MAX, f64::INFINITY].map(|z| [z, -z]) {
                    assert!(z.iter().all(|z| (0.0..=1.0).contains(&expert.cdf(*z))), "{expert:?}");
                }
                let quantiles = [5e-324, 1e-9, 0.3, 0.9, 1.0 - 1e-16].map(|p| expert.quantile(p));
                assert!(quantiles.is_sorted(), "{quantiles:?} {expert:?}");
                let mut rng = rng(7);
                assert!((0..50).all(|_| expert.sample(&mut rng).is_finite()), "{expert:?}");
                let _ = (expert.entropy(), expert.negentropy(), expert.shape());
            }
        }
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn a_mixture_of_many_components_is_described_quickly_or_refused() {
    let parts = |n: usize| -> Vec<StudentT> {
        let t = |k| StudentT::with_scale(0.1 * f64::from(k), 0.02, 0.2 + f64::from(k)).unwrap();
        (0..n as u32).map(t).collect()
    };
    for n in [101, 20_000] {
        let error = Mixture::new(vec![1.0; n], parts(n)).unwrap_err().to_string();
        assert_eq!(error, format!("components = {n}: a mixture has at most 100"));
    }
    let start = std::time::Instant::now();
    let most = Mixture::new(vec![1.0; 100], parts(100)).unwrap();
    let quantiles: Vec<f64> = (1..100).map(|k| most.quantile(f64::from(k) / 100.0)).collect();
    assert!(quantiles.is_sorted() && most.entropy() > 0.0);
    // Well apart, the entropy is that of the choice and the mean of theirs.
    let apart = |k: u32| StudentT::with_scale(1e4 * f64::from(k), 1.0, 5.0).unwrap();
    let apart = Mixture::new(vec![1.0; 100], (0..100).map(apart).collect()).unwrap();
    let expected = 100_f64.ln() + apart.components()[0].entropy();
    assert!((apart.entropy() - expected).abs() < 1e-9, "{} {expected}", apart.entropy());
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert!(Mixture::new(vec![1e308; 2], parts(2)).is_err());
}

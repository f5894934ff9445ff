//! Fits of small matrices of any numbers, by every learner, family and stop rule: an error, or a
//! model that is finite on its own rows and normalised.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use upoe::expert::{Family, Marginal};
use upoe::{
    Dims, Families, Fitter, Learner, ParallelStart, Precision, Recipe, Rows, Settings, Stop,
};
use upoe_fuzz::{Matrix, check_normalised, matrix, number, within};

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn settings(u: &mut Unstructured) -> Result<Settings> {
    let stops = [None, Some(Stop::Null), Some(Stop::Train), Some(Stop::Holdout), Some(Stop::Bic)];
    let starts = [ParallelStart::Sequential, ParallelStart::Pursuit, ParallelStart::Random];
    let fixed = |u: &mut Unstructured| -> Result<Option<f64>> {
        u.ratio(1, 8)?.then(|| number(u, 1.0, true)).transpose()
    };
    let mut settings = Settings::default();
    settings.experts = u.arbitrary::<Option<u8>>()?.map(|j| usize::from(j % 6));
    settings.dims = match u.int_in_range(0..=4)? {
        0 => Dims::Count(u.int_in_range(0..=5)?),
        1 => Dims::Share(number(u, 0.9, true)?),
        _ => Dims::All,
    };
    let families = [None, Some(Family::StudentT), Some(Family::Mixture), Some(Family::Tilt)];
    settings.families = u.choose(&families)?.map_or_else(Families::default, Into::into);
    settings.mixture_size = u.int_in_range(0..=3)?;
    settings.fix_mu = fixed(u)?.map(|mu| vec![mu]);
    settings.fix_beta = fixed(u)?;
    let name = *u.choose(Learner::NAMES)?;
    let start = match u.int_in_range(0..=3)? {
        3 => ParallelStart::Grow,
        start => starts[start],
    };
    settings.learner = Learner::named(name, start).expect("a learner");
    settings.stop = *u.choose(&stops)?;
    settings.starts = Some(u.int_in_range(0..=3)?);
    settings.max_iter = u.int_in_range(0..=30)?;
    settings.tol = if u.ratio(1, 8)? { number(u, 1e-5, true)? } else { 1e-5 };
    settings.seed = u.arbitrary::<u8>()?.into();
    settings.recipe = if u.ratio(1, 8)? { Recipe::Paper } else { Recipe::Best };
    settings.precision = if u.ratio(1, 4)? { Precision::F32 } else { Precision::F64 };
    Ok(settings)
}

/// The rows of a matrix, with their weights where it has some.
fn rows_of(matrix: &Matrix) -> Option<Rows<'_>> {
    let rows = Rows::new(&matrix.values, matrix.columns).ok()?;
    match &matrix.weights {
        Some(weights) => Some(rows.weighted(weights).expect("one weight per row")),
        None => Some(rows),
    }
}

fn run(u: &mut Unstructured) -> Result<()> {
    let settings = settings(u)?;
    let dirty = u.ratio(1, 8)?;
    let data = matrix(u, dirty)?;
    let held = u.ratio(1, 4)?.then(|| matrix(u, dirty)).transpose()?;
    let careful = u.ratio(1, 4)?;
    let Some(rows) = rows_of(&data) else { return Ok(()) };
    let held = held.as_ref().and_then(rows_of);
    let fitted = within((16 << 20) + 8000 * data.values.len(), || {
        let mut fitter = Fitter::new(settings.clone());
        if let Some(held) = held {
            fitter = fitter.holdout(held);
        }
        fitter.fit(&rows)
    });
    let Ok(fitted) = fitted else { return Ok(()) };
    for learned in &fitted.state.experts {
        let density = learned.expert().ln_density(0.0);
        assert!(
            learned.gain.is_finite() && density.is_finite(),
            "{density}, {learned:?}: {rows:?}"
        );
        assert!(learned.direction().iter().all(|w| w.is_finite()));
        if careful {
            check_normalised(learned.expert());
        }
    }
    assert!(fitted.state.path.iter().all(|point| point.train.is_finite()));
    assert!(fitted.state.path.iter().all(|point| !point.holdout.is_some_and(f64::is_nan)));
    let scores = fitted.model.score(&rows).expect("rows that were learned from");
    // Beside the heaviest rows the lightest do not count: the model may exclude them.
    let heaviest = (0..rows.len()).map(|i| rows.weight(i)).fold(0.0, f64::max);
    for (i, score) in scores.iter().enumerate() {
        let learned_from = !fitted.left_out.contains(&i);
        assert!(!score.is_nan(), "ln p of row {i}: {rows:?} by {settings:?}");
        if learned_from && rows.weight(i) > 1e-9 * heaviest {
            assert!(score.is_finite(), "ln p of row {i} is {score}: {rows:?} by {settings:?}");
            let alone = fitted.model.ln_p(&rows.row(i)).expect("a row that was learned from");
            // Both ways to the same ln p may differ by what rounding the row itself does to it.
            let nudged: Vec<f64> = rows.row(i).iter().map(|cell| cell.next_up()).collect();
            let rounding = fitted.model.ln_p(&nudged).map_or(f64::INFINITY, |p| (p - alone).abs());
            let allowed = 1e-6 * score.abs().max(1.0) + 32.0 * rounding;
            assert!((score - alone).abs() <= allowed, "{score} and {alone}: {rows:?}");
        }
    }
    let drawn = fitted.model.sample(3, 1);
    assert!(drawn.len() == 3 * data.columns && !drawn.iter().any(|cell| cell.is_nan()));
    assert!(fitted.notices.iter().all(|notice| !notice.to_string().is_empty()));
    assert!(!fitted.stop.to_string().is_empty());
    Ok(())
}

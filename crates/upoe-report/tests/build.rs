//! The page's numbers agree with the model they come from.

use upoe::evaluate::Evaluation;
use upoe::expert::{Expert, Family, Marginal};
use upoe::{Fit, Rows, Settings, Stop};
use upoe_report::{
    Cells, FitRecord, Image, Input, Kept, Page, Step, Values, build, build_with, html,
};

const CRABS: &str = include_str!("../../upoe/tests/data/crabs.csv");

fn crabs() -> Vec<f64> {
    let cells = |line: &'static str| line.split(',').skip(4).map(|cell| cell.parse().unwrap());
    CRABS.lines().skip(1).flat_map(cells).collect()
}

fn fit(values: &[f64], columns: usize, settings: &Settings) -> Fit {
    upoe::fit(&Rows::new(values, columns).unwrap(), settings).unwrap()
}

fn paper() -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
    })
}

fn training(fit: &Fit, values: &[f64], columns: usize) -> FitRecord {
    let rows = Rows::new(values, columns).unwrap();
    FitRecord {
        state: fit.state.clone(),
        evaluation: Evaluation::of(&fit.model, &rows, None).unwrap(),
        stop_reason: fit.stop.to_string(),
        ..FitRecord::default()
    }
}

fn page(fit: &Fit, training: &FitRecord, values: &[f64], kept: &[Kept]) -> upoe::Result<Page> {
    let columns = fit.model.whitening().columns();
    let names: Vec<String> = (0..columns).map(|c| format!("c{c}")).collect();
    build(&Input {
        title: "test",
        fitted: (&fit.model).into(),
        training,
        names: &names,
        rows: Rows::new(values, columns)?,
        numbers: None,
        groups: None,
        kept,
        image: None,
        seed: 7,
    })
}

#[test]
fn crabs_add_up() {
    let values = crabs();
    let fit = fit(&values, 5, &paper());
    let labels = (0..200).map(|row| if row < 100 { "B" } else { "O" }.to_owned()).collect();
    let kept = [Kept { name: "sp".into(), cells: Cells::Text(labels) }];
    let page = page(&fit, &training(&fit, &values, 5), &values, &kept).unwrap();

    assert_eq!(page.path.optimum, 2);
    assert!((page.experts[0].gain - 0.35659).abs() < 1e-4);
    assert!((page.experts[1].gain - 0.11067).abs() < 1e-4);
    let likelihood = &page.summary.log_likelihood;
    assert!((likelihood.gaussian_train - page.path.train[0]).abs() < 1e-9);
    let gained = |l: &upoe_report::AgainstGaussian| l.train - l.gaussian_train;
    assert!((gained(likelihood) - gained(&page.summary.log_density)).abs() < 1e-9);

    let rows = Rows::new(&values, 5).unwrap();
    let scores = fit.model.score(&rows).unwrap();
    assert_eq!(page.rows.log_density.0, scores.iter().map(|s| *s as f32).collect::<Vec<_>>());
    assert_eq!(page.rows.clusters.len(), 2);
    let Expert::Mixture(mixture) = &fit.model.experts()[1] else { panic!("not a mixture") };
    for (z, label) in page.rows.projections[1].0.iter().zip(&page.rows.clusters[1].labels.0) {
        let shares = mixture.responsibilities(f64::from(*z));
        assert!(shares[*label as usize] >= 0.5 - 1e-5);
    }
    assert!(matches!(&page.rows.columns[0].values,
        Values::Text { levels, .. } if levels == &["B", "O"]));

    assert_eq!(page.outliers.len(), 12);
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(page.outliers[0].log_density, least);
    for outlier in &page.outliers {
        let parts: f64 = outlier.experts.iter().sum::<f64>() + outlier.rest;
        assert!((outlier.baseline + parts - outlier.log_density).abs() < 1e-9);
        let columns: f64 = outlier.columns.0.iter().map(|c| f64::from(*c)).sum();
        assert!((columns - parts).abs() < 1e-4);
        let tail = outlier.tail.unwrap();
        assert!((1e-4..0.2).contains(&tail), "{tail}");
        let few = if 200.0 * tail < 9.95 { 1 } else { 0 };
        let by_chance = format!("would give about {:.few$} such rows among 200", 200.0 * tail);
        assert!(outlier.by_chance.ends_with(&by_chance), "{} {tail}", outlier.by_chance);
        assert_eq!(outlier.values.0[0], values[5 * outlier.position] as f32);
    }

    for (expert, shown) in fit.model.experts().iter().zip(&page.experts) {
        let curve = &shown.curve;
        let step = (curve.to - curve.from) / (curve.fitted.0.len() - 1) as f64;
        let area: f64 = curve.fitted.0.iter().map(|d| f64::from(*d) * step).sum();
        let within = expert.cdf(curve.to) - expert.cdf(curve.from);
        assert!((area - within).abs() < 0.01, "{area} against {within}");
        let sum: f32 = curve.components.iter().map(|c| c.0[150]).sum();
        assert!((sum - curve.fitted.0[150]).abs() < 1e-6);
        assert_eq!(shown.histogram.counts.iter().sum::<f64>(), 200.0);
    }
    assert!(html(&page).len() < 1_000_000);
}

#[test]
fn no_expert_is_a_page_too() {
    let values = crabs();
    let settings = Settings::default().with(|s| s.experts = Some(0));
    let fit = fit(&values, 5, &settings);
    let page = page(&fit, &training(&fit, &values, 5), &values, &[]).unwrap();
    assert!(page.experts.is_empty() && page.rows.projections.is_empty());
    assert_eq!((page.path.train.len(), page.path.optimum), (1, 0));
    assert_eq!(page.outliers.len(), 12);
    assert!(page.summary.headline.contains("Gaussian"));
}

#[test]
fn a_row_off_the_subspace_is_minus_infinity() {
    let mut values: Vec<f64> =
        crabs().chunks(5).flat_map(|row| [row[0], row[1], row[0] - row[1]]).collect();
    let settings = Settings::default().with(|s| s.stop = Some(Stop::Bic));
    let fit = fit(&values, 3, &settings);
    let training = training(&fit, &values, 3);
    values.extend([10.0, 10.0, 3.0]);
    let page = page(&fit, &training, &values, &[]).unwrap();
    let outlier = &page.outliers[0];
    assert_eq!((outlier.position, outlier.log_density), (200, f64::NEG_INFINITY));
    assert!(outlier.note.as_ref().unwrap().contains("subspace"));
    assert!(page.outliers[1].log_density.is_finite() && page.outliers[1].note.is_none());
    assert!(html(&page).contains(r#""log_density":"-inf""#));
}

#[derive(Debug, PartialEq)]
enum Ended {
    Asked(Step),
    Failed,
}

impl From<upoe::Error> for Ended {
    fn from(_: upoe::Error) -> Self {
        Ended::Failed
    }
}

#[test]
fn work_is_watched_and_can_be_ended() {
    let values = crabs().repeat(1100);
    let fit = fit(&values[..1000], 5, &paper());
    let training = training(&fit, &values[..1000], 5);
    let names: Vec<String> = (0..5).map(|c| c.to_string()).collect();
    let input = Input {
        title: "",
        fitted: (&fit.model).into(),
        training: &training,
        names: &names,
        rows: Rows::new(&values, 5).unwrap(),
        numbers: None,
        groups: None,
        kept: &[],
        image: None,
        seed: 0,
    };
    let mut steps = Vec::new();
    let watched = build_with::<upoe::Error>(&input, &mut |step| {
        steps.push((step.what, step.done, step.total));
        Ok(())
    });
    let rows = |done| ("scoring", done, 220_000);
    let expert = |done| ("counting projections", done, 2);
    let (drawn, others): (Vec<_>, Vec<_>) = steps.into_iter().partition(|s| s.0 == "drawing rows");
    assert_eq!(others, [rows(0), rows(200_704), expert(0), expert(1)]);
    assert!(drawn[0].1 == 0 && drawn.iter().all(|s| s.1 % 256 == 0 && s.2 == 9999), "{drawn:?}");
    // the same page as without a watch
    let plain = build(&input).unwrap();
    assert_eq!(html(&watched.unwrap()), html(&plain));
    let scores = fit.model.score(&input.rows).unwrap();
    let least = scores.iter().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(plain.outliers[0].log_density, least);
    let ended = build_with(&input, &mut |step| match step.done {
        1 => Err(Ended::Asked(step)),
        _ => Ok(()),
    });
    let last = Step { what: "counting projections", done: 1, total: 2, unit: "experts" };
    assert_eq!(ended.map(|_| ()), Err(Ended::Asked(last)));
    let wrong = Input { names: &names[1..], ..input };
    assert_eq!(build_with(&wrong, &mut |_| Ok(())).map(|_| ()), Err(Ended::Failed));
}

#[test]
fn what_does_not_fit_is_refused() {
    let values = crabs();
    let fit = fit(&values, 5, &paper());
    let training = training(&fit, &values, 5);
    let names: Vec<String> = (0..5).map(|c| c.to_string()).collect();
    let kept = [Kept { name: "short".into(), cells: Cells::Numbers(vec![1.0]) }];
    let good = Input {
        title: "",
        fitted: (&fit.model).into(),
        training: &training,
        names: &names,
        rows: Rows::new(&values, 5).unwrap(),
        numbers: None,
        groups: None,
        kept: &[],
        image: None,
        seed: 0,
    };
    assert!(build(&good).is_ok());
    assert!(build(&Input { names: &names[1..], ..good }).is_err());
    assert!(build(&Input { kept: &kept, ..good }).is_err());
    assert!(build(&Input { numbers: Some(&[1, 2]), ..good }).is_err());
    assert!(build(&Input { image: Some(Image { height: 2, width: 3 }), ..good }).is_err());
    assert!(build(&Input { rows: Rows::new(&[], 5).unwrap(), ..good }).is_err());
    let broken = [1.0, 2.0, f64::NAN, 4.0, 5.0];
    assert!(build(&Input { rows: Rows::new(&broken, 5).unwrap(), ..good }).is_err());
}

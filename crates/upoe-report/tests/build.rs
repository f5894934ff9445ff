//! The page's numbers agree with the model they come from.

use upoe::evaluate::Evaluation;
use upoe::expert::{Expert, Family, Marginal};
use upoe::{Detector, DetectorSettings, Filler, Fit, Rows, Settings, Stop};
use upoe_report::{
    Cells, FitRecord, Image, Input, Kept, Page, ShownCell, Step, Values, build, build_with, html,
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

    // The odd rows are those of the detector, with its words and numbers.
    let judged = Detector::fit(&rows, &DetectorSettings::default()).unwrap();
    let odd = judged.p_values.iter().filter(|p| **p <= 0.01).count();
    let words = format!("{odd} of 200 rows");
    assert!(page.outliers.words.starts_with(&words), "{}", page.outliers.words);
    assert!(page.outliers.words.ends_with("at alpha 0.01; chance alone would give about 2.0"));
    assert_eq!((page.outliers.rows.len(), &page.outliers.note), (odd.clamp(3, 12), &None));
    let mut before = f64::INFINITY;
    for outlier in &page.outliers.rows {
        let told = outlier.judgement.as_ref().unwrap();
        let row = &values[5 * outlier.position..][..5];
        let oddity = judged.detector.explain(row).unwrap();
        assert_eq!(told.oddness, judged.oddness[outlier.position]);
        assert_eq!(told.p_value, judged.p_values[outlier.position]);
        assert!(told.oddness <= before && told.odd == (told.p_value <= 0.01));
        before = told.oddness;
        let names = ["c0", "c1", "c2", "c3", "c4"];
        let reasons: Vec<String> =
            oddity.reasons(row).iter().map(|reason| reason.text(names[reason.column])).collect();
        assert_eq!(told.reasons, reasons);
        let few = if 200.0 * told.p_value < 9.95 { 1 } else { 0 };
        let by_chance = format!("about {:.few$} such rows among 200", 200.0 * told.p_value);
        assert!(
            200.0 * told.p_value < 0.1 || told.by_chance.ends_with(&by_chance),
            "{}",
            told.by_chance
        );
        let parts: f64 = outlier.experts.iter().sum::<f64>() + outlier.rest;
        assert!((outlier.baseline + parts - outlier.log_density).abs() < 1e-9);
        assert_eq!(outlier.log_density, scores[outlier.position]);
        let columns: f64 = outlier.columns.0.iter().map(|c| f64::from(*c)).sum();
        assert!((columns - parts).abs() < 1e-4);
        assert!((1e-4..=1.0).contains(&outlier.tail.unwrap()));
        assert_eq!(outlier.values.0[0], values[5 * outlier.position] as f32);
        check_cells(&fit, row, &outlier.cells);
    }
    let correlations = fit.model.correlations();
    assert_eq!(page.experts[1].correlation.0[3], correlations[1][3] as f32);
    let sum = page.path.sum.as_ref().unwrap();
    assert!(sum.starts_with("The gains of the experts add up to 0.467 nats per row: "), "{sum}");

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

/// The cells of a row are its conditionals, as curves.
fn check_cells(fit: &Fit, row: &[f64], cells: &[ShownCell]) {
    assert_eq!(cells.len(), 5);
    for cell in cells {
        let line = fit.model.conditional(row, cell.column).unwrap();
        assert_eq!(cell.observed, Some(row[cell.column]));
        assert_eq!((cell.expected, (cell.low, cell.high)), (line.median(), line.interval(0.9)));
        assert_eq!(cell.surprise.unwrap(), line.ln_surprise(row[cell.column]).exp());
        let heights = &cell.curve.0;
        let step = (cell.to - cell.from) / (heights.len() - 1) as f64;
        let at = |k: usize| line.ln_density(cell.from + step * k as f64);
        let top = (0..heights.len()).map(at).fold(f64::NEG_INFINITY, f64::max);
        for (k, height) in heights.iter().enumerate() {
            let exact = 255.0 * (at(k) - top).exp();
            assert!((f64::from(*height) - exact).abs() <= 0.51, "{k}: {height} {exact}");
        }
        assert!(cell.from <= row[cell.column] || cell.from < cell.low);
    }
}

#[test]
fn missing_cells_are_counted_and_filled_in() {
    let plain = crabs();
    let fit = fit(&plain, 5, &paper());
    let training = training(&fit, &plain, 5);
    let mut values = plain.clone();
    for at in [3, 5 * 20 + 1, 5 * 20 + 4, 5 * 90 + 4] {
        values[at] = f64::NAN;
    }
    (0..5).for_each(|c| values[5 * 150 + c] = f64::NAN);
    let page = page(&fit, &training, &values, &[]).unwrap();
    let missing = page.missing.as_ref().unwrap();
    assert_eq!((missing.rows, missing.cells), (4, 9));
    let counted: Vec<_> = missing.columns.iter().map(|c| (c.name.as_str(), c.cells)).collect();
    assert_eq!(counted, [("c4", 3), ("c1", 2), ("c3", 2), ("c0", 1), ("c2", 1)]);
    // The row without any value is counted, but there is nothing to go by.
    let positions: Vec<usize> = missing.filled.iter().map(|row| row.position).collect();
    assert_eq!(positions, [0, 20, 90]);
    let [one, two, _] = &missing.filled[..] else { panic!() };
    let line = fit.model.conditional(&values[..5], 3).unwrap();
    let [cell] = &one.cells[..] else { panic!("{:?}", one.cells) };
    assert_eq!((cell.column, cell.observed, cell.expected), (3, None, line.median()));
    let columns: Vec<usize> = two.cells.iter().map(|cell| cell.column).collect();
    assert_eq!(columns, [1, 4]);
    let rows = Rows::new(&values, 5).unwrap();
    let filler = Filler::new(&fit.model, fit.model.whitening(), 0).unwrap();
    let medians = filler.cells(&rows, 0, |_, _, cell| cell.median()).unwrap();
    assert_eq!((two.cells[0].expected, two.cells[1].expected), (medians[20][0], medians[20][1]));
    let ln_p = fit.model.score_present(&rows).unwrap();
    assert_eq!(page.rows.log_density.0[20], ln_p[20].value as f32);
    assert_eq!(page.outliers.note.as_deref(), Some("4 rows with missing cells were not judged."));
    let listed = page.outliers.rows.iter().map(|row| row.position);
    assert!(listed.into_iter().all(|row| ![0, 20, 90, 150].contains(&row)));
    let told = page.summary.findings.last().unwrap();
    assert!(told.starts_with("4 of 200 rows have missing cells: c4 1.5 %, c1 1.0 %"), "{told}");
}

#[test]
fn no_expert_is_a_page_too() {
    let values = crabs();
    let settings = Settings::default().with(|s| s.experts = Some(0));
    let fit = fit(&values, 5, &settings);
    let page = page(&fit, &training(&fit, &values, 5), &values, &[]).unwrap();
    assert!(page.experts.is_empty() && page.rows.projections.is_empty());
    assert_eq!((page.path.train.len(), page.path.optimum), (1, 0));
    assert!(page.summary.findings[0].contains("Gaussian"));
    assert!(page.path.sum.is_none());
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
    let outlier = &page.outliers.rows[0];
    assert_eq!((outlier.position, outlier.log_density), (200, f64::NEG_INFINITY));
    assert!(outlier.note.as_ref().unwrap().contains("subspace"));
    let next = &page.outliers.rows[1];
    assert!(next.log_density.is_finite() && next.note.is_none());
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
    let detector = ("fitting the detector", 0, 1);
    assert_eq!(others, [rows(0), rows(200_704), detector, expert(0), expert(1)]);
    assert!(drawn[0].1 == 0 && drawn.iter().all(|s| s.1 % 256 == 0 && s.2 == 9999), "{drawn:?}");
    // the same page as without a watch
    let plain = build(&input).unwrap();
    assert_eq!(html(&watched.unwrap()), html(&plain));
    let note = "200,000 of 220,000 rows were judged, drawn at random; `upoe outliers` judges all.";
    assert_eq!(plain.outliers.note.as_deref(), Some(note));
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
    let broken = [1.0, 2.0, f64::INFINITY, 4.0, 5.0];
    assert!(build(&Input { rows: Rows::new(&broken, 5).unwrap(), ..good }).is_err());
}

//! Settings as JSON, and figures that every interface reports.

use crate::common::normals;
use upoe::evaluate::{self, Evaluation, Tail, bic_price};
use upoe::expert::Family;
use upoe::{Dims, Families, Learned, Learner, ParallelStart, Rows, Settings, StopReason, fit};

#[test]
fn settings_of_version_0_1_are_read_and_written_under_the_same_names() {
    let old = r#"{"experts":3,"dims":{"count":2},"family":"mixture","mixture_size":2,
        "fix_mu":[-1.0,1.0],"fix_beta":20.0,"learner":"parallel","parallel_start":"grow",
        "stop":null,"starts":null,"max_iter":500,"tol":1e-5,"seed":7,"recipe":"best",
        "precision":"f64","threads":null}"#;
    let settings: Settings = serde_json::from_str(old).unwrap();
    assert_eq!(settings.learner, Learner::Parallel { start: ParallelStart::Grow });
    assert_eq!(settings.families, Family::Mixture.into());
    assert_eq!((settings.dims, settings.seed), (Dims::Count(2), 7));
    let same = |a: &str, b: &str| {
        let value = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(a), value(b));
    };
    same(&serde_json::to_string(&settings).unwrap(), old);

    let default: Settings = serde_json::from_str("{}").unwrap();
    assert_eq!(default, Settings::default());
    let json = serde_json::to_value(&default).unwrap();
    assert!(json["family"].is_null());
    assert_eq!(
        (&json["learner"], &json["parallel_start"]),
        (&"pursuit".into(), &"sequential".into())
    );

    let several = Settings::default()
        .with(|s| s.families = Families::new([Family::Tilt, Family::StudentT]).unwrap());
    let json = serde_json::to_string(&several).unwrap();
    assert!(json.contains(r#""family":["student-t","tilt"]"#));
    assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), several);
    for wrong in [r#"{"learner":"greedy"}"#, r#"{"family":[]}"#, r#"{"family":"cauchy"}"#] {
        assert!(serde_json::from_str::<Settings>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn experts_and_reasons_of_version_0_1_are_read() {
    let expert = r#""expert":{"kind":"student-t","location":0.0,"scale":1.0,"freedom":4.0,
        "hold_mu":true,"hold_beta":false}"#;
    let text = format!(
        r#"{{"direction":[1.0,0.0],{expert},"q":-0.25,"p_value":null,"iterations":9,"converged":true}}"#
    );
    let old: Learned = serde_json::from_str(&text).unwrap();
    assert_eq!((old.gain, old.iterations, old.direction()), (0.25, 9, &[1.0, 0.0][..]));
    let again: Learned = serde_json::from_str(&serde_json::to_string(&old).unwrap()).unwrap();
    assert_eq!(again, old);
    let spare = format!(r#"{{"candidate":{{"direction":[1.0,0.0],{expert}}},"value":-0.5}}"#);
    assert_eq!(serde_json::from_str::<Learned>(&spare).unwrap().gain, 0.5);
    assert!(serde_json::from_str::<Learned>(r#"{"gain":1.0}"#).is_err());

    let old: StopReason = serde_json::from_str(r#"{"rule":"bic","q":-0.1,"price":0.2}"#).unwrap();
    assert_eq!(old, StopReason::Bic { gain: 0.1, price: 0.2 });
    let json = serde_json::to_string(&old).unwrap();
    assert_eq!(json, r#"{"rule":"bic","gain":0.1,"price":0.2}"#);
    assert_eq!(serde_json::from_str::<StopReason>(&json).unwrap(), old);
    assert!(serde_json::from_str::<StopReason>(r#"{"rule":"bic","gain":0.1}"#).is_err());
}

#[test]
fn the_standard_error_of_a_mean_is_that_of_its_draws() {
    // Means of 50 weighted rows, 40,000 times: their spread is what the standard error says.
    let weights: Vec<f64> = (0..50).map(|i| 0.2 + f64::from(i % 5)).collect();
    let zeros = vec![0.0; 50];
    let rows = Rows::new(&zeros, 1).unwrap().weighted(&weights).unwrap();
    let draws = normals(50 * 40_000, 92);
    let means: Vec<evaluate::Mean> = draws.chunks(50).map(|x| evaluate::mean(x, &rows)).collect();
    let n = means.len() as f64;
    let spread = (means.iter().map(|m| m.mean.powi(2)).sum::<f64>() / n).sqrt();
    let said = (means.iter().map(|m| m.standard_error.powi(2)).sum::<f64>() / n).sqrt();
    // The spread itself is known to 1/√80,000 = 0.35 %. Without the correction by n/(n − 1) the
    // standard error would be 1.5 % too small.
    assert!((said / spread - 1.0).abs() < 0.01, "{said} {spread}");
}

#[test]
fn rows_of_zero_weight_do_not_count_in_any_figure() {
    let mut values = normals(600, 93);
    values.extend([1e9, -1e9, 1e9]);
    let mut weights = vec![1.0; 200];
    weights.push(0.0);
    let rows = Rows::new(&values, 3).unwrap();
    let model = fit(&rows.slice(0..200), &Settings::default()).unwrap().model;
    let plain = Evaluation::of(&model, &rows.slice(0..200), Some(&rows.slice(0..200))).unwrap();
    let weighted = rows.weighted(&weights).unwrap();
    let with = Evaluation::of(&model, &weighted, Some(&weighted)).unwrap();
    assert_eq!((with.log_density, with.weight), (plain.log_density, plain.weight));
    assert_eq!((with.rows, with.holdout_rows), (201, 201));
}

#[test]
fn standard_errors_follow_the_truth_where_rows_come_in_groups() {
    // 40 groups of 25 rows; a value is the group's own part and a part of the row's.
    let (groups, size) = (40, 25);
    let blocks: Vec<usize> = (0..groups * size).map(|i| i / size).collect();
    let (mut means, mut told, mut alone) = (Vec::new(), Vec::new(), Vec::new());
    for draw in 0..400 {
        let (own, part) = (normals(groups, 2 * draw), normals(groups * size, 2 * draw + 1));
        let values: Vec<f64> = part.iter().zip(&blocks).map(|(x, b)| x + 0.8 * own[*b]).collect();
        let rows = Rows::new(&values, 1).unwrap();
        alone.push(evaluate::mean(&values, &rows).standard_error);
        let found = evaluate::mean(&values, &rows.in_blocks(&blocks).unwrap());
        means.push(found.mean);
        told.push(found.standard_error);
    }
    let rows = Rows::new(&[1.0, 2.0], 1).unwrap();
    assert!(rows.in_blocks(&[0, usize::MAX]).is_err() && rows.in_blocks(&[0]).is_err());
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let truth = (means.iter().map(|m| m * m).sum::<f64>() / means.len() as f64).sqrt();
    assert!((average(&told) / truth - 1.0).abs() < 0.1, "{} {truth}", average(&told));
    assert!(average(&alone) < 0.4 * truth, "{} {truth}", average(&alone));
}

#[test]
fn tails_are_p_values_with_ties() {
    let tail = Tail::of_scores(vec![-1.0, -3.0, -2.0, -2.0]);
    // A row is below the threshold exactly where its tail probability is at most alpha.
    for alpha in [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.9, 1.0] {
        let threshold = tail.threshold(alpha);
        for ln_p in [f64::NEG_INFINITY, -3.5, -3.0, -2.5, -2.0, -1.5, -1.0, 0.0] {
            assert_eq!(ln_p < threshold, tail.at(ln_p) <= alpha, "{ln_p} {alpha}");
        }
    }
    let at = [-4.0, -3.0, -2.0, 0.0, f64::NEG_INFINITY].map(|x| tail.at(x));
    assert_eq!(at, [0.2, 0.4, 0.8, 1.0, 0.2]);
}

#[test]
fn the_bic_price_is_half_a_logarithm_per_parameter() {
    assert_eq!(bic_price(4.0, 100.0), 2.0 * 100.0_f64.ln() / 100.0);
    assert!(bic_price(1.0, 1.0).is_finite());
}

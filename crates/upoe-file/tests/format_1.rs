//! Model files that version 0.1 wrote, in format 1, say today what they said then.

use upoe::StopReason;
use upoe::expert::{Family, Marginal};
use upoe_file::ModelFile;

fn read(name: &str) -> ModelFile {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/format-1-");
    ModelFile::read(format!("{folder}{name}.upoe")).unwrap()
}

#[test]
fn gains_reasons_and_parameters_are_those_of_the_file() {
    // The numbers are what version 0.1's `inspect --json` printed, with gain = −q.
    let mixture = read("mixture");
    let gains: Vec<f64> = mixture.state.experts.iter().map(|e| e.gain).collect();
    assert_eq!(gains, [0.3565873164054294, 0.1106677675825467]);
    assert_eq!(mixture.stop, StopReason::Experts);
    let fixed = |name: &str| {
        mixture.model.experts()[0].parameters().iter().any(|p| p.name == name && p.fixed)
    };
    assert!(fixed("mu") && fixed("beta") && !fixed("theta"));
    assert_eq!(mixture.settings.families.only(), Some(Family::Mixture));
    assert_eq!(mixture.training.evaluation.log_density.train, Some(-6.942133863388439));

    let student_t = read("student-t");
    assert_eq!(student_t.state.experts[1].gain, 0.303155435411254);
    let StopReason::Bic { gain, price } = student_t.stop else { panic!("{:?}", student_t.stop) };
    assert!(0.0 < gain && gain < price);

    let tilt = read("tilt");
    assert!(tilt.model.experts().iter().all(|e| e.family() == Family::Tilt));
    assert_eq!(tilt.state.experts[2].gain, 0.13657433311745099);
}

#[test]
fn a_file_that_was_read_is_written_in_the_present_format_and_means_the_same() {
    for name in ["mixture", "student-t", "tilt"] {
        let old = read(name);
        let bytes = old.to_container().unwrap().to_bytes().unwrap();
        let container = upoe_file::Container::from_bytes(&bytes, "new".as_ref()).unwrap();
        let new = ModelFile::from_container(&container, "new".as_ref()).unwrap();
        assert_eq!((&new.state, new.stop, &new.settings), (&old.state, old.stop, &old.settings));
        let (drawn, columns) = (old.model.sample(300, 1), old.names.len());
        let rows = upoe::Rows::new(&drawn, columns).unwrap();
        assert_eq!(new.model.score(&rows).unwrap(), old.model.score(&rows).unwrap());
    }
}

#[test]
fn tilts_keep_their_gaussian_tails() {
    // Rows and the scores that version 0.1 gave them.
    let scored = [
        ([0.0, 0.0, 0.0], -2.8352763898583415),
        ([1.0, -2.0, 0.5], -92.97013902985522),
        ([-3.0, 1.0, 2.0], -84.77591157381639),
        ([8.0, 9.0, -12.0], -1923.1376884910098),
        ([0.3, 0.2, -0.1], -3.6269045716865564),
        ([100.0, -50.0, 20.0], -23742.526560609775),
    ];
    let model = read("tilt").model;
    for (row, score) in scored {
        let now = model.ln_p(&row).unwrap();
        assert!((now - score).abs() < 1e-11 * score.abs().max(1.0), "{row:?}: {now}, then {score}");
    }
}

//! Models of any directions and experts over any sphering, and any rows to score by them: an
//! error, or ln p that is a number or −∞, the same by every way to it.
#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use upoe::{Dims, Model, Rows, Whitening};
use upoe_fuzz::{experts, matrix, number, within};

fuzz_target!(|data: &[u8]| {
    let _ = run(&mut Unstructured::new(data));
});

fn run(u: &mut Unstructured) -> Result<()> {
    let data = matrix(u, false)?;
    let Ok(rows) = Rows::new(&data.values, data.columns) else { return Ok(()) };
    let dims = if u.ratio(1, 4)? { Dims::Count(u.int_in_range(1..=4)?) } else { Dims::All };
    let Ok(whitening) = Whitening::fit(&rows, dims) else { return Ok(()) };
    let j = u.int_in_range(0..=whitening.dims())?;
    let experts = experts(u, j)?;
    let direction = |u: &mut Unstructured| -> Result<Vec<f64>> {
        (0..whitening.dims()).map(|_| number(u, 1.0, false)).collect()
    };
    let directions = (0..experts.len()).map(|_| direction(u)).collect::<Result<_>>()?;
    let Ok(model) = Model::new(whitening.clone(), directions, experts) else { return Ok(()) };
    let other = matrix(u, true)?;
    let Ok(other) = Rows::new(&other.values, other.columns) else { return Ok(()) };
    within((16 << 20) + 8000 * data.values.len(), || {
        for rows in [rows, other] {
            let Ok(scores) = model.score(&rows) else { continue };
            let sphered = model.score_sphered(&rows).expect("as score");
            let z = model.transform(&rows).expect("as score");
            assert_eq!(z.len(), rows.len() * model.experts().len());
            for (i, (score, sphered)) in scores.iter().zip(sphered).enumerate() {
                let alone = model.ln_p(&rows.row(i)).expect("as score");
                let numbers = [*score, sphered, alone];
                assert!(!numbers.iter().any(|x| x.is_nan()), "{numbers:?} of {model:?}");
                let why = model.explain(&rows.row(i)).expect("as score");
                assert!(!why.ln_p.is_nan());
            }
        }
        let drawn = model.sample(3, 1);
        assert_eq!(drawn.len(), 3 * model.whitening().columns());
    });
    Ok(())
}

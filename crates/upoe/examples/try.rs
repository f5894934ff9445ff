use upoe::expert::Family;
use upoe::*;
fn main() {
    let text = std::fs::read_to_string("crates/upoe/tests/data/crabs.csv").unwrap();
    let values: Vec<f64> = text
        .lines()
        .skip(1)
        .flat_map(|l| {
            let c: Vec<&str> = l.split(',').collect();
            c[c.len() - 5..].iter().map(|x| x.parse::<f64>().unwrap()).collect::<Vec<_>>()
        })
        .collect();
    let rows = Rows::new(&values, 5).unwrap();
    for seed in 0..4 {
        let t = std::time::Instant::now();
        let f = fit(
            &rows,
            &Settings {
                experts: Some(2),
                family: Some(Family::Mixture),
                fix_mu: Some(vec![-1.0, 1.0]),
                fix_beta: Some(20.0),
                seed,
                ..Default::default()
            },
        )
        .unwrap();
        println!(
            "mix {:?} {:?} {:?} {:?}",
            f.state.experts.iter().map(|e| (e.q, e.iterations, e.converged)).collect::<Vec<_>>(),
            f.stop,
            t.elapsed(),
            f.state.path
        );
        let f = fit(
            &rows,
            &Settings {
                stop: Some(Stop::Train),
                family: Some(Family::StudentT),
                fix_mu: Some(vec![0.0]),
                seed,
                ..Default::default()
            },
        )
        .unwrap();
        println!(
            "t0 {:?} {}",
            f.state.experts.iter().map(|e| (e.q, e.iterations)).collect::<Vec<_>>(),
            f.stop
        );
        let f = fit(
            &rows,
            &Settings {
                stop: Some(Stop::Train),
                family: Some(Family::StudentT),
                seed,
                ..Default::default()
            },
        )
        .unwrap();
        println!(
            "t {:?} {}",
            f.state.experts.iter().map(|e| (e.q, e.iterations)).collect::<Vec<_>>(),
            f.stop
        );
        for l in [Learner::Pursuit, Learner::Sequential, Learner::Parallel] {
            let t = std::time::Instant::now();
            let f = fit(
                &rows,
                &Settings { seed, stop: Some(Stop::Bic), learner: l, ..Default::default() },
            )
            .unwrap();
            println!(
                "auto {:?} {} {:?} {:?}",
                f.state
                    .experts
                    .iter()
                    .map(|e| (e.q, e.expert.family(), e.iterations, e.converged))
                    .collect::<Vec<_>>(),
                f.stop,
                t.elapsed(),
                f.notices
            );
        }
    }
}

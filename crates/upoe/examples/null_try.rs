use rand::RngExt;
use upoe::expert::Family;
use upoe::*;
fn main() {
    let args: Vec<usize> = std::env::args().skip(1).map(|a| a.parse().unwrap()).collect();
    let (n, d, reps) = (args[0], args[1], args[2]);
    for family in [Family::StudentT, Family::Mixture, Family::Tilt] {
        let t = std::time::Instant::now();
        let mut g: Vec<(f64, usize)> = (0..reps)
            .map(|r| {
                let mut rng = random::stream(r as u64, random::Use::Data, 0);
                let x: Vec<f64> =
                    (0..n * d).map(|_| rng.sample(rand_distr::StandardNormal)).collect();
                let rows = Rows::new(&x, d).unwrap();
                let f = fit(
                    &rows,
                    &Settings { experts: Some(1), family: Some(family), ..Default::default() },
                )
                .unwrap();
                (
                    f.state.experts.first().map_or(0.0, |e| -e.q * 2.0 * n as f64),
                    f.state.experts.first().map_or(0, |e| e.iterations),
                )
            })
            .collect();
        g.sort_by(|a, b| a.0.total_cmp(&b.0));
        let m = g.iter().map(|g| g.0).sum::<f64>() / reps as f64;
        let sd = (g.iter().map(|g| (g.0 - m).powi(2)).sum::<f64>() / reps as f64).sqrt();
        println!(
            "{:?} N {n} d {d}: mean {m:.2} sd {sd:.2} median {:.2} q90 {:.2} max {:.2} maxit {} | {:.1} ms each",
            family,
            g[reps / 2].0,
            g[reps * 9 / 10].0,
            g[reps - 1].0,
            g.iter().map(|g| g.1).max().unwrap(),
            t.elapsed().as_secs_f64() * 1e3 / reps as f64
        );
    }
}

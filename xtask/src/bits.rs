//! A small fit, printed to the bit. Other interfaces to the engine must give the same.

use upoe::{Rows, Settings, fit};

/// Prints gains, filters, scores and draws.
pub fn run() -> upoe::Result<()> {
    let crabs = include_str!("../../crates/upoe/tests/data/crabs.csv");
    let number = |cell: &str| cell.parse::<f64>().expect("a number");
    let values: Vec<f64> =
        crabs.lines().skip(1).flat_map(|l| l.split(',').skip(4)).map(number).collect();
    let rows = Rows::new(&values, 5)?;
    let fitted = fit(
        &rows,
        &Settings::default().with(|s| {
            s.experts = Some(2);
            s.seed = 7;
        }),
    )?;
    let gains = fitted.state.experts.iter().map(|e| e.gain);
    let filters = fitted.model.filters().concat();
    let scores = fitted.model.score(&rows)?;
    let drawn = fitted.model.sample(5, 7);
    for number in gains.chain(filters).chain(scores).chain(drawn) {
        println!("{:016x}", number.to_bits());
    }
    Ok(())
}

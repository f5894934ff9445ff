//! Fits a table and asks the model the questions that users ask.
//!
//! `cargo run --release -p upoe --example fit_table`

use upoe::evaluate::Tail;
use upoe::expert::Marginal;
use upoe::{Fitter, Rows, Settings, held_out};

/// Runs the example.
pub fn main() -> upoe::Result<()> {
    // 200 crabs, five lengths in mm.
    let names = ["FL", "RW", "CL", "CW", "BD"];
    let crabs = include_str!("../tests/data/crabs.csv");
    let cells = crabs.lines().skip(1).flat_map(|line| line.split(',').skip(4));
    let values: Vec<f64> = cells.filter_map(|cell| cell.parse().ok()).collect();
    let all = Rows::new(&values, names.len())?;

    // Hold out a fifth of the rows, to see whether what is learned is real.
    let out = held_out::<()>(all.len(), Some(0.2), None, 0)?;
    let side = |held: bool| -> Vec<usize> { (0..all.len()).filter(|&i| out[i] == held).collect() };
    let (train, _) = all.pick(&side(false));
    let (held, _) = all.pick(&side(true));
    let (train, held) = (Rows::new(&train, names.len())?, Rows::new(&held, names.len())?);

    let fit = Fitter::new(Settings::default()).holdout(held).fit(&train)?;
    for (j, learned) in fit.state.experts.iter().enumerate() {
        let (expert, path) = (learned.expert(), &fit.state.path[j..]);
        let on_held = path[1].holdout.zip(path[0].holdout).map_or(0.0, |(b, a)| b - a);
        println!(
            "expert {}: {}, gain {:.3} nats per row ({on_held:+.3} on held-out rows), negentropy {:.3}",
            j + 1,
            expert.family().name(),
            learned.gain,
            expert.negentropy()
        );
    }
    println!("It stopped because {}.", fit.stop);

    // How probable is each row, and is the least probable one odd?
    let ln_p = fit.model.score(&all)?;
    let least = (0..all.len()).min_by(|&a, &b| ln_p[a].total_cmp(&ln_p[b])).unwrap_or(0);
    let tail = Tail::draw(&fit.model, 10_000, 0, &mut |_| true)?;
    let p = tail.map_or(f64::NAN, |tail| tail.at(ln_p[least]));
    println!("Crab {} is the least probable: ln p = {:.2}, tail {p:.4}.", least + 1, ln_p[least]);

    // Why? Each column's part of ln p, and where the row lies along the directions.
    let why = fit.model.explain(&all.row(least))?;
    for (c, name) in names.iter().enumerate() {
        let experts: f64 = why.experts_by_column.iter().map(|part| part[c]).sum();
        println!("  {name}: {:+.2} nats", experts + why.rest_by_column[c]);
    }
    let z = fit.model.transform(&all.slice(least..least + 1))?;
    println!("  z = {z:.2?}");
    Ok(())
}

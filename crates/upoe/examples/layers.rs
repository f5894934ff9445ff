//! How long each layer of a stack takes on rows from a file, and what it gains on rows held out.
//!
//! `cargo run --release -p upoe --example layers -- TRAIN HELD COLUMNS LAYERS` reads two files of raw doubles, row after
//! row, ends after so many layers, and prints one line of JSON: seconds from the beginning and gains in nats per row.
//! `bench/layers.py` runs it.

use std::time::Instant;
use upoe::{Event, Fitter, Quality, Rows, Settings, Whitening};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, held, columns, layers] = &arguments[..] else {
        return Err("give two files of doubles, the number of columns, and of layers".into());
    };
    let (train, held, columns) = (read(train)?, read(held)?, columns.parse()?);
    let (train, held) = (Rows::new(&train, columns)?, Rows::new(&held, columns)?);
    let layers: usize = layers.parse()?;
    let settings = Settings::default().asked(Some(Quality::Good), None)?;
    let began = Instant::now();
    Whitening::fit(&train, settings.dims)?.sphere(&train)?;
    let sphering = began.elapsed().as_secs_f64();
    let mut ends = Vec::new();
    let began = Instant::now();
    let fitter = Fitter::new(settings).holdout(held).observe(|event| {
        if let Event::Layer { radial, .. } = event {
            ends.push((began.elapsed().as_secs_f64(), *radial));
        }
        ends.len() < layers
    });
    let fit = fitter.fit(&train)?;
    let seconds = began.elapsed().as_secs_f64();
    let layer = |((end, radial), record): (&(f64, bool), &upoe::LayerRecord)| {
        format!(
            r#"{{"seconds": {end}, "radial": {radial}, "directions": {}, "train": {}, "held": {}}}"#,
            record.gains.len(),
            record.gain(),
            record.holdout.unwrap_or(f64::NAN)
        )
    };
    let layers: Vec<String> = ends.iter().zip(&fit.layers).map(layer).collect();
    let layers = layers.join(", ");
    println!(r#"{{"sphering": {sphering}, "seconds": {seconds}, "layers": [{layers}]}}"#);
    Ok(())
}

/// A file of doubles.
fn read(path: &str) -> std::io::Result<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let (numbers, _) = bytes.as_chunks::<8>();
    Ok(numbers.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

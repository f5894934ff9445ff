//! Measures passes and fits on a GPU next to the CPU of the same machine; `make bench-gpu` runs it.
//!
//! `measure pass` prints rates of passes, `measure images TRAIN HELD` fits sphered rows from two files
//! of raw doubles in 400 dimensions, and `measure large ROWS` fits that many synthetic rows of 100
//! columns. Every line of the output is one JSON object.

use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Instant;
use upoe::engine::{Candidate, Engine, Memory, Picked, Sums};
use upoe::expert::{Expert, Family, StudentT, Tilt};
use upoe::{Dims, Fit, Fitter, Precision, Result, Rows, Settings, Whitening};
use upoe_cuda::{Cuda, Device, Element, measure};
use upoe_kernels::Real;

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let device = match Device::open(0) {
        Ok(device) => device,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
    println!("{}", json!({ "device": device.name(), "threads": rayon::current_num_threads() }));
    match words[..] {
        ["pass"] => passes(&device)?,
        ["images", train, held] => images(&device, &read(train)?, &read(held)?)?,
        ["large", rows] => large(&device, rows.parse()?)?,
        _ => eprintln!("usage: measure pass | images TRAIN HELD | large ROWS"),
    }
    Ok(())
}

/// A file of doubles.
fn read(path: &str) -> std::io::Result<Vec<f64>> {
    let bytes = std::fs::read(path)?;
    let (numbers, _) = bytes.as_chunks::<8>();
    Ok(numbers.iter().map(|b| f64::from_le_bytes(*b)).collect())
}

/// Reproducible numbers of mean 0 and variance about 1.
fn noise(n: usize, seed: u64) -> Vec<f32> {
    let number = |i: usize| {
        let mut state = (i as u64).wrapping_add(seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut sum = 0.0;
        for _ in 0..4 {
            state ^= state >> 31;
            state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            state ^= state >> 29;
            sum += (state >> 40) as f32 / (1 << 24) as f32 - 0.5;
        }
        sum * 3.0_f32.sqrt()
    };
    (0..n).into_par_iter().map(number).collect()
}

/// Seconds per call: the median of 9 after a warm-up.
fn median(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..9 {
        let began = Instant::now();
        for _ in 0..10 {
            work()?;
        }
        times.push(began.elapsed().as_secs_f64() / 10.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[4])
}

fn passes(device: &Device) -> Result<()> {
    let copy = measure::copy_rate(device, 4 << 30)?;
    println!("{}", json!({ "copy_bytes_per_second": copy }));
    for n in [100_000, 1_000_000] {
        pass::<f32>(device, n, 400, copy)?;
        pass::<f64>(device, n, 400, copy)?;
    }
    pass::<f32>(device, 4_000_000, 100, copy)
}

fn pass<T: Element>(device: &Device, n: usize, d: usize, copy: f64) -> Result<()> {
    let rows: Vec<T> = noise(n * d, 1).into_iter().map(|x| T::from_f64(f64::from(x))).collect();
    let engine = Cuda::new(device, &rows, d, None)?;
    let student: Expert = StudentT::with_scale(0.1, 0.8, 4.0)?.into();
    let tilt: Expert = Tilt::gaussian(n as f64).into();
    for k in [1, 2, 4, 8, 16, 32, 64, 100, 128] {
        let directions = noise(k * d, 7);
        let one = |i: usize, e: &Expert| {
            let w = directions[i * d..][..d].iter().map(|x| f64::from(*x) / (d as f64).sqrt());
            Candidate::new(w.collect(), e.clone())
        };
        for (family, expert) in [("student-t", &student), ("tilt", &tilt)] {
            let asked: Vec<Candidate> = (0..k).map(|i| one(i, expert)).collect();
            let seconds = median(|| engine.sums(&asked).map(drop))?;
            let queued = match k {
                ..=8 => Some(measure::queued_pass(&engine, &asked)?),
                _ => None,
            };
            let bytes = (n * d * size_of::<T>()) as f64;
            let share = |seconds: f64| bytes / seconds / copy;
            println!(
                "{}",
                json!({ "rows": n, "dims": d, "precision": T::NAME, "k": k, "family": family,
                    "seconds": seconds, "share_of_copy": share(seconds), "queued_seconds": queued,
                    "queued_share_of_copy": queued.map(share),
                    "flops": 4.0 * (n * d * k) as f64 / seconds })
            );
        }
    }
    if d == 400 {
        for k in [8, 16, 32, 100] {
            let [forward, back, parts] = measure::products::<T>(device, n, d, k)?;
            println!(
                "{}",
                json!({ "rows": n, "dims": d, "precision": T::NAME, "k": k,
                "cublas_forward": forward, "cublas_back": back, "cublas_back_in_batches": parts })
            );
        }
    }
    Ok(())
}

/// A whitening that does nothing.
fn plain(d: usize) -> Result<Whitening> {
    let mut values = vec![0.0; 2 * d * d];
    for i in 0..d {
        values[2 * i * d + i] = (d as f64).sqrt();
        values[(2 * i + 1) * d + i] = -(d as f64).sqrt();
    }
    Whitening::fit(&Rows::new(&values, d)?, Dims::All)
}

/// Where the time of an engine goes: calls and seconds by kind.
#[derive(Default)]
struct Clock(Mutex<BTreeMap<String, (usize, f64)>>);

impl Clock {
    fn time<R>(&self, what: String, work: impl FnOnce() -> R) -> R {
        let began = Instant::now();
        let out = work();
        if let Ok(mut known) = self.0.lock() {
            let entry = known.entry(what).or_default();
            *entry = (entry.0 + 1, entry.1 + began.elapsed().as_secs_f64());
        }
        out
    }

    fn report(&self, total: f64) -> serde_json::Value {
        let known = self.0.lock().map(|known| known.clone()).unwrap_or_default();
        let inside: f64 = known.values().map(|(_, s)| s).sum();
        json!({ "total": total, "outside_engine": total - inside,
                "calls": known.iter().map(|(k, (n, s))| json!([k, n, s])).collect::<Vec<_>>() })
    }
}

/// An engine that is watched.
struct Timed<'a> {
    engine: Box<dyn Engine + 'a>,
    name: &'static str,
    clock: &'static Clock,
}

impl Timed<'_> {
    fn time<R>(&self, what: &str, work: impl FnOnce(&dyn Engine) -> R) -> R {
        self.clock.time(format!("{} {what}", self.name), || work(&*self.engine))
    }
}

impl Engine for Timed<'_> {
    fn dims(&self) -> usize {
        self.engine.dims()
    }
    fn rows(&self) -> usize {
        self.engine.rows()
    }
    fn weight(&self) -> f64 {
        self.engine.weight()
    }
    fn is_white(&self) -> bool {
        self.engine.is_white()
    }
    fn rounding(&self) -> f64 {
        self.engine.rounding()
    }
    fn mean_square(&self) -> Result<f64> {
        self.time("mean square", |e| e.mean_square())
    }
    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        let size = candidates.len().next_power_of_two();
        self.time(&format!("sums up to {size:03}"), |e| e.sums(candidates))
    }
    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        self.time("pick", |e| e.pick(rows))
    }
    fn subset(&self, seed: u64, n: usize) -> Result<Option<Box<dyn Engine>>> {
        self.time("subset", |e| e.subset(seed, n))
    }
    fn over(&self, rows: Picked) -> Result<Box<dyn Engine>> {
        let engine = self.time("over", |e| e.over(rows))?;
        Ok(Box::new(Timed { engine, name: "sample", clock: self.clock }))
    }
    fn fourth_moments(&self, span: &[Vec<f64>]) -> Result<Vec<f64>> {
        self.time("fourth moments", |e| e.fourth_moments(span))
    }
}

/// Runs on a pool of as many threads as there are cores: work that a thread outside of one gives to its
/// threads takes longer.
fn on_all_cores(settings: &Settings) -> Settings {
    settings.clone().with(|s| s.threads = Some(rayon::current_num_threads()))
}

/// Fits sphered rows by engines that `make` makes, and says what was gained and where the time went.
fn fitted(
    label: &str,
    settings: &Settings,
    whitening: &Whitening,
    make: impl Fn(bool) -> Result<Box<dyn Engine>>,
) -> Result<Fit> {
    let clock: &'static Clock = Box::leak(Box::default());
    let began = Instant::now();
    let train = Timed { engine: make(true)?, name: "all", clock };
    let put = began.elapsed().as_secs_f64();
    let held = Timed { engine: make(false)?, name: "held", clock };
    let began = Instant::now();
    let fit =
        Fitter::new(on_all_cores(settings)).fit_engine(whitening.clone(), &train, Some(&held))?;
    let seconds = began.elapsed().as_secs_f64();
    let (first, last) = (&fit.state.path[0], &fit.state.path[fit.state.path.len() - 1]);
    println!(
        "{}",
        json!({ "fit": label, "seed": settings.seed, "seconds": seconds, "seconds_to_put_rows": put,
        "experts": fit.state.experts.len(), "train_gain": last.train - first.train,
        "held_gain": last.holdout.zip(first.holdout).map(|(a, b)| a - b), "time": clock.report(seconds) })
    );
    Ok(fit)
}

/// Dimensions of the images' rows.
const IMAGE_DIMS: usize = 400;
/// Seeds of their fits.
const SEEDS: u64 = 12;

fn images(device: &Device, train: &[f64], held: &[f64]) -> Result<()> {
    const D: usize = IMAGE_DIMS;
    let whitening = plain(D)?;
    let single = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
    let (train32, held32) = (single(train), single(held));
    let fast = Settings::default().with(|s| {
        s.experts = Some(100);
        s.families = Family::StudentT.into();
        s.precision = Precision::F32;
        s.starts = Some(16);
        s.tol = 2e-3;
    });
    let default = Settings::default().with(|s| s.experts = Some(100));
    let began = Instant::now();
    device.prepare::<f32>(D)?;
    device.prepare::<f64>(D)?;
    println!("{}", json!({ "seconds_to_compile": began.elapsed().as_secs_f64() }));
    let gpu32 = |white: bool| -> Result<Box<dyn Engine>> {
        let rows = if white { &train32 } else { &held32 };
        Ok(Box::new(Cuda::new(device, rows, D, None)?.with_white(white)))
    };
    let gpu64 = |white: bool| -> Result<Box<dyn Engine>> {
        let rows = if white { train } else { held };
        Ok(Box::new(Cuda::new(device, rows, D, None)?.with_white(white)))
    };
    let mut models = Vec::new();
    for seed in std::iter::once(0).chain(0..SEEDS) {
        let fast = fast.clone().with(|s| s.seed = seed);
        models.push(fitted("images fast gpu f32", &fast, &whitening, gpu32)?);
    }
    println!("{}", json!({ "same_bits": models[0].state == models[1].state }));
    let held_rows = Rows::new(held, D)?;
    let cpu = models[0].model.score(&held_rows)?;
    let began = Instant::now();
    let gpu = device.score(&models[0].model, &held_rows)?;
    let seconds = began.elapsed().as_secs_f64();
    let apart = cpu.iter().zip(&gpu).fold(0.0_f64, |a, (c, g)| a.max((c - g).abs()));
    println!("{}", json!({ "scoring_seconds": seconds, "largest_difference": apart }));
    fitted("images default gpu f64", &default, &whitening, gpu64)?;
    let single_default = |seed: u64| {
        default.clone().with(|s| {
            s.precision = Precision::F32;
            s.seed = seed;
        })
    };
    for seed in 0..SEEDS {
        fitted("images default gpu f32", &single_default(seed), &whitening, gpu32)?;
    }
    for seed in 0..SEEDS {
        let fast = fast.clone().with(|s| s.seed = seed);
        fitted("images fast cpu f32", &fast, &whitening, |white| {
            in_memory(if white { &train32 } else { &held32 }, white)
        })?;
    }
    for seed in 0..SEEDS {
        let default = single_default(seed);
        fitted("images default cpu f32", &default, &whitening, |white| {
            in_memory(if white { &train32 } else { &held32 }, white)
        })?;
    }
    fitted("images default cpu f64", &default, &whitening, |white| {
        in_memory(if white { train } else { held }, white)
    })?;
    Ok(())
}

/// The CPU's engine over the same rows.
fn in_memory<T: Real>(rows: &[T], white: bool) -> Result<Box<dyn Engine>> {
    let make = if white { Memory::new } else { Memory::held_out };
    Ok(Box::new(make(rows.to_vec(), IMAGE_DIMS, None)?))
}

/// Rows of 100 columns: 20 sources that are not Gaussian, turned into all columns.
fn synthetic(n: usize) -> Vec<f32> {
    const D: usize = 100;
    let mut rows = noise(n * D, 3);
    let turns: Vec<Vec<f32>> = (0..4)
        .map(|i| {
            let v = noise(D, 11 + i);
            let norm = v.iter().map(|x| x * x).sum::<f32>().sqrt();
            v.iter().map(|x| x / norm).collect()
        })
        .collect();
    rows.par_chunks_exact_mut(D).for_each(|row| {
        for (i, x) in row.iter_mut().take(20).enumerate() {
            *x = match i % 3 {
                0 => *x * x.abs(),
                1 => x.signum() * 1.5 + 0.5 * *x,
                _ => (0.6 * *x).exp(),
            };
        }
        for v in &turns {
            let along: f32 = row.iter().zip(v).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(v).for_each(|(x, v)| *x -= 2.0 * along * v);
        }
    });
    rows
}

fn large(device: &Device, n: usize) -> Result<()> {
    let values = synthetic(n);
    let rows = Rows::single(&values, 100)?;
    let settings = Settings::default().with(|s| {
        s.experts = Some(20);
        s.precision = Precision::F32;
    });
    let timed = |label: &str, on_device: bool| -> Result<Fit> {
        let began = Instant::now();
        let mut first = None;
        let fitter = Fitter::new(on_all_cores(&settings)).observe(|_| {
            first.get_or_insert_with(|| began.elapsed().as_secs_f64());
            true
        });
        let fitter = if on_device { fitter.place(device) } else { fitter };
        let fit = fitter.fit(&rows)?;
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{}",
            json!({ "large": label, "rows": n, "seconds": seconds, "seconds_to_first_pass": first,
            "experts": fit.state.experts.len(), "gain": fit.state.path.last().map(|p| p.train - fit.state.path[0].train) })
        );
        Ok(fit)
    };
    let began = Instant::now();
    let whitening = Whitening::fit(&rows, Dims::All)?;
    println!("{}", json!({ "whitening_on_cpu": began.elapsed().as_secs_f64() }));
    let began = Instant::now();
    let moments = device.moments(&rows)?;
    println!(
        "{}",
        json!({ "moments_on_gpu": began.elapsed().as_secs_f64(), "weight": moments.weight() })
    );
    let gpu = timed("gpu", true)?;
    fitted("large gpu, learning alone", &settings, &whitening, |white| {
        Ok(Box::new(Cuda::<f32>::of(
            device,
            &whitening,
            &rows.slice(0..if white { n } else { 1000 }),
            white,
        )?))
    })?;
    let began = Instant::now();
    let scores = device.score(&gpu.model, &rows)?;
    println!(
        "{}",
        json!({ "scoring_on_gpu": began.elapsed().as_secs_f64(), "rows": scores.len() })
    );
    timed("cpu", false)?;
    Ok(())
}

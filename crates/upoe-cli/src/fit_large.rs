//! `upoe fit` of a table that does not fit in memory: its rows go to a scratch file, which a few passes
//! read.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use upoe::{Event, Fitter, Settings, sample_rows};
use upoe_cuda::DeviceChoice;
use upoe_file::{ModelFile, Scratch, Training};
use upoe_table::{MissingCells, ReadOptions};

use crate::data::{Data, Meter, Size, size};
use crate::failure::{Failure, setting};
use crate::fit_args::FitArgs;
use crate::interrupt;
use crate::keeper::Keeper;
use crate::progress::{Progress, counted, grouped};
use crate::watch::Watch;

/// Rows of a block that is read.
const BLOCK: usize = 1 << 14;

/// Reads, learns in passes over a scratch file.
pub fn learn(
    args: &FitArgs,
    settings: Settings,
    progress: &Progress,
    data: &Data,
    options: &ReadOptions,
    about: Size,
    memory: u64,
) -> Result<ModelFile, Failure> {
    refuse(args, options)?;
    let name = args.table.data.display().to_string();
    let directory = args.scratch.clone().unwrap_or_else(std::env::temp_dir);
    check_space(&directory, about)?;
    progress.note(&format!(
        "{name}: about {} rows × {} columns would take {} in memory, and {} may be used \
         (`--memory`): one layer is fitted in passes over a scratch file in {} (`--scratch`); rows \
         far away from all others are not left out",
        grouped(about.rows as usize),
        about.columns,
        size(about.in_memory()),
        size(memory),
        directory.display(),
    ));
    let meter = Mutex::new(Meter::new(progress, "pass", 0));
    let all = AtomicU64::new(0);
    let heard = |done: u64, total: u64| {
        let mut meter = meter.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if done == 0 {
            *meter = Meter::new(progress, "a pass over the rows", total);
        }
        let rows = all.load(Ordering::Relaxed) as f64 * done as f64 / total.max(1) as f64;
        meter.tell(done, rows as u64);
    };
    let start = Instant::now();
    let cannot = |error: std::io::Error| {
        Failure::Message(format!(
            "the scratch file in {}: {error}; choose another directory (`--scratch`)",
            directory.display()
        ))
    };
    let mut scratch: Option<Scratch> = None;
    let rows = data.blocks(&format!("reading {name}"), options, BLOCK, progress, |block| {
        if scratch.is_none() {
            let weighted = block.weights.is_some();
            let made = Scratch::create(&directory, &block.names, weighted, Box::new(heard));
            scratch = Some(made.map_err(cannot)?);
        }
        let Some(scratch) = &mut scratch else { return Ok(()) };
        scratch.push(&block.data, block.weights.as_deref()).map_err(cannot)
    })?;
    let Some(mut scratch) = scratch else {
        return Err(Failure::Message(format!("{name}: it has no rows")));
    };
    scratch.finish().map_err(cannot)?;
    all.store(rows, Ordering::Relaxed);
    let seconds = start.elapsed().as_secs_f64();
    progress.say(&format!(
        "read {name}: {} rows × {} columns in {} ({}, {:.0} MB/s)",
        grouped(rows as usize),
        scratch.names().len(),
        counted(data.files.len(), "file"),
        crate::progress::duration(seconds),
        about.bytes as f64 / 1e6 / seconds
    ));
    let names = scratch.names().to_vec();
    let settings = settings.with(|s| {
        s.depth = Some(1);
        if args.sample.is_none() {
            s.sample = sample_rows(rows as usize, names.len());
        }
    });
    if let Some(rows) = settings.sample {
        progress.say(&format!(
            "most steps are made on a sample of {} rows; all rows decide at the end",
            grouped(rows)
        ));
    }
    let keeper = Keeper::new(args, &settings, progress, || scratch.fingerprint())?;
    let state = keeper.resume()?;
    let start = Instant::now();
    let mut watch = Watch::new(progress, settings.experts, &state);
    let fitter = Fitter::new(settings.clone()).resume(state).observe(|event| {
        watch.see(event);
        if let Event::Learned(state) = event {
            keeper.keep(state);
        }
        !interrupt::asked()
    });
    let fitted = fitter.fit_cluster(&scratch, args.holdout);
    let (fit, evaluation) = fitted.map_err(|error| match error {
        upoe::Error::InvalidSetting { .. } => Failure::Message(setting(&error)),
        error => Failure::Message(format!("{name}: {error}")),
    })?;
    progress.say(&format!("{} passes over {}", scratch.passes(), size(scratch.pass())));
    let training = Training::new(evaluation, start.elapsed().as_secs_f64(), &settings);
    Ok(ModelFile::new(fit, names, settings, training))
}

/// Refuses what needs rows in memory.
fn refuse(args: &FitArgs, options: &ReadOptions) -> Result<(), Failure> {
    let asked = [
        (args.blocks.is_some(), "--blocks"),
        (args.holdout_by.is_some(), "--holdout-by"),
        (args.ordered, "--ordered"),
        (options.missing == MissingCells::Keep, "--missing model"),
        (matches!(args.device, DeviceChoice::Cuda(_)), "--device cuda"),
    ];
    match asked.into_iter().find(|(asked, _)| *asked) {
        None => Ok(()),
        Some((_, flag)) => Err(Failure::Message(format!(
            "{flag}: it needs the rows in memory, and they are larger; give more (`--memory`), or \
             leave it out"
        ))),
    }
}

fn check_space(directory: &Path, about: Size) -> Result<(), Failure> {
    let needed = Scratch::bytes(about.rows + about.rows / 20, about.columns);
    match Scratch::free(directory) {
        Some(free) if free < needed => Err(Failure::Message(format!(
            "{}: the scratch file needs about {}, and {} are free; choose another directory \
             (`--scratch`)",
            directory.display(),
            size(needed),
            size(free)
        ))),
        _ => Ok(()),
    }
}

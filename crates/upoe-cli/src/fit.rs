//! `upoe fit`: from a table to a model file.

use std::time::Instant;

use upoe::{Event, Fit, Model, Rest, Rows, Settings, StopReason, fit_with};
use upoe_io::{Likelihood, ModelFile, Table, Training};

use crate::describe;
use crate::failure::{Failure, from_core, setting};
use crate::fit_args::FitArgs;
use crate::holdout::{self, HeldOut};
use crate::interrupt;
use crate::keeper::Keeper;
use crate::output::{print, print_json};
use crate::overwriting::{refuse_overwriting, refuse_same};
use crate::progress::Progress;
use crate::stdout;
use crate::watch::Watch;

/// Reads, learns, writes.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let settings = args.settings();
    settings.check().map_err(|error| Failure::Usage(setting(&error)))?;
    if settings.stop == Some(upoe::Stop::Holdout)
        && args.holdout.is_none()
        && args.holdout_by.is_none()
    {
        let text = "--stop holdout: needs rows held out (`--holdout 0.2` or `--holdout-by COLUMN`)";
        return Err(Failure::Usage(text.into()));
    }
    if args.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
        return Err(Failure::Usage("--output -: a model goes to a file; give its name".into()));
    }
    args.common.start()?;
    if args.common.json || !args.common.quiet {
        stdout::check()?;
    }
    for path in args.output.iter().chain(&args.checkpoint) {
        refuse_overwriting(&[&args.table.data], Some(path))?;
    }
    if let (Some(output), Some(checkpoint)) = (&args.output, &args.checkpoint) {
        refuse_same(output, checkpoint)?;
    }
    for path in args.output.iter().chain(&args.checkpoint) {
        upoe_io::check_writable(path)?;
    }
    interrupt::listen();
    let progress = Progress::new(args.common.quiet);
    let mut options = args.table.options();
    options.weights = args.weights.clone();
    options.groups = args.holdout_by.clone();
    let mut table = progress.read(&args.table.data, &options)?;
    let all = table.rows;
    let held = holdout::split(&mut table, args.holdout, args.seed)?;
    if let Some(note) = holdout::excess(&table, all, args.holdout) {
        progress.note(&note);
    }
    let file = learn(args, settings, &progress, &table, held.as_ref())?;
    progress.clear();
    if let Some(path) = &args.output {
        file.write(path)?;
    }
    if args.common.json {
        describe::notices(&file).iter().for_each(|notice| progress.note(notice));
        print_json(&format!("{:#}\n", describe::json(&file)))?;
    } else if !args.common.quiet {
        print(&describe::text(&file, 20))?;
    }
    if file.stop == StopReason::Interrupted {
        let experts = file.state.experts.len();
        let kept = match &args.output {
            Some(path) => format!("{experts} expert(s) are kept in {}", path.display()),
            None => format!("{experts} expert(s) were learned until then"),
        };
        return Err(Failure::Interrupted(
            (!args.common.quiet).then(|| format!("interrupted: {kept}")),
        ));
    }
    if let (Some(path), false) = (&args.output, args.common.json) {
        progress.say(&format!("wrote {}", path.display()));
    }
    Ok(())
}

fn learn(
    args: &FitArgs,
    settings: Settings,
    progress: &Progress,
    table: &Table,
    held: Option<&HeldOut>,
) -> Result<ModelFile, Failure> {
    let failed = |error| from_core(error, table);
    let rows = view(&table.data, table.names.len(), table.weights.as_deref()).map_err(failed)?;
    let held = held
        .map(|held| view(&held.data, table.names.len(), held.weights.as_deref()))
        .transpose()
        .map_err(failed)?;
    let start = Instant::now();
    let keeper = Keeper::new(args, &settings, progress, table, &rows, held.as_ref())?;
    let state = keeper.resume()?;
    progress.stage(&format!(
        "sphering {} columns, then learning{}",
        table.names.len(),
        held.map_or(String::new(), |held| format!(" ({} rows held out)", held.len()))
    ));
    let mut watch = Watch::new(progress, settings.experts, &state);
    let fit = fit_with(&rows, held.as_ref(), &settings, state, &mut |event| {
        watch.see(event);
        if let Event::Learned(state) = event {
            keeper.keep(state);
        }
        !interrupt::asked()
    })
    .map_err(failed)?;
    progress.stage("scoring");
    let training = training(&fit, &rows, held.as_ref(), &settings, start).map_err(failed)?;
    Ok(ModelFile::new(fit, table.names.clone(), settings, training))
}

fn view<'a>(data: &'a [f64], columns: usize, weights: Option<&'a [f64]>) -> upoe::Result<Rows<'a>> {
    let rows = Rows::new(data, columns)?;
    weights.map_or(Ok(rows), |weights| rows.weighted(weights))
}

/// How well the model does on the rows it was trained on and on those held out.
pub fn training(
    fit: &Fit,
    rows: &Rows,
    held: Option<&Rows>,
    settings: &Settings,
    start: Instant,
) -> upoe::Result<Training> {
    let seconds = start.elapsed().as_secs_f64();
    let (sphered, density) = means(&fit.model, rows)?;
    let held_means = held.map(|held| means(&fit.model, held)).transpose()?;
    let finite = |x: f64| x.is_finite().then_some(x);
    let likelihood = |train: (f64, f64), held: Option<(f64, f64)>| Likelihood {
        train: finite(train.0),
        holdout: held.and_then(|(mean, _)| finite(mean)),
        holdout_standard_error: held.and_then(|(_, error)| finite(error)),
    };
    Ok(Training {
        rows: rows.len(),
        weight: (0..rows.len()).map(|i| rows.weight(i)).sum(),
        holdout_rows: held.map_or(0, Rows::len),
        seconds,
        log_likelihood: likelihood(sphered, held_means.map(|(sphered, _)| sphered)),
        log_density: likelihood(density, held_means.map(|(_, density)| density)),
        seed: settings.seed,
        version: env!("CARGO_PKG_VERSION").into(),
    })
}

/// Mean and standard error of ln p in sphered space and over the columns.
fn means(model: &Model, rows: &Rows) -> upoe::Result<((f64, f64), (f64, f64))> {
    let sphered = mean(&model.score_sphered(rows)?, rows);
    let density = match model.whitening().rest {
        Rest::Nothing => (sphered.0 + model.whitening().ln_det, sphered.1),
        _ => mean(&model.score(rows)?, rows),
    };
    Ok((sphered, density))
}

fn mean(values: &[f64], rows: &Rows) -> (f64, f64) {
    // Rows of weight 0 do not count, whatever their value.
    let weighted = || values.iter().enumerate().map(|(i, x)| (rows.weight(i), x));
    let counted = || weighted().filter(|(w, _)| *w > 0.0);
    let total: f64 = counted().map(|(w, _)| w).sum();
    let mean = counted().map(|(w, x)| w * x).sum::<f64>() / total;
    let square: f64 = counted().map(|(w, x)| (w * (x - mean)).powi(2)).sum();
    (mean, square.sqrt() / total)
}

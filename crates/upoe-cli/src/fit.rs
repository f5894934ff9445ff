//! `upoe fit`: from a table to a model file.

use std::time::Instant;

use upoe::{Event, Fitter, Missing, Rows, Settings, StopReason};
use upoe_file::{ModelFile, Training, fingerprint};
use upoe_table::Table;

use crate::data::{Data, free_memory};
use crate::describe;
use crate::device;
use crate::failure::{Failure, from_core, setting};
use crate::fit_args::FitArgs;
use crate::fit_large;
use crate::holdout::{self, Split};
use crate::interrupt;
use crate::keeper::Keeper;
use crate::output::{print, print_json};
use crate::overwriting::{refuse_overwriting, refuse_same};
use crate::progress::{Progress, counted};
use crate::stdout;
use crate::watch::Watch;

/// Reads, learns, writes.
pub fn run(args: &FitArgs) -> Result<(), Failure> {
    let refused = |error| Failure::Usage(setting(&error));
    let settings = args.settings().map_err(refused)?;
    settings.check().map_err(refused)?;
    let holds_out = args.holdout.is_some() || args.holdout_by.is_some();
    settings.check_holdout(holds_out).map_err(|error| {
        let remedy = "add `--holdout 0.2` or `--holdout-by COLUMN`";
        Failure::Usage(format!("{}; {remedy}", setting(&error)))
    })?;
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
        upoe_table::check_writable(path)?;
    }
    interrupt::listen();
    let progress = Progress::new(args.common.quiet);
    let mut options = args.table.options();
    options.weights = args.weights.clone();
    options.groups = args.blocks.clone().or_else(|| args.holdout_by.clone());
    let data = Data::open(&args.table.data, &options)?;
    let memory = args.memory.unwrap_or_else(free_memory);
    if args.memory.is_some() && args.table.data.as_os_str() == "-" {
        let text =
            "--memory: the standard input is read into memory, however large it is; give a file";
        progress.note(text);
    }
    let file = match data.larger_than(memory) {
        Some(about) => fit_large::learn(args, settings, &progress, &data, &options, about, memory)?,
        None => {
            let mut table = data.read(&options, &progress)?;
            let all = table.rows;
            let split = if holds_out {
                holdout::split(&mut table, args.holdout, args.seed)?
            } else {
                holdout::whole(&table)
            };
            if let Some(note) = holdout::excess(&table, all, args.holdout).filter(|_| holds_out) {
                progress.note(&note);
            }
            learn(args, settings, &progress, &table, &split)?
        }
    };
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
        let count = file.state.experts.len();
        let experts = counted(count, "expert");
        let (is_are, was) = if count == 1 { ("is", "was") } else { ("are", "were") };
        let kept = match &args.output {
            Some(path) => format!("{experts} {is_are} kept in {}", path.display()),
            None => format!("{experts} {was} learned until then"),
        };
        return Err(Failure::Interrupted(
            (!args.common.quiet).then(|| format!("interrupted: {kept}")),
        ));
    }
    match &args.output {
        _ if args.common.json => {}
        Some(path) => progress.say(&format!("wrote {}", path.display())),
        None => progress.say("the model is not kept; `-o MODEL` writes it to a file"),
    }
    Ok(())
}

fn learn(
    args: &FitArgs,
    settings: Settings,
    progress: &Progress,
    table: &Table,
    split: &Split,
) -> Result<ModelFile, Failure> {
    let failed = |error| from_core(error, table);
    let view = |data, weights, blocks| view(data, table.names.len(), weights, blocks);
    let weights = table.weights.as_deref();
    let rows = view(&table.data, weights, split.blocks.as_deref()).map_err(failed)?;
    let held = split.held.as_ref();
    let held = held.map(|h| view(&h.data, h.weights.as_deref(), h.blocks.as_deref()));
    let held = held.transpose().map_err(failed)?;
    if args.table.missing.as_deref() == Some("model") {
        let missing = Missing::of(&rows).map_err(failed)?;
        if missing.cells > 0 {
            if args.checkpoint.is_some() {
                let text = "--checkpoint: a fit with missing cells (`--missing model`) cannot be continued";
                return Err(Failure::Message(text.into()));
            }
            progress.note(&missing.message(|column| table.names[column].clone()));
        }
    }
    let device = device::open(args.device, rows.len(), rows.columns(), progress)?;
    let start = Instant::now();
    let data = || fingerprint(&table.names, &rows, held.as_ref());
    let keeper = Keeper::new(args, &settings, progress, data)?;
    let state = keeper.resume()?;
    progress.stage(&format!(
        "sphering {} columns, then learning{}",
        table.names.len(),
        held.map_or(String::new(), |held| format!(" ({} rows held out)", held.len()))
    ));
    let mut watch = Watch::new(progress, settings.experts, &state);
    let mut fitter = Fitter::new(settings.clone()).resume(state).observe(|event| {
        watch.see(event);
        if let Event::Learned(state) = event {
            keeper.keep(state);
        }
        !interrupt::asked()
    });
    if let Some(held) = held {
        fitter = fitter.holdout(held);
    }
    if let Some(device) = &device {
        fitter = fitter.place(device);
    }
    let fit = match args.table.missing.as_deref() {
        Some("model") => fitter.fit_incomplete(&rows),
        _ => fitter.fit(&rows),
    };
    let fit = fit.map_err(failed)?;
    if let Some(device) = &device {
        device::note_help(device, progress);
    }
    let seconds = start.elapsed().as_secs_f64();
    progress.stage("scoring");
    let evaluation = fit.evaluate(&rows, held.as_ref()).map_err(failed)?;
    progress.stage("looking for groups");
    let groups = fit.groups(&rows).map_err(failed)?;
    let training = Training::new(evaluation, seconds, &settings);
    Ok(ModelFile::new(fit, table.names.clone(), settings, training).with_groups(groups))
}

fn view<'a>(
    data: &'a [f64],
    columns: usize,
    weights: Option<&'a [f64]>,
    blocks: Option<&'a [usize]>,
) -> upoe::Result<Rows<'a>> {
    let mut rows = Rows::new(data, columns)?;
    if let Some(weights) = weights {
        rows = rows.weighted(weights)?;
    }
    blocks.map_or(Ok(rows), |blocks| rows.in_blocks(blocks))
}

//! Rows that tell about each other: which are held out together, and how many layers pay on such rows.

use crate::effective::{Effective, Repeats, follow};
use crate::error::{Result, invalid};
use crate::evaluate;
use crate::grow::stack_alone;
use crate::learn::{Event, Observer, Settings, State};
use crate::pool::folds;
use crate::rows::{Rows, view};
use std::sync::{Mutex, PoisonError};

/// Rows that follow one another are held out in this many runs.
const RUNS: usize = 20;

/// How many layers a stack has at most.
pub fn most_layers(settings: &Settings, deepest: Option<usize>) -> Option<usize> {
    [settings.depth, deepest].into_iter().flatten().min()
}

/// The block of each row, where it is said that rows tell about others: blocks that are given, or runs of rows that
/// follow one another.
pub fn blocks(rows: &Rows, settings: &Settings) -> Option<Vec<usize>> {
    let runs = || settings.ordered.then(|| runs(rows));
    rows.blocks().map(<[usize]>::to_vec).or_else(runs)
}

/// Refuses parts of rows where weights are numbers of rows.
pub fn check_counts(rows: &Rows, settings: &Settings) -> Result<()> {
    let mut weights = rows.weights().unwrap_or_default().iter();
    match weights.find(|w| settings.counts && w.fract() != 0.0) {
        None => Ok(()),
        Some(part) => {
            let rule = "weights that are counts are whole numbers of rows; weights that say how much a row matters are not counts";
            invalid("counts", part, rule)
        }
    }
}

fn runs(rows: &Rows) -> Vec<usize> {
    (0..rows.len()).map(|i| i * RUNS / rows.len()).collect()
}

/// How many layers pay on rows held out, where rows tell about others: the null rule and prices take rows for
/// independent, and later layers learn what a few neighbours share. `None` where rows do not.
pub fn depth(rows: &Rows, settings: &Settings, observer: &mut Observer) -> Result<Option<usize>> {
    let alone = settings.depth == Some(1) || !rows.is_complete() || rows.check().is_err();
    // Rows that resemble those before them may be merely sorted: that limits the layers, and changes nothing else.
    let alike = || follow(rows).then(|| runs(rows));
    let Some(blocks) = (!alone).then(|| blocks(rows, settings).or_else(alike)).flatten() else {
        return Ok(None);
    };
    let repeats = (!settings.counts).then(|| Repeats::of(rows));
    let effective = Effective::of(rows, repeats.as_ref(), settings.ordered)?;
    let weights = effective.scaled(rows);
    let rows = weights.as_ref().map_or(Ok(*rows), |weights| rows.weighted(weights))?;
    let rows = rows.in_blocks(&blocks)?;
    let fold = folds(&rows, settings.seed).swap_remove(0);
    let (train, held) = rows.split(&fold);
    let train = view(&train.0, rows.columns(), train.1.as_deref())?;
    let held = view(&held.0, rows.columns(), held.1.as_deref())?;
    if train.len() <= rows.columns() || !(0..held.len()).any(|i| held.weight(i) > 0.0) {
        return Ok(None);
    }
    let state = State::default();
    let observer = Mutex::new(observer);
    let watch = || {
        let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
        observer(&Event::Pass { expert: 0, gain: 0.0, state: &state })
    };
    let Some(stack) = stack_alone(&train, settings, false, &watch)? else { return Ok(None) };
    let (mut best, mut at, mut total) = (f64::NEG_INFINITY, 1, 0.0);
    for (layer, added) in stack.added(&held)?.iter().enumerate() {
        total += evaluate::mean(added, &held).mean;
        if total > best {
            (best, at) = (total, layer + 1);
        }
    }
    Ok(Some(at))
}

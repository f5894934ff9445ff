//! What a model says: for people, and as JSON.

use serde_json::{Map, Value, json};
use upoe::evaluate::Likelihood;
use upoe::expert::Marginal;
use upoe::{Cause, Notice, Rest};
use upoe_file::ModelFile;
use upoe_report::Finding;

use crate::layers;
use crate::output::number;
use crate::progress::{duration, grouped};
use crate::table::{TextTable, bold};
use crate::visible;

/// The model as one JSON object, with the keys of `fit --json`. Of each expert, `q` (−gain),
/// `kind` (family), `held` (fixed) and `loadings` (filter) are the older names.
pub fn json(file: &ModelFile) -> Value {
    let (model, training) = (&file.model, &file.training);
    let (filters, patterns) = (model.filters(), model.patterns());
    let correlations = model.correlations();
    let experts: Vec<Value> = file
        .state
        .experts
        .iter()
        .zip(filters.iter().zip(&patterns).zip(&correlations))
        .map(|(learned, ((filter, pattern), correlation))| {
            let mut parameters = Map::new();
            let mut fixed = Vec::new();
            for parameter in learned.expert().parameters() {
                let value = match parameter.values[..] {
                    [one] => json!(one),
                    _ => json!(parameter.values),
                };
                parameters.insert(parameter.name.into(), value);
                if parameter.fixed && parameter.name != "knots" {
                    fixed.push(parameter.name);
                }
            }
            let mut expert = json!({
                "gain": learned.gain,
                "q": -learned.gain,
                "family": learned.expert().family().name(),
                "kind": learned.expert().family().name(),
                "says": Finding::of(learned.expert()).to_string(),
                "parameters": parameters,
                "fixed": fixed,
                "held": fixed,
                "direction": learned.direction(),
                "filter": filter,
                "loadings": filter,
                "pattern": pattern,
                "correlation": correlation,
                "iterations": learned.iterations,
                "converged": learned.converged,
            });
            if let Some(p) = learned.p_value {
                expert["p_value"] = json!(p);
            }
            expert
        })
        .collect();
    let stop = json!(file.stop);
    let mut all = json!({
        "rows": training.evaluation.rows,
        "holdout_rows": training.evaluation.holdout_rows,
        "weight": training.evaluation.weight,
        "columns": file.names,
        "dims": model.whitening().dims(),
        "rank": model.whitening().rank(),
        "kept_variance": model.whitening().kept_variance(),
        "learner": file.settings.learner.name(),
        "stop_reason": stop.get("rule").cloned().unwrap_or(Value::Null),
        "stop_message": file.stop.to_string(),
        "seconds": training.seconds,
        "experts": experts,
        "path": json!(file.state.path),
        "log_likelihood": likelihood(&training.evaluation.log_likelihood, training.evaluation.holdout_rows),
        "log_density": likelihood(&training.evaluation.log_density, training.evaluation.holdout_rows),
        "notices": notices(file),
        "settings": json!(file.settings),
        "seed": training.seed,
        "version": training.version,
    });
    for (key, value) in layers::json(file) {
        all[key] = value;
    }
    all
}

/// What a user should know, with the names of columns.
pub fn notices(file: &ModelFile) -> Vec<String> {
    let said = |notice: &Notice| match notice {
        Notice::Degenerate { constant, .. } if !constant.is_empty() => {
            let names = constant.iter().take(6).filter_map(|&i| file.names.get(i));
            let names: Vec<String> = names.map(|name| visible::short(name, 20)).collect();
            let more = if constant.len() > names.len() { ", …" } else { "" };
            format!("{notice}; constant: {}{more}", names.join(", "))
        }
        Notice::Degenerate { rank, .. } if *rank > 1 => format!(
            "{notice}; with `--dims {}` or fewer, noise around the subspace gives every row a \
             density",
            rank - 1
        ),
        Notice::Neighbours { .. } => format!("{notice} (`--ordered`)"),
        Notice::Effective { cause: Cause::Weights | Cause::Repeats, .. } => {
            format!("{notice} (`--counts`)")
        }
        notice => notice.message(|column| {
            file.names.get(column).map_or_else(String::new, |name| visible::short(name, 20))
        }),
    };
    file.notices.iter().map(|notice| visible::line(&said(notice)).into_owned()).collect()
}

/// Means; one that is not kept as a number is that of a row with ln p = −∞.
fn likelihood(of: &Likelihood, holdout_rows: usize) -> Value {
    let mean = |mean: Option<f64>| number(mean.unwrap_or(f64::NEG_INFINITY));
    let mut out = json!({ "train": mean(of.train) });
    if holdout_rows > 0 {
        out["holdout"] = mean(of.holdout);
        out["holdout_standard_error"] = json!(of.holdout_standard_error);
    }
    out
}

/// The model for people, 80 columns wide, with at most `most` experts.
pub fn text(file: &ModelFile, most: usize) -> String {
    let (model, training) = (&file.model, &file.training);
    let whitening = model.whitening();
    let mut lines = vec![format!(
        "{} rows × {} columns in {} dimensions{}, {} learner, {}",
        grouped(training.evaluation.rows),
        file.names.len(),
        whitening.dims(),
        match whitening.rest() {
            Rest::Noise { .. } =>
                format!(" ({:.1} % of the variance)", 100.0 * whitening.kept_variance()),
            _ => String::new(),
        },
        file.settings.learner.name(),
        duration(training.seconds),
    )];
    lines.push(String::new());
    if file.state.experts.is_empty() {
        lines.push("No experts: nothing was found beyond a Gaussian.".into());
    } else {
        lines.extend(experts(file, most));
        lines.push(String::new());
        lines.extend(columns(file, most));
        let more = file.state.experts.len().saturating_sub(most);
        if more > 0 {
            lines.push(format!("… and {more} more: `upoe inspect` shows them all"));
        }
    }
    lines.extend(layers::text(file));
    lines.push(String::new());
    lines.extend(likelihoods(file));
    lines.push(String::new());
    lines.extend(wrapped(&format!("Stopped because {}.", file.stop), 80));
    for notice in notices(file) {
        lines.extend(wrapped(&format!("Note: {notice}."), 80));
    }
    lines.join("\n") + "\n"
}

fn experts(file: &ModelFile, most: usize) -> Vec<String> {
    let tested = file.state.experts.iter().any(|learned| learned.p_value.is_some());
    let mut table = if tested {
        TextTable::new(&["expert", "gain", "p", "family", "what it found"])
    } else {
        TextTable::new(&["expert", "gain", "family", "what it found"])
    };
    for (j, learned) in file.state.experts.iter().enumerate().take(most) {
        let mut cells = vec![(j + 1).to_string(), format!("{:.4}", learned.gain)];
        if tested {
            cells.push(learned.p_value.map_or("–".into(), probability));
        }
        cells.push(learned.expert().family().name().into());
        let blank = vec![String::new(); cells.len()];
        for (line, said) in
            wrapped(&Finding::of(learned.expert()).to_string(), 44).into_iter().enumerate()
        {
            let mut row = if line == 0 { cells.clone() } else { blank.clone() };
            row.push(said);
            table.row(row);
        }
    }
    let mut lines = table.lines();
    lines.push("gain: what the expert adds to the mean ln p, in nats per row".into());
    lines
}

/// A p-value in few characters.
pub fn probability(p: f64) -> String {
    if p < 1e-3 { "<0.001".into() } else { format!("{p:.3}") }
}

/// The columns that move most with each z, by correlation, then those that count most in its filter.
fn columns(file: &ModelFile, most: usize) -> Vec<String> {
    let mut lines = vec![bold("columns that move with z (correlation)")];
    for (j, correlation) in file.model.correlations().iter().enumerate().take(most) {
        lines.push(format!("{:>6}  {}", j + 1, strongest(file, correlation, 70)));
    }
    lines.push(String::new());
    lines
        .push(bold("filter: what z is made of (change of z per standard deviation of the column)"));
    for (j, filter) in file.model.filters().iter().enumerate().take(most) {
        lines.push(format!("{:>6}  {}", j + 1, strongest(file, &per_deviation(file, filter), 70)));
    }
    lines
}

/// A filter for one standard deviation of each column.
pub fn per_deviation(file: &ModelFile, filter: &[f64]) -> Vec<f64> {
    filter.iter().zip(file.model.whitening().deviations()).map(|(w, s)| w * s).collect()
}

/// The columns of the largest numbers that fit into `width` characters.
pub fn strongest(file: &ModelFile, numbers: &[f64], width: usize) -> String {
    let mut sizes: Vec<(f64, &str)> =
        numbers.iter().copied().zip(file.names.iter().map(String::as_str)).collect();
    sizes.sort_by(|(a, _), (b, _)| b.abs().total_cmp(&a.abs()));
    let mut text = String::new();
    for (size, name) in sizes.into_iter().take(8) {
        let item = format!("{} {size:+.2}", visible::short(name, 20));
        if text.chars().count() + item.chars().count() + 3 > width {
            break;
        }
        if !text.is_empty() {
            text += "   ";
        }
        text += &item;
    }
    text
}

fn likelihoods(file: &ModelFile) -> Vec<String> {
    let held_out = file.training.evaluation.holdout_rows > 0;
    let number = |x: Option<f64>| x.map_or("-inf".into(), |x| format!("{x:.4}"));
    let held = |x: &Likelihood| match x.holdout_standard_error {
        Some(error) => format!("{} ± {error:.4}", number(x.holdout)),
        None => number(x.holdout),
    };
    let training = &file.training;
    let mut rows = vec![
        [
            "in sphered space".into(),
            number(training.evaluation.log_likelihood.train),
            held(&training.evaluation.log_likelihood),
        ],
        [
            "over the columns".into(),
            number(training.evaluation.log_density.train),
            held(&training.evaluation.log_density),
        ],
    ];
    if training.evaluation.log_likelihood.train.is_none()
        && training.evaluation.log_density.train.is_some()
    {
        rows.remove(0); // Sphered rows have no missing cells.
    }
    if let Some(gain) = &training.evaluation.gain {
        let number = |x: Option<f64>| x.map_or("-inf".into(), |x| format!("{x:+.4}"));
        let held = match gain.holdout_standard_error {
            Some(error) => format!("{} ± {error:.4}", number(gain.holdout)),
            None => number(gain.holdout),
        };
        rows.push(["gain over a Gaussian".into(), number(gain.train), held]);
    } else if let Some(gain) = file.state.gain() {
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:+.4}"));
        let (train, held) = (number(Some(gain.train)), number(gain.holdout));
        rows.push(["gain over a Gaussian".into(), train, held]);
    }
    let heading = "mean ln p, nats per row";
    let mut table = if held_out {
        TextTable::new(&[heading, "train", "held out"])
    } else {
        TextTable::new(&[heading, "train"])
    };
    for [what, train, holdout] in rows {
        if held_out {
            table.row(vec![what, train, holdout]);
        } else {
            table.row(vec![what, train]);
        }
    }
    table.lines()
}

/// Text broken into lines of at most `width` characters.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last().map_or(0, |line| line.chars().count());
        if line > 0 && line + 1 + word.chars().count() > width {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

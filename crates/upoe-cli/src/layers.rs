//! What the layers of a stack and the members of a pool say: for people, and as JSON.

use serde_json::{Value, json};
use upoe::{Choice, Stack};
use upoe_file::ModelFile;
use upoe_report::{layer_kind, layer_words, member_words, says};

use crate::describe::{probability, wrapped};
use crate::table::TextTable;
use crate::visible;

/// The keys that stacks and pools add to the model's JSON object.
pub fn json(file: &ModelFile) -> Vec<(&'static str, Value)> {
    let quality = ("quality", json!(file.settings.quality().name()));
    let Some(stack) = &file.stack else { return vec![quality] };
    let layers: Vec<Value> = (stack.layers().iter().zip(&file.layers))
        .map(|(layer, record)| {
            let experts: Vec<Value> = (record.gains.iter().zip(&record.p_values).zip(says(layer)))
                .map(|((gain, p), says)| json!({ "gain": gain, "p_value": p, "says": says }))
                .collect();
            json!({
                "kind": layer_kind(layer),
                "gain": record.gain(),
                "holdout_gain": record.holdout,
                "experts": experts,
            })
        })
        .collect();
    let mut keys = vec![
        quality,
        ("depth", json!(stack.layers().len())),
        ("layers", json!(layers)),
        ("column_experts", json!(column_experts(file, stack))),
        ("gain", json!(file.training.evaluation.gain)),
    ];
    if let Some(pool) = &file.pool {
        let members = pool.members().iter().zip(pool.shares());
        let members: Vec<Value> = members
            .map(|(member, share)| {
                let mut out = json!({
                    "share": share,
                    "kind": if member.mixture().is_some() { "mixture" } else { "stack" },
                    "column_experts": column_experts(file, member.stack()).len(),
                });
                match member.mixture() {
                    Some(mixture) => {
                        out["components"] = json!(mixture.count());
                        let degrees = Some(mixture.degrees()).filter(|nu| nu.is_finite());
                        out["degrees_of_freedom"] = json!(degrees);
                    }
                    None => out["layers"] = json!(member.stack().layers().len()),
                }
                out
            })
            .collect();
        keys.push(("pool", json!(members)));
    }
    keys
}

/// The layers and members for people.
pub fn text(file: &ModelFile) -> Vec<String> {
    let Some(stack) = &file.stack else { return Vec::new() };
    let mut lines = vec![String::new()];
    if stack.layers().is_empty() {
        lines.push("No layers: nothing was found beyond a Gaussian.".into());
    } else {
        lines.extend(layer_table(file, stack));
    }
    let columns = column_experts(file, stack);
    if !columns.is_empty() {
        let names: Vec<String> = columns.iter().map(|name| visible::short(name, 20)).collect();
        let said =
            format!("Before the first layer these columns have experts: {}", names.join(", "));
        lines.extend(wrapped(&said, 80));
    }
    if let Some(pool) = &file.pool {
        lines.push(String::new());
        let mut table = TextTable::new(&["share", "member of the pool"]);
        for (member, share) in pool.members().iter().zip(pool.shares()) {
            table.row(vec![format!("{:.1} %", 100.0 * share), member_words(member)]);
        }
        lines.extend(table.lines());
        lines.push("share: of the mass; rows held out decided".into());
    }
    lines
}

fn layer_table(file: &ModelFile, stack: &Stack) -> Vec<String> {
    let held = file.layers.iter().any(|record| record.holdout.is_some());
    let mut heading = vec!["layer", "gain", "p", "what it found"];
    if held {
        heading.insert(2, "held out");
    }
    let mut table = TextTable::new(&heading);
    for (l, (layer, record)) in stack.layers().iter().zip(&file.layers).enumerate() {
        let mut cells = vec![(l + 1).to_string(), format!("{:.4}", record.gain())];
        if held {
            cells.push(record.holdout.map_or("–".into(), |gain| format!("{gain:.4}")));
        }
        let p = record.p_values.iter().flatten().copied().reduce(f64::min);
        cells.push(p.map_or("–".into(), probability));
        let blank = vec![String::new(); cells.len()];
        for (line, said) in wrapped(&layer_words(layer), 44).into_iter().enumerate() {
            let mut row = if line == 0 { cells.clone() } else { blank.clone() };
            row.push(said);
            table.row(row);
        }
    }
    let mut lines = table.lines();
    lines.push("gain: what the layer adds to the mean ln p; p: the smallest of its experts".into());
    lines
}

/// The names of the columns that have experts before the first layer.
fn column_experts<'a>(file: &'a ModelFile, stack: &Stack) -> Vec<&'a str> {
    let named = file.names.iter().zip(stack.column_experts());
    named.filter(|(_, expert)| expert.is_some()).map(|(name, _)| name.as_str()).collect()
}

//! The page of a comparison: the answer, and a picture of every change. It needs no script.

use upoe::compare::{Change, Comparison, Kind, Place};

use crate::figure::{Axes, Colour, Figure, Ink, Key, Labels, legend};
use crate::finding::{capitalised, thousands};
use crate::html::text;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;\
    color:#202020;background:#fff;overflow-wrap:anywhere}h1{font-size:1.5rem;line-height:1.25}\
    h2{font-size:1.1rem;line-height:1.35;margin:0 0 .3rem}section{margin:2.2rem 0;break-inside:avoid}\
    figure{margin:.6rem 0 0}svg{display:block;width:100%;max-width:38rem;height:auto}.small{color:#555;margin:0}\
    table{border-collapse:collapse;margin-top:1rem}\
    th{white-space:nowrap}td,th{padding:.15rem .8rem .15rem 0;text-align:left;vertical-align:top}\
    @media screen and (prefers-color-scheme:dark){body{color:#e9e7e2;background:#131518}.small{color:#a2a9b3}\
    svg{border-radius:8px}}@media print{body{font-size:10.5pt;margin:0;max-width:none}svg{max-width:30rem}}";

/// Writes a comparison as one HTML file that needs no network, no script and no other file. `row` gives the number
/// that a row of B has for its readers.
pub fn comparison_html(title: &str, compared: &Comparison, row: &dyn Fn(usize) -> u64) -> String {
    let (title, answer) = (text(title), text(&compared.answer()));
    let mut body = format!("<h1>{answer}</h1>\n<p class=\"small\">{title}</p>\n");
    for note in &compared.notes {
        body += &format!("<p><strong>Note:</strong> {}</p>\n", text(note));
    }
    body += "<table>\n";
    let mut line =
        |name: &str, value: String| body += &format!("<tr><th>{name}</th><td>{value}</td></tr>\n");
    line(
        "rows",
        format!("{} of A, {} of B", thousands(compared.rows_a), thousands(compared.rows_b)),
    );
    if let Some(drop) = compared.drop {
        let lower = if drop.nats >= 0.0 { "lower" } else { "higher" };
        let figure = format!(
            "{:.3} ± {:.3} nats per row {lower} in B than in A, under a model of A (p = {:.3})",
            drop.nats.abs(),
            drop.standard_error,
            drop.p_value
        );
        line("mean ln p", figure);
    }
    if compared.exchanges > 0 {
        line("tested by", format!("{} exchanges of rows between A and B", compared.exchanges));
    }
    body += "</table>\n";
    for (i, change) in compared.changes.iter().enumerate() {
        let rows: Vec<String> = change.rows.iter().map(|i| row(*i).to_string()).collect();
        body += &format!(
            "<section>\n<h2>{}. {}</h2>\n<p class=\"small\">p = {:.3}; most in rows {} of B</p>\n\
             <figure role=\"img\" aria-label=\"Histograms of A and of B: {}\">{}</figure>\n</section>\n",
            i + 1,
            text(&capitalised(&change.sentence)),
            change.p_value,
            rows.join(", "),
            text(&label(change)),
            picture(change).svg()
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"upoe {}\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The values of A and of B that changed, as two histograms.
fn picture(change: &Change) -> Figure {
    const BINS: usize = 40;
    let mut all: Vec<f64> =
        change.a.iter().chain(&change.b).copied().filter(|x| x.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let at = |share: f64| all.get((share * all.len() as f64) as usize).copied().unwrap_or(0.0);
    // Single rows far out are counted at the edges.
    let (low, high) = (at(0.002), at(0.998));
    let width = ((high - low) / BINS as f64).max(f64::MIN_POSITIVE);
    let heights = |values: &[f64]| {
        let mut heights = vec![0.0; BINS];
        for x in values {
            let bin = ((x - low) / width).clamp(0.0, BINS as f64 - 1.0) as usize;
            heights[bin] += 100.0 / values.len() as f64;
        }
        heights
    };
    let (a, b) = (heights(&change.a), heights(&change.b));
    let top = a.iter().chain(&b).fold(0.0, |m: f64, h| m.max(*h));
    let mut figure = Figure::new(400.0, 230.0);
    let label = label(change);
    let labels = Labels { x: &label, y: "% of rows", ..Labels::default() };
    let scales = ((low, low + width * BINS as f64), (0.0, 1.08 * top));
    let axes = Axes::new(&mut figure, (44.0, 26.0), (346.0, 158.0), scales, labels);
    axes.bars(&mut figure, (low, width), &a, Colour::PALE);
    let edge = |i: usize| low + width * i as f64;
    let steps: Vec<(f64, f64)> =
        b.iter().enumerate().flat_map(|(i, h)| [(edge(i), *h), (edge(i + 1), *h)]).collect();
    let ink = Ink::solid(Colour::RED, 1.6);
    axes.curve(&mut figure, &steps, ink);
    legend(&mut figure, (44.0, 6.0), &[Key::area("A", Colour::PALE)]);
    legend(&mut figure, (104.0, 6.0), &[Key::line("B", ink)]);
    figure
}

/// What the values are.
fn label(change: &Change) -> String {
    match &change.place {
        Place::Column { column } => column.clone(),
        Place::Given { column, given } => {
            format!("{column}, less what {} and others say of it", given.join(", "))
        }
        Place::Along { columns, weights, .. } => {
            let terms: Vec<String> = columns
                .iter()
                .zip(weights)
                .map(|(c, w)| format!("{w:+.2} {c}").replace('-', "−"))
                .collect();
            format!("{}, in deviations of A", terms.join(" "))
        }
        Place::Pair { columns: [a, b] } if change.kind == Kind::Correlation => {
            format!("normal score of {a} times that of {b}")
        }
        Place::Group { name, .. } => format!("from the other rows to “{name}”"),
        _ => "distance from the centre".to_owned(),
    }
}

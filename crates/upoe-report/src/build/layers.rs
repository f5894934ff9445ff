//! What each layer adds, and the pictures of radial experts.

use rayon::prelude::*;
use upoe::{Layer, Radial};

use super::{Input, histogram};
use crate::page::{ShownLayer, ShownLayers, ShownMember, ShownRadial};
use crate::{Curve, Histogram, layer_kind, layer_words, member_words};

/// Points of a curve.
const POINTS: usize = 301;

/// The layers, where there is a stack; `shown` are the rows on the page.
pub(super) fn layers(input: &Input, shown: &[usize]) -> Option<ShownLayers> {
    let stack = input.fitted.stack?;
    let named = input.names.iter().zip(stack.column_experts());
    let column_experts = named.filter(|(_, e)| e.is_some()).map(|(name, _)| name.clone()).collect();
    let radial: Vec<&Radial> = stack
        .layers()
        .iter()
        .filter_map(|layer| match layer {
            Layer::Radial(radial) => Some(radial),
            _ => None,
        })
        .collect();
    // One list of distances for each radial expert.
    let mut distances = vec![Vec::new(); radial.len()];
    if !radial.is_empty() {
        let of_row = |i: usize| stack.times_as_far(&input.rows.row(i));
        let rows: Vec<Vec<f64>> = (0..input.rows.len()).into_par_iter().map(of_row).collect();
        for (k, list) in distances.iter_mut().enumerate() {
            *list = rows.iter().map(|times| times[k].log2()).collect();
        }
    }
    let mut pictures = radial.into_iter().zip(distances).map(|(radial, distances)| {
        let histogram = histogram::histogram(&histogram::sorted(&distances));
        ShownRadial {
            dims: radial.dims(),
            curve: curve(radial, &histogram),
            histogram,
            values: shown.iter().map(|&row| distances[row]).collect(),
        }
    });
    let layers =
        stack.layers().iter().zip(&input.training.layers).map(|(layer, record)| ShownLayer {
            kind: layer_kind(layer).to_owned(),
            words: layer_words(layer),
            gain: record.gain(),
            holdout: record.holdout,
            p_value: record.p_values.iter().flatten().copied().reduce(f64::min),
            radial: matches!(layer, Layer::Radial(_)).then(|| pictures.next()).flatten(),
        });
    let layers = layers.collect();
    let members = input.fitted.pool.map_or(Vec::new(), |pool| {
        let each = pool.members().iter().zip(pool.shares());
        each.map(|(m, share)| ShownMember { share: *share, words: member_words(m) }).collect()
    });
    Some(ShownLayers { column_experts, layers, members })
}

/// The densities of the distance in doublings.
fn curve(radial: &Radial, histogram: &Histogram) -> Curve {
    let span = histogram.width * histogram.counts.len() as f64;
    let (from, to) = (histogram.from - 0.04 * span, histogram.from + 1.04 * span);
    let at = |i: usize| {
        let doublings = from + (to - from) * i as f64 / (POINTS - 1) as f64;
        radial.ln_densities(doublings.exp2()).map(|ln_p| ln_p.exp() * std::f64::consts::LN_2)
    };
    let both: Vec<[f64; 2]> = (0..POINTS).map(at).collect();
    Curve {
        from,
        to,
        fitted: both.iter().map(|b| b[0]).collect(),
        gaussian: both.iter().map(|b| b[1]).collect(),
        components: Vec::new(),
    }
}

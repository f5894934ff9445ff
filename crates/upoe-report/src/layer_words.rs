//! What layers and members of pools are, in words.

use upoe::{Layer, Member};

use crate::{Finding, radial_words};

/// What a layer found: "radial, 63 dimensions: …", "3 directions; the first: two humps".
pub fn layer_words(layer: &Layer) -> String {
    let found = says(layer);
    match (layer, &found[..]) {
        (Layer::Radial(radial), [says, ..]) => {
            format!("radial, {} dimensions: {says}", radial.dims())
        }
        (_, [only]) => format!("one direction: {only}"),
        (_, [first, ..]) => format!("{} directions; the first: {first}", found.len()),
        _ => "nothing".into(),
    }
}

/// What a member of a pool is: "stack of 3 layers", "mixture of 8 components, Student-t with 4".
pub fn member_words(member: &Member) -> String {
    let what = match member.mixture() {
        Some(mixture) => {
            let components = match mixture.count() {
                1 => "one component".to_owned(),
                count => format!("{count} components"),
            };
            match mixture.degrees() {
                nu if nu.is_finite() => format!("mixture of {components}, Student-t with {nu}"),
                _ => format!("mixture of {components}, Gaussian"),
            }
        }
        None => match member.stack().layers().len() {
            1 => "stack of one layer".to_owned(),
            layers => format!("stack of {layers} layers"),
        },
    };
    match member.stack().column_experts().iter().flatten().count() {
        0 => what,
        1 => format!("{what}, one column expert first"),
        columns => format!("{what}, {columns} column experts first"),
    }
}

/// The kind of a layer: "radial" or "directions".
pub fn layer_kind(layer: &Layer) -> &'static str {
    match layer {
        Layer::Radial(_) => "radial",
        _ => "directions",
    }
}

/// What each expert of a layer found.
pub fn says(layer: &Layer) -> Vec<String> {
    match layer {
        Layer::Directions(layer) => {
            layer.experts().map(|expert| Finding::of(expert).to_string()).collect()
        }
        Layer::Radial(radial) => vec![radial_words(radial)],
        _ => Vec::new(),
    }
}

//! Stacks and pools in a file: experts in the header, directions, whitenings and mixtures as arrays.

use serde_json::{Value, json};
use upoe::expert::{Expert, Marginal};
use upoe::t_mixture::TMixture;
use upoe::{
    Layer, LayerParts, Member, Model, Placed, PlacedParts, Pool, RadialParts, Stack, Whitening,
};

use crate::container::{Array, Container};
use crate::error::{Error, Result};
use crate::model_file::{get, value};
use crate::whitening::{self, finite};

/// Adds the arrays of a stack, each under a name with this prefix; returns what the header has of it. A
/// whitening that is the model's is not written again.
pub fn write_stack(
    stack: &Stack,
    model: &Model,
    prefix: &str,
    arrays: &mut Vec<Array>,
) -> Result<Value> {
    let columns: Vec<Option<PlacedParts>> =
        stack.column_experts().iter().map(|c| c.as_ref().map(Placed::parts)).collect();
    let sphering = match same(stack.whitening(), model.whitening()) {
        true => Value::Null,
        false => whitening::write(stack.whitening(), prefix, arrays)?,
    };
    let mut layers = Vec::new();
    for (l, layer) in stack.layers().iter().enumerate() {
        let mut add = |directions: &[Vec<f64>]| {
            let shape = vec![directions.len(), stack.whitening().dims()];
            let name = format!("{prefix}layer{}", l + 1);
            arrays.push(Array { name, shape, values: directions.concat() });
        };
        layers.push(match layer.parts() {
            LayerParts::Directions { directions, experts } => {
                add(&directions);
                json!({ "layer": "directions", "experts": value(&experts)? })
            }
            LayerParts::Radial(RadialParts { outside, expert }) => {
                add(&outside);
                json!({ "layer": "radial", "expert": value(&expert)? })
            }
            _ => return Err(Error::BadContainer { reason: "a layer has no stored form" }),
        });
    }
    Ok(json!({ "columns": value(&columns)?, "whitening": sphering, "layers": layers }))
}

/// The stack of a prefix.
pub fn read_stack(
    container: &Container,
    header: &Value,
    model: &Model,
    prefix: &str,
) -> Option<Stack> {
    let columns: Vec<Option<PlacedParts>> = get(header, "columns")?;
    let columns: Vec<Option<Placed>> = columns
        .into_iter()
        .map(|c| match c {
            Some(parts) => sound(&parts.expert).then(|| Placed::from_parts(parts).ok())?.map(Some),
            None => Some(None),
        })
        .collect::<Option<_>>()?;
    let sphering = match header.get("whitening")? {
        Value::Null => model.whitening().clone(),
        about => whitening::read(container, about, prefix, model.whitening().columns())?,
    };
    let dims = sphering.dims();
    let layers = header.get("layers")?.as_array()?.iter().enumerate().map(|(l, layer)| {
        let name = format!("{prefix}layer{}", l + 1);
        let count = *container.array(&name)?.shape.first()?;
        let directions = finite(container, &name, &[count, dims])?;
        let directions = directions.chunks_exact(dims).map(<[f64]>::to_vec).collect();
        let parts = match layer.get("layer")?.as_str()? {
            "directions" => {
                let experts: Vec<Expert> = get(layer, "experts")?;
                if !experts.iter().all(sound) {
                    return None;
                }
                LayerParts::Directions { directions, experts }
            }
            "radial" => {
                let expert: PlacedParts = get(layer, "expert")?;
                if !sound(&expert.expert) {
                    return None;
                }
                LayerParts::Radial(RadialParts { outside: directions, expert })
            }
            _ => return None,
        };
        Layer::from_parts(parts, dims).ok()
    });
    Stack::new(columns, sphering, layers.collect::<Option<_>>()?).ok()
}

/// Adds the arrays of a pool; returns what the header has of it.
pub fn write_pool(pool: &Pool, model: &Model, arrays: &mut Vec<Array>) -> Result<Value> {
    let mut members = Vec::new();
    for (m, (member, share)) in pool.members().iter().zip(pool.shares()).enumerate() {
        let prefix = format!("member{}.", m + 1);
        let stack = write_stack(member.stack(), model, &prefix, arrays)?;
        let mixture = member.mixture().map(|t| write_mixture(t, &prefix, arrays));
        members.push(json!({ "share": share, "stack": stack, "mixture": mixture }));
    }
    Ok(json!(members))
}

/// The pool of a file.
pub fn read_pool(container: &Container, header: &Value, model: &Model) -> Option<Pool> {
    let (mut members, mut shares) = (Vec::new(), Vec::new());
    for (m, member) in header.as_array()?.iter().enumerate() {
        let prefix = format!("member{}.", m + 1);
        let stack = read_stack(container, member.get("stack")?, model, &prefix)?;
        let mixture = match member.get("mixture")? {
            Value::Null => None,
            about => Some(read_mixture(container, about, &prefix, stack.whitening().dims())?),
        };
        members.push(Member::new(stack, mixture).ok()?);
        shares.push(get(member, "share")?);
    }
    Pool::new(members, shares).ok()
}

fn write_mixture(mixture: &TMixture, prefix: &str, arrays: &mut Vec<Array>) -> Value {
    let (k, d) = (mixture.count(), mixture.dims());
    let mut add = |name: &str, shape: &[usize], values: Vec<f64>| {
        arrays.push(Array { name: format!("{prefix}{name}"), shape: shape.to_vec(), values });
    };
    add("weights", &[k], mixture.weights().to_vec());
    add("means", &[k, d], (0..k).flat_map(|k| mixture.mean(k).to_vec()).collect());
    let covariances = (0..k).flat_map(|k| mixture.covariance(k).to_vec()).collect();
    add("covariances", &[k, d, d], covariances);
    // JSON has no infinity: Gaussians have no degrees of freedom.
    json!({ "degrees": Some(mixture.degrees()).filter(|nu| nu.is_finite()) })
}

fn read_mixture(container: &Container, about: &Value, prefix: &str, d: usize) -> Option<TMixture> {
    let name = |name: &str| format!("{prefix}{name}");
    let k = *container.array(&name("weights"))?.shape.first()?;
    let degrees: Option<f64> = get(about, "degrees")?;
    TMixture::from_parts(
        d,
        degrees.unwrap_or(f64::INFINITY),
        finite(container, &name("weights"), &[k])?,
        finite(container, &name("means"), &[k, d])?,
        finite(container, &name("covariances"), &[k, d, d])?,
    )
    .ok()
}

/// Whether an expert of a stranger can be used.
pub fn sound(expert: &Expert) -> bool {
    expert.ln_density(0.0).is_finite()
}

/// Whether two whitenings are the same to the bit.
fn same(a: &Whitening, b: &Whitening) -> bool {
    let numbers = |w: &Whitening| (w.ln_det(), w.rank(), w.kept_variance(), w.rest());
    a.mean() == b.mean()
        && a.matrix() == b.matrix()
        && a.inverse() == b.inverse()
        && a.deviations() == b.deviations()
        && numbers(a) == numbers(b)
}

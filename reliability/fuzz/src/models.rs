//! Valid models of every kind, and their fields replaced under a right checksum.

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use upoe::evaluate::Evaluation;
use upoe::expert::Family;
use upoe::{Dims, Rows, Settings, Stop, fit};
use upoe_file::{Container, ModelFile, Training};

use crate::number;

const COLUMNS: usize = 3;

/// Cubes of something like noise: heavy tails along every axis.
fn values(copied: bool) -> Vec<f64> {
    let noise = |k: usize| (12.9898 * (k + 1) as f64).sin() + (78.233 * (k + 1) as f64).cos();
    let row = |i: usize| [noise(3 * i).powi(3), noise(3 * i + 1).powi(5), noise(3 * i + 2)];
    (0..60).map(row).flat_map(|[a, b, c]| [a, b, if copied { a } else { c }]).collect()
}

/// Models of each family, of no expert, in all dimensions, in fewer, and in a subspace.
pub fn models() -> &'static [Container] {
    static MODELS: OnceLock<Vec<Container>> = OnceLock::new();
    let of = |experts: usize, family: Family, dims: Dims, copied: bool| {
        let values = values(copied);
        let rows = Rows::new(&values, COLUMNS).expect("whole rows");
        let settings = Settings::default().with(|s| {
            (s.families, s.dims) = (family.into(), dims);
            (s.stop, s.experts, s.starts) = (Some(Stop::Train), Some(experts), Some(2));
        });
        let fitted = fit(&rows, &settings).expect("a fit");
        let evaluation = Evaluation::of(&fitted.model, &rows, None).expect("as the fit");
        let training = Training::new(evaluation, 1.0, &settings);
        let names = ["a", "b", "c"].map(String::from).to_vec();
        ModelFile::new(fitted, names, settings, training).to_container().expect("a file")
    };
    MODELS.get_or_init(|| {
        vec![
            of(2, Family::StudentT, Dims::All, false),
            of(2, Family::Mixture, Dims::Count(2), false),
            of(2, Family::Tilt, Dims::All, true),
            of(1, Family::Mixture, Dims::All, true),
            of(0, Family::StudentT, Dims::Count(1), false),
        ]
    })
}

/// One of the models with up to four of its fields and arrays changed.
pub fn changed(u: &mut Unstructured) -> Result<Container> {
    let mut container = u.choose(models())?.clone();
    for _ in 0..u.int_in_range(1..=4)? {
        if u.ratio(2, 3)? {
            change_header(u, &mut container.header)?;
        } else {
            change_array(u, &mut container)?;
        }
    }
    Ok(container)
}

/// The paths of all values below one, as JSON pointers.
fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, v)| paths(v, &format!("{at}/{}", escaped(key)), out));
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| paths(v, &format!("{at}/{i}"), out));
        }
        _ => {}
    }
}

/// Replaces one value of the header, most often by one of its own type.
fn change_header(u: &mut Unstructured, header: &mut Value) -> Result<()> {
    let mut all = Vec::new();
    paths(header, "", &mut all);
    let path = u.choose(&all)?.clone();
    let other = match u.int_in_range(0..=9)? {
        // what another field holds, or the same field of another model
        0 => header.pointer(u.choose(&all)?).cloned(),
        1 => u.choose(models())?.header.pointer(&path).cloned(),
        _ => None,
    };
    let was = header.pointer_mut(&path).expect("a path of this header");
    let new = match other {
        Some(value) => value,
        None => replacement(u, was)?,
    };
    *was = new;
    Ok(())
}

fn replacement(u: &mut Unstructured, was: &Value) -> Result<Value> {
    let any = u.ratio(1, 6)?;
    Ok(match was {
        Value::Number(n) if !any => match u.int_in_range(0..=2)? {
            0 => json!(u.arbitrary::<u64>()?),
            1 => json!(u.arbitrary::<i8>()?),
            _ => json!(number(u, n.as_f64().unwrap_or(0.0), false)?),
        },
        Value::String(_) if !any => match u.int_in_range(0..=2)? {
            0 => json!("\u{1b}[31m\u{7}\n\u{202e}</script>"),
            1 => json!("x".repeat(usize::from(u.arbitrary::<u16>()?))),
            _ => json!(u.arbitrary::<&str>()?),
        },
        Value::Bool(b) if !any => json!(!b),
        Value::Array(list) if !any => changed_list(u, list)?,
        Value::Object(map) if !any && !map.is_empty() => {
            let mut map = map.clone();
            let keys: Vec<String> = map.keys().cloned().collect();
            let key = u.choose(&keys)?;
            let value = map.remove(key);
            if let (true, Some(value)) = (u.arbitrary()?, value) {
                map.insert(u.choose(&keys)?.clone(), value);
            }
            Value::Object(map)
        }
        _ => match u.int_in_range(0..=6)? {
            0 => Value::Null,
            1 => json!([]),
            2 => json!({}),
            3 => json!(u.arbitrary::<bool>()?),
            4 => json!(number(u, 1.0, false)?),
            5 => json!(u.arbitrary::<&str>()?),
            _ => json!([number(u, 1.0, false)?, number(u, 1.0, false)?]),
        },
    })
}

/// Fewer entries, more of them (up to 300 times as many), or another order.
fn changed_list(u: &mut Unstructured, list: &[Value]) -> Result<Value> {
    let mut list = list.to_vec();
    match u.int_in_range(0..=2)? {
        0 => list.truncate(u.int_in_range(0..=list.len())?),
        1 => {
            let times = u.int_in_range(2..=300)?;
            list = list.iter().cycle().take(times * list.len()).cloned().collect();
        }
        _ => list.reverse(),
    }
    Ok(Value::Array(list))
}

/// Changes numbers, the shape or the name of an array, or leaves it out.
fn change_array(u: &mut Unstructured, container: &mut Container) -> Result<()> {
    if container.arrays.is_empty() {
        return Ok(());
    }
    let k = u.choose_index(container.arrays.len())?;
    let array = &mut container.arrays[k];
    match u.int_in_range(0..=7)? {
        0 => array.values.fill(number(u, 1.0, true)?),
        1 => {
            let factor = number(u, 1.0, true)?;
            array.values.iter_mut().for_each(|value| *value *= factor);
        }
        2 => {
            array.shape = (0..u.int_in_range(0..=3)?)
                .map(|_| u.int_in_range(0..=6))
                .collect::<Result<_>>()?;
            array.values.resize(array.shape.iter().product(), 1.0);
        }
        3 => {
            container.arrays.remove(k);
        }
        _ if !array.values.is_empty() => {
            let i = u.choose_index(array.values.len())?;
            array.values[i] = number(u, array.values[i], true)?;
        }
        _ => {}
    }
    Ok(())
}

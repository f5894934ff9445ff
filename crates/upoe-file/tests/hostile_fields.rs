//! Models from a stranger: every number, text, array and key of a valid file replaced, under a
//! right checksum. Such a file is refused, or it scores, explains, draws and describes itself.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use upoe::evaluate::Evaluation;
use upoe::expert::{Family, Marginal};
use upoe::{Dims, Rows, Settings, Stop, fit};
use upoe_file::{Container, ModelFile, Training};

const COLUMNS: usize = 3;

/// Numbers that may hurt.
const NUMBERS: [f64; 12] =
    [0.0, -1.0, 0.5, 3.0, 1e9, 1e17, 1e308, -1e308, 1e-308, 1e-320, 5e-324, f64::MAX];

/// Cubes of something like noise: heavy tails along every axis.
fn values(copied: bool) -> Vec<f64> {
    let noise = |k: usize| (12.9898 * (k + 1) as f64).sin() + (78.233 * (k + 1) as f64).cos();
    let row = |i: usize| [noise(3 * i).powi(3), noise(3 * i + 1).powi(5), noise(3 * i + 2)];
    (0..60).map(row).flat_map(|[a, b, c]| [a, b, if copied { a } else { c }]).collect()
}

/// A valid model of each kind.
fn models() -> Vec<Container> {
    let of = |family: Family, dims: Dims, copied: bool| {
        let values = values(copied);
        let rows = Rows::new(&values, COLUMNS).unwrap();
        let settings = Settings::default().with(|s| {
            (s.families, s.dims) = (family.into(), dims);
            (s.stop, s.experts, s.starts) = (Some(Stop::Train), Some(2), Some(4));
        });
        let fitted = fit(&rows, &settings).unwrap();
        let training =
            Training::new(Evaluation::of(&fitted.model, &rows, None).unwrap(), 1.0, &settings);
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let file = ModelFile::new(fitted, names, settings, training);
        assert!(!file.state.experts.is_empty());
        file.to_container().unwrap()
    };
    vec![
        of(Family::StudentT, Dims::All, false),
        of(Family::Mixture, Dims::Count(2), false),
        of(Family::Tilt, Dims::All, true),
    ]
}

/// A stack with column experts, one with a radial expert, and a pool.
fn deep_models() -> Vec<Container> {
    let noise = |k: usize| (12.9898 * (k + 1) as f64).sin() + (78.233 * (k + 1) as f64).cos();
    let of = |radial: bool, pool: bool| {
        let row = |i: usize| {
            let scale = if radial { noise(7 * i + 5).powi(2) } else { 1.0 };
            let [a, b, c] = [noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)];
            [scale * a, scale * (b + if radial { 0.0 } else { a * a }), scale * c.exp()]
        };
        let values: Vec<f64> = (0..120).flat_map(row).collect();
        let rows = Rows::new(&values, COLUMNS).unwrap();
        let settings = Settings::default().with(|s| (s.depth, s.pool) = (Some(2), pool));
        let fitted = fit(&rows, &settings).unwrap();
        let training = Training::new(fitted.evaluate(&rows, None).unwrap(), 1.0, &settings);
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let file = ModelFile::new(fitted, names, settings, training);
        assert!(!file.layers.is_empty() && file.pool.is_some() == pool);
        file.to_container().unwrap()
    };
    vec![of(false, false), of(true, false), of(false, true)]
}

/// Writes the container with its checksum, reads it back, and uses what was read. Returns whether
/// it loads.
fn survives(container: &Container, what: &str) -> bool {
    let start = Instant::now();
    let bytes = container.to_bytes().unwrap();
    let path = Path::new("m.upoe");
    let read = Container::from_bytes(&bytes, path)
        .and_then(|container| ModelFile::from_container(&container, path));
    let loads = read.is_ok();
    match read {
        Err(error) => assert!(error.to_string().starts_with("m.upoe: "), "{what}: {error}"),
        Ok(file) => use_it(&file, what),
    }
    // On a quiet machine all of them take milliseconds.
    assert!(start.elapsed() < Duration::from_secs(10), "{what}: {:?}", start.elapsed());
    loads
}

fn use_it(file: &ModelFile, what: &str) {
    let model = &file.model;
    let columns = model.whitening().columns();
    let mean = model.whitening().mean().to_vec();
    let far = |size: f64| mean.iter().map(|m| (m + size).clamp(-f64::MAX, f64::MAX)).collect();
    let table: Vec<Vec<f64>> = vec![mean.clone(), far(1.0), far(-1e9), far(1e160), far(-f64::MAX)];
    let flat = table.concat();
    let rows = Rows::new(&flat, columns).unwrap();
    let scores = model.score(&rows).unwrap();
    assert_eq!(model.transform(&rows).unwrap().len(), rows.len() * model.experts().len());
    for (row, score) in table.iter().zip(scores) {
        let (alone, why) = (model.ln_p(row).unwrap(), model.explain(row).unwrap());
        assert!(![score, alone, why.ln_p].iter().any(|p| p.is_nan()), "{what}: {score} {alone}");
        let parts = why.experts_by_column.iter().flatten().chain(&why.rest_by_column);
        assert!(parts.chain(&why.experts).all(|p| !p.is_nan()), "{what}: {why:?}");
    }
    assert_eq!(model.sample(3, 1).len(), 3 * columns);
    let density = file.density();
    let scores = density.score(&rows).unwrap();
    assert!(!scores.iter().any(|p| p.is_nan()), "{what}: {scores:?}");
    assert_eq!(density.sample(3, 1).len(), 3 * columns);
    let _ = (model.filters(), model.patterns(), model.whitening().outside(&rows).unwrap());
    for expert in model.experts() {
        for z in [0.0, -1.0, 40.0, -1e160, f64::MAX, f64::INFINITY] {
            assert!((0.0..=1.0).contains(&expert.cdf(z)), "{what}: {} at {z}", expert.cdf(z));
            assert!(!expert.ln_density(z).is_nan(), "{what}: ln T at {z}");
        }
        let quantiles = [1e-300, 1e-3, 0.5, 1.0 - 1e-3].map(|p| expert.quantile(p));
        assert!(quantiles.is_sorted(), "{what}: {quantiles:?}");
        let _ = (expert.entropy(), expert.negentropy(), expert.shape(), expert.parameters());
    }
    assert!(file.to_container().is_ok(), "{what}");
    assert!(file.notices.iter().all(|notice| !notice.to_string().is_empty()));
    assert!(!file.stop.to_string().is_empty());
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

/// What may stand in the place of a value.
fn replacements(value: &Value) -> Vec<Value> {
    let hostile = ["", "\u{1b}[31m\u{7}\n\u{202e}</script>", "model", "-inf"];
    let texts = hostile.map(Value::from).into_iter().chain([Value::from("x".repeat(10_000))]);
    let numbers = NUMBERS.iter().map(|x| json!(x)).chain([json!(u64::MAX), json!(i64::MIN)]);
    let mut out: Vec<Value> = vec![Value::Null, json!([]), json!({}), json!(true)];
    match value {
        Value::Number(_) => out.extend(numbers.chain(texts.take(2))),
        Value::String(_) => out.extend(texts.chain(numbers.take(2))),
        Value::Bool(b) => out.push(json!(!b)),
        Value::Null => out.extend(numbers.chain(texts)),
        Value::Array(list) => {
            let twice = list.iter().chain(list).cloned().collect();
            let fewer = list.iter().skip(1).cloned().collect();
            out.extend([Value::Array(twice), Value::Array(fewer)]);
        }
        Value::Object(map) => out.extend(map.keys().map(|key| {
            let mut map = map.clone();
            map.remove(key);
            Value::Object(map)
        })),
    }
    out
}

#[test]
fn any_field_of_the_header_may_be_anything() {
    for container in models() {
        assert!(survives(&container, "as it was written"));
        let mut at = Vec::new();
        paths(&container.header, "", &mut at);
        let (mut loaded, mut refused) = (0, 0);
        for path in &at {
            let was = container.header.pointer(path).unwrap().clone();
            for value in replacements(&was) {
                let mut changed = container.clone();
                let what: String = format!("{path} = {value}").chars().take(200).collect();
                *changed.header.pointer_mut(path).unwrap() = value;
                *(if survives(&changed, &what) { &mut loaded } else { &mut refused }) += 1;
            }
        }
        assert!(loaded > 100 && refused > 500, "{loaded} loaded, {refused} refused");
    }
}

#[test]
fn any_number_and_shape_of_an_array_may_be_anything() {
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    for container in models() {
        for (k, array) in container.arrays.iter().enumerate() {
            let name = &array.name;
            // The first, the last and one in between.
            let count = array.values.len();
            for i in [0, count / 2, count.saturating_sub(1)].into_iter().filter(|i| *i < count) {
                for value in NUMBERS.iter().chain(&bad) {
                    let mut changed = container.clone();
                    changed.arrays[k].values[i] = *value;
                    survives(&changed, &format!("{name}[{i}] = {value}"));
                }
            }
            for value in NUMBERS {
                let mut changed = container.clone();
                changed.arrays[k].values.fill(value);
                survives(&changed, &format!("{name} = {value}"));
            }
            let mut without = container.clone();
            without.arrays.remove(k);
            survives(&without, &format!("without {name}"));
            let shapes = [vec![], vec![0], vec![count], vec![1, count], vec![count, 1], vec![0, 3]];
            for shape in shapes {
                let mut changed = container.clone();
                let cells: usize = shape.iter().product();
                changed.arrays[k].values.resize(cells, 1.0);
                changed.arrays[k].shape = shape.clone();
                survives(&changed, &format!("{name} of shape {shape:?}"));
            }
        }
    }
}

#[test]
fn layers_and_members_may_be_anything() {
    for container in deep_models() {
        assert!(survives(&container, "as it was written"));
        let mut at = Vec::new();
        for key in ["/stack", "/layers", "/pool"] {
            if let Some(part) = container.header.pointer(key) {
                paths(part, key, &mut at);
            }
        }
        // Numbers of experts are many and alike.
        let step = at.len() / 40 + 1;
        let (mut loaded, mut refused) = (0, 0);
        for path in at.iter().enumerate().filter(|(i, p)| p.len() < 30 || i % step == 0) {
            let was = container.header.pointer(path.1).unwrap().clone();
            for value in replacements(&was) {
                let mut changed = container.clone();
                let what: String = format!("{} = {value}", path.1).chars().take(200).collect();
                *changed.header.pointer_mut(path.1).unwrap() = value;
                *(if survives(&changed, &what) { &mut loaded } else { &mut refused }) += 1;
            }
        }
        assert!(refused > 200, "{loaded} loaded, {refused} refused");
        for (k, array) in container.arrays.iter().enumerate().filter(|(_, a)| a.name.contains('.'))
        {
            for value in NUMBERS.iter().chain(&[f64::NAN, f64::INFINITY]) {
                let mut changed = container.clone();
                if let Some(first) = changed.arrays[k].values.first_mut() {
                    *first = *value;
                }
                survives(&changed, &format!("{}[0] = {value}", array.name));
            }
            let mut without = container.clone();
            without.arrays.remove(k);
            assert!(!survives(&without, &format!("without {}", array.name)));
            let mut longer = container.clone();
            longer.arrays[k].values.push(1.0);
            longer.arrays[k].shape = vec![longer.arrays[k].values.len()];
            assert!(!survives(&longer, &format!("{} with another shape", array.name)));
        }
    }
}

#[test]
fn noise_of_no_dimensions_is_refused() {
    let mut container = models().remove(0);
    let rest = container.header.pointer_mut("/whitening/rest").unwrap();
    *rest = json!({"noise": {"variance": 1e308}});
    assert!(!survives(&container, "noise with as many dimensions as columns"));
}

#[test]
fn experts_that_cannot_be_described_are_refused() {
    let mixture = models().remove(1);
    let path = "/state/experts/0/expert/components";
    assert!(mixture.header.pointer(path).is_some(), "{:#}", mixture.header["state"]);
    for freedom in [1e-9, 1e-12, 1e-14, 1e-15, 1e-17, 1e-320] {
        let mut changed = mixture.clone();
        for component in changed.header.pointer_mut(path).unwrap().as_array_mut().unwrap() {
            component["degrees_of_freedom"] = json!(freedom);
        }
        assert!(!survives(&changed, &format!("{freedom} degrees of freedom")));
    }
    for (count, loads) in [(100, true), (101, false), (20_000, false)] {
        let mut changed = mixture.clone();
        let components = changed.header.pointer_mut(path).unwrap();
        *components = Value::Array(vec![components[0].clone(); count]);
        let weights = changed.header.pointer_mut("/state/experts/0/expert/weights").unwrap();
        *weights = json!(vec![1.0 / count as f64; count]);
        assert_eq!(survives(&changed, &format!("{count} components")), loads);
    }
}

//! A fitted model as a file: `docs/model-file.md` describes what is in it.

use std::collections::HashSet;
use std::path::Path;

use faer::Mat;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use upoe::evaluate::Evaluation;
use upoe::expert::{Expert, Marginal};
use upoe::{Fit, Model, Notice, Settings, State, StopReason, Whitening, WhiteningParts};

use crate::container::{Array, Container};
use crate::error::{Error, Result};

/// A fitted model and how it came about, as a file holds it.
///
/// Writing and reading again is exact to the bit. The whitening and W# are read as stored;
/// a tilt's normaliser is recomputed from its coefficients.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The model.
    pub model: Model,
    /// The names of its columns.
    pub names: Vec<String>,
    /// What the fit was asked to do.
    pub settings: Settings,
    /// The experts with their gain and p-values, and the path on which the model grew.
    pub state: State,
    /// Why no further expert was added.
    pub stop: StopReason,
    /// What a user should know.
    pub notices: Vec<Notice>,
    /// What it was trained on, and how well it did.
    pub training: Training,
}

/// What a model was trained on, and how well it did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Rows, their weight, and mean ln p.
    #[serde(flatten)]
    pub evaluation: Evaluation,
    /// How long the fit took.
    pub seconds: f64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The version of upoe that fitted it.
    pub version: String,
}

impl Training {
    /// Of a fit by this version that took so long.
    pub fn new(evaluation: Evaluation, seconds: f64, settings: &Settings) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Training { evaluation, seconds, seed: settings.seed, version }
    }
}

impl ModelFile {
    /// From a fit to columns of these names.
    pub fn new(fit: Fit, names: Vec<String>, settings: Settings, training: Training) -> Self {
        let Fit { model, state, stop, notices, .. } = fit;
        ModelFile { model, names, settings, state, stop, notices, training }
    }

    /// Writes the file; it appears under its name whole or not at all.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<()> {
        check_names(&self.names, path.as_ref())?;
        self.to_container()?.write(path)
    }

    /// Reads a file, after checking that it is whole, unaltered and a model.
    pub fn read(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::from_container(&Container::read(path)?, path)
    }

    /// The header and arrays of the file.
    pub fn to_container(&self) -> Result<Container> {
        check_names(&self.names, Path::new("the model"))?;
        let (whitening, model) = (self.model.whitening(), &self.model);
        let (columns, dims) = (whitening.columns(), whitening.dims());
        let experts = model.experts();
        let array = |name: &str, shape: &[usize], values: Vec<f64>| Array {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        };
        let mut arrays = vec![
            array("mean", &[columns], whitening.mean().to_vec()),
            array("deviations", &[columns], whitening.deviations().to_vec()),
            array("sphering", &[dims, columns], flat(whitening.matrix())),
            array("unsphering", &[columns, dims], flat(whitening.inverse())),
            array("directions", &[experts.len(), dims], model.directions().concat()),
            array("pseudo_inverse", &[dims, experts.len()], flat(model.pseudo_inverse())),
        ];
        for (j, expert) in experts.iter().enumerate() {
            let (shape, values) = parameters(expert);
            arrays.push(array(&format!("expert{}", j + 1), &shape, values));
        }
        let header = json!({
            "kind": "model",
            "columns": self.names,
            "whitening": {
                "ln_det": whitening.ln_det(),
                "rank": whitening.rank(),
                "kept_variance": whitening.kept_variance(),
                "rest": value(&whitening.rest())?,
            },
            "half_ln_gram": model.half_ln_gram(),
            "settings": value(&self.settings)?,
            "state": state_to_json(&self.state)?,
            "stop": value(&self.stop)?,
            "notices": value(&self.notices)?,
            "training": value(&self.training)?,
        });
        Ok(Container { header, arrays })
    }

    /// A model from the header and arrays of a file, which messages call `file`.
    pub fn from_container(container: &Container, file: &Path) -> Result<Self> {
        let not_model = |reason| Error::NotModel { file: file.to_owned(), reason };
        match container.header.get("kind").and_then(Value::as_str) {
            Some("model") => {}
            Some("checkpoint") => return Err(Error::IsCheckpoint { file: file.to_owned() }),
            _ => return Err(not_model("its header names no model")),
        }
        // before anything is computed whose size these numbers give
        let length = |name: &str| container.array(name)?.shape.first().copied();
        if length("directions") > length("sphering") {
            return Err(not_model("it has more directions than dimensions"));
        }
        let model = parse(container).ok_or_else(|| not_model("its parts do not fit together"))?;
        check_names(&model.names, file)?;
        Ok(model)
    }
}

/// Refuses two columns of the same name: they are matched by it.
fn check_names(names: &[String], file: &Path) -> Result<()> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        Some(name) => Err(Error::DuplicateColumn { file: file.to_owned(), name: name.clone() }),
        None => Ok(()),
    }
}

fn parse(container: &Container) -> Option<ModelFile> {
    let header = &container.header;
    let names: Vec<String> = get(header, "columns")?;
    let columns = names.len();
    let finite = |shape: &[usize], name: &str| -> Option<Vec<f64>> {
        let array = container.array(name)?;
        (array.shape == shape && array.values.iter().all(|x| x.is_finite()))
            .then(|| array.values.clone())
    };
    let matrix = |name: &str, rows: usize, columns: usize| -> Option<Mat<f64>> {
        let values = finite(&[rows, columns], name)?;
        Some(Mat::from_fn(rows, columns, |i, j| values[i * columns + j]))
    };
    let dims = *container.array("sphering")?.shape.first()?;
    let about = header.get("whitening")?;
    let whitening = WhiteningParts {
        mean: finite(&[columns], "mean")?,
        matrix: matrix("sphering", dims, columns)?,
        inverse: matrix("unsphering", columns, dims)?,
        ln_det: get(about, "ln_det")?,
        rank: get(about, "rank")?,
        kept_variance: get(about, "kept_variance")?,
        rest: get(about, "rest")?,
        deviations: finite(&[columns], "deviations")?,
    };
    let whitening = Whitening::from_parts(whitening).ok()?;
    let [count, _] = container.array("directions")?.shape[..] else { return None };
    let directions = finite(&[count, dims], "directions")?;
    let directions: Vec<Vec<f64>> = directions.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let state = state_from_json(header.get("state")?, &directions)?;
    let experts: Vec<Expert> = state.experts.iter().map(|e| e.expert().clone()).collect();
    if !experts.iter().all(|e| e.ln_density(0.0).is_finite()) {
        return None;
    }
    let pseudo_inverse = matrix("pseudo_inverse", dims, count)?;
    let half_ln_gram = get(header, "half_ln_gram")?;
    let model =
        Model::from_parts(whitening, directions, experts, pseudo_inverse, half_ln_gram).ok()?;
    Some(ModelFile {
        model,
        names,
        settings: get(header, "settings")?,
        state,
        stop: get(header, "stop")?,
        notices: get(header, "notices")?,
        training: get(header, "training")?,
    })
}

/// The state without its directions, which are an array.
pub(crate) fn state_to_json(state: &State) -> Result<Value> {
    let mut json = value(state)?;
    for expert in json.get_mut("experts").and_then(Value::as_array_mut).into_iter().flatten() {
        expert.as_object_mut().map(|expert| expert.remove("direction"));
    }
    Ok(json)
}

/// The state with its directions put back.
pub(crate) fn state_from_json(json: &Value, directions: &[Vec<f64>]) -> Option<State> {
    let mut json = json.clone();
    let experts = json.get_mut("experts")?.as_array_mut()?;
    if experts.len() != directions.len() {
        return None;
    }
    for (expert, direction) in experts.iter_mut().zip(directions) {
        let expert: &mut Map<String, Value> = expert.as_object_mut()?;
        expert.insert("direction".into(), json!(direction));
    }
    serde_json::from_value(json).ok()
}

/// An expert for readers that know nothing of its family's code: for each Student-t component
/// weight, location, scale, degrees of freedom and ln of its density at the location; for a
/// tilt each knot with ln T and its slope there, in y = 2.5 asinh(z / 2.5). Tilts of version 0.1,
/// which have Gaussian tails, are written as then: each knot with f − ln Z and its slope.
fn parameters(expert: &Expert) -> (Vec<usize>, Vec<f64>) {
    let component = |weight: f64, t: &upoe::expert::StudentT| {
        [weight, t.mu(), t.scale(), t.degrees_of_freedom(), t.ln_density(t.mu())]
    };
    match expert {
        Expert::StudentT(t) => (vec![1, 5], component(1.0, t).to_vec()),
        Expert::Mixture(mixture) => {
            let components = mixture.weights().iter().zip(mixture.components());
            let values: Vec<f64> = components.flat_map(|(w, t)| component(*w, t)).collect();
            (vec![values.len() / 5, 5], values)
        }
        Expert::Tilt(tilt) => {
            if let Some(knots) = tilt.hermite() {
                return (vec![knots.len(), 3], knots.concat());
            }
            let knots = tilt.parameters().into_iter().find(|p| p.name == "knots");
            let knots = knots.map(|p| p.values).unwrap_or_default();
            let at = |z: &f64| [*z, tilt.tilt(*z), z - tilt.energy_slope(*z)];
            (vec![knots.len(), 3], knots.iter().flat_map(at).collect())
        }
    }
}

fn flat(matrix: &Mat<f64>) -> Vec<f64> {
    (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| matrix[(i, j)])).collect()
}

pub(crate) fn value<T: Serialize>(of: &T) -> Result<Value> {
    serde_json::to_value(of)
        .map_err(|_| Error::BadContainer { reason: "a part of it has no JSON form" })
}

pub(crate) fn get<T: DeserializeOwned>(header: &Value, key: &str) -> Option<T> {
    T::deserialize(header.get(key)?).ok()
}

//! A fitted model as a file: `docs/model-file.md` describes what is in it.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use upoe::evaluate::Evaluation;
use upoe::expert::{Expert, Marginal};
use upoe::groups::Groups;
use upoe::{
    Density, Fit, Fitted, Layer, LayerRecord, Model, Notice, Pool, Settings, Stack, State,
    StopReason,
};

use crate::container::{Array, Container};
use crate::error::{Error, Result};
use crate::layers::{read_pool, read_stack, sound, write_pool, write_stack};
use crate::whitening::{self, finite, flat, matrix};

/// A fitted model and how it came about, as a file holds it.
///
/// Writing and reading again is exact to the bit. The whitening and W# are read as stored;
/// a tilt's normaliser is recomputed from its coefficients.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The model: the first layer with directions.
    pub model: Model,
    /// All layers, where the fit was asked for more than one.
    pub stack: Option<Stack>,
    /// The pool, where the fit was asked for one.
    pub pool: Option<Pool>,
    /// What each layer adds.
    pub layers: Vec<LayerRecord>,
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
    /// The groups among the training rows; files of version 0.1 have none.
    pub groups: Option<Groups>,
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
    /// The settings that were chosen, each with its name and value as text.
    pub fn settings_in_words(&self) -> Vec<(String, String)> {
        let settings = match serde_json::json!(self.settings) {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        let plain = |value: serde_json::Value| match value {
            serde_json::Value::String(text) => text,
            other => other.to_string(),
        };
        // What was left open is not a setting.
        let given = settings.into_iter().filter(|(_, value)| !value.is_null());
        given.map(|(name, value)| (name, plain(value))).collect()
    }

    /// From a fit to columns of these names.
    pub fn new(fit: Fit, names: Vec<String>, settings: Settings, training: Training) -> Self {
        let Fit { model, stack, pool, layers, state, stop, notices, .. } = fit;
        ModelFile {
            model,
            stack,
            pool,
            layers,
            names,
            settings,
            state,
            stop,
            notices,
            training,
            groups: None,
        }
    }

    /// The same with the groups among its training rows.
    pub fn with_groups(self, groups: Groups) -> Self {
        ModelFile { groups: Some(groups), ..self }
    }

    /// What was fitted: one layer, a stack or a pool.
    pub fn fitted(&self) -> Fitted<'_> {
        Fitted { model: &self.model, stack: self.stack.as_ref(), pool: self.pool.as_ref() }
    }

    /// The density of the rows, whatever it is made of: the pool, the stack or the one layer.
    pub fn density(&self) -> &dyn Density {
        self.fitted().density()
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
        let dims = whitening.dims();
        let experts = model.experts();
        let array = |name: &str, shape: &[usize], values: Vec<f64>| Array {
            name: name.to_owned(),
            shape: shape.to_vec(),
            values,
        };
        let mut arrays = Vec::new();
        let sphering = whitening::write(whitening, "", &mut arrays)?;
        arrays.push(array("directions", &[experts.len(), dims], model.directions().concat()));
        let pseudo_inverse = flat(model.pseudo_inverse());
        arrays.push(array("pseudo_inverse", &[dims, experts.len()], pseudo_inverse));
        for (j, expert) in experts.iter().enumerate() {
            let (shape, values) = parameters(expert);
            arrays.push(array(&format!("expert{}", j + 1), &shape, values));
        }
        let mut header = json!({
            "kind": "model",
            "columns": self.names,
            "whitening": sphering,
            "half_ln_gram": model.half_ln_gram(),
            "settings": value(&self.settings)?,
            "state": state_to_json(&self.state)?,
            "stop": value(&self.stop)?,
            "notices": value(&self.notices)?,
            "training": value(&self.training)?,
        });
        if let Some(stack) = &self.stack {
            header["stack"] = write_stack(stack, model, "stack.", &mut arrays)?;
            header["layers"] = value(&self.layers)?;
        }
        if let Some(pool) = &self.pool {
            header["pool"] = write_pool(pool, model, &mut arrays)?;
        }
        if let Some(groups) = &self.groups {
            header["groups"] = value(groups)?;
        }
        Ok(Container { header, arrays })
    }

    /// A model from the header and arrays of a file, which messages call `file`.
    pub fn from_container(container: &Container, file: &Path) -> Result<Self> {
        let not_model = |reason| Error::NotModel { file: file.to_owned(), reason };
        match container.header.get("kind").and_then(Value::as_str) {
            Some("model") => {}
            Some("checkpoint") => return Err(Error::IsCheckpoint { file: file.to_owned() }),
            Some("detector") => return Err(Error::IsDetector { file: file.to_owned() }),
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
pub(crate) fn check_names(names: &[String], file: &Path) -> Result<()> {
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
    let whitening = whitening::read(container, header.get("whitening")?, "", columns)?;
    let dims = whitening.dims();
    let [count, _] = container.array("directions")?.shape[..] else { return None };
    let directions = finite(container, "directions", &[count, dims])?;
    let directions: Vec<Vec<f64>> = directions.chunks_exact(dims).map(<[f64]>::to_vec).collect();
    let state = state_from_json(header.get("state")?, &directions)?;
    let experts: Vec<Expert> = state.experts.iter().map(|e| e.expert().clone()).collect();
    if !experts.iter().all(sound) {
        return None;
    }
    let pseudo_inverse = matrix(container, "pseudo_inverse", dims, count)?;
    let half_ln_gram = get(header, "half_ln_gram")?;
    let model =
        Model::from_parts(whitening, directions, experts, pseudo_inverse, half_ln_gram).ok()?;
    let stack = match header.get("stack") {
        Some(stack) => Some(read_stack(container, stack, &model, "stack.")?),
        None => None,
    };
    let pool = match header.get("pool") {
        Some(pool) => Some(read_pool(container, pool, &model)?),
        None => None,
    };
    let layers: Vec<LayerRecord> = match &stack {
        Some(_) => get(header, "layers")?,
        None => Vec::new(),
    };
    let counted = |(layer, record): (&Layer, &LayerRecord)| {
        let experts = match layer {
            Layer::Directions(layer) => layer.directions().len(),
            _ => 1,
        };
        record.gains.len() == experts && record.p_values.len() == experts
    };
    let all = stack.as_ref().map_or(&[][..], Stack::layers);
    if layers.len() != all.len() || !all.iter().zip(&layers).all(counted) {
        return None;
    }
    let groups: Option<Groups> = match header.get("groups") {
        Some(_) => Some(get(header, "groups")?),
        None => None,
    };
    if groups.as_ref().is_some_and(|groups| !groups.suit(&model)) {
        return None;
    }
    Some(ModelFile {
        model,
        stack,
        pool,
        layers,
        names,
        settings: get(header, "settings")?,
        state,
        stop: get(header, "stop")?,
        notices: get(header, "notices")?,
        training: get(header, "training")?,
        groups,
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

pub(crate) fn value<T: Serialize>(of: &T) -> Result<Value> {
    serde_json::to_value(of)
        .map_err(|_| Error::BadContainer { reason: "a part of it has no JSON form" })
}

pub(crate) fn get<T: DeserializeOwned>(header: &Value, key: &str) -> Option<T> {
    T::deserialize(header.get(key)?).ok()
}

//! The report page, as the command writes it.

use pyo3::prelude::*;
use upoe::Rows;
use upoe_file::ModelFile;
use upoe_report::{Cells, FitRecord, Input, Kept, build, html};

use crate::arrays::Source;
use crate::model::PyModel;
use crate::{errors, threads, work};

/// The page of a model and rows, with columns of labels that are not modelled.
#[pyfunction]
pub fn report(
    model: &Bound<'_, PyModel>,
    x: Source,
    title: String,
    labels: Vec<(String, Vec<String>)>,
    threads: Option<usize>,
) -> PyResult<String> {
    let py = model.py();
    let (n, columns) = x.shape(py);
    let mut data = Vec::new();
    let all = x.whole(py)?;
    let all = all.rows()?;
    data.try_reserve_exact(n * columns).map_err(|_| errors::memory("no memory".to_owned()))?;
    (0..all.len()).for_each(|i| data.extend_from_slice(&all.row(i)));
    let model = model.clone().unbind();
    work::run(
        py,
        || Ok(()),
        move |_| {
            let file = model.get().file();
            let page = || page(file, &data, &title, labels);
            threads::run(threads, page)?.map_err(|e| errors::of(e, model.get().names()))
        },
    )
}

fn page(
    file: &ModelFile,
    data: &[f64],
    title: &str,
    labels: Vec<(String, Vec<String>)>,
) -> upoe::Result<String> {
    let kept = labels.into_iter().map(|(name, cells)| Kept { name, cells: Cells::Text(cells) });
    let kept: Vec<Kept> = kept.collect();
    let input = Input {
        title,
        fitted: file.fitted(),
        training: &training(file),
        names: &file.names,
        rows: Rows::new(data, file.names.len())?,
        numbers: None,
        groups: file.groups.as_ref(),
        kept: &kept,
        image: None,
        seed: file.training.seed,
    };
    build(&input).map(|page| html(&page))
}

/// What the page says of the training.
fn training(file: &ModelFile) -> FitRecord {
    FitRecord {
        state: file.state.clone(),
        layers: file.layers.clone(),
        evaluation: file.training.evaluation,
        seconds: file.training.seconds,
        stop_reason: file.stop.to_string(),
        settings: file.settings_in_words(),
        version: file.training.version.clone(),
        notices: file.notices.iter().map(|n| n.message(|c| file.names[c].clone())).collect(),
    }
}

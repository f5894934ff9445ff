//! Pages of fitted models, for the tests of the page.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use upoe::compare::{Reference, compare};
use upoe::expert::Family;
use upoe::{Dims, Fitter, Settings, Stop};
use upoe_report::{Cells, FitRecord, Image, Input, Kept, build, comparison_html, html};

mod data;
use data::Table;

/// Writes the pages of these names, or all of them, to a directory.
pub fn run(directory: &str, wanted: &[String]) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let auto = Settings::default().with(|s| s.stop = Some(Stop::Bic));
    let most = |experts| Settings::default().with(|s| s.experts = Some(experts));
    type Case = (&'static str, fn() -> Table, Settings);
    let deep = Settings::default().with(|s| (s.depth, s.pool) = (None, true));
    let cases: [Case; 12] = [
        ("crabs", data::crabs, paper()),
        ("large", data::large, most(3).with(|s| s.starts = Some(6))),
        ("gaussian", data::gaussian, auto.clone()),
        ("heavy", data::heavy, auto),
        ("four", data::four, most(4)),
        ("image", data::image, most(3).with(|s| s.dims = Dims::Count(8))),
        ("hostile", data::hostile, most(2)),
        ("degenerate", data::degenerate, most(1)),
        ("layers", data::layers, deep),
        ("missing", data::missing, Settings::default()),
        ("wide", data::wide, most(1)),
        ("many", data::many, most(17).with(|s| s.families = Family::StudentT.into())),
    ];
    for (name, make, settings) in cases {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            let page = page(&make(), &settings)?;
            fs::write(Path::new(directory).join(format!("{name}.html")), page)?;
        }
    }
    if wanted.is_empty() || wanted.iter().any(|w| w == "changes") {
        fs::write(Path::new(directory).join("changes.html"), changes()?)?;
    }
    Ok(())
}

/// The page that compares the crabs of one species with those of the other.
fn changes() -> Result<String, Box<dyn Error>> {
    let table = data::crabs();
    let columns = table.names.len();
    let (blue, orange) = table.values.split_at(100 * columns);
    let compared = compare(
        &Reference::Rows(upoe::Rows::new(blue, columns)?),
        &upoe::Rows::new(orange, columns)?,
        &table.names,
        &upoe::compare::Settings::default(),
    )?;
    println!("{}", compared.answer());
    Ok(comparison_html("blue crabs → orange crabs", &compared, &|row| row as u64 + 1))
}

/// The paper's experts for Crabs: two groups at ∓1.
fn paper() -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
    })
}

/// Fits the table's training rows and writes a page about all of its rows.
fn page(table: &Table, settings: &Settings) -> Result<String, Box<dyn Error>> {
    let columns = table.names.len();
    let (train, rest) = table.values.split_at(table.train * columns);
    let train = upoe::Rows::new(train, columns)?;
    let held = upoe::Rows::new(&rest[..table.holdout * columns], columns)?;
    let start = Instant::now();
    let mut fitter = Fitter::new(settings.clone());
    if table.holdout > 0 {
        fitter = fitter.holdout(held);
    }
    let fitted = fitter.fit(&train)?;
    let seconds = start.elapsed().as_secs_f64();
    let held = (table.holdout > 0).then_some(held);
    let mut text = vec![("learner", "pursuit".to_owned()), ("seed", settings.seed.to_string())];
    if let Some(experts) = settings.experts {
        text.push(("experts", experts.to_string()));
    }
    text.push(("family", settings.families.only().map_or("auto", Family::name).to_owned()));
    let training = FitRecord {
        evaluation: fitted.evaluate(&train, held.as_ref())?,
        seconds,
        stop_reason: fitted.stop.to_string(),
        settings: text.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        notices: fitted
            .notices
            .iter()
            .map(ToString::to_string)
            .chain(table.notice.clone())
            .collect(),
        state: fitted.state.clone(),
        layers: fitted.layers.clone(),
    };
    let kept: Vec<Kept> = (table.kept.iter().cloned())
        .map(|(name, cells)| Kept { name, cells: Cells::Text(cells) })
        .collect();
    let groups = fitted.groups(&train)?;
    let page = build(&Input {
        title: &table.title,
        fitted: fitted.fitted(),
        training: &training,
        names: &table.names,
        rows: upoe::Rows::new(&table.values, columns)?,
        numbers: None,
        groups: Some(&groups),
        kept: &kept,
        image: table.image.map(|(height, width)| Image { height, width }),
        seed: 1,
    })?;
    println!("{}: {} experts in {seconds:.1} s", table.title, page.experts.len());
    for expert in &page.experts {
        println!("  gain {:.5}  {:10} {}", expert.gain, expert.family, expert.words);
    }
    Ok(html(&page))
}

//! `upoe demo`: the Crabs data, fitted as the paper does.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use upoe::expert::{Expert, Family, Marginal};
use upoe::{Rows, Settings};
use upoe_file::{ModelFile, Training};
use upoe_table::{ReadOptions, Table, TextColumn};

use crate::args::Common;
use crate::charts::histogram;
use crate::describe::{self, wrapped};
use crate::failure::{Failure, from_core};
use crate::output::{make_directory, print, print_json};
use crate::progress::{Progress, duration};
use crate::report;
use crate::table::bold;

/// Fit the Crabs data that come with upoe, and show what it finds
#[derive(Args)]
#[command(after_help = "Examples:
  upoe demo         writes crabs.csv, crabs.upoe and report.html to a temporary folder, and names it
  upoe demo -o .    writes them here
  upoe demo -o try  writes them to try, which is made where there is none")]
pub struct Demo {
    /// The folder to write to [default: upoe-demo in the folder for temporary files]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// 200 crabs of two species and both sexes: N. A. Campbell and R. J. Mahon (1974).
const CRABS: &[u8] = include_bytes!("../data/crabs.csv");
const COLUMNS: [&str; 5] = ["FL", "RW", "CL", "CW", "BD"];

/// The crabs' measurements, with species and sex kept aside.
pub fn crabs() -> Result<Table, Failure> {
    let options = ReadOptions::default().with(|o| {
        o.columns = COLUMNS.map(str::to_owned).to_vec();
        o.keep = vec!["sp".into(), "sex".into()];
    });
    Ok(Table::from_bytes("crabs.csv", CRABS.to_vec(), &options)?)
}

/// As the paper does: two mixtures of two Student-t components at ∓1 with β = 20.
pub fn as_the_paper() -> Settings {
    Settings::default().with(|s| {
        s.experts = Some(2);
        s.families = Family::Mixture.into();
        s.fix_mu = Some(vec![-1.0, 1.0]);
        s.fix_beta = Some(20.0);
    })
}

impl Demo {
    /// Fits, shows, writes.
    pub fn run(&self) -> Result<(), Failure> {
        self.common.start()?;
        let folder = self.output.clone().unwrap_or_else(|| std::env::temp_dir().join("upoe-demo"));
        let paths = ["crabs.csv", "crabs.upoe", "report.html"].map(|name| folder.join(name));
        let [csv, model, page] = &paths;
        make_directory(&folder)?;
        upoe_table::check_writable(model)?;
        let table = crabs()?;
        let file = fit(&table).map_err(|error| from_core(error, &table))?;
        let rows = Rows::new(&table.data, COLUMNS.len()).map_err(|e| from_core(e, &table))?;
        let z = file.model.transform(&rows).map_err(|e| from_core(e, &table))?;

        let progress = Progress::new(self.common.quiet);
        let mut wrote = vec!["crabs.upoe"];
        file.write(model)?;
        // Someone's own file of that name is not ours to replace.
        if !csv.exists() || std::fs::read(csv).is_ok_and(|found| found == CRABS) {
            upoe_table::write_file(csv, CRABS)?;
            wrote.insert(0, "crabs.csv");
        }
        upoe_table::write_file(page, report::page(&file, &table, None, &progress)?.as_bytes())?;
        wrote.push("report.html");
        progress.clear();
        if self.common.json {
            return print_json(&format!("{:#}\n", describe::json(&file)));
        }
        if !self.common.quiet {
            print(&(shown(&file, &table, &z) + &next(&paths)))?;
        }
        progress.say(&format!("wrote {} in {}", wrote.join(", "), folder.display()));
        Ok(())
    }
}

/// What was found.
fn shown(file: &ModelFile, table: &Table, z: &[f64]) -> String {
    let (experts, filters) = (file.model.experts(), file.model.filters());
    let correlations = file.model.correlations();
    let about = format!(
        "{} crabs, 5 measurements in mm (frontal lobe, rear width, carapace length and width, \
         body depth); species and sex are not used in the fit. Two mixture experts (μ = ∓1, \
         β = 20), fitted in {}.",
        table.rows,
        duration(file.training.seconds)
    );
    let mut lines = wrapped(&about, 80);
    for (j, learned) in file.state.experts.iter().enumerate() {
        let along: Vec<f64> = z.iter().skip(j).step_by(experts.len()).copied().collect();
        lines.push(String::new());
        let (name, gain) = (format!("expert {}", j + 1), learned.gain);
        let says = upoe_report::Finding::of(learned.expert());
        lines.push(format!("{}  gain {gain:.5} nats per crab  mixture: {says}", bold(&name)));
        lines.push(format!("  {}", parameters(learned.expert())));
        lines.push(format!("  moves with  {}", describe::strongest(file, &correlations[j], 64)));
        let filter = describe::per_deviation(file, &filters[j]);
        lines.push(format!("  filter      {}", describe::strongest(file, &filter, 64)));
        let curve = |z: f64| learned.expert().ln_density(z).exp();
        lines.extend(histogram(&along, curve, 64, 7).into_iter().map(|l| format!("  {l}")));
    }
    lines.push(String::new());
    lines.extend(wrapped(&found(experts, &table.kept, z), 80));
    lines.join("\n") + "\n"
}

/// Commands to try, which work as they are printed, with the paths of the table and the model.
fn next([csv, model, page]: &[PathBuf; 3]) -> String {
    let shell = |path: &Path| {
        let text = path.display().to_string();
        let text = text.strip_prefix("./").unwrap_or(&text);
        let plain = |c: char| c.is_alphanumeric() || "/._-:\\".contains(c);
        if text.chars().all(plain) { text.into() } else { format!("'{text}'") }
    };
    let upoe = program().as_deref().map_or("upoe".into(), shell);
    let [csv, model, own] = [csv.as_path(), model, &page.with_file_name("my.upoe")].map(shell);
    let lines = [
        ("what has it learned?", format!("inspect {model}")),
        ("which groups are there?", format!("groups {model} {csv} --keep sp,sex")),
        ("which crabs are odd?", format!("outliers {csv} --keep sp,sex --alpha 0.05")),
        ("how probable is each crab?", format!("score {model} {csv} --tail 10000")),
        ("why so probable?", format!("explain {model} {csv} --keep sp,sex --words")),
        ("more crabs like these", format!("sample {model} -n 10")),
        ("let it choose the experts", format!("fit {csv} -o {own}")),
    ];
    let lines = lines.map(|(why, command)| format!("  {why:<28}{upoe} {command}\n"));
    format!("\n{}\n{}", bold("Try next"), lines.concat())
}

/// The path of this program, unless a shell finds it by its name.
fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(own.file_name().unwrap_or_default()))
        .find(|path| path.is_file());
    if found.is_some_and(|found| found.canonicalize().ok() == own.canonicalize().ok()) {
        return None;
    }
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| own.strip_prefix(here).ok().map(Path::to_path_buf));
    Some(short.unwrap_or(own))
}

fn fit(table: &Table) -> upoe::Result<ModelFile> {
    let settings = as_the_paper();
    let rows = Rows::new(&table.data, table.names.len())?;
    let start = Instant::now();
    let fit = upoe::fit(&rows, &settings)?;
    let seconds = start.elapsed().as_secs_f64();
    let training = Training::new(fit.evaluate(&rows, None)?, seconds, &settings);
    let groups = fit.groups(&rows)?;
    Ok(ModelFile::new(fit, table.names.clone(), settings, training).with_groups(groups))
}

fn parameters(expert: &Expert) -> String {
    let all = expert.parameters();
    let symbol = |name: &str| match name {
        "pi" => "π",
        "mu" => "μ",
        "theta" => "θ",
        _ => "β",
    };
    let one = |p: &upoe::expert::Parameter| {
        let values: Vec<String> = p.values.iter().map(|v| format!("{v:.3}")).collect();
        format!("{} {}{}", symbol(p.name), values.join(" "), if p.fixed { " (fixed)" } else { "" })
    };
    all.iter().map(one).collect::<Vec<_>>().join("   ")
}

/// What was found, in two sentences: how each expert's groups agree with what was kept.
fn found(experts: &[Expert], kept: &[TextColumn], z: &[f64]) -> String {
    let mut sentences = Vec::new();
    for (j, expert) in experts.iter().enumerate() {
        let Expert::Mixture(mixture) = expert else { continue };
        let along = z.iter().skip(j).step_by(experts.len());
        let upper: Vec<bool> = along.map(|z| mixture.responsibilities(*z)[1] > 0.5).collect();
        let agreement = |labels: &TextColumn| {
            let first = labels.get(0).unwrap_or("").to_owned();
            let same = labels.iter().zip(&upper).filter(|(l, u)| (*l == first) == **u).count();
            same.max(upper.len() - same)
        };
        let best = kept.iter().map(|labels| (agreement(labels), labels.name.as_str())).max();
        let Some((right, name)) = best else { continue };
        let groups = if name == "sp" { "the two species" } else { "the sexes" };
        let which = if j == 0 { "The strongest direction" } else { "The second" };
        let blind = if j == 0 { ", although the fit never saw a label" } else { "" };
        let crabs = upper.len();
        sentences.push(format!(
            "{which} separates {groups}: {right} of {crabs} crabs are on the right side{blind}."
        ));
    }
    sentences.join(" ")
}

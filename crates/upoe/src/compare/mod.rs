//! What changed between two tables: is B drawn from the distribution of A, and if not, what moved?
//!
//! Both tables are Gaussianised by one map, which does not know which row is whose. Then everything that may differ
//! is tested at once, by exchanging rows between the tables: means, spreads and shapes of columns, of columns given
//! the others and along the directions of the map, correlations, and means and spreads in any direction. The level is
//! exact, whatever the distribution. What differs most is named, taken out of B, and the rest is tested again.

mod change;
mod check;
mod exchange;
mod likelihood;
mod line;
mod modes;
mod pair;
mod pursuit;
mod scores;
mod shares;
mod statistics;
mod steps;
mod waves;
mod words;

pub use change::{Change, Kind, Place};
pub use check::unlike;
pub use likelihood::Drop;

use crate::density::Density;
use crate::error::{Error, Result, invalid};
use crate::fitted::Fitted;
use crate::pool::Member;
use crate::random::{self, Use};
use crate::rows::Rows;
use crate::stack::Stack;
use rand::seq::SliceRandom;
use serde::Serialize;

/// Of larger tables, this many rows are compared, chosen at random.
pub const MOST_ROWS: usize = 10_000;

/// Rows that are needed for each dimension.
pub const ROWS_PER_DIMENSION: usize = 3;

/// How a comparison is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// Changes are named whose p-values are at most this.
    pub level: f64,
    /// How often rows are exchanged. The smallest possible p-value is about one divided by it.
    pub exchanges: usize,
    /// The layers of the map, at most.
    pub depth: Option<usize>,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { level: 0.05, exchanges: 999, depth: Some(1), seed: 0 }
    }
}

impl Settings {
    /// The same settings after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn check(&self) -> Result<()> {
        if !(self.level > 0.0 && self.level < 1.0) {
            return invalid("level", self.level, "a level lies between 0 and 1");
        }
        if !(99..=1_000_000).contains(&self.exchanges) {
            return invalid("exchanges", self.exchanges, "99 to 1000000 exchanges are possible");
        }
        Ok(())
    }
}

/// What a table is compared with.
#[derive(Clone)]
#[non_exhaustive]
pub enum Reference<'a> {
    /// Another table.
    Rows(Rows<'a>),
    /// A density whose own rows are not at hand. Rows are drawn from it, and what it misses of the rows that it
    /// was learned from counts as a change.
    Model {
        /// The density.
        density: &'a dyn Density,
        /// Its map to standard normal rows, or one that is close.
        map: Stack,
    },
}

impl<'a> Reference<'a> {
    /// A fitted density of any kind. A pool has no map: one of its stacks has.
    pub fn fitted(fitted: Fitted<'a>) -> Result<Self> {
        let member = fitted.pool.and_then(|pool| pool.members().first());
        let map = match fitted.stack.or(member.map(Member::stack)) {
            Some(stack) => stack.clone(),
            None => pair::map_of(fitted.model)?,
        };
        Ok(Reference::Model { density: fitted.density(), map })
    }
}

/// What changed between two tables.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// Rows of A that were compared, or drawn from its model.
    pub rows_a: usize,
    /// Rows of B that were compared.
    pub rows_b: usize,
    /// The dimensions in which rows vary.
    pub dims: usize,
    /// The chance that two tables of the same distribution differ as much; `None` where there are too few rows to
    /// tell.
    pub p_value: Option<f64>,
    /// How often rows were exchanged.
    pub exchanges: usize,
    /// The level at which changes are named.
    pub level: f64,
    /// The overall figure.
    pub drop: Option<Drop>,
    /// What moved, in the order in which it was found.
    pub changes: Vec<Change>,
    /// What a user should know.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Whether anything changed, at a level; not known where there are too few rows.
    pub fn changed(&self, level: f64) -> Option<bool> {
        self.p_value.map(|p| p <= level)
    }

    /// The answer in one sentence.
    pub fn answer(&self) -> String {
        words::answer(self)
    }
}

/// How far a comparison is.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What is being done.
    pub what: &'static str,
    /// How much of it is done.
    pub done: usize,
    /// How much there is; 0 where it is not known.
    pub total: usize,
    /// What is counted.
    pub unit: &'static str,
}

/// Who is told how far a comparison is, and may end it.
pub(crate) struct Told<'a, E>(
    Option<&'a mut (dyn FnMut(Step) -> std::result::Result<(), E> + Send)>,
);

impl<E> Told<'_, E> {
    fn silent() -> Self {
        Told(None)
    }

    fn step(
        &mut self,
        what: &'static str,
        done: usize,
        total: usize,
        unit: &'static str,
    ) -> std::result::Result<(), E> {
        self.0.as_mut().map_or(Ok(()), |tell| tell(Step { what, done, total, unit }))
    }
}

/// Compares a table with another one, or with a model. `names` are those of the columns.
///
/// ```
/// use upoe::compare::{Reference, Settings, compare};
/// use upoe::Rows;
/// let noise = |i: u32, k: f64| (f64::from(i) * k).sin() + (f64::from(i) * k * 1.7).cos();
/// let a: Vec<f64> = (0..200).flat_map(|i| [noise(i, 1.1), noise(i, 2.3)]).collect();
/// let b: Vec<f64> = (200..400).flat_map(|i| [noise(i, 1.1) + 1.0, noise(i, 2.3)]).collect();
/// let (a, b) = (Rows::new(&a, 2)?, Rows::new(&b, 2)?);
/// let names = ["width".to_owned(), "height".to_owned()];
/// let compared = compare(&Reference::Rows(a), &b, &names, &Settings::default())?;
/// assert!(compared.p_value.is_some_and(|p| p < 0.01));
/// assert!(compared.changes[0].sentence.starts_with("width is"));
/// # Ok::<(), upoe::Error>(())
/// ```
pub fn compare(
    reference: &Reference,
    rows: &Rows,
    names: &[String],
    settings: &Settings,
) -> Result<Comparison> {
    compared(reference, rows, names, settings, &mut Told::<Error>::silent())
}

/// The same; `tell` is told how far it is, and ends it by an error.
pub fn compare_with<E: From<Error> + Send>(
    reference: &Reference,
    rows: &Rows,
    names: &[String],
    settings: &Settings,
    tell: &mut (dyn FnMut(Step) -> std::result::Result<(), E> + Send),
) -> std::result::Result<Comparison, E> {
    compared(reference, rows, names, settings, &mut Told(Some(tell)))
}

fn compared<E: From<Error> + Send>(
    reference: &Reference,
    rows: &Rows,
    names: &[String],
    settings: &Settings,
    told: &mut Told<E>,
) -> std::result::Result<Comparison, E> {
    settings.check()?;
    let mut notes = Vec::new();
    let columns = match reference {
        Reference::Rows(a) => {
            check::check(a, rows)?;
            units(a, rows, names, &mut notes);
            a.columns()
        }
        Reference::Model { density, .. } => {
            rows.check()?;
            if rows.columns() == density.columns() {
                notes.extend(unlike(&density.places(), rows, names));
            }
            density.columns()
        }
    };
    for (what, got) in [("columns of the table", rows.columns()), ("names of columns", names.len())]
    {
        if got != columns {
            return Err(Error::Shape { what, expected: columns, got }.into());
        }
    }
    let (b, chosen) = some(rows, settings.seed, "B", &mut notes);
    let b = Rows::new(&b, columns)?;
    let of_a;
    let reference = match reference {
        Reference::Rows(a) => {
            of_a = some(a, settings.seed, "A", &mut notes).0;
            Reference::Rows(Rows::new(&of_a, columns)?)
        }
        model => model.clone(),
    };
    if let Some(few) = too_few(&reference, &b)? {
        return Ok(Comparison { level: settings.level, ..few });
    }
    let mut pair = reference.pair(&b, settings, told)?;
    let (rows_a, rows_b, dims) = (pair.of_a, pair.of_b, pair.dims);
    let found = steps::explain(&mut pair, names, settings, told)?;
    let drop = Drop::of(&reference, &b, settings, told)?;
    let mut changes = found.changes;
    changes.iter_mut().flat_map(|change| &mut change.rows).for_each(|i| *i = chosen[*i]);
    let (p_value, exchanges, level) = (Some(found.p_value), settings.exchanges, settings.level);
    Ok(Comparison { rows_a, rows_b, dims, p_value, exchanges, level, drop, changes, notes })
}

/// The answer where there are too few rows to tell.
fn too_few(reference: &Reference, b: &Rows) -> Result<Option<Comparison>> {
    let (rows_a, dims) = match reference {
        Reference::Rows(a) => (Some(a.len()), a.columns()),
        Reference::Model { map, .. } => (None, map.whitening().dims()),
    };
    let needed = ROWS_PER_DIMENSION * dims;
    let fewest = rows_a.unwrap_or(usize::MAX).min(b.len());
    if fewest >= needed {
        return Ok(None);
    }
    Ok(Some(Comparison {
        rows_a: rows_a.unwrap_or(0),
        rows_b: b.len(),
        dims,
        p_value: None,
        exchanges: 0,
        level: 0.0,
        drop: None,
        changes: Vec::new(),
        notes: Vec::new(),
    }))
}

/// Notes of columns whose units seem to differ.
fn units(a: &Rows, b: &Rows, names: &[String], notes: &mut Vec<String>) {
    let known =
        (0..a.columns()).filter_map(|i| Some((names.get(i)?, check::other_units(a, b, i)?)));
    notes.extend(known.map(|(name, factor)| words::other_units(name, factor)));
}

/// At most [`MOST_ROWS`] rows, in their order, and which they are.
fn some(rows: &Rows, seed: u64, table: &str, notes: &mut Vec<String>) -> (Vec<f64>, Vec<usize>) {
    let mut chosen: Vec<usize> = (0..rows.len()).collect();
    if rows.len() > MOST_ROWS {
        chosen.shuffle(&mut random::stream(seed, Use::Rows, rows.len() as u64));
        chosen.truncate(MOST_ROWS);
        chosen.sort_unstable();
        let all = rows.len();
        notes.push(format!(
            "{MOST_ROWS} of the {all} rows of {table} are compared, chosen at random"
        ));
    }
    (rows.pick(&chosen).0, chosen)
}

//! Everything that may differ between two tables of Gaussianised rows, tested at once.
//!
//! Each statistic is a mean of a function over the rows of B, less that over the rows of A. Those of one
//! kind form a group, which has one figure: the largest square, or a sum of squares. Figures of groups are
//! brought to one scale by their median and 95 % point over all exchanges, the tables as they are included, so that
//! the largest of all is a fair test: its p-value is exact, whatever the distribution of rows.

use super::Told;
use super::exchange::{Exchange, p_value};
use super::scores::{ORDERS, hermite, normal_scores, quantile, sorted, standardise};
use super::waves::{WAVES, Waves};
use crate::linalg::{dot, eigen, eigenvalues};
use faer::Mat;
use rayon::prelude::*;

/// Pairs of columns, and changes of spread in any direction, are tested for up to this many dimensions.
const MOST_DIMS: usize = 64;

/// What a direction in the space of Gaussianised rows is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// On its projections lies a column.
    Column(usize),
    /// On its projections lies what the other columns do not say of a column.
    Given(usize),
    /// Found by a search.
    Found,
}

/// A unit direction in the space of Gaussianised rows.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub sight: Sight,
    pub direction: Vec<f64>,
}

/// A function of rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Function {
    /// A Hermite polynomial of the projection on a view.
    View { view: usize, order: usize },
    /// The product of two columns' scores: views, in their order.
    Pair(usize, usize),
    /// A Hermite polynomial of the length of rows.
    Length { order: usize },
    /// A coordinate.
    Coordinate(usize),
    /// The product of two coordinates.
    Product(usize, usize),
    /// The chance of being in a group.
    Share(usize),
    /// The cosine or the sine of a wave over all columns' scores.
    Wave { wave: usize, sine: bool },
}

/// Statistics of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    ColumnShift,
    ColumnSpread,
    ColumnShape,
    GivenShift,
    GivenSpread,
    GivenShape,
    Found,
    Pair,
    Length,
    /// Of the mean, in any direction: the sum over coordinates.
    AnyShift,
    /// Of the spread, in the direction in which it changes most.
    AnySpread,
    /// Of the spread, in all directions together.
    AllSpread,
    /// Of the means of all columns together: where columns move as one, this says more than any direction of sphered
    /// space.
    AllColumns,
    /// Of the groups among the rows.
    Share,
    /// Of anything, as a kernel sees it: the sum over waves.
    Kernel,
}

const GROUPS: [Group; 15] = [
    Group::ColumnShift,
    Group::ColumnSpread,
    Group::ColumnShape,
    Group::GivenShift,
    Group::GivenSpread,
    Group::GivenShape,
    Group::Found,
    Group::Pair,
    Group::Length,
    Group::AnyShift,
    Group::AnySpread,
    Group::AllSpread,
    Group::AllColumns,
    Group::Share,
    Group::Kernel,
];

impl Group {
    /// What all columns show together counts twice: it is what most changes have in common, and otherwise would lose to the
    /// many groups of single functions.
    fn weight(self) -> f64 {
        if matches!(self, Group::AllColumns | Group::Kernel) { 2.0 } else { 1.0 }
    }
}

/// The Gumbel distribution with the median and the 95 % point of a group's figures.
#[derive(Clone, Copy, Debug)]
struct Scale {
    location: f64,
    width: f64,
}

impl Scale {
    /// Of a group that has `weight` times the say of others.
    fn of(figures: &[f64], weight: f64) -> Scale {
        // Where P(X ≤ x) is 0.5 and 0.95, in widths from the location.
        let (middle, high) = (-(2f64.ln().ln()), -(-(0.95f64.ln())).ln());
        let figures = sorted(figures);
        let (median, upper) = (quantile(&figures, 0.5), quantile(&figures, 0.95));
        let width = ((upper - median) / (high - middle)).max(1e-12);
        Scale { location: median - (middle + weight.ln()) * width, width }
    }

    fn score(&self, figure: f64) -> f64 {
        (figure - self.location) / self.width
    }
}

/// The outcome of all tests.
pub(super) struct Tests {
    functions: Vec<Function>,
    groups: Vec<Group>,
    /// Each function's difference, in standard deviations of what exchanges give.
    pub differences: Vec<f64>,
    scales: Vec<Option<Scale>>,
    /// The largest score of each exchange.
    exchanged: Vec<f64>,
    /// How surprising all of it is: the chance that two tables of the same distribution show as much.
    pub p_value: f64,
}

/// A function that differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Different {
    pub function: Function,
    pub difference: f64,
    pub score: f64,
    pub p_value: f64,
}

/// Gaussianised rows, as functions are computed from them.
#[derive(Clone, Copy)]
pub(super) struct Seen<'a> {
    pub x: &'a [f64],
    pub dims: usize,
    pub views: &'a [View],
    /// The chance of each row to be in each group: one vector per group.
    pub chances: &'a [Vec<f64>],
}

/// The same with what functions have in common.
struct Looks<'a> {
    seen: Seen<'a>,
    scores: Vec<Vec<f64>>,
    lengths: Vec<f64>,
    waves: Waves,
    /// The scores of all columns, row after row.
    columns: Vec<f64>,
    width: usize,
}

impl Looks<'_> {
    fn fill(&self, function: Function, column: &mut [f64]) {
        let of_scores = |column: &mut [f64], scores: &[f64], order: usize| {
            column.iter_mut().zip(scores).for_each(|(c, h)| *c = hermite(order, *h));
        };
        let coordinate = |i: usize, a: usize| self.seen.x[i * self.seen.dims + a];
        match function {
            Function::View { view, order } => of_scores(column, &self.scores[view], order),
            Function::Length { order } => of_scores(column, &self.lengths, order),
            Function::Pair(a, b) => {
                let scores = self.scores[a].iter().zip(&self.scores[b]);
                column.iter_mut().zip(scores).for_each(|(c, (a, b))| *c = a * b);
            }
            Function::Coordinate(a) => {
                column.iter_mut().enumerate().for_each(|(i, c)| *c = coordinate(i, a));
            }
            Function::Product(a, b) => {
                let product = |i: usize| coordinate(i, a) * coordinate(i, b);
                column.iter_mut().enumerate().for_each(|(i, c)| *c = product(i));
            }
            Function::Share(k) => column.copy_from_slice(&self.seen.chances[k]),
            Function::Wave { wave, sine } => {
                let rows = self.columns.chunks_exact(self.width.max(1));
                column.iter_mut().zip(rows).for_each(|(c, h)| *c = self.waves.at(wave, sine, h));
            }
        }
        standardise(column);
    }
}

impl Tests {
    /// Tests rows, those of A first.
    pub fn of<E>(seen: Seen, exchange: &Exchange, told: &mut Told<E>) -> Result<Tests, E> {
        let looks = looks(seen, exchange.seed);
        let dims = seen.dims;
        let functions = functions(seen);
        let groups: Vec<Group> = functions.iter().map(|f| group(*f, seen.views)).collect();
        let fill = |k: usize, column: &mut [f64]| looks.fill(functions[k], column);
        let sums = exchange.sums(functions.len(), fill, told)?;
        let figures = |line: &Vec<f64>| -> Vec<Option<f64>> {
            GROUPS.iter().map(|g| figure(*g, line, &groups, dims)).collect()
        };
        let figures: Vec<Vec<Option<f64>>> = sums.par_iter().map(figures).collect();
        let scale = |g: usize| -> Option<Scale> {
            let of_group: Option<Vec<f64>> = figures.iter().map(|line| line[g]).collect();
            of_group.map(|figures| Scale::of(&figures, GROUPS[g].weight()))
        };
        let scales: Vec<Option<Scale>> = (0..GROUPS.len()).map(scale).collect();
        let largest = |line: &Vec<Option<f64>>| {
            let scores =
                line.iter().zip(&scales).filter_map(|(f, s)| Some(s.as_ref()?.score((*f)?)));
            scores.fold(f64::NEG_INFINITY, f64::max)
        };
        let mut exchanged: Vec<f64> = figures.iter().map(largest).collect();
        let seen = exchanged.remove(0);
        let p_value = p_value(seen, &exchanged);
        let differences = sums.into_iter().next().unwrap_or_default();
        Ok(Tests { functions, groups, differences, scales, exchanged, p_value })
    }

    /// How surprising a difference of a function would be, given how many there are.
    pub fn judged(&self, k: usize, difference: f64) -> Different {
        let group = GROUPS.iter().position(|g| *g == self.groups[k]).unwrap_or(0);
        let scale = self.scales[group].unwrap_or(Scale { location: 0.0, width: 1.0 });
        let score = scale.score(difference * difference);
        let p_value = p_value(score, &self.exchanged);
        Different { function: self.functions[k], difference, score, p_value }
    }

    /// The place of a function.
    pub fn place(&self, function: Function) -> Option<usize> {
        self.functions.iter().position(|f| *f == function)
    }

    /// The functions that can be named, with how surprising each is.
    pub fn named(&self) -> impl Iterator<Item = Different> {
        let named = |k: &usize| {
            use Function::{Coordinate, Product, Wave};
            !matches!(self.functions[*k], Coordinate(_) | Product(..) | Wave { .. })
        };
        (0..self.functions.len()).filter(named).map(|k| self.judged(k, self.differences[k]))
    }

    /// The direction in which the mean differs most, that in which the spread does, and that of the columns' means, with
    /// their scores.
    pub fn anywhere(&self, dims: usize, views: &[View]) -> [Option<(Vec<f64>, f64)>; 3] {
        let score = |group: Group| {
            let g = GROUPS.iter().position(|g| *g == group)?;
            Some(self.scales[g]?.score(figure(group, &self.differences, &self.groups, dims)?))
        };
        let at = |group: Group| self.groups.iter().position(|g| *g == group);
        let shift = at(Group::AnyShift).zip(score(Group::AnyShift));
        let shift = shift.map(|(k, score)| (self.differences[k..k + dims].to_vec(), score));
        let spread = at(Group::AnySpread).zip(score(Group::AnySpread)).and_then(|(k, score)| {
            let (values, vectors) = eigen(&symmetric(&self.differences[k..], dims)).ok()?;
            let first = usize::from(values[0].abs() < values[dims - 1].abs()) * (dims - 1);
            Some(((0..dims).map(|i| vectors[(i, first)]).collect(), score))
        });
        let columns = score(Group::AllColumns).map(|score| {
            let mut direction = vec![0.0; dims];
            for (function, difference) in self.functions.iter().zip(&self.differences) {
                if let Function::View { view, order: 1 } = function
                    && matches!(views[*view].sight, Sight::Column(_))
                {
                    let column = direction.iter_mut().zip(&views[*view].direction);
                    column.for_each(|(sum, w)| *sum += difference * w);
                }
            }
            (direction, score)
        });
        [shift, spread, columns]
    }
}

fn looks(seen: Seen, seed: u64) -> Looks {
    let Seen { x, dims, views, .. } = seen;
    let score = |view: &View| {
        let z: Vec<f64> = x.chunks_exact(dims).map(|x| dot(x, &view.direction)).collect();
        normal_scores(&z)
    };
    let lengths: Vec<f64> = x.chunks_exact(dims).map(|x| dot(x, x)).collect();
    let scores: Vec<Vec<f64>> = views.par_iter().map(score).collect();
    let columns: Vec<usize> = of_columns(views).collect();
    let row = |i: usize| columns.iter().map(|v| scores[*v][i]).collect::<Vec<f64>>();
    let (width, rows) = (columns.len(), lengths.len());
    let columns = (0..rows).flat_map(row).collect();
    let (waves, lengths) = (Waves::new(width, seed), normal_scores(&lengths));
    Looks { seen, scores, lengths, waves, columns, width }
}

/// The views of columns.
fn of_columns(views: &[View]) -> impl Iterator<Item = usize> {
    (0..views.len()).filter(|v| matches!(views[*v].sight, Sight::Column(_)))
}

fn functions(seen: Seen) -> Vec<Function> {
    let Seen { dims, views, chances, .. } = seen;
    let mut functions: Vec<Function> = (0..chances.len()).map(Function::Share).collect();
    for view in 0..views.len() {
        functions.extend((1..=ORDERS).map(|order| Function::View { view, order }));
    }
    if dims > 1 {
        let columns = || of_columns(views);
        functions.extend((1..=2).map(|order| Function::Length { order }));
        if dims <= MOST_DIMS {
            let pairs =
                columns().flat_map(|b| columns().take_while(move |a| *a < b).map(move |a| (a, b)));
            functions.extend(pairs.map(|(a, b)| Function::Pair(a, b)));
        }
        functions.extend((0..dims).map(Function::Coordinate));
        if dims <= MOST_DIMS {
            let products = (0..dims).flat_map(|b| (0..=b).map(move |a| Function::Product(a, b)));
            functions.extend(products);
        }
    }
    let both = |wave| [false, true].map(|sine| Function::Wave { wave, sine });
    functions.extend((0..WAVES).flat_map(both));
    functions
}

fn group(function: Function, views: &[View]) -> Group {
    match function {
        Function::View { view, order } => match (views[view].sight, order) {
            (Sight::Column(_), 1) => Group::ColumnShift,
            (Sight::Column(_), 2) => Group::ColumnSpread,
            (Sight::Column(_), _) => Group::ColumnShape,
            (Sight::Given(_), 1) => Group::GivenShift,
            (Sight::Given(_), 2) => Group::GivenSpread,
            (Sight::Given(_), _) => Group::GivenShape,
            (Sight::Found, _) => Group::Found,
        },
        Function::Pair(..) => Group::Pair,
        Function::Length { .. } => Group::Length,
        Function::Coordinate(_) => Group::AnyShift,
        Function::Product(..) => Group::AnySpread,
        Function::Share(_) => Group::Share,
        Function::Wave { .. } => Group::Kernel,
    }
}

/// A group's figure; `None` where it has no functions.
fn figure(group: Group, line: &[f64], groups: &[Group], dims: usize) -> Option<f64> {
    let functions = match group {
        Group::AllSpread => Group::AnySpread,
        Group::AllColumns => Group::ColumnShift,
        group => group,
    };
    let start = groups.iter().position(|g| *g == functions)?;
    let squares = || line.iter().zip(groups).filter(|(_, g)| **g == functions).map(|(t, _)| t * t);
    match group {
        Group::AnyShift | Group::AllSpread | Group::AllColumns | Group::Kernel => {
            Some(squares().sum())
        }
        Group::AnySpread => {
            let values = eigenvalues(&symmetric(&line[start..], dims)).ok()?;
            Some(values[0].powi(2).max(values[dims - 1].powi(2)))
        }
        _ => Some(squares().fold(0.0, f64::max)),
    }
}

/// The difference of second moments from those of its entries. Squares of standard normal numbers have variance 2,
/// products of two have variance 1.
fn symmetric(products: &[f64], dims: usize) -> Mat<f64> {
    let entry = |a: usize, b: usize| products[b * (b + 1) / 2 + a];
    Mat::from_fn(dims, dims, |i, j| {
        let scale = if i == j { 2f64.sqrt() } else { 1.0 };
        scale * entry(i.min(j), i.max(j))
    })
}

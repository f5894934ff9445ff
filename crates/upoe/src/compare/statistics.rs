//! Everything that may differ between two tables of Gaussianised rows, tested at once.
//!
//! Each statistic is a mean of a function over the rows of B, less that over the rows of A. Those of one
//! kind form a group, which has one figure: the largest square, or a sum of squares. Figures of groups are
//! brought to one scale by their median and 95 % point over all exchanges, the tables as they are included, so that
//! the largest of all is a fair test: its p-value is exact, whatever the distribution of rows.

use super::Told;
use super::exchange::{Exchange, p_value};
use super::scores::{ORDERS, hermite, normal_scores, quantile, sorted, standardise};
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
}

const GROUPS: [Group; 12] = [
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
];

/// The Gumbel distribution with the median and the 95 % point of a group's figures.
#[derive(Clone, Copy, Debug)]
struct Scale {
    location: f64,
    width: f64,
}

impl Scale {
    fn of(figures: &[f64]) -> Scale {
        // Where P(X ≤ x) is 0.5 and 0.95, in widths from the location.
        let (middle, high) = (-(2f64.ln().ln()), -(-(0.95f64.ln())).ln());
        let figures = sorted(figures);
        let (median, upper) = (quantile(&figures, 0.5), quantile(&figures, 0.95));
        let width = ((upper - median) / (high - middle)).max(1e-12);
        Scale { location: median - middle * width, width }
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

/// Gaussianised rows with their views, as functions are computed from them.
struct Looks<'a> {
    x: &'a [f64],
    dims: usize,
    scores: Vec<Vec<f64>>,
    lengths: Vec<f64>,
}

impl Looks<'_> {
    fn fill(&self, function: Function, column: &mut [f64]) {
        let of_scores = |column: &mut [f64], scores: &[f64], order: usize| {
            column.iter_mut().zip(scores).for_each(|(c, h)| *c = hermite(order, *h));
        };
        let coordinate = |i: usize, a: usize| self.x[i * self.dims + a];
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
        }
        standardise(column);
    }
}

impl Tests {
    /// Tests rows of `dims` entries, those of A first.
    pub fn of<E>(
        x: &[f64],
        dims: usize,
        views: &[View],
        exchange: &Exchange,
        told: &mut Told<E>,
    ) -> Result<Tests, E> {
        let looks = looks(x, dims, views);
        let functions = functions(dims, views);
        let groups: Vec<Group> = functions.iter().map(|f| group(*f, views)).collect();
        let fill = |k: usize, column: &mut [f64]| looks.fill(functions[k], column);
        let sums = exchange.sums(functions.len(), fill, told)?;
        let figures = |line: &Vec<f64>| -> Vec<Option<f64>> {
            GROUPS.iter().map(|g| figure(*g, line, &groups, dims)).collect()
        };
        let figures: Vec<Vec<Option<f64>>> = sums.par_iter().map(figures).collect();
        let scale = |g: usize| -> Option<Scale> {
            let of_group: Option<Vec<f64>> = figures.iter().map(|line| line[g]).collect();
            of_group.map(|figures| Scale::of(&figures))
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
            !matches!(self.functions[*k], Function::Coordinate(_) | Function::Product(..))
        };
        (0..self.functions.len()).filter(named).map(|k| self.judged(k, self.differences[k]))
    }

    /// The direction in which the mean differs most and that in which the spread does, with their
    /// scores.
    pub fn anywhere(&self, dims: usize) -> [Option<(Vec<f64>, f64)>; 2] {
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
        [shift, spread]
    }
}

fn looks<'a>(x: &'a [f64], dims: usize, views: &[View]) -> Looks<'a> {
    let score = |view: &View| {
        let z: Vec<f64> = x.chunks_exact(dims).map(|x| dot(x, &view.direction)).collect();
        normal_scores(&z)
    };
    let lengths: Vec<f64> = x.chunks_exact(dims).map(|x| dot(x, x)).collect();
    let scores = views.par_iter().map(score).collect();
    Looks { x, dims, scores, lengths: normal_scores(&lengths) }
}

fn functions(dims: usize, views: &[View]) -> Vec<Function> {
    let mut functions = Vec::new();
    for view in 0..views.len() {
        functions.extend((1..=ORDERS).map(|order| Function::View { view, order }));
    }
    if dims > 1 {
        let columns = || (0..views.len()).filter(|v| matches!(views[*v].sight, Sight::Column(_)));
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
    }
}

/// A group's figure; `None` where it has no functions.
fn figure(group: Group, line: &[f64], groups: &[Group], dims: usize) -> Option<f64> {
    let functions = if group == Group::AllSpread { Group::AnySpread } else { group };
    let start = groups.iter().position(|g| *g == functions)?;
    let squares = || line.iter().zip(groups).filter(|(_, g)| **g == functions).map(|(t, _)| t * t);
    match group {
        Group::AnyShift | Group::AllSpread => Some(squares().sum()),
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

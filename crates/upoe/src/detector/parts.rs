//! A detector as plain numbers, for files.

use super::calibration::Calibration;
use super::cells::Cells;
use super::columns::{Columns, POINTS};
use super::core::Core;
use super::expected::Expected;
use super::frame::Frame;
use super::heavy::Heavy;
use super::oddness::{Scorer, Units};
use super::tail::Tail;
use super::{Conditional, Detector};
use crate::error::{Result, invalid};
use crate::linalg::orthonormal_in;

/// The numbers of a detector that looks at d of its columns, along J heavy directions.
#[derive(Clone, Debug, PartialEq)]
pub struct DetectorParts {
    /// How many columns a row has.
    pub columns: usize,
    /// The columns that are looked at, in rising order: d of them.
    pub used: Vec<usize>,
    /// Where each lies.
    pub location: Vec<f64>,
    /// How far each spreads.
    pub spread: Vec<f64>,
    /// The core's centre, in units of `spread` from `location`.
    pub centre: Vec<f64>,
    /// How far each column of the core spreads.
    pub core_spread: Vec<f64>,
    /// The core's sphering: d × d, lower triangular.
    pub sphering: Vec<f64>,
    /// The heavy directions: J × d.
    pub directions: Vec<Vec<f64>>,
    /// What a squared unit counts along each, and along all others: J + 1.
    pub factors: Vec<f64>,
    /// The columns' rarities at the points of their grids, column after column.
    pub rarity: Vec<f64>,
    /// Tails of the columns' residuals given the others: medians, how far they reach, and exponents: 3 × d.
    pub cells: [Vec<f64>; 3],
    /// −ln of the probability of a residual that reaches as far, less ln 2.
    pub level: f64,
    /// Mean and deviation of ln(1 + S/d), mean and deviation of ln(1 + C/d).
    pub units: [f64; 4],
    /// Residuals of each column given the others: d × d.
    pub residuals: Vec<f64>,
    /// 90 % of the residuals lie from here …
    pub low: Vec<f64>,
    /// … to here.
    pub high: Vec<f64>,
    /// The training rows' oddness, in falling order.
    pub oddness: Vec<f64>,
    /// How many of them are at least so odd.
    pub ranks: Vec<f64>,
    /// Median, rate and scale of the tail.
    pub tail: [f64; 3],
}

impl Detector {
    /// Its numbers.
    pub fn to_parts(&self) -> DetectorParts {
        let Detector { frame, scorer, expected, calibration } = self.clone();
        let Scorer { core, heavy, columns, cells, units } = scorer;
        let mut factors = heavy.factors;
        factors.push(heavy.rest);
        let Tail { median, rate, scale } = calibration.tail;
        DetectorParts {
            columns: frame.columns,
            used: frame.used,
            location: frame.location,
            spread: frame.spread,
            centre: core.centre,
            core_spread: core.spread,
            sphering: core.sphering,
            directions: heavy.directions,
            factors,
            rarity: columns.0,
            cells: [cells.median, cells.reach, cells.power],
            level: cells.level,
            units: [units.distance.0, units.distance.1, units.rarity.0, units.rarity.1],
            residuals: expected.residuals,
            low: expected.low,
            high: expected.high,
            oddness: calibration.oddness,
            ranks: calibration.ranks,
            tail: [median, rate, scale],
        }
    }

    /// A detector from its numbers, which are checked.
    pub fn from_parts(parts: DetectorParts) -> Result<Self> {
        if let Some(wrong) = parts.wrong() {
            return invalid("detector", "its numbers", wrong);
        }
        let p = parts;
        let rest = p.factors[p.directions.len()];
        let factors = p.factors[..p.directions.len()].to_vec();
        let [m1, s1, m2, s2] = p.units;
        let [median, rate, scale] = p.tail;
        let [medians, reaches, powers] = p.cells;
        Ok(Detector {
            frame: Frame {
                columns: p.columns,
                used: p.used,
                location: p.location,
                spread: p.spread,
            },
            scorer: Scorer {
                core: Core { centre: p.centre, spread: p.core_spread, sphering: p.sphering },
                heavy: Heavy { directions: p.directions, factors, rest },
                columns: Columns(p.rarity),
                cells: Cells::new(medians, reaches, powers, p.level),
                units: Units { distance: (m1, s1), rarity: (m2, s2) },
            },
            expected: Expected { residuals: p.residuals, low: p.low, high: p.high },
            calibration: Calibration {
                oddness: p.oddness,
                ranks: p.ranks,
                tail: Tail { median, rate, scale },
            },
        })
    }
}

impl DetectorParts {
    /// What is wrong with the numbers.
    fn wrong(&self) -> Option<&'static str> {
        let d = self.used.len();
        let rising = self.used.windows(2).all(|pair| pair[0] < pair[1]);
        if d == 0 || !rising || self.used[d - 1] >= self.columns {
            return Some("the columns that are looked at must be columns, in rising order");
        }
        let vectors = [&self.location, &self.spread, &self.centre, &self.core_spread];
        let square = d.checked_mul(d);
        let shapes = vectors
            .into_iter()
            .chain([&self.low, &self.high])
            .chain(&self.cells)
            .all(|v| v.len() == d)
            && [&self.sphering, &self.residuals].iter().all(|m| Some(m.len()) == square)
            && d.checked_mul(POINTS) == Some(self.rarity.len())
            && self.factors.len() == self.directions.len() + 1
            && self.oddness.len() == self.ranks.len()
            && !self.oddness.is_empty();
        if !shapes {
            return Some("their shapes must agree");
        }
        let numbers = vectors.into_iter().flatten().chain(self.directions.iter().flatten());
        let numbers = numbers.chain(&self.sphering).chain(&self.residuals).chain(&self.factors);
        let numbers = numbers
            .chain(&self.rarity)
            .chain(self.cells.iter().flatten())
            .chain(&self.low)
            .chain(&self.high);
        let numbers = numbers.chain([&self.level]).chain(&self.units);
        let mut numbers = numbers.chain(&self.oddness).chain(&self.ranks);
        if !numbers.all(|x| x.is_finite()) || !self.tail.iter().all(|x| x.is_finite()) {
            return Some("they must be finite");
        }
        let spreads = self.spread.iter().chain(&self.core_spread);
        let [_, s1, _, s2] = self.units;
        let mut positive = spreads.chain([&s1, &s2, &self.tail[1], &self.tail[2]]);
        let [_, reaches, powers] = &self.cells;
        let at_least_0 = self.factors.iter().chain(reaches).chain([&self.level]).all(|f| *f >= 0.0)
            && powers.iter().all(|power| *power > 0.0);
        if !positive.all(|x| *x > 0.0) || !at_least_0 {
            return Some("spreads must be positive, and factors not negative");
        }
        let upper =
            (0..d).any(|i| self.sphering[i * d + i + 1..(i + 1) * d].iter().any(|x| *x != 0.0));
        if upper || !orthonormal_in(&self.directions, d) {
            return Some("directions must be orthonormal, and the sphering lower triangular");
        }
        let falling = self.oddness.windows(2).all(|pair| pair[0] >= pair[1]);
        let counts = self.ranks.windows(2).all(|pair| pair[0] < pair[1]) && self.ranks[0] > 0.0;
        (!falling || !counts).then_some("training rows must be in falling order of their oddness")
    }
}

impl Conditional {
    /// Whether a value lies outside the interval.
    pub fn excludes(&self, value: f64) -> bool {
        !(self.low <= value && value <= self.high)
    }
}

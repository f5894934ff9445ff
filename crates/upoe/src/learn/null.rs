//! How large the best gain on Gaussian rows is: the law behind the `null` stop rule.
//!
//! For rows drawn from a Gaussian, 2N times the gain of the best direction has a distribution
//! that depends on the rows, the free dimensions and the family alone. `null_table.csv`, made
//! by `cargo run -p xtask -- null-table`, holds its mean, deviation and 95 % point on a grid; between
//! grid points they are interpolated on logarithmic scales. The tail is the heavier of a Gumbel and a
//! gamma law with this mean and deviation (the supremum of a chi-square field lies between the two),
//! stretched where its 95 % point lies below that of the table.

use crate::expert::{Expert, Family};
use special::Gamma as _;
use std::sync::OnceLock;

/// The distribution of 2N·gain at one grid point: logarithms of its mean, deviation and 95 % point.
#[derive(Clone, Copy, Debug)]
struct Cell {
    ln_ratio: f64,
    ln: [f64; 3],
}

/// The distribution of 2N·gain on Gaussian rows.
#[derive(Clone, Copy, Debug)]
struct Law {
    mean: f64,
    deviation: f64,
    /// By how much the tail of the law with these moments is stretched.
    stretch: f64,
    /// The shape of the gamma law that the tail follows beyond the 95 % point, where nothing was searched.
    unsearched: Option<f64>,
}

/// Where nothing is searched, as on a single column, the tail of 2N·gain is that of a likelihood ratio, a gamma
/// law whose rate is ½ in the limit of many rows. This rate gives the chances of 1 %, 0.3 % and 0.1 % that 7,500
/// to 28,000 samples of 30 to 3,000 Gaussian rows have for each family, or more of them, within a third.
const RATE: f64 = 0.45;

impl Law {
    fn new(mean: f64, deviation: f64, upper: f64) -> Self {
        let law = Law { mean, deviation: MARGIN * deviation, stretch: 1.0, unsearched: None };
        let stretch = law.point(0.05).map_or(1.0, |point| (upper / point).max(1.0));
        Law { stretch, ..law }
    }

    /// The same law of a gain that was not searched for.
    fn unsearched(self) -> Self {
        let Some(point) = self.point(0.05) else { return self };
        let (mut low, mut high) = (1e-3, 100.0);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if gamma_above(middle, RATE * point) < 0.05 { low = middle } else { high = middle }
        }
        Law { unsearched: Some(high), ..self }
    }

    /// The chance of a value above t.
    fn above(&self, t: f64) -> f64 {
        let Law { mean, deviation, stretch, unsearched } = *self;
        let stretched = t / stretch;
        let width = deviation * 6.0_f64.sqrt() / std::f64::consts::PI;
        let centre = mean - 0.577_215_664_901_532_9 * width;
        let gumbel = -(-(-(stretched - centre) / width).exp()).exp_m1();
        let shape = (mean / deviation).powi(2);
        let gamma = gamma_above(shape, stretched * mean / deviation.powi(2));
        match (gumbel.max(gamma), unsearched) {
            (above, Some(shape)) if above < 0.05 => gamma_above(shape, RATE * t),
            (above, _) => above.clamp(0.0, 1.0),
        }
    }

    /// The value that is exceeded with this chance; `None` where it is out of reach.
    fn point(&self, chance: f64) -> Option<f64> {
        let (mut low, mut high) = (0.0, self.mean + 100.0 * self.deviation);
        if self.above(high) > chance {
            return None;
        }
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            if self.above(middle) > chance { low = middle } else { high = middle }
        }
        Some(high)
    }
}

/// The chance that a gamma variable of rate 1 lies above x.
fn gamma_above(shape: f64, x: f64) -> f64 {
    let above = 1.0 - x.inc_gamma(shape);
    if above > 1e-9 {
        return above;
    }
    // The difference has too few digits left. Legendre's continued fraction, from its far end.
    let tail = (1..=60).rev().fold(0.0, |tail, k| {
        let k = f64::from(k);
        k * (shape - k) / (x + 2.0 * k + 1.0 - shape + tail)
    });
    let ln_front = shape * x.ln() - x - special::Gamma::ln_gamma(shape).0;
    ln_front.exp() / (x + 1.0 - shape + tail)
}

/// The cells of one number of dimensions, by rising rows per dimension.
#[derive(Clone, Debug)]
struct Line {
    dims: f64,
    cells: Vec<Cell>,
}

/// The lines of one family and mixture size, by rising dimensions.
struct Section {
    family: String,
    size: usize,
    lines: Vec<Line>,
}

/// The table's own uncertainty: deviations come from 40 to 100 samples per cell.
const MARGIN: f64 = 1.08;

/// With fewer rows per dimension there is no evidence: d + 1 sphered rows are the corners of the
/// same simplex, whatever the data, and some direction splits them in any way.
pub const FEWEST: f64 = 1.5;

/// With fewer rows nothing was simulated.
pub const FEWEST_ROWS: f64 = 8.0;

/// The chance that the best direction of Gaussian rows of total weight `weight` in `dims` free
/// dimensions gains as much under this expert's family.
pub fn p_value(expert: &Expert, weight: f64, dims: usize, gain: f64) -> f64 {
    let t = 2.0 * weight * gain;
    // A family that was not simulated cannot be significant.
    match law(expert, weight, dims) {
        Some(law) if t > 0.0 && weight >= FEWEST * dims as f64 => law.above(t),
        _ => 1.0,
    }
}

/// The gain that the best direction of such Gaussian rows exceeds with a chance of `p`; `None` where no
/// gain shows anything.
pub fn gain(expert: &Expert, weight: f64, dims: usize, p: f64) -> Option<f64> {
    let enough = weight >= FEWEST * dims as f64;
    let point = law(expert, weight, dims).filter(|_| enough)?.point(p)?;
    Some(0.5 * point / weight)
}

/// Most dimensions to which the table's trend is continued without a word. Up to 200 it is checked.
const MOST_DIMS: f64 = 512.0;

/// Whether the table covers such rows: by simulation, or by the limit of 2N·gain for many rows.
pub fn covers(expert: &Expert, weight: f64, dims: usize) -> bool {
    let Some((_, beyond)) = section(expert) else { return false };
    beyond == 0.0 && weight >= FEWEST * dims as f64 && dims as f64 <= MOST_DIMS
}

/// The chance that the expert of one column gains as much on Gaussian rows.
pub fn column_p_value(expert: &Expert, weight: f64, gain: f64) -> f64 {
    p_value(expert, weight, 1, gain)
}

/// The chance that the radial expert of Gaussian rows of total weight `weight` in `dims` dimensions gains as
/// much.
pub fn radial_p_value(weight: f64, dims: usize, gain: f64) -> f64 {
    static TABLE: OnceLock<Vec<Section>> = OnceLock::new();
    let table = TABLE.get_or_init(|| read(include_str!("radial_table.csv")));
    let law = table.first().map(|section| section.at(weight, dims));
    let t = 2.0 * weight * gain;
    match law.map(|[mean, deviation, upper]| Law::new(mean, deviation, upper)) {
        Some(law) if t > 0.0 && weight >= (FEWEST * dims as f64).max(FEWEST_ROWS) => law.above(t),
        _ => 1.0,
    }
}

fn law(expert: &Expert, weight: f64, dims: usize) -> Option<Law> {
    let (section, beyond) = section(expert)?;
    let at = |section: &Section| section.at(weight, dims);
    let [mean, deviation, upper] = at(section);
    // Each component past the tabulated ones adds what the last one did.
    let more =
        match table().iter().find(|s| s.family == section.family && s.size + 1 == section.size) {
            Some(smaller) if beyond > 0.0 => beyond * (mean - at(smaller)[0]).max(0.0),
            _ => 0.0,
        };
    let law = Law::new(mean + more, deviation, upper + more);
    Some(if dims == 1 { law.unsearched() } else { law })
}

/// The section for an expert, and how many components it has past the largest tabulated; `None`
/// where its family is not in the table.
fn section(expert: &Expert) -> Option<(&'static Section, f64)> {
    let (family, size) = match expert {
        Expert::StudentT(_) => (Family::StudentT, 1),
        Expert::Tilt(_) => (Family::Tilt, 1),
        Expert::Mixture(m) => match m.components().len() {
            1 => (Family::StudentT, 1),
            size => (Family::Mixture, size),
        },
    };
    let sections = table();
    let exact = sections.iter().find(|s| s.family == family.name() && s.size == size);
    let largest = sections.iter().filter(|s| s.family == family.name()).max_by_key(|s| s.size);
    match (exact, largest) {
        (Some(section), _) => Some((section, 0.0)),
        (None, section) => section.map(|s| (s, size.saturating_sub(s.size) as f64)),
    }
}

impl Section {
    /// Mean, deviation and 95 % point of 2N·gain, interpolated in ln dims and ln(rows/dims).
    fn at(&self, weight: f64, dims: usize) -> [f64; 3] {
        let (ln_dims, ln_ratio) = ((dims as f64).ln(), (weight / dims as f64).ln());
        let upper =
            self.lines.partition_point(|l| l.dims < dims as f64).clamp(1, self.lines.len() - 1);
        let (low, high) = (upper - 1, upper);
        let (a, b) = (self.line_at(low, ln_ratio), self.line_at(high, ln_ratio));
        let (from, to) = (self.lines[low].dims.ln(), self.lines[high].dims.ln());
        let share = ((ln_dims - from) / (to - from)).max(0.0);
        std::array::from_fn(|k| (a.ln[k] + share * (b.ln[k] - a.ln[k])).exp())
    }

    /// Along one line. Past its last cell the trend of the next smaller dimension continues;
    /// past the end of that there is no trend, because 2N·gain has a limit as N grows.
    fn line_at(&self, line: usize, ln_ratio: f64) -> Cell {
        let cells = &self.lines[line].cells;
        let last = cells[cells.len() - 1];
        if ln_ratio > last.ln_ratio {
            if line == 0 {
                return Cell { ln_ratio, ..last };
            }
            let (here, there) =
                (self.line_at(line - 1, last.ln_ratio), self.line_at(line - 1, ln_ratio));
            let ln = std::array::from_fn(|k| last.ln[k] + there.ln[k] - here.ln[k]);
            return Cell { ln_ratio, ln };
        }
        let upper = cells.partition_point(|c| c.ln_ratio < ln_ratio).clamp(1, cells.len() - 1);
        let (a, b) = (cells[upper - 1], cells[upper]);
        let share = (ln_ratio - a.ln_ratio) / (b.ln_ratio - a.ln_ratio);
        Cell { ln_ratio, ln: std::array::from_fn(|k| a.ln[k] + share * (b.ln[k] - a.ln[k])) }
    }
}

fn table() -> &'static [Section] {
    static TABLE: OnceLock<Vec<Section>> = OnceLock::new();
    TABLE.get_or_init(|| read(include_str!("null_table.csv")))
}

fn read(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().skip(1) {
        let mut fields = line.split(',');
        let family = fields.next();
        let numbers: Vec<f64> = fields.filter_map(|f| f.parse().ok()).collect();
        let (Some(family), &[size, dims, rows, _, mean, deviation, upper]) = (family, &numbers[..])
        else {
            continue;
        };
        let cell = Cell {
            ln_ratio: (rows / dims).ln(),
            ln: [mean.max(0.05).ln(), deviation.max(0.1).ln(), upper.max(0.1).ln()],
        };
        let known = sections.iter().position(|s| s.family == family && s.size == size as usize);
        let section = known.unwrap_or_else(|| {
            sections.push(Section {
                family: family.to_owned(),
                size: size as usize,
                lines: Vec::new(),
            });
            sections.len() - 1
        });
        let lines = &mut sections[section].lines;
        match lines.iter_mut().find(|l| l.dims == dims) {
            Some(line) => line.cells.push(cell),
            None => lines.push(Line { dims, cells: vec![cell] }),
        }
    }
    for section in &mut sections {
        section.lines.sort_by(|a, b| a.dims.total_cmp(&b.dims));
        for line in &mut section.lines {
            line.cells.sort_by(|a, b| a.ln_ratio.total_cmp(&b.ln_ratio));
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Settings;

    #[test]
    fn every_family_that_learning_tries_is_in_the_table() {
        for &family in Family::ALL {
            let templates = Settings::default().templates(family, 1000.0).expect("templates");
            for expert in &templates {
                assert!(
                    section(expert).is_some_and(|(s, _)| s.family == family.name()),
                    "{family:?}"
                );
                assert!(covers(expert, 300.0, 3) && p_value(expert, 300.0, 3, 1.0) < 1e-6);
            }
        }
    }

    /// Chances that simulation gave: of 22,000 samples of 300 Gaussian rows Student-t exceeds 9.1 and 11.4 with
    /// 0.001 and 0.0003; of 17,000 the tilt 9.8 and 12.1 with 0.003 and 0.001.
    #[test]
    fn the_tail_of_a_single_column_is_that_of_simulated_rows() {
        let above = |family: Family, t: f64| {
            let templates = Settings::default().templates(family, 300.0).expect("templates");
            p_value(&templates[0], 300.0, 1, t / 600.0)
        };
        let simulated = [
            (Family::StudentT, 9.1, 0.001),
            (Family::StudentT, 11.4, 0.0003),
            (Family::Tilt, 9.8, 0.003),
            (Family::Tilt, 12.1, 0.001),
        ];
        for (family, t, chance) in simulated {
            let told = above(family, t);
            assert!(told > 0.8 * chance && told < 2.0 * chance, "{family:?} {t}: {told}");
        }
        // It falls without a jump, and never to zero.
        let steps: Vec<f64> =
            (1..4000).map(|i| above(Family::StudentT, 0.1 * f64::from(i))).collect();
        assert!(steps.windows(2).all(|p| p[1] < p[0] && p[1] > 0.85 * p[0]), "a jump");
    }
}

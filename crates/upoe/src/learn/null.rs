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
}

impl Law {
    fn new(mean: f64, deviation: f64, upper: f64) -> Self {
        let law = Law { mean, deviation: MARGIN * deviation, stretch: 1.0 };
        let stretch = law.point(0.05).map_or(1.0, |point| (upper / point).max(1.0));
        Law { stretch, ..law }
    }

    /// The chance of a value above t.
    fn above(&self, t: f64) -> f64 {
        let Law { mean, deviation, stretch } = *self;
        let t = t / stretch;
        let width = deviation * 6.0_f64.sqrt() / std::f64::consts::PI;
        let centre = mean - 0.577_215_664_901_532_9 * width;
        let gumbel = -(-(-(t - centre) / width).exp()).exp_m1();
        let shape = (mean / deviation).powi(2);
        let gamma = 1.0 - (t * mean / deviation.powi(2)).inc_gamma(shape);
        gumbel.max(gamma).clamp(0.0, 1.0)
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

/// The cells of one number of dimensions, by rising rows per dimension.
#[derive(Clone, Debug)]
struct Line {
    dims: f64,
    cells: Vec<Cell>,
}

/// The lines of one family and mixture size, by rising dimensions.
struct Section {
    family: Family,
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
    Some(Law::new(mean + more, deviation, upper + more))
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
    let exact = sections.iter().find(|s| s.family == family && s.size == size);
    let largest = sections.iter().filter(|s| s.family == family).max_by_key(|s| s.size);
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
        let name = fields.next();
        let numbers: Vec<f64> = fields.filter_map(|f| f.parse().ok()).collect();
        let family = Family::ALL.iter().find(|f| Some(f.name()) == name);
        let (Some(&family), &[size, dims, rows, _, mean, deviation, upper]) =
            (family, &numbers[..])
        else {
            continue;
        };
        let cell = Cell {
            ln_ratio: (rows / dims).ln(),
            ln: [mean.max(0.05).ln(), deviation.max(0.1).ln(), upper.max(0.1).ln()],
        };
        let known = sections.iter().position(|s| s.family == family && s.size == size as usize);
        let section = known.unwrap_or_else(|| {
            sections.push(Section { family, size: size as usize, lines: Vec::new() });
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
                assert!(section(expert).is_some_and(|(s, _)| s.family == family), "{family:?}");
                assert!(covers(expert, 300.0, 3) && p_value(expert, 300.0, 3, 1.0) < 1e-6);
            }
        }
    }
}

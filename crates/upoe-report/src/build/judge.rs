//! Which rows are odd: the detector of `upoe outliers`, fitted to the rows of the page.

use upoe::evaluate::false_discovery;
use upoe::{Detector, DetectorSettings, Error, Rows};

use super::summary::thousands;
use super::{Input, Step, rows};
use crate::Judgement;

/// Rows are called odd at this level, as `upoe outliers` does by default.
const ALPHA: f64 = 0.01;
/// The false discovery rate at which rows are odder than chance explains.
const FALSE_DISCOVERIES: f64 = 0.1;
/// Rows that are judged at most; of more, a random sample.
const MOST_JUDGED: usize = 200_000;

/// The rows that were judged.
pub(super) struct Judged {
    detector: Detector,
    /// The numbers of the rows, rising, and the oddness, the p-value and the q-value of each.
    rows: Vec<usize>,
    oddness: Vec<f64>,
    p_values: Vec<f64>,
    q_values: Vec<f64>,
}

/// How many rows are odd.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    /// At level [`ALPHA`].
    pub odd: usize,
    /// At the false discovery rate [`FALSE_DISCOVERIES`].
    pub certain: usize,
    /// By chance alone, at level [`ALPHA`].
    pub chance: f64,
    /// The rows that were judged.
    pub judged: usize,
}

/// What was judged, if anything, how many rows are odd in words, and which rows were not judged.
pub(super) struct Verdict {
    pub judged: Option<Judged>,
    pub words: String,
    pub note: Option<String>,
}

/// Fits the detector of `upoe outliers` to the rows without missing cells, and judges them.
pub(super) fn judge<E: From<Error>>(
    input: &Input,
    watch: &mut dyn FnMut(Step) -> Result<(), E>,
) -> Result<Verdict, E> {
    let (all, columns) = (input.rows, input.rows.columns());
    let none = |words: String| Ok(Verdict { judged: None, words, note: None });
    if input.image.is_some() {
        return none("Pixels are not judged one by one: these are the least probable rows.".into());
    }
    let complete: Vec<usize> =
        (0..all.len()).filter(|&i| !all.row(i).iter().any(|cell| cell.is_nan())).collect();
    let missing = all.len() - complete.len();
    let chosen: Vec<usize> = if complete.len() > MOST_JUDGED {
        let sample = rows::choose_of(complete.len(), MOST_JUDGED, &[], input.seed);
        sample.into_iter().map(|at| complete[at]).collect()
    } else {
        complete
    };
    let note = match (missing, chosen.len() < all.len() - missing) {
        (0, false) => None,
        (_, false) => Some(format!("{} with missing cells were not judged.", rows_of(missing))),
        (_, true) => Some(format!(
            "{} of {} rows were judged, drawn at random; `upoe outliers` judges all.",
            thousands(chosen.len()),
            thousands(all.len())
        )),
    };
    let values: Vec<f64> = match chosen.len() == all.len() {
        true => Vec::new(),
        false => chosen.iter().flat_map(|&i| all.row(i).into_owned()).collect(),
    };
    let part = if values.is_empty() { all } else { Rows::new(&values, columns)? };
    if chosen.is_empty() {
        return none("No row is complete, so none was judged.".into());
    }
    watch(Step { what: "fitting the detector", done: 0, total: 1, unit: "steps" })?;
    let fit = match Detector::fit(&part, &DetectorSettings::default()) {
        Ok(fit) => fit,
        Err(error) => {
            return none(format!(
                "No row was judged: {error}. The least probable rows are listed."
            ));
        }
    };
    let q_values = false_discovery(&fit.p_values);
    let (detector, oddness, p_values) = (fit.detector, fit.oddness, fit.p_values);
    let judged = Judged { detector, rows: chosen, oddness, p_values, q_values };
    let Counted { odd, chance, judged: of, .. } = judged.counted();
    let words = format!(
        "{} of {} {} odd at alpha {ALPHA}; chance alone would give about {}",
        thousands(odd),
        rows_of(of),
        if odd == 1 { "is" } else { "are" },
        number_of(chance),
    );
    Ok(Verdict { judged: Some(judged), words, note })
}

impl Judged {
    /// How many rows are odd, and how many chance alone would give.
    pub fn counted(&self) -> Counted {
        let at_most = |values: &[f64], most: f64| values.iter().filter(|v| **v <= most).count();
        Counted {
            odd: at_most(&self.p_values, ALPHA),
            certain: at_most(&self.q_values, FALSE_DISCOVERIES),
            chance: ALPHA * self.rows.len() as f64,
            judged: self.rows.len(),
        }
    }

    /// The oddest rows, the oddest first: `most` of them if as many are odd, but at least `least`.
    pub fn oddest(&self, least: usize, most: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by(|a, b| self.oddness[*b].total_cmp(&self.oddness[*a]).then(a.cmp(b)));
        // Rows are odd in the order of their oddness.
        order.truncate(self.counted().odd.clamp(least, most));
        order.into_iter().map(|at| self.rows[at]).collect()
    }

    /// What the detector says of a row that was judged.
    pub fn of(&self, input: &Input, row: usize) -> upoe::Result<Option<Judgement>> {
        let Ok(at) = self.rows.binary_search(&row) else { return Ok(None) };
        let values = input.rows.row(row);
        let reasons = self.detector.explain(&values)?.reasons(&values);
        let p_value = self.p_values[at];
        Ok(Some(Judgement {
            odd: p_value <= ALPHA,
            oddness: self.oddness[at],
            p_value,
            q_value: self.q_values[at],
            by_chance: by_chance(p_value, self.rows.len()),
            reasons: reasons
                .iter()
                .map(|reason| reason.text(&input.names[reason.column]))
                .collect(),
        }))
    }
}

/// How many rows with such a p-value chance alone would give among so many.
fn by_chance(p_value: f64, rows: usize) -> String {
    let number = match p_value * rows as f64 {
        few if few < 0.1 => "less than 0.1".to_owned(),
        more => format!("about {}", number_of(more)),
    };
    format!("chance alone would give {number} such rows among {}", thousands(rows))
}

/// How many rows to expect, in few digits.
fn number_of(rows: f64) -> String {
    if rows < 9.95 { format!("{rows:.1}") } else { thousands(rows.round() as usize) }
}

fn rows_of(count: usize) -> String {
    format!("{} row{}", thousands(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::by_chance;

    #[test]
    fn what_chance_gives_has_few_digits() {
        let said = |number: &str, rows: &str| {
            format!("chance alone would give {number} such rows among {rows}")
        };
        assert_eq!(by_chance(0.05, 200), said("about 10", "200"));
        assert_eq!(by_chance(0.0117, 200), said("about 2.3", "200"));
        assert_eq!(by_chance(1e-4, 200), said("less than 0.1", "200"));
        assert_eq!(by_chance(0.1, 50_000), said("about 5,000", "50,000"));
    }
}

//! Rows in several places, which answer questions.

use super::partition::{Asked, Question, at, from_bytes};
use super::{Candidate, Engine, Memory, Picked, Sums, draw, rounding};
use crate::error::{Error, Result};
use upoe_kernels::{Real, Term as _};

/// Several places with rows, such as the workers of a cluster. Each method sends the same bytes to all of
/// them and returns their answers in the order of their numbers, whoever gave them.
///
/// `docs/scale.md` shows how a program of Ray or MPI does it in 30 lines.
pub trait Cluster: Send + Sync {
    /// What [`look`](crate::look) says of each partition's rows.
    fn look(&self, question: &[u8]) -> Result<Vec<Vec<u8>>>;

    /// Makes a [`Partition`](super::Partition) of each partition's rows by [`sphere`](crate::sphere), and
    /// keeps it in its place.
    fn sphere(&self, plan: &[u8]) -> Result<()>;

    /// What [`Partition::answer`](super::Partition::answer) says, of each.
    fn ask(&self, question: &[u8]) -> Result<Vec<Vec<u8>>>;
}

/// An engine over the rows of several places. Sums are merged in the order of the places, so that the
/// result does not depend on who computed which.
pub struct Remote<'a> {
    cluster: &'a dyn Cluster,
    /// Whether these are the rows held out.
    held: bool,
    dims: usize,
    /// The number of the first row of each partition, and of all rows.
    starts: Vec<usize>,
    weight: f64,
    weighted: bool,
    rounding: f64,
}

/// What an engine must know of the rows of several places.
pub(crate) struct Shape {
    pub held: bool,
    pub dims: usize,
    /// How many rows each place has.
    pub rows: Vec<usize>,
    pub weight: f64,
    pub weighted: bool,
    pub rounding: f64,
}

impl<'a> Remote<'a> {
    pub(crate) fn new(cluster: &'a dyn Cluster, shape: Shape) -> Self {
        let Shape { held, dims, rows, weight, weighted, rounding } = shape;
        let mut starts = vec![0];
        rows.iter().for_each(|rows| starts.push(starts[starts.len() - 1] + rows));
        Remote { cluster, held, dims, starts, weight, weighted, rounding }
    }

    fn partitions(&self) -> usize {
        self.starts.len() - 1
    }

    /// The numbers that each partition answers.
    fn ask(&self, question: Question) -> Result<Vec<Vec<f64>>> {
        let asked = Asked { held: self.held, question };
        let bytes = serde_json::to_vec(&asked).map_err(|e| Error::Engine {
            place: "a question to partitions".into(),
            reason: e.to_string(),
        })?;
        let answers = self.cluster.ask(&bytes)?;
        let (expected, got) = (self.partitions(), answers.len());
        if expected != got {
            return Err(Error::Shape { what: "answers, one per partition", expected, got });
        }
        Ok(answers.iter().map(|bytes| from_bytes(bytes)).collect())
    }

    fn has_rows(&self, partition: usize) -> bool {
        self.starts[partition + 1] > self.starts[partition]
    }

    /// Refuses an answer of another length.
    fn check(&self, partition: usize, answer: &[f64], expected: usize) -> Result<()> {
        match answer.len() {
            got if got == expected => Ok(()),
            got => Err(at(partition, format!("answered {got} numbers, {expected} were expected"))),
        }
    }
}

impl Engine for Remote<'_> {
    fn dims(&self) -> usize {
        self.dims
    }

    fn rows(&self) -> usize {
        self.starts[self.partitions()]
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn is_white(&self) -> bool {
        !self.held
    }

    fn rounding(&self) -> f64 {
        self.rounding
    }

    fn mean_square(&self) -> Result<f64> {
        if self.is_white() {
            return Ok(self.dims as f64);
        }
        let answers = self.ask(Question::Squares)?;
        Ok(answers.iter().flatten().sum::<f64>() / self.weight)
    }

    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        let none = |c: &Candidate| Sums {
            gradient: vec![0.0; self.dims],
            statistics: vec![0.0; c.expert.n_sums()],
        };
        let mut total: Vec<Sums> = candidates.iter().map(none).collect();
        let length: usize = candidates.iter().map(|c| self.dims + c.expert.n_sums()).sum();
        let answers = self.ask(Question::Sums(candidates.to_vec()))?;
        let mut parts = Vec::new();
        for (partition, answer) in answers.into_iter().enumerate() {
            if self.has_rows(partition) {
                self.check(partition, &answer, length)?;
                parts.push(answer);
            }
        }
        if parts.is_empty() {
            return Ok(total);
        }
        // In the order in which rows in memory add up their parts.
        let part = |k: usize| parts[k].clone();
        let add = |a: &mut Vec<f64>, b: Vec<f64>| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        let whole = upoe_kernels::reduce(0..parts.len(), false, &part, &add);
        let mut rest = whole.into_iter();
        for sums in &mut total {
            sums.gradient.iter_mut().zip(&mut rest).for_each(|(to, x)| *to = x);
            sums.statistics.iter_mut().zip(&mut rest).for_each(|(to, x)| *to = x);
        }
        Ok(total)
    }

    /// As the trait's default, but in the precision of the rows.
    fn subset(&self, seed: u64, n: usize) -> Result<Option<Box<dyn Engine>>> {
        let Some(chosen) = draw(self.rows(), seed, n) else { return Ok(None) };
        let Picked { rows, weights } = self.pick(&chosen)?;
        if weights.as_ref().is_some_and(|w| !(w.iter().sum::<f64>() > 0.0)) {
            return Ok(None);
        }
        if self.rounding == rounding::<f64>() {
            return Ok(Some(self.over(Picked { rows, weights })?));
        }
        let rows: Vec<f32> = rows.into_iter().map(Real::from_f64).collect();
        Ok(Some(Box::new(Memory::held_out(rows, self.dims, weights)?)))
    }

    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        // The row that is asked for, and where it is: its partition and its place in the answer.
        let mut asked = vec![Vec::new(); self.partitions()];
        let mut places = Vec::with_capacity(rows.len());
        for &row in rows {
            let partition = self.starts.partition_point(|start| *start <= row).saturating_sub(1);
            if partition >= self.partitions() {
                let (what, got) = ("rows to pick from", self.rows());
                return Err(Error::Shape { what, expected: row + 1, got });
            }
            places.push((partition, asked[partition].len()));
            asked[partition].push(row - self.starts[partition]);
        }
        let counts: Vec<usize> = asked.iter().map(Vec::len).collect();
        let answers = self.ask(Question::Pick(asked))?;
        let width = self.dims + usize::from(self.weighted);
        for (partition, answer) in answers.iter().enumerate().filter(|(k, _)| counts[*k] > 0) {
            self.check(partition, answer, counts[partition] * width)?;
        }
        let row =
            |&(partition, i): &(usize, usize)| &answers[partition][i * self.dims..][..self.dims];
        let weight = |&(partition, i): &(usize, usize)| {
            answers[partition][counts[partition] * self.dims + i]
        };
        Ok(Picked {
            rows: places.iter().flat_map(row).copied().collect(),
            weights: self.weighted.then(|| places.iter().map(weight).collect()),
        })
    }
}

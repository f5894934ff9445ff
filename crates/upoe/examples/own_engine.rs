//! Your own engine: rows that live in two places.
//!
//! Learners ask an engine for sums and never see rows, so rows can be anywhere. Here each half of
//! the rows has its own engine, as if it were on its own machine; candidates go to both, and their
//! sums are merged in a fixed order. `Memory` sums 960 rows at a time and adds these blocks in a
//! balanced tree. The halves consist of the same blocks and the root of the tree lies between
//! them, so the fitted model has the same bits as that of one `Memory` over all rows.
//!
//! `cargo run --release -p upoe --example own_engine`

use upoe::engine::{Candidate, Engine, Memory, Picked, Sums};
use upoe::{Dims, Fitter, Moments, Result, Rows, Settings, Whitening};

const COLUMNS: usize = 4;
const HALF: usize = 1920;

/// Rows in two places.
struct Halves {
    first: Memory<f64>,
    second: Memory<f64>,
}

impl Engine for Halves {
    fn dims(&self) -> usize {
        self.first.dims()
    }

    fn rows(&self) -> usize {
        self.first.rows() + self.second.rows()
    }

    fn weight(&self) -> f64 {
        self.first.weight() + self.second.weight()
    }

    fn is_white(&self) -> bool {
        true // over both halves together
    }

    fn mean_square(&self) -> Result<f64> {
        Ok(self.dims() as f64) // since the rows are white
    }

    fn sums(&self, candidates: &[Candidate]) -> Result<Vec<Sums>> {
        let mut sums = self.first.sums(candidates)?;
        let others = self.second.sums(candidates)?;
        sums.iter_mut().zip(&others).for_each(|(sums, other)| sums.merge(other));
        Ok(sums)
    }

    fn pick(&self, rows: &[usize]) -> Result<Picked> {
        let mut picked = Picked { rows: Vec::new(), weights: None };
        for &row in rows {
            let part = match row.checked_sub(self.first.rows()) {
                None => self.first.pick(&[row])?,
                Some(row) => self.second.pick(&[row])?,
            };
            picked.rows.extend(part.rows);
        }
        Ok(picked)
    }
}

/// Runs the example.
pub fn main() -> Result<()> {
    let values = rows();
    let (first, second) = values.split_at(HALF * COLUMNS);
    let (first, second) = (Rows::new(first, COLUMNS)?, Rows::new(second, COLUMNS)?);

    // Moments are merged, too; sphering comes from them alone.
    let mut moments = Moments::of(&first)?;
    moments.merge(&Moments::of(&second)?);
    let (whitening, _) = Whitening::from_moments(&moments, Dims::All)?;
    let engine = |rows: &Rows| Memory::new(whitening.sphere(rows)?, whitening.dims(), None);
    let halves = Halves { first: engine(&first)?, second: engine(&second)? };
    let whole = engine(&Rows::new(&values, COLUMNS)?)?;

    let fit = |engine: &dyn Engine| {
        Fitter::new(Settings::default()).fit_engine(whitening.clone(), engine, None)
    };
    let (a, b) = (fit(&halves)?, fit(&whole)?);
    println!("{} experts; {}", a.state.experts.len(), a.stop);
    for (j, (a, b)) in a.state.experts.iter().zip(&b.state.experts).enumerate() {
        println!(
            "expert {}: gain {:.6} nats per row from two halves, {:.6} from all",
            j + 1,
            a.gain,
            b.gain
        );
    }
    assert!(!a.state.experts.is_empty());
    assert_eq!(a.state, b.state, "the same bits");
    println!("The two models are the same to the bit.");
    Ok(())
}

/// Two groups along one direction, heavy tails along another, mixed.
fn rows() -> Vec<f64> {
    let mut state = 1_u64;
    let mut uniform = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..2 * HALF)
        .flat_map(|i| {
            let mut noise = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
            let groups = if i % 3 == 0 { 2.5 } else { -2.5 } + noise();
            let heavy = noise() / noise().abs().max(0.3);
            let (a, b) = (noise(), noise());
            [groups + a, heavy - 0.5 * groups, a + b, b - heavy]
        })
        .collect()
}

//! Under-complete products of experts: projection-pursuit density estimation with an exact
//! likelihood.
//!
//! # The model on one page
//!
//! Rows are centred and sphered, x = A (row − m) ([`Whitening`]). The density is Gaussian,
//! except along J ≤ D learned directions wⱼ, where a one-dimensional [`expert`] Tⱼ describes
//! the projections zⱼ = wⱼᵀx ([`Model`], equation (4) of the paper):
//!
//! ```text
//! ln p(x)   = Σⱼ ln Tⱼ(wⱼᵀx) + ½ ln|WWᵀ| − ½ xᵀP⊥x − ½(D−J) ln 2π
//! ln p(row) = ln p(x) + ln|A|
//! ```
//!
//! P⊥ projects on the complement of the directions. The density is normalised over all
//! columns, whatever J is. Each expert's *gain* (the paper's −Q) is what it adds to the mean
//! log-likelihood of the training rows, in nats per row.
//!
//! Three [`Learner`]s find directions and experts together: **pursuit** one direction at a
//! time, orthonormal to the earlier ones; **sequential** one at a time, free; **parallel** all
//! at once. By default every direction tries each [family](expert::Family) and keeps the one
//! whose gain exceeds the price of its parameters most, and learning stops when the next
//! direction gains no more than the best direction of Gaussian noise would ([`Stop::Null`]).
//!
//! # A first example
//!
//! ```
//! use upoe::expert::Marginal;
//! use upoe::{Rows, Settings, fit};
//!
//! // 500 rows: two groups along one direction of three.
//! let values: Vec<f64> = (0..500)
//!     .flat_map(|i| {
//!         let t = f64::from(i);
//!         let noise = |k: f64| (k * t).sin() + (1.3 * k * t).cos() + (2.7 * k * t).sin();
//!         let group = if i % 2 == 0 { -4.0 } else { 4.0 };
//!         [group + noise(1.1), group + noise(0.7), noise(2.3)]
//!     })
//!     .collect();
//! let rows = Rows::new(&values, 3)?;
//!
//! let fitted = fit(&rows, &Settings::default())?;
//! println!("{}", fitted.stop); // why no further expert was added
//! let model = &fitted.model;
//! let ln_p = model.score(&rows)?; // how probable is each row, in nats?
//! let why = model.explain(&rows.row(0))?; // what each expert and column adds to ln p
//! let z = model.transform(&rows)?; // where does it lie along the directions?
//! let more = model.sample(100, 7); // more rows like these
//! # assert!(!model.experts().is_empty() && model.experts()[0].negentropy() > 0.1);
//! # assert!((why.ln_p - ln_p[0]).abs() < 1e-9 && z.len() >= 500 && more.len() == 300);
//! # Ok::<(), upoe::Error>(())
//! ```
//!
//! # How the crate is organised
//!
//! Learners never touch rows: they ask an [`engine`] for sums, which can be added up over
//! threads, files or machines. The result has the same bits for any number of threads.
//! `docs/paper-map.md` lists which function implements which equation of the paper.

mod chosen;
mod cluster;
pub mod compare;
mod density;
mod detector;
mod effective;
mod elsewhere;
pub mod engine;
mod error;
pub mod evaluate;
pub mod expected;
pub mod expert;
mod explained;
mod fitted;
mod fitter;
mod grain;
pub mod groups;
mod grow;
mod holdout;
mod importance;
mod learn;
mod linalg;
mod line;
mod missing;
mod model;
mod moments;
mod outliers;
mod place;
mod pool;
pub mod random;
mod rows;
mod stack;
pub mod t_mixture;
mod tally;
mod whitening;

pub use cluster::{look, sphere};
pub use density::Density;
pub use detector::{
    Conditional, Detector, DetectorFit, DetectorParts, DetectorSettings, Oddity, Reason,
    exceeded_by, surprises,
};
pub use effective::Cause;
pub use error::{Error, Result};
pub use explained::{Explained, Explainer, explain_present};
pub use fitted::{Fit, Fitted};
pub use fitter::{Fitter, fit};
pub use holdout::{HOLDOUT_SHARE, held_out};
pub use importance::Estimate;
pub use learn::{
    Choice, Depth, Detectable, Event, Families, LayerRecord, Learned, Learner, Notice, Observer,
    OutlierCell, ParallelStart, PathPoint, Precision, Quality, Recipe, Settings, State, Stop,
    StopReason, sample_rows,
};
pub use line::Line;
pub use missing::{Cell, Condition, Filler, Missing, Range, within};
pub use model::{Explanation, Model};
pub use moments::Moments;
pub use place::Place;
pub use pool::{Member, Pool};
pub use rows::{Rows, Values};
pub use stack::{Directions, Layer, LayerParts, Placed, PlacedParts, Radial, RadialParts, Stack};
pub use whitening::{Dims, Outside, Rest, Whitening, WhiteningParts};

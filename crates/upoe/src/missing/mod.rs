//! Rows with missing cells: what is missing, what it is like given what is there, and drawing it.
//!
//! A row's missing cells are moved one direction at a time, along directions in which a Gaussian would
//! make them independent. Each move draws from the density along the line, given all the rest (Gibbs
//! sampling), so that the cells end up as the density has them, given what is there.

mod cell;
mod condition;
mod em;
mod filler;
mod gaussian;
mod observed;
mod patterns;
mod prior;

pub use cell::Cell;
pub use condition::{Condition, Range, within};
pub use filler::Filler;
pub use patterns::Missing;

pub(crate) use em::{EXACT, gaussian as em};
pub(crate) use filler::gaussian_draws;
pub(crate) use gaussian::Gaussian;
pub(crate) use observed::{FEW, gains, observed};
pub(crate) use patterns::{holes, patterns};
pub(crate) use prior::{few_rows, prior};

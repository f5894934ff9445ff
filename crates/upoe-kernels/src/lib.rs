//! One pass over the rows for many candidate directions.
//!
//! For K directions `w` and rows `x` the pass computes the projections `z = w·x`, hands
//! each block of them to the candidate's [`Term`] (which writes the slopes E′(z) and adds
//! its own sums) and accumulates the gradients `Σ weight · E′(z) · x`.
//!
//! Rows are cut into parts of a fixed size ([`part_rows`]), and parts into chunks. The cut does not depend on
//! the number of threads, and partial sums are added in a fixed order: any number of threads gives the
//! same bits, and so do parts that are summed one by one and merged by [`reduce`].

mod aligned;
mod block;
mod dots;
mod group;
mod map;
mod math;
mod moments;
mod outer;
mod packed;
mod pass;
mod project;
mod rows;
mod simd;
#[cfg(test)]
mod tests;
mod tree;

pub use aligned::{Aligned, release_memory};
pub use map::{map_sums, map_sums_ln};
pub use math::{exp, ln, ln_1p};
pub use moments::{affine, scatter};
pub use packed::Packed;
pub use pass::{Pass, Term, pass};
pub use project::project;
pub use rows::{Real, chunks, part_rows};
pub use simd::dispatch;
pub use tree::reduce;

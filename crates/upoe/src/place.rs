//! Where the rows of a fit are kept and summed over.

use crate::engine::Engine;
use crate::error::Result;
use crate::learn::Precision;
use crate::moments::Moments;
use crate::rows::Rows;
use crate::whitening::Whitening;

/// A place that rows can be kept in and summed over, such as a GPU. Without one, a
/// [`Fitter`](crate::Fitter) keeps rows in memory.
pub trait Place: Sync {
    /// An engine over some rows under a whitening. `white` says whether they are the training rows
    /// themselves, so that ⟨xxᵀ⟩ = I; see [`Engine::is_white`].
    fn engine(
        &self,
        whitening: &Whitening,
        rows: &Rows,
        precision: Precision,
        white: bool,
    ) -> Result<Box<dyn Engine>>;

    /// Count, mean and scatter of some rows.
    fn moments(&self, rows: &Rows) -> Result<Moments> {
        Moments::of(rows)
    }
}

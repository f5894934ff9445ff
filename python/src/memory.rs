//! Memory that may not be there: asked for before it is used, so that its lack is an exception.

use pyo3::PyResult;
use upoe::Precision;

use crate::errors;

/// An empty vector with room for `rows` rows of `columns` numbers.
pub fn space(rows: usize, columns: usize) -> PyResult<Vec<f64>> {
    let mut space = Vec::new();
    match rows.checked_mul(columns).map(|numbers| space.try_reserve_exact(numbers)) {
        Some(Ok(())) => Ok(space),
        _ => {
            let size = size(8.0 * rows as f64 * columns as f64);
            Err(errors::memory(format!(
                "{rows} × {columns} numbers take {size}; use fewer rows at a time"
            )))
        }
    }
}

/// What a fit takes beside its rows, in bytes: sphered rows and what is made on the way to them,
/// and several matrices as large as the covariance where columns are many.
pub fn of_fit(rows: usize, columns: usize, precision: Precision) -> usize {
    let number = match precision {
        Precision::F32 => 6,
        _ => 11,
    };
    let tall = rows.saturating_mul(columns).saturating_mul(number);
    let wide = columns.saturating_mul(rows.min(columns)).saturating_mul(60);
    tall.saturating_add(wide)
}

/// Refuses work that takes this many bytes, where the system has less; `what` is the work and
/// `remedy` what to do. The engine cannot refuse it: a Rust program that gets no memory aborts.
/// To be called on the threads that do the work.
pub fn check(bytes: usize, what: &str, remedy: &str) -> PyResult<()> {
    // Each thread has a heap of its own, which takes up address space too, and space to work in.
    rayon::broadcast(|_| drop(std::hint::black_box(Box::new(0))));
    let spaces = (rayon::current_num_threads() + 2) * (4 << 20);
    // Asked for and given back at once; no page of it is touched.
    let bytes = bytes.saturating_add(spaces);
    Vec::<u8>::new()
        .try_reserve_exact(bytes)
        .map_err(|_| errors::memory(format!("{what} takes up to {}; {remedy}", size(bytes as f64))))
}

/// A number of bytes, in words.
fn size(bytes: f64) -> String {
    if bytes >= 1e9 { format!("{:.1} GB", bytes / 1e9) } else { format!("{:.0} MB", bytes / 1e6) }
}

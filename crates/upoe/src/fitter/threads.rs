//! On how many threads a fit runs.

use crate::error::{Result, invalid};

/// Runs on a pool of this many threads; `None` is the current pool.
pub(crate) fn in_pool<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let Some(threads) = threads else { return work() };
    // More threads than cores only slow each other down.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    match rayon::ThreadPoolBuilder::new().num_threads(threads.min(cores.max(16))).build() {
        Ok(pool) => pool.install(work),
        Err(_) => invalid(
            "threads",
            threads,
            "the system could not start that many threads: ask for fewer",
        ),
    }
}

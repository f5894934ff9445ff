//! Which threads do the work.

use std::num::NonZero;
use std::sync::OnceLock;

use pyo3::PyResult;
use rayon::ThreadPoolBuilder;

use crate::errors;

/// The process that started the shared threads, which are rayon's global ones; `None` where they
/// could not be started, after which rayon never starts them.
static OWNER: OnceLock<Option<u32>> = OnceLock::new();

/// Runs a task on this many threads, or on the shared ones, of which there is one per core. A
/// forked child has none of its parent's threads, so it starts its own for each task.
pub fn run<T: Send>(threads: Option<usize>, task: impl FnOnce() -> T + Send) -> PyResult<T> {
    let process = std::process::id();
    let start = || ThreadPoolBuilder::new().build_global().is_ok().then_some(process);
    if threads.is_none() && *OWNER.get_or_init(start) == Some(process) {
        return Ok(task());
    }
    // More threads than cores only get in each other's way.
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.unwrap_or(cores).min(cores.max(16));
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| {
        errors::memory(format!("{threads} threads could not be started ({error}); set n_jobs=1"))
    })?;
    Ok(pool.install(task))
}

//! Which threads do the work.

use std::num::NonZero;
use std::sync::OnceLock;

static PROCESS: OnceLock<u32> = OnceLock::new();

/// The number of threads to start, or `None` for the shared ones. These belong to the process
/// that used them first: a forked child has none of its parent's threads, so it starts its own.
pub fn own(threads: Option<usize>) -> Option<usize> {
    let process = std::process::id();
    if threads.is_some() || *PROCESS.get_or_init(|| process) == process {
        return threads;
    }
    Some(std::thread::available_parallelism().map_or(1, NonZero::get))
}

/// Runs a task on this many threads.
pub fn run<T: Send>(threads: Option<usize>, task: impl FnOnce() -> T + Send) -> T {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build();
    match own(threads).map(pool) {
        Some(Ok(pool)) => pool.install(task),
        _ => task(),
    }
}

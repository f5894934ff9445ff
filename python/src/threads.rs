//! Which threads do the work.

use std::num::NonZero;
use std::sync::OnceLock;

static PROCESS: OnceLock<u32> = OnceLock::new();

/// Notes which process loaded the module: the shared threads are that one's.
pub fn remember_process() {
    PROCESS.get_or_init(std::process::id);
}

/// The number of threads to start, or `None` for the shared ones. A forked child has none of
/// its parent's threads, so it always starts its own.
pub fn own(threads: Option<usize>) -> Option<usize> {
    if threads.is_some() || PROCESS.get() == Some(&std::process::id()) {
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

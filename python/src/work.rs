//! Long work on a thread of its own, while Python's thread looks for Ctrl-C.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::{errors, memory, threads};

/// How often Python's thread looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// How long stopped work may take to come to its end before Python goes on without it.
const PATIENCE: Duration = Duration::from_millis(700);

/// Whether the work has been asked to stop.
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Does the work on a thread of its own. Meanwhile `look` is called a few times per second; an
/// error from it, or from a signal handler, asks the work to stop and is returned.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    look: impl FnMut() -> PyResult<()>,
    work: impl FnOnce(&Stop) -> PyResult<T> + Send + 'static,
) -> PyResult<T> {
    run_keeping(py, look, work, None)
}

/// As [`run`]. Where `keeps` is given, the first Ctrl-C waits until the work has come to its end, and
/// what it has made is returned if `keeps` says so; the second one does not wait.
pub fn run_keeping<T: Send + 'static>(
    py: Python<'_>,
    mut look: impl FnMut() -> PyResult<()>,
    work: impl FnOnce(&Stop) -> PyResult<T> + Send + 'static,
    keeps: Option<fn(&T) -> bool>,
) -> PyResult<T> {
    let stop = Stop::default();
    let (sender, receiver) = channel();
    let theirs = stop.clone();
    // After Ctrl-C nobody may be waiting for what is sent.
    let task = move || drop(sender.send(guarded(|| work(&theirs))));
    let started = std::thread::Builder::new().name("upoe".into()).spawn(task);
    started.map_err(|error| errors::memory(format!("no thread could be started ({error})")))?;
    let receiver = Mutex::new(receiver);
    let receive = |time: Duration| {
        py.detach(|| receiver.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(time))
    };
    let mut interrupted = None;
    loop {
        match (receive(LOOK), interrupted.take()) {
            (Ok(done), None) => {
                if keeps.is_some() {
                    // The work is done: a Ctrl-C in its last moment must not lose it.
                    drop(py.check_signals());
                }
                return done;
            }
            (Ok(done), Some(interrupt)) => {
                let kept = |made: &T| keeps.is_some_and(|keeps| keeps(made));
                return done.ok().filter(kept).ok_or(interrupt);
            }
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Err(errors::internal("a thread ended"));
            }
            (Err(RecvTimeoutError::Timeout), before) => interrupted = before,
        }
        if let Err(interrupt) = py.check_signals().and_then(|()| look()) {
            let first = !stop.0.swap(true, Ordering::Relaxed);
            if first && keeps.is_some() {
                interrupted = Some(interrupt);
                continue;
            }
            drop(receive(PATIENCE));
            return Err(interrupt);
        }
    }
}

/// The work's result, or an exception instead of a panic.
fn guarded<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let done = catch_unwind(AssertUnwindSafe(work));
    done.unwrap_or_else(|_| Err(errors::internal("the computation broke off")))
}

/// Work that goes over rows in blocks, so that it can be stopped between them.
#[derive(Clone, Copy)]
pub struct Blocks {
    /// How many rows there are.
    pub rows: usize,
    /// How many numbers a row has.
    pub columns: usize,
    /// On how many threads.
    pub threads: Option<usize>,
}

impl Blocks {
    /// The rows of the first block. Blocks start at multiples of it.
    const FIRST: usize = upoe::Model::SAMPLE_BLOCK;
    /// Blocks grow until one takes this long.
    const LONG: Duration = Duration::from_millis(30);
    /// The most numbers in a block, per thread.
    const MOST: usize = 1 << 19;
    /// A single block of at most this many multiplications needs no thread of its own.
    const SMALL: usize = 1 << 20;

    /// Calls `each` for one block after the other; returns what they made of `out`.
    pub fn run<T: Send + 'static>(
        self,
        py: Python<'_>,
        mut out: T,
        mut each: impl FnMut(Range<usize>, &mut T) -> PyResult<()> + Send + 'static,
    ) -> PyResult<T> {
        let multiplications = self.rows.saturating_mul(self.columns.saturating_pow(2));
        let small = self.rows <= Self::FIRST && multiplications <= Self::SMALL;
        let work = move |stop: &Stop| {
            threads::run(self.threads, || {
                let (mut start, mut size) = (0, Self::FIRST);
                let most = if small { size } else { self.most()? };
                while start < self.rows && !stop.asked() {
                    let (end, began) = (self.rows.min(start + size), Instant::now());
                    each(start..end, &mut out)?;
                    start = end;
                    if began.elapsed() < Self::LONG && 2 * size <= most {
                        size *= 2;
                    } else if began.elapsed() > 4 * Self::LONG && size > Self::FIRST {
                        size /= 2;
                    }
                }
                Ok(out)
            })?
        };
        if small {
            // Its blocks attach to Python on threads that wait for this one.
            return py.detach(|| guarded(|| work(&Stop::default())));
        }
        run(py, || Ok(()), work)
    }

    /// The most rows of a block: fewer where memory is short.
    fn most(&self) -> PyResult<usize> {
        let mut most = Self::MOST * rayon::current_num_threads() / self.columns.max(1);
        loop {
            most = most.clamp(Self::FIRST, self.rows.max(Self::FIRST));
            // The numbers of a block, and what is made of them.
            let bytes = most.saturating_mul(self.columns).saturating_mul(32);
            match memory::check(bytes, "a block of rows", "free some memory") {
                Err(_) if most > Self::FIRST => most /= 2,
                checked => return checked.map(|()| most),
            }
        }
    }
}

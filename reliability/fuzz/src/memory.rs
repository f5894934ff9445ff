//! A bound on what may be allocated.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Runs a task that may allocate so many bytes. An allocation beyond that fails, which ends the
/// process.
pub fn within<T>(bytes: usize, task: impl FnOnce() -> T) -> T {
    let limit = ALLOCATOR.allocated() + bytes;
    ALLOCATOR.set_limit(limit).expect("a limit above what is allocated");
    let result = task();
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
    result
}

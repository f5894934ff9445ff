//! A bound on what may be allocated.

use std::alloc::System;

use cap::Cap;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// What any input may take, in bytes: buffers of a fixed size.
const FIXED: usize = 4 << 20;

/// Runs a task that may allocate so much and `factor` bytes for each of `length` bytes of
/// input. An allocation beyond that fails, which ends the process.
pub fn within<T>(length: usize, factor: usize, task: impl FnOnce() -> T) -> T {
    let limit = ALLOCATOR.allocated() + FIXED + factor * length;
    ALLOCATOR.set_limit(limit).expect("a limit above what is allocated");
    let result = task();
    ALLOCATOR.set_limit(usize::MAX).expect("no limit");
    result
}

//! Whether there is a standard output.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, since Rust's runtime puts `/dev/null` in the place of a closed standard
/// output: a result would vanish there and nobody would know. One system call and one store, so
/// that nothing is needed which the runtime sets up.
#[cfg(unix)]
#[ctor::ctor(unsafe)]
fn look() {
    let closed = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();
    CLOSED.store(closed, Ordering::Relaxed);
}

/// Refuses to go on where the standard output is closed.
pub fn check() -> Result<(), Failure> {
    match CLOSED.load(Ordering::Relaxed) {
        false => Ok(()),
        true => Err(Failure::Message(
            "standard output: is closed, so the result cannot go there; leave it open, or write to \
             a file (`-o`)"
                .into(),
        )),
    }
}

//! The upoe command.
fn main() {}

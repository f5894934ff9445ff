//! Panics that a reader catches.

use std::collections::BTreeSet;
use std::sync::{Mutex, Once};

/// From now on each place that panics is reported once: our readers catch panics of the libraries that
/// decode for them.
pub fn quiet() {
    static QUIET: Once = Once::new();
    static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    QUIET.call_once(|| {
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            if SEEN.lock().is_ok_and(|mut seen| seen.insert(place.clone())) {
                eprintln!("PANIC at {place}");
            }
        }));
    });
}

//! Ctrl-C and SIGTERM: the first asks the work to end, the second ends it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag::{register, register_conditional_shutdown};

/// The exit status of interrupted work.
pub const STATUS: u8 = 130;

static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on Ctrl-C and SIGTERM only ask; a second one ends the program at once. (SIGHUP is
/// left alone: `nohup` must keep its effect.)
pub fn listen() {
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in this order: the first signal does not find the flag set. Where no
        // handler can be set, a signal ends the program as it does by default.
        let _ = register_conditional_shutdown(signal, STATUS.into(), ASKED.clone());
        let _ = register(signal, ASKED.clone());
    }
}

/// Whether the work is asked to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

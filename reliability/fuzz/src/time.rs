//! A bound on the processor time of a task.

use std::time::Duration;

/// What the process has used of the processors, in all its threads, to 10 ms: `utime` and `stime`
/// of `/proc/self/stat`. Waiting for a busy machine does not count.
fn used() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, after_name) = stat.rsplit_once(')').expect("a name in parentheses");
    let ticks = |field: &str| field.parse::<u64>().expect("a number of ticks");
    let ticks: u64 = after_name.split_whitespace().skip(11).take(2).map(ticks).sum();
    Duration::from_millis(10 * ticks)
}

/// Runs a task that may take so many seconds of processor time.
pub fn in_time<T>(seconds: f64, task: impl FnOnce() -> T) -> T {
    let start = used();
    let result = task();
    let took = used() - start;
    assert!(took.as_secs_f64() <= seconds, "{took:?} of processor time, {seconds} s allowed");
    result
}

//! Long work over many rows: a block at a time, saying how far it is, until it is done or is asked
//! to end.

use std::ops::Range;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Progress, duration, grouped};

/// Says how far work is, and ends it where that is asked for.
pub struct Pace<'a> {
    progress: &'a Progress,
    what: &'static str,
    start: Instant,
    said: Option<Instant>,
}

impl<'a> Pace<'a> {
    /// Work begins.
    pub fn new(progress: &'a Progress, what: &'static str) -> Self {
        Pace { progress, what, start: Instant::now(), said: None }
    }

    /// So much of `what` is done, counted in `unit`. Short work shows no progress.
    pub fn tell(
        &mut self,
        what: &'static str,
        done: usize,
        total: usize,
        unit: &str,
    ) -> Result<(), Failure> {
        if what != self.what {
            *self = Pace::new(self.progress, what);
        }
        if interrupt::asked() {
            return Err(self.progress.interrupted(&format!(
                "interrupted while {what}, after {} of {} {unit}",
                grouped(done),
                grouped(total)
            )));
        }
        let (first, every) = match self.progress.is_live() {
            true => (Duration::from_millis(500), Duration::from_millis(100)),
            false => (Duration::from_secs(2), Duration::from_secs(10)),
        };
        let spent = self.start.elapsed();
        if done == 0 {
            self.progress.live(what.to_owned());
            return Ok(());
        }
        if spent < first || self.said.is_some_and(|said| said.elapsed() < every) {
            return Ok(());
        }
        self.said = Some(Instant::now());
        let rate = done as f64 / spent.as_secs_f64();
        let left = duration(total.saturating_sub(done) as f64 / rate);
        let (done, total, rate) = (grouped(done), grouped(total), grouped(rate.round() as usize));
        self.progress
            .stage(&format!("{what}: {done} of {total} {unit}, {rate} per second, {left} left"));
        Ok(())
    }
}

impl Progress {
    /// Works on rows, some at a time: `unit` rows for each thread, or twice, four times … as many,
    /// so that each part takes a fraction of a second and about a million numbers at most, of
    /// which a row has `width`.
    pub fn in_blocks(
        &self,
        what: &'static str,
        rows: usize,
        (unit, width): (usize, usize),
        mut work: impl FnMut(Range<usize>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        const MOST: usize = 1 << 20;
        let least = unit * rayon::current_num_threads();
        let (mut pace, mut start, mut size) = (Pace::new(self, what), 0, least);
        pace.tell(what, 0, rows, "rows")?;
        while start < rows {
            let (begin, end) = (Instant::now(), start.saturating_add(size).min(rows));
            work(start..end)?;
            start = end;
            pace.tell(what, start, rows, "rows")?;
            match begin.elapsed().as_millis() {
                ..50 if size.saturating_mul(2 * width) <= MOST => size *= 2,
                200.. => size = (size / 2).max(least),
                _ => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_aligned_and_cover_all_rows() {
        let progress = Progress::new(true);
        for (rows, least, width) in
            [(0, 256, 3), (100_000, 256, 7), (1_000, 1024, 1), (999, 1, 9_000_000)]
        {
            let mut at = 0;
            let done = progress.in_blocks("testing", rows, (least, width), |part| {
                assert_eq!((part.start, part.start % least), (at, 0));
                at = part.end;
                Ok(())
            });
            assert!(done.is_ok() && at == rows, "{rows}");
        }
    }
}

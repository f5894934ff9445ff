//! Row storage types, and how rows are cut into chunks.

use crate::simd::Lane;
use std::ops::Range;

/// The type of a stored row element: `f64`, or `f32` for half the memory traffic.
pub trait Real: Lane {
    /// From double precision, rounding to nearest.
    fn from_f64(x: f64) -> Self;
    /// To double precision, exactly.
    fn to_f64(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as f32
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

/// Numbers in a part: 16 MB in double precision.
const PART: usize = 1 << 21;

/// Rows in a part of a table with `cols` columns: a multiple of 960. Sums over more rows are sums over
/// parts, which are added in the order of a balanced tree, so that rows that are read part by part
/// give the bits of rows that are all in memory.
pub fn part_rows(cols: usize) -> usize {
    (PART / cols.max(1) / 960).max(1) * 960
}

/// The parts of `rows` rows, `part` rows each, and the chunks of each part.
pub(crate) fn parts(rows: usize, part: usize) -> Vec<Vec<Range<usize>>> {
    let moved = |start: usize| {
        let chunks = chunks(part.min(rows - start)).into_iter();
        chunks.map(|range| start + range.start..start + range.end).collect()
    };
    (0..rows).step_by(part.max(1)).map(moved).collect()
}

/// Cuts `rows` rows into at most 64 chunks of a multiple of 960 rows (whole blocks, where rows are
/// narrow). The cut depends on
/// nothing but the number of rows, so sums over chunks are reproducible.
pub fn chunks(rows: usize) -> Vec<Range<usize>> {
    let size = rows.div_ceil(64).next_multiple_of(960).max(960);
    (0..rows).step_by(size).map(|start| start..(start + size).min(rows)).collect()
}

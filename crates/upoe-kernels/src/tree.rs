//! Sums over chunks and parts of rows, in an order that threads do not change.

use std::ops::Range;

/// Combines `leaf(0), …, leaf(n − 1)` in a balanced binary tree. With `parallel`, the
/// branches run on the current thread pool; the tree, and so the result, is the same.
///
/// # Panics
/// If the range is empty.
pub fn reduce<A: Send>(
    range: Range<usize>,
    parallel: bool,
    leaf: &(impl Fn(usize) -> A + Sync),
    add: &(impl Fn(&mut A, A) + Sync),
) -> A {
    assert!(!range.is_empty(), "nothing to combine");
    if range.len() == 1 {
        return leaf(range.start);
    }
    let middle = range.start + range.len() / 2;
    let left = || reduce(range.start..middle, parallel, leaf, add);
    let right = || reduce(middle..range.end, parallel, leaf, add);
    let (mut a, b) = if parallel { rayon::join(left, right) } else { (left(), right()) };
    add(&mut a, b);
    a
}

/// Adds `from` to `into`, element by element.
pub(crate) fn add(into: &mut [f64], from: &[f64]) {
    for (a, b) in into.iter_mut().zip(from) {
        *a += b;
    }
}

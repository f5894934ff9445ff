//! Buffers that start on a cache line: a 64-byte vector read across two lines costs double.

use crate::Real;

/// A buffer of numbers, all zero to begin with.
#[derive(Debug)]
pub struct Aligned<T> {
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Real> Aligned<T> {
    /// Of a given length.
    pub fn new(len: usize) -> Self {
        let line = 64 / size_of::<T>();
        let buffer = vec![T::default(); if len > 0 { len + line } else { 0 }];
        let start = if len > 0 { buffer.as_ptr().align_offset(64).min(line) } else { 0 };
        Self { buffer, start, len }
    }
}

impl<T: Real> From<&[T]> for Aligned<T> {
    fn from(values: &[T]) -> Self {
        let mut out = Self::new(values.len());
        out.copy_from_slice(values);
        out
    }
}

impl<T: Real> From<Vec<T>> for Aligned<T> {
    fn from(values: Vec<T>) -> Self {
        values.as_slice().into()
    }
}

impl<T> std::ops::Deref for Aligned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.buffer[self.start..][..self.len]
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.start..][..self.len]
    }
}

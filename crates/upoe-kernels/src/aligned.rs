//! Buffers that start on a cache line: a 64-byte vector read across two lines costs double.

use crate::Real;

/// A buffer of numbers, initially all zero.
#[derive(Debug)]
pub struct Aligned<T> {
    buffer: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Real> Aligned<T> {
    /// A buffer of a given length.
    pub fn new(len: usize) -> Self {
        let line = 64 / size_of::<T>();
        let buffer = vec![T::default(); if len > 0 { len + line } else { 0 }];
        huge_pages(&buffer);
        let start = if len > 0 { buffer.as_ptr().align_offset(64).min(line) } else { 0 };
        Self { buffer, start, len }
    }

    /// A buffer of another length, in the memory of this one where that is enough. Its contents are
    /// unspecified.
    #[must_use]
    pub fn resized(self, len: usize) -> Self {
        if self.start + len <= self.buffer.len() { Self { len, ..self } } else { Self::new(len) }
    }
}

impl<T: Real> Aligned<T> {
    /// Its numbers as bytes, in the order of this machine.
    pub fn bytes(&self) -> &[u8] {
        let numbers: &[T] = self;
        // SAFETY: `Real` is f32 or f64 (`Lane` is sealed by them alone), which have no padding, and any
        // byte may be read; the slice has as many bytes as the numbers, and borrows them.
        unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), size_of_val(numbers)) }
    }

    /// The same, to be written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let numbers: &mut [T] = self;
        let size = size_of_val(numbers);
        // SAFETY: as in `bytes`; any bits are an f32 or f64, and the numbers are borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(numbers.as_mut_ptr().cast(), size) }
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

/// Asks for pages of 2 MB, where the system has them and the buffer is large: reading it
/// takes up to a fifth less time. Call it before the buffer is written.
fn huge_pages<T>(buffer: &[T]) {
    #[cfg(target_os = "linux")]
    if size_of_val(buffer) >= 8 << 20 {
        let page = 2 << 20;
        let start = buffer.as_ptr().addr().next_multiple_of(page);
        let end = buffer.as_ptr_range().end.addr() / page * page;
        let at = buffer.as_ptr().with_addr(start).cast_mut().cast();
        // SAFETY: `start` is rounded up and `end` down, to pages of 2 MB inside the buffer, which
        // has at least four times as many bytes, so that start < end and no other memory is
        // meant. Advice changes no content; if it is refused, nothing is lost.
        unsafe { libc::madvise(at, end - start, libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = buffer;
}

/// Gives memory that is not in use back to the system. Otherwise the C library keeps what large
/// matrices leave behind.
pub fn release_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it takes no pointer, may be called by any thread, and gives back only what has been
    // freed.
    unsafe {
        libc::malloc_trim(0)
    };
}

//! Rates that passes are compared with: copies on the device, and products by cuBLAS alone.

use crate::device::Device;
use crate::element::{Element, Shape};
use crate::engine::Cuda;
use crate::few;
use crate::question::Asked;
use std::time::Instant;
use upoe::Result;
use upoe::engine::Candidate;

/// The least of some times, in seconds, of work that is queued `repeats` times.
fn least(device: &Device, repeats: usize, mut queue: impl FnMut() -> Result<()>) -> Result<f64> {
    let wait = || device.0.stream.synchronize().map_err(|e| device.0.error(e));
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        wait()?;
        let began = Instant::now();
        for _ in 0..repeats {
            queue()?;
        }
        wait()?;
        best = best.min(began.elapsed().as_secs_f64() / repeats as f64);
    }
    Ok(best)
}

/// Bytes read and written per second by a copy of so many bytes on the device.
pub fn copy_rate(device: &Device, bytes: usize) -> Result<f64> {
    let busy = device.0.lock()?;
    let (from, to) = (device.0.buffer(bytes)?, device.0.buffer(bytes)?);
    let stream = device.0.stream.cu_stream();
    let seconds = least(device, 20, || {
        // SAFETY: both buffers have as many bytes.
        let done =
            unsafe { cudarc::driver::result::memcpy_dtod_async(to.at(), from.at(), bytes, stream) };
        done.map_err(|e| device.0.error(e))
    })?;
    drop(busy);
    Ok(2.0 * bytes as f64 / seconds)
}

/// Seconds that cuBLAS takes for Z = X Wᵀ and for G = Sᵀ X, of n × d rows and k directions: each as
/// one product, and the second in batches of rows as passes ask for it.
pub fn products<T: Element>(device: &Device, n: usize, d: usize, k: usize) -> Result<[f64; 3]> {
    const BATCH: usize = 1024;
    let n = n.next_multiple_of(BATCH);
    let size = size_of::<T>();
    let [x, w, z, g] = [n * d, k * d, n * k, n / BATCH * k * d].map(|len| {
        // Not zeros, which take less time.
        let buffer = device.0.buffer(len * size)?;
        let numbers: Vec<T> =
            (0..len).map(|i| T::from_f64((i % 1013) as f64 / 506.0 - 1.0)).collect();
        let busy = device.0.lock()?;
        // SAFETY: the buffer has as many numbers.
        unsafe { busy.send(&numbers, buffer.at()) }?;
        busy.wait()?;
        Ok(buffer)
    });
    let (x, w, z, g) = (x?, w?, z?, g?);
    let busy = device.0.lock()?;
    let forward = Shape::of(n, k, d, [d, d, n]);
    let back = Shape { transposed: [false, false], ..Shape::of(d, k, n, [d, n, d]) };
    let strides = [BATCH * d, BATCH, k * d];
    let parts = Shape {
        transposed: [false, false],
        strides,
        batches: n / BATCH,
        ..Shape::of(d, k, BATCH, [d, n, d])
    };
    // SAFETY: the buffers have room for all rows, directions, projections and batches.
    let forward =
        least(device, 20, || unsafe { busy.product::<T>(&forward, [x.at(), w.at(), z.at()]) })?;
    // SAFETY: as above.
    let back = least(device, 20, || unsafe { busy.product::<T>(&back, [x.at(), z.at(), g.at()]) })?;
    // SAFETY: as above.
    let parts =
        least(device, 20, || unsafe { busy.product::<T>(&parts, [x.at(), z.at(), g.at()]) })?;
    Ok([forward, back, parts])
}

/// Seconds of a pass for few candidates when one is queued after the other, as copies and products are
/// above: without the way of each answer to the host.
pub fn queued_pass<T: Element>(engine: &Cuda<T>, candidates: &[Candidate]) -> Result<f64> {
    let (device, stored) = engine.parts();
    let asked: Vec<Asked> = candidates.iter().map(|c| (c, c.expert.device_form())).collect();
    let mut busy = device.0.lock()?;
    least(device, 20, || few::queue(&mut busy, stored, &asked).map(drop))
}

//! Memory on the device and on its way there.

use cudarc::driver::sys::{CU_MEMHOSTALLOC_DEVICEMAP, CU_MEMHOSTALLOC_PORTABLE};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DriverError, PinnedHostSlice};
use std::sync::Arc;

/// Memory on the device, zero at first. Whoever uses it keeps to its length.
pub struct Buffer {
    // Frees the memory.
    _memory: CudaSlice<u8>,
    at: u64,
    bytes: usize,
}

impl Buffer {
    /// So many bytes.
    pub fn new(stream: &Arc<CudaStream>, bytes: usize) -> Result<Self, DriverError> {
        let memory = stream.alloc_zeros::<u8>(bytes.max(16))?;
        let at = memory.device_ptr(stream).0;
        Ok(Buffer { _memory: memory, at, bytes })
    }

    /// Its address on the device.
    pub fn at(&self) -> u64 {
        self.at
    }
}

/// Memory that grows when more is asked for, and is kept between calls.
#[derive(Default)]
pub struct Scratch(Option<Buffer>);

impl Scratch {
    /// The address of at least so many bytes, whose content is not defined.
    pub fn of(&mut self, stream: &Arc<CudaStream>, bytes: usize) -> Result<u64, DriverError> {
        if self.0.as_ref().is_none_or(|known| known.bytes < bytes) {
            self.0 = None;
            self.0 = Some(Buffer::new(stream, bytes.next_multiple_of(1 << 20))?);
        }
        Ok(self.0.as_ref().map_or(0, Buffer::at))
    }
}

/// All devices can use it, at the host's own addresses.
const MAPPED: u32 = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP;

/// Host memory that the device reads and writes directly.
#[derive(Default)]
pub struct Pinned(Option<PinnedHostSlice<u64>>);

impl Pinned {
    /// At least so many bytes, as words.
    pub fn of(
        &mut self,
        context: &Arc<CudaContext>,
        bytes: usize,
    ) -> Result<&mut [u64], DriverError> {
        let words = bytes.div_ceil(8);
        if self.0.as_ref().is_none_or(|known| known.len() < words) {
            self.0 = None;
            let words = words.next_multiple_of(1 << 12);
            // SAFETY: the words are written before they are read: any bits are a valid `u64`, and
            // they are cleared here.
            let mut memory = unsafe { context.alloc_pinned_with_flags::<u64>(words, MAPPED) }?;
            memory.as_mut_slice()?.fill(0);
            self.0 = Some(memory);
        }
        match &mut self.0 {
            Some(memory) => memory.as_mut_slice(),
            None => Ok(&mut []),
        }
    }
}

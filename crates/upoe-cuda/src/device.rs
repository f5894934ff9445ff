//! One GPU: its context, its stream, its kernels, and memory that calls share.

use crate::buffer::{Buffer, Pinned, Scratch};
use crate::compile::compiled;
use crate::element::{Element, Shape};
use crate::load::{check, failed};
use crate::unavailable::Unavailable;
use cudarc::cublas::{CudaBlas, sys as blas};
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUfunction_attribute, CUresult};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, result};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use upoe::{Error, Result};

/// An NVIDIA GPU. Clones are the same GPU, with one queue of work.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub context: Arc<CudaContext>,
    pub stream: Arc<CudaStream>,
    pub blas: CudaBlas,
    name: String,
    capability: (i32, i32),
    /// Multiprocessors.
    pub processors: usize,
    /// Shared memory that a block can have, and a multiprocessor has.
    pub shared: [usize; 2],
    work: Mutex<Work>,
    /// Whether the CPU had to apply an expert that has no device form.
    helped: AtomicBool,
}

/// What calls share: only one of them works at a time.
#[derive(Default)]
pub(crate) struct Work {
    functions: HashMap<(&'static str, String), CudaFunction>,
    /// Questions and answers on the host.
    pub up: Pinned,
    pub down: Pinned,
    /// The same on the device, and what is between them.
    pub question: Scratch,
    pub answer: Scratch,
    pub projections: Scratch,
    pub parts: Scratch,
    pub sums: Scratch,
    pub space: [Scratch; 4],
}

/// A kernel's argument, in the low bytes of a word.
pub(crate) fn int(x: usize) -> u64 {
    x as u64
}

/// The same for a number in double precision.
pub(crate) fn double(x: f64) -> u64 {
    x.to_bits()
}

/// How a kernel is launched: blocks in two directions, threads per block, bytes of shared memory.
pub(crate) struct Grid {
    pub blocks: [usize; 2],
    pub threads: usize,
    pub shared: usize,
}

impl Grid {
    /// One thread per item, in blocks of 256.
    pub fn over(items: usize) -> Self {
        Grid { blocks: [items.div_ceil(256).max(1), 1], threads: 256, shared: 0 }
    }
}

impl Device {
    /// Opens a GPU, numbered from 0.
    pub fn open(ordinal: usize) -> std::result::Result<Self, Unavailable> {
        let opened = Inner::open(ordinal)?;
        Ok(Device(Arc::new(opened)))
    }

    /// How many GPUs there are.
    pub fn count() -> std::result::Result<usize, Unavailable> {
        check()?;
        result::init().map_err(|e| no_gpu("starting the driver", e))?;
        let count = result::device::get_count().map_err(|e| no_gpu("counting GPUs", e))?;
        Ok(count.max(0) as usize)
    }

    /// The name of the GPU.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Bytes of device memory that are free, and all of them.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.0.context.mem_get_info().map_err(|e| self.0.error(e))
    }

    /// Whether the CPU had to apply an expert that has no device form.
    pub fn was_helped(&self) -> bool {
        self.0.helped.load(Ordering::Relaxed)
    }

    /// Compiles the kernels for rows of this precision and width, where that has not been done.
    /// The first pass does it otherwise.
    pub fn prepare<T: Element>(&self, dims: usize) -> Result<()> {
        let mut names = vec!["main".to_owned()];
        names.extend(crate::few::units(dims));
        let capability = self.0.capability;
        let (mut busy, real) = (self.0.lock()?, T::NAME);
        names.retain(|unit| !busy.work.functions.keys().any(|(r, f)| *r == real && f == unit));
        // Each is a program of its own, so that they are compiled at the same time.
        let programs = std::thread::scope(|scope| {
            let compile = |unit: &String| {
                let unit = unit.clone();
                scope.spawn(move || compiled(real, &unit, capability).map(|binary| (unit, binary)))
            };
            let threads: Vec<_> = names.iter().map(compile).collect();
            threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
        });
        for program in programs {
            let Ok(program) = program else {
                return Err(self.0.error("a thread that compiles kernels failed"));
            };
            let (unit, binary) = program.map_err(|e| self.0.error(e))?;
            busy.load(real, &unit, binary)?;
        }
        Ok(())
    }
}

/// No device is not a failure of the driver.
fn no_gpu(what: &'static str, error: DriverError) -> Unavailable {
    match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => Unavailable::NoGpu,
        _ => failed(what, error),
    }
}

impl Inner {
    fn open(ordinal: usize) -> std::result::Result<Self, Unavailable> {
        let count = Device::count()?;
        if count == 0 {
            return Err(Unavailable::NoGpu);
        }
        if ordinal >= count {
            return Err(Unavailable::NoSuchGpu { asked: ordinal, count });
        }
        let opening = |e: DriverError| failed("opening the GPU", e);
        let context = CudaContext::new(ordinal).map_err(opening)?;
        // SAFETY: all work goes to one stream, in order, so that no event is needed between calls.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(opening)?;
        let capability = context.compute_capability().map_err(opening)?;
        if capability < (7, 0) {
            let found = format!("{}.{}", capability.0, capability.1);
            return Err(Unavailable::OldGpu { name, found });
        }
        let attribute = |which| context.attribute(which).map(|x| x.max(0) as usize);
        let processors = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        let block = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let all = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR;
        let all = attribute(all).map_err(opening)?;
        let shared = [block.map_err(opening)?, all];
        let processors = processors.map_err(opening)?.max(1);
        let stream = context.new_stream().map_err(opening)?;
        let blas = CudaBlas::new(stream.clone()).map_err(|e| failed("starting cuBLAS", e))?;
        // Products of single-precision numbers must not be made of rounded ones (TF32).
        // SAFETY: the handle was made just now.
        let mode = unsafe {
            blas::cublasSetMathMode(*blas.handle(), blas::cublasMath_t::CUBLAS_DEFAULT_MATH)
        };
        mode.result().map_err(|e| failed("starting cuBLAS", e))?;
        Ok(Inner {
            context,
            stream,
            blas,
            name,
            capability,
            processors,
            shared,
            work: Mutex::default(),
            helped: AtomicBool::new(false),
        })
    }

    /// Waits until no other call works on the device.
    pub fn lock(&self) -> Result<Busy<'_>> {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        self.context.bind_to_thread().map_err(|e| self.error(e))?;
        Ok(Busy { device: self, work })
    }

    /// An error of CUDA, with the device where it happened.
    pub fn error(&self, error: impl Display) -> Error {
        let place = format!("cuda:{} ({})", self.context.ordinal(), self.name);
        let mut reason = error.to_string();
        if reason.contains("OUT_OF_MEMORY") || reason.contains("ALLOC_FAILED") {
            reason =
                "too little device memory: use fewer rows, single precision, or the CPU".into();
        }
        Error::Engine { place, reason }
    }

    /// Refuses what the free memory of the device cannot hold.
    pub fn check_memory(&self, bytes: usize) -> Result<()> {
        let (free, all) = self.context.mem_get_info().map_err(|e| self.error(e))?;
        if bytes <= free {
            return Ok(());
        }
        Err(self.error(Unavailable::TooLittleMemory { needed: bytes, free, all }))
    }

    /// New memory on the device, all zero.
    pub fn buffer(&self, bytes: usize) -> Result<Buffer> {
        Buffer::new(&self.stream, bytes).map_err(|e| self.error(e))
    }

    /// Notes that the CPU applied an expert.
    pub fn note_help(&self) {
        self.helped.store(true, Ordering::Relaxed);
    }
}

/// The device, and all that calls share.
pub(crate) struct Busy<'a> {
    pub device: &'a Inner,
    pub work: MutexGuard<'a, Work>,
}

impl Busy<'_> {
    /// Loads a compiled program and finds its kernels.
    fn load(&mut self, real: &'static str, unit: &str, binary: Vec<u8>) -> Result<()> {
        let device = self.device;
        let failed = |e: DriverError| device.error(e);
        let module = device.context.load_module(Ptx::from_binary(binary)).map_err(failed)?;
        let names = match unit {
            "main" => MAIN.iter().map(|name| (*name).to_owned()).collect(),
            _ => vec![unit.to_owned()],
        };
        for name in names {
            let function = module.load_function(&name).map_err(failed)?;
            if unit != "main" {
                let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                function.set_attribute(most, device.shared[0] as i32).map_err(failed)?;
            }
            self.work.functions.insert((real, name), function.clone());
            if unit == "main" {
                self.work.functions.entry((real, unit.to_owned())).or_insert(function);
            }
        }
        Ok(())
    }

    /// A kernel, compiled where that has not been done.
    pub fn kernel<T: Element>(&mut self, name: &str) -> Result<CudaFunction> {
        if let Some(known) = self.work.functions.get(&(T::NAME, name.to_owned())) {
            return Ok(known.clone());
        }
        let unit = if name.starts_with("few_") { name } else { "main" };
        let binary = compiled(T::NAME, unit, self.device.capability);
        self.load(T::NAME, unit, binary.map_err(|e| self.device.error(e))?)?;
        let known = self.work.functions.get(&(T::NAME, name.to_owned()));
        known.cloned().ok_or_else(|| self.device.error(format!("there is no kernel {name}")))
    }

    /// Queues a kernel.
    ///
    /// # Safety
    /// The words are the kernel's arguments in order, and every address among them is of device
    /// memory that is as long as the kernel's comment says for the other arguments.
    pub unsafe fn launch(&self, kernel: &CudaFunction, grid: Grid, words: &[u64]) -> Result<()> {
        let mut pointers: Vec<*mut std::ffi::c_void> =
            words.iter().map(|word| std::ptr::from_ref(word).cast_mut().cast()).collect();
        // SAFETY: each pointer is to a word that outlives the call; a device reads as many of its
        // low bytes as the argument has, and hosts of CUDA are little-endian. The caller vouches
        // for the arguments.
        let done = unsafe {
            result::launch_kernel(
                kernel.cu_function(),
                (grid.blocks[0] as u32, grid.blocks[1] as u32, 1),
                (grid.threads as u32, 1, 1),
                grid.shared as u32,
                self.device.stream.cu_stream(),
                &mut pointers,
            )
        };
        done.map_err(|e| self.device.error(e))
    }

    /// Queues a product of matrices.
    ///
    /// # Safety
    /// The addresses are of device memory that holds the whole of A, B and C.
    pub unsafe fn product<T: Element>(&self, shape: &Shape, addresses: [u64; 3]) -> Result<()> {
        // SAFETY: the caller vouches for the memory; all work goes to one stream, which is the
        // handle's.
        let done = unsafe { T::product(*self.device.blas.handle(), shape, addresses) };
        done.map_err(|e| self.device.error(e))
    }

    /// Queues a copy to the device, from memory that stays as it is until the queue is done.
    ///
    /// # Safety
    /// `to` is the address of as much device memory.
    pub unsafe fn send<T>(&self, from: &[T], to: u64) -> Result<()> {
        // SAFETY: the caller vouches for `to`. Pageable memory is read before the call returns;
        // pinned memory is ours, and is written again only after the queue was waited for.
        let done = unsafe { result::memcpy_htod_async(to, from, self.device.stream.cu_stream()) };
        done.map_err(|e| self.device.error(e))
    }

    /// Copies from the device after all that is queued, and waits for it.
    ///
    /// # Safety
    /// `from` is the address of as much device memory, which holds valid numbers of the type.
    pub unsafe fn fetch<T>(&self, from: u64, to: &mut [T]) -> Result<()> {
        // SAFETY: the caller vouches for `from`; `to` is borrowed until the queue is done.
        let queued = unsafe { result::memcpy_dtoh_async(to, from, self.device.stream.cu_stream()) };
        queued.map_err(|e| self.device.error(e))?;
        self.wait()
    }

    /// Waits for all that is queued.
    pub fn wait(&self) -> Result<()> {
        self.device.stream.synchronize().map_err(|e| self.device.error(e))
    }
}

/// The kernels of the main program.
const MAIN: [&str; 17] = [
    "terms",
    "reduce_real",
    "reduce_double",
    "reduce_both",
    "score",
    "place_double",
    "place_float",
    "pick",
    "subset",
    "centre_double",
    "centre_float",
    "scale_rows",
    "squares",
    "shares",
    "column_sums",
    "removed",
    "square_sum",
];

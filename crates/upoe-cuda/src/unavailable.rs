//! Why a GPU cannot be used.

use thiserror::Error;

/// Why a GPU cannot be used, and what to do.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Unavailable {
    /// There is no driver.
    #[error("no NVIDIA driver was found: install one, or use the CPU")]
    NoDriver,
    /// The driver is older than the libraries need.
    #[error(
        "the NVIDIA driver supports CUDA {found}, and CUDA {needed} is needed: update the driver, or use the CPU"
    )]
    OldDriver {
        /// The version of CUDA that the driver supports.
        found: String,
        /// The least version that is needed.
        needed: String,
    },
    /// A driver, but no GPU.
    #[error("the NVIDIA driver finds no GPU: use the CPU")]
    NoGpu,
    /// A number beyond the last GPU.
    #[error("there is no GPU {asked}: GPUs are numbered from 0, and there are {count}")]
    NoSuchGpu {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// A GPU that lacks double-precision or warp instructions that the kernels use.
    #[error("{name} has compute capability {found}, and 7.0 is needed: use the CPU")]
    OldGpu {
        /// The GPU.
        name: String,
        /// Its compute capability.
        found: String,
    },
    /// A library of CUDA that cannot be loaded.
    #[error(
        "the CUDA library {name} was not found: install CUDA 13 or add its folder to LD_LIBRARY_PATH, or use the CPU"
    )]
    NoLibrary {
        /// The library.
        name: &'static str,
    },
    /// Rows that the GPU has no room for.
    #[error(
        "the rows need {:.1} GB of device memory, and {:.1} of {:.1} GB are free: use fewer rows, single precision, or the CPU",
        *needed as f64 / 1e9, *free as f64 / 1e9, *all as f64 / 1e9
    )]
    TooLittleMemory {
        /// Bytes that the rows need.
        needed: usize,
        /// Bytes that are free.
        free: usize,
        /// Bytes that there are.
        all: usize,
    },
    /// A GPU whose memory other programs hold.
    #[error(
        "{what} failed, because hardly any of its memory is free: end other programs on it, or use the CPU"
    )]
    Occupied {
        /// What was done.
        what: &'static str,
    },
    /// Anything else that goes wrong while the GPU is prepared.
    #[error("{what} failed: {reason}")]
    Failed {
        /// What was done.
        what: &'static str,
        /// What CUDA said.
        reason: String,
    },
}

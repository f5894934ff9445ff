//! Sums over rows on an NVIDIA GPU.
//!
//! [`Device::open`] finds a GPU. A [`Cuda`] engine keeps sphered rows on it, in single or double
//! precision, and gives learners the sums they ask for; [`Device`] is also a
//! [`Place`](upoe::Place), so that a [`Fitter`](upoe::Fitter) can put its rows there by itself.
//! Products with rows are made in the rows' precision, experts' terms and all sums in double
//! precision (single-precision gradients go over to double every 1,024 rows or less). Sums are added
//! in a fixed order, so two runs on one device give the same bits.
//!
//! The libraries of CUDA are loaded at run time. Where there are none, [`Device::open`] says so and
//! everything else works as before.
//!
//! ```
//! use upoe_cuda::Device;
//! match Device::open(0) {
//!     Ok(device) => println!("{}", device.name()),
//!     Err(reason) => println!("no GPU: {reason}"),
//! }
//! ```

mod buffer;
mod choice;
mod compile;
mod device;
mod element;
mod engine;
mod few;
mod host;
mod load;
mod many;
#[doc(hidden)]
pub mod measure;
mod moments;
mod question;
mod score;
mod stored;
mod unavailable;

pub use choice::DeviceChoice;
pub use device::Device;
pub use element::Element;
pub use engine::Cuda;
pub use unavailable::Unavailable;

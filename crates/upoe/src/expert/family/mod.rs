//! The families of experts.

mod mixture;
mod student_t;
mod tilt;

pub use mixture::Mixture;
pub use student_t::{PaperGradient, StudentT};
pub use tilt::{Factor, Sampler as TiltSampler, Tilt};

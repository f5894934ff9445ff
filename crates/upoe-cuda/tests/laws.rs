//! The laws of every family (`crates/upoe/tests/experts.rs`) and the agreement of passes, on a GPU. Where
//! there is none, `make test-gpu` says so; `make test` only builds this.

#[path = "../../upoe/tests/common.rs"]
#[allow(dead_code)]
mod common;
#[path = "../../upoe/tests/experts.rs"]
mod experts;

mod agreement;

use std::sync::OnceLock;
use upoe::engine::Engine;
use upoe_cuda::{Cuda, Device};

/// The GPU that tests run on.
pub fn device() -> &'static Device {
    static DEVICE: OnceLock<Device> = OnceLock::new();
    DEVICE.get_or_init(|| {
        let device = Device::open(0).unwrap_or_else(|reason| panic!("tests need a GPU: {reason}"));
        eprintln!("on {}", device.name());
        device
    })
}

/// The engine on which the laws of experts are tested.
pub fn engine_of(z: Vec<f64>, weights: Option<Vec<f64>>) -> Box<dyn Engine> {
    Box::new(Cuda::<f64>::new(device(), &z, 1, weights).unwrap())
}

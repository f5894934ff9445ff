//! Names the first GPU, or says why there is none and ends with status 1.

use std::process::ExitCode;
use upoe_cuda::Device;

fn main() -> ExitCode {
    match Device::open(0) {
        Ok(device) => {
            println!("{}", device.name());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("no GPU: {reason}");
            ExitCode::FAILURE
        }
    }
}

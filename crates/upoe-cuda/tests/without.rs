//! What users meet where there is no GPU, or not the one they asked for.

use upoe_cuda::{Device, DeviceChoice, Unavailable};

#[test]
fn what_is_not_there_is_said() {
    let asked = 97;
    match Device::open(asked) {
        Ok(device) => panic!("there is no GPU {asked}: {}", device.name()),
        Err(Unavailable::NoSuchGpu { asked: got, count }) => {
            assert!(got == asked && count <= asked)
        }
        Err(reason) => assert!(reason.to_string().contains("CPU"), "{reason}"),
    }
}

#[test]
fn auto_takes_the_cpu_for_small_tables_and_without_a_gpu() {
    let (device, reason) = DeviceChoice::Auto.open(1000, 10).expect("auto never fails");
    assert!(device.is_none() && reason.is_none());
    let (device, reason) = DeviceChoice::Auto.open(10_000_000, 100).expect("auto never fails");
    assert_ne!(device.is_some(), reason.is_some());
}

#[test]
fn choices_are_read_and_written() {
    for (text, choice) in [
        ("cpu", DeviceChoice::Cpu),
        ("auto", DeviceChoice::Auto),
        ("cuda:0", DeviceChoice::Cuda(0)),
        ("cuda:3", DeviceChoice::Cuda(3)),
    ] {
        assert_eq!(text.parse(), Ok(choice));
        assert_eq!(choice.to_string(), text);
    }
    assert_eq!("cuda".parse(), Ok(DeviceChoice::Cuda(0)));
    for text in ["", "gpu", "cuda:", "cuda:-1", "CUDA"] {
        let error = text.parse::<DeviceChoice>().expect_err(text);
        assert!(error.contains("cpu, auto, cuda"), "{error}");
    }
}

#[test]
fn too_little_memory_is_said_in_gigabytes() {
    let reason = Unavailable::TooLittleMemory {
        needed: 150_000_000_000,
        free: 80_000_000_000,
        all: 85_000_000_000,
    };
    let text = reason.to_string();
    assert!(text.contains("150.0 GB") && text.contains("80.0 of 85.0 GB"), "{text}");
    assert!(text.contains("single precision, or the CPU"), "{text}");
}

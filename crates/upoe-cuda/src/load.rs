//! The libraries of CUDA, found at run time.

use crate::unavailable::Unavailable;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The least version of CUDA that the driver must support, as CUDA counts: 13.0.
const NEEDED: i32 = 13_000;

/// Checks that all libraries are there and that the driver is new enough.
pub fn check() -> Result<(), Unavailable> {
    static CHECKED: OnceLock<Result<(), Unavailable>> = OnceLock::new();
    CHECKED.get_or_init(find).clone()
}

fn find() -> Result<(), Unavailable> {
    // SAFETY: loading a library runs its own start-up code; these are the vendor's libraries.
    if !unsafe { cudarc::driver::sys::is_culib_present() } {
        return Err(Unavailable::NoDriver);
    }
    let mut found = 0;
    // SAFETY: the driver is present, this function exists in all its versions, and `found` outlives
    // the call.
    let known = unsafe { cudarc::driver::sys::cuDriverGetVersion(&mut found) }.result();
    known.map_err(|error| failed("asking the driver for its version", error))?;
    if found < NEEDED {
        let text = |v: i32| format!("{}.{}", v / 1000, v % 1000 / 10);
        return Err(Unavailable::OldDriver { found: text(found), needed: text(NEEDED) });
    }
    // SAFETY: as for the driver.
    let nvrtc = || unsafe { cudarc::nvrtc::sys::is_culib_present() };
    if !nvrtc() {
        load_from_folders("libnvrtc.so.13");
    }
    if !nvrtc() {
        return Err(Unavailable::NoLibrary { name: "nvrtc" });
    }
    // SAFETY: as for the driver.
    let cublas = || unsafe { cudarc::cublas::sys::is_culib_present() };
    if !cublas() {
        load_from_folders("libcublasLt.so.13");
        load_from_folders("libcublas.so.13");
    }
    if !cublas() {
        return Err(Unavailable::NoLibrary { name: "cublas" });
    }
    Ok(())
}

/// Loads a library from the usual folders. Once loaded, it is found by its name.
fn load_from_folders(name: &str) {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let roots = [set("CUDA_PATH"), set("CUDA_HOME"), Some("/usr/local/cuda".into())];
    for root in roots.into_iter().flatten() {
        for folder in ["lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"] {
            // SAFETY: the vendor's library, from the vendor's folder.
            if let Ok(library) = unsafe { libloading::Library::new(root.join(folder).join(name)) } {
                // It stays loaded.
                std::mem::forget(library);
                return;
            }
        }
    }
}

/// An error of CUDA while the GPU is prepared.
pub fn failed(what: &'static str, error: impl std::fmt::Display) -> Unavailable {
    let reason = error.to_string();
    if reason.contains("OUT_OF_MEMORY") || reason.contains("ALLOC_FAILED") {
        return Unavailable::Occupied { what };
    }
    Unavailable::Failed { what, reason }
}

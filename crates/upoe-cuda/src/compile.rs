//! Kernels, compiled for the device at hand and kept in a file.

use crate::unavailable::Unavailable;
use cudarc::nvrtc::{result, sys};
use std::ffi::{CStr, CString};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

/// The text of a program: what all share, and either the kernel for few candidates or all others.
fn source(real: &str, unit: &str) -> String {
    let mut text = format!("typedef {real} Real;\n{}", include_str!("kernels/common.cu"));
    for (_, family) in upoe::expert::device::SOURCES {
        text.push_str(family);
    }
    text.push_str(include_str!("kernels/terms.cu"));
    match unit.strip_prefix("few_") {
        Some(which) => {
            text.push_str(include_str!("kernels/few.cu"));
            text.push_str(&format!("FEW({})\n", which.replace('_', ", ")));
        }
        None => text.push_str(include_str!("kernels/rows.cu")),
    }
    text
}

/// A program for devices of a compute capability: from a file if it was compiled before.
pub fn compiled(real: &str, unit: &str, capability: (i32, i32)) -> Result<Vec<u8>, Unavailable> {
    let text = source(real, unit);
    let version = version();
    let mut hasher = DefaultHasher::new();
    (&text, capability, version).hash(&mut hasher);
    let name = format!("{real}-{unit}-{:016x}.cubin", hasher.finish());
    let path = folder().map(|folder| folder.join(name));
    let known = path.as_ref().and_then(|path| std::fs::read(path).ok());
    if let Some(known) = known.filter(|known| known.starts_with(b"\x7fELF")) {
        return Ok(known);
    }
    let binary = compile(&text, capability)?;
    // Without a file it is compiled again next time.
    if let Some(path) = path {
        let part = path.with_extension(format!("{}.part", std::process::id()));
        let made = path.parent().map(std::fs::create_dir_all);
        if made.is_some_and(|made| made.is_ok()) && std::fs::write(&part, &binary).is_ok() {
            let _ = std::fs::rename(&part, &path);
        }
    }
    Ok(binary)
}

/// Where compiled kernels are kept.
fn folder() -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    Some(cache?.join("upoe"))
}

fn version() -> (i32, i32) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is present (`load.rs` has checked it), and both pointers are to integers
    // that outlive the call. Where it fails, the integers stay as they are.
    unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    (major, minor)
}

fn compile(text: &str, (major, minor): (i32, i32)) -> Result<Vec<u8>, Unavailable> {
    let what = "compiling the GPU kernels";
    let failed = |reason: String| Unavailable::Failed { what, reason };
    let text = CString::new(text).map_err(|e| failed(e.to_string()))?;
    let program = result::create_program(&text, None).map_err(|e| failed(e.to_string()))?;
    let options = [format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++17".into()];
    // SAFETY: the program exists until it is destroyed below; `text` lives as long.
    let done = unsafe { result::compile_program(program, &options) };
    let binary = match done {
        Ok(()) => binary(program).map_err(|e| failed(e.to_string())),
        Err(error) => {
            // SAFETY: the program exists.
            let log = unsafe { result::get_program_log(program) }.unwrap_or_default();
            // SAFETY: the log ends with a zero, which `get_program_log` includes; an empty one
            // is not read.
            let log = (!log.is_empty()).then(|| unsafe { CStr::from_ptr(log.as_ptr()) });
            let log = log.map(|log| log.to_string_lossy().into_owned()).unwrap_or_default();
            Err(failed(format!("{error}: {log}")))
        }
    };
    // SAFETY: the program exists and is not used after this.
    unsafe { result::destroy_program(program) }.map_err(|e| failed(e.to_string()))?;
    binary
}

/// The machine code of a compiled program.
fn binary(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: the program exists and is compiled, and `size` outlives the call.
    unsafe { sys::nvrtcGetCUBINSize(program, &mut size) }.result()?;
    let mut binary = vec![0_u8; size];
    // SAFETY: the buffer has the size that the library asked for.
    unsafe { sys::nvrtcGetCUBIN(program, binary.as_mut_ptr().cast()) }.result()?;
    Ok(binary)
}

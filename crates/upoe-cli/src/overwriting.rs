//! No result is written over what it is made from, under whatever name.

use std::path::{Path, PathBuf};

use same_file::Handle;

use crate::failure::Failure;

/// Refuses an output, or a standard output, that is one of the files the command reads: by the
/// same name, through a link or as a second name of the same file.
pub fn refuse_overwriting(inputs: &[&Path], output: Option<&Path>) -> Result<(), Failure> {
    let inputs: Vec<(&Path, Handle)> =
        inputs.iter().filter_map(|path| Some((*path, input(path)?))).collect();
    let refuse = |name: String, output: Handle| match inputs.iter().find(|(_, i)| *i == output) {
        None => Ok(()),
        Some((input, _)) => Err(Failure::Message(format!(
            "{name}: is {}, which this command reads, and would be written over; write to another \
             file (`-o`)",
            if input.as_os_str() == "-" {
                "the standard input".into()
            } else {
                input.display().to_string()
            }
        ))),
    };
    if let Some(handle) = Handle::stdout().ok().and_then(regular) {
        refuse("standard output".into(), handle)?;
    }
    match output.and_then(|path| Some((path, file(path)?))) {
        Some((path, handle)) => refuse(path.display().to_string(), handle),
        None => Ok(()),
    }
}

/// Refuses two outputs in the same file, whether it exists or not.
pub fn refuse_same(a: &Path, b: &Path) -> Result<(), Failure> {
    let place = |path: &Path| -> Option<PathBuf> {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Some(directory.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    };
    let same = match (file(a), file(b)) {
        (Some(a), Some(b)) => a == b,
        _ => place(a).is_some() && place(a) == place(b),
    };
    match same {
        false => Ok(()),
        true => Err(Failure::Message(format!(
            "{} and {}: are the same file, and one would be written over the other; give one of \
             them another name",
            a.display(),
            b.display()
        ))),
    }
}

/// The file a table or model is read from: `-` is the standard input, and `FILE.mat:NAME` is in
/// `FILE.mat`.
fn input(path: &Path) -> Option<Handle> {
    if path.as_os_str() == "-" {
        return Handle::stdin().ok().and_then(regular);
    }
    file(path).or_else(|| file(Path::new(path.to_str()?.rsplit_once(':')?.0)))
}

/// A file that exists. Opening a pipe or a device could wait, or act; nothing is lost there.
fn file(path: &Path) -> Option<Handle> {
    path.is_file().then(|| Handle::from_path(path).ok()).flatten()
}

fn regular(handle: Handle) -> Option<Handle> {
    handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file()).then_some(handle)
}

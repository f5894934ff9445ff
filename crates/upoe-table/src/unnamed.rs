//! Files without a name, which get one when they are whole: Linux removes them by itself where
//! the program ends before that, however it ends.

use std::fs::File;
use std::io;
use std::path::Path;

/// A new file without a name in a directory; `None` where the system or the file system (NFS is
/// one) has no such files.
#[cfg(target_os = "linux")]
pub(crate) fn create(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let can_be_named = Path::new("/proc/self/fd").is_dir();
    let file = can_be_named.then(|| rustix::fs::open(directory, flags, Mode::from(0o666)));
    file?.ok().map(File::from)
}

/// Names a file that has no name yet; an error where another file has the name.
#[cfg(target_os = "linux")]
pub(crate) fn name(file: &File, path: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    let source = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, source, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn create(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

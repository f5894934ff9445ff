//! A file that appears under its name whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::file_error::FileError;
use crate::unnamed;

type Result<T> = std::result::Result<T, FileError>;

/// Writes a file that appears under its name whole or not at all. A symbolic link stays: the
/// file that it points to is replaced, or created. Devices and pipes are written directly.
pub fn write_file(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let path = path.as_ref();
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|error| FileError::write(path, error))?;
    file.commit()
}

/// Whether a file can be made there: long work should not find out at its end.
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    AtomicFile::create(path.as_ref()).map(drop)
}

/// A file being written, without a name or beside its final one, which it gets at the end;
/// removed when dropped before.
pub(crate) struct AtomicFile {
    file: File,
    /// The name the user gave.
    path: PathBuf,
    /// Where the file goes: what the name stands for.
    target: PathBuf,
    state: State,
}

enum State {
    Unnamed,
    /// Under this name for now.
    Named(PathBuf),
    /// A device or a pipe, or a file that has its name.
    Done,
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<Self> {
        AtomicFile::create_as(path, true)
    }

    /// A file that has no name at first, if asked for and possible.
    fn create_as(path: &Path, unnamed: bool) -> Result<Self> {
        let target = resolve(path).map_err(|error| FileError::write(path, error))?;
        let failed = |error| match FileError::write(path, error) {
            FileError::NoDirectory { file, .. } => {
                FileError::NoDirectory { file, directory: directory(&target).to_owned() }
            }
            error => error,
        };
        let existing = fs::metadata(&target).ok();
        if target.file_name().is_none() || existing.as_ref().is_some_and(|found| found.is_dir()) {
            return Err(FileError::IsDirectory { file: path.to_owned() });
        }
        let (file, state) = match &existing {
            Some(metadata) if !metadata.is_file() => {
                let device = OpenOptions::new().write(true).open(&target);
                (device.map_err(failed)?, State::Done)
            }
            _ => match unnamed::create(directory(&target)).filter(|_| unnamed) {
                Some(file) => (file, State::Unnamed),
                None => {
                    let (file, temporary) = create_beside(&target).map_err(failed)?;
                    (file, State::Named(temporary))
                }
            },
        };
        if let (Some(metadata), State::Unnamed | State::Named(_)) = (existing, &state) {
            let _ = file.set_permissions(metadata.permissions());
        }
        Ok(AtomicFile { file, path: path.to_owned(), target, state })
    }

    /// Puts the file under its name, once its bytes are on the disk.
    pub fn commit(mut self) -> Result<()> {
        let named = match &self.state {
            State::Done => return Ok(()),
            State::Unnamed => self.file.sync_all().and_then(|()| name(&self.file, &self.target)),
            State::Named(temporary) => {
                self.file.sync_all().and_then(|()| fs::rename(temporary, &self.target))
            }
        };
        named.map_err(|error| FileError::write(&self.path, error))?;
        self.state = State::Done;
        // Makes the name last. Not every system can, and the file is whole either way.
        if let Ok(directory) = File::open(directory(&self.target)) {
            let _ = directory.sync_all();
        }
        Ok(())
    }
}

/// What a name stands for: symbolic links are followed to the file they point to, even where
/// there is none yet.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    const LINKS: usize = 40; // as many as Linux follows
    if let Ok(target) = fs::canonicalize(path) {
        return Ok(target);
    }
    let mut target = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its symbolic links lead in a circle"))
}

fn directory(target: &Path) -> &Path {
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Names a file that has no name, over one that may exist.
fn name(file: &File, target: &Path) -> io::Result<()> {
    match unnamed::name(file, target) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        other => return other,
    }
    // A name cannot be given away by linking, only by renaming.
    let temporary = loop {
        let temporary = beside(target);
        match unnamed::name(file, &temporary) {
            Ok(()) => break temporary,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    };
    fs::rename(&temporary, target).inspect_err(|_| {
        let _ = fs::remove_file(&temporary);
    })
}

/// A new file under a temporary name beside its final one.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    loop {
        let temporary = beside(target);
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// A hidden name beside a file's own that this program has not used yet.
fn beside(target: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut temporary = OsString::from(".");
    temporary.push(target.file_name().unwrap_or_default());
    temporary.push(format!(".{}-{count}.tmp", std::process::id()));
    target.with_file_name(temporary)
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let State::Named(temporary) = &self.state {
            let _ = fs::remove_file(temporary);
        }
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(test)]
mod tests;

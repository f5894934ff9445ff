//! A file that appears under its name whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::file_error::FileError;

type Result<T> = std::result::Result<T, FileError>;

/// Writes a file that appears under its name whole or not at all.
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

/// A file being written beside its final name, and renamed at the end; removed when
/// dropped before. Devices and pipes are written directly.
pub(crate) struct AtomicFile {
    file: File,
    /// The name the user gave.
    path: PathBuf,
    /// Where the bytes are for now, and where they go.
    pending: Option<(PathBuf, PathBuf)>,
}

impl AtomicFile {
    pub fn create(path: &Path) -> Result<Self> {
        let failed = |error| FileError::write(path, error);
        // a symbolic link stays, and what it points to is replaced
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let existing = fs::metadata(&target).ok();
        if existing.as_ref().is_some_and(|metadata| metadata.is_dir()) {
            return Err(FileError::IsDirectory { file: path.to_owned() });
        }
        if existing.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = OpenOptions::new().write(true).open(&target).map_err(failed)?;
            return Ok(AtomicFile { file, path: path.to_owned(), pending: None });
        }
        let Some(name) = target.file_name() else {
            return Err(FileError::IsDirectory { file: path.to_owned() });
        };
        loop {
            static COUNT: AtomicU64 = AtomicU64::new(0);
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let mut temporary = std::ffi::OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".{}-{count}.tmp", std::process::id()));
            let temporary = target.with_file_name(temporary);
            let file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed(error)),
            };
            if let Some(metadata) = existing {
                let _ = fs::set_permissions(&temporary, metadata.permissions());
            }
            return Ok(AtomicFile {
                file,
                path: path.to_owned(),
                pending: Some((temporary, target)),
            });
        }
    }

    /// Puts the file under its name, once its bytes are on the disk.
    pub fn commit(mut self) -> Result<()> {
        if let Some((temporary, target)) = self.pending.take() {
            let renamed = self.file.sync_all().and_then(|()| fs::rename(&temporary, &target));
            if let Err(error) = renamed {
                let _ = fs::remove_file(&temporary);
                return Err(FileError::write(&self.path, error));
            }
            sync_directory(&target);
        }
        Ok(())
    }
}

/// Makes the renaming last. Not every system can, and the file is whole either way.
fn sync_directory(target: &Path) {
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(directory) = File::open(directory.unwrap_or(Path::new("."))) {
        let _ = directory.sync_all();
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.pending.take() {
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
mod tests {
    use super::*;

    #[test]
    fn the_old_file_stays_until_the_new_one_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("out.csv");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);

        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_and_permissions_survive() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("target"), directory.path().join("link"));
        fs::write(&target, "old").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&target, &link).unwrap();
        let mut file = AtomicFile::create(&link).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    }

    #[test]
    fn no_directory_and_a_directory_are_told_apart() {
        let directory = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(&directory.path().join("no/out.csv")).err().unwrap();
        assert!(matches!(error, FileError::NoDirectory { .. }), "{error}");
        let error = AtomicFile::create(directory.path()).err().unwrap();
        assert!(matches!(error, FileError::IsDirectory { .. }), "{error}");
    }
}

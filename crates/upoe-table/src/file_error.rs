//! What can go wrong with any file, whatever is in it.

use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields say what they are
pub enum FileError {
    #[error("{}: no such file; check the path", file.display())]
    NotFound { file: PathBuf },
    #[error("{}: is a directory; name a file in it", file.display())]
    IsDirectory { file: PathBuf },
    #[error("{}: cannot be read: {source}", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("{}: cannot be written: {source}", file.display())]
    Write { file: PathBuf, source: io::Error },
    #[error("{}: the directory {} does not exist; create it first", file.display(), directory.display())]
    NoDirectory { file: PathBuf, directory: PathBuf },
    #[error("{}: no space left on the device; nothing was kept under that name", file.display())]
    DiskFull { file: PathBuf },
    #[error("the reader of the output closed it")]
    BrokenPipe,
}

impl FileError {
    /// The error of opening or reading `file`.
    pub fn read(file: &Path, source: io::Error) -> Self {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileError::NotFound { file },
            io::ErrorKind::IsADirectory => FileError::IsDirectory { file },
            _ => FileError::Read { file, source },
        }
    }

    /// The error of creating or writing `file`.
    pub fn write(file: &Path, source: io::Error) -> Self {
        let file = file.to_owned();
        match source.kind() {
            io::ErrorKind::BrokenPipe => FileError::BrokenPipe,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                FileError::DiskFull { file }
            }
            io::ErrorKind::IsADirectory => FileError::IsDirectory { file },
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                let directory = file.parent().map(Path::to_owned).unwrap_or_default();
                FileError::NoDirectory { file, directory }
            }
            _ => FileError::Write { file, source },
        }
    }
}

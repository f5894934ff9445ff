//! Everything that can go wrong with a model file or a checkpoint.

use std::path::PathBuf;

use upoe_table::FileError;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong with a model file or a checkpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)] // the fields say what they are: file, reason, lengths, versions
pub enum Error {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: not a upoe model: {reason}", file.display())]
    NotModel { file: PathBuf, reason: &'static str },
    #[error("{}: is the checkpoint of a fit, not a model; resume the fit from it", file.display())]
    IsCheckpoint { file: PathBuf },
    #[error("{}: is a detector of odd rows, not a model; it has no density", file.display())]
    IsDetector { file: PathBuf },
    #[error("{}: not a upoe detector: {reason}", file.display())]
    NotDetector { file: PathBuf, reason: &'static str },
    #[error("{}: two columns of the model are called `{name}`; columns are matched by name, so rename one and fit again", file.display())]
    DuplicateColumn { file: PathBuf, name: String },
    #[error("{}: the model file is cut short ({found} of {expected} bytes); copy it again", file.display())]
    ModelTruncated { file: PathBuf, found: u64, expected: u64 },
    #[error("{}: the model file was altered after it was written (its checksum does not match); take an intact copy, or fit again", file.display())]
    ModelAltered { file: PathBuf },
    #[error("{}: written by {writer} in format {version}, and this program reads up to format {supported}; upgrade upoe", file.display())]
    ModelNewer { file: PathBuf, writer: String, version: u64, supported: u64 },
    #[error("{}: not a upoe checkpoint: {reason}", file.display())]
    NotCheckpoint { file: PathBuf, reason: &'static str },
    #[error("{}: the checkpoint belongs to other data (other rows, columns or rows held out); resume with the data it was made from, or delete it to start again", file.display())]
    OtherData { file: PathBuf },
    #[error("{}: the checkpoint belongs to a fit with other settings ({setting} was {was} and is {is} now); resume with the settings it was made with, or delete it to start again", file.display())]
    OtherSettings { file: PathBuf, setting: String, was: String, is: String },
    #[error("the model cannot be written: {reason}")]
    BadContainer { reason: &'static str },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs of every kind show these messages.
    #[test]
    fn no_message_mentions_a_flag() {
        let file = || PathBuf::from("m.upoe");
        let word = || "x".to_owned();
        let all = [
            Error::File(FileError::BrokenPipe),
            Error::NotModel { file: file(), reason: "x" },
            Error::IsCheckpoint { file: file() },
            Error::IsDetector { file: file() },
            Error::NotDetector { file: file(), reason: "x" },
            Error::DuplicateColumn { file: file(), name: word() },
            Error::ModelTruncated { file: file(), found: 1, expected: 2 },
            Error::ModelAltered { file: file() },
            Error::ModelNewer { file: file(), writer: word(), version: 2, supported: 1 },
            Error::NotCheckpoint { file: file(), reason: "x" },
            Error::OtherData { file: file() },
            Error::OtherSettings { file: file(), setting: word(), was: word(), is: word() },
            Error::BadContainer { reason: "x" },
        ];
        for error in all {
            // a new kind of error must join the list above
            match error {
                Error::File(_)
                | Error::NotModel { .. }
                | Error::IsCheckpoint { .. }
                | Error::IsDetector { .. }
                | Error::NotDetector { .. }
                | Error::DuplicateColumn { .. }
                | Error::ModelTruncated { .. }
                | Error::ModelAltered { .. }
                | Error::ModelNewer { .. }
                | Error::NotCheckpoint { .. }
                | Error::OtherData { .. }
                | Error::OtherSettings { .. }
                | Error::BadContainer { .. } => {
                    assert!(!error.to_string().contains("--"), "{error}")
                }
            }
        }
        let source = [include_str!("model_file.rs"), include_str!("checkpoint.rs")].concat();
        assert!(!source.contains("--"), "a reason mentions a flag");
    }
}

//! How a verb fails, what is said then, and the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use upoe_table::{FileError, Table};

use crate::interrupt;
use crate::progress::counted;
use crate::remedy;
use crate::visible;

/// Why a verb did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// The data or the request is at fault: status 1.
    Message(String),
    /// The command line is: status 2.
    Usage(String),
    /// Ctrl-C or SIGTERM: status 130; what there is to say, if anything.
    Interrupted(Option<String>),
    /// Something changed, and the caller wants to know by the status: 3, no message.
    Changed,
    /// The reader closed the output: status 0, no message.
    ClosedPipe,
}

impl Failure {
    /// Says what is wrong and gives the exit status.
    pub fn report(&self) -> ExitCode {
        let mut err = anstream::stderr();
        let red = anstyle::AnsiColor::Red.on_default().bold();
        // Nothing can be done where even this cannot be written.
        match self {
            Failure::Message(text) | Failure::Usage(text) => {
                let _ = writeln!(err, "{red}error:{red:#} {}", visible::line(text));
            }
            Failure::Interrupted(Some(text)) => {
                let _ = writeln!(err, "{}", visible::line(text));
            }
            Failure::Interrupted(None) | Failure::Changed | Failure::ClosedPipe => {}
        }
        ExitCode::from(match self {
            Failure::Message(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Changed => 3,
            Failure::Interrupted(_) => interrupt::STATUS,
            Failure::ClosedPipe => 0,
        })
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::BrokenPipe => Failure::ClosedPipe,
            error => Failure::Message(error.to_string()),
        }
    }
}

impl From<upoe_file::Error> for Failure {
    fn from(error: upoe_file::Error) -> Self {
        match error {
            upoe_file::Error::File(error) => error.into(),
            error => Failure::Message(remedy::of_file(&error)),
        }
    }
}

impl From<upoe_table::Error> for Failure {
    fn from(error: upoe_table::Error) -> Self {
        match error {
            upoe_table::Error::File(error) => error.into(),
            upoe_table::Error::Interrupted => {
                Failure::Interrupted(Some("interrupted while reading: nothing is written".into()))
            }
            error => Failure::Message(remedy::of_table(&error)),
        }
    }
}

/// An error of writing to the standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            io::ErrorKind::StorageFull => {
                Failure::Message("standard output: no space left on the device".into())
            }
            _ => Failure::Message(format!("standard output: {error}")),
        }
    }
}

/// An error of the mathematics, in terms of the file and its columns.
pub fn from_core(error: upoe::Error, table: &Table) -> Failure {
    let file = table.source.display();
    let column = |i: usize| table.names.get(i).map_or_else(String::new, |n| format!("`{n}`"));
    let row = |i: usize| file_row(i, &table.dropped);
    Failure::Message(match error {
        upoe::Error::NonFinite { row: i, column: c, value } => format!(
            "{file}: row {}, column {}: {value} is not a finite number; correct it, or write NA \
             if it is missing",
            row(i),
            column(c)
        ),
        upoe::Error::Weight { row: i, value } => format!(
            "{file}: row {}: the weight {value} is negative or not finite; correct it",
            row(i)
        ),
        upoe::Error::TooFewRows { rows, needed } => format!(
            "{file}: {} to learn from, and at least {needed} are needed; add rows, or \
             hold fewer out (rows of weight 0 do not count)",
            counted(rows, "row")
        ),
        upoe::Error::NoVariance { columns } => format!(
            "{file}: none of the {} ({}) varies, so there is nothing to model; \
             choose others (`--columns`)",
            counted(columns, "column"),
            list(&table.names)
        ),
        upoe::Error::Spread { column: c, variance } if variance < 1.0 => format!(
            "{file}: column {} spreads too little for double precision (its variance is \
             {variance:e}); multiply it by a large number",
            column(c)
        ),
        upoe::Error::Spread { column: c, variance } => format!(
            "{file}: column {} spreads too far (its variance is {variance:e}); divide it by a large \
             number, or take logarithms",
            column(c)
        ),
        upoe::Error::EmptyColumn { column: c } => format!(
            "{file}: column {} has no values to learn from; leave it out (`--exclude`)",
            column(c)
        ),
        upoe::Error::OutsideSubspace { row: i, column: c } => format!(
            "{file}: row {}, column {}: its values do not go together, because the training rows span \
             fewer dimensions than they have columns; correct them",
            row(i),
            column(c)
        ),
        upoe::Error::InvalidSetting { .. } => return Failure::Message(setting(&error)),
        error => format!("{file}: {error}"),
    })
}

/// A refused setting, by the name of its flag.
pub fn setting(error: &upoe::Error) -> String {
    match error {
        upoe::Error::InvalidSetting { name, value, rule } => {
            let flag = if *name == "parallel_start" { "start" } else { name };
            format!("--{} {value}: {rule}", flag.replace('_', "-"))
        }
        upoe::Error::NeedsHoldout => "--stop holdout: held-out rows are needed".to_owned(),
        error => error.to_string(),
    }
}

/// The row of the file, from 1, that row `i` of the table was.
pub fn file_row(i: usize, dropped: &[u64]) -> u64 {
    dropped.iter().fold(i as u64 + 1, |row, &gone| if gone <= row { row + 1 } else { row })
}

fn list(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(6).map(String::as_str).collect();
    shown.join(", ") + if names.len() > 6 { ", …" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::file_row;

    #[test]
    fn rows_are_counted_as_in_the_file() {
        assert_eq!(file_row(0, &[]), 1);
        // rows 1, 3 and 4 were dropped: the table has the file's rows 2, 5, 6
        assert_eq!([0, 1, 2].map(|i| file_row(i, &[1, 3, 4])), [2, 5, 6]);
    }
}

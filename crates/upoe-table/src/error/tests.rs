use super::*;
use crate::aside::Aside;
use crate::notice::TableNotice;
use crate::text_kind::TextKind;

/// One of every kind, which the compiler checks: the list is that of a `match` without `_`.
macro_rules! one_of_each {
    ($type:ident: $($variant:ident { $($field:tt: $value:expr),* }),* $(,)?) => {{
        fn is_listed(of: &$type) {
            match of {
                $($type::$variant { .. } => {})*
            }
        }
        let all: Vec<$type> = vec![$($type::$variant { $($field: $value),* }),*];
        all.iter().for_each(is_listed);
        all
    }};
}

fn file() -> PathBuf {
    "t.csv".into()
}

fn text() -> String {
    "x".into()
}

fn place() -> Place {
    Place { row: 2, line: Some(3) }
}

fn broken() -> io::Error {
    io::Error::other("broken")
}

fn files() -> Vec<FileError> {
    one_of_each!(FileError:
        NotFound { file: file() },
        IsDirectory { file: file() },
        Read { file: file(), source: broken() },
        Write { file: file(), source: broken() },
        NoDirectory { file: file(), directory: file() },
        DiskFull { file: file() },
        BrokenPipe {},
    )
}

fn errors() -> Vec<Error> {
    let wanted = || WantedColumn { name: text(), nearest: Some("xx".into()) };
    let mut all = one_of_each!(Error:
        File { 0: FileError::BrokenPipe },
        Truncated { file: file(), missing: text() },
        Damaged { file: file(), reason: text() },
        TrailingBytes { file: file() },
        Shrank { file: file(), read: 1, length: 2 },
        Interrupted {},
        NotTable { file: file() },
        Archive { file: file() },
        Empty { file: file() },
        HeaderOnly { file: file() },
        AllRowsDropped { file: file() },
        NoNumericColumns { file: file(), columns: vec![text()] },
        TooManyColumns { file: file() },
        Ragged { file: file(), place: place(), found: 1, expected: 2 },
        UnclosedQuote { file: file(), place: place() },
        MixedColumn { file: file(), place: place(), column: text(), text: text(), role: Role::Modelled },
        MixedHeader { file: file(), column: 1, text: text() },
        DecimalComma { file: file(), place: place(), column: text(), text: text(), role: Role::Modelled },
        TextColumn { file: file(), column: text(), place: place(), text: text(), role: Role::Modelled },
        EmptyColumn { file: file(), column: text(), role: Role::Modelled },
        MissingCell { file: file(), place: place(), column: text(), role: Role::Modelled },
        NonFinite { file: file(), place: place(), column: text(), text: text() },
        NegativeWeight { file: file(), place: place(), column: text(), weight: -1.0 },
        NotUtf8 { file: file(), place: place(), column: 1 },
        UnknownColumn { file: file(), column: wanted(), columns: vec!["a,b".into()], named: false },
        TwoRoles { file: file(), column: text(), other: Remedy::LeaveOut { column: text() } },
        NothingSelected { file: file() },
        MissingColumns { file: file(), missing: vec![wanted()] },
        ColumnCount { file: file(), found: 1, expected: 2 },
        BadNpy { file: file(), reason: "x" },
        UnsupportedDtype { file: file(), dtype: text() },
        NotTwoDimensional { file: file(), dimensions: 3 },
        BadParquet { file: file(), reason: text() },
        Unsupported { file: file(), format: "x" },
        NeedsFile { file: file(), format: "x" },
        BadXlsx { file: file(), reason: text() },
        NoSheet { file: file(), wanted: Some(wanted()), names: vec![text()] },
        OutsideTable { file: file(), sheet: text(), cell: text() },
        BadJson { file: file(), place: place(), reason: text() },
        BadArrow { file: file(), reason: text() },
        MostlyEmpty { file: file(), columns: 1 },
        BadMat { file: file(), reason: "x" },
        BadTiff { file: file(), reason: text() },
        SeveralMatrices { file: file(), names: vec![text()] },
        NoMatrix { file: file(), wanted: Some(wanted()), names: vec![text()] },
        TextInNpy { file: file(), kept: vec![text()] },
        UnknownFormat { file: file(), extension: text() },
        RowShape { what: "x" },
    );
    for role in [Role::Needed, Role::Weights] {
        all.push(Error::MissingCell { file: file(), place: place(), column: text(), role });
        let (column, text) = (text(), text());
        all.push(Error::TextColumn { file: file(), column, place: place(), text, role });
    }
    all
}

fn notices() -> Vec<TableNotice> {
    one_of_each!(TableNotice:
        TextColumn { column: text(), example: text(), kind: TextKind::Dates },
        RenamedColumn { column: text(), position: 2, renamed: text() },
        LeftAside { column: text(), what: Aside::Flag },
        EmptyColumn { column: text() },
        AbsentColumns { columns: vec![text()] },
        IndexColumn { column: text() },
        NumericHeader { first: 1.0, last: 2.0 },
        DecimalComma {},
        Sheet { sheet: text(), sheets: 2 },
        Titles { rows: 1 },
        LateColumns { columns: vec![text()] },
        ExtraColumns { columns: vec![text()] },
        Rounded { column: text(), place: place(), text: text(), value: 1.0 },
        NoFinalNewline { column: text(), place: place(), text: text() },
        ByPosition { columns: vec![text()] },
        DroppedRows { dropped: 1, rows: 2 },
    )
}

/// Programs of every kind show these messages.
#[test]
fn no_message_mentions_a_flag() {
    let files = files().into_iter().map(|error| error.to_string());
    let errors = errors().into_iter().map(|error| error.to_string());
    let notices = notices().into_iter().map(|notice| notice.to_string());
    for message in files.chain(errors).chain(notices) {
        assert!(!message.contains("--"), "{message}");
        assert!(!message.is_empty());
    }
}

#[test]
fn remedies_name_the_column_and_fit_its_role() {
    let cell = |role| Error::MissingCell { file: file(), place: place(), column: text(), role };
    let leave_out = Remedy::LeaveOut { column: text() };
    assert_eq!(cell(Role::Modelled).remedies(), [Remedy::DropRows, Remedy::KeepMissing, leave_out]);
    assert_eq!(cell(Role::Needed).remedies(), [Remedy::DropRows, Remedy::KeepMissing]);
    assert_eq!(cell(Role::Weights).remedies(), [Remedy::DropRows, Remedy::ChooseWeights]);
}

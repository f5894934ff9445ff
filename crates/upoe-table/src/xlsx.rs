//! Reads a sheet of an Excel workbook (`.xlsx`).

use std::borrow::Cow;
use std::io::{BufReader, Cursor, Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use calamine::{
    CellErrorType, DataRef, ExcelDateTime, Reader, SheetType, SheetVisible, Xlsx, XlsxError,
};
use zip::ZipArchive;

use crate::builder::Blocks;
use crate::error::{Error, Result};
use crate::find::wanted;
use crate::header;
use crate::input::{Bytestream, Input, Progress, report};
use crate::notice::TableNotice;
use crate::rows::{Rows, Value, writing};
use crate::select::{Header, Plan, ReadOptions};
use crate::table::Table;
use crate::workbook::{check_parts, check_sheet, is_sheet};

/// The most columns of a sheet.
const COLUMNS: usize = 1 << 14;
/// Rows that may come before the header.
const TITLES: usize = 50;

pub(crate) trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// Reads the sheet called `sheet`, or the first one that has numbers.
pub(crate) fn read(
    input: Input,
    sheet: Option<&str>,
    options: &ReadOptions,
    mut progress: Progress<'_>,
    mut blocks: Option<Blocks<'_>>,
) -> Result<Table> {
    let file = input.file.clone();
    let (Some(length), true) = (input.length, input.is_random_access()) else {
        return Err(Error::NeedsFile { file, format: "Excel" });
    };
    let mut stream: Box<dyn ReadSeek> = match input.stream {
        Bytestream::File(file) => Box::new(BufReader::with_capacity(1 << 16, file)),
        Bytestream::Memory(bytes) => Box::new(Cursor::new(bytes)),
        Bytestream::Pipe(_) => return Err(Error::NeedsFile { file, format: "Excel" }),
    };
    let mut start = [0; 4];
    let begun = stream.read(&mut start).and_then(|read| stream.rewind().map(|()| read));
    begun.map_err(|error| Error::read(&file, error))?;
    match &start {
        b"PK\x03\x04" => {}
        b"\xd0\xcf\x11\xe0" => {
            return Err(bad(&file, "it is of an older format or has a password"));
        }
        _ => return Err(bad(&file, "it does not begin as one does; if it is text, call it .csv")),
    }
    // A library reads the parts; where it panics on damaged ones, the file is at fault.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        read_workbook(stream, length, &file, sheet, options, &mut progress, &mut blocks)
    }));
    outcome.unwrap_or_else(|_| Err(bad(&file, "its parts contradict each other")))
}

fn bad(file: &Path, reason: impl Into<String>) -> Error {
    Error::BadXlsx { file: file.to_owned(), reason: reason.into() }
}

fn wrong(file: &Path, error: XlsxError) -> Error {
    match error {
        XlsxError::Password => bad(file, "it has a password"),
        XlsxError::FileNotFound(part) => bad(file, format!("it has no part {part}")),
        error => bad(file, error.to_string()),
    }
}

fn read_workbook(
    stream: Box<dyn ReadSeek>,
    length: u64,
    file: &Path,
    sheet: Option<&str>,
    options: &ReadOptions,
    progress: &mut Progress<'_>,
    blocks: &mut Option<Blocks<'_>>,
) -> Result<Table> {
    let mut archive = ZipArchive::new(stream).map_err(|error| bad(file, error.to_string()))?;
    check_parts(&mut archive, length).map_err(|reason| bad(file, reason))?;
    for index in 0..archive.len() {
        let part = archive.by_index(index).map_err(|error| bad(file, error.to_string()))?;
        if is_sheet(&part.name().unwrap_or_default()) {
            check_sheet(part, length).map_err(|reason| bad(file, reason))?;
        }
    }
    let mut workbook = Xlsx::new(archive.into_inner()).map_err(|error| wrong(file, error))?;
    let sheets = workbook.sheets_metadata().iter();
    let sheets = sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet);
    let (shown, hidden): (Vec<_>, Vec<_>) =
        sheets.partition(|sheet| sheet.visible == SheetVisible::Visible);
    let hidden: Vec<String> = hidden.into_iter().map(|sheet| sheet.name.clone()).collect();
    let names: Vec<String> = shown.into_iter().map(|sheet| sheet.name.clone()).collect();
    let all = [&names[..], &hidden].concat();
    let chosen = match sheet {
        Some(sheet) => all.iter().find(|name| *name == sheet).cloned(),
        None => first_with_numbers(&mut workbook, file, &names)?,
    };
    let Some(chosen) = chosen else {
        let wanted = sheet.map(|name| wanted(name, &all));
        return Err(Error::NoSheet { file: file.to_owned(), wanted, names: all });
    };
    let notice = (sheet.is_none() && all.len() > 1)
        .then(|| TableNotice::Sheet { sheet: chosen.clone(), sheets: all.len() });

    let mut rows = SheetRows::new(&mut workbook, file, &chosen)?;
    let (plan, first_column, mut waiting) = header_of(&mut rows, file, options)?;
    let columns = plan.names.len();
    let mut table = Rows::new(file, plan, options);
    table.notices().extend(notice);
    loop {
        let row = match waiting.take() {
            Some(row) => row,
            None => match rows.next()? {
                Some(row) => row,
                None => break,
            },
        };
        let mut cells = vec![Value::Missing; columns];
        for (column, value) in row.cells {
            match column.checked_sub(first_column).and_then(|column| cells.get_mut(column)) {
                Some(cell) => *cell = value,
                None => {
                    let (file, sheet) = (file.to_owned(), chosen.clone());
                    let cell = cell_name(row.number, column);
                    return Err(Error::OutsideTable { file, sheet, cell });
                }
            }
        }
        table.take(row.number, &cells, blocks)?;
        if table.count.is_multiple_of(1024) {
            report(progress, 0, None, table.count as u64)?;
        }
    }
    table.finish()
}

/// The first of these sheets in which a cell is a number.
fn first_with_numbers(
    workbook: &mut Xlsx<Box<dyn ReadSeek>>,
    file: &Path,
    names: &[String],
) -> Result<Option<String>> {
    for name in names {
        let mut cells =
            workbook.worksheet_cells_reader(name).map_err(|error| wrong(file, error))?;
        while let Some(cell) = cells.next_cell().map_err(|error| wrong(file, error))? {
            if matches!(cell.get_value(), DataRef::Float(_) | DataRef::Int(_)) {
                return Ok(Some(name.clone()));
            }
        }
    }
    Ok(None)
}

/// A row of a sheet that is not blank.
struct Row<'s> {
    /// Counted from 1, as Excel shows it.
    number: u64,
    /// Column, from 0, and value.
    cells: Vec<(usize, Value<'s>)>,
}

/// The rows of a sheet that are not blank.
struct SheetRows<'s> {
    cells: calamine::XlsxCellReader<'s, Box<dyn ReadSeek>>,
    file: &'s Path,
    /// There are no more cells.
    ended: bool,
    /// The cell after the last row.
    ahead: Option<(u32, usize, Value<'s>)>,
    /// A row to give again.
    again: Option<Row<'s>>,
}

impl<'s> SheetRows<'s> {
    fn new(workbook: &'s mut Xlsx<Box<dyn ReadSeek>>, file: &'s Path, sheet: &str) -> Result<Self> {
        let cells = workbook.worksheet_cells_reader(sheet).map_err(|error| wrong(file, error))?;
        Ok(SheetRows { cells, file, ended: false, ahead: None, again: None })
    }

    fn cell(&mut self) -> Result<Option<(u32, usize, Value<'s>)>> {
        while !self.ended {
            let cell = self.cells.next_cell().map_err(|error| wrong(self.file, error))?;
            let Some(cell) = cell else {
                self.ended = true;
                break;
            };
            let (row, column) = cell.get_position();
            let column = column as usize;
            if column >= COLUMNS {
                return Err(bad(self.file, "a cell is in a column that no sheet has"));
            }
            let value = value(cell.get_value().clone());
            if value != Value::Missing {
                return Ok(Some((row, column, value)));
            }
        }
        Ok(None)
    }

    fn next(&mut self) -> Result<Option<Row<'s>>> {
        if let Some(row) = self.again.take() {
            return Ok(Some(row));
        }
        let first = match self.ahead.take() {
            Some(cell) => Some(cell),
            None => self.cell()?,
        };
        let Some((row, column, value)) = first else { return Ok(None) };
        let mut cells = vec![(column, value)];
        while let Some((next, column, value)) = self.cell()? {
            if next != row {
                if next < row {
                    return Err(bad(self.file, "its rows are not in order"));
                }
                self.ahead = Some((next, column, value));
                break;
            }
            if cells.last().is_some_and(|(last, _)| *last >= column) {
                return Err(bad(self.file, "the cells of a row are not in order"));
            }
            cells.push((column, value));
        }
        Ok(Some(Row { number: u64::from(row) + 1, cells }))
    }
}

fn value(data: DataRef<'_>) -> Value<'_> {
    match data {
        DataRef::Empty | DataRef::Error(CellErrorType::NA) => Value::Missing,
        DataRef::Int(value) => Value::Number(value as f64),
        DataRef::Float(value) => Value::Number(value),
        DataRef::Bool(value) => Value::Number(value.into()),
        DataRef::SharedString(text) => text_value(text.into()),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            text_value(text.into())
        }
        DataRef::DateTime(time) => Value::Text(date(&time).into()),
        DataRef::Error(error) => Value::Text(error.to_string().into()),
    }
}

fn text_value(text: Cow<'_, str>) -> Value<'_> {
    if text.trim().is_empty() { Value::Missing } else { Value::Text(text) }
}

/// A date and time as text.
fn date(time: &ExcelDateTime) -> String {
    const LAST: f64 = 2_958_466.0; // the year 9999
    if !(0.0..LAST).contains(&time.as_f64()) {
        return format!("a date of {}", time.as_f64());
    }
    let (year, month, day, hour, minute, second, _) = time.to_ymd_hms_milli();
    let clock = format!("{hour:02}:{minute:02}:{second:02}");
    match (time.as_f64() < 1.0, time.as_f64().fract() == 0.0) {
        (true, _) => clock,
        (_, true) => format!("{year:04}-{month:02}-{day:02}"),
        (_, false) => format!("{year:04}-{month:02}-{day:02} {clock}"),
    }
}

/// A cell as Excel calls it: B7.
fn cell_name(row: u64, column: usize) -> String {
    let (mut letters, mut rest) = (String::new(), column + 1);
    while rest > 0 {
        letters.insert(0, char::from(b'A' + ((rest - 1) % 26) as u8));
        rest = (rest - 1) / 26;
    }
    format!("{letters}{row}")
}

/// The columns, where the first of them is, and the first row of data if it was read already.
fn header_of<'s>(
    rows: &mut SheetRows<'s>,
    file: &Path,
    options: &ReadOptions,
) -> Result<(Plan, usize, Option<Row<'s>>)> {
    let writing = writing(options);
    let mut titles = 0;
    let (row, next) = loop {
        let Some(row) = rows.next()? else { return Err(Error::Empty { file: file.to_owned() }) };
        if row.number <= options.dialect.skip as u64 {
            continue;
        }
        // A title stands alone in its row, above a table of several columns.
        let next = rows.next()?;
        let alone = row.cells.len() == 1 && matches!(row.cells[0].1, Value::Text(_));
        match next {
            Some(next) if alone && next.cells.len() > 1 && titles < TITLES => {
                titles += 1;
                rows.again = Some(next);
            }
            next => break (row, next),
        }
    };
    let first: Vec<f64> = row.cells.iter().filter_map(|(_, cell)| cell.number(&writing)).collect();
    let model = options.model_columns.as_deref();
    let holds = |name: &String| row.cells.iter().any(|(_, cell)| cell.text().trim() == name);
    let has_header = match options.header {
        Header::Auto => first.is_empty() || model.is_some_and(|model| model.iter().all(holds)),
        Header::Yes => true,
        Header::No => false,
    };
    let start = row.cells[0].0;
    let last = row.cells[row.cells.len() - 1].0;
    let mut plan = if has_header {
        let mut names: Vec<String> =
            (start..=last).map(|i| format!("c{}", i - start + 1)).collect();
        for (column, cell) in &row.cells {
            names[column - start] = cell.text().trim().to_owned();
        }
        Plan::named(file, names, options)?
    } else {
        Plan::unnamed(file, last - start + 1, options)?
    };
    if titles > 0 {
        plan.notices.push(TableNotice::Titles { rows: titles });
    }
    if has_header && next.is_none() {
        return Err(Error::HeaderOnly { file: file.to_owned() });
    }
    if has_header {
        return Ok((plan, start, next));
    }
    if options.header == Header::Auto {
        plan.notices.extend(header::numeric(&first));
    }
    if let Some(next) = next {
        rows.again = Some(next);
    }
    Ok((plan, start, Some(row)))
}

//! Cells of formats that store columns of a type, and how they enter a table.

use crate::builder::Builder;
use crate::error::{Error, Place, Result, Role, excerpt};
use crate::text::format_number;

/// One cell.
pub(crate) enum Cell {
    Null,
    Number(f64),
    Integer(i64),
    Unsigned(u64),
    Text(String),
}

impl Cell {
    pub fn number(&self) -> f64 {
        match self {
            Cell::Number(value) => *value,
            Cell::Integer(value) => *value as f64,
            Cell::Unsigned(value) => *value as f64,
            Cell::Null | Cell::Text(_) => f64::NAN,
        }
    }

    /// The digits of a whole number.
    pub fn digits(&self) -> String {
        match self {
            Cell::Integer(_) | Cell::Unsigned(_) => self.text(),
            _ => String::new(),
        }
    }

    pub fn text(&self) -> String {
        match self {
            Cell::Null => String::new(),
            Cell::Number(value) => format_number(*value),
            Cell::Integer(value) => value.to_string(),
            Cell::Unsigned(value) => value.to_string(),
            Cell::Text(text) => text.clone(),
        }
    }
}

/// Where the cells of a slot are stored in a row, if they are.
pub(crate) fn places(builder: &Builder<'_>) -> Vec<Option<usize>> {
    let mut places = vec![None; builder.plan.modelled.len()];
    builder.stored.iter().enumerate().for_each(|(at, &slot)| places[slot] = Some(at));
    places
}

/// Takes cells of the column `index`, from row `first` on, for each of its slots and other roles.
pub(crate) fn take_column(
    builder: &mut Builder<'_>,
    index: usize,
    slots: &[usize],
    places: &[Option<usize>],
    first: usize,
    cells: &[Cell],
) -> Result<()> {
    let (stride, handed) = (builder.stored.len(), builder.handed);
    builder.values.resize((first - handed + cells.len()) * stride, 0.0);
    for (row, cell) in (first..).zip(cells) {
        let place = Place::row(row as u64 + 1);
        for &slot in slots {
            let value = match cell {
                Cell::Text(text) => builder.text(slot, place, text)?,
                _ => builder.number(slot, place, cell.number(), || cell.digits())?,
            };
            if let Some(at) = places[slot] {
                builder.values[(row - handed) * stride + at] = value;
            }
        }
        carry(builder, index, place, cell)?;
    }
    Ok(())
}

fn carry(builder: &mut Builder<'_>, index: usize, place: Place, cell: &Cell) -> Result<()> {
    for at in 0..builder.kept.len() {
        if builder.plan.kept[at] == index {
            builder.kept[at].push(&cell.text());
        }
    }
    if builder.plan.groups == Some(index) {
        builder.groups.push(&cell.text());
    }
    if builder.plan.weights == Some(index) {
        if let Cell::Text(text) = cell {
            let (file, text) = (builder.file.to_owned(), excerpt(text));
            let (column, role) = (builder.plan.names[index].clone(), Role::Weights);
            return Err(Error::TextColumn { file, column, place, text, role });
        }
        builder.weight(place, cell.number(), "")?;
    }
    Ok(())
}

//! A column of text, stored as one string.

/// A column carried along as text: identifiers, labels, groups.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextColumn {
    /// The column's name.
    pub name: String,
    text: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// An empty column.
    pub fn new(name: impl Into<String>) -> Self {
        TextColumn { name: name.into(), ..TextColumn::default() }
    }

    /// Appends one cell.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The cell of a row, counted from 0; `None` past the end.
    pub fn get(&self, row: usize) -> Option<&str> {
        let end = *self.ends.get(row)?;
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        self.text.get(start..end)
    }

    /// All cells in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|row| self.get(row))
    }

    /// The column without the rows for which `dropped` is true.
    pub(crate) fn without(&self, dropped: impl Fn(usize) -> bool) -> Self {
        let mut kept = TextColumn::new(self.name.clone());
        for (row, cell) in self.iter().enumerate() {
            if !dropped(row) {
                kept.push(cell);
            }
        }
        kept
    }
}

/// Whether a cell's text says that its value is missing.
pub fn is_missing(cell: impl AsRef<[u8]>) -> bool {
    let cell = cell.as_ref().trim_ascii();
    ["", "NA", "N/A", "#N/A", "null", "nan"]
        .iter()
        .any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// A number as text that reads back to the same bits: whole numbers without a point.
pub(crate) fn format_number(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".into() } else { "-inf".into() }
    } else if value == value.trunc()
        && value.abs() < 1e15
        && !(value == 0.0 && value.is_sign_negative())
    {
        format!("{}", value as i64)
    } else {
        zmij::Buffer::new().format_finite(value).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_in_order_and_rows_can_go() {
        let mut column = TextColumn::new("id");
        for cell in ["a", "", "ünï", "d"] {
            column.push(cell);
        }
        assert_eq!(column.iter().collect::<Vec<_>>(), ["a", "", "ünï", "d"]);
        assert_eq!(column.get(4), None);
        assert_eq!(column.without(|row| row == 1).iter().collect::<Vec<_>>(), ["a", "ünï", "d"]);
    }

    #[test]
    fn numbers_as_text_read_back_to_the_same_bits() {
        for value in
            [0.0, -0.0, 1.0, -3.0, 0.1, 1e300, 5e-324, 1e15, 2.0_f64.powi(53) + 2.0, 1.0 / 3.0]
        {
            let text = format_number(value);
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
        assert_eq!(format_number(7.0), "7");
        assert_eq!(format_number(f64::NEG_INFINITY), "-inf");
        assert_eq!(format_number(f64::NAN), "NaN");
    }
}

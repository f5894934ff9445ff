//! Text tables with aligned columns.

/// Rows of cells; a cell that begins with a digit or a sign stands right, others left.
#[derive(Default)]
pub struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with this heading.
    pub fn new(heading: &[&str]) -> Self {
        TextTable { rows: vec![heading.iter().map(|cell| (*cell).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The lines, the heading in bold.
    pub fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(c));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        // A column of numbers stands right, with its heading.
        let numeric = |c: usize| {
            let mut cells = self.rows.iter().skip(1).filter_map(|row| row.get(c)).peekable();
            cells.peek().is_some() && cells.all(|cell| is_number(cell))
        };
        let right: Vec<bool> = (0..columns).map(numeric).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(c, cell)| {
                let fill = " ".repeat(widths[c].saturating_sub(cell.chars().count()));
                if right[c] { fill + cell } else { cell.clone() + &fill }
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        if let Some(heading) = lines.first_mut() {
            *heading = bold(heading);
        }
        lines
    }
}

fn is_number(cell: &str) -> bool {
    let start = cell.trim_start_matches(['+', '-', '−', '<', '±', ' ']);
    cell.is_empty() || cell == "–" || start.starts_with(|c: char| c.is_ascii_digit())
}

/// Bold where the output shows it.
pub fn bold(text: &str) -> String {
    let style = anstyle::Style::new().bold();
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_text_left() {
        let mut table = TextTable::new(&["name", "Q"]);
        table.row(vec!["a".into(), "-0.5".into()]);
        table.row(vec!["longer".into(), "-10.25".into()]);
        let lines = table.lines();
        assert_eq!(lines[1..], ["a         -0.5", "longer  -10.25"]);
    }
}

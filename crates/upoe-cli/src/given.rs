//! Conditions on columns: `CW=40,FL>15`.

use upoe::Range;

use crate::failure::Failure;

/// What is given about columns.
#[derive(Debug, Default)]
pub struct Given {
    /// Columns with their values.
    pub equal: Vec<(usize, f64)>,
    /// Columns with ranges.
    pub ranges: Vec<Range>,
}

impl Given {
    /// From pieces such as `CW=40` or `FL>15`, for columns of these names.
    pub fn parse(pieces: &[String], names: &[String]) -> Result<Given, Failure> {
        let mut given = Given::default();
        for piece in pieces {
            let refused = |why: &str| Failure::Message(format!("--given {piece}: {why}"));
            let Some(at) = piece.find(['=', '<', '>']) else {
                return Err(refused("write NAME=VALUE, NAME>VALUE or NAME<VALUE"));
            };
            let column = column("--given", piece[..at].trim(), names)?;
            let sign = piece[at..].chars().next();
            let value = piece[at + 1..].trim_start_matches('=').trim();
            let value: f64 = match value.parse() {
                Ok(value) if f64::is_finite(value) => value,
                _ => return Err(refused("the value must be a finite number")),
            };
            if sign == Some('=') {
                let other = given.equal.iter().find(|(c, _)| *c == column);
                if let Some((_, other)) = other.filter(|(_, other)| *other != value) {
                    let name = &names[column];
                    return Err(refused(&format!(
                        "`{name}` cannot be {other} and {value} at once"
                    )));
                }
                if !given.equal.contains(&(column, value)) {
                    given.equal.push((column, value));
                }
                continue;
            }
            let known = given.ranges.iter().position(|r| r.column == column);
            let at = known.unwrap_or_else(|| {
                let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
                given.ranges.push(Range { column, low, high });
                given.ranges.len() - 1
            });
            let range = &mut given.ranges[at];
            match sign {
                Some('>') => range.low = range.low.max(value),
                _ => range.high = range.high.min(value),
            }
            if !(range.low < range.high) {
                let name = &names[column];
                let text =
                    format!("no `{name}` is more than {} and less than {}", range.low, range.high);
                return Err(refused(&text));
            }
        }
        given.settle(names)?;
        Ok(given)
    }

    /// A refused condition, by the names of its columns.
    pub fn refused(&self, error: &upoe::Error, names: &[String]) -> String {
        match error {
            upoe::Error::OutsideSubspace { column, .. } => format!(
                "--given: these values do not go together: column `{}` would leave the subspace that the \
                 training rows span, because some columns are constant or determine each other",
                names[*column]
            ),
            upoe::Error::InvalidSetting { value, rule, .. } => format!("--given {value}: {rule}"),
            error => format!("--given: {error}"),
        }
    }

    /// Ranges of columns whose values are given hold or contradict them.
    fn settle(&mut self, names: &[String]) -> Result<(), Failure> {
        for (column, value) in &self.equal {
            if let Some(r) = self.ranges.iter().find(|r| r.column == *column)
                && !(*value > r.low && *value < r.high)
            {
                let name = &names[*column];
                let text =
                    format!("--given: `{name}` is given as {value}, outside the range given");
                return Err(Failure::Message(text));
            }
        }
        self.ranges.retain(|r| !self.equal.iter().any(|(column, _)| *column == r.column));
        Ok(())
    }
}

/// The number of a model's column.
pub fn column(flag: &str, name: &str, names: &[String]) -> Result<usize, Failure> {
    names.iter().position(|known| known == name).ok_or_else(|| {
        let shown: Vec<&str> = names.iter().take(20).map(String::as_str).collect();
        let more = if names.len() > 20 { ", …" } else { "" };
        Failure::Message(format!(
            "{flag}: the model has no column `{name}`; its columns are {}{more}",
            shown.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Given, Failure> {
        let names: Vec<String> = ["CW", "FL", "BD"].map(str::to_owned).to_vec();
        Given::parse(&text.split(',').map(str::to_owned).collect::<Vec<_>>(), &names)
    }

    #[test]
    fn values_and_ranges_are_read() {
        let given = parse("CW=40, FL > 15,FL<20,CW>30,BD<=-1e2").unwrap();
        assert_eq!(given.equal, [(0, 40.0)]);
        let low = Range { column: 2, low: f64::NEG_INFINITY, high: -100.0 };
        assert_eq!(given.ranges, [Range { column: 1, low: 15.0, high: 20.0 }, low]);
    }

    #[test]
    fn contradictions_and_unknown_columns_are_refused() {
        for (text, said) in [
            ("XX=1", "its columns are CW, FL, BD"),
            ("CW=1,CW=2", "cannot be 1 and 2"),
            ("CW>5,CW<4", "no `CW` is more than 5"),
            ("CW=1,CW>2", "outside the range"),
            ("CW", "NAME=VALUE"),
            ("CW=a", "finite number"),
            ("CW=inf", "finite number"),
        ] {
            let error = format!("{:?}", parse(text).unwrap_err());
            assert!(error.contains(said), "{text}: {error}");
        }
    }
}

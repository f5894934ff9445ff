//! Which column of a file plays which role.

use std::collections::HashSet;
use std::path::Path;

use crate::dialect::Dialect;
use crate::error::{Error, Result};
use crate::find::{find, range, single, wanted};
use crate::notice::TableNotice;
use crate::remedy::Remedy;

/// Names that differ: a name that another column has already gets a number, as in pandas.
fn distinct(mut names: Vec<String>) -> (Vec<String>, Vec<TableNotice>) {
    let mut all: HashSet<String> = names.iter().cloned().collect();
    if all.len() == names.len() {
        return (names, Vec::new());
    }
    let mut seen = HashSet::new();
    let mut notices = Vec::new();
    for (at, name) in names.iter_mut().enumerate() {
        if seen.insert(name.clone()) {
            continue;
        }
        let renamed = (1..).map(|k| format!("{name}.{k}")).find(|new| !all.contains(new));
        let renamed = renamed.unwrap_or_default();
        all.insert(renamed.clone());
        let column = std::mem::replace(name, renamed.clone());
        notices.push(TableNotice::RenamedColumn { column, position: at + 1, renamed });
    }
    (names, notices)
}

/// What to do with missing cells of modelled columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingCells {
    /// The first one is an error.
    #[default]
    Error,
    /// Rows that have one are left out.
    Drop,
    /// They stay, as NaN. Of a model's columns, some may hold no value or not be in the file at all.
    Keep,
}

/// Whether a text file's first row holds the names of its columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Header {
    /// It does when no cell of it is a number.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It does not; columns are called c1, c2, …
    No,
}

/// How to read a table. A column is given by its name or its position from 1; a name
/// wins over a position. Lists of columns also take ranges, `x1-x20` or `3-7`.
///
/// ```
/// use upoe_table::ReadOptions;
/// let options = ReadOptions::default().with(|o| o.exclude = vec!["id".into()]);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Columns to model, in this order; none means all that hold numbers and have no
    /// other role.
    pub columns: Vec<String>,
    /// Columns to leave out.
    pub exclude: Vec<String>,
    /// Columns carried along as text, not modelled.
    pub keep: Vec<String>,
    /// The column of row weights.
    pub weights: Option<String>,
    /// The column of groups that stay together when rows are held out.
    pub groups: Option<String>,
    /// What to do with missing cells.
    pub missing: MissingCells,
    /// Whether text files have a header.
    pub header: Header,
    /// How text files are written.
    pub dialect: Dialect,
    /// Words and numbers that stand for a missing cell, besides NA, N/A, null and nan.
    pub missing_words: Vec<String>,
    /// The columns of a model: read exactly these, by name and in this order, or by
    /// position where the file has no names. Overrides `columns` where names match.
    pub model_columns: Option<Vec<String>>,
}

impl ReadOptions {
    /// The same options after a change.
    pub fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

/// The most columns a table can have: more than tables of measurements do, and few enough for
/// a small file that unpacks to a great many separators.
pub const MAX_COLUMNS: usize = 1_000_000;

/// The roles of a file's columns, by index into `names`.
#[derive(Debug)]
pub(crate) struct Plan {
    pub names: Vec<String>,
    /// Whether the names come from the file.
    pub named: bool,
    pub modelled: Vec<usize>,
    /// Whether the modelled columns were asked for, so that text there is an error.
    pub explicit: bool,
    pub kept: Vec<usize>,
    pub weights: Option<usize>,
    pub groups: Option<usize>,
    /// Which of a model's columns are not in the file; their cells are missing.
    pub absent: Vec<bool>,
    pub notices: Vec<TableNotice>,
}

impl Plan {
    /// Roles for columns with names from the file.
    pub fn named(file: &Path, names: Vec<String>, options: &ReadOptions) -> Result<Self> {
        if names.len() > MAX_COLUMNS {
            return Err(Error::TooManyColumns { file: file.to_owned() });
        }
        let (names, renamed) = distinct(names);
        let mut plan = Plan::new(file, names, true, options)?;
        plan.notices.extend(renamed);
        Ok(plan)
    }

    /// Roles for columns without names: they are called c1, c2, …
    pub fn unnamed(file: &Path, columns: usize, options: &ReadOptions) -> Result<Self> {
        if columns > MAX_COLUMNS {
            return Err(Error::TooManyColumns { file: file.to_owned() });
        }
        let names = (1..=columns).map(|position| format!("c{position}")).collect();
        Plan::new(file, names, false, options)
    }

    fn new(file: &Path, names: Vec<String>, named: bool, options: &ReadOptions) -> Result<Self> {
        let find = |wanted: &String| find(file, &names, named, wanted);
        let find_all = |wanted: &[String]| -> Result<Vec<usize>> {
            let mut found = Vec::new();
            for column in wanted {
                for index in range(&names, column).map_or_else(|| find(column).map(single), Ok)? {
                    if !found.contains(&index) {
                        found.push(index);
                    }
                }
            }
            Ok(found)
        };
        let kept = find_all(&options.keep)?;
        let weights = options.weights.as_ref().map(find).transpose()?;
        let groups = options.groups.as_ref().map(find).transpose()?;

        let mut out = vec![false; names.len()];
        for index in find_all(&options.exclude)? {
            out[index] = true;
        }
        let explicit = !options.columns.is_empty();
        let mut modelled = if explicit {
            find_all(&options.columns)?
        } else {
            for &index in kept.iter().chain(&weights).chain(&groups) {
                out[index] = true;
            }
            (0..names.len()).collect()
        };
        if explicit && options.model_columns.is_none() {
            let both = |&index: &usize| modelled.contains(&index);
            let excluded = (0..names.len()).filter(|&index| out[index]).find(both);
            let kept = kept.iter().copied().find(both);
            if let Some(index) = excluded.or(kept).or(weights.filter(both)) {
                let (file, column) = (file.to_owned(), names[index].clone());
                let other = match (excluded, kept) {
                    (Some(_), _) => Remedy::LeaveOut { column: column.clone() },
                    (_, Some(_)) => Remedy::CarryAlong { column: column.clone() },
                    (None, None) => Remedy::ChooseWeights,
                };
                return Err(Error::TwoRoles { file, column, other });
            }
        }
        modelled.retain(|&index| !out[index]);

        let (absent, notices) = (Vec::new(), Vec::new());
        let mut plan =
            Plan { names, named, modelled, explicit, kept, weights, groups, absent, notices };
        if let Some(model) = &options.model_columns {
            let present = plan.present(model, options.missing);
            plan.take_model_columns(file, &present)?;
        }
        if plan.modelled.is_empty() {
            return Err(Error::NothingSelected { file: file.to_owned() });
        }
        Ok(plan)
    }

    /// The model's columns that are in the file. All of them must be, unless missing cells are kept;
    /// then the others are noted.
    fn present(&mut self, model: &[String], missing: MissingCells) -> Vec<String> {
        if !self.named || missing != MissingCells::Keep {
            return model.to_vec();
        }
        let known: HashSet<&String> = self.names.iter().collect();
        let absent: Vec<bool> = model.iter().map(|name| !known.contains(name)).collect();
        if !(absent.contains(&true) && absent.contains(&false)) {
            return model.to_vec();
        }
        let pick = |gone: bool| {
            let marked = model.iter().zip(&absent).filter(|(_, absent)| **absent == gone);
            marked.map(|(name, _)| name.clone()).collect::<Vec<String>>()
        };
        self.notices.push(TableNotice::AbsentColumns { columns: pick(true) });
        let present = pick(false);
        self.absent = absent;
        present
    }

    fn take_model_columns(&mut self, file: &Path, model: &[String]) -> Result<()> {
        self.explicit = true;
        let matched = match_columns(file, &self.names, self.named, self.modelled.len(), model)?;
        let Some(matched) = matched else {
            // By position: those selected. A model without names has nothing to say about them.
            let generic = |(i, name): (usize, &String)| *name == format!("c{}", i + 1);
            if !model.iter().enumerate().all(generic) {
                self.notices.push(TableNotice::ByPosition { columns: model.to_vec() });
            }
            return Ok(());
        };
        let mut used = vec![false; self.names.len()];
        for &index in matched.iter().chain(&self.kept).chain(&self.weights).chain(&self.groups) {
            used[index] = true;
        }
        let extra = |&&index: &&usize| !used[index];
        let extra: Vec<usize> = self.modelled.iter().filter(extra).copied().collect();
        if !extra.is_empty() {
            let columns = extra.iter().map(|&index| self.names[index].clone()).collect();
            self.notices.push(TableNotice::ExtraColumns { columns });
        }
        self.modelled = matched;
        Ok(())
    }
}

/// Where each of a model's columns is among `names`; `None` when names do not match and the
/// `count` selected columns match by position.
pub(crate) fn match_columns(
    file: &Path,
    names: &[String],
    named: bool,
    count: usize,
    model: &[String],
) -> Result<Option<Vec<usize>>> {
    let file = file.to_owned();
    let places: std::collections::HashMap<&str, usize> =
        names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
    let found: Vec<Option<usize>> =
        model.iter().map(|name| places.get(name.as_str()).copied()).collect();
    if found.iter().all(Option::is_some) {
        return Ok(Some(found.into_iter().flatten().collect()));
    }
    if !named {
        if count == model.len() {
            return Ok(None);
        }
        return Err(Error::ColumnCount { file, found: count, expected: model.len() });
    }
    let missing = model.iter().zip(&found).filter(|(_, found)| found.is_none());
    let missing = missing.map(|(name, _)| wanted(name, names)).collect();
    Err(Error::MissingColumns { file, missing })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(names: &[&str], options: &ReadOptions) -> Result<Plan> {
        let names = names.iter().map(|name| name.to_string()).collect();
        Plan::named(Path::new("t.csv"), names, options)
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_name_wins_over_a_position() {
        let options = ReadOptions { columns: strings(&["2", "3", "a"]), ..Default::default() };
        // `2` is the name of the third column; `3` is no name, so the third position again
        assert_eq!(plan(&["a", "b", "2"], &options).unwrap().modelled, [2, 0]);
    }

    #[test]
    fn ranges_take_columns_from_one_to_another() {
        let names = ["id", "x-1", "x-2", "x-3", "y"];
        let modelled = |columns: &[&str]| {
            let options = ReadOptions { columns: strings(columns), ..Default::default() };
            plan(&names, &options).map(|plan| plan.modelled)
        };
        assert_eq!(modelled(&["x-1-x-3"]).unwrap(), [1, 2, 3]);
        assert_eq!(modelled(&["4-5", "x-1"]).unwrap(), [3, 4, 1]);
        assert_eq!(modelled(&["x-2 - y"]).unwrap(), [2, 3, 4]);
        assert!(modelled(&["x-3-x-1"]).is_err(), "backwards");
        assert!(modelled(&["x-1-z"]).is_err());
    }

    #[test]
    fn roles_take_columns_out_of_the_model_unless_named() {
        let mut options = ReadOptions {
            keep: strings(&["id"]),
            weights: Some("w".into()),
            groups: Some("g".into()),
            exclude: strings(&["y"]),
            ..Default::default()
        };
        let names = ["id", "w", "x", "y", "g", "z"];
        assert_eq!(plan(&names, &options).unwrap().modelled, [2, 5]);
        options.columns = strings(&["z", "g"]);
        assert_eq!(plan(&names, &options).unwrap().modelled, [5, 4]);
        for (column, role) in [("id", "carried along"), ("y", "left out"), ("w", "the weights")] {
            options.columns = strings(&["z", column]);
            let error = plan(&names, &options).unwrap_err().to_string();
            assert!(error.contains(role) && error.contains(column), "{error}");
        }
    }

    #[test]
    fn equal_names_are_numbered_and_unknown_ones_are_errors() {
        let found = plan(&["a", "b", "a", "a.1", "a"], &ReadOptions::default()).unwrap();
        assert_eq!(found.names, ["a", "b", "a.2", "a.1", "a.3"]);
        let said: Vec<String> = found.notices.iter().map(TableNotice::to_string).collect();
        assert!(
            said[0].starts_with("column 3 is called `a` like another one and is read as `a.2`")
        );
        assert_eq!(said.len(), 2);
        let options = ReadOptions { columns: strings(&["lenght"]), ..Default::default() };
        let error = plan(&["width", "length"], &options).unwrap_err();
        assert!(error.to_string().contains("did you mean `length`?"), "{error}");
        let options = ReadOptions { columns: strings(&["3"]), ..Default::default() };
        assert!(matches!(plan(&["a", "b"], &options), Err(Error::UnknownColumn { .. })));
        let options = ReadOptions { exclude: strings(&["a", "b"]), ..Default::default() };
        assert!(matches!(plan(&["a", "b"], &options), Err(Error::NothingSelected { .. })));
    }

    #[test]
    fn a_models_columns_come_by_name_in_its_order() {
        let model_columns = Some(strings(&["c", "a"]));
        let options = ReadOptions { model_columns, ..Default::default() };
        let found = plan(&["a", "b", "c"], &options).unwrap();
        assert_eq!(found.modelled, [2, 0]);
        assert_eq!(found.notices, [TableNotice::ExtraColumns { columns: strings(&["b"]) }]);
        let error = plan(&["a", "b", "C"], &options).unwrap_err();
        assert!(error.to_string().contains("`c` (did you mean `C`?)"), "{error}");
    }

    #[test]
    fn without_names_a_models_columns_come_by_position() {
        let options =
            ReadOptions { model_columns: Some(strings(&["y", "x"])), ..Default::default() };
        let file = Path::new("t.npy");
        assert_eq!(Plan::unnamed(file, 2, &options).unwrap().modelled, [0, 1]);
        let error = Plan::unnamed(file, 3, &options).unwrap_err();
        assert!(matches!(error, Error::ColumnCount { found: 3, expected: 2, .. }), "{error}");
        // a model fitted on columns 2 and 3 of such a file finds them again
        let options =
            ReadOptions { model_columns: Some(strings(&["c2", "c3"])), ..Default::default() };
        assert_eq!(Plan::unnamed(file, 3, &options).unwrap().modelled, [1, 2]);
    }
}

//! What the libraries' messages advise, as flags of the command.

use upoe_table::{Remedy, TableNotice};

/// A table's error, with the flags that help.
pub fn of_table(error: &upoe_table::Error) -> String {
    use upoe_table::Error;
    let text = match error {
        Error::UnknownColumn { named: true, columns, .. }
            if columns.iter().any(|name| name.contains(',')) =>
        {
            format!("{error}; put a name that has a comma in quotes (`--columns '\"a, b\",c'`)")
        }
        Error::UnknownFormat { .. } => format!("{error}, or .json with `--json`"),
        error => error.to_string(),
    };
    with_flags(text, &error.remedies())
}

/// A table's notice, with the flags that help.
pub fn of_notice(notice: &TableNotice) -> String {
    with_flags(notice.to_string(), &notice.remedies())
}

/// A model file's error, with the flags that help.
pub fn of_file(error: &upoe_file::Error) -> String {
    use upoe_file::Error;
    match error {
        Error::IsCheckpoint { file } => {
            format!("{error} (`upoe fit DATA --checkpoint {} --resume`)", file.display())
        }
        Error::OtherSettings { setting, .. } => {
            format!("{error} (`--{}`)", setting.replace('_', "-"))
        }
        error => error.to_string(),
    }
}

fn with_flags(text: String, remedies: &[Remedy]) -> String {
    let flags: Vec<String> =
        remedies.iter().filter_map(flag).map(|flag| format!("`{flag}`")).collect();
    if flags.is_empty() { text } else { format!("{text} ({})", flags.join(", ")) }
}

fn flag(remedy: &Remedy) -> Option<String> {
    Some(match remedy {
        Remedy::LeaveOut { column } => format!("--exclude {}", quoted(column)),
        Remedy::CarryAlong { column } => format!("--keep {}", quoted(column)),
        Remedy::MissingWord { text } => format!("--na-values={}", quoted(text)),
        Remedy::DropRows => "--missing drop".into(),
        Remedy::KeepMissing => "--missing model".into(),
        Remedy::ChooseColumns => "--columns".into(),
        Remedy::ChooseWeights => "--weights".into(),
        Remedy::DecimalComma => "--decimal ,".into(),
        Remedy::SkipLines => "--skip N".into(),
        Remedy::Separator => "--sep CHAR".into(),
        Remedy::FirstLineIsHeader => "--header yes".into(),
        Remedy::FirstLineIsData => "--header no".into(),
        _ => return None,
    })
}

/// A column's name as a shell takes it, and as a list of names does.
fn quoted(column: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.%/:@+".contains(c);
    match column {
        name if name.contains(',') => format!("'\"{}\"'", name.replace('\'', "'\\''")),
        name if !name.is_empty() && name.chars().all(plain) => name.to_owned(),
        name => format!("'{}'", name.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_follow_the_message_and_names_are_quoted() {
        let options = upoe_table::ReadOptions::default();
        for (header, flags) in [
            ("a", "(`--missing drop`, `--missing model`, `--exclude a`)"),
            ("a b", "(`--missing drop`, `--missing model`, `--exclude 'a b'`)"),
            ("\"a, b\"", "(`--missing drop`, `--missing model`, `--exclude '\"a, b\"'`)"),
            ("it's", "(`--missing drop`, `--missing model`, `--exclude 'it'\\''s'`)"),
        ] {
            let text = format!("{header},y\n1,2\n,4\n");
            let read = upoe_table::Table::from_bytes("t.csv", text.into_bytes(), &options);
            let said = of_table(&read.unwrap_err());
            assert!(said.contains("is missing; fill it in") && said.ends_with(flags), "{said}");
        }
    }
}

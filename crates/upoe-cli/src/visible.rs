//! Text from elsewhere as it can be shown: column names, labels, what a model file says of its
//! writer.
//!
//! A stranger may have written it. A terminal obeys control characters, bidirectional controls
//! put the text around them in another order, and invisible characters make different names look
//! the same. This is the only place that says which characters those are.

use std::borrow::Cow;
use std::fmt::Write;

/// Stands for a character that is not shown.
const REPLACEMENT: char = '\u{fffd}';

/// Whether a character is replaced: a control, a line or paragraph separator, or one of those that
/// have no shape of their own (Unicode's `Default_Ignorable_Code_Point` and the interlinear
/// annotation marks), which includes all bidirectional and zero-width ones.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text on one line, every hidden character replaced.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if is_hidden(c) { REPLACEMENT } else { c }).collect()
}

/// The same, of at most `most` characters.
pub fn short(text: &str, most: usize) -> String {
    let mut short: String = line(text).chars().take(most).collect();
    if text.chars().nth(most).is_some() {
        short.pop();
        short.push('…');
    }
    short
}

/// JSON text with every hidden character but line breaks as an escape: it reads back the same.
/// Such characters occur in JSON only inside strings.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_hidden = |c: char| is_hidden(c) && c != '\n';
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(escaped, "\\u{unit:04x}"); // a String takes everything
            }),
            false => escaped.push(c),
        }
    }
    escaped.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Escape, bell, a line break, C1's CSI, right-to-left override and isolate, zero-width
    /// space and joiner, line separator, byte order mark, soft hyphen, a tag.
    const HIDDEN: [char; 12] = [
        '\u{1b}',
        '\u{7}',
        '\n',
        '\u{9b}',
        '\u{202e}',
        '\u{2067}',
        '\u{200b}',
        '\u{200d}',
        '\u{2028}',
        '\u{feff}',
        '\u{ad}',
        '\u{e0041}',
    ];

    #[test]
    fn nothing_that_is_obeyed_or_invisible_passes() {
        for c in HIDDEN {
            assert_eq!(line(&format!("a{c}b")), "a\u{fffd}b", "{c:?}");
        }
        let plain = "Länge (mm) \u{a0}× 10³, 長さ, طول, ñ = n\u{303}, 🦀";
        assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain));
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(short("a\u{1b}[31mlong name", 6), "a\u{fffd}[31…");
        assert_eq!((short("abc", 3), short("abcd", 3)), ("abc".into(), "ab…".into()));
    }

    #[test]
    fn json_reads_back_the_same() {
        let text: String = HIDDEN.iter().collect();
        let written = serde_json::json!({ "a": text, "b": 1 });
        let shown = json(&format!("{written:#}\n")).into_owned();
        assert!(!shown.contains(|c| is_hidden(c) && c != '\n'), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), written);
    }
}

//! Writes a [`Page`] as one self-contained HTML file.

use crate::Page;

/// The front end, built from `page/` by `npm run build`.
const SCRIPT: &str = include_str!("../assets/page.js");
/// Its style sheet.
const STYLE: &str = include_str!("../assets/page.css");
/// Their Content-Security-Policy sources, `'sha256-…'`, one per line.
const HASHES: &str = include_str!("../assets/hashes.txt");

/// Writes the page as one HTML file that needs no network and no other file.
///
/// The data are a block of JSON that browsers do not execute. In it, `<`, `>`, `&` and
/// JavaScript's two line separators are escaped, so that no text can end the block. A
/// Content-Security-Policy forbids all connections, and all scripts and styles except the
/// built ones.
pub fn html(page: &Page) -> String {
    let json = json_for_script(page);
    let title = text(&page.title);
    let findings = text(&page.summary.findings.join(" "));
    let mut hashes = HASHES.lines();
    let script_hash = hashes.next().unwrap_or_default();
    let style_hash = hashes.next().unwrap_or_default();
    let version = text(&page.summary.version);
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src {script_hash}; style-src {style_hash}; img-src data: blob:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="upoe {version}">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<div id="app"><noscript><h1>{title}</h1><p>{findings}</p><p>The plots need JavaScript. The scripts are part of this file and use no network.</p></noscript></div>
<script type="application/json" id="upoe-page">{json}</script>
<script>{SCRIPT}</script>
</body>
</html>
"#
    )
}

/// The page as JSON that is safe between `<script>` and `</script>`.
fn json_for_script(page: &Page) -> String {
    // This cannot fail: all maps in a `Page` have string keys, and its serialisers return no errors.
    let json = serde_json::to_string(page).unwrap_or_else(|_| "null".to_owned());
    let mut safe = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            // These occur only inside strings, where \u escapes mean the same.
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            other => safe.push(other),
        }
    }
    safe
}

/// Escapes text for HTML text and quoted attributes.
pub(crate) fn text(raw: &str) -> String {
    let mut safe = String::with_capacity(raw.len());
    for character in raw.chars() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgainstGaussian, GainPath, Outliers, ShownRows, Summary};

    fn empty(title: &str) -> Page {
        let likelihood = AgainstGaussian {
            train: f64::NAN,
            gaussian_train: f64::NAN,
            holdout: None,
            gaussian_holdout: None,
        };
        Page {
            title: title.to_owned(),
            summary: Summary {
                findings: vec![title.to_owned()],
                rows: 0,
                holdout_rows: 0,
                columns: vec![],
                dims: 0,
                stop_reason: String::new(),
                seconds: 0.0,
                log_likelihood: likelihood.clone(),
                log_density: likelihood,
                settings: vec![],
                version: String::new(),
                notices: vec![],
            },
            path: GainPath {
                train: vec![],
                holdout: None,
                penalised: None,
                optimum: 0,
                rule: String::new(),
                sum: None,
            },
            experts: vec![],
            rows: ShownRows {
                total: 0,
                number: Default::default(),
                log_density: Default::default(),
                projections: vec![],
                clusters: vec![],
                columns: vec![],
            },
            samples: None,
            outliers: Outliers { words: String::new(), note: None, rows: vec![], parts: vec![] },
            missing: None,
            image: None,
            layers: None,
            groups: None,
        }
    }

    #[test]
    fn hostile_text_cannot_end_its_element() {
        let hostile = "</script><!--<script>&\"'\u{2028}\u{2029}<img src=x onerror=alert(1)>";
        let page = html(&empty(hostile));
        let plain = html(&empty(""));
        for needle in ["</script", "<script", "<!--", "<img"] {
            assert_eq!(page.matches(needle).count(), plain.matches(needle).count(), "{needle}");
        }
        let start = page.find(r#"id="upoe-page">"#).unwrap() + r#"id="upoe-page">"#.len();
        let json = &page[start..start + page[start..].find("</script>").unwrap()];
        assert!(!json.contains(['\u{2028}', '\u{2029}']));
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        assert_eq!(value["title"], hostile);
    }

    #[test]
    fn nan_is_null_and_the_page_still_parses() {
        assert!(html(&empty("a")).contains(r#""train":null"#));
    }

    #[test]
    fn the_bundle_is_safe_inside_its_element() {
        assert!(!SCRIPT.to_lowercase().contains("</script"));
        assert!(!SCRIPT.contains("<!--"));
        assert!(!STYLE.to_lowercase().contains("</style"));
        assert_eq!(HASHES.lines().filter(|line| line.starts_with("'sha256-")).count(), 2);
    }

    #[test]
    fn the_bundle_names_no_other_host() {
        for part in [SCRIPT, STYLE] {
            let addresses = part.matches("://").count();
            let namespaces = part.matches("http://www.w3.org/").count();
            assert_eq!(addresses, namespaces, "only XML namespaces look like addresses");
        }
    }
}

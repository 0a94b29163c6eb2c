//! CSV, quoted as in RFC 4180.
//!
//! Invariants: no cell starts with a character that a spreadsheet interprets as a formula.

use trueup_core::engine::text::{Charset, Printable, printable};

/// Renders a header and rows of as many cells.
pub fn table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> Printable {
    let mut text = String::from(self::header(&header));
    for cells in rows {
        text.push_str(&row(&cells));
    }
    Printable::lines(&text)
}

/// Renders the line of titles.
pub fn header(titles: &[&str]) -> Printable {
    Printable::line(&titles.join(",")).ended()
}

/// Renders the line of one row.
pub fn row(cells: &[impl AsRef<str>]) -> Printable {
    let cells: Vec<String> = cells.iter().map(|text| cell(text.as_ref())).collect();
    Printable::line(&cells.join(",")).ended()
}

/// First characters of a formula; the last four are their full-width forms.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

fn cell(text: &str) -> String {
    // Tabs and line breaks, which also start a formula, are escaped here.
    let mut safe = printable(text, Charset::Unicode);
    if safe.trim_start().starts_with(FORMULA) {
        safe.insert(0, '\'');
    }
    if safe.contains([',', '"', ';']) || safe.starts_with(' ') || safe.ends_with(' ') {
        return format!("\"{}\"", safe.replace('"', "\"\""));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_never_computed() {
        let cases = [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("a;b", "\"a;b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@cmd,x", "\"'@cmd,x\""),
            ("＝1", "'＝1"),
            (" =1", "' =1"),
            ("\tx", "\\u{9}x"),
            ("\t=1", "\\u{9}=1"),
            ("\r=1", "\\u{d}=1"),
            ("a\nb", "a\\u{a}b"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(cell(text), expected, "text: {text:?}");
        }
    }
}

//! Parts of Markdown documents.
//!
//! Invariants: text from clusters cannot start markup, a link, code, HTML or another cell.

use trueup_core::engine::text::{Charset, printable};

/// Renders a row of a table.
pub fn row<'c>(cells: impl IntoIterator<Item = &'c str>) -> String {
    let cells: Vec<String> = cells.into_iter().map(escaped).collect();
    format!("| {} |", cells.join(" | "))
}

/// The header of a table and the line below it.
pub fn header(titles: &[&'static str]) -> [String; 2] {
    [format!("| {} |", titles.join(" | ")), format!("| {} |", vec!["---"; titles.len()].join(" | "))]
}

/// Text that Markdown shows as it is.
pub fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in printable(text, Charset::Unicode).chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '@' | '$' => {
                safe.push('\\');
                safe.push(letter);
            }
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_clusters_is_never_markup() {
        let cases = [
            ("HTML", "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
            ("an entity", "&lt;", "&amp;lt;"),
            ("a link", "[x](javascript:1)", "\\[x\\](javascript:1)"),
            ("an image", "![x](https://evil.example)", "\\!\\[x\\](https://evil.example)"),
            ("code", "a`b", "a\\`b"),
            ("a cell", "a|b", "a\\|b"),
            ("an escaped bar", "a\\|b", "a\\\\\\|b"),
            ("a mention", "@team", "\\@team"),
            ("two lines", "a\n# b", "a\\\\u{a}\\# b"),
            ("an escape", "\x1b]8;;x\x07", "\\\\u{1b}\\]8;;x\\\\u{7}"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(escaped(text), expected, "case: {case}");
        }
        assert_eq!(row(["a|b", "<c>"]), "| a\\|b | &lt;c&gt; |");
        assert_eq!(header(&["a", "b"]), ["| a | b |", "| --- | --- |"]);
    }
}

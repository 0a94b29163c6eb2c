//! Parts of HTML pages.
//!
//! Invariants: text from clusters is text: it cannot start a tag, an entity or an attribute, and nothing of it becomes a
//! link, a style or a script.

use trueup_core::engine::text::{Charset, printable};

/// Text that a browser shows as it is, in an element or in a quoted attribute.
pub fn escaped(text: &str) -> String {
    escaped_letters(&printable(text, Charset::Unicode))
}

/// The same for several lines.
pub fn escaped_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escaped).collect();
    lines.join("\n")
}

fn escaped_letters(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '`' => safe.push_str("&#96;"),
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
            ("a tag", "<img src=x onerror=alert(1)>", "&lt;img src=x onerror=alert(1)&gt;"),
            ("the end of an element", "</summary></details>", "&lt;/summary&gt;&lt;/details&gt;"),
            ("an entity", "&lt;&#60;", "&amp;lt;&amp;#60;"),
            ("quotes", "\" onclick='x'`", "&quot; onclick=&#39;x&#39;&#96;"),
            ("an escape sequence", "\x1b[31mred", "\\u{1b}[31mred"),
            ("text from right to left", "\u{202e}txt", "\\u{202e}txt"),
            ("a comment", "<!--", "&lt;!--"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(escaped(text), expected, "case: {case}");
        }
        assert_eq!(escaped_lines("a<\nb\r\n\x07"), "a&lt;\nb\n\\u{7}");
    }
}

//! Text in XML 1.0 documents.
//!
//! Invariants: text from clusters cannot start markup; every character is one that XML allows.

use trueup_core::engine::text::Printable;

/// One line, for an attribute in double quotes or an element.
pub fn line(text: &str) -> String {
    escaped(&Printable::line(text))
}

/// Several lines, for an element.
pub fn lines(text: &str) -> String {
    escaped(&Printable::lines(text))
}

/// Control characters are gone already; two more are not characters of XML.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => safe.push_str(&letter.escape_unicode().to_string()),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_markup_and_always_characters_of_xml() {
        let cases = [
            ("an element", "<a href='x'>&amp;</a>", "&lt;a href=&apos;x&apos;&gt;&amp;amp;&lt;/a&gt;"),
            ("the end of an attribute", "\" on=\"x", "&quot; on=&quot;x"),
            ("the end of a CDATA section", "]]>", "]]&gt;"),
            ("a control character", "a\u{0}b\u{1b}", "a\\u{0}b\\u{1b}"),
            ("what is not a character", "\u{fffe}\u{ffff}", "\\u{fffe}\\u{ffff}"),
            ("letters of the world", "größe 名前", "größe 名前"),
        ];
        for (case, text, expected) in cases {
            assert_eq!(line(text), expected, "case: {case}");
        }
        assert_eq!((&*line("a\nb"), &*lines("a\nb\r")), ("a\\u{a}b", "a\nb\\u{d}"));
    }
}

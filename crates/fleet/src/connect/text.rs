//! Text from outside, made fit for one line of a terminal.
//!
//! Always true: no control character and no character that reorders or hides text leaves [`printable`] unescaped.

/// The text with everything a terminal could act upon escaped, cut after `chars_max` characters.
pub(crate) fn printable(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for (count, letter) in text.trim().chars().enumerate() {
        if count == chars_max {
            line.push('…');
            break;
        }
        if letter.is_control() || steers_display(letter) {
            line.extend(letter.escape_default());
        } else {
            line.push(letter);
        }
    }
    line
}

/// Bidirectional controls, zero-width characters and line separators (Unicode category Cf and Z, where they mislead).
fn steers_display(letter: char) -> bool {
    matches!(letter, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{061C}')
}

/// Up to five of the known names, those that look most like the one asked for first.
pub fn nearest<'n>(asked: &str, known: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut ranked: Vec<(usize, &str)> = known.map(|name| (strsim::levenshtein(asked, name), name)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(5).map(|(_, name)| printable(name, 80)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        let cases = [
            ("plain", "login needed", 40, "login needed"),
            ("escape sequence", "\x1b[2Jhi", 40, "\\u{1b}[2Jhi"),
            ("line breaks inside", "a\nb", 40, "a\\nb"),
            ("C1 control", "a\u{9b}b", 40, "a\\u{9b}b"),
            ("reordering", "a\u{202e}b", 40, "a\\u{202e}b"),
            ("too long", "abcdef", 3, "abc…"),
            ("exactly as long", "abc", 3, "abc"),
        ];
        for (case, text, chars_max, expected) in cases {
            assert_eq!(printable(text, chars_max), expected, "case: {case}");
        }
    }

    #[test]
    fn the_most_alike_names_come_first() {
        let known = ["prod-eu", "stage", "prod-us", "dev", "a", "b", "c"];
        assert_eq!(nearest("prod-eo", known.into_iter())[..2], ["prod-eu".to_owned(), "prod-us".to_owned()]);
        assert_eq!(nearest("x", known.into_iter()).len(), 5);
    }
}

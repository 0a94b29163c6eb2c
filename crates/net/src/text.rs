//! Text of servers, made printable on one line.

/// The text with control characters as spaces, cut after `chars_max` characters. Other characters that could mislead a
/// terminal are escaped where it is printed.
pub fn one_line(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    for (count, letter) in text.trim().chars().enumerate() {
        if count == chars_max {
            line.push('…');
            break;
        }
        line.push(if letter.is_control() { ' ' } else { letter });
    }
    line
}

/// The text with everything a terminal could interpret escaped, cut after `chars_max` characters.
pub fn printable(text: &str, chars_max: usize) -> String {
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
}

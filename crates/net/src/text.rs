//! Words of a cloud, made fit for one line.

/// The text with control characters as blanks, cut after `chars_max` characters. What else could mislead a terminal is
/// escaped where it is printed.
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

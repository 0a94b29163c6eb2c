//! Commands for a person to copy into a shell.
//!
//! Invariants: a command is one line; a value is one word of it, is never run, and never becomes a flag.

use super::{Printable, misleads};

/// A command line that is composed of our own words and of values from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCommand {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// Quoted where necessary: subcommands and options.
    Words(String),
    Operand(String),
}

impl ShellCommand {
    /// A command that starts with these words of ours.
    pub fn new(words: &'static str) -> Self {
        Self { parts: vec![Part::Words(words.to_owned())] }
    }

    /// Adds words of ours.
    #[must_use]
    pub fn words(mut self, words: &'static str) -> Self {
        self.parts.push(Part::Words(words.to_owned()));
        self
    }

    /// Adds an option and its value.
    #[must_use]
    pub fn option(mut self, name: &'static str, value: &str) -> Self {
        // With a blank, a parser may take a value that starts like a flag for one.
        let separator = if value.starts_with('-') { '=' } else { ' ' };
        self.parts.push(Part::Words(format!("{name}{separator}{}", shell_word(value))));
        self
    }

    /// Adds a value that is no option's, such as a name.
    #[must_use]
    pub fn operand(mut self, value: &str) -> Self {
        self.parts.push(Part::Operand(value.to_owned()));
        self
    }

    /// Returns the line. If an operand starts like a flag, all operands are at the end, after `--`.
    pub fn line(&self) -> Printable {
        let is_flag = |part: &&Part| matches!(part, Part::Operand(value) if value.starts_with('-'));
        let word = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Operand(value) => shell_word(value),
        };
        let words: Vec<String> = if self.parts.iter().any(|part| is_flag(&part)) {
            let (operands, options): (Vec<&Part>, Vec<&Part>) =
                self.parts.iter().partition(|part| matches!(part, Part::Operand(_)));
            options.into_iter().map(word).chain(["--".to_owned()]).chain(operands.into_iter().map(word)).collect()
        } else {
            self.parts.iter().map(word).collect()
        };
        Printable::line(&words.join(" "))
    }
}

/// A word as a shell reads it: what comes from clusters may hold anything, and is never run.
///
/// Line breaks, escapes and other misleading characters are written as `$'…'`, which bash, zsh, ksh and POSIX.1-2024 read.
pub fn shell_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/:@,".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    if !text.chars().any(misleads) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let mut word = String::from("$'");
    for letter in text.chars() {
        match letter {
            '\n' => word.push_str("\\n"),
            '\t' => word.push_str("\\t"),
            '\\' => word.push_str("\\\\"),
            // `!` would start a history expansion where a shell does not see the quotes.
            '\'' | '!' => push_octal(&mut word, letter),
            letter if misleads(letter) => push_octal(&mut word, letter),
            letter => word.push(letter),
        }
    }
    word.push('\'');
    word
}

/// Three octal digits a byte: the one form whose end does not depend on the next character.
fn push_octal(word: &mut String, letter: char) {
    for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
        word.push_str(&format!("\\{byte:03o}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_a_word_as_it_is_and_runs_nothing_of_it() {
        let cases = [
            ("https://idp.example:8443/a", "https://idp.example:8443/a"),
            ("a,b", "a,b"),
            ("", "''"),
            ("$(reboot)", "'$(reboot)'"),
            ("a'; reboot '", "'a'\\''; reboot '\\'''"),
            ("a&b", "'a&b'"),
            ("a\nb", "$'a\\nb'"),
            ("\x1b[201~'!\\", "$'\\033[201~\\047\\041\\\\'"),
            ("\u{202e}1", "$'\\342\\200\\2561'"),
        ];
        for (text, expected) in cases {
            assert_eq!(shell_word(text), expected, "case: {text:?}");
        }
    }

    /// The shell itself is the judge.
    #[test]
    fn bash_reads_every_word_back() {
        let texts =
            ["plain", "", "a'b", "a\nb", "\t", "\x1b]52;c;x\x07", "a\u{202e}'!\\x1", "-n", "\u{9b}7", "名\u{200b}前"];
        for text in texts {
            let script = format!("printf %s {}", shell_word(text));
            let output = std::process::Command::new("bash").args(["-c", &script]).output().expect("bash runs");
            assert_eq!(String::from_utf8_lossy(&output.stdout), text, "script: {script}");
        }
    }

    #[test]
    fn no_value_becomes_a_flag() {
        let get = |context: &str, name: &str, namespace: &str| {
            ShellCommand::new("kubectl")
                .option("--context", context)
                .words("get")
                .operand("secret")
                .operand(name)
                .option("-n", namespace)
                .words("-o yaml")
                .line()
        };
        let cases = [
            ("plain", get("c", "x", "n"), "kubectl --context c get secret x -n n -o yaml"),
            ("a name", get("c", "-A", "n"), "kubectl --context c get -n n -o yaml -- secret -A"),
            ("options", get("--as=x", "x", "-A"), "kubectl --context='--as=x' get secret x -n=-A -o yaml"),
            ("two lines", get("c", "x\n-A", "n"), "kubectl --context c get secret $'x\\n-A' -n n -o yaml"),
        ];
        for (case, line, expected) in cases {
            assert_eq!(&*line, expected, "case: {case}");
        }
    }
}

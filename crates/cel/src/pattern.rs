//! Regular expressions as Go reads them, written so that Rust's engine reads them the same.
//!
//! The two agree on what matching costs (time in proportion to the text) and nearly on the syntax. They differ in what
//! `\d`, `\w`, `\s` and `\b` mean (ASCII in Go), in `a**` (an error in Go), in `{` on its own (itself in Go), and in what
//! has a meaning inside brackets.
//!
//! Invariants: a pattern Go refuses is refused; one whose fate is uncertain is said to be.

use regex::Regex;

use super::CelError;

/// Compiles a pattern.
///
/// # Errors
/// Go would refuse it, or it is of a kind that cannot be decided here.
pub fn compile(pattern: &str) -> Result<Regex, CelError> {
    let written = rewrite(pattern)?;
    Regex::new(&written).map_err(|_| {
        CelError::NotVerifiable(
            "the pattern uses something that only Go's regular expressions are known to have".into(),
        )
    })
}

/// Go's limit for a counted repetition, nested ones multiplied.
const REPEATS_MAX: u32 = 1000;

fn wrong(message: &str) -> CelError {
    CelError::Wrong(format!("the pattern is not a regular expression: {message}"))
}

fn rewrite(pattern: &str) -> Result<String, CelError> {
    let mut rewriter = Rewriter { rest: pattern, out: String::new(), open: 0, names: Vec::new(), repeats: 1 };
    let mut last = Last::Nothing;
    while let Some(letter) = rewriter.rest.chars().next() {
        last = rewriter.one(letter, last)?;
    }
    match rewriter.open {
        0 => Ok(rewriter.out),
        _ => Err(wrong("a bracket is not closed")),
    }
}

struct Rewriter<'p> {
    rest: &'p str,
    out: String,
    /// Brackets that are open.
    open: usize,
    names: Vec<&'p str>,
    /// The product of all counted repetitions: an upper bound for nested ones.
    repeats: u32,
}

/// What stands before: whether it can be repeated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Something,
    Repetition,
}

impl<'p> Rewriter<'p> {
    fn one(&mut self, letter: char, last: Last) -> Result<Last, CelError> {
        match letter {
            '\\' => self.escape(),
            '[' => self.class(),
            '(' => self.group(last),
            ')' => {
                self.open = self.open.checked_sub(1).ok_or_else(|| wrong("a bracket is closed that is not open"))?;
                self.copy(1);
                Ok(Last::Something)
            }
            '|' => {
                self.copy(1);
                Ok(Last::Nothing)
            }
            '*' | '+' | '?' => self.repetition(1, last),
            '{' => match self.counted()? {
                Some(length) => self.repetition(length, last),
                None => {
                    self.literal('{');
                    Ok(Last::Something)
                }
            },
            '^' | '$' | '.' => {
                self.copy(1);
                Ok(Last::Something)
            }
            _ => {
                self.literal(letter);
                Ok(Last::Something)
            }
        }
    }

    fn copy(&mut self, length: usize) {
        let (taken, rest) = self.rest.split_at(length);
        self.out.push_str(taken);
        self.rest = rest;
    }

    fn literal(&mut self, letter: char) {
        self.out.push_str(&regex::escape(letter.encode_utf8(&mut [0; 4])));
        self.rest = &self.rest[letter.len_utf8()..];
    }

    fn repetition(&mut self, length: usize, last: Last) -> Result<Last, CelError> {
        match last {
            Last::Nothing => return Err(wrong("there is nothing to repeat")),
            Last::Repetition => return Err(wrong("a repetition is repeated")),
            Last::Something => {}
        }
        self.copy(length);
        if self.rest.starts_with('?') {
            self.copy(1);
        }
        Ok(Last::Repetition)
    }

    /// The length of `{2}`, `{2,}` or `{2,5}` here; anything else is a plain brace.
    fn counted(&mut self) -> Result<Option<usize>, CelError> {
        let Some((inner, _)) = self.rest[1..].split_once('}') else { return Ok(None) };
        let (least, most) = match inner.split_once(',') {
            None => (inner, inner),
            Some((least, "")) => (least, least),
            Some((least, most)) => (least, most),
        };
        // Go takes no number with a zero before it.
        let is_number = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|byte| byte.is_ascii_digit())
                && (text.len() == 1 || !text.starts_with('0'))
        };
        if !is_number(least) || !is_number(most) {
            return Ok(None);
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number <= REPEATS_MAX);
        match (number(least), number(most)) {
            (Some(least), Some(most)) if least <= most => {
                let before = self.repeats;
                self.repeats = before.saturating_mul(most.max(1));
                if before > 1 && self.repeats > REPEATS_MAX {
                    return Err(CelError::NotVerifiable("the pattern repeats repetitions many times".into()));
                }
                Ok(Some(inner.len() + 2))
            }
            _ => Err(wrong("a repetition count is out of range")),
        }
    }

    fn group(&mut self, last: Last) -> Result<Last, CelError> {
        self.open += 1;
        let Some(after) = self.rest.strip_prefix("(?") else {
            self.copy(1);
            return Ok(Last::Nothing);
        };
        let named = after.strip_prefix("P<").or_else(|| after.strip_prefix('<'));
        if let Some(named) = named {
            let (name, _) = named.split_once('>').ok_or_else(|| wrong("a group's name is not closed"))?;
            let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if name.is_empty() || !name.chars().all(fits) || self.names.contains(&name) {
                return Err(wrong("a group's name cannot be used"));
            }
            self.names.push(name);
            // Rust wants a letter first; the name is of no use here.
            self.out.push('(');
            self.rest = &named[name.len() + 1..];
            return Ok(Last::Nothing);
        }
        let end = after.find([':', ')']).ok_or_else(|| wrong("a bracket is not closed"))?;
        let flags = &after[..end];
        let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
        let known = |flags: &str| flags.chars().all(|flag| "imsU".contains(flag));
        let ends_flags = after[end..].starts_with(')');
        let says_something = !flags.is_empty() || !ends_flags;
        if !known(on) || !known(off) || (flags.contains('-') && off.is_empty()) || !says_something {
            return Err(wrong("there is no such kind of group"));
        }
        self.copy(2 + end + 1);
        if ends_flags {
            self.open -= 1;
            return Ok(last);
        }
        Ok(Last::Nothing)
    }

    fn escape(&mut self) -> Result<Last, CelError> {
        if let Some(quoted) = self.rest.strip_prefix("\\Q") {
            let end = quoted.find("\\E").unwrap_or(quoted.len());
            self.out.push_str(&regex::escape(&quoted[..end]));
            self.rest = quoted[end..].strip_prefix("\\E").unwrap_or(&quoted[end..]);
            return Ok(if end == 0 { Last::Nothing } else { Last::Something });
        }
        let kind = self.rest[1..].chars().next().ok_or_else(|| wrong("it ends in a backslash"))?;
        match kind {
            'A' | 'z' => self.copy(2),
            'b' | 'B' => {
                self.out.push_str(if kind == 'b' { "(?-u:\\b)" } else { "(?-u:\\B)" });
                self.rest = &self.rest[2..];
            }
            _ => {
                let (written, rest) = escaped(self.rest)?;
                self.out.push_str(&written);
                self.rest = rest;
            }
        }
        Ok(Last::Something)
    }

    fn class(&mut self) -> Result<Last, CelError> {
        let unclosed = || wrong("a bracket is not closed");
        self.copy(1);
        if self.rest.starts_with('^') {
            self.copy(1);
        }
        let mut first = true;
        loop {
            if self.rest.starts_with(']') && !first {
                self.copy(1);
                return Ok(Last::Something);
            }
            first = false;
            if let Some(posix) = self.rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]")) {
                self.posix(posix.0)?;
                continue;
            }
            let low = self.class_letter()?;
            let after = self.rest.strip_prefix('-').filter(|after| !after.is_empty() && !after.starts_with(']'));
            match (low, after) {
                (Letter::One(low), Some(after)) => {
                    self.rest = after;
                    let Letter::One(high) = self.class_letter()? else { return Err(wrong("a range has no end")) };
                    if low > high {
                        return Err(wrong("a range is upside down"));
                    }
                    let escaped = |letter: char| format!("\\x{{{:x}}}", u32::from(letter));
                    self.out.push_str(&format!("{}-{}", escaped(low), escaped(high)));
                }
                (Letter::One(letter), None) => self.out.push_str(&format!("\\x{{{:x}}}", u32::from(letter))),
                (Letter::Set(set), _) => self.out.push_str(&set),
            }
            if self.rest.is_empty() {
                return Err(unclosed());
            }
        }
    }

    fn posix(&mut self, name: &str) -> Result<(), CelError> {
        const NAMES: [&str; 14] = [
            "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
            "word", "xdigit",
        ];
        if !NAMES.contains(&name.strip_prefix('^').unwrap_or(name)) {
            return Err(wrong("there is no such class"));
        }
        self.copy(name.len() + 4);
        Ok(())
    }

    /// One member of a class: a letter, or a set like `\d`.
    fn class_letter(&mut self) -> Result<Letter, CelError> {
        let letter = self.rest.chars().next().ok_or_else(|| wrong("a bracket is not closed"))?;
        if letter != '\\' {
            self.rest = &self.rest[letter.len_utf8()..];
            return Ok(Letter::One(letter));
        }
        let (written, rest) = escaped(self.rest)?;
        self.rest = rest;
        // A single letter is written as its number, a set as itself.
        let code = written.strip_prefix("\\x{").and_then(|code| code.strip_suffix('}'));
        match code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32) {
            Some(letter) => Ok(Letter::One(letter)),
            None => Ok(Letter::Set(written)),
        }
    }
}

enum Letter {
    One(char),
    Set(String),
}

/// An escape that stands for letters, rewritten, and what follows it.
fn escaped(text: &str) -> Result<(String, &str), CelError> {
    let after = &text[1..];
    let kind = after.chars().next().ok_or_else(|| wrong("it ends in a backslash"))?;
    let rest = &after[kind.len_utf8()..];
    let number = |value: u32| format!("\\x{{{value:x}}}");
    let set = match kind {
        'd' => "[0-9]",
        'D' => "[^0-9]",
        's' => "[\\t\\n\\x0c\\r ]",
        'S' => "[^\\t\\n\\x0c\\r ]",
        'w' => "[0-9A-Za-z_]",
        'W' => "[^0-9A-Za-z_]",
        'a' => return Ok((number(7), rest)),
        'f' => return Ok((number(12), rest)),
        'n' => return Ok((number(10), rest)),
        'r' => return Ok((number(13), rest)),
        't' => return Ok((number(9), rest)),
        'v' => return Ok((number(11), rest)),
        'p' | 'P' => return property(kind, rest),
        'x' => return hex(rest),
        '0'..='7' => return octal(kind, after),
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => return Ok((number(u32::from(other)), rest)),
        _ => return Err(wrong("there is no such escape")),
    };
    Ok((set.to_owned(), rest))
}

/// `\pL`, `\p{Greek}`, `\p{^Greek}`.
fn property(kind: char, rest: &str) -> Result<(String, &str), CelError> {
    let (name, rest) = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or_else(|| wrong("a property is not closed"))?,
        None => {
            let end = rest.chars().next().map(char::len_utf8).ok_or_else(|| wrong("a property has no name"))?;
            rest.split_at(end)
        }
    };
    let (name, turned) = match name.strip_prefix('^') {
        Some(name) => (name, true),
        None => (name, false),
    };
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if !is_name {
        return Err(wrong("there is no such property"));
    }
    let kind = if (kind == 'p') != turned { 'p' } else { 'P' };
    Ok((format!("\\{kind}{{{name}}}"), rest))
}

fn hex(rest: &str) -> Result<(String, &str), CelError> {
    let bad = || wrong("a character's number cannot be read");
    let (digits, rest) = match rest.strip_prefix('{') {
        Some(inner) => inner.split_once('}').ok_or_else(bad)?,
        None => (rest.get(..2).ok_or_else(bad)?, &rest[2..]),
    };
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten().ok_or_else(bad)?;
    let letter = char::from_u32(value).ok_or_else(bad)?;
    Ok((format!("\\x{{{:x}}}", u32::from(letter)), rest))
}

/// Up to three octal digits; one digit but 0 would be a reference back, which Go does not have.
fn octal(kind: char, after: &str) -> Result<(String, &str), CelError> {
    let is_octal = |letter: char| ('0'..='7').contains(&letter);
    let length = after.chars().take(3).take_while(|letter| is_octal(*letter)).count();
    if length == 1 && kind != '0' {
        return Err(wrong("there are no references back"));
    }
    let value = u32::from_str_radix(&after[..length], 8).map_err(|_| wrong("a character's number cannot be read"))?;
    Ok((format!("\\x{{{value:x}}}"), &after[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_go_means_by_them() {
        let cases = [
            ("^[a-z]+$", "abc", true),
            ("\\d", "٣", false),
            ("^\\w+$", "é", false),
            ("^[\\w.-]+$", "a.b-c", true),
            ("a{,2}", "a{,2}", true),
            ("x{y}", "x{y}", true),
            ("[[:alpha:]&&x]", "&", true),
            ("\\Qa.b\\E", "axb", false),
            ("(?i)ABC", "abc", true),
            ("(?P<n>a)(?<m>b)", "ab", true),
            ("\\pL", "é", true),
            ("\\012", "\n", true),
            ("[]a]", "]", true),
            ("a|", "zzz", true),
            ("\\bfoo\\b", "a foo b", true),
            ("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false),
        ];
        for (pattern, text, expected) in cases {
            let regex = compile(pattern).unwrap_or_else(|error| panic!("{pattern}: {error:?}"));
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn what_go_refuses_is_refused() {
        let patterns = [
            "(",
            ")",
            "a**",
            "*a",
            "a{2,1}",
            "a{1001}",
            "[z-a]",
            "[a",
            "(?=x)",
            "\\1",
            "\\Z",
            "\\y",
            "(?P<n>a)(?P<n>b)",
            "(?x)a",
            "a\\",
            "[[:foo:]]",
            "\\x{110000}",
            "|*",
            "(?)",
            "a??+",
            "\\p{",
            "(?P<n",
        ];
        for pattern in patterns {
            assert!(matches!(compile(pattern), Err(CelError::Wrong(_))), "{pattern}: {:?}", compile(pattern));
        }
    }
}

//! A place in JSON text, and the ways forward from it.
//!
//! It exists for speed: most of an object (`managedFields`, values no interest names) is passed over without being
//! parsed, at the speed of a byte search. What is passed over is checked for its end and the nesting of its brackets
//! and not for more; what is kept is read strictly.
//!
//! Invariants: text that ends too early is an error, wherever it ends.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::value::RawValue;

use super::Undecodable;

/// How deep brackets may nest, as in serde_json: deeper text is an attack or a bug.
const DEPTH_MAX: u32 = 127;

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

type Step<T> = Result<T, Undecodable>;

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// What does not fit, at this place.
    pub fn bad(&self) -> Undecodable {
        let before = &self.text.as_bytes()[..self.at.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|&&byte| byte != b'\n').count() + 1;
        Undecodable { line, column }
    }

    /// Reads a map, handing each name on with the cursor at its value, which `each` must pass.
    pub fn fields(&mut self, mut each: impl FnMut(&mut Self, Cow<'a, str>) -> Step<()>) -> Step<()> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            each(self, name)?;
            if self.take(b'}') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Reads a list, with the cursor at each item in turn, which `each` must pass.
    pub fn items(&mut self, mut each: impl FnMut(&mut Self) -> Step<()>) -> Step<()> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.take(b']') {
                return Ok(());
            }
            self.expect(b',')?;
        }
    }

    /// Passes a null, if there is one here.
    pub fn null(&mut self) -> bool {
        self.blanks();
        let here = self.text.as_bytes()[self.at..].starts_with(b"null");
        if here {
            self.at += 4;
        }
        here
    }

    /// Reads a string, borrowed unless it holds escapes.
    pub fn string(&mut self) -> Step<Cow<'a, str>> {
        self.blanks();
        let start = self.at;
        let escapes = self.pass_string()?;
        if escapes {
            let text = serde_json::from_str(&self.text[start..self.at]).map_err(|_| self.bad())?;
            return Ok(Cow::Owned(text));
        }
        Ok(Cow::Borrowed(&self.text[start + 1..self.at - 1]))
    }

    /// Reads a string, or nothing for null.
    pub fn string_or_null(&mut self) -> Step<Option<Cow<'a, str>>> {
        if self.null() { Ok(None) } else { self.string().map(Some) }
    }

    /// Passes any value and returns its text, checked as said in the file's header.
    pub fn skip(&mut self) -> Step<&'a str> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'"') => {
                self.pass_string()?;
            }
            Some(b'{' | b'[') => self.pass_nested()?,
            Some(_) | None => self.pass_scalar()?,
        }
        Ok(&self.text[start..self.at])
    }

    /// Passes any value, read strictly.
    pub fn raw(&mut self) -> Step<&'a RawValue> {
        let text = self.skip()?;
        serde_json::from_str(text).map_err(|_| self.bad())
    }

    /// Checks that nothing follows.
    pub fn end(mut self) -> Step<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.bad()),
        }
    }

    /// The byte after white space.
    pub fn peek(&mut self) -> Option<u8> {
        self.blanks();
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        if here {
            self.at += 1;
        }
        here
    }

    fn expect(&mut self, byte: u8) -> Step<()> {
        if self.take(byte) { Ok(()) } else { Err(self.bad()) }
    }

    /// Passes a string; says whether it holds escapes.
    fn pass_string(&mut self) -> Step<bool> {
        let bytes = self.text.as_bytes();
        if bytes.get(self.at) != Some(&b'"') {
            return Err(self.bad());
        }
        let mut at = self.at + 1;
        let mut escapes = false;
        while let Some(found) = bytes.get(at..).and_then(quote_or_escape) {
            at += found;
            if bytes[at] == b'"' {
                self.at = at + 1;
                return Ok(escapes);
            }
            escapes = true;
            at += 2;
        }
        self.at = bytes.len();
        Err(self.bad())
    }

    /// Passes a map or list with all that is in it.
    fn pass_nested(&mut self) -> Step<()> {
        let bytes = self.text.as_bytes();
        // One bit a level: set for a map. Brackets that close another kind than was opened don't pass.
        let (mut maps, mut depth) = (0u128, 0u32);
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.pass_string()?;
                    continue;
                }
                b'{' | b'[' => {
                    depth += 1;
                    maps = (maps << 1) | u128::from(byte == b'{');
                    if depth > DEPTH_MAX {
                        return Err(self.bad());
                    }
                }
                b'}' | b']' => {
                    if (maps & 1 == 1) != (byte == b'}') {
                        return Err(self.bad());
                    }
                    depth -= 1;
                    maps >>= 1;
                    if depth == 0 {
                        self.at += 1;
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        Err(self.bad())
    }

    fn pass_scalar(&mut self) -> Step<()> {
        let rest = &self.text[self.at..];
        let end = rest.find([',', ']', '}', ' ', '\n', '\r', '\t']).unwrap_or(rest.len());
        let number = |text: &str| text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        let scalar = &rest[..end];
        if !(matches!(scalar, "true" | "false" | "null") || number(scalar)) {
            return Err(self.bad());
        }
        self.at += end;
        Ok(())
    }
}

/// Where the first quote or backslash is.
///
/// Most strings are names of a few letters, for which calling memchr costs more than looking: the first words are
/// looked at eight bytes at a time.
fn quote_or_escape(bytes: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    let mut at = 0;
    for word in bytes.chunks_exact(8).take(WORDS) {
        let word = u64::from_le_bytes(word.try_into().expect("a chunk of eight is eight bytes"));
        let found = has_byte(word, b'"') | has_byte(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', &bytes[at..]).map(|found| at + found)
}

/// Sets the top bit of the lowest byte that equals `byte`; bits above it mean nothing.
fn has_byte(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zero_where_equal = word ^ (ONES * u64::from(byte));
    zero_where_equal.wrapping_sub(ONES) & !zero_where_equal & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Any JSON value.
    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,12}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                proptest::collection::hash_map(".{0,6}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_passed_whole_and_none_that_is_cut(value in value(), cut in 0usize..400) {
            for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
                let padded = format!(" {text} ,");
                prop_assert_eq!(Cursor::new(&padded).skip().unwrap(), text.as_str());
                let nested = value.is_object() || value.is_array() || value.is_string();
                let cut = (0..=cut.min(text.len() - 1)).rev().find(|&cut| text.is_char_boundary(cut)).unwrap();
                prop_assert!(!nested || Cursor::new(&text[..cut]).skip().is_err());
            }
        }

        #[test]
        fn the_first_quote_or_escape_is_found(bytes in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), any::<u8>(), 0x21u8..0x24, 0x5bu8..0x5e], 0..80)) {
            prop_assert_eq!(quote_or_escape(&bytes), bytes.iter().position(|&byte| byte == b'"' || byte == b'\\'));
        }

        #[test]
        fn a_string_reads_as_the_text_it_was_written_from(text in ".{0,30}") {
            let written = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(Cursor::new(&written).string().unwrap(), text);
        }
    }

    #[test]
    fn text_that_is_no_json_does_not_pass() {
        let deep = "[".repeat(200) + &"]".repeat(200);
        let cases = [
            "",
            "<html>",
            "{",
            "{]",
            "[{]}",
            "\"",
            "\"\\",
            "\"a\\\"",
            "tru",
            "nul",
            "}",
            ",",
            "undefined",
            deep.as_str(),
        ];
        for text in cases {
            assert!(Cursor::new(text).skip().is_err(), "{text:.20}");
        }
        let cases = ["{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{\"a\":1 \"b\":2}", "[]"];
        for text in cases {
            assert!(Cursor::new(text).fields(|cursor, _| cursor.skip().map(drop)).is_err(), "{text}");
        }
    }
}

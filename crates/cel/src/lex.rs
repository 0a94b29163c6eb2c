//! The words of an expression.
//!
//! Invariants: a text either becomes words to its end, or is refused; nothing is mended.

/// A word with the byte it starts at.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub kind: Kind,
    pub at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Ident(String),
    Int(i64),
    /// The one number that is an int only with a minus before it.
    IntMin,
    Uint(u64),
    Double(f64),
    String(String),
    Bytes(Vec<u8>),
    True,
    False,
    Null,
    In,
    /// Operators and brackets, as they are written.
    Sign(&'static str),
    End,
}

/// Longer signs first, so that `<=` is not `<` and `=`.
const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":", "+", "*",
    "/", "%",
];

/// Splits a text into words.
///
/// # Errors
/// A sentence on the first place that is no word.
pub fn lex(text: &str) -> Result<Vec<Token>, String> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let at = lexer.at;
        let kind = lexer.next()?;
        let ends = kind == Kind::End;
        tokens.push(Token { kind, at });
        if ends {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        loop {
            let blank = self.rest().len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n', '\u{c}']).len();
            self.at += blank;
            if !self.rest().starts_with("//") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    fn next(&mut self) -> Result<Kind, String> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Kind::End) };
        if let Some(prefix) = string_prefix(rest) {
            return self.string(prefix);
        }
        let number =
            first.is_ascii_digit() || (first == '.' && rest[1..].starts_with(|next: char| next.is_ascii_digit()));
        if number {
            return self.number();
        }
        if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len());
            let word = rest[..end].to_owned();
            self.at += end;
            return Ok(match word.as_str() {
                "true" => Kind::True,
                "false" => Kind::False,
                "null" => Kind::Null,
                "in" => Kind::In,
                _ => Kind::Ident(word),
            });
        }
        match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            None => Err(format!("{first:?} at {} is not part of the language", self.at)),
            Some(sign) => {
                self.at += sign.len();
                Ok(Kind::Sign(sign))
            }
        }
    }

    fn number(&mut self) -> Result<Kind, String> {
        let rest = self.rest();
        let digits = |text: &str| text.len() - text.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        if let Some(hex) = rest.strip_prefix("0x") {
            let length = hex.len() - hex.trim_start_matches(|letter: char| letter.is_ascii_hexdigit()).len();
            if length > 0 {
                let text = hex[..length].to_owned();
                return self.integer(2 + length, &text, 16);
            }
        }
        let whole = digits(rest);
        let mut length = whole;
        if rest[length..].starts_with('.') && digits(&rest[length + 1..]) > 0 {
            length += 1 + digits(&rest[length + 1..]);
        }
        if rest[length..].starts_with(['e', 'E']) {
            let sign = usize::from(rest[length + 1..].starts_with(['+', '-']));
            let exponent = digits(&rest[length + 1 + sign..]);
            if exponent > 0 {
                length += 1 + sign + exponent;
            }
        }
        if length == whole {
            let text = rest[..whole].to_owned();
            return self.integer(whole, &text, 10);
        }
        let text = &rest[..length];
        let value: f64 = text.parse().map_err(|_| format!("{text} is not a number"))?;
        if value.is_infinite() {
            return Err(format!("{text} is too large a number"));
        }
        self.at += length;
        Ok(Kind::Double(value))
    }

    fn integer(&mut self, length: usize, digits: &str, radix: u32) -> Result<Kind, String> {
        self.at += length;
        if self.rest().starts_with(['u', 'U']) {
            self.at += 1;
            let value = u64::from_str_radix(digits, radix).map_err(|_| format!("{digits}u is too large a number"))?;
            return Ok(Kind::Uint(value));
        }
        match u64::from_str_radix(digits, radix) {
            Ok(value) if value == i64::MIN.unsigned_abs() => Ok(Kind::IntMin),
            Ok(value) => i64::try_from(value).map(Kind::Int).map_err(|_| format!("{digits} is too large a number")),
            Err(_) => Err(format!("{digits} is too large a number")),
        }
    }

    fn string(&mut self, prefix: Prefix) -> Result<Kind, String> {
        let start = self.at;
        let unclosed = || format!("the string at {start} is not closed");
        let body = &self.rest()[prefix.length..];
        let triple = ["\"\"\"", "'''"].into_iter().find(|quote| body.starts_with(quote));
        let quote = triple.unwrap_or(if body.starts_with('"') { "\"" } else { "'" });
        let body = &body[quote.len()..];
        let mut bytes: Vec<u8> = Vec::new();
        let mut at = 0;
        loop {
            let rest = &body[at..];
            if rest.starts_with(quote) {
                break;
            }
            let letter = rest.chars().next().ok_or_else(unclosed)?;
            if triple.is_none() && matches!(letter, '\n' | '\r') {
                return Err(unclosed());
            }
            if letter == '\\' && !prefix.raw {
                at += escape(rest, prefix.bytes, &mut bytes)?;
                continue;
            }
            bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            at += letter.len_utf8();
        }
        self.at += prefix.length + quote.len() + at + quote.len();
        if prefix.bytes {
            return Ok(Kind::Bytes(bytes));
        }
        String::from_utf8(bytes).map(Kind::String).map_err(|_| format!("the string at {start} is not text"))
    }
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

#[derive(Clone, Copy)]
struct Prefix {
    raw: bool,
    bytes: bool,
    length: usize,
}

/// `b`, `r` or `br` and a quote.
fn string_prefix(text: &str) -> Option<Prefix> {
    let bytes = text.starts_with(['b', 'B']);
    let after = &text[usize::from(bytes)..];
    let raw = after.starts_with(['r', 'R']);
    let length = usize::from(bytes) + usize::from(raw);
    text[length..].starts_with(['"', '\'']).then_some(Prefix { raw, bytes, length })
}

/// Reads one escape and returns its length.
fn escape(text: &str, in_bytes: bool, out: &mut Vec<u8>) -> Result<usize, String> {
    let wrong = || format!("{:?} is not an escape", text.chars().take(2).collect::<String>());
    let kind = text[1..].chars().next().ok_or_else(wrong)?;
    let simple = match kind {
        'a' => Some(7),
        'b' => Some(8),
        'f' => Some(12),
        'n' => Some(10),
        'r' => Some(13),
        't' => Some(9),
        'v' => Some(11),
        '"' | '\'' | '\\' | '?' | '`' => u8::try_from(kind).ok(),
        _ => None,
    };
    if let Some(byte) = simple {
        out.push(byte);
        return Ok(2);
    }
    let (start, length, radix) = match kind {
        'x' | 'X' => (2, 2, 16),
        'u' if !in_bytes => (2, 4, 16),
        'U' if !in_bytes => (2, 8, 16),
        '0'..='3' => (1, 3, 8),
        _ => return Err(wrong()),
    };
    let digits = text.get(start..start + length).filter(|digits| digits.chars().all(|digit| digit.is_digit(radix)));
    let value = u32::from_str_radix(digits.ok_or_else(wrong)?, radix).map_err(|_| wrong())?;
    match u8::try_from(value) {
        Ok(byte) if in_bytes => out.push(byte),
        _ => {
            let letter = char::from_u32(value).ok_or_else(wrong)?;
            out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
        }
    }
    Ok(start + length)
}

//! What expressions work on.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::parse::RESERVED;

/// A value. Copies share what they hold.
#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Rc<str>),
    Bytes(Rc<[u8]>),
    List(List),
    Map(Map),
    Optional(Option<Rc<Value>>),
    /// A type, by its name.
    Type(String),
}

/// A list, and how upstream holds it.
#[derive(Debug, Clone)]
pub struct List {
    pub items: Rc<Vec<Value>>,
    pub held: Held,
}

/// How upstream holds a list. Mappings can't read one that a string function made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    AsValues,
    AsStrings,
}

/// A map, and where it comes from.
#[derive(Debug, Clone)]
pub struct Map {
    pub entries: Rc<BTreeMap<Key, Value>>,
    pub origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The variable itself: it can't be measured or searched, and a loop over it sees its values.
    Variable,
    /// From a token: names in it may be written with escapes like `__dot__`.
    Json,
    /// Made by the expression.
    Expression,
}

/// What a map is looked up by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Bool(bool),
    Int(i64),
    String(Rc<str>),
}

impl Value {
    pub fn text(text: &str) -> Self {
        Self::String(text.into())
    }

    pub fn list(items: Vec<Self>) -> Self {
        Self::List(List { items: Rc::new(items), held: Held::AsValues })
    }

    pub fn strings(items: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let items = items.into_iter().map(|item| Self::text(item.as_ref())).collect();
        Self::List(List { items: Rc::new(items), held: Held::AsStrings })
    }

    pub fn optional(value: Option<Self>) -> Self {
        Self::Optional(value.map(Rc::new))
    }

    /// A JSON value as upstream decodes it: every number is a double.
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(value) => Self::Bool(*value),
            serde_json::Value::Number(number) => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Array(items) => Self::list(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(fields) => Self::fields(fields, Origin::Json),
        }
    }

    /// The claims of a token, as the variable holds them.
    pub fn claims(fields: &serde_json::Map<String, serde_json::Value>) -> Self {
        Self::fields(fields, Origin::Variable)
    }

    fn fields(fields: &serde_json::Map<String, serde_json::Value>, origin: Origin) -> Self {
        let entries = fields.iter().map(|(name, value)| (Key::String(name.as_str().into()), Self::from_json(value)));
        Self::Map(Map { entries: Rc::new(entries.collect()), origin })
    }

    /// As `type()` names it.
    pub fn type_name(&self) -> &str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(Map { origin: Origin::Variable, .. }) => "kubernetes.claims",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Type(_) => "type",
        }
    }

    /// Whether two values are the same; values of different types just differ, numbers are compared as numbers.
    pub fn equals(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::String(one), Self::String(other)) => one == other,
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Type(one), Self::Type(other)) => one == other,
            (Self::List(one), Self::List(other)) => {
                one.items.len() == other.items.len()
                    && one.items.iter().zip(other.items.iter()).all(|(one, other)| one.equals(other))
            }
            (Self::Map(one), Self::Map(other)) => {
                let same =
                    |(key, value): (&Key, &Self)| other.entries.get(key).is_some_and(|found| value.equals(found));
                one.entries.len() == other.entries.len() && one.entries.iter().all(same)
            }
            (Self::Optional(None), Self::Optional(None)) => true,
            (Self::Optional(Some(one)), Self::Optional(Some(other))) => one.equals(other),
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }

    /// The order of two values that have one.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (Self::String(one), Self::String(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
            (Self::Bytes(one), Self::Bytes(other)) => Some(one.cmp(other)),
            (Self::Int(one), Self::Int(other)) => Some(one.cmp(other)),
            (Self::Uint(one), Self::Uint(other)) => Some(one.cmp(other)),
            (Self::Double(one), Self::Double(other)) => one.partial_cmp(other),
            (Self::Int(one), Self::Uint(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Uint(one), Self::Int(other)) => Some(i128::from(*one).cmp(&i128::from(*other))),
            (Self::Double(one), Self::Int(other)) => compare_double(*one, i128::from(*other)),
            (Self::Double(one), Self::Uint(other)) => compare_double(*one, i128::from(*other)),
            (Self::Int(one), Self::Double(other)) => compare_double(*other, i128::from(*one)).map(Ordering::reverse),
            (Self::Uint(one), Self::Double(other)) => compare_double(*other, i128::from(*one)).map(Ordering::reverse),
            _ => None,
        }
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }

    /// Whether it is what a type is when nothing was given.
    pub fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Uint(value) => *value == 0,
            Self::Double(value) => *value == 0.0,
            Self::String(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::List(list) => list.items.is_empty(),
            Self::Map(map) => map.entries.is_empty(),
            Self::Optional(value) => value.as_ref().is_none_or(|value| value.is_zero()),
            Self::Type(_) => false,
        }
    }
}

/// Compares without losing what a double can't hold.
fn compare_double(double: f64, whole: i128) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Beyond 2^70 a double is larger than any integer here, infinities included.
    const FAR: f64 = 1_180_591_620_717_411_303_424.0;
    if double.abs() >= FAR {
        return Some(if double > 0.0 { Ordering::Greater } else { Ordering::Less });
    }
    let floor = double.floor();
    #[expect(clippy::cast_possible_truncation, reason = "its size was looked at above")]
    let below = floor as i128;
    match below.cmp(&whole) {
        Ordering::Equal if double > floor => Some(Ordering::Greater),
        order => Some(order),
    }
}

impl Map {
    /// The entry under a key, as upstream looks it up.
    pub fn find(&self, key: &Key) -> Option<&Value> {
        match (self.origin, key) {
            (Origin::Variable, Key::String(name)) => self.entries.get(&Key::String(unescape(name)?.as_str().into())),
            (Origin::Json, Key::String(name)) => {
                let plain = unescape(name).map_or_else(|| name.clone(), |name| name.as_str().into());
                self.entries.get(&Key::String(plain))
            }
            (Origin::Variable | Origin::Json, Key::Bool(_) | Key::Int(_)) => None,
            (Origin::Expression, key) => self.entries.get(key),
        }
    }
}

/// Undoes the escapes by which any name can be written as a field; nothing, when an escape is unknown.
fn unescape(name: &str) -> Option<String> {
    // The words of the language itself need an escape as well, beside the names that are reserved.
    const WORDS: [&str; 4] = ["true", "false", "null", "in"];
    let mut out = String::new();
    let mut rest = name;
    while let Some(start) = rest.find("__") {
        let inner = &rest[start + 2..];
        let Some(end) = inner.find("__").filter(|end| *end > 0 && !inner[..*end].contains('_')) else {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        out.push_str(&rest[..start]);
        match &inner[..end] {
            "underscores" => out.push_str("__"),
            "dot" => out.push('.'),
            "dash" => out.push('-'),
            "slash" => out.push('/'),
            word if (WORDS.contains(&word) || RESERVED.contains(&word)) && end + 4 == name.len() => out.push_str(word),
            _ => return None,
        }
        rest = &inner[end + 2..];
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unescaped_as_upstream_does() {
        let cases = [
            ("plain", Some("plain")),
            ("a_b", Some("a_b")),
            ("a__b", Some("a__b")),
            ("a___dot__b", Some("a_.b")),
            ("kubernetes__dot__io", Some("kubernetes.io")),
            ("a__dash__b__slash__c", Some("a-b/c")),
            ("a__underscores__b", Some("a__b")),
            ("__namespace__", Some("namespace")),
            ("x__namespace__", None),
            ("__nope__", None),
            ("a__B__c", None),
        ];
        for (name, expected) in cases {
            assert_eq!(unescape(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn numbers_are_compared_by_what_they_are() {
        let cases = [
            (Value::Double(1.0), Value::Int(1), Some(Ordering::Equal)),
            (Value::Double(1.5), Value::Int(1), Some(Ordering::Greater)),
            (Value::Int(2), Value::Double(2.5), Some(Ordering::Less)),
            (Value::Int(-1), Value::Uint(1), Some(Ordering::Less)),
            (Value::Double(f64::INFINITY), Value::Int(i64::MAX), Some(Ordering::Greater)),
            (Value::Double(f64::NAN), Value::Int(1), None),
            (Value::Double(9_007_199_254_740_993.0), Value::Int(9_007_199_254_740_993), Some(Ordering::Less)),
            (Value::text("a"), Value::Int(1), None),
        ];
        for (one, other, expected) in cases {
            assert_eq!(one.compare(&other), expected, "{one:?} {other:?}");
        }
    }
}

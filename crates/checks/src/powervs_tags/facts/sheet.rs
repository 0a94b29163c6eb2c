//! Reading a spec or a status part by part, where two shapes share field names.
//!
//! Invariants: a field of another type than its name promises is a misfit, never read as if it were not there.

use serde_json::{Map, Value};

/// A part of an object, with the way to it.
#[derive(Clone)]
pub struct Sheet<'v> {
    fields: Option<&'v Map<String, Value>>,
    path: String,
}

/// A list of parts.
pub struct Entry<'v> {
    /// The name under which a map of the older shape holds it.
    pub key: Option<&'v str>,
    pub sheet: Sheet<'v>,
}

/// What does not fit: the way to it, and what it should be.
pub type Misfits<T> = Result<T, String>;

impl<'v> Sheet<'v> {
    pub fn of(value: &'v Value, path: &str) -> Misfits<Self> {
        match value {
            Value::Null => Ok(Self { fields: None, path: path.to_owned() }),
            Value::Object(fields) => Ok(Self { fields: Some(fields), path: path.to_owned() }),
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(format!("{path} is not an object"))
            }
        }
    }

    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is there at all.
    pub fn is_there(&self) -> bool {
        self.fields.is_some()
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn text(&self, key: &str) -> Misfits<Option<&'v str>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(format!("{}.{key} is not text", self.path)),
        }
    }

    pub fn flag(&self, key: &str) -> Misfits<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(format!("{}.{key} is neither true nor false", self.path)),
        }
    }

    pub fn part(&self, key: &str) -> Misfits<Self> {
        Self::of(self.get(key).unwrap_or(&Value::Null), &format!("{}.{key}", self.path))
    }

    /// The parts of a list, or of a map from names to parts.
    pub fn parts(&self, key: &str) -> Misfits<Vec<Entry<'v>>> {
        let path = format!("{}.{key}", self.path);
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(index, item)| Ok(Entry { key: None, sheet: Self::of(item, &format!("{path}[{index}]"))? }))
                .collect(),
            Some(Value::Object(map)) => map
                .iter()
                .map(|(name, item)| {
                    Ok(Entry { key: Some(name.as_str()), sheet: Self::of(item, &format!("{path}.{name}"))? })
                })
                .collect(),
            Some(_) => Err(format!("{path} is neither a list nor a map")),
        }
    }

    /// Whether a field holds a list.
    pub fn is_list(&self, key: &str) -> bool {
        self.get(key).is_some_and(Value::is_array)
    }

    fn get(&self, key: &str) -> Option<&'v Value> {
        self.fields.and_then(|fields| fields.get(key)).filter(|value| !value.is_null())
    }
}

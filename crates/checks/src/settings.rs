//! A table of the config as its owner reads it: typed, key by key, with the place of everything.
//!
//! Invariants:
//! - reading a table needs no knowledge of the file around it: a problem carries its position;
//! - an unknown key is a problem, and names the nearest known one;
//! - a wrong key does not prevent reading the others, so that all problems are found at once.
//!
//! Elsewhere: files and line numbers (`config`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use jiff::civil::Date;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::duration::parse_duration;
use super::nearest::nearest;

/// A table with a name people recognise, like `[domains.hosted-oidc]`.
#[derive(Debug, Clone)]
pub struct SettingsTable {
    title: String,
    span: Range<usize>,
    entries: BTreeMap<String, Entry>,
}

/// Something in a table that can't be meant as it stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SettingsProblem {
    /// Bytes of the file it is about.
    pub span: Range<usize>,
    /// One sentence, with the way out.
    pub message: String,
}

#[derive(Debug, Clone)]
struct Entry {
    key_span: Range<usize>,
    value: Spanned<Setting>,
}

#[derive(Debug, Clone)]
enum Setting {
    Text(String),
    Integer(i64),
    Boolean(bool),
    Date(Date),
    List(Vec<Spanned<Setting>>),
    Table(SettingsTable),
    /// Fractions, times, numbers beyond 64 bits: nothing in the config is of these sorts.
    Other(&'static str),
}

impl SettingsTable {
    /// Reads a TOML document as one table.
    ///
    /// # Errors
    /// Everything that is no TOML.
    pub fn parse(title: &str, text: &str) -> Result<Self, Vec<SettingsProblem>> {
        let (document, errors) = DeTable::parse_recoverable(text);
        if errors.is_empty() {
            return Ok(Self::from_toml(title, document.span(), document.get_ref()));
        }
        let problem = |error: toml::de::Error| SettingsProblem {
            span: error.span().unwrap_or_default(),
            message: error.message().to_owned(),
        };
        Err(errors.into_iter().map(problem).collect())
    }

    /// A table the file does not have.
    pub fn empty(title: &str) -> Self {
        Self { title: title.to_owned(), span: 0..0, entries: BTreeMap::new() }
    }

    /// How people find it in the file.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Every key with its place.
    pub fn keys(&self) -> impl Iterator<Item = Spanned<&str>> {
        self.entries.iter().map(|(key, entry)| Spanned::new(entry.key_span.clone(), key.as_str()))
    }

    /// A problem for each key that is not among the known ones.
    pub fn unknown_keys(&self, known: &[&str]) -> Vec<SettingsProblem> {
        self.keys()
            .filter(|key| !known.contains(key.get_ref()))
            .map(|key| SettingsProblem::unknown(&key, &format!("key in {}", self.title), known))
            .collect()
    }

    /// The text of a key, or nothing when the table does not have it.
    ///
    /// # Errors
    /// The value is not text.
    pub fn take_str(&self, key: &str) -> Result<Option<Spanned<&str>>, SettingsProblem> {
        self.take(key, "a text in quotes", Setting::as_text)
    }

    /// The texts of a key.
    ///
    /// # Errors
    /// The value is not a list, or something in the list is not text.
    pub fn take_strings(&self, key: &str) -> Result<Option<Vec<Spanned<&str>>>, SettingsProblem> {
        let wants = "a list of texts, like [\"a\", \"b\"]";
        let Some(list) = self.take(key, wants, Setting::as_list)? else { return Ok(None) };
        list.into_inner()
            .iter()
            .map(|item| match item.get_ref().as_text() {
                Some(text) => Ok(Spanned::new(item.span(), text)),
                None => Err(self.mistyped(key, wants, item)),
            })
            .collect::<Result<Vec<_>, _>>()
            .map(Some)
    }

    /// Whether a key is true.
    ///
    /// # Errors
    /// The value is neither `true` nor `false`.
    pub fn take_bool(&self, key: &str) -> Result<Option<bool>, SettingsProblem> {
        let taken = self.take(key, "true or false", Setting::as_bool)?;
        Ok(taken.map(Spanned::into_inner))
    }

    /// The duration of a key: `30s`, `5m`, `1h30m`, `90d`.
    ///
    /// # Errors
    /// The value is not a text, or not a duration.
    pub fn take_duration(&self, key: &str) -> Result<Option<Duration>, SettingsProblem> {
        let Some(text) = self.take_str(key)? else { return Ok(None) };
        let bad = |error| SettingsProblem::at(text.span(), format!("`{key}`: {error}"));
        parse_duration(text.get_ref()).map(Some).map_err(bad)
    }

    /// The number of a key, which has to be in the range.
    ///
    /// # Errors
    /// The value is not a whole number, or out of the range.
    pub fn take_integer(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, SettingsProblem> {
        let (least, most) = (range.start(), range.end());
        let wants = match *most {
            i64::MAX => format!("a whole number from {least}"),
            most => format!("a whole number from {least} to {most}"),
        };
        let taken = self.take(key, &wants, |setting| setting.as_integer().filter(|value| range.contains(value)))?;
        Ok(taken.map(Spanned::into_inner))
    }

    /// The day of a key.
    ///
    /// # Errors
    /// The value is not a date.
    pub fn take_date(&self, key: &str) -> Result<Option<Date>, SettingsProblem> {
        let taken = self.take(key, "a date without quotes, like 2026-12-31", Setting::as_date)?;
        Ok(taken.map(Spanned::into_inner))
    }

    /// What the word of a key stands for.
    ///
    /// # Errors
    /// The value is none of the words.
    pub fn take_choice<T: Copy>(&self, key: &str, choices: &[(&str, T)]) -> Result<Option<T>, SettingsProblem> {
        let Some(word) = self.take_str(key)? else { return Ok(None) };
        let chosen = choices.iter().find(|(name, _)| name == word.get_ref());
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        match chosen {
            Some((_, value)) => Ok(Some(*value)),
            None => Err(SettingsProblem::unknown(&word, &format!("value for `{key}` in {}", self.title), &names)),
        }
    }

    /// A table inside this one.
    ///
    /// # Errors
    /// The value is no table.
    pub fn take_table(&self, key: &str) -> Result<Option<&Self>, SettingsProblem> {
        let taken = self.take(key, "a table", Setting::as_table)?;
        Ok(taken.map(Spanned::into_inner))
    }

    /// Tables that may repeat: `[[key]]`.
    ///
    /// # Errors
    /// The value is not a list of tables.
    pub fn take_tables(&self, key: &str) -> Result<Vec<&Self>, SettingsProblem> {
        let wants = format!("tables that may repeat: write [[{key}]]");
        let Some(list) = self.take(key, &wants, Setting::as_list)? else { return Ok(Vec::new()) };
        list.into_inner()
            .iter()
            .map(|item| item.get_ref().as_table().ok_or_else(|| self.mistyped(key, &wants, item)))
            .collect()
    }

    /// The problem of a key that has to be there and isn't.
    pub fn lacks(&self, key: &str) -> SettingsProblem {
        SettingsProblem::at(self.span.clone(), format!("{} needs `{key}`", self.title))
    }

    /// A problem with the table as a whole.
    pub fn problem(&self, message: impl Into<String>) -> SettingsProblem {
        SettingsProblem::at(self.span.clone(), message)
    }

    fn take<'s, T>(
        &'s self,
        key: &str,
        wants: &str,
        pick: impl Fn(&'s Setting) -> Option<T>,
    ) -> Result<Option<Spanned<T>>, SettingsProblem> {
        let Some(Entry { value, .. }) = self.entries.get(key) else { return Ok(None) };
        match pick(value.get_ref()) {
            Some(picked) => Ok(Some(Spanned::new(value.span(), picked))),
            None => Err(self.mistyped(key, wants, value)),
        }
    }

    fn mistyped(&self, key: &str, wants: &str, found: &Spanned<Setting>) -> SettingsProblem {
        let message = format!("`{key}` in {} wants {wants}, and got {}", self.title, found.get_ref().describe());
        SettingsProblem::at(found.span(), message)
    }

    fn from_toml(title: &str, span: Range<usize>, table: &DeTable<'_>) -> Self {
        let entry = |(key, value): (&Spanned<std::borrow::Cow<'_, str>>, &Spanned<DeValue<'_>>)| {
            let setting = Setting::from_toml(title, key.get_ref(), value);
            let entry = Entry { key_span: key.span(), value: Spanned::new(value.span(), setting) };
            (key.get_ref().to_string(), entry)
        };
        Self { title: title.to_owned(), span, entries: table.iter().map(entry).collect() }
    }
}

impl SettingsProblem {
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// A word that is not among the known ones; the nearest is named, or all of them when none is near.
    pub fn unknown(word: &Spanned<&str>, what: &str, known: &[&str]) -> Self {
        let hint = match nearest(word.get_ref(), known) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if known.is_empty() => String::new(),
            None => format!("; known are {}", known.join(", ")),
        };
        // `key in [safety]`: the name follows the kind.
        let (kind, place) = what.split_at(what.find(' ').unwrap_or(what.len()));
        Self::at(word.span(), format!("unknown {kind} `{}`{place}{hint}", word.get_ref()))
    }
}

impl Setting {
    fn from_toml(parent: &str, key: &str, value: &Spanned<DeValue<'_>>) -> Self {
        match value.get_ref() {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Boolean(value) => Self::Boolean(*value),
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix())
                .map_or(Self::Other("a number that is too large"), Self::Integer),
            DeValue::Float(_) => Self::Other("a fraction"),
            DeValue::Datetime(moment) => date(moment).map_or(Self::Other("a moment"), Self::Date),
            DeValue::Array(items) => {
                let title = format!("[{}]", inner_title(parent, key));
                let item = |item: &Spanned<DeValue<'_>>| {
                    let setting = if let DeValue::Table(table) = item.get_ref() {
                        Self::Table(SettingsTable::from_toml(&title, item.span(), table))
                    } else {
                        Self::from_toml(parent, key, item)
                    };
                    Spanned::new(item.span(), setting)
                };
                Self::List(items.iter().map(item).collect())
            }
            DeValue::Table(table) => {
                Self::Table(SettingsTable::from_toml(&inner_title(parent, key), value.span(), table))
            }
        }
    }

    fn as_text(&self) -> Option<&str> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }

    fn as_integer(&self) -> Option<i64> {
        if let Self::Integer(value) = self { Some(*value) } else { None }
    }

    fn as_bool(&self) -> Option<bool> {
        if let Self::Boolean(value) = self { Some(*value) } else { None }
    }

    fn as_date(&self) -> Option<Date> {
        if let Self::Date(value) = self { Some(*value) } else { None }
    }

    fn as_list(&self) -> Option<&[Spanned<Self>]> {
        if let Self::List(value) = self { Some(value) } else { None }
    }

    fn as_table(&self) -> Option<&SettingsTable> {
        if let Self::Table(value) = self { Some(value) } else { None }
    }

    fn describe(&self) -> String {
        match self {
            // Not repeated: what stands where it does not belong may be a secret.
            Self::Text(_) => "a text".to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Date(date) => format!("the date {date}"),
            Self::List(_) => "a list".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::Other(what) => (*what).to_owned(),
        }
    }
}

/// `[a]` and `b` make `[a.b]`; at the top of a file there is no `a`.
fn inner_title(parent: &str, key: &str) -> String {
    match parent.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(outer) => format!("[{outer}.{key}]"),
        None => format!("[{key}]"),
    }
}

fn date(moment: &toml::value::Datetime) -> Option<Date> {
    let (Some(date), None) = (moment.date, moment.time) else { return None };
    Date::new(i16::try_from(date.year).ok()?, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok()
}

#[cfg(test)]
mod tests;

//! The subset of Lucene's query language that clients use on Global Search: fields, `AND`, `OR`, `NOT`, parentheses, quotes,
//! escapes, and a trailing star.

/// A query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Query {
    Everything,
    Field { name: String, value: String, is_prefix: bool },
    Not(Box<Query>),
    And(Vec<Query>),
    Or(Vec<Query>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Open,
    Close,
    And,
    Or,
    Not,
    Term(String, Option<String>, bool),
}

impl Query {
    /// Parses a query; none when it is invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words = words(text)?;
        let mut rest = words.as_slice();
        let query = either(&mut rest)?;
        rest.is_empty().then_some(query)
    }

    /// Whether the query matches; `field` returns the values of a field.
    pub(super) fn holds(&self, field: &dyn Fn(&str) -> Vec<String>) -> bool {
        match self {
            Self::Everything => true,
            Self::Field { name, value, is_prefix } => {
                let value = value.to_lowercase();
                let fits = |own: &String| {
                    let own = own.to_lowercase();
                    if *is_prefix { own.starts_with(&value) } else { own == value }
                };
                field(name).iter().any(fits)
            }
            Self::Not(inner) => !inner.holds(field),
            Self::And(all) => all.iter().all(|one| one.holds(field)),
            Self::Or(any) => any.iter().any(|one| one.holds(field)),
        }
    }
}

fn words(text: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    while let Some(&letter) = letters.peek() {
        match letter {
            letter if letter.is_whitespace() => drop(letters.next()),
            '(' | ')' => {
                letters.next();
                words.push(if letter == '(' { Word::Open } else { Word::Close });
            }
            _ => words.push(term(&mut letters)?),
        }
    }
    Some(words)
}

fn term(letters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<Word> {
    let (mut name, mut value): (Option<String>, String) = (None, String::new());
    let (mut quoted, mut is_prefix) = (false, false);
    while let Some(&letter) = letters.peek() {
        if !quoted && (letter.is_whitespace() || letter == '(' || letter == ')') {
            break;
        }
        letters.next();
        match letter {
            '\\' => value.push(letters.next()?),
            '"' => quoted = !quoted,
            ':' if !quoted && name.is_none() => name = Some(std::mem::take(&mut value)),
            '*' if !quoted => is_prefix = true,
            other => value.push(other),
        }
    }
    if quoted {
        return None;
    }
    Some(match (name, value.as_str(), is_prefix) {
        (None, "AND", false) => Word::And,
        (None, "OR", false) => Word::Or,
        (None, "NOT", false) => Word::Not,
        (Some(name), _, _) => Word::Term(name, Some(value), is_prefix),
        (None, _, _) => Word::Term(value, None, is_prefix),
    })
}

fn either(rest: &mut &[Word]) -> Option<Query> {
    let mut any = vec![both(rest)?];
    while rest.first() == Some(&Word::Or) {
        *rest = &rest[1..];
        any.push(both(rest)?);
    }
    Some(if any.len() == 1 { any.remove(0) } else { Query::Or(any) })
}

fn both(rest: &mut &[Word]) -> Option<Query> {
    let mut all = vec![single(rest)?];
    while rest.first() == Some(&Word::And) {
        *rest = &rest[1..];
        all.push(single(rest)?);
    }
    Some(if all.len() == 1 { all.remove(0) } else { Query::And(all) })
}

fn single(rest: &mut &[Word]) -> Option<Query> {
    let (first, tail) = rest.split_first()?;
    *rest = tail;
    match first {
        Word::Open => {
            let inner = either(rest)?;
            let (Word::Close, tail) = rest.split_first()? else { return None };
            *rest = tail;
            Some(inner)
        }
        Word::Not => Some(Query::Not(Box::new(single(rest)?))),
        Word::Term(name, Some(value), is_prefix) => {
            Some(Query::Field { name: name.clone(), value: value.clone(), is_prefix: *is_prefix })
        }
        Word::Term(text, None, true) if text.is_empty() => Some(Query::Everything),
        Word::Term(text, None, is_prefix) => {
            Some(Query::Field { name: "name".to_owned(), value: text.clone(), is_prefix: *is_prefix })
        }
        Word::Close | Word::And | Word::Or => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(query: &str) -> Option<bool> {
        let field = |name: &str| -> Vec<String> {
            match name {
                "type" => vec!["vpc".to_owned()],
                "family" => vec!["is".to_owned()],
                "tags" => vec!["owner:demo".to_owned(), "env:prod".to_owned()],
                "crn" => vec!["crn:v1:bluemix:public:is:us-south:a/x::vpc:1".to_owned()],
                _ => Vec::new(),
            }
        };
        Query::parse(query).map(|query| query.holds(&field))
    }

    #[test]
    fn common_queries_are_parsed() {
        let cases = [
            ("everything", "*", Some(true)),
            ("a field", "type:vpc", Some(true)),
            ("another value", "type:subnet", Some(false)),
            ("an escaped colon", r"tags:owner\:demo", Some(true)),
            ("quotes", r#"tags:"owner:demo""#, Some(true)),
            ("an upper case value", r#"tags:"Owner:Demo""#, Some(true)),
            ("a prefix", r"crn:crn\:v1\:bluemix\:public\:is*", Some(true)),
            ("and", "family:is AND type:vpc", Some(true)),
            ("and binds tighter", "type:subnet AND family:is OR type:vpc", Some(true)),
            ("parentheses", "family:x AND (type:subnet OR type:vpc)", Some(false)),
            ("not", "NOT type:vpc", Some(false)),
            ("no end of a quote", r#"tags:"x"#, None),
            ("no end of a parenthesis", "(type:vpc", None),
            ("nothing", "", None),
        ];
        for (case, query, expected) in cases {
            assert_eq!(holds(query), expected, "case: {case}");
        }
    }
}

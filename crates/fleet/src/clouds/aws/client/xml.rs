//! XML answers, read by path and within limits.
//!
//! Invariants:
//! - a value is known by the whole path to it: `sizeInMiB` stands below `memoryInfo` and below `gpuInfo`;
//! - a document type is refused, so no entity can grow; depth, elements and the length of a text are bounded.

use quick_xml::Reader;
use quick_xml::events::Event;

/// EC2's answers are eight deep.
const DEPTH_MAX: usize = 32;
/// The catalogue of 1,395 types has some 250,000 elements.
const ELEMENTS_MAX: usize = 2_000_000;
/// Names, numbers and tokens; a session token is about 1,200 bytes.
const TEXT_MAX: usize = 64 << 10;

/// What is met on the way through a document. The path holds the names from below the root on.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Met<'m> {
    /// An element without children ends; this was its text.
    Text { path: &'m [String], text: &'m str },
    /// An element ends, with or without children, after its text.
    End { path: &'m [String] },
}

/// Why a document can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadXml {
    #[error("it is not XML")]
    Malformed,
    #[error("it declares a document type")]
    DocType,
    #[error("it names an undefined entity")]
    Entity,
    #[error("it is too deep, too long or too large")]
    TooMuch,
    #[error("its root is another element")]
    Root,
}

/// Walks a document whose root is one of `roots`, and returns which.
///
/// # Errors
/// It is no such document, or goes beyond the limits.
pub(super) fn walk<'r>(body: &[u8], roots: &[&'r str], mut meet: impl FnMut(Met<'_>)) -> Result<&'r str, BadXml> {
    let text = std::str::from_utf8(body).map_err(|_| BadXml::Malformed)?;
    let mut reader = Reader::from_str(text);
    let mut walk = Walk::default();
    let mut root = None;
    loop {
        match reader.read_event().map_err(|_| BadXml::Malformed)? {
            Event::Start(start) => {
                let name = start.local_name();
                walk.enter(name.into_inner())?;
                if walk.depth == 1 {
                    let known = roots.iter().find(|known| **known == name.into_inner());
                    root = Some(*known.filter(|_| root.is_none()).ok_or(BadXml::Root)?);
                }
            }
            Event::Empty(empty) => {
                walk.enter(empty.local_name().into_inner())?;
                if walk.depth == 1 {
                    return Err(BadXml::Root);
                }
                walk.leave(&mut meet);
            }
            Event::End(_) => walk.leave(&mut meet),
            Event::Text(text) => walk.add(&text.xml10_content())?,
            Event::CData(text) => walk.add(&text.xml10_content())?,
            Event::GeneralRef(name) => {
                let letter = match name.resolve_char_ref() {
                    Ok(Some(letter)) => letter,
                    Ok(None) => predefined(&name.xml10_content()).ok_or(BadXml::Entity)?,
                    Err(_) => return Err(BadXml::Entity),
                };
                walk.add(letter.encode_utf8(&mut [0; 4]))?;
            }
            Event::DocType(_) => return Err(BadXml::DocType),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
            Event::Eof if walk.depth == 0 => return root.ok_or(BadXml::Malformed),
            Event::Eof => return Err(BadXml::Malformed),
        }
    }
}

fn predefined(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

#[derive(Default)]
struct Walk {
    depth: usize,
    elements: usize,
    /// Below the root.
    path: Vec<String>,
    text: String,
    /// Whether the element that is open holds others, so that its text is layout.
    has_children: bool,
}

impl Walk {
    fn enter(&mut self, name: &str) -> Result<(), BadXml> {
        self.elements += 1;
        self.depth += 1;
        if self.elements > ELEMENTS_MAX || self.depth > DEPTH_MAX || name.len() > TEXT_MAX {
            return Err(BadXml::TooMuch);
        }
        if self.depth > 1 {
            self.path.push(name.to_owned());
        }
        self.text.clear();
        self.has_children = false;
        Ok(())
    }

    fn add(&mut self, text: &str) -> Result<(), BadXml> {
        if self.text.len() + text.len() > TEXT_MAX {
            return Err(BadXml::TooMuch);
        }
        self.text.push_str(text);
        Ok(())
    }

    fn leave(&mut self, meet: &mut impl FnMut(Met<'_>)) {
        if !self.path.is_empty() {
            if !self.has_children {
                meet(Met::Text { path: &self.path, text: self.text.trim() });
            }
            meet(Met::End { path: &self.path });
        }
        self.path.pop();
        self.depth = self.depth.saturating_sub(1);
        self.text.clear();
        self.has_children = true;
    }
}

/// Whether a path is this one.
pub(super) fn is(path: &[String], wanted: &[&str]) -> bool {
    path.len() == wanted.len() && path.iter().zip(wanted).all(|(name, wanted)| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str) -> Result<Vec<String>, BadXml> {
        let mut lines = Vec::new();
        walk(text.as_bytes(), &["r"], |met| {
            if let Met::Text { path, text } = met {
                lines.push(format!("{}={text}", path.join("/")));
            }
        })?;
        Ok(lines)
    }

    #[test]
    fn values_are_found_by_path() {
        let text = "<?xml version=\"1.0\"?>\n<r xmlns=\"http://x/\"><m><s>1</s></m><g><i><s>2</s></i></g><e/>\
                    <a>x &amp; &#121;<![CDATA[<z>]]></a></r>";
        assert_eq!(events(text).unwrap(), ["m/s=1", "g/i/s=2", "e=", "a=x & y<z>"]);
    }

    #[test]
    fn what_is_no_answer_of_ours_is_refused_and_never_a_panic() {
        let deep = format!("<r>{}{}</r>", "<a>".repeat(40), "</a>".repeat(40));
        let long = format!("<r><a>{}</a></r>", "x".repeat(TEXT_MAX + 1));
        let bomb = "<!DOCTYPE r [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]><r><x>&b;</x></r>";
        let cases = [
            ("bomb", bomb, BadXml::DocType),
            ("external entity", "<!DOCTYPE r SYSTEM \"file:///etc/passwd\"><r/>", BadXml::DocType),
            ("undefined entity", "<r><a>&secret;</a></r>", BadXml::Entity),
            ("a character that is none", "<r><a>&#xD800;</a></r>", BadXml::Entity),
            ("too deep", &deep, BadXml::TooMuch),
            ("a text too long", &long, BadXml::TooMuch),
            ("cut off", "<r><a>1</a>", BadXml::Malformed),
            ("ends crossed", "<r><a><b></a></b></r>", BadXml::Malformed),
            ("another root", "<html><body/></html>", BadXml::Root),
            ("two roots", "<r><a>1</a></r><r><a>2</a></r>", BadXml::Root),
            ("JSON", "{\"a\":1}", BadXml::Malformed),
            ("empty", "", BadXml::Malformed),
        ];
        for (case, text, expected) in cases {
            assert_eq!(events(text), Err(expected), "case: {case}");
        }
        assert_eq!(walk(b"\xff\xfe<r/>", &["r"], |_| {}), Err(BadXml::Malformed), "case: not UTF-8");
    }
}

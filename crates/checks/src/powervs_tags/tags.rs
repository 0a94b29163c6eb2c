//! Tags: how they compare, what those of ours say, and what IBM Cloud would refuse.
//!
//! Invariants:
//! - tags are compared folded: the cloud keeps them in lower case, whatever was sent;
//! - a tag the cloud would refuse is a fault with its codes, and never among the tags that are sent.

use std::collections::BTreeSet;

use super::kind::Side;
use super::names::{CONNECTION_TAG, OWNER_TAG, TAG_PREFIX, UUID_TAG};
use super::verdict::Code;

/// What the cloud takes at most.
const TAG_MAX: usize = 128;

/// A tag as the cloud keeps it: lower case, and nothing but the two words around the first colon.
pub fn folded(tag: &str) -> String {
    let tag = tag.trim().to_lowercase();
    match tag.split_once(':') {
        Some((key, value)) => format!("{}:{}", key.trim_end(), value.trim_start()),
        None => tag,
    }
}

pub fn owner_tag(name: &str) -> String {
    folded(&format!("{OWNER_TAG}{name}"))
}

pub fn uuid_tag(uid: &str) -> String {
    folded(&format!("{UUID_TAG}{uid}"))
}

pub fn connection_tag(uid: &str, side: Side) -> String {
    folded(&format!("{CONNECTION_TAG}{uid}.{}", side.as_str()))
}

/// Whether a folded tag is of the sort this check attaches to say whose a resource is.
pub fn is_ours_by_prefix(tag: &str) -> bool {
    tag.starts_with(TAG_PREFIX)
}

/// The folded tags of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tags(BTreeSet<Box<str>>);

impl Tags {
    pub fn of<'t>(tags: impl Iterator<Item = &'t str>) -> Self {
        Self(tags.map(|tag| folded(tag).into()).collect())
    }

    pub fn has(&self, folded: &str) -> bool {
        self.0.contains(folded)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|tag| &**tag)
    }

    /// Whether any of them is of the sort this check attaches.
    pub fn any_by_prefix(&self) -> bool {
        self.iter().any(is_ours_by_prefix)
    }

    /// The names that owner tags hold.
    pub fn owners(&self) -> impl Iterator<Item = &str> {
        self.iter().filter_map(|tag| tag.strip_prefix(OWNER_TAG))
    }

    /// The uids that uuid tags hold.
    pub fn uuids(&self) -> impl Iterator<Item = &str> {
        self.iter().filter_map(|tag| tag.strip_prefix(UUID_TAG))
    }
}

/// The uids that connection tags hold.
pub fn connection_uids(tags: &Tags) -> impl Iterator<Item = String> {
    tags.iter()
        .filter_map(|tag| tag.strip_prefix(CONNECTION_TAG))
        .filter_map(|rest| rest.rsplit_once('.'))
        .map(|(uid, _)| uid.to_owned())
}

/// A tag that is not sent, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// As it was written.
    pub tag: String,
    pub codes: BTreeSet<Code>,
}

/// Joins a user's key and value.
///
/// # Errors
/// The cloud would refuse the tag, or it says whose the resource is, which is not for users to say.
pub fn joined(key: &str, value: &str) -> Result<String, Fault> {
    let (key, value) = (key.trim(), value.trim());
    let tag = format!("{key}:{value}");
    let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || " _-.:".contains(letter);
    let mut codes = BTreeSet::new();
    if key.is_empty() || value.is_empty() {
        codes.insert(Code::Empty);
    }
    if key.contains(':') || !tag.chars().all(is_allowed) {
        codes.insert(Code::Characters);
    }
    if tag.chars().count() > TAG_MAX {
        codes.insert(Code::Length);
    }
    if is_ours_by_prefix(&folded(&tag)) {
        codes.insert(Code::ReservedPrefix);
    }
    if codes.is_empty() { Ok(folded(&tag)) } else { Err(Fault { tag, codes }) }
}

/// What is wrong with the owner tag of a cluster.
pub fn owner_fault(name: &str) -> Option<Fault> {
    let tag = owner_tag(name);
    let is_too_long = tag.chars().count() > TAG_MAX;
    is_too_long.then(|| Fault { tag, codes: [Code::OwnerTooLong].into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edge case 10, 12: what a user's tag may be.
    #[test]
    fn a_users_tag_that_would_be_refused_is_a_fault_with_every_code() {
        let long = "v".repeat(125);
        let cases: [(&str, &str, &str, &[Code]); 12] = [
            ("plain", "env", "prod", &[]),
            ("what the cloud allows", "A b_c-d.e", "f g:h", &[]),
            ("a slash", "env", "a/b", &[Code::Characters]),
            ("a comma", "env,x", "a", &[Code::Characters]),
            ("no ASCII", "umgebung", "prüf", &[Code::Characters]),
            ("a colon in the key", "a:b", "c", &[Code::Characters]),
            ("no value", "env", "", &[Code::Empty]),
            ("no key", "", "prod", &[Code::Empty]),
            ("only spaces", " ", "prod", &[Code::Empty]),
            ("129 characters", "abc", &long, &[Code::Length]),
            ("our own prefix", "powervs.cluster.x-k8s.io-owner", "other", &[Code::ReservedPrefix]),
            (
                "our own prefix in capitals",
                "PowerVS.cluster.x-k8s.io-Owner",
                "a/b",
                &[Code::Characters, Code::ReservedPrefix],
            ),
        ];
        for (case, key, value, expected) in cases {
            let codes: Vec<Code> =
                joined(key, value).err().map_or_else(Vec::new, |fault| fault.codes.into_iter().collect());
            assert_eq!(codes, expected, "case: {case}");
        }
        assert_eq!(joined("abc", &"v".repeat(124)).unwrap().len(), 128);
    }

    /// Edge cases 8 and 9.
    #[test]
    fn tags_compare_without_case_and_without_the_space_after_the_colon() {
        let cases = [
            ("Env:Prod", "env:prod"),
            (" env:prod ", "env:prod"),
            ("powervs.cluster.x-k8s.io-owner: demo", "powervs.cluster.x-k8s.io-owner:demo"),
            ("a : b:C", "a:b:c"),
            ("Bare", "bare"),
        ];
        for (tag, expected) in cases {
            assert_eq!(folded(tag), expected);
        }
        assert_eq!(connection_tag("U-1", Side::PowerVs), "powervs.cluster.x-k8s.io-tgconn:u-1.powervs");
    }

    #[test]
    fn an_owner_tag_fits_97_characters() {
        assert_eq!(owner_fault(&"n".repeat(97)), None);
        let fault = owner_fault(&"n".repeat(98)).unwrap();
        assert_eq!((fault.tag.len(), fault.codes), (129, [Code::OwnerTooLong].into()));
    }
}

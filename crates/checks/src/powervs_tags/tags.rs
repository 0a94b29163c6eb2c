//! Tags: how they compare, what those of ours say, and what IBM Cloud would refuse.
//!
//! Invariants:
//! - tags are compared folded: the cloud keeps them in lower case, whatever was sent;
//! - tags of the default prefix mean the same as those of the configured one;
//! - a tag the cloud would refuse is a fault with its codes, and never among the tags that are sent.

use std::collections::BTreeSet;

use super::kind::Side;
use super::names::{CONNECTION_KEY, INSTALLER_MARK, INSTALLER_VALUES, OWNER_KEY, TAG_PREFIX, UUID_KEY};
use super::verdict::Code;

/// What the cloud takes at most.
pub const TAG_MAX: usize = 128;

/// A tag as the cloud keeps it: lower case, and nothing but the two words around the first colon.
pub fn folded(tag: &str) -> String {
    let tag = tag.trim().to_lowercase();
    match tag.split_once(':') {
        Some((key, value)) => format!("{}:{}", key.trim_end(), value.trim_start()),
        None => tag,
    }
}

/// Whether a tag holds only what the cloud takes.
pub fn is_allowed(tag: &str) -> bool {
    tag.chars().all(|letter| letter.is_ascii_alphanumeric() || " _-.:".contains(letter))
}

/// Whether an installer marked the resource as a cluster's.
pub fn is_installer_mark(tag: &str) -> bool {
    let marked = tag.strip_prefix(INSTALLER_MARK).and_then(|rest| rest.rsplit_once(':'));
    marked.is_some_and(|(_, value)| INSTALLER_VALUES.contains(&value))
}

/// The tags of ours: those that are written, and those that are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagScheme {
    prefix: String,
}

/// What a tag of ours says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark<'t> {
    Owner(&'t str),
    Uuid(&'t str),
    /// `<uid>.<side>`.
    Connection {
        uid: &'t str,
        side: &'t str,
    },
    /// Of our prefix, and nothing we know.
    Other,
}

impl Default for TagScheme {
    fn default() -> Self {
        Self::new(TAG_PREFIX)
    }
}

impl TagScheme {
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_lowercase() }
    }

    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    pub fn owner(&self, name: &str) -> String {
        folded(&format!("{}{OWNER_KEY}{name}", self.prefix))
    }

    pub fn uuid(&self, uid: &str) -> String {
        folded(&format!("{}{UUID_KEY}{uid}", self.prefix))
    }

    pub fn connection(&self, uid: &str, side: Side) -> String {
        folded(&format!("{}{CONNECTION_KEY}{uid}.{}", self.prefix, side.as_str()))
    }

    /// Whether only we write tags that begin so.
    pub fn is_reserved(&self, tag: &str) -> bool {
        self.rest(tag).is_some()
    }

    fn rest<'t>(&self, tag: &'t str) -> Option<&'t str> {
        tag.strip_prefix(&self.prefix).or_else(|| tag.strip_prefix(TAG_PREFIX))
    }

    /// What a folded tag says, if it is of ours.
    pub fn read<'t>(&self, tag: &'t str) -> Option<Mark<'t>> {
        let rest = self.rest(tag)?;
        let connection = || rest.strip_prefix(CONNECTION_KEY)?.rsplit_once('.');
        let owner = rest.strip_prefix(OWNER_KEY).map(Mark::Owner);
        let mark = owner.or_else(|| rest.strip_prefix(UUID_KEY).map(Mark::Uuid));
        let mark = mark.or_else(|| connection().map(|(uid, side)| Mark::Connection { uid, side }));
        Some(mark.unwrap_or(Mark::Other))
    }

    /// Everything the tags of ours say.
    pub fn marks<'t>(&self, tags: &'t Tags) -> impl Iterator<Item = Mark<'t>> + use<'_, 't> {
        tags.iter().filter_map(|tag| self.read(tag))
    }

    /// The uids that uuid tags hold, each once.
    pub fn uuids<'t>(&self, tags: &'t Tags) -> BTreeSet<&'t str> {
        let uid = |mark: Mark<'t>| match mark {
            Mark::Uuid(uid) => Some(uid),
            Mark::Owner(_) | Mark::Connection { .. } | Mark::Other => None,
        };
        self.marks(tags).filter_map(uid).collect()
    }

    /// The uids that connection tags hold.
    pub fn connection_uids<'t>(&self, tags: &'t Tags) -> BTreeSet<&'t str> {
        let uid = |mark: Mark<'t>| match mark {
            Mark::Connection { uid, .. } => Some(uid),
            Mark::Owner(_) | Mark::Uuid(_) | Mark::Other => None,
        };
        self.marks(tags).filter_map(uid).collect()
    }

    /// Whether the tags say something, under either prefix.
    pub fn says(&self, tags: &Tags, what: Mark<'_>) -> bool {
        self.marks(tags).any(|mark| mark == what)
    }

    pub fn names_an_owner(&self, tags: &Tags) -> bool {
        self.marks(tags).any(|mark| matches!(mark, Mark::Owner(_)))
    }

    /// The tags that say one of these, as the resource spells them.
    pub fn spelled(&self, tags: &Tags, what: &[Mark<'_>]) -> BTreeSet<String> {
        let says = |tag: &&str| self.read(tag).is_some_and(|mark| what.contains(&mark));
        tags.iter().filter(says).map(str::to_owned).collect()
    }

    /// Joins a user's key and value; a tag without a value is its key.
    ///
    /// # Errors
    /// The cloud would refuse the tag, or it says whose the resource is, which is not for users to say.
    pub fn join(&self, key: &str, value: &str) -> Result<String, Fault> {
        let (key, value) = (key.trim(), value.trim());
        let tag = if value.is_empty() { key.to_owned() } else { format!("{key}:{value}") };
        let mut codes = BTreeSet::new();
        if key.is_empty() {
            codes.insert(Code::Empty);
        }
        if key.contains(':') || !is_allowed(&tag) {
            codes.insert(Code::Characters);
        }
        if tag.chars().count() > TAG_MAX {
            codes.insert(Code::Length);
        }
        if self.is_reserved(&folded(&tag)) {
            codes.insert(Code::ReservedPrefix);
        }
        if codes.is_empty() { Ok(folded(&tag)) } else { Err(Fault { tag, codes }) }
    }

    /// What is wrong with the owner tag of a cluster.
    pub fn owner_fault(&self, name: &str) -> Option<Fault> {
        let tag = self.owner(name);
        let is_too_long = tag.chars().count() > TAG_MAX;
        is_too_long.then(|| Fault { tag, codes: [Code::OwnerTooLong].into() })
    }

    /// How long the name of a cluster may be for its owner tag.
    pub fn name_max(&self) -> usize {
        TAG_MAX.saturating_sub(self.prefix.chars().count() + OWNER_KEY.len())
    }
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
}

/// A tag that is not sent, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    /// As it was written.
    pub tag: String,
    pub codes: BTreeSet<Code>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme() -> TagScheme {
        TagScheme::default()
    }

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
            ("a key alone", "env", "", &[]),
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
                scheme().join(key, value).err().map_or_else(Vec::new, |fault| fault.codes.into_iter().collect());
            assert_eq!(codes, expected, "case: {case}");
        }
        assert_eq!(scheme().join("abc", &"v".repeat(124)).unwrap().len(), 128);
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
        assert_eq!(scheme().connection("U-1", Side::PowerVs), "powervs.cluster.x-k8s.io-tgconn:u-1.powervs");
    }

    #[test]
    fn an_owner_tag_fits_97_characters() {
        assert_eq!(scheme().owner_fault(&"n".repeat(97)), None);
        let fault = scheme().owner_fault(&"n".repeat(98)).unwrap();
        assert_eq!((fault.tag.len(), fault.codes), (129, [Code::OwnerTooLong].into()));
    }

    #[test]
    fn tags_of_the_default_prefix_mean_the_same_as_those_of_the_configured_one() {
        let scheme = TagScheme::new("Acme-");
        let tags = Tags::of(["acme-owner:demo", "powervs.cluster.x-k8s.io-cluster-uuid:u"].into_iter());
        assert!(scheme.says(&tags, Mark::Owner("demo")) && scheme.says(&tags, Mark::Uuid("u")));
        assert_eq!((scheme.owner("demo"), scheme.uuid("u")), ("acme-owner:demo".into(), "acme-cluster-uuid:u".into()));
        for key in ["acme-x", "powervs.cluster.x-k8s.io-x"] {
            assert_eq!(scheme.join(key, "v").unwrap_err().codes, [Code::ReservedPrefix].into(), "{key}");
        }
        assert_eq!(TagScheme::default().join("acme-x", "v").unwrap(), "acme-x:v");
        assert_eq!(scheme.name_max(), 128 - "acme-owner:".len());
        assert!(!TagScheme::default().says(&tags, Mark::Owner("demo")), "another prefix says nothing by default");
    }

    #[test]
    fn an_installers_mark_is_a_key_of_its_cluster_with_one_of_two_values() {
        let cases = [
            ("kubernetes.io-cluster-infra-1:owned", true),
            ("kubernetes.io-cluster-infra-1:shared", true),
            ("kubernetes.io-cluster-infra-1:other", false),
            ("kubernetes.io-cluster-infra-1", false),
            ("env:owned", false),
        ];
        for (tag, expected) in cases {
            assert_eq!(is_installer_mark(tag), expected, "{tag}");
        }
    }
}

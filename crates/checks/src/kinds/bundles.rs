//! ConfigMaps that may hold a CA bundle.
//!
//! Invariants: a bundle counts only when it is in `data`. Go code that reads `.data[key]` does not see `binaryData`.

use trueup_core::world::{Fact, Interner, Meta, Misfit, RawObject};

/// The key of a CA bundle.
pub const CA_KEY: &str = "ca-bundle.crt";

/// A ConfigMap that may hold a CA bundle. Certificates are no secret, so the text is kept.
#[derive(Debug, PartialEq)]
pub struct Bundle {
    pub meta: Meta,
    /// Names of all keys, sorted.
    pub keys: Box<[Box<str>]>,
    pub text: Option<Box<str>>,
    /// Whether the console operator's configuration is named as its owner.
    pub owner: BundleOwner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleOwner {
    Console,
    Other,
}

impl Bundle {
    /// Whether it holds a CA bundle and nothing else, as the console operator's copies do.
    pub fn holds_ca_alone(&self) -> bool {
        matches!(&*self.keys, [key] if **key == *CA_KEY)
    }
}

impl Fact for Bundle {
    const DIGESTED_KEYS: &'static [&'static str] = &[CA_KEY];

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let mut owners = raw.meta.owners.iter();
        let owned =
            owners.any(|owner| owner.kind == "Console" && owner.api_version.starts_with("operator.openshift.io/"));
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            keys: raw.data.iter().map(|entry| entry.key.as_ref().into()).collect(),
            text: raw.entry(CA_KEY).and_then(|entry| entry.text.as_deref()).map(Into::into),
            owner: if owned { BundleOwner::Console } else { BundleOwner::Other },
        })
    }
}

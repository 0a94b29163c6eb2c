//! Secrets: those that hold kubeconfigs, those that say where a cluster is, and all others by their names alone.

use std::sync::Arc;

use super::super::content::{Authorities, Content, Current, Document, Server, Unreadable, unpacked_text};
use super::super::names::{CA_KEYS, CONNECTION_CA, CONNECTION_ENDPOINT, KUBECONFIG, RELATIVE, TOKEN_FILE, VALUE};
use crate::kinds::SecretContent;
use trueup_core::engine::OwnerReference;
use trueup_core::world::{
    Digest, Fact, Interner, Meta, Misfit, RawObject, RawOwner, ResourceVersion, TrackedField, Uid,
};

/// A Secret of Cluster API's type that is there. Another fact than [`crate::kinds::SecretMark`], so that a Secret that only changes its
/// content changes nothing here.
#[derive(Debug, PartialEq, Eq)]
pub struct Typed;

/// A Secret with a kubeconfig.
#[derive(Debug, PartialEq)]
pub struct Holder {
    pub meta: Meta,
    pub secret_type: Arc<str>,
    pub mutability: Mutability,
    pub owners: Box<[Owner]>,
    pub value: Held,
    pub kubeconfig: Held,
    /// Lengths of the keys that follow `value`.
    pub relative: Option<u32>,
    pub token_file: Option<u32>,
    pub extras: Extras,
}

/// Whether the API server lets anybody change the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutability {
    Mutable,
    Immutable,
}

/// An owner reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    pub api_version: Arc<str>,
    pub kind: Arc<str>,
    pub name: Box<str>,
    pub uid: Uid,
    pub controller: Option<bool>,
    pub block_owner_deletion: Option<bool>,
}

impl Owner {
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    pub fn role(&self) -> Role {
        if self.controller == Some(true) { Role::Controller } else { Role::Owner }
    }

    /// The reference as it is written.
    pub fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.to_string(),
            kind: self.kind.to_string(),
            name: self.name.to_string(),
            uid: self.uid.to_string(),
            controller: self.controller,
            block_owner_deletion: self.block_owner_deletion,
        }
    }
}

/// What an owner is to the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Controller,
    Owner,
}

/// What a key holds.
#[derive(Debug, PartialEq)]
pub enum Held {
    Absent,
    Empty,
    Written { value: Value16, content: Result<Box<Content>, Unreadable> },
}

/// A value by its length and keyed digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value16 {
    pub length: u32,
    pub digest: Digest,
}

/// Whether the keys beside `value` say the same as it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extras {
    Agree,
    /// This key doesn't.
    Disagree(&'static str),
}

impl Fact for Typed {
    fn project(_: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        Ok(Self)
    }
}

impl Fact for Holder {
    const TRACKED: &'static [TrackedField] = &[
        TrackedField { name: VALUE, path: &["data", VALUE] },
        TrackedField { name: KUBECONFIG, path: &["data", KUBECONFIG] },
    ];
    const DIGESTED_KEYS: &'static [&'static str] = &[VALUE, KUBECONFIG];
    const REDUCED_KEYS: &'static [&'static str] = &[VALUE, KUBECONFIG, RELATIVE, TOKEN_FILE];

    /// What a source leads to: it is judged again when a cluster of the fleet comes to be there.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        if let Held::Written { content: Ok(content), .. } = &self.kubeconfig
            && let Current::Pair(pair) = &content.current
        {
            pair.index(each);
        }
    }

    fn project(raw: &RawObject<'_>, pool: &mut Interner) -> Result<Self, Misfit> {
        let secret_type = match raw.field::<Option<String>>("type")?.as_deref() {
            None | Some("") => pool.text("Opaque"),
            Some(other) => pool.text(other),
        };
        let immutable = raw.field::<Option<bool>>("immutable")?.unwrap_or(false);
        let length = |key: &str| raw.entry(key).map(|entry| entry.length);
        Ok(Self {
            meta: Meta::project(&raw.meta, pool),
            secret_type,
            mutability: if immutable { Mutability::Immutable } else { Mutability::Mutable },
            owners: raw.meta.owners.iter().map(|owner| self::owner(owner, pool)).collect(),
            value: held(raw, VALUE),
            kubeconfig: held(raw, KUBECONFIG),
            relative: length(RELATIVE),
            token_file: length(TOKEN_FILE),
            extras: extras(raw),
        })
    }
}

fn owner(raw: &RawOwner<'_>, pool: &mut Interner) -> Owner {
    Owner {
        api_version: pool.text(&raw.api_version),
        kind: pool.text(&raw.kind),
        name: raw.name.as_ref().into(),
        uid: Uid::parse(&raw.uid),
        controller: raw.controller,
        block_owner_deletion: raw.block_owner_deletion,
    }
}

fn held(raw: &RawObject<'_>, key: &str) -> Held {
    let Some(entry) = raw.entry(key) else { return Held::Absent };
    let Some(digest) = entry.digest.filter(|_| entry.length > 0) else { return Held::Empty };
    let content = match &entry.bytes {
        Some(bytes) => bytes.reduce(|bytes| Document::read(bytes)?.content()),
        None => Err(Unreadable::NotText),
    };
    Held::Written { value: Value16 { length: entry.length, digest }, content: content.map(Box::new) }
}

/// The keys beside `value` follow from it: a bare token is its token, and a kubeconfig that refers to that token leads to
/// the same server.
fn extras(raw: &RawObject<'_>) -> Extras {
    let bytes = |key: &str| raw.entry(key).and_then(|entry| entry.bytes.as_ref());
    let document = |key: &str| bytes(key).and_then(|bytes| bytes.reduce(|bytes| Document::read(bytes).ok()));
    let Some(value) = document(VALUE) else { return Extras::Agree };
    let is_its_token = bytes(TOKEN_FILE).is_none_or(|token| token.reduce(|token| value.uses_token(token)));
    if !is_its_token {
        return Extras::Disagree(TOKEN_FILE);
    }
    let server = |document: &Document| match document.content().ok()?.current {
        Current::Pair(pair) => Some(pair.server),
        Current::Nothing(_) => None,
    };
    let leads_there = raw.entry(RELATIVE).is_none() || document(RELATIVE).as_ref().and_then(server) == server(&value);
    if leads_there { Extras::Agree } else { Extras::Disagree(RELATIVE) }
}

/// A Secret that says where a cluster is and who vouches for it.
#[derive(Debug, PartialEq, Eq)]
pub struct Anchor {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub endpoint: Option<Server>,
    pub authorities: Option<Authorities>,
}

impl Fact for Anchor {
    const REDUCED_KEYS: &'static [&'static str] = &[CONNECTION_ENDPOINT, CONNECTION_CA, CA_KEYS[0], CA_KEYS[1]];

    /// Endpoint and CA of the cluster: the index keys under which a kubeconfig for it is found.
    fn index(&self, each: &mut dyn FnMut(&str)) {
        self.endpoint.iter().for_each(|server| each(server.as_str()));
        self.authorities.iter().for_each(|held| held.index(each));
    }

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let bytes = |key: &str| raw.entry(key).and_then(|entry| entry.bytes.as_ref());
        // Base64 has neither dots nor colons, an address has one or the other.
        let is_address = |text: &str| text.contains(['.', ':']) && Server::parse(text).is_some();
        let endpoint = bytes(CONNECTION_ENDPOINT).and_then(|bytes| {
            bytes.reduce(|bytes| unpacked_text(bytes, is_address).and_then(|text| Server::parse(&text)))
        });
        let keys = [CONNECTION_CA, CA_KEYS[0], CA_KEYS[1]];
        let authorities = keys.iter().find_map(|key| bytes(key)?.reduce(Authorities::parse));
        Ok(Self {
            uid: Uid::parse(&raw.meta.uid),
            version: ResourceVersion::parse(&raw.meta.resource_version),
            endpoint,
            authorities,
        })
    }
}

impl SecretContent for Holder {
    fn uid(&self) -> &Uid {
        &self.meta.uid
    }
}

impl SecretContent for Anchor {
    fn uid(&self) -> &Uid {
        &self.uid
    }
}

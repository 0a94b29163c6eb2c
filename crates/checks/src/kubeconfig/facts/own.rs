//! A context of the user's own kubeconfig files.

use std::fmt;

use super::super::content::{Content, Document, Unreadable};
use super::super::names::{CONTEXT_FILE, CONTEXT_PROBLEM, KUBECONFIG};
use trueup_core::world::{Fact, Interner, Misfit, RawObject};

/// What is kept of a context.
#[derive(Debug, PartialEq)]
pub struct OwnContext {
    /// The name of the file it is written in.
    pub file: Box<str>,
    pub content: Result<Box<Content>, OwnFault>,
}

/// Why there is nothing to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnFault {
    /// A file it names can't be read.
    File(Box<str>),
    Unreadable(Unreadable),
}

impl fmt::Display for OwnFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(problem) => f.write_str(problem),
            Self::Unreadable(why) => write!(f, "{why}"),
        }
    }
}

impl Fact for OwnContext {
    const REDUCED_KEYS: &'static [&'static str] = &[KUBECONFIG];

    fn project(raw: &RawObject<'_>, _: &mut Interner) -> Result<Self, Misfit> {
        let bytes = raw.entry(KUBECONFIG).and_then(|entry| entry.bytes.as_ref());
        let content = match (raw.meta.annotation(CONTEXT_PROBLEM), bytes) {
            (Some(problem), _) => Err(OwnFault::File(problem.into())),
            (None, None) => Err(OwnFault::Unreadable(Unreadable::NotText)),
            (None, Some(bytes)) => {
                let content = bytes.reduce(|bytes| Document::read(bytes)?.content());
                content.map(Box::new).map_err(OwnFault::Unreadable)
            }
        };
        Ok(Self { file: raw.meta.annotation(CONTEXT_FILE).unwrap_or_default().into(), content })
    }
}

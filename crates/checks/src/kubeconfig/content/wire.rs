//! A kubeconfig as it is written: the shared model, with secrets that are wiped.
//!
//! These values live as long as one call.

use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

use trueup_core::kubeconfig;

pub(super) use trueup_core::kubeconfig::Context;

pub(super) type File = kubeconfig::File<Hidden>;
pub(super) type Cluster = kubeconfig::Cluster<Hidden>;
pub(super) type User = kubeconfig::User<Hidden>;

/// Parses a kubeconfig; nothing for text that is none. Empty text is none: no Secret is meant to hold it.
pub(super) fn parse(text: &str) -> Option<File> {
    if text.trim().is_empty() { None } else { kubeconfig::parse(text).ok() }
}

/// Text that is wiped when it is dropped, and never printed.
#[derive(Default)]
pub(super) struct Hidden(pub Zeroizing<String>);

impl<'de> Deserialize<'de> for Hidden {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(Zeroizing::new(text)))
    }
}

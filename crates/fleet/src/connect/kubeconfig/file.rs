//! One kubeconfig file: the shared model, with secrets in [`SecretText`].

use super::error::KubeconfigError;
use trueup_core::kubeconfig;
use trueup_net::SecretText;

pub(super) use trueup_core::kubeconfig::{Context, NamedExtension};

pub(super) type File = kubeconfig::File<SecretText>;
pub(super) type Cluster = kubeconfig::Cluster<SecretText>;
pub(super) type User = kubeconfig::User<SecretText>;
pub(super) type Exec = kubeconfig::Exec<SecretText>;

/// Parses a file. The error names only the line.
pub(super) fn parse(text: &str, place: &str) -> Result<File, KubeconfigError> {
    kubeconfig::parse(text)
        .map_err(|kubeconfig::Malformed { line }| KubeconfigError::Unparseable { place: place.to_owned(), line })
}

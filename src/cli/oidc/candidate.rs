//! A candidate for a cluster's authentication, in a file: an Authentication or a HostedCluster.

use std::path::Path;

use serde_json::Value;

use super::super::error::CliError;
use trueup_checks::external_oidc::{AuthSpec, CandidateSpec, Provenance, unknown_fields};
use trueup_checks::hosted_oidc::AuthBlock;
use trueup_core::files;
use trueup_core::world::{Namespace, ObjectName, ResourceVersion};

/// An API server takes objects up to 3 MiB.
const FILE_BYTES_MAX: u64 = 3 << 20;
const HINT: &str =
    "name a file with one Authentication (config.openshift.io) or HostedCluster (hypershift.openshift.io)";

/// What the file holds.
#[derive(Debug)]
pub enum Candidate {
    Authentication(CandidateSpec),
    HostedCluster { namespace: Namespace, name: ObjectName, block: AuthBlock, issuer_url: Option<String> },
}

impl Candidate {
    /// Reads a candidate as YAML or JSON; `-` is stdin.
    ///
    /// # Errors
    /// The file cannot be read, or holds something else.
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let doing = || format!("-f {}", path.display());
        let failed = |cause: String| CliError::failed(doing(), cause, HINT);
        let is_stdin = path == Path::new("-");
        let read = if is_stdin { files::read_stdin(FILE_BYTES_MAX) } else { files::read_text(path, FILE_BYTES_MAX) };
        let text = read.map_err(|error| failed(error.to_string()))?;
        let object: Value = serde_saphyr::from_str(&text).map_err(|error| failed(first_line(&error.to_string())))?;
        Self::parse(&object).map_err(failed)
    }

    fn parse(object: &Value) -> Result<Self, String> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let group = text("/apiVersion").split_once('/').map_or("", |(group, _)| group);
        let provenance = Provenance::of(&ResourceVersion::parse(text("/metadata/resourceVersion")));
        let spec = object.get("spec").unwrap_or(&Value::Null);
        match (group, text("/kind")) {
            ("config.openshift.io", "Authentication") => {
                let unknown_fields = unknown_fields(spec);
                let spec = AuthSpec::from_json(spec).map_err(|error| format!("spec: {error}"))?;
                Ok(Self::Authentication(CandidateSpec { spec, unknown_fields, provenance }))
            }
            ("hypershift.openshift.io", "HostedCluster") => {
                let block = AuthBlock::read(spec.pointer("/configuration/authentication"), provenance);
                if let AuthBlock::Unreadable(why) = &block {
                    return Err(format!("spec.configuration.authentication: {why}"));
                }
                let issuer_url = spec.get("issuerURL").and_then(Value::as_str).map(str::to_owned);
                let (namespace, name) =
                    (Namespace::new(text("/metadata/namespace")), ObjectName::new(text("/metadata/name")));
                Ok(Self::HostedCluster { namespace, name, block, issuer_url })
            }
            (_, kind) => Err(format!("it holds {}", if kind.is_empty() { "no object" } else { kind })),
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

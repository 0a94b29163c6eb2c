//! What can be wrong with a kubeconfig: one sentence each, with the place and what to do about it.

use std::fmt;

/// Why a kubeconfig can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KubeconfigError {
    #[error("no kubeconfig found (looked at {}); name one with --kubeconfig FILE or KUBECONFIG", .looked.join(", "))]
    NoneFound { looked: Vec<String> },
    #[error(
        "no kubeconfig found (looked at {}), and this pod has no ServiceAccount token ({token}); set \
         automountServiceAccountToken on the pod, or name a kubeconfig with --kubeconfig FILE", .looked.join(", ")
    )]
    NoToken { looked: Vec<String>, token: String },
    #[error("{place}: cannot be read ({why}); check the path and its permissions")]
    NotReadable { place: String, why: String },
    #[error(
        "{place}{}: not a kubeconfig (bad YAML, or a field of another shape); `kubectl config view` with this file shows more", at(*.line)
    )]
    Unparseable { place: String, line: Option<u64> },
    #[error("{place}: two {part}s are named {name:?}; rename one of them")]
    Duplicate { place: String, part: Part, name: String },
    #[error("{place}: no current-context is set; choose one with --context{}", one_of(.known))]
    NoCurrentContext { place: String, known: Vec<String> },
    #[error("{place}: there is no context {asked:?}; choose one with --context{}", one_of(.known))]
    NoSuchContext { place: String, asked: String, known: Vec<String> },
    #[error("{place}: context {context:?} refers to the {part} {name:?}, which is not there{}", one_of(.known))]
    Dangling { place: String, context: String, part: Part, name: String, known: Vec<String> },
    #[error("{place}: {part} {name:?}: {field}: {why}")]
    BadField { place: String, part: Part, name: String, field: &'static str, why: String },
    #[error("{place}: {part} {name:?}: {field} is refused, because a kubeconfig from a cluster may not {would}")]
    Refused { place: String, part: Part, name: String, field: &'static str, would: &'static str },
}

/// The parts a kubeconfig is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Cluster,
    Context,
    User,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cluster => "cluster",
            Self::Context => "context",
            Self::User => "user",
        })
    }
}

fn at(line: Option<u64>) -> String {
    line.map(|line| format!(", line {line}")).unwrap_or_default()
}

fn one_of(known: &[String]) -> String {
    if known.is_empty() { " (there are none)".to_owned() } else { format!(" (there is {})", known.join(", ")) }
}

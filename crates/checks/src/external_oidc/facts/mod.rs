//! What this check keeps of each object it looks at, beside `Authentication/cluster` itself (`spec`).
//!
//! Invariants: an object whose shape isn't understood is a misfit, never an object that asks for nothing.

mod bindings;
mod conditions;
mod gates;
mod kube_api_server;
mod maps;
mod marks;

pub use crate::kinds::{Bundle, BundleOwner, Infrastructure, Topology};
pub use bindings::{Binding, Named};
pub use conditions::{OperatorComplaint, OperatorStatus};
pub use gates::{FeatureGates, Release};
pub use kube_api_server::{KubeApiServer, Node, ObservedConfig};
pub use maps::{Argument, ConfigFile, KasConfig, Metadata, OauthFile, Webhook};
pub use marks::{ClientSecret, Mark, NamespaceState, Readiness};

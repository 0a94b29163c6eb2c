//! The one HTTP stack, for API servers, clouds, OIDC discovery and probes alike.
//!
//! - `dial`: the one way to open a connection, directly or through a proxy; [`NamedBy`] says who named the host.
//! - `egress`: which host may be reached and which identity it may receive, by who named it; makes every [`Permit`].
//! - `proxy`: which proxy, by the rules of Go; the one implementation of `NO_PROXY`. `tls`, `roots`: certificates.
//! - `failure`: why a connection failed, found in the errors of hyper, rustls and the kernel. `body`: size limits.
//! - [`http`]: sends a request and collects the response, within limits of time and size.
//! - [`SecretText`] holds credentials and cannot be printed; [`hide`] removes them from text of a server.
//!
//! Elsewhere: logins, impersonation and `kube::Client` (`fleet::connect`); signing and paging (`fleet::clouds`).

mod body;
mod bundle_verifier;
mod dial;
mod egress;
mod failure;
pub mod http;
mod proxy;
mod roots;
mod secret;
mod text;
mod tls;

pub use body::{BodyError, collect, limit};
pub use dial::{CONNECT_TIMEOUT, Connector, DialError, NamedBy, Pooled, pooled, refusal_of};
pub use egress::{
    AddressKind, BadHostPort, Destination, Egress, EgressRefused, Exemption, GuestServer, HolderReach, HostPort,
    Identity, Permit, ProxyNamedBy,
};
pub use failure::{Causes, NotReached, failure_of};
pub use proxy::{Proxies, ProxyError, Route, Routes, basic_auth, is_loopback};
pub use roots::{BadRoots, Roots};
pub use secret::{SecretText, hide};
pub use text::{one_line, printable};
pub use tls::{ClientCertificate, HttpVersions, PemSource, ReadFile, TlsError, Verification, client_config};

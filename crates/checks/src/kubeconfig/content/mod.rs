//! What a kubeconfig says, without the secrets in it.
//!
//! Invariants:
//! - what is returned holds no token, no key, no password and no digest of one; a fault says what is wrong and quotes
//!   nothing;
//! - nothing a kubeconfig names is run, read or asked: this is text in, facts out;
//! - any bytes give an answer.
//!
//! Elsewhere: connecting with a kubeconfig (`fleet::kubeconfig`), what the facts mean for a cluster (`super::judge`).

mod authority;
mod certificate;
mod document;
mod eks;
mod jwt;
mod packed;
mod pair;
mod server;
#[cfg(test)]
mod tests;
mod token;
mod wire;

pub use authority::{Authorities, Overlap};
pub use certificate::{Certificate, CertificateFault, KeyPairing};
pub use document::{Content, ContextFault, Current, Document, ExecElsewhere, Packing, Unreadable};
pub use eks::{EksFault, EksToken};
pub use jwt::{Jwt, JwtFault};
pub use packed::unpacked_text;
pub use pair::{Credential, EndpointOverride, ForeignField, Pair, Span, Trust};
pub use server::Server;
pub use token::{Token, TokenFault};

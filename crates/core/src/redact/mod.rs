//! What of an object may be shown: values of Secrets never, values of other objects unless they look like a credential.
//!
//! Invariants: pure; a masked value is its name and its length, nothing derived from its content.
//! Elsewhere: keeping secret bytes out of facts (`decode`), escaping text (`engine::text`).

mod credential;
mod free_text;
mod object;
mod secret_metadata;
mod shapes;

pub use credential::{CredentialKind, credential_in, credential_under};
pub use free_text::without_credentials;
pub use object::{CredentialValues, MaskedObject, masked};
pub use secret_metadata::{is_shown_on_secrets, metadata_value};

/// The placeholder of a value: its length.
pub fn length_of(value: &str) -> String {
    format!("<{} bytes>", value.len())
}

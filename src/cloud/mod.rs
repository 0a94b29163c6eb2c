//! The clouds: thin clients for their APIs.
//!
//! Always true:
//! - a client signs, pages, repeats what failed in passing, and says what an answer means; it decides nothing;
//! - keys and tokens live in [`SecretText`] and in nothing that can be shown;
//! - no answer is read past its limit, and no wait goes past its own.
//!
//! Not here: what should exist (`domains`), how an account becomes a member of the fleet (`fleet::account`).

pub mod aws;
pub mod http;
pub mod ibm;
mod secret;
mod text;

pub use secret::SecretText;
pub(crate) use secret::hide;

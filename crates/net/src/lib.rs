//! The one HTTP stack: dialling, proxies, TLS roots, time and size limits.
//!
//! Credentials are held in [`SecretText`], which cannot be printed. No response is read past its limit.

pub mod http;
mod secret;
mod text;

pub use secret::{SecretText, hide};
pub use text::one_line;
